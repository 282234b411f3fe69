"""Convolution in every mode and size, interpolation at and beyond the grid, unwrapping."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from funcgrad import grad, hessian, jacrev, jvp, vjp, vmap

# ---- convolution -----------------------------------------------------------------------------------------------------

lengths = st.integers(1, 6)
modes = st.sampled_from(["full", "same", "valid"])


@given(lengths, lengths, modes, st.sampled_from([np.convolve, np.correlate]))
def test_both_operands_in_every_mode(n: int, m: int, mode: Any, function: Any) -> None:
    a, v = np.sin(np.arange(1.0, n + 1)), np.cos(np.arange(1.0, m + 1))
    f = lambda a, v: function(a, v, mode)
    out, pull = vjp(f, a, v)
    np.testing.assert_allclose(out, f(a, v), atol=1e-14)
    ct = np.sin(np.arange(len(out)) * 2.0)
    in_a, in_v = pull(ct)
    np.testing.assert_allclose(in_a, [ct @ f(e, v) for e in np.eye(n)], atol=1e-13)
    np.testing.assert_allclose(in_v, [ct @ f(a, e) for e in np.eye(m)], atol=1e-13)
    np.testing.assert_allclose(jvp(f, (a, v), (a, v))[1], 2 * out, atol=1e-13)


@given(lengths, lengths, modes)
def test_complex_signals(n: int, m: int, mode: Any) -> None:
    a, v = np.exp(1j * np.arange(n)), np.exp(2j * np.arange(m))
    for function in (np.convolve, np.correlate):
        out, pull = vjp(lambda a, v, f=function: f(a, v, mode), a, v)
        np.testing.assert_allclose(out, function(a, v, mode), atol=1e-13)
        ct = np.exp(3j * np.arange(len(out)))
        np.testing.assert_allclose(pull(ct)[0], [ct @ function(e, v, mode) for e in np.eye(n)], atol=1e-13)
        sign = 1 if function is np.convolve else -1  # correlate conjugates its second operand
        expected = np.array([ct @ function(a, e, mode) for e in np.eye(m)])
        np.testing.assert_allclose(
            pull(ct)[1], expected if sign == 1 else pulled_conjugate(ct, a, m, mode), atol=1e-13
        )


def pulled_conjugate(ct: Any, a: Any, m: int, mode: Any) -> Any:
    """The cotangent of v in correlate(a, conj(v)): as of a real function of the parts of v."""
    return np.array([np.conj(ct @ np.correlate(a, e, mode)) for e in np.eye(m)])


@given(lengths, lengths, modes, st.integers(1, 4))
def test_batches_of_signals(n: int, m: int, mode: Any, size: int) -> None:
    a, v = np.sin(np.arange(size * n)).reshape(size, n), np.cos(np.arange(size * m)).reshape(size, m)
    f = lambda a, v: np.convolve(a, v, mode)
    np.testing.assert_allclose(vmap(f)(a, v), [f(x, y) for x, y in zip(a, v, strict=True)], atol=1e-13)
    np.testing.assert_allclose(vmap(f, (0, None))(a, v[0]), [f(x, v[0]) for x in a], atol=1e-13)
    np.testing.assert_allclose(vmap(f, (None, 0))(a[0], v), [f(a[0], y) for y in v], atol=1e-13)


def test_second_derivatives_of_a_convolution() -> None:
    h = hessian(lambda v: np.sum(np.convolve(v[:2], v[2:])))(np.ones(4))
    np.testing.assert_array_equal(h, [[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0], [1, 1, 0, 0]])


# ---- interpolation ---------------------------------------------------------------------------------------------------

GRID, HEIGHTS = np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 2.0])


def test_interpolation_in_the_point() -> None:
    points = np.array([0.5, 1.5, 5.0, -1.0])
    assert grad(lambda x: np.sum(np.interp(x, GRID, HEIGHTS)))(points).tolist() == [2.0, -1.0, 0.0, 0.0]
    assert grad(lambda x: np.sum(np.interp(x, GRID, HEIGHTS, left=9.0)))(points).tolist() == [
        2.0,
        -1.0,
        0.0,
        0.0,
    ]
    np.testing.assert_array_equal(
        vmap(grad(lambda x: np.interp(x, [0, 1, 2], [1, 3, 2])))(points), [2.0, -1.0, 0.0, 0.0]
    )


def test_on_the_grid_the_slope_is_that_above() -> None:
    slopes = vmap(grad(lambda x: np.interp(x, GRID, HEIGHTS)))(GRID)
    assert slopes.tolist() == [2.0, -1.0, -1.0]


def test_interpolation_in_the_grid_and_its_heights() -> None:
    f = lambda x, xp, fp, left, right: (
        np.interp(x, xp, fp, left, right) @ np.array([1.0, 10.0, 100.0, 1000.0])
    )
    points = np.array([0.25, 1.5, -1.0, 5.0])
    parts = grad(f, argnums=(0, 1, 2, 3, 4))(points, GRID, HEIGHTS, 7.0, 8.0)
    np.testing.assert_allclose(parts[2], [0.75, 0.25 + 5, 5])
    np.testing.assert_allclose(parts[1], [-2 * 0.75, -2 * 0.25 + 5, 5])
    assert parts[3:] == (100.0, 1000.0)
    ends = grad(lambda fp: np.sum(np.interp(points, GRID, fp)))(HEIGHTS)
    np.testing.assert_allclose(ends, [1.75, 0.75, 1.5])


def test_interpolation_gives_the_value_of_numpy() -> None:
    xp, fp = np.array([0.0, 1.0, 1.0, 2.0, 2.0]), np.array([0.0, np.inf, 1.0, 3.0, 5.0])
    points = np.array([-1.0, 0.0, 1.0, 1.5, 2.0, 3.0, np.nan])
    for f in (
        lambda x: np.interp(x, xp, fp),
        lambda x: np.interp(x, xp, fp + 1j),
        lambda x: np.interp(x, [1.0], [2.0]),
    ):
        out = vjp(f, points)[0]
        np.testing.assert_array_equal(out[:-1], f(points)[:-1])
        assert out.dtype == f(points).dtype
    assert vjp(lambda x: np.interp(x, xp, fp), points.astype(np.float32))[0].dtype == np.float64


def test_interpolation_with_a_period() -> None:
    f = lambda x, xp, fp, period: np.interp(x, xp, fp, period=period)
    x, xp, fp = np.array([-0.3, 0.2, 1.75, 4.5]), np.array([5.1, 0.4, 1.2]), np.array([1.0, 2.0, 0.5])
    out, pull = vjp(lambda *args: f(*args), x, xp, fp, 2.0)
    np.testing.assert_allclose(out, f(x, xp, fp, 2.0))
    h = 1e-7
    for k, (value, part) in enumerate(zip((x, xp, fp, 2.0), pull(np.ones(4)), strict=True)):
        for place in np.ndindex(np.shape(value)):
            sums = []
            for step in (h, -h):
                args = [x, xp, fp, 2.0]
                moved = np.array(value, float)
                moved[place] += step
                args[k] = moved if np.ndim(value) else float(moved)
                sums.append(np.sum(f(*args)))
            assert part[place] == pytest.approx((sums[0] - sums[1]) / (2 * h), abs=1e-5)
    with pytest.raises(ValueError, match="period"):
        grad(lambda x: np.interp(x, GRID, HEIGHTS, period=0))(0.5)


def test_a_grid_that_does_not_fit_is_refused() -> None:
    for xp, fp in [(GRID, HEIGHTS[:2]), (GRID[:0], HEIGHTS[:0]), (GRID[None], HEIGHTS[None])]:
        with pytest.raises(ValueError, match="xp"):
            grad(lambda x, xp=xp, fp=fp: np.interp(x, xp, fp))(0.5)


# ---- unwrap ----------------------------------------------------------------------------------------------------------


def test_unwrap_adds_a_constant() -> None:
    p = np.array([[0.0, 2.0, 5.0, 1.0], [1.0, 6.0, 0.5, 3.0]])
    for options in ({}, {"axis": 0}, {"discont": 4.0}, {"period": 3.0}):
        jacobian = jacrev(lambda p, o=options: np.unwrap(p, **o))(p)
        np.testing.assert_array_equal(jacobian.reshape(8, 8), np.eye(8))
    turns = (np.unwrap(p) - p) / (2 * np.pi)
    pulled = grad(lambda p, period: np.sum(np.unwrap(p, period=period)), argnums=(0, 1))(p, 2 * np.pi)[1]
    assert pulled == pytest.approx(np.sum(turns))
