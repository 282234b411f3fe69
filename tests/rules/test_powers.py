"""x ** y: exact at 0 and at whole exponents, to every order, in base and exponent, in both modes."""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from funcgrad import grad, hessian, jacfwd, jacrev, jvp, vmap
from tests.rules.truth import derivative, relative_error


def falling(y: float, n: int) -> float:
    """y (y-1) ... (y-n+1): the factor of the n-th derivative of x**y."""
    return float(np.prod([y - i for i in range(n)]))


def times(slope: Any, order: int, transform: Any = grad) -> Any:
    for _ in range(order):
        slope = transform(slope)
    return slope


# ---- whole exponents at 0 --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "exponent", [0, 1, 2, 3, 0.0, 1.0, 2.0, 3.0, np.float32(2), np.int64(3), np.array(2), np.array(1.0)]
)
@pytest.mark.parametrize("transform", [grad, jacfwd])
def test_whole_exponents_at_zero_to_every_order(exponent: Any, transform: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for order in range(1, 6):
            expected = falling(exponent, order) if order == exponent else 0.0
            assert times(lambda t: t**exponent, order, transform)(0.0) == expected


def test_an_array_of_exponents_at_zero_to_every_order() -> None:
    exponents = np.arange(5.0)
    for order in range(1, 6):
        expected = [falling(y, order) if order == y else 0.0 for y in exponents]
        np.testing.assert_array_equal(times(lambda t: t**exponents, order, jacfwd)(0.0), expected)
        np.testing.assert_array_equal(times(lambda t: t**exponents, order, jacrev)(0.0), expected)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int64, np.float32, np.float64, bool])
def test_exponents_of_every_dtype(dtype: Any) -> None:
    exponents = np.array([0, 1], dtype)
    assert grad(lambda t: np.sum(t**exponents))(0.0) == 1
    np.testing.assert_array_equal(grad(lambda v: np.sum(v**exponents))(np.array([3.0, 3.0])), [0, 1])


@pytest.mark.parametrize("exponent", [2.5, 1.5, 0.5, -0.5, -2])
def test_other_exponents_at_zero(exponent: float) -> None:
    with np.errstate(all="ignore"):
        for order in range(1, 4):
            expected = 0.0 if exponent > order else np.copysign(np.inf, falling(exponent, order))
            slope = times(lambda t: t**exponent, order)(0.0)
            assert slope == expected or (exponent == -2 and abs(slope) == np.inf)


def test_a_constant_exponent_needs_no_logarithm() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert grad(lambda a: np.power(a, 3))(-2.0) == 12
        assert grad(lambda t: np.sum(np.float_power(t, [1, 2, 3])))(-2.0) == 9
        assert grad(lambda t: np.sum(t ** np.array([2.0, 3.0])))(-2.0) == 8
        np.testing.assert_array_equal(
            grad(lambda v: np.sum(np.square(v) ** 2 + v**4))(np.array([-1.0, 0, 2])), [-8, 0, 64]
        )


def test_every_way_to_write_a_power() -> None:
    slope = 2 + 3 + 2 * np.log(2)
    assert grad(lambda t: pow(t, 2) + t.__pow__(3) + 2**t)(1.0) == pytest.approx(slope)
    assert grad(lambda t: np.pow(t, 2) + np.power(t, 3) + np.float_power(2, t))(1.0) == pytest.approx(slope)
    assert grad(lambda t: np.square(t) + t * t * t + np.exp2(t))(1.0) == pytest.approx(slope)


def test_a_base_too_large_for_an_integer_of_numpys() -> None:
    assert grad(lambda t: (2**70) ** t)(2.0) == pytest.approx(70 * np.log(2) * 2.0**140)


def test_infinite_bases() -> None:
    assert grad(lambda t: t**1.0)(np.inf) == 1
    assert grad(lambda t: t**0.0)(np.inf) == 0
    assert grad(lambda z: (z**1.0).real)(complex(np.inf, 0)) == 1


# ---- the exponent ----------------------------------------------------------------------------------------------------


def test_all_second_derivatives_at_a_zero_base() -> None:
    power = lambda v: v[0] ** v[1]
    np.testing.assert_array_equal(hessian(power)(np.array([0.0, 2.0])), [[2, 0], [0, 0]])
    np.testing.assert_array_equal(hessian(power)(np.array([0.0, 3.0])), np.zeros((2, 2)))
    np.testing.assert_array_equal(jacfwd(jacfwd(power))(np.array([0.0, 2.0])), [[2, 0], [0, 0]])


