"""Probability densities: the slopes of the incomplete gamma and beta functions and of what is made of them.

For large parameters their factors overflow and their logarithms cancel. Loader's saddle-point form has
neither: it takes
the deviance  D(a, x) = a log(a/x) + x - a  and the rest of Stirling's formula (C. Loader, Fast and accurate computation of
binomial probabilities, 2000). The derivative of each density in x is a difference of two such densities, also
at the ends.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from funcgrad.core.engine.kinds import Unknown
from funcgrad.rules.slopes import own, repaired

SHAPE = Unknown("the shape parameter")
DEGREES = Unknown("the degrees of freedom")
LARGE = 10.0  # parameters above take the saddle-point form
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)


def _stirling_rest(a: Any) -> Any:
    """log(gamma(a)) - (a - 1/2) log(a) + a - log(2 pi)/2, for large a (DLMF 5.11.1)."""
    return sum(c / a ** (2 * k + 1) for k, c in enumerate(STIRLING))


def _deviance(a: Any, x: Any) -> Any:
    """a log(a/x) + x - a = a (u - log(1 + u)), u = (x - a)/a, by the logarithm's series where u is small.

    Near x = 0, where u rounds to -1, the logarithm is that of x/a.
    """
    u = (x - a) / a
    with np.errstate(all="ignore"):
        near = u < -0.5
        direct = u - np.where(near, np.log(x) - np.log(a), np.log1p(np.where(near, 0.0, u)))
        v = u / (2 + u)
        series = u * v - 2 * sum(v ** (2 * k + 1) / (2 * k + 1) for k in range(1, 12))
        return a * np.where(abs(u) < 0.3, series, direct)


def _times_or_zero(factor: Any, x: Any) -> Any:
    """factor * x, and 0 where the factor is 0."""
    with np.errstate(all="ignore"):
        return np.where(factor == 0, 0.0, factor * x)


# ---- gamma -----------------------------------------------------------------------------------------------------------
def _gamma_density(a: Any, x: Any) -> Any:
    """x**(a-1) exp(-x) / gamma(a)."""
    with np.errstate(all="ignore"):
        out = _times_or_zero(special.rgamma(a), np.exp(special.xlogy(a - 1, x) - x))
    return repaired(out, a > LARGE, _large_gamma_density, a, x)


def _large_gamma_density(a: Any, x: Any) -> Any:
    out = np.sqrt(a / (2 * math.pi)) * np.exp(-_stirling_rest(a) - _deviance(a, x) - np.log(x))
    return np.where(x == 0, 0.0, out)


gamma_density = own(
    _gamma_density,
    lambda a, x, out: out * (np.log(x) - special.psi(a)),
    lambda a, x, out: gamma_density(a - 1, x) - out,
)


def _chi2_central_density(v: Any, x: Any) -> Any:
    """x**(v/2-1) exp(-x/2) / (2**(v/2) gamma(v/2))."""
    with np.errstate(all="ignore"):
        out = 0.5 * _gamma_density(0.5 * v, 0.5 * x)
    tiny = x < 1e-30  # x/2 may not be a number; powers of 2 keep their digits only one by one
    return repaired(
        out, tiny, lambda h, x: _times_or_zero(special.rgamma(h) * 0.5**h, x ** (h - 1)), 0.5 * v, x
    )


chi2_central_density = own(
    _chi2_central_density,
    lambda v, x, out: 0.5 * out * (np.log(x) - math.log(2) - special.psi(0.5 * v)),
    lambda v, x, out: 0.5 * (chi2_central_density(v - 2, x) - out),
)


# ---- beta ------------------------------------------------------------------------------------------------------------
def _beta_density(a: Any, b: Any, x: Any, y: Any, i: int, j: int) -> Any:
    """(a-1)...(a-i) (b-1)...(b-j) x**(a-1-i) y**(b-1-j) / beta(a, b); y = 1 - x is given for its digits.

    A factor of 0 makes it 0, also at the ends.
    """
    small, large = np.minimum(a, b), np.maximum(a, b)
    falling = math.prod([a - k for k in range(1, i + 1)] + [b - k for k in range(1, j + 1)])
    with np.errstate(all="ignore"):
        weight = falling * special.rgamma(small) * _rising(large, small)
        log_y = np.where(x < 0.5, special.xlog1py(b - 1 - j, -x), special.xlogy(b - 1 - j, y))
        out = _times_or_zero(weight, np.exp(special.xlogy(a - 1 - i, x) + log_y))
        return repaired(
            out,
            small > LARGE,
            lambda a, b, x, y, f: f * _large_beta_density(a, b, x, y, i, j),
            a,
            b,
            x,
            y,
            falling,
        )


def _rising(a: Any, m: Any) -> Any:
    """gamma(a + m) / gamma(a), by Stirling's formula for large a."""
    n = a + m
    power = (a - 0.5) * np.log1p(m / a) + m * np.log(n) - m + _stirling_rest(n) - _stirling_rest(a)
    return np.where(a > LARGE, np.exp(power), special.poch(a, m))


