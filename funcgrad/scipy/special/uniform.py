"""The incomplete gamma function near its mean, by the expansion that is uniform in x / a (Temme, 1979; DLMF 8.12).

    P(a, x) = erfc(-eta sqrt(a / 2)) / 2 - exp(-a eta**2 / 2) / sqrt(2 pi a) * sum of c_k(eta) / a**k
    eta**2 / 2 = mu - log(1 + mu),   mu = (x - a) / a,   eta of the sign of mu

Here x - a is rounded once. An integral would add terms forty thousand times as large as the second
derivative in a.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from scipy import special

LEAST, WIDTH = 60.0, 0.2  # the expansion holds from this a on, for abs(mu) below the width
_ORDERS, _POWERS = 9, 26


def _reversed_series(count: int) -> list[Fraction]:
    """The alpha of mu = alpha_1 eta + alpha_2 eta**2 + ... (DLMF 8.12.13)."""
    alphas = [Fraction(0), Fraction(1)]
    for n in range(2, count):
        inner = sum((j * alphas[j] * alphas[n - j + 1] for j in range(2, n)), Fraction(0))
        alphas.append((alphas[n - 1] - inner) / (n + 1))
    return alphas


@cache
def _coefficients() -> np.ndarray[Any, Any]:
    """Row k holds the Taylor series of c_k in eta (DLMF 8.12.12)."""
    count = _POWERS + 2 * _ORDERS + 3
    alphas = _reversed_series(count)
    first = [Fraction(-1, 3), *((n + 2) * alphas[n + 2] for n in range(1, count - 2))]
    # gamma(a) = sqrt(2 pi) a**(a - 1/2) exp(-a) * sum of g_k / a**k  (DLMF 5.11.3)
    double, stirling = Fraction(1), []
    for k in range(_ORDERS):
        stirling.append(double * alphas[2 * k + 1])
        double *= 2 * k + 3
    rows = [first]
    for k in range(1, _ORDERS):
        last = rows[-1]
        sign = (-1) ** k
        rows.append([sign * stirling[k] * first[n] + (n + 2) * last[n + 2] for n in range(len(last) - 2)])
    return np.array([[float(c) for c in row[:_POWERS]] for row in rows])


@cache
def _roots() -> list[float]:
    """The series of eta / mu in mu: the square root of 1 - 2 mu / 3 + 2 mu**2 / 4 - ..."""
    square = [Fraction(2 * (-1) ** n, n + 2) for n in range(_POWERS)]
    out = [Fraction(1)]
    for n in range(1, _POWERS):
        out.append((square[n] - sum((out[j] * out[n - j] for j in range(1, n)), Fraction(0))) / 2)
    return [float(c) for c in out]


def _horner(coefficients: Any, x: Any) -> Any:
    out = 0.0 * x
    for c in reversed(coefficients):
        out = out * x + c
    return out


def near_the_mean(a: Any, x: Any) -> Any:
    """Where the expansion holds."""
    return (a >= LEAST) & (abs(x - a) < WIDTH * a)


def lower_gamma(a: Any, x: Any) -> Any:
    """P(a, x)."""
    mu = (x - a) / a
    eta = mu * _horner(_roots(), mu)
    rest = _horner([_horner(row, eta) for row in _coefficients()], 1 / a)
    return (
        0.5 * special.erfc(-eta * np.sqrt(a / 2)) - np.exp(-a * eta * eta / 2) / np.sqrt(2 * np.pi * a) * rest
    )
