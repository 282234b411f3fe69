"""Products and running products with zeros, near overflow, to high order: exact."""

from __future__ import annotations

from itertools import combinations
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from funcgrad import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

# Whole numbers, many of them 0, so that every product is exact.
factors = st.lists(st.integers(-3, 3), min_size=0, max_size=7).map(lambda v: np.array(v, float))


def others(x: Any, *left_out: int) -> float:
    """The product of all but some elements."""
    return prod(float(v) for i, v in enumerate(x) if i not in left_out)


def second(x: Any) -> Any:
    """The matrix of second derivatives of a product."""
    h = np.zeros((len(x), len(x)))
    for i, j in combinations(range(len(x)), 2):
        h[i, j] = h[j, i] = others(x, i, j)
    return h


@given(factors)
def test_the_derivative_is_the_product_of_the_others(x: Any) -> None:
    expected = [others(x, i) for i in range(len(x))]
    assert grad(np.prod)(x).tolist() == expected
    assert jvp(np.prod, (x,), (np.arange(len(x)) + 1.0,))[1] == np.dot(expected, np.arange(len(x)) + 1)


@settings(max_examples=30)
@given(factors)
def test_second_derivatives_are_exact(x: Any) -> None:
    np.testing.assert_array_equal(hessian(np.prod)(x), second(x))
    np.testing.assert_array_equal(jacfwd(jacfwd(np.prod))(x), second(x))
    np.testing.assert_array_equal(jacrev(grad(np.prod))(x), second(x))


@settings(max_examples=30)
@given(factors.filter(lambda v: len(v) >= 3))
def test_third_derivatives_are_exact(x: Any) -> None:
    third = grad(lambda v: hessian(np.prod)(v)[0, 1])(x)
    expected = [0.0 if k < 2 else others(x, 0, 1, k) for k in range(len(x))]
    np.testing.assert_array_equal(third, expected)


def running_slopes(x: Any) -> Any:
    """d cumprod[i] / d x[k]."""
    n = len(x)
    return np.array([[others(x[: i + 1], k) if k <= i else 0.0 for k in range(n)] for i in range(n)]).reshape(
        n, n
    )


@settings(max_examples=30)
@given(factors)
def test_running_products_are_exact(x: Any) -> None:
    np.testing.assert_array_equal(jacrev(np.cumprod)(x), running_slopes(x))
    np.testing.assert_array_equal(jacfwd(np.cumprod)(x), running_slopes(x))
    total = sum(
        (second(x[: i + 1]) if i + 1 == len(x) else np.pad(second(x[: i + 1]), (0, len(x) - i - 1)))
        for i in range(len(x))
    )
    np.testing.assert_array_equal(
        hessian(lambda v: np.sum(np.cumprod(v)))(x), total + np.zeros((len(x), len(x)))
    )


@given(st.integers(0, 40), st.integers(0, 2))
def test_a_tree_of_any_size(n: int, zeros: int) -> None:
    x = 1 + np.sin(np.arange(n)) / 4
    x[: min(zeros, n)] = 0
    ct = np.cos(np.arange(n))
    expected = [others(x, i) for i in range(n)]
    np.testing.assert_allclose(grad(np.prod)(x), expected, rtol=1e-13)
    np.testing.assert_allclose(vjp(np.cumprod, x)[1](ct)[0], ct @ running_slopes(x), rtol=1e-12, atol=1e-12)


# ---- options ---------------------------------------------------------------------------------------------------------

CUBE = np.array([[[1.0, 2.0], [0.0, 2.0]], [[3.0, 1.0], [5.0, 1.0]]])
ROWS = np.array([[2.0, 0.0, 3.0], [1.0, 2.0, 3.0], [0.0, 0.0, 4.0]])


def test_rows_with_and_without_zeros() -> None:
    expected = [[0.0, 6.0, 0.0], [6.0, 3.0, 2.0], [0.0, 0.0, 0.0]]
    for axis in (1, -1, (1,), (-1,)):
        f = lambda m, axis=axis: np.sum(np.prod(m, axis=axis) * np.array([1.0, 10.0, 100.0]))
        np.testing.assert_array_equal(grad(f)(ROWS), np.multiply(expected, [[1.0], [10.0], [100.0]]))
    np.testing.assert_array_equal(vmap(grad(np.prod))(ROWS), expected)
    np.testing.assert_array_equal(vmap(hessian(np.prod))(ROWS), [second(row) for row in ROWS])
    np.testing.assert_array_equal(
        hessian(lambda m: np.prod(m, axis=-1).sum())(ROWS)[2, :, 2], second(ROWS[2])
    )


def test_tuples_of_axes_and_keepdims() -> None:
    f = lambda m, axis: np.sum(np.prod(m, axis=axis, keepdims=True) * np.array([[[1.0], [3.0]]]))
    expected = [[[6.0, 3.0], [30.0, 0.0]], [[2.0, 6.0], [0.0, 0.0]]]
    for axis in ((0, 2), (2, 0), (-1, 0), (0, -1)):
        np.testing.assert_array_equal(grad(f)(CUBE, axis), expected)
        assert jvp(lambda m, axis=axis: f(m, axis), (CUBE,), (np.ones((2, 2, 2)),))[1] == np.sum(expected)


