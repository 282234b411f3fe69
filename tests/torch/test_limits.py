"""Values and gradients far out, at infinity and at the ends of domains: against limits that are known."""

from __future__ import annotations

from math import exp, inf, nan
from typing import Any

import numpy as np
import pytest

import funcgrad.torch

torch: Any = funcgrad.torch
F = torch.nn.functional

TAIL = exp(-40)
# name: function, operand, value, gradient of the sum
LIMITS: dict[str, tuple[Any, list[float], Any, list[float]]] = {
    "sigmoid": (torch.sigmoid, [-inf, -40.0, 40.0, 800.0, inf], [0, TAIL, 1, 1, 1], [0, TAIL, TAIL, 0, 0]),
    "tanh": (torch.tanh, [-inf, -20.0, 20.0, inf], [-1, -1, 1, 1], [0, 4 * TAIL, 4 * TAIL, 0]),
    "relu of NaN": (torch.relu, [nan, -1.0], [nan, 0], [1, 0]),
    "logsumexp of nothing": (lambda x: x.logsumexp(0), [-inf, -inf], -inf, [0, 0]),
    "logsumexp of all": (lambda x: x.logsumexp(0), [inf, 1.0], inf, [1, 0]),
    "logsumexp, shared": (lambda x: x.logsumexp(0), [inf, inf], inf, [0.5, 0.5]),
    "logsumexp of one": (lambda x: x.logsumexp(0, keepdim=True), [-inf, 3.0], [3], [0, 1]),
    "logsumexp of NaN": (lambda x: x.logsumexp(0), [nan, 1.0], nan, [nan, nan]),
    "lgamma": (torch.lgamma, [inf, -inf, 1.0], [inf, inf, 0], [inf, nan, -np.euler_gamma]),
    "digamma": (torch.digamma, [0.0, inf, 1.0], [-inf, inf, -np.euler_gamma], [inf, 0, np.pi**2 / 6]),
    "classes that are all ignored": (
        lambda x: F.cross_entropy(x.reshape(1, 2), torch.tensor([-100])),
        [1.0, 2.0],
        nan,
        [0, 0],
    ),
    "logits, target 0": (
        lambda x: F.binary_cross_entropy_with_logits(x, torch.zeros_like(x), reduction="none"),
        [-inf, -40.0, 800.0, inf],
        [0, TAIL, 800, inf],
        [0, TAIL, 1, 1],
    ),
    "logits, target 1": (
        lambda x: F.binary_cross_entropy_with_logits(x, torch.ones_like(x), reduction="none"),
        [-inf, -800.0, 40.0, inf],
        [inf, 800, TAIL, 0],
        [-1, -1, 0, 0],
    ),
    "kl_div of a target of 0": (
        lambda y: F.kl_div(torch.zeros_like(y), y, reduction="none"),
        [0.0, 1.0],
        [0, 0],
        [-inf, 1],
    ),
}


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("create_graph", [False, True])
def test_limits(name: str, create_graph: bool) -> None:
    f, at, value, slope = LIMITS[name]
    x = torch.tensor(at, dtype=torch.float64, requires_grad=True)
    out = f(x)
    np.testing.assert_allclose(out.detach().numpy(), value, rtol=1e-12)
    (found,) = torch.autograd.grad(out.sum(), x, create_graph=create_graph)
    np.testing.assert_allclose(found.detach().numpy(), slope, rtol=1e-12, atol=1e-17)


@pytest.mark.parametrize("f", [torch.sigmoid, torch.tanh, lambda x: torch.logsumexp(x, 0)])
def test_an_operand_may_be_overwritten_where_the_original_saves_the_result(f: Any) -> None:
    x = torch.tensor([0.5, 1.0], dtype=torch.float64, requires_grad=True)
    y = x * 1
    out = f(y)
    y.mul_(2)
    (found,) = torch.autograd.grad(out.sum(), x)
    (expected,) = torch.autograd.grad(f(x).sum(), x)
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize(
    "f", [lambda x: x.logsumexp(0), lambda x: x.logsumexp((0, 1), keepdim=True).sum(), torch.sigmoid]
)
def test_second_derivatives_and_forward_mode(f: Any) -> None:
    x = torch.linspace(-1, 1, 6, dtype=torch.float64).reshape(3, 2).requires_grad_()
    assert torch.autograd.gradcheck(f, (x,), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(f, (x,))