def _large_beta_density(a: Any, b: Any, x: Any, y: Any, i: int, j: int) -> Any:
    n = a + b
    rest = (
        _stirling_rest(n) - _stirling_rest(a) - _stirling_rest(b) - _deviance(a, n * x) - _deviance(b, n * y)
    )
    rest = rest - (i + 1) * np.log(x) - (j + 1) * np.log(y)  # in the exponent: powers of a tiny x would be 0
    out = np.sqrt(a * b / (2 * math.pi * n)) * np.exp(rest)
    return np.where(x * y == 0, 0.0, out)


_beta_terms = own(
    _beta_density,
    lambda a, b, x, i, out: out * (np.log(x) - special.psi(a - i) + special.psi(a + b)),
    lambda a, b, y, j, out: out * (np.log(y) - special.psi(b - j) + special.psi(a + b)),
    lambda a, b, x, y, i, j: _beta_terms(a, b, x, y, i + 1, j) - _beta_terms(a, b, x, y, i, j + 1),
    None,
    None,
    None,
)


def beta_density(a: Any, b: Any, x: Any, y: Any) -> Any:
    """x**(a-1) y**(b-1) / beta(a, b), for y = 1 - x."""
    return _beta_terms(a, b, x, y, 0, 0)


# ---- Fisher's F ------------------------------------------------------------------------------------------------------
def _f_terms(m: Any, n: Any, x: Any, i: int, j: int) -> Any:
    """(p-1)...(p-i) (-1)**j (p+q)...(p+q+j-1) r**(i+j+1) u**(p-1-i) (1+u)**-(p+q+j) / beta(p, q) with p =
    m/2, q = n/2, r = m/n and u = r x: for i = j = 0 the density of Fisher's F, and the terms of its
    derivatives.

    s = u/(1+u) has a beta distribution.
    """
    x = np.float64(1) * x  # 1-s would be rounded in single precision
    p, q, r = 0.5 * m, 0.5 * n, m / n
    factor = math.prod([p + q + k for k in range(j)]) * (-1) ** j * r ** (i + j + 1.0)
    with np.errstate(all="ignore"):
        u = r * x
        out = factor * _beta_density(p, q, u / (1 + u), 1 / (1 + u), i, -2 - i - j)
    return repaired(
        out, x < 1e-290, lambda p, q, r, x, c: _f_terms_near_zero(p, q, r, x, c, i, j), p, q, r, x, factor
    )


def _f_terms_near_zero(p: Any, q: Any, r: Any, x: Any, factor: Any, i: int, j: int) -> Any:
    """The same where u may be subnormal, by way of a larger number."""
    larger = r * (x * 2.0**60)
    return factor * _beta_density(p, q, larger, np.ones_like(x), i, -2 - i - j) * 2.0 ** (-60 * (p - 1 - i))


