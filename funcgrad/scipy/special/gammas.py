"""The gamma function and its family: gamma, loggamma, digamma, beta, binom, poch, ..."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from scipy import special

from funcgrad.rules.polygamma import BERNOULLI, cotangent_derivative, polygamma_series, sign
from funcgrad.rules.slopes import own, repaired, some
from funcgrad.scipy.special.rules import elementwise, piecewise_constant


def is_pole(x: Any) -> Any:
    """Is x a pole of the gamma function?"""
    return np.logical_and(x <= 0, x == np.floor(x))


# ---- polygamma -------------------------------------------------------------------------------------------------------
def _polygamma(x: Any, n: int) -> Any:
    """The n-th derivative of digamma, by Hurwitz' zeta for x > 0, by reflection (DLMF 5.15.6) otherwise."""
    if n == 0:
        return special.psi(x)
    if np.iscomplexobj(x):
        out = polygamma_series(x, n)
    else:
        out = -sign(n) * math.factorial(n) * special.zeta(n + 1, x)
    return repaired(
        out, np.real(x) <= 0, lambda x: sign(n) * _polygamma(1 - x, n) - cotangent_derivative(x, n), x
    )


polygamma = own(_polygamma, lambda x, n: polygamma(x, n + 1), None)


# ---- differences of polygamma ----------------------------------------------------------------------------------------
def _polygamma_gap(x: Any, y: Any, n: int) -> Any:
    """polygamma(x + y, n) - polygamma(x, n), also where a tiny y would let the difference cancel."""
    with np.errstate(invalid="ignore"):
        out = _polygamma(x + y, n) - _polygamma(x, n)
    out = repaired(out, np.logical_and(x > 0, abs(y) < 0.2 * x), lambda x, y: _small_gap(x, y, n), x, y)
    both = np.logical_and(is_pole(x), is_pole(x + y))  # the poles cancel; reflected, they are gone
    return repaired(out, both, lambda x, y: -sign(n) * _polygamma_gap(1 - x - y, y, n), x, y)


def _small_gap(x: Any, y: Any, n: int) -> Any:
    """The same, term by term of the recurrence and of the asymptotic series, for 0 < x and |y| < 0.2 x."""

    def power_gap(p: int) -> Any:
        return np.expm1(-p * np.log1p(y / x)) / x**p

    out: Any = 0.0
    for _ in range(14 + n):
        out = out + math.factorial(n) * power_gap(n + 1)
        x = x + 1
    out = out + (math.factorial(n - 1) * power_gap(n) if n else -np.log1p(y / x))
    out = out + 0.5 * math.factorial(n) * power_gap(n + 1)
    for k, b in enumerate(BERNOULLI, 1):
        out = out + b * math.factorial(2 * k + n - 1) / math.factorial(2 * k) * power_gap(2 * k + n)
    return -sign(n) * out


polygamma_gap = own(
    _polygamma_gap,
    lambda x, y, n: polygamma_gap(x, y, n + 1),
    lambda x, y, n: polygamma(x + y, n + 1),
    None,
)


# ---- 1 / gamma -------------------------------------------------------------------------------------------------------
def _rgamma_derivative(x: Any, n: int) -> Any:
    """The n-th derivative of 1/gamma(x), which is smooth also at the poles of gamma.

    Left of 1/2 it is that of gamma(1 - x) sin(pi x) / pi (DLMF 5.5.3).
    """
    with np.errstate(all="ignore"):
        out = special.rgamma(x) * _of_exponential([-_polygamma(x, k) for k in range(n)])
    return repaired(out, np.real(x) < 0.5, lambda x: _reflected_derivative(x, n), x)


def _reflected_derivative(x: Any, n: int) -> Any:
    slopes = [sign(k + 1) * _polygamma(1 - x, k) for k in range(n)]
    nearest = np.rint(np.real(x))
    t = math.pi * (x - nearest)
    waves = (np.sin(t), np.cos(t), -np.sin(t), -np.cos(t))
    total: Any = 0.0
    for k in range(n + 1):
        total = (
            total
            + math.comb(n, k) * _of_exponential(slopes[:k]) * math.pi ** (n - k - 1) * waves[(n - k) % 4]
        )
    return special.gamma(1 - x) * np.where(nearest % 2 == 0, 1, -1) * total


def _of_exponential(slopes: list[Any]) -> Any:
    """The n-th derivative of exp(f) over exp(f), from n derivatives of f (complete Bell polynomials)."""
    values: list[Any] = [1.0]
    for m in range(len(slopes)):
        values.append(sum(math.comb(m, k) * values[k] * slopes[m - k] for k in range(m + 1)))
    return values[-1]


