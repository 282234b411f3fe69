"""erf and erfc, against the C library and arbitrary precision."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from funcgrad.nn.kernels.erf import erf, erfc

X = np.concatenate([np.linspace(-6, 6, 1201), np.linspace(-27, 27, 109), [0.0, 0.46875, 4.0, -4.0, 1e-300, 1e300]])


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