def test_powers_of_zero_in_the_exponent() -> None:
    np.testing.assert_array_equal(grad(lambda v: np.sum(0.0**v))(np.array([1.0, 2.0])), [0, 0])
    np.testing.assert_array_equal(jvp(lambda v: 0.0**v, (np.array([1.0, 2.0]),), (np.ones(2),))[1], [0, 0])
    assert grad(lambda y: 0.0**y)(0.0) == 0  # it jumps there; 0 by convention


@pytest.mark.parametrize(
    ("x", "y"), [(2.0, 3.0), (0.1, 0.5), (23.0, 0.0), (1e-10, 2.0), (1.0, 1.0), (1e10, -2.0), (7.0, 2.0)]
)
def test_mixed_derivatives(x: float, y: float) -> None:
    for order in (1, 2, 3):
        for argnums in product((0, 1), repeat=order):
            slope = np.power
            for i in argnums:
                slope = grad(slope, argnums=i)
            truth = derivative(lambda x, y: x**y, (x, y), (argnums.count(0), argnums.count(1)))
            assert relative_error(slope(x, y), truth) < 1e-13 or abs(truth) < 1e-30


def test_the_order_of_mixed_derivatives_does_not_matter() -> None:
    base_last = grad(grad(np.power, argnums=1), argnums=0)
    exponent_last = grad(grad(np.power, argnums=0), argnums=1)
    assert base_last(23.0, 0.0) == pytest.approx(1 / 23, rel=1e-15)
    assert exponent_last(23.0, 0.0) == pytest.approx(1 / 23, rel=1e-15)
    assert grad(np.power, argnums=(0, 1))(2.0, 0.0) == pytest.approx((0, np.log(2)))


def test_a_negative_base_has_no_slope_in_the_exponent() -> None:
    with np.errstate(invalid="ignore"):
        base, exponent = grad(np.power, argnums=(0, 1))(-2.0, 2.0)
    assert base == -4
    assert np.isnan(exponent)


@given(st.floats(0.1, 10), st.floats(-5, 5))
def test_an_exponent_traced_or_not_gives_the_same(x: float, y: float) -> None:
    assert grad(np.power, argnums=(0, 1))(x, y)[0] == pytest.approx(
        grad(lambda t: t**y)(x), rel=1e-13, abs=1e-13
    )
    assert grad(lambda t: np.sum(t ** np.array([y])))(x) == pytest.approx(
        grad(lambda t: t**y)(x), rel=1e-13, abs=1e-13
    )


# ---- shapes, dtypes, complex numbers ---------------------------------------------------------------------------------


def test_a_column_of_exponents_against_a_row_of_bases() -> None:
    row, column = np.array([0.0, 1.0, 3.0]), np.array([[1.0], [2.0]])
    np.testing.assert_allclose(grad(lambda v: np.sum(v**column))(row), [1, 3, 7])
    in_row, in_column = grad(lambda x, y: np.sum(x**y), argnums=(0, 1))(row + 1, column)
    np.testing.assert_allclose(in_row, 1 + 2 * (row + 1))
    np.testing.assert_allclose(
        in_column, np.sum((row + 1) ** column * np.log(row + 1), axis=1, keepdims=True)
    )


def test_single_precision_stays_single() -> None:
    x = np.array([0.0, 3.0], np.float32)
    for exponent in (2, 2.0, np.array([2, 3]), np.array([2, 3], np.float32)):
        slope = grad(lambda v: np.sum(v**exponent))(x)
        assert slope.dtype == np.float32
        np.testing.assert_allclose(slope, exponent * x ** (np.asarray(exponent) - 1))


def test_complex_powers() -> None:
    came = grad(lambda t: ((2 + 1j) ** (t + 1j)).real)(0.7)
    truth = mp.diff(lambda t: mp.re(mp.mpc(2, 1) ** mp.mpc(t, 1)), 0.7)
    assert came == pytest.approx(float(truth), rel=1e-12)
    assert grad(lambda z: z**2, holomorphic=True)(0j) == 0
    assert times(lambda z: z**2, 2, lambda f: grad(f, holomorphic=True))(0j) == 2
    came = grad(lambda y: (-2.0 + 0j) ** y, holomorphic=True)(0.5 + 0j)
    np.testing.assert_allclose(came, (-2 + 0j) ** 0.5 * np.log(-2 + 0j))


def test_powers_under_vmap() -> None:
    x, y = np.array([0.0, 0.0, 3.0]), np.array([0.0, 1.0, 2.0])
    np.testing.assert_array_equal(vmap(grad(np.power))(x, y), [0, 1, 6])
    np.testing.assert_array_equal(vmap(grad(grad(np.power)))(x, y), [0, 0, 2])
    np.testing.assert_array_equal(vmap(grad(lambda t: t**2))(x), 2 * x)
