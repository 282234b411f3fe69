"""Kolmogorov's distribution. Its survival function has one series for large x and one for small x:

2 times the sum of (-1)**(k-1) exp(-2 k*k x*x) over k = 1, 2, ..., and 1 - sqrt(2 pi)/x times that of
exp(-(2k-1)**2 pi*pi / (8 x*x)).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial

from funcgrad.rules.slopes import own, repaired
from funcgrad.scipy.special.rules import elementwise, unsupported


def _kolmogorov_derivative(x: Any, n: int) -> Any:
    """The n-th derivative (n > 0); 0 for x <= 0."""
    with np.errstate(all="ignore"):
        out: Any = 0.0
        for k in range(1, 6):
            out = out + 2 * (-1) ** (k - 1) * _gaussian_derivative(x, 2 * k * k, n)
    return repaired(out, x < 1, lambda x: _left(x, n), x)


def _gaussian_derivative(x: Any, a: float, n: int) -> Any:
    """Of exp(-a x*x): p(x) exp(-a x*x), from p = 1 by p -> p' - 2 a x p."""
    p = Polynomial([1.0])
    for _ in range(n):
        p = p.deriv() - Polynomial([0, 2 * a]) * p
    return p(x) * np.exp(-a * x * x)


def _left(x: Any, n: int) -> Any:
    with np.errstate(all="ignore"):
        y = 1 / x
        out: Any = 0.0
        for k in range(1, 6):
            out = out - math.sqrt(2 * math.pi) * _inverse_gaussian_derivative(
                y, ((2 * k - 1) * math.pi) ** 2 / 8, n
            )
        # below 1/27 even the factor exp(-pi*pi/(8 x*x)) underflows
        return np.where(y < 27, np.where(x <= 0, 0.0, out), 0.0)


def _inverse_gaussian_derivative(y: Any, a: float, n: int) -> Any:
    """Of y exp(-a y*y) in 1/y: p(y) exp(-a y*y), from p = y by p -> 2 a y**3 p - y*y p'."""
    p = Polynomial([0.0, 1.0])
    for _ in range(n):
        p = Polynomial([0, 0, 0, 2 * a]) * p - Polynomial([0, 0, 1]) * p.deriv()
    return p(y) * np.exp(-a * y * y)


kolmogorov_derivative = own(_kolmogorov_derivative, lambda x, n: kolmogorov_derivative(x, n + 1), None)

elementwise("kolmogorov", lambda x: kolmogorov_derivative(x, 1))
elementwise("kolmogi", lambda out: 1 / kolmogorov_derivative(out, 1))
unsupported(
    "smirnov smirnovi",
    "the distribution for finite samples is a piecewise polynomial whose terms cancel",
    "Write scipy.special.kolmogorov(np.sqrt(n) * d) for large n.",
)
