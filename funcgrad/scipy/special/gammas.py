"""The gamma function and its family: gamma, loggamma, digamma, beta, binom, poch, ..."""

from __future__ import annotations

import math
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
    """The n-th derivative of digamma. By Hurwitz' zeta function for x > 0, by reflection (DLMF 5.15.6) for the others."""
    if n == 0:
        return special.psi(x)
    if np.iscomplexobj(x):
        out = polygamma_series(x, n)
    else:
        out = -sign(n) * math.factorial(n) * special.zeta(n + 1, x)
    return repaired(out, np.real(x) <= 0, lambda x: sign(n) * _polygamma(1 - x, n) - cotangent_derivative(x, n), x)


polygamma = own(_polygamma, lambda x, n: polygamma(x, n + 1), None)


# ---- differences of polygamma ----------------------------------------------------------------------------------------
def _polygamma_gap(x: Any, y: Any, n: int) -> Any:
    """polygamma(x + y, n) - polygamma(x, n), also where y is so small beside x that the difference would cancel."""
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
        total = total + math.comb(n, k) * _of_exponential(slopes[:k]) * math.pi ** (n - k - 1) * waves[(n - k) % 4]
    return special.gamma(1 - x) * np.where(nearest % 2 == 0, 1, -1) * total


def _of_exponential(slopes: list[Any]) -> Any:
    """The n-th derivative of exp(f), divided by exp(f), from the n derivatives of f (complete Bell polynomials)."""
    values: list[Any] = [1.0]
    for m in range(len(slopes)):
        values.append(sum(math.comb(m, k) * values[k] * slopes[m - k] for k in range(m + 1)))
    return values[-1]


rgamma_derivative = own(_rgamma_derivative, lambda x, n: rgamma_derivative(x, n + 1), None)

# ---- the table -------------------------------------------------------------------------------------------------------
elementwise("gamma", lambda x, out: out * special.psi(x))
elementwise("gammaln loggamma", lambda x: special.psi(x))
elementwise("rgamma", lambda x: rgamma_derivative(x, 1))
elementwise("psi", lambda x: polygamma(x, 1))
elementwise(
    "beta",
    lambda x, y, out: -out * polygamma_gap(x, y, 0),
    lambda x, y, out: -out * polygamma_gap(y, x, 0),
)
elementwise("betaln", lambda x, y: -polygamma_gap(x, y, 0), lambda x, y: -polygamma_gap(y, x, 0))
piecewise_constant("gammasgn")


# ---- quotients of gamma functions: where a pole in the denominator makes them 0, the product rule holds for 1/gamma ----
def _poch_slope(x: Any, y: Any, out: Any) -> Any:
    pole = np.logical_and(is_pole(x), np.logical_not(is_pole(x + y)))
    with np.errstate(invalid="ignore"):
        slope = out * polygamma_gap(x, y, 0)
        if not some(pole):
            return slope
        at_pole = special.gamma(x + y) * (rgamma_derivative(x, 1) + special.psi(x + y) * special.rgamma(x))
        return np.where(pole, at_pole, slope)


elementwise("poch", _poch_slope, lambda x, y, out: out * special.psi(x + y))


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
        terms = rgamma_derivative(k, 1) * special.rgamma(rest) - special.rgamma(k) * rgamma_derivative(rest, 1)
        return np.where(pole, special.gamma(1 + x) * terms, slope)


elementwise("binom", _binom_slope_n, _binom_slope_k)
