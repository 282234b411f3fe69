"""erf and erfc, against the C library and arbitrary precision."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from funcgrad.nn.kernels import erf as kernels
from funcgrad.nn.kernels.erf import erf, erfc

X = np.concatenate(
    [np.linspace(-6, 6, 1201), np.linspace(-27, 27, 109), [0.0, 0.46875, 4.0, -4.0, 1e-300, 1e300]]
)


def test_as_the_c_library() -> None:
    np.testing.assert_allclose(erf(X), [math.erf(x) for x in X], rtol=1e-15)
    np.testing.assert_allclose(erfc(X), [math.erfc(x) for x in X], rtol=2e-15, atol=1e-307)


@pytest.mark.parametrize("x", [0.1, 0.5, 1.7, 3.9, 4.1, 9.0, 20.0, -2.5])
def test_to_the_last_digits(x: float) -> None:
    with mpmath.workdps(30):
        assert abs(float(erf(x)) / mpmath.erf(x) - 1) < 1e-15
        assert abs(float(erfc(x)) / mpmath.erfc(x) - 1) < 1e-15


def test_the_ends() -> None:
    ends = np.array([[np.inf, -np.inf], [np.nan, -0.0]])
    np.testing.assert_array_equal(erf(ends), [[1, -1], [np.nan, 0]])
    np.testing.assert_array_equal(erfc(ends), [[0, 2], [np.nan, 1]])
    assert math.copysign(1, erf(ends)[1, 1]) == -1
    assert erf(np.zeros((0, 3))).shape == (0, 3)


# more than two blocks
SINGLE = np.concatenate([X, np.random.default_rng(0).standard_normal(70_000)]).astype(np.float32)


def test_single_precision() -> None:
    x = SINGLE.astype(np.float64)
    units = np.spacing(np.abs(erf(x)).astype(np.float32))
    assert np.max(np.abs(kernels.single_erf(SINGLE) - erf(x)) / units) < 4
    np.testing.assert_allclose(kernels.single_cdf(SINGLE), kernels.normal_cdf(x), rtol=0, atol=1.5e-7)
    near = np.abs(x) < 30
    np.testing.assert_allclose(
        kernels.single_gelu(SINGLE)[near], (x * kernels.normal_cdf(x))[near], rtol=2e-7, atol=5e-7
    )


def test_single_precision_at_the_ends() -> None:
    ends = np.array([[np.inf, -np.inf, np.nan], [-0.0, 1e30, -1e30]], np.float32)
    np.testing.assert_array_equal(kernels.single_erf(ends), [[1, -1, np.nan], [0, 1, -1]])
    np.testing.assert_array_equal(kernels.single_cdf(ends), [[1, 0, np.nan], [0.5, 1, 0]])
    np.testing.assert_array_equal(
        kernels.single_gelu(ends), [[np.inf, np.nan, np.nan], [0, np.float32(1e30), 0]]
    )
    assert kernels.single_erf(np.zeros((0, 3), np.float32)).shape == (0, 3)
    np.testing.assert_array_equal(
        kernels.single_erf(SINGLE[:6].reshape(2, 3).T), kernels.single_erf(SINGLE[:6]).reshape(2, 3).T
    )


@pytest.mark.parametrize("x", [-30.0, -8.0, -1.0, 0.3, 5.0])
def test_the_cdf_keeps_its_tails(x: float) -> None:
    with mpmath.workdps(30):
        assert abs(float(kernels.normal_cdf(x)) / mpmath.ncdf(x) - 1) < 1e-13
