"""Norms, standard deviations and weighted means of data that are spread widely: second derivatives, against
mpmath, along tangents that are as widely spread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from funcgrad import grad, hessian, jvp, vmap
from funcgrad.testing import check_grads, check_vmap

SPREAD = [
    np.array([1e-8, -2e-4, 3.0, 1e4, -1.5e8]),
    np.array([7e6, 1e-3, 2.0, -300.0]),
    np.array([1.0, 3.0, -2.0, 2.5]),  # nothing is big
]
Exact = Callable[[Sequence[Any]], Any]


def norm(ord: float) -> Exact:
    return lambda xs: sum(abs(x) ** mp.mpf(ord) for x in xs) ** (1 / mp.mpf(ord))


def std(xs: Sequence[Any]) -> Any:
    mean = sum(xs) / len(xs)
    return mp.sqrt(sum((x - mean) ** 2 for x in xs) / (len(xs) - 1))


def average(xs: Sequence[Any]) -> Any:
    return sum((i + 1) * x * x for i, x in enumerate(xs)) / sum(x * x for x in xs)


FUNCTIONS: dict[str, tuple[Callable[..., Any], Exact]] = {
    "norm": (np.linalg.norm, norm(2)),
    "norm 3": (lambda x: np.linalg.norm(x, 3), norm(3)),
    "norm 2.5": (lambda x: np.linalg.norm(x, 2.5), norm(2.5)),
    "frobenius": (lambda x: np.linalg.norm(np.diag(x), axis=(0, 1)), norm(2)),
    "std": (lambda x: np.std(x, ddof=1), std),
    "average": (lambda x: np.average(np.arange(x.size) + 1.0, weights=x * x), average),
}


def second_derivative(function: Exact, x: Any, u: Any, v: Any) -> float:
    with mp.workdps(120):
        h = mp.mpf(10) ** -25
        point = lambda i, j: [mp.mpf(a) + i * h * mp.mpf(b) + j * h * mp.mpf(c) for a, b, c in zip(x, u, v)]
        f = lambda i, j: function(point(i, j))
        return float((f(1, 1) - f(1, -1) - f(-1, 1) + f(-1, -1)) / (4 * h * h))


@pytest.mark.parametrize("x", SPREAD)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_curvature_keeps_its_digits(name: str, x: Any) -> None:
    function, exact = FUNCTIONS[name]
    u, v = x * np.linspace(0.7, 1.4, x.size), x * np.linspace(1.3, 0.6, x.size) ** 2
    expected = second_derivative(exact, x.tolist(), u.tolist(), v.tolist())
    along = lambda x: jvp(function, (x,), (u,))[1]
    gradient = grad(function)
    for came in (
        jvp(along, (x,), (v,))[1],
        np.vdot(grad(along)(x), v),
        np.vdot(jvp(gradient, (x,), (u,))[1], v),
        np.vdot(grad(lambda x: np.vdot(gradient(x), u))(x), v),
    ):
        assert came == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_curvature_of_each_example(name: str) -> None:
    function, _ = FUNCTIONS[name]
    rows = np.array([[1e6, 1.0, 2.0], [1.0, 2.0, 4.0]])
    check_vmap(hessian(function), [rows])
    np.testing.assert_allclose(
        vmap(hessian(function))(rows), [hessian(function)(row) for row in rows], rtol=1e-12, atol=1e-20
    )


def test_along_axes_to_the_third_order() -> None:
    x = np.array([[30.0, 1.0, -0.5], [0.3, 0.8, -1.2]])
    for f in (
        lambda x: np.linalg.norm(x, axis=1),
        lambda x: np.linalg.norm(x, 3, axis=0, keepdims=True),
        lambda x: np.std(x, axis=(0, 1), keepdims=True),
        lambda x: np.std(x, axis=1, ddof=1),
        lambda x: np.average(x, axis=1, weights=np.abs(x)),
        lambda x: np.average(x, weights=[5.0, 1.0], axis=0),
    ):
        check_grads(f, [x], order=3, rtol=1e-4, atol=1e-4)


def test_of_complex_numbers() -> None:
    z = np.array([30.0 - 9.0j, 1.0 + 2.0j, -0.5j])
    for f in (
        np.linalg.norm,
        np.std,
        lambda z: np.linalg.norm(z, 3),
        lambda z: np.average(z, weights=[9, 1, 1]),
    ):
        check_grads(f, [z], order=2)


def test_infinite_elements_leave_the_value_alone() -> None:
    x = np.array([np.inf, 1.0])
    assert np.average(x, weights=[10.0, 1.0]) == np.inf
    assert jvp(lambda x: np.average(x, weights=[10.0, 1.0]), (x,), (np.ones(2),)) == (np.inf, 1.0)
