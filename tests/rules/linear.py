"""What must hold of a function that is linear in each operand: plain NumPy on tangents is the truth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import jvp, vjp
from funcgrad.testing import check_vmap

RNG = np.random.default_rng(7)


def numbers(shape: tuple[int, ...], dtype: Any = float) -> Any:
    """Random numbers of this shape; complex ones for a complex dtype."""
    x = RNG.normal(size=shape)
    return (x + 1j * RNG.normal(size=shape)).astype(dtype) if np.dtype(dtype).kind == "c" else x.astype(dtype)


def assert_multilinear(function: Callable[..., Any], *operands: Any, batch: bool = True) -> None:
    """Both modes, with each operand alone and all together, and vmap, of `function` of these arrays."""
    out, pull = vjp(function, *operands)
    np.testing.assert_allclose(out, function(*operands), rtol=1e-14, atol=1e-14)  # terms may cancel
    ct = numbers(out.shape, out.dtype)
    pulled = pull(ct)
    ts = [numbers(x.shape, x.dtype) for x in operands]
    moved = [function(*(t if j == i else x for j, x in enumerate(operands))) for i, t in enumerate(ts)]
    for x, t, part, came in zip(operands, ts, moved, pulled, strict=True):
        assert (came.shape, came.dtype) == (x.shape, x.dtype)
        np.testing.assert_allclose(_pairing(came, t), _pairing(ct, part), rtol=1e-9, atol=1e-9)
    _assert_pulled_alone(function, operands, ct, pulled)
    pushed = jvp(function, operands, ts)[1]
    assert pushed.dtype == out.dtype
    np.testing.assert_allclose(pushed, sum(moved), rtol=1e-9, atol=1e-9)
    if batch:
        _assert_batches(function, operands)


def _pairing(x: Any, y: Any) -> float:
    return float(np.sum(x * y).real)


def _assert_pulled_alone(
    function: Callable[..., Any], operands: Sequence[Any], ct: Any, pulled: Sequence[Any]
) -> None:
    """The pull in one operand is the same whether or not the others are traced."""
    for i, expected in enumerate(pulled):
        alone = vjp(lambda x, i=i: function(*operands[:i], x, *operands[i + 1 :]), operands[i])[1](ct)
        np.testing.assert_allclose(alone[0], expected, rtol=1e-12, atol=1e-12)


def _assert_batches(function: Callable[..., Any], operands: Sequence[Any]) -> None:
    batches = [np.stack([x, 2 * x, -x]) for x in operands]
    for chosen in ({0}, {len(operands) - 1}, set(range(len(operands)))):
        axes = [0 if i in chosen else None for i in range(len(operands))]
        check_vmap(
            function, [b if i in chosen else x for i, (b, x) in enumerate(zip(batches, operands))], axes
        )