rgamma_derivative = own(_rgamma_derivative, lambda x, n: rgamma_derivative(x, n + 1), None)


# ---- beta ------------------------------------------------------------------------------------------------------------
def _beta_derivative(x: Any, y: Any, n: int, m: int) -> Any:
    """The derivative of beta(x, y), n times in x and m times in y.

    Near 0 beta is E/x + E/y, with E = gamma(1+x) gamma(1+y) / gamma(1+x+y), which is smooth and 1 on both
    axes.
    """
    with np.errstate(all="ignore"):
        out = special.beta(x, y) * _of_log_beta(x, y, x + y, n, m)
    near = np.logical_and(np.minimum(x, y) > 0, np.minimum(x, y) < 0.5)
    return repaired(out, near, lambda x, y: _over_x(x, y, n, m) + _over_x(y, x, m, n), x, y)


def _over_x(x: Any, y: Any, n: int, m: int) -> Any:
    """The derivative of E/x. One in y takes out the factor x: it is that of -E (psi(1+x+y) - psi(1+y)) / x."""

    def smooth(i: int, j: int) -> Any:
        return _smooth_beta(x, y, i, j)

    if m == 0:
        return sum(
            math.comb(n, k) * smooth(k, 0) * sign(n - k) * math.factorial(n - k) / x ** (n - k + 1)
            for k in range(n + 1)
        )
    pairs = [(i, j) for i in range(n + 1) for j in range(m)]
    terms = [
        math.comb(n, i) * math.comb(m - 1, j) * smooth(n - i, m - 1 - j) * _mean_slope(1 + y, x, j, i)
        for i, j in pairs
    ]
    return -sum(terms)


def _smooth_beta(x: Any, y: Any, i: int, j: int) -> Any:
    large, small = np.maximum(x, y), np.minimum(x, y)
    return special.beta(x, y) * small * (large / (x + y)) * _of_log_beta(1 + x, 1 + y, 1 + x + y, i, j, x, y)


def _of_log_beta(a: Any, b: Any, c: Any, n: int, m: int, x: Any = None, y: Any = None) -> Any:
    """The derivative of gamma(a) gamma(b) / gamma(c), divided by that, where c is a + y and b + x."""
    x, y = a if x is None else x, b if y is None else y

    def slope(i: int, j: int) -> Any:
        if i and j:
            return -_polygamma(c, i + j - 1)
        return -_polygamma_gap(a, y, i - 1) if i else -_polygamma_gap(b, x, j - 1)

    return _of_exponential_in_two(slope, n, m)


def _of_exponential_in_two(slope: Any, n: int, m: int) -> Any:
    """The mixed derivative of exp(f), divided by exp(f), from those of f."""

    @cache
    def ratio(i: int, j: int) -> Any:
        if i == j == 0:
            return 1.0
        p, q = (i - 1, j) if i else (i, j - 1)
        pairs = [(k, h) for k in range(p + 1) for h in range(q + 1)]
        return sum(math.comb(p, k) * math.comb(q, h) * ratio(k, h) * slope(i - k, j - h) for k, h in pairs)

    return ratio(n, m)


def _mean_slope(a: Any, x: Any, n: int, m: int) -> Any:
    """The derivative of (psi(a + x) - psi(a)) / x, n times in a and m times in x: the integral of t**m times
    polygamma(a + t x, 1 + n + m) over 0 < t < 1, by Gauss; for large x by the rule for products."""
    nodes, weights = np.polynomial.legendre.leggauss(24)
    small = np.minimum(x, 2 * a)
    out = sum(
        0.5 * w * t**m * _polygamma(a + t * small, 1 + n + m) for t, w in zip(0.5 + 0.5 * nodes, weights)
    )
    return repaired(out, x > 2 * a, lambda a, x: _quotient_slope(a, x, n, m), a, x)


def _quotient_slope(a: Any, x: Any, n: int, m: int) -> Any:
    out: Any = 0.0
    for k in range(m + 1):
        gap = _polygamma(a + x, n + m - k) if k < m else _polygamma_gap(a, x, n)
        out = out + math.comb(m, k) * gap * sign(k) * math.factorial(k) / x ** (k + 1)
    return out


beta_derivative = own(
    _beta_derivative,
    lambda x, y, n, m: beta_derivative(x, y, n + 1, m),
    lambda x, y, n, m: beta_derivative(x, y, n, m + 1),
    None,
    None,
)