def test_where_and_initial() -> None:
    x, mask = np.array([2.0, 0.0, 3.0]), np.array([True, False, True])
    assert grad(lambda v: np.prod(v, where=mask))(x).tolist() == [3.0, 0.0, 2.0]
    assert grad(lambda v: np.prod(v, where=mask, initial=5.0))(x).tolist() == [15.0, 0.0, 10.0]
    f = lambda v, start: np.prod(v, initial=start, where=mask)
    assert grad(f, argnums=(0, 1))(x, 5.0)[1] == 6.0
    assert grad(lambda s: grad(f)(x, s)[0])(5.0) == 3.0
    parts = grad(lambda v, start: np.prod(v, initial=start), argnums=(0, 1))(np.array([2.0, 3.0]), 0.0)
    assert (parts[0].tolist(), parts[1]) == ([0.0, 0.0], 6.0)


def test_the_empty_product_is_one() -> None:
    assert grad(lambda t: np.prod(np.zeros(0, like=t)) * t)(3.0) == 1.0
    assert jacrev(lambda m: np.prod(m, axis=0))(np.zeros((0, 3))).shape == (3, 0, 3)


def test_products_of_complex_numbers() -> None:
    z = np.array([1 + 1j, 0, 2j])
    for function, expected in [(np.prod, [0, -2 + 2j, 0]), (lambda v: np.cumprod(v)[-1], [0, -2 + 2j, 0])]:
        np.testing.assert_array_equal(grad(function, holomorphic=True)(z), expected)
        np.testing.assert_array_equal(jvp(function, (z,), (np.array([0, 1j, 0]),))[1], -2 - 2j)


def test_running_products_along_axes() -> None:
    m = np.array([[2.0, 0.0], [3.0, 1.0]])
    np.testing.assert_array_equal(grad(lambda m: np.sum(np.cumprod(m)))(m), [[1.0, 14.0], [0.0, 0.0]])
    np.testing.assert_array_equal(grad(lambda m: np.sum(np.cumprod(m, axis=-1)))(m), [[1.0, 2.0], [2.0, 3.0]])
    np.testing.assert_array_equal(grad(lambda m: np.sum(np.cumprod(m, axis=0)))(m), [[4.0, 2.0], [2.0, 0.0]])
    np.testing.assert_array_equal(vmap(grad(lambda v: np.sum(np.cumprod(v))))(m), [[1.0, 2.0], [2.0, 3.0]])


@pytest.mark.skipif(not hasattr(np, "cumulative_prod"), reason="NumPy 2.1 has it first")
def test_cumulative_prod_can_begin_with_one() -> None:
    f = lambda v: np.cumulative_prod(v, include_initial=True) @ np.array([1.0, 2.0, 3.0])
    assert grad(f)(np.array([0.0, 5.0])).tolist() == [17.0, 0.0]
    with pytest.raises(ValueError, match="axis"):
        grad(lambda m: np.cumulative_prod(m).sum())(ROWS)


# ---- what can't be had by division -----------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:overflow")
def test_a_product_that_overflows_or_underflows_has_finite_slopes() -> None:
    large = np.array([1e200, 1e200, 1e-150])
    np.testing.assert_allclose(grad(np.prod)(large), [1e50, 1e50, np.inf])
    small = np.array([1e-200, 1e-200, 1e150])
    np.testing.assert_allclose(grad(np.prod)(small), [1e-50, 1e-50, 0.0])
    np.testing.assert_allclose(grad(lambda v: np.cumprod(v)[-1])(small), [1e-50, 1e-50, 0.0])


def test_single_precision() -> None:
    m = np.array([[1e13, 0.0, 2.0], [3.0, 0.0, 1.0], [1.0, 1.0, 1.0]], np.float32)
    come = grad(np.prod)(m)
    assert come.dtype == np.float32
    assert not come.any()
    one = np.array([1e13, 0.0, 2.0], np.float32)
    np.testing.assert_allclose(grad(np.prod)(one), [0, 2e13, 0], rtol=1e-6)


def test_a_wider_dtype_is_wide_in_between() -> None:
    x = np.array([1e30, 1e30, 1e-30, 0.0], np.float32)
    come = grad(lambda v: np.prod(v, dtype=np.float64))(x)
    assert come.dtype == np.float32
    np.testing.assert_allclose(come, [0, 0, 0, 1e30], rtol=1e-6)
    np.testing.assert_allclose(
        grad(lambda v: np.cumprod(v, dtype=np.float64)[-1])(x), [0, 0, 0, 1e30], rtol=1e-6
    )


def test_small_factors_keep_their_curvature() -> None:
    """The second derivative by way of out / x would cancel to noise of size 1e-16 / x."""
    x = np.array([1e-9, 2.0, 3.0])
    np.testing.assert_allclose(hessian(np.prod)(x), second(x), rtol=1e-14)
    np.testing.assert_allclose(hessian(lambda v: np.cumprod(v)[-1])(x), second(x), rtol=1e-14)
