"""The gamma function and its family: gamma, loggamma, digamma, beta, binom, poch, ..."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from scipy import special

from funcgrad.rules.polygamma import BERNOULLI, cotangent, cotangent_derivative, polygamma_series, sign
from funcgrad.rules.slopes import by_orders, own, repaired
from funcgrad.scipy.special.rules import elementwise, piecewise_constant

_COUNT = 20  # whole numbers up to here are counted out


def is_pole(x: Any) -> Any:
    """Is x a pole of the gamma function?"""
    return np.logical_and(x <= 0, x == np.floor(x))


# ---- polygamma -------------------------------------------------------------------------------------------------------
def _polygamma(x: Any, n: int) -> Any:
    """The n-th derivative of digamma, by Hurwitz' zeta for x > 0, by reflection (DLMF 5.15.6) otherwise."""
    if n == 0:
        return _digamma(x)
    if np.iscomplexobj(x):
        out = polygamma_series(x, n)
    else:
        out = -sign(n) * math.factorial(n) * special.zeta(n + 1, x)
    return repaired(
        out, np.real(x) <= 0, lambda x: sign(n) * _polygamma(1 - x, n) - cotangent_derivative(x, n), x
    )


def _digamma(x: Any) -> Any:
    """SciPy's psi, whose reflection loses digits beside the poles."""
    out = special.psi(x)
    if np.iscomplexobj(x):
        return out
    beside = np.logical_and(np.logical_and(x < -0.5, abs(x - np.rint(x)) < 0.05), np.logical_not(is_pole(x)))
    return repaired(out, beside, lambda x: special.psi(1 - x) - math.pi * cotangent(x), x)


polygamma = own(_polygamma, lambda x, n: polygamma(x, n + 1), None)


# ---- differences of polygamma ----------------------------------------------------------------------------------------
def _polygamma_gap(x: Any, y: Any, n: int) -> Any:
    """polygamma(x + y, n) - polygamma(x, n), also where a tiny y would let the difference cancel."""
    with np.errstate(invalid="ignore"):
        out = _polygamma(x + y, n) - _polygamma(x, n)
    out = repaired(out, np.logical_and(x > 0, abs(y) < 0.2 * x), lambda x, y: _small_gap(x, y, n), x, y)
    counted = np.logical_and(np.logical_and(x < 0, abs(y) <= _COUNT), y == np.floor(y))
    out = repaired(out, counted, lambda x, y: _counted_gap(x, y, n), x, y)
    both = np.logical_and(is_pole(x), is_pole(x + y))  # the poles cancel; reflected, they are gone
    return repaired(out, both, lambda x, y: -sign(n) * _polygamma_gap(1 - x - y, y, n), x, y)


def _counted_gap(x: Any, y: Any, n: int) -> Any:
    """The same for a small whole y, by the recurrence alone: nothing cancels beside the poles."""
    first, total = np.where(y < 0, x + y, x), 0.0
    for k in range(_COUNT):
        total = total + np.where(k < abs(y), 1 / (first + k) ** (n + 1), 0)
    return sign(n) * math.factorial(n) * np.sign(y) * total


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


# ---- quotients of gamma functions ------------------------------------------------------------------------------------
# Beside a pole in the denominator they are nearly 0, and the product rule for gamma and 1/gamma keeps digits.
def _is_beside(x: Any) -> Any:
    """Is x near a pole of gamma, where neither gamma nor 1/gamma overflows?"""
    near = np.logical_and(x < 0.05, abs(x - np.rint(x)) < 0.05)
    return np.logical_and(near, x > -150)


def _gamma_derivative(x: Any, n: int) -> Any:
    return special.gamma(x) * _of_exponential([_polygamma(x, k) for k in range(n)])


def _rgamma_of_any_order(x: Any, n: int) -> Any:
    return _rgamma_derivative(x, n) if n else special.rgamma(x)


def _poch_product(x: Any, y: Any, n: int, m: int) -> Any:
    """The derivative of gamma(x + y) / gamma(x), n times in x and m times in y."""
    terms = [
        math.comb(n, k) * _gamma_derivative(x + y, m + k) * _rgamma_of_any_order(x, n - k)
        for k in range(n + 1)
    ]
    return sum(terms)


