"""Random programs on facade and original: values, dtypes, versions, nodes, texts, gradients, errors."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest

import funcgrad.torch as ft
from tests.torch.generated import program, run

# Where the original refuses a dtype, a shape or a number in the place of a tensor, the facade may go on.
REFUSED_BY_THE_ORIGINAL_ALONE = re.compile(
    r"not implemented|softmax_lastdim|must be Tensor, not|argument .other|expected scalar type|did not match|Boolean inputs"
    r"|single memory|some elements of|more than one element|argmax\(\): does not support|vector_norm: Expected"
    r"|invalid combination"
)
# Operations of which the facade keeps other values for the backward pass than the original does (result or
# operands).
KEEPS_OTHERS = re.compile(r"\*\*|/|hypot|atan2|pow|std|logsumexp|median|clamp")
# Nodes of operations that the original composes of several: the last is not always the same.
COMPOSED = re.compile(r"autograd\.grad|einsum|@|matmul|outer|flatten|ravel|\] \+=|\]\s*=|\.t_\(")


def described(x: Any, torch: Any) -> Any:
    """All that is to be the same but the numbers: dtype, shape, flags, version, node."""
    if not isinstance(x, torch.Tensor):
        return repr(x)
    try:
        history = x.is_leaf, None if x.grad_fn is None else x.grad_fn.name()
    except RuntimeError:  # one of several views from one call, whose base was written to
        history = (False, None)
    return str(x.dtype), tuple(x.shape), x.requires_grad, x._version, history


def numbers(x: Any) -> Any:
    return np.asarray(x.detach().tolist(), dtype=complex if x.dtype.is_complex else float)


def gradients(torch: Any, space: dict[str, Any], names: list[str]) -> Any:
    """The gradients of the leaves of the sum of all that requires grad; or the beginning of the error."""
    found = [space[n] for n in names if isinstance(space[n], torch.Tensor) and space[n].requires_grad]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            sum((x * 1.5).sum() for x in found).backward()  # type: ignore[union-attr]
        except RuntimeError as error:
            return str(error)[:40]
    return [space[k].grad for k in "ab"]


@pytest.mark.parametrize(
    ("seed", "slopes"), [*((k, False) for k in range(150)), *((k, True) for k in range(50))]
)
def test_programs(seed: int, slopes: bool) -> None:
    original = pytest.importorskip("torch", reason="the original is not installed")
    lines = program(np.random.default_rng(seed), slopes=slopes)
    (found, ours), (expected, theirs) = run(ft, lines, seed), run(original, lines, seed)
    text = "\n".join(lines)
    for mine, other, line in zip(found, expected, lines, strict=True):
        if mine is None and other is not None and REFUSED_BY_THE_ORIGINAL_ALONE.search(other[1]):
            return  # from here on the programs differ
        assert (mine is None) == (other is None), f"{line}: {mine} but the original {other}\n{text}"
    names = [n for n in theirs if n != "torch" and not n.startswith("__")]
    for name in names:
        _same(original, ours[name], theirs[name], f"{name}\n{text}", nodes=not COMPOSED.search(text))
    _same_gradients(original, ours, theirs, names, text)


def _same(original: Any, x: Any, y: Any, text: str, *, nodes: bool) -> None:
    mine, other = described(x, ft), described(y, original)
    assert mine == other if nodes or isinstance(other, str) else mine[:3] == other[:3], text
    if isinstance(y, original.Tensor):
        single = "32" in str(y.dtype) or ".double()" in text  # or was single
        tolerance = 1e-5 if single else 1e-11
        np.testing.assert_allclose(numbers(x), numbers(y), rtol=tolerance, atol=tolerance, err_msg=text)
        if nodes and numbers(x).tobytes() == numbers(y).tobytes():
            assert repr(x) == repr(y), text


def _same_gradients(original: Any, ours: Any, theirs: Any, names: list[str], text: str) -> None:
    found, expected = gradients(ft, ours, names), gradients(original, theirs, names)
    if isinstance(found, str) or isinstance(expected, str):
        known = KEEPS_OTHERS.search(text) or "INTERNAL ASSERT" in expected
        assert found == expected or known, f"{found} but the original {expected}\n{text}"
        return
    for x, y in zip(found, expected, strict=True):
        assert (x is None) == (y is None), text
        if y is not None:
            assert str(x.dtype) == str(y.dtype), text
            tolerance = 1e-4 if "32" in str(y.dtype) else 1e-9
            # What was overwritten contributes nothing here, where the original may make NaN of 0 * inf.
            x, y = numbers(x), numbers(y)
            known = np.isfinite(x) & np.isnan(y)
            np.testing.assert_allclose(x, np.where(known, x, y), rtol=tolerance, atol=tolerance, err_msg=text)
