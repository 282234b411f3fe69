"""Inputs on which PyTorch is wrong, refuses, or must be matched: each with the right value."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad.torch as torch

F64 = torch.float64
nan, inf = math.nan, math.inf
hessian = torch.autograd.functional.hessian


def t64(x: Any, **options: Any) -> Any:
    return torch.tensor(x, dtype=F64, **options)


def gradients(f: Callable[..., Any], *values: Any) -> Any:
    """The gradients of the sum of f."""
    xs = [t64(v, requires_grad=True) for v in values]
    found = [g.numpy() for g in torch.autograd.grad(f(*xs).sum(), xs)]
    return found if len(found) > 1 else found[0]


def _written(write: Callable[[Any, Any], None]) -> Callable[..., Any]:
    def f(x: Any, v: Any = None) -> Any:
        y = x.clone()
        write(y, x if v is None else v)
        return y

    return f


def _set_first(y: Any, x: Any) -> None:
    y[0] = x[1] * 3


def _set_negative(y: Any, x: Any) -> None:
    y[y < 0] = 0


def _scale_large(y: Any, x: Any) -> None:
    y[y > 1] *= 10


def _add_to_first(y: Any, x: Any) -> None:
    y[0] += y[1]


def _fill(y: Any, v: Any) -> None:
    y[:] = v


BOTH = torch.tensor([True, True])
GRADIENTS = {
    "norm at 0": (torch.norm, [[0.0, 0.0]], [0, 0]),
    "square root of a sum of squares at 0": (lambda x: (x * x).sum().sqrt(), [[0.0, 0.0]], [nan, nan]),
    "a branch not taken": (lambda x: torch.where(x > 0, x.sqrt(), 0.0), [[0.0, 4.0]], [0, 0.25]),
    "0 * inf is not 0": (lambda x: x.sqrt() ** 2, [[0.0]], [nan]),
    "std of equal values": (torch.std, [[2.0, 2, 2]], [0, 0, 0]),
    "std of one value": (lambda x: x.std(unbiased=False), [[1.0]], [0]),
    "atan2 of tiny values": (torch.atan2, [[1e-200], [1e-200]], [[5e199], [-5e199]]),
    "logsumexp of nothing": (lambda x: torch.logsumexp(x, 0), [[-inf, -inf]], [0, 0]),
    "logsumexp of one": (lambda x: torch.logsumexp(x, 0), [[-inf, 1.0]], [0, 1]),
    "softmax of nothing": (lambda x: x.softmax(0), [[-inf, -inf]], [nan, nan]),
    "softmax of masked": (lambda x: x.masked_fill(BOTH, -inf).softmax(0), [[1.0, 2.0]], [0, 0]),
    "x**0 at 0": (lambda x: x**0, [0.0], 0),
    "x**1 at 0": (lambda x: x**1, [0.0], 1),
    "x**-1 at 0": (lambda x: x**-1, [0.0], -inf),
    "0**x": (lambda x: 0**x, [[0.0, 1.0]], [0, 0]),
    "-x log x at 0": (lambda x: -x * torch.log(x), [[0.0]], [nan]),
    "entr at 0": (torch.special.entr, [[0.0]], [inf]),
    "log of a negative number": (torch.log, [[-1.0]], [-1]),
    "product with one zero": (torch.prod, [[0.0, 2, 3]], [6, 0, 0]),
    "product with two zeros": (torch.prod, [[0.0, 0, 3]], [0, 0, 0]),
    "ldexp by an integer": (lambda x: torch.ldexp(x, torch.tensor(-1, dtype=torch.int32)), [[0.5]], [0.5]),
    "maximum, a tie": (torch.maximum, [[1.0], [1.0]], [[0.5], [0.5]]),
    "clamp by a tensor, a tie": (lambda x, y: torch.clamp(x, min=y), [[1.0], [1.0]], [[0.5], [0.5]]),
    "max beside nan": (torch.max, [[1.0, nan, 3.0]], [0, 1, 0]),
    "set an element": (_written(_set_first), [[1.0, 1, 1, 1]], [0, 4, 1, 1]),
    "set where negative": (_written(_set_negative), [[1.0, -1]], [1, 0]),
    "scale where large": (_written(_scale_large), [[1.0, 2, 3]], [1, 10, 10]),
    "add to an element": (_written(_add_to_first), [[1.0, 2, 3]], [1, 2, 1]),
    "det of a singular matrix": (torch.det, [[[1.0, 2], [2, 4]]], [[4, -2], [-2, 1]]),
    "det of zeros": (torch.det, [np.zeros((3, 3)).tolist()], np.zeros((3, 3))),
    "eigvalsh": (torch.linalg.eigvalsh, [[[2.0, 1], [1, 2]]], np.eye(2)),
    "detached": (lambda x: x * x.detach(), [2.0], 2),
    "a mask as numbers": (lambda x: (x > 1).double() * x, [[0.0, 2.0]], [0, 1]),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradient(name: str) -> None:
    f, values, expected = GRADIENTS[name]
    found = gradients(f, *values)
    for a, b in zip(
        found if isinstance(found, list) else [found],
        expected if isinstance(found, list) else [expected],
        strict=True,
    ):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-15)


def test_writing_a_number_everywhere() -> None:
    x, v = gradients(_written(_fill), [1.0, 2, 3], 2.0)
    np.testing.assert_array_equal(x, 0)
    assert v == 3


def test_of_writes_to_one_place_the_last_counts() -> None:
    x, v = t64([0.0, 1.0], requires_grad=True), t64([1.0, 2.0], requires_grad=True)
    twice = (torch.tensor([0, 0]),)
    y = x.clone().index_put(twice, v)
    g = torch.autograd.grad(y.sum(), [x, v])
    assert [y.tolist(), g[0].tolist(), g[1].tolist()] == [[2, 1], [0, 1], [0, 1]]
    (added,) = torch.autograd.grad(x.clone().index_put(twice, v, accumulate=True).sum(), v)
    assert added.tolist() == [1, 1]


def test_second_derivatives_at_zero() -> None:
    found = hessian(lambda x, y: x**y, (t64(0.0), t64(2.0)))
    assert [[h.item() for h in row] for row in found] == [[2, 0], [0, 0]]
    assert hessian(lambda x: x**2, t64(0.0)).item() == 2
    assert hessian(torch.prod, t64([0.0, 2, 3])).sum(1).tolist() == [5, 3, 2]
    assert hessian(torch.prod, t64([0.0, 0, 3])).sum(1).tolist() == [3, 3, 0]


@pytest.mark.parametrize("outer", [torch.func.grad, torch.func.jacfwd, torch.func.jacrev])
@pytest.mark.parametrize("inner", [torch.func.grad, torch.func.jacfwd, torch.func.jacrev])
def test_cumprod_twice_in_every_mix_of_modes(outer: Any, inner: Any) -> None:
    f = lambda x: torch.cumprod(torch.stack([x, x - 1, x + 3]), 0).sum()
    assert outer(inner(f))(t64(1.0)).item() == 12


def test_each_gradient_has_the_dtype_of_its_leaf() -> None:
    x, y = (
        torch.ones(2, dtype=torch.float32, requires_grad=True),
        torch.ones(2, dtype=F64, requires_grad=True),
    )
    (x * y).sum().backward()
    assert (x.grad.dtype, y.grad.dtype) == (torch.float32, F64)


def test_reductions_of_nothing() -> None:
    nothing = torch.tensor([])
    assert nothing.sum().item() == 0
    assert nothing.prod().item() == 1
    assert math.isnan(nothing.mean().item())
    with pytest.raises(RuntimeError, match="numel"):
        nothing.max()


def test_derivatives_of_every_order() -> None:
    y = x = t64(2.0, requires_grad=True)
    y = x**4
    found = []
    for _ in range(4):
        (y,) = torch.autograd.grad(y, x, create_graph=True)
        found.append(y.item())
    assert found == [32, 48, 48, 24]