def _binom_product(x: Any, y: Any, n: int, m: int) -> Any:
    """The derivative of gamma(1 + x) / gamma(1 + y) / gamma(1 + x - y), n times in x and m times in y."""
    out: Any = 0.0
    for k in range(n + 1):
        for j in range(m + 1):
            below = _rgamma_of_any_order(1 + y, j) * _rgamma_of_any_order(1 + x - y, n - k + m - j)
            out = out + math.comb(n, k) * math.comb(m, j) * sign(m - j) * _gamma_derivative(1 + x, k) * below
    return out


def _counted_product(x: Any, y: Any, n: int, step: int) -> Any:
    """The n-th derivative in x of the product of x + step k for k < y, a small whole number."""
    out = [np.ones_like(x), *(np.zeros_like(x) for _ in range(n))]
    for k in range(_COUNT):
        more = k < y
        for m in range(n, -1, -1):
            out[m] = np.where(more, out[m] * (x + step * k) + (m * out[m - 1] if m else 0), out[m])
    return out[n]


def _is_counted(y: Any) -> Any:
    return np.logical_and(np.logical_and(y >= 0, y <= _COUNT), y == np.floor(y))


def _poch_derivative(x: Any, y: Any, n: int, m: int) -> Any:
    """The derivative of poch(x, y), n times in x and m times in y."""

    def slope(i: int, j: int) -> Any:
        return _polygamma(x + y, i + j - 1) if j else _polygamma_gap(x, y, i - 1)

    with np.errstate(all="ignore"):
        out = special.poch(x, y) * _of_exponential_in_two(slope, n, m)
    beside = np.logical_and(_is_beside(x), np.logical_not(_is_beside(x + y)))
    out = repaired(out, beside, lambda x, y: _poch_product(x, y, n, m), x, y)
    out = repaired(out, abs(x) < 0.5, lambda x, y: _poch_near_zero(x, y, n, m), x, y)
    return out if m else repaired(out, _is_counted(y), lambda x, y: _counted_product(x, y, n, 1), x, y)


def _binom_derivative(x: Any, y: Any, n: int, m: int) -> Any:
    """The derivative of binom(x, y), n times in x and m times in y."""
    k, rest = 1 + y, 1 + x - y

    def slope(i: int, j: int) -> Any:
        if not j:
            return _polygamma_gap(rest, y, i - 1)
        if i == 0 and j == 1:
            return _polygamma_gap(k, x - 2 * y, 0)
        return -sign(j) * _polygamma(rest, i + j - 1) - (0 if i else _polygamma(k, j - 1))

    with np.errstate(all="ignore"):
        out = special.binom(x, y) * _of_exponential_in_two(slope, n, m)
    beside = np.logical_and(np.logical_or(_is_beside(k), _is_beside(rest)), abs(x) < 150)
    beside = np.logical_and(beside, np.logical_not(_is_beside(1 + x)))
    out = repaired(out, beside, lambda x, y: _binom_product(x, y, n, m), x, y)
    counted = lambda x, y: _counted_product(x, y, n, -1) * special.rgamma(1 + y)
    return out if m else repaired(out, _is_counted(y), counted, x, y)


beta_derivative = by_orders(_beta_derivative)
poch_derivative, binom_derivative = by_orders(_poch_derivative), by_orders(_binom_derivative)

# ---- the table -------------------------------------------------------------------------------------------------------
elementwise("gamma", lambda x, out: out * polygamma(x, 0))
elementwise("gammaln loggamma", lambda x: polygamma(x, 0))
elementwise("rgamma", lambda x: rgamma_derivative(x, 1))
elementwise("psi", lambda x: polygamma(x, 1))
elementwise("beta", lambda x, y: beta_derivative(x, y, 1, 0), lambda x, y: beta_derivative(x, y, 0, 1))
elementwise("betaln", lambda x, y: -polygamma_gap(x, y, 0), lambda x, y: -polygamma_gap(y, x, 0))
elementwise("poch", lambda x, y: poch_derivative(x, y, 1, 0), lambda x, y: poch_derivative(x, y, 0, 1))
elementwise("binom", lambda x, y: binom_derivative(x, y, 1, 0), lambda x, y: binom_derivative(x, y, 0, 1))
piecewise_constant("gammasgn")
