"""Elementary functions: logistic, powers and logarithms that keep digits, entropies, losses, degrees."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from funcgrad.rules.powers import power_derivative, power_slope
from funcgrad.rules.slopes import cbrt_slope, logistic, logistic_slope, own, ratio, repaired, some, unit
from funcgrad.scipy.special.rules import elementwise, piecewise_constant

LN2, LN10, DEGREE = math.log(2), math.log(10), math.pi / 180


def _logit_slope(x: Any) -> Any:
    return 1 / x / (1 - x)


logit_slope = own(_logit_slope, lambda x, out: (2 * x - 1) * out * out)

elementwise("cbrt", cbrt_slope)
elementwise("exp2", lambda out: LN2 * out)
elementwise("exp10", lambda out: LN10 * out)
elementwise("expm1", lambda x: np.exp(x))
elementwise("log1p", lambda x: 1 / (1 + x))
elementwise("powm1", power_slope, lambda x, y: power_derivative(x, y, 0, 1))
elementwise("expit", lambda x: logistic_slope(x))
elementwise("log_expit", lambda x: logistic(-x))
elementwise("logit", lambda x: logit_slope(x))
elementwise("cosm1", lambda x: -np.sin(x))
elementwise("sindg", lambda x: DEGREE * special.cosdg(x))
elementwise("cosdg", lambda x: -DEGREE * special.sindg(x))
elementwise("tandg", lambda x: DEGREE / special.cosdg(x) ** 2)
elementwise("cotdg", lambda x: -DEGREE / special.sindg(x) ** 2)  # which keeps more digits than cotdg itself
elementwise("radian", DEGREE, DEGREE / 60, DEGREE / 3600)
piecewise_constant("round")


# ---- (exp(x) - 1) / x ------------------------------------------------------------------------------------------------
def _exprel_derivative(x: Any, n: int) -> Any:
    """The n-th derivative of exprel, the integral of t**n exp(x t) over 0 < t < 1.

    By parts, x E[n] = exp(x) - n E[n-1]; for |x| < n + 2, where that cancels, by a series of positive terms
    (DLMF 13.2.39).
    """
    with np.errstate(all="ignore"):
        out = special.exprel(x)
        for k in range(1, n + 1):
            out = (np.exp(x) - k * out) / x
    return repaired(out, abs(x) < n + 2, lambda x: _exprel_series(x, n), x)


def _exprel_series(x: Any, n: int) -> Any:
    """exp(x) 1F1(1; n+2; -x) / (n+1) for x < 0, 1F1(n+1; n+2; x) / (n+1) else."""
    size = abs(x)
    left, right = np.zeros_like(size), np.zeros_like(size)
    term_left, term_right = np.ones_like(size) / (n + 1), np.ones_like(size)
    for k in range(40 + 6 * n):
        left = left + term_left
        right = right + term_right / (n + k + 1)
        term_left = term_left * size / (n + k + 2)
        term_right = term_right * size / (k + 1)
    return np.where(x < 0, np.exp(-size) * left, right)


exprel_derivative = own(_exprel_derivative, lambda x, n: exprel_derivative(x, n + 1), None)
elementwise("exprel", lambda x: exprel_derivative(x, 1))


# ---- log(1 + x) / x --------------------------------------------------------------------------------------------------
def _log1prel_derivative(x: Any, n: int) -> Any:
    """The n-th derivative of log(1 + x) / x; for |x| < 1/2 by an integral over 0 < t < 1."""
    with np.errstate(all="ignore"):
        out = np.log1p(x) / x
        for k in range(1, n + 1):
            out = (-((-1) ** k) * math.factorial(k - 1) / (1 + x) ** k - k * out) / x
    return repaired(out, abs(x) < 0.5, lambda x: _log1prel_integral(x, n), x)


def _log1prel_integral(x: Any, n: int) -> Any:
    nodes, weights = np.polynomial.legendre.leggauss(20 + n)
    t = 0.5 * (nodes + 1)
    terms = (0.5 * weights * t**n) / (1 + np.asarray(x)[..., None] * t) ** (n + 1)
    return (-1) ** n * math.factorial(n) * terms.sum(-1)


log1prel_derivative = own(_log1prel_derivative, lambda x, n: log1prel_derivative(x, n + 1), None)


# ---- Box and Cox's powers: (x**y - 1) / y is log(x) exprel(y log(x)) --------------------------------------------------
def _scaled_exprel(x: Any, y: Any, n: int) -> Any:
    """x**(n+1) times the n-th derivative of exprel at x y: the n-th derivative in y of x exprel(x y)."""
    with np.errstate(all="ignore"):
        out = x ** (n + 1) * _exprel_derivative(x * y, n)
        limit = np.logical_and(np.isinf(x), x * y < 0)
        out = repaired(out, limit, lambda x, y: math.factorial(n) / (-y) ** (n + 1), x, y)
        return repaired(out, x * y > 700, lambda x, y: _far_scaled_exprel(x, y, n), x, y)


def _far_scaled_exprel(x: Any, y: Any, n: int) -> Any:
    """The same where exp(x y) may overflow before the product does: z E[n] = exp(z) - n E[n-1], unrolled."""
    series = sum((-1) ** k * math.perm(n, k) / (x * y) ** k for k in range(n + 1))
    half = np.exp(0.5 * x * y)
    return series * half * x**n / y * half


scaled_exprel = own(
    _scaled_exprel,
    lambda x, y, n: x**n * np.exp(x * y),
    lambda x, y, n: scaled_exprel(x, y, n + 1),
    None,
)


def _boxcox_slope(x: Any, y: Any) -> Any:
    with np.errstate(divide="ignore"):
        return scaled_exprel(np.log(x), y, 1)


def _inverse_slope(x: Any, y: Any) -> Any:
    """The derivative of (1 + x y)**(1/y) in y, divided by that."""
    return x * x * log1prel_derivative(x * y, 1)


elementwise("boxcox", lambda x, y: x ** (y - 1), _boxcox_slope)
elementwise(
    "boxcox1p", lambda x, y: np.exp((y - 1) * np.log1p(x)), lambda x, y: scaled_exprel(np.log1p(x), y, 1)
)


def _inverse_slope_x(x: Any, y: Any) -> Any:
    """(1 + x y)**(1/y - 1). As a power where the quotient's operands may overflow, or be 0."""
    whole = 1 + x * y
    far = np.logical_or(whole > 1e8, np.logical_and(whole < 0.25, whole >= 0))
    slope = special.inv_boxcox(np.where(far, 0.0, x), y) / np.where(far, 1.0, whole)
    return (
        np.where(far, np.where(far, whole, 1.0) ** (1 / np.where(far, y, 1.0) - 1), slope)
        if some(far)
        else slope
    )


