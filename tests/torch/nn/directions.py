"""A function's derivatives along a direction against differences: forward, backward, second ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import funcgrad.torch as ft

_STEP = 1e-6


def check_directions(f: Callable[[Any], Any], x: np.ndarray, text: str = "") -> None:
    """jvp, grad, and their compositions, of `f` at `x` (float64)."""
    rng = np.random.default_rng(0)
    at, along = ft.tensor(x), ft.tensor(rng.normal(size=x.shape))
    out, tangent = (t.detach() for t in ft.func.jvp(f, (at,), (along,)))
    weight = ft.tensor(rng.normal(size=tuple(out.shape)))

    def weighted(x: Any) -> Any:
        return (f(x) * weight).sum()

    def difference(function: Callable[[Any], Any]) -> np.ndarray:
        return ((function(at + _STEP * along) - function(at - _STEP * along)) / (2 * _STEP)).detach().numpy()

    def gradient(x: Any) -> Any:
        return ft.func.grad(weighted)(x).detach()

    expected = difference(f)
    close = {"rtol": 1e-4, "atol": 1e-6, "err_msg": text}
    np.testing.assert_allclose(tangent.numpy(), expected, **close)
    np.testing.assert_allclose(
        (gradient(at) * along).sum().item(), (expected * weight.numpy()).sum(), **close
    )
    second = difference(gradient)
    pushed = ft.func.jvp(ft.func.grad(weighted), (at,), (along,))[1]
    np.testing.assert_allclose(pushed.detach().numpy(), second, **close)
    leaf = ft.tensor(x, requires_grad=True)
    (first,) = ft.autograd.grad(weighted(leaf), leaf, create_graph=True)
    np.testing.assert_allclose(
        first.detach().numpy(), gradient(at).numpy(), rtol=1e-10, atol=1e-12, err_msg=text
    )
    again = (
        ft.autograd.grad((first * along).sum(), leaf, allow_unused=True)[0] if first.requires_grad else None
    )
    np.testing.assert_allclose(0 * x if again is None else again.numpy(), second, **close)
