"""Slopes of elementwise functions keep their digits: at zeros, in tails, near overflow, at any order."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import product
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from funcgrad import grad, hessian, jacfwd, jvp, vmap
from tests.rules.truth import derivative, relative_error

TINY, SMALL = [1e-60, -1e-60], [1e-20, -1e-8]

# A function in NumPy and in mpmath, and points: ordinary ones, tiny ones, in tails, near the end of the
# domain.
UNARY: dict[str, tuple[Callable[..., Any], Callable[..., Any], list[float]]] = {
    "sin": (np.sin, mp.sin, [*TINY, *SMALL, 0.5, 3.0]),
    "tan": (np.tan, mp.tan, [*TINY, *SMALL, 0.5, 1.5]),
    "arcsin": (np.arcsin, mp.asin, [*TINY, *SMALL, 0.5, 1 - 2.0**-30]),
    "arccos": (np.arccos, mp.acos, [*TINY, *SMALL, 0.5, 2.0**-30 - 1]),
    "arctan": (np.arctan, mp.atan, [*TINY, *SMALL, 0.5, 3.0, 1e10, -1e60]),
    "sinh": (np.sinh, mp.sinh, [*TINY, *SMALL, 0.5, 50.0]),
    "cosh": (np.cosh, mp.cosh, [*TINY, *SMALL, 0.5, 50.0]),
    "tanh": (np.tanh, mp.tanh, [*TINY, *SMALL, 0.5, 2.0, 3.8, -4.2, 10.0, 20.0, -300.0]),
    "arcsinh": (np.arcsinh, mp.asinh, [*TINY, *SMALL, 0.5, 3.0, 1e10, -1e60]),
    "arccosh": (np.arccosh, mp.acosh, [1 + 2.0**-30, 1.5, 3.0, 1e10, 1e60]),
    "arctanh": (np.arctanh, mp.atanh, [*TINY, *SMALL, 0.5, 1 - 2.0**-30]),
    "expm1": (np.expm1, mp.expm1, [*TINY, *SMALL, 3.0, -40.0, -300.0]),
    "log1p": (np.log1p, mp.log1p, [*TINY, *SMALL, 3.0, 2.0**-30 - 1, 1e60]),
    "cbrt": (np.cbrt, lambda x: mp.sign(x) * mp.cbrt(abs(x)), [1e-60, -8.0, 1e60]),
    "reciprocal": (np.reciprocal, lambda x: 1 / x, [1e-40, -3.0, 1e40]),
    "sinc": (np.sinc, mp.sincpi, [*TINY, *SMALL, 1e-3, 0.1, 0.31, 0.33, -0.7, 1.0, 1.5, -3.0, 10.25, 1e5 + 0.25]),
    "i0": (np.i0, lambda x: mp.besseli(0, x), [*TINY, *SMALL, 0.5, -3.0, 8.0, 30.0, 200.0, 700.0]),
    "logaddexp": (lambda x: np.logaddexp(x, 0.0), lambda x: mp.log(1 + mp.exp(x)), [*TINY, *SMALL, 3.0, -37.0, 300.0]),
    "logaddexp2": (lambda x: np.logaddexp2(0.0, x), lambda x: mp.log(1 + 2**x, 2), [*SMALL, 3.0, -50.0, 50.0, 300.0]),
    "hypot": (lambda x: np.hypot(x, 1.0), lambda x: mp.hypot(x, 1), [*TINY, *SMALL, 1.5, 1e8, -1e60]),
    "arctan2 above": (lambda x: np.arctan2(x, 1.0), mp.atan, [*TINY, *SMALL, 1.5, 1e8, -1e60]),
    "arctan2 below": (lambda x: np.arctan2(1.0, x), lambda x: mp.atan(1 / x), [1e-8, 1.5, 1e8, 1e60]),
}  # fmt: skip

BINARY: dict[str, tuple[Callable[..., Any], Callable[..., Any], list[tuple[float, float]]]] = {
    "hypot": (np.hypot, mp.hypot, [(3, 4), (1e8, 1), (1, -1e8), (3e100, 4e100), (1e-90, 1e-90), (0, 1), (1e-20, 1)]),
    "arctan2": (np.arctan2, mp.atan2, [(3, 4), (1e8, 1), (1, 1e8), (-3, -4), (3e80, 4e80), (1e-80, 1e-80), (0, 1)]),
    "logaddexp": (
        np.logaddexp, lambda x, y: mp.log(mp.exp(x) + mp.exp(y)), [(1, 1), (0, 40), (40, 0), (700, 699), (0, 600)],
    ),
    "logaddexp2": (np.logaddexp2, lambda x, y: mp.log(2**x + 2**y, 2), [(1, 1), (0, 40), (40, 0), (1000, 999)]),
}  # fmt: skip


def slope_of(function: Callable[..., Any], *argnums: int) -> Callable[..., Any]:
    """The derivative in each of `argnums`, one after the other."""
    for i in argnums:
        function = grad(function, argnums=i)
    return function


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("name", UNARY)
def test_slopes_keep_their_digits(name: str, order: int) -> None:
    function, exact, xs = UNARY[name]
    slope = slope_of(function, *[0] * order)
    for x in xs:
        truth = derivative(exact, [x], [order])
        if not 1e-290 < abs(truth) < 1e290:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            came = slope(x)
        assert relative_error(came, truth) < 1e-12 * 10 ** max(0, order - 2), x


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", UNARY)
def test_forward_mode_and_vmap_keep_the_same_digits(name: str, order: int) -> None:
    function, _, xs = UNARY[name]
    slope, forward = slope_of(function, *[0] * order), function
    for _ in range(order):
        forward = jacfwd(forward)
    expected = np.array([slope(x) for x in xs])
    np.testing.assert_allclose([forward(x) for x in xs], expected, rtol=1e-13, atol=0)
    np.testing.assert_allclose(vmap(slope)(np.array(xs)), expected, rtol=1e-13, atol=0)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("name", BINARY)
def test_mixed_slopes_keep_their_digits(name: str, order: int) -> None:
    function, exact, xs = BINARY[name]
    for x, argnums in product(xs, product((0, 1), repeat=order)):
        truth = derivative(exact, x, (argnums.count(0), argnums.count(1)))
        if 1e-290 < abs(truth) < 1e290:
            assert relative_error(slope_of(function, *argnums)(*map(float, x)), truth) < 1e-12, (x, argnums)


@given(st.floats(-700, 700))
def test_tanh_and_logistic_slopes_add_up(x: float) -> None:
    """tanh(x) = 2 logistic(2x) - 1, so their slopes agree wherever neither underflows."""
    by_tanh = grad(np.tanh)(0.5 * x)
    by_logaddexp = 4 * grad(grad(lambda x: np.logaddexp(x, 0.0)))(x)
    assert by_tanh == pytest.approx(by_logaddexp, rel=1e-12, abs=1e-300)


# ---- infinities and zeros --------------------------------------------------------------------------------------------


def test_tails_reach_zero_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [grad(np.tanh)(x) for x in (1000.0, -1000.0, np.inf, -np.inf)] == [0, 0, 0, 0]
        assert [grad(np.arctan)(x) for x in (1e200, -np.inf)] == [0, 0]
        assert [grad(lambda t: np.logaddexp(t, 0.0))(x) for x in (1000.0, -1000.0)] == [1, 0]
        np.testing.assert_array_equal(
            hessian(lambda v: np.sum(np.tanh(v)))(np.array([800.0, -800.0])), np.zeros((2, 2))
        )
        np.testing.assert_array_equal(
            hessian(lambda v: np.logaddexp(v[0], v[1]))(np.array([0.0, 800.0])), np.zeros((2, 2))
        )


def test_slopes_that_would_overflow_in_squares() -> None:
    assert [grad(np.arcsinh)(x) for x in (1e200, -1e200)] == pytest.approx([1e-200, 1e-200])
    assert grad(np.arccosh)(1e200) == pytest.approx(1e-200)
    assert grad(np.hypot, argnums=(0, 1))(3e200, 4e200) == pytest.approx((0.6, 0.8))
    assert grad(np.hypot, argnums=(0, 1))(3e-200, 4e-200) == pytest.approx((0.6, 0.8))
    assert grad(np.hypot, argnums=(0, 1))(1.5e308, 1.5e308) == pytest.approx((0.5**0.5, 0.5**0.5))
    assert grad(np.arctan2, argnums=(0, 1))(1e-200, 1e-200) == pytest.approx((5e199, -5e199))


def test_hypot_at_the_origin_has_a_slope_but_no_curvature() -> None:
    assert grad(np.hypot, argnums=(0, 1))(0.0, 0.0) == (0, 0)
    assert jvp(np.hypot, (0.0, 0.0), (1.0, 1.0))[1] == 0
    curvature = hessian(lambda v: np.hypot(v[0], v[1]))(np.zeros(2))
    assert np.isnan(curvature).all()
    rows = np.array([[0.0, 0.0], [3.0, 4.0]])
    np.testing.assert_allclose(grad(lambda m: np.sum(np.hypot(m[:, 0], m[:, 1])))(rows), [[0, 0], [0.6, 0.8]])


def test_hypot_at_infinity() -> None:
    assert grad(np.hypot, argnums=(0, 1))(np.inf, 1.0) == (1, 0)
    assert grad(np.hypot, argnums=(0, 1))(1.0, -np.inf) == (0, -1)
    assert grad(np.hypot, argnums=(0, 1))(-np.inf, np.inf) == pytest.approx((-(0.5**0.5), 0.5**0.5))


def test_arctan2_on_its_cut_and_at_the_origin() -> None:
    assert grad(np.arctan2, argnums=(0, 1))(0.0, -1.0) == (-1, 0)
    with np.errstate(invalid="ignore"):
        assert np.isnan(grad(np.arctan2)(0.0, 0.0))


@pytest.mark.parametrize("function", [np.logaddexp, np.logaddexp2])
def test_logaddexp_of_nothing(function: Any) -> None:
    assert grad(function, argnums=(0, 1))(-np.inf, 1.0) == (0, 1)
    assert grad(function, argnums=(0, 1))(np.inf, 1.0) == (1, 0)
    assert grad(function, argnums=(0, 1))(-np.inf, -np.inf) == (0.5, 0.5)
    nested = grad(lambda x, y, z: function(function(x, y), z), argnums=(0, 1, 2))
    assert nested(-np.inf, -np.inf, 2.0) == (0, 0, 1)
    assert jvp(function, (-np.inf, -np.inf), (1.0, 1.0))[1] == 1


def test_infinite_slopes_are_infinite() -> None:
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(grad(lambda v: np.sum(np.sqrt(v)))(np.zeros(2)), [np.inf, np.inf])
        assert grad(np.sqrt)(0.0) == np.inf
        assert grad(np.cbrt)(0.0) == np.inf
        assert grad(np.arcsin)(1.0) == np.inf
        assert grad(np.log)(0.0) == np.inf


def test_slopes_outside_the_domain_are_not_numbers() -> None:
    with np.errstate(all="ignore"):
        for function in (np.arcsin, np.arccos, np.arccosh, np.sqrt):
            assert np.isnan(grad(function)(-2.0))


# ---- many elements, single precision ---------------------------------------------------------------------------------


def test_good_and_bad_places_in_one_array() -> None:
    v = np.array([0.0, 0.5, 1.0, 2.0, -3.0])
    np.testing.assert_allclose(
        grad(lambda v: np.sum(np.sinc(v)))(v), [0, -1.2732395447351628, -1, 0.5, 1 / 3], atol=1e-15
    )
    v = np.array([[0.1, 20.0], [-20.0, 0.0]])
    slope = grad(lambda v: np.sum(np.tanh(v)))(v)
    np.testing.assert_allclose(slope, 1 / np.cosh(v) ** 2, rtol=1e-13)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("places", [0, 1, 3, 4, 35])
def test_few_and_many_places_where_tanh_is_flat(places: int, order: Any) -> None:
    v = np.linspace(-1, 1, 35)
    v[:places] *= np.linspace(20, 800, places)
    v = np.array(v.reshape(5, 7), order=order)
    for dtype, rtol in ((np.float64, 1e-11), (np.float32, 1e-4)):
        slope = grad(lambda v: np.sum(np.tanh(v)))(v.astype(dtype))
        with np.errstate(over="ignore"):
            np.testing.assert_allclose(slope, 1 / np.cosh(v) ** 2, rtol=rtol, atol=np.finfo(dtype).tiny)


@pytest.mark.parametrize("name", sorted(set(UNARY) - {"cbrt"}))
def test_single_precision_has_single_accuracy(name: str) -> None:
    function, exact, xs = UNARY[name]
    x = np.array([x for x in xs if 1e-30 < abs(x) < 80 and abs(abs(x) - 1) > 1e-6], np.float32)
    slope = grad(lambda v: np.sum(function(v)))(x)
    assert slope.dtype == np.float32
    for value, s in zip(x, slope):
        truth = derivative(exact, [float(value)], [1])
        if 1e-35 < abs(truth) < 1e35:
            assert relative_error(s, truth) < 2e-5
