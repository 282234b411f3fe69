"""The derivatives of log gamma, in NumPy alone: what gamma functions need, whether or not SciPy is there."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from funcgrad.rules.slopes import own, repaired

# Bernoulli's numbers B2, B4, ..., B20.
BERNOULLI = (
    1 / 6,
    -1 / 30,
    1 / 42,
    -1 / 30,
    5 / 66,
    -691 / 2730,
    7 / 6,
    -3617 / 510,
    43867 / 798,
    -174611 / 330,
)


def sign(n: int) -> int:
    """(-1)**n."""
    return -1 if n % 2 else 1


def polygamma_series(x: Any, n: int) -> Any:
    """The n-th derivative of digamma at an x with a positive real part: the recurrence to a large argument,
    and the asymptotic series (DLMF 5.15; 5.11.2 for n = 0).
    """
    out = np.zeros_like(x)
    for _ in range(14 + n):
        out = out + math.factorial(n) * (1 / x) ** (n + 1)
        x = x + 1
    inverse = 1 / x  # its powers don't overflow
    out = (
        out
        + (math.factorial(n - 1) * inverse**n if n else -np.log(x))
        + 0.5 * math.factorial(n) * inverse ** (n + 1)
    )
    for k, b in enumerate(BERNOULLI, 1):
        out = out + b * math.factorial(2 * k + n - 1) / math.factorial(2 * k) * inverse ** (2 * k + n)
    return -sign(n) * out


def cotangent_derivative(x: Any, n: int) -> Any:
    """The n-th derivative (n > 0) of pi cot(pi x): (-pi)**n pi csc(pi x)**2 q(c) with c = cot(pi x).

    The polynomial q begins as 1 and becomes 2 c q + (1 + c*c) q' with each order.
    """
    q = np.polynomial.Polynomial([1.0])
    for _ in range(n - 1):
        q = np.polynomial.Polynomial([0, 2]) * q + np.polynomial.Polynomial([1, 0, 1]) * q.deriv()
    with np.errstate(all="ignore"):
        out = (-math.pi) ** n * math.pi * cosecant2(x) * q(cotangent(x))
    # far from the real line nothing is left of it, but sin overflows
    return repaired(out, abs(x.imag) > 200, lambda x: 0 * x, x) if np.iscomplexobj(x) else out


def cotangent(x: Any) -> Any:
    """cot(pi x), without the rounding of pi near its zeros."""
    s = x - np.rint(np.real(x))
    if np.iscomplexobj(s):
        return 1 / np.tan(math.pi * s)
    return np.where(abs(s) < 0.25, 1 / np.tan(math.pi * s), np.copysign(np.tan(math.pi * (0.5 - abs(s))), s))


def cosecant2(x: Any) -> Any:
    """1 / sin(pi x)**2."""
    return 1 / np.sin(math.pi * (x - np.rint(np.real(x)))) ** 2


def _log_gamma_derivative(x: Any, n: int) -> Any:
    """The derivative of log(abs(gamma(x))) of order n + 1; by reflection (DLMF 5.15.6) if x < 0."""
    with np.errstate(all="ignore"):
        return repaired(polygamma_series(x, n), x <= 0, lambda x: _reflected(x, n), x)


def _reflected(x: Any, n: int) -> Any:
    pole = np.where(x == np.floor(x), np.nan, 0.0)
    slope = cotangent_derivative(x, n) if n else math.pi * cotangent(x)
    return sign(n) * polygamma_series(1 - x, n) - slope + pole


log_gamma_derivative = own(_log_gamma_derivative, lambda x, n: log_gamma_derivative(x, n + 1), None)
