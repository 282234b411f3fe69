"""The error function and its family, and the normal distribution.

All of them are faces of Faddeeva's function w(z) = exp(-z*z) erfc(-iz) (DLMF 7.2): its derivatives keep their
digits, so theirs do too.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from funcgrad.rules.slopes import own, repaired
from funcgrad.scipy.special.contour import by_contour
from funcgrad.scipy.special.rules import elementwise

ROOT_PI, ROOT_2PI = math.sqrt(math.pi), math.sqrt(2 * math.pi)


# ---- Faddeeva's function ---------------------------------------------------------------------------------------------
def _wofz_derivative(x: Any, n: int) -> Any:
    """The n-th derivative of w: by w' = 2i/sqrt(pi) - 2 z w near the origin, on circles elsewhere in the
    upper half-plane and near the real axis, and in the rest of the lower half-plane by w(z) = 2 exp(-z*z) -
    w(-z).
    """
    x = x + 0j
    with np.errstate(all="ignore"):
        out = _by_recurrence(x, special.wofz(x), 2j / ROOT_PI, n)
    far = abs(x) > 2
    out = repaired(out, far, lambda x: by_contour(special.wofz, x, abs(x) / 3, n), x)
    below = np.logical_and(far, x.imag < -0.1 * abs(x))
    return repaired(out, below, lambda x: _lower(x, n), x)


def _by_recurrence(x: Any, w: Any, constant: Any, n: int) -> Any:
    """From w' = constant - 2 x w follows w[k+1] = -2 x w[k] - 2 k w[k-1]."""
    before, w = 0.0, w
    for k in range(n):
        before, w = w, -2 * x * w - 2 * k * before + (constant if k == 0 else 0)
    return w


def _lower(x: Any, n: int) -> Any:
    return 2 * _by_recurrence(x, np.exp(-x * x), 0, n) - (-1) ** n * _wofz_derivative(-x, n)


wofz_derivative = own(_wofz_derivative, lambda x, n: wofz_derivative(x, n + 1), None)


def _erfcx_derivative(x: Any, n: int) -> Any:
    """The n-th derivative of erfcx(x) = w(ix)."""
    out = 1j**n * _wofz_derivative(1j * x, n)
    return out if np.iscomplexobj(x) else np.real(out)


def _dawsn_derivative(x: Any, n: int) -> Any:
    """The n-th derivative of Dawson's function F; for real x, 2/sqrt(pi) F(x) is the imaginary part of w."""
    if not np.iscomplexobj(x):
        return 0.5 * ROOT_PI * np.imag(_wofz_derivative(x, n))
    near = _by_recurrence(x, special.dawsn(x), 1, n)  # F' = 1 - 2 x F
    return repaired(near, abs(x) > 1, lambda x: _dawsn_far(x, n), x)


def _dawsn_far(x: Any, n: int) -> Any:
    return -0.5j * ROOT_PI * (_wofz_derivative(x, n) - _by_recurrence(x, np.exp(-x * x), 0, n))


erfcx_derivative = own(_erfcx_derivative, lambda x, n: erfcx_derivative(x, n + 1), None)
dawsn_derivative = own(_dawsn_derivative, lambda x, n: dawsn_derivative(x, n + 1), None)


# ---- the normal distribution -----------------------------------------------------------------------------------------
def _normal_density(x: Any) -> Any:
    return np.exp(-0.5 * x * x) / ROOT_2PI


normal_density = own(_normal_density, lambda x, out: -x * out)


def _log_ndtr_derivative(x: Any, n: int) -> Any:
    """The n-th derivative (n > 0) of log_ndtr, the first being h = density / ndtr.

    From h' = -h (x + h) follow the others; far left, where x + h cancels, the series in 1/x**2 is
    differentiated.
    """
    x = np.float64(1) * x
    with np.errstate(all="ignore"):
        slopes = [math.sqrt(2 / math.pi) / special.erfcx(-x / math.sqrt(2))]
        sums = [x + slopes[0]]
        for m in range(n - 1):
            slopes.append(-sum(math.comb(m, k) * slopes[k] * sums[m - k] for k in range(m + 1)))
            sums.append(slopes[-1] + (1 if m == 0 else 0))
    return repaired(slopes[-1], np.real(x) < -9, lambda x: _far_left(x, n), x)