def _f_log_slope_m(m: Any, n: Any, x: Any, i: int, j: int) -> Any:
    """The logarithm of such a term, in m and n: gamma(p+q+j) / (gamma(p-i) gamma(q)) times powers."""
    p, s, u = 0.5 * m, 0.5 * (m + n) + j, m / n * x
    gammas = special.psi(s) - special.psi(p - i)
    return 0.5 * (gammas + np.log(u) - np.log1p(u)) + (p + j - s * u / (1 + u)) / m


def _f_log_slope_n(m: Any, n: Any, x: Any, j: int) -> Any:
    s, u = 0.5 * (m + n) + j, m / n * x
    return 0.5 * (special.psi(s) - special.psi(0.5 * n) - np.log1p(u)) - (0.5 * m + j - s * u / (1 + u)) / n


_f_derivative = own(
    _f_terms,
    lambda m, n, x, i, j, out: out * _f_log_slope_m(m, n, x, i, j),
    lambda m, n, x, j, out: out * _f_log_slope_n(m, n, x, j),
    lambda m, n, x, i, j: _f_derivative(m, n, x, i + 1, j) + _f_derivative(m, n, x, i, j + 1),
    None,
    None,
)


def f_density(m: Any, n: Any, x: Any) -> Any:
    """The density of Fisher's F."""
    return _f_derivative(m, n, x, 0, 0)


# ---- Student's t -----------------------------------------------------------------------------------------------------
def _t_density(v: Any, t: Any) -> Any:
    """(1 + t*t/v)**(-(v+1)/2) / (sqrt(v) beta(1/2, v/2))."""
    with np.errstate(all="ignore"):
        weight = special.poch(0.5 * v, 0.5) / np.sqrt(math.pi * v)
        out = weight * np.exp(-0.5 * (v + 1) * np.log1p(t * t / v))
    return repaired(out, v > 1e12, lambda t: np.exp(-0.5 * t * t) / math.sqrt(2 * math.pi), t)


def _t_in_degrees(v: Any, t: Any, out: Any) -> Any:
    weight = special.psi(0.5 * (v + 1)) - special.psi(0.5 * v) - 1 / v
    return 0.5 * out * (weight - np.log1p(t * t / v) + (v + 1) / v * (t * t / (v + t * t)))


t_density = own(_t_density, _t_in_degrees, lambda v, t, out: -out * (v + 1) * (t / (v + t * t)))


# ---- chi-square, not central -----------------------------------------------------------------------------------------
def _chi2_density(x: Any, v: Any, c: Any) -> Any:
    """The density of the chi-square distribution with v degrees of freedom and noncentrality c:

    exp(-(x+c)/2) (x/c)**((v-2)/4) I(v/2-1, sqrt(c x)) / 2, or its expansion in central densities where c x is
    small.
    """
    order, z = 0.5 * v - 1, np.sqrt(c * x)
    with np.errstate(all="ignore"):
        gap = np.sqrt(x) - np.sqrt(c)
        out = 0.5 * np.exp(-0.5 * gap * gap) * (x / c) ** (0.5 * order) * special.ive(order, z)
    return repaired(out, c * x < 1, _chi2_series, x, v, c)


def _chi2_series(x: Any, v: Any, c: Any) -> Any:
    out: Any = 0.0
    weight = 0.5 * np.exp(-0.5 * c)
    for k in range(25):
        out = out + weight * _gamma_density(0.5 * v + k, 0.5 * x)
        weight = weight * 0.5 * c / (k + 1)
    return out


chi2_density = own(
    _chi2_density,
    lambda x, v, c, out: 0.5 * (chi2_density(x, v - 2, c) - out),
    DEGREES,
    lambda x, v, c, out: 0.5 * (chi2_density(x, v + 2, c) - out),
)