elementwise("inv_boxcox", lambda x, y: _inverse_slope_x(x, y), lambda x, y, out: out * _inverse_slope(x, y))
elementwise(
    "inv_boxcox1p",
    lambda x, y: _inverse_slope_x(x, y),
    lambda x, y: special.inv_boxcox(x, y) * _inverse_slope(x, y),
)


# ---- entropies -------------------------------------------------------------------------------------------------------
def _share(x: Any, y: Any) -> Any:
    """x / y, and 0 where x is 0."""
    return np.where(x == 0, 0.0, x / np.where(x == 0, 1.0, y))


share = own(_share, lambda y: 1 / y, lambda x, y, out: -share(out, y))


def _log_ratio(x: Any, y: Any) -> Any:
    """log(x / y), where the quotient is near 1 or overflows too."""
    with np.errstate(all="ignore"):
        quotient = np.divide(x, y)
        out = np.log(quotient)
    out = repaired(out, abs(quotient - 1) < 0.3, lambda x, y: np.log1p((x - y) / y), x, y)
    lost = np.logical_and(np.logical_or(quotient == 0, np.isinf(quotient)), np.logical_and(x > 0, y > 0))
    return repaired(out, lost, lambda x, y: np.log(x) - np.log(y), x, y)


log_ratio = own(_log_ratio, lambda x: 1 / x, lambda y: -1 / y)


def _excess(x: Any, y: Any) -> Any:
    """1 - x / y, and 1 where x is 0."""
    return np.where(x == 0, 1.0, (y - x) / np.where(x == 0, 1.0, y))


excess = own(_excess, lambda y: -1 / y, lambda x, y: share(share(x, y), y))

elementwise("xlogy", lambda y: np.log(y), lambda x, y: share(x, y))
elementwise("xlog1py", lambda y: np.log1p(y), lambda x, y: share(x, 1 + y))
elementwise("entr", lambda x: -np.log(x) - 1)
elementwise("rel_entr", lambda x, y: log_ratio(x, y) + 1, lambda x, y: -share(x, y))
elementwise("kl_div", lambda x, y: log_ratio(x, y), lambda x, y: excess(x, y))


# ---- losses ----------------------------------------------------------------------------------------------------------
# With h = hypot(delta, r), c = delta/h and s = r/h, the derivatives of both slopes are polynomials in c and s.
def _in_delta(x: Any, y: Any) -> Any:
    """(h - delta)**2 / h, where h - delta = r*r / (h + delta)."""
    h = np.hypot(x, y)
    part = y * ratio(y, h + x)
    return part * ratio(part, h)


def _in_r(x: Any, y: Any) -> Any:
    """delta r / h."""
    return x * unit(y, x, np.hypot(x, y))


def _cosine(x: Any, y: Any) -> Any:
    return unit(x, y, np.hypot(x, y))


def _bend(x: Any, y: Any) -> Any:
    """-(1 - c)**2 (2 + c), where 1 - c = s*s / (1 + c)."""
    c, s = _cosine(x, y), _cosine(y, x)
    return -((s * s / (1 + c)) ** 2) * (2 + c)


pseudo_huber_in_delta = own(_in_delta, _bend, lambda x, y: _cosine(y, x) ** 3)
pseudo_huber_in_r = own(_in_r, lambda x, y: _cosine(y, x) ** 3, lambda x, y: _cosine(x, y) ** 3)


elementwise("huber", lambda x, y: np.maximum(abs(y) - x, 0), lambda x, y: np.clip(y, -x, x))
elementwise("pseudo_huber", lambda x, y: pseudo_huber_in_delta(x, y), lambda x, y: pseudo_huber_in_r(x, y))