def _far_left(x: Any, n: int) -> Any:
    """There ndtr(x) = density(x) / -x * (1 - 1/x**2 + 3/x**4 - 15/x**6 + ...) (DLMF 7.12.1)."""
    out = -x if n == 1 else -1.0 if n == 2 else 0.0
    inverse = 1 / x  # whose powers don't overflow
    out = out - (-1) ** (n - 1) * math.factorial(n - 1) * inverse**n
    for k, c in enumerate(LOG_TAIL, 1):
        out = out + (-1) ** n * c * math.perm(2 * k + n - 1, n) * inverse ** (2 * k + n)
    return out


def _logarithm_of_series(a: list[int]) -> list[float]:
    """The coefficients of log(1 + a1 u + a2 u**2 + ...), by k c[k] = k a[k] - sum of j c[j] a[k-j]."""
    c = [0] * (len(a) + 1)  # k c[k], whole numbers
    for k in range(1, len(a) + 1):
        c[k] = k * a[k - 1] - sum(c[j] * a[k - j - 1] for j in range(1, k))
    return [c[k] / k for k in range(1, len(a) + 1)]


LOG_TAIL = _logarithm_of_series([(-1) ** k * math.prod(range(1, 2 * k, 2)) for k in range(1, 21)])
log_ndtr_derivative = own(_log_ndtr_derivative, lambda x, n: log_ndtr_derivative(x, n + 1), None)

# ---- the table -------------------------------------------------------------------------------------------------------
elementwise("erf", lambda x: 2 / ROOT_PI * np.exp(-x * x))
elementwise("erfc", lambda x: -2 / ROOT_PI * np.exp(-x * x))
elementwise("erfi", lambda x: 2 / ROOT_PI * np.exp(x * x))
elementwise("erfcx", lambda x: erfcx_derivative(x, 1))
elementwise("dawsn", lambda x: dawsn_derivative(x, 1))
elementwise("wofz", lambda x: wofz_derivative(x, 1))
elementwise("erfinv", lambda out: 0.5 * ROOT_PI * np.exp(out * out))
elementwise("erfcinv", lambda out: -0.5 * ROOT_PI * np.exp(out * out))
elementwise("ndtr", lambda x: normal_density(x))
elementwise("log_ndtr", lambda x: log_ndtr_derivative(x, 1))
elementwise("ndtri", lambda out: 1 / normal_density(out))
elementwise("ndtri_exp", lambda out: 1 / log_ndtr_derivative(out, 1))


# ---- Owen's function and Voigt's profile -----------------------------------------------------------------------------
def _owens_slope_h(x: Any, y: Any) -> Any:
    return -0.5 * normal_density(x) * special.erf(x * y / math.sqrt(2))


def _owens_slope_a(x: Any, y: Any) -> Any:
    r = 1 + y * y
    return np.exp(-0.5 * x * x * r) / (2 * math.pi * r)


elementwise("owens_t", _owens_slope_h, _owens_slope_a)


def _voigt(x: Any, y: Any, z: Any, n: int) -> Any:
    """The n-th derivative of w at (x + i gamma) / (sigma sqrt(2)), over sigma**2; Voigt's V from Re w."""
    return wofz_derivative((x + 1j * z) / (math.sqrt(2) * y), n) / (y * y)


# Convolution with a wider Gaussian is diffusion: dV/dsigma = sigma d2V/dx2.
elementwise(
    "voigt_profile",
    lambda x, y, z: np.real(_voigt(x, y, z, 1)) / (2 * ROOT_PI),
    lambda x, y, z: np.real(_voigt(x, y, z, 2)) / (2 * ROOT_2PI),
    lambda x, y, z: -np.imag(_voigt(x, y, z, 1)) / (2 * ROOT_PI),
)