# ---- the table -------------------------------------------------------------------------------------------------------
elementwise("gamma", lambda x, out: out * special.psi(x))
elementwise("gammaln loggamma", lambda x: special.psi(x))
elementwise("rgamma", lambda x: rgamma_derivative(x, 1))
elementwise("psi", lambda x: polygamma(x, 1))
elementwise("beta", lambda x, y: beta_derivative(x, y, 1, 0), lambda x, y: beta_derivative(x, y, 0, 1))
elementwise("betaln", lambda x, y: -polygamma_gap(x, y, 0), lambda x, y: -polygamma_gap(y, x, 0))
piecewise_constant("gammasgn")


# ---- poch near x = 0 -------------------------------------------------------------------------------------------------
def _poch_near_zero(x: Any, y: Any, n: int, m: int) -> Any:
    """The derivative of poch(x, y), n times in x and m times in y, for |x| < 1/2: it is x gamma(x+y) /
    gamma(1+x), and x/(x+y) times gamma(1+x+y) / gamma(1+x).
    """
    with np.errstate(all="ignore"):
        out = x * _shifted(x, y, 0, n, m) + (n * _shifted(x, y, 0, n - 1, m) if n else 0.0)
    return repaired(out, abs(x + y) < 0.5, lambda x, y: _poch_at_origin(x, y, n, m), x, y)


def _shifted(x: Any, y: Any, shift: int, n: int, m: int) -> Any:
    """The derivative of gamma(x + y + shift) / gamma(1 + x)."""
    top = x + y + shift

    def slope(i: int, j: int) -> Any:
        return _polygamma(top, i + j - 1) if j else _polygamma_gap(1 + x, y + (shift - 1), i - 1)

    return special.poch(1 + x, y + (shift - 1)) * _of_exponential_in_two(slope, n, m)


def _poch_at_origin(x: Any, y: Any, n: int, m: int) -> Any:
    u, out = x + y, 0.0
    for i in range(n + 1):
        for j in range(m + 1):
            k = i + j
            share = sign(k) * math.factorial(k - 1) * (j * x - i * y) / u ** (k + 1) if k else x / u
            out = out + math.comb(n, i) * math.comb(m, j) * share * _shifted(x, y, 1, n - i, m - j)
    return out


poch_near_zero = own(
    _poch_near_zero,
    lambda x, y, n, m: poch_near_zero(x, y, n + 1, m),
    lambda x, y, n, m: poch_near_zero(x, y, n, m + 1),
    None,
    None,
)


# ---- quotients of gamma functions: where a pole in the denominator makes them 0, the product rule holds for 1/gamma ----
def _poch_slope(x: Any, y: Any, out: Any) -> Any:
    pole = np.logical_and(is_pole(x), np.logical_not(is_pole(x + y)))
    with np.errstate(invalid="ignore"):
        slope = out * polygamma_gap(x, y, 0)
        if not some(pole):
            return slope
        at_pole = special.gamma(x + y) * (rgamma_derivative(x, 1) + special.psi(x + y) * special.rgamma(x))
        return np.where(pole, at_pole, slope)


def _near_or(slope: Any, x: Any, y: Any, n: int, m: int) -> Any:
    near = abs(x) < 0.5
    return np.where(near, poch_near_zero(x, y, n, m), slope) if some(near) else slope


elementwise(
    "poch",
    lambda x, y, out: _near_or(_poch_slope(x, y, out), x, y, 1, 0),
    lambda x, y, out: _near_or(out * special.psi(x + y), x, y, 0, 1),
)


def _binom_slope_n(x: Any, y: Any, out: Any) -> Any:
    k, rest = 1 + y, 1 + x - y
    pole = np.logical_or(is_pole(k), is_pole(rest))
    with np.errstate(invalid="ignore"):
        slope = out * polygamma_gap(rest, y, 0)
        if not some(pole):
            return slope
        others = special.gamma(1 + x) * special.rgamma(k)
        at_pole = others * (rgamma_derivative(rest, 1) + special.psi(1 + x) * special.rgamma(rest))
        return np.where(pole, at_pole, slope)


def _binom_slope_k(x: Any, y: Any, out: Any) -> Any:
    k, rest = 1 + y, 1 + x - y
    pole = np.logical_or(is_pole(k), is_pole(rest))
    with np.errstate(invalid="ignore"):
        slope = out * polygamma_gap(k, x - 2 * y, 0)
        if not some(pole):
            return slope
        terms = rgamma_derivative(k, 1) * special.rgamma(rest) - special.rgamma(k) * rgamma_derivative(
            rest, 1
        )
        return np.where(pole, special.gamma(1 + x) * terms, slope)


elementwise("binom", _binom_slope_n, _binom_slope_k)
