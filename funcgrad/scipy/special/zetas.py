"""Riemann's and Hurwitz' zeta functions in both operands, by Euler and Maclaurin's formula."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from funcgrad.rules.polygamma import BERNOULLI
from funcgrad.rules.slopes import own, repaired
from funcgrad.scipy.special.contour import by_contour
from funcgrad.scipy.special.gammas import polygamma
from funcgrad.scipy.special.rules import elementwise

Series = list[Any]  # the Taylor coefficients of a function of the first operand s, up to some order
TERMS = 16


def _product(f: Series, g: Series) -> Series:
    return [sum(f[i] * g[k - i] for i in range(k + 1)) for k in range(len(f))]


def _power(base: Any, s: Any, n: int) -> Series:
    """base**-s."""
    value, log = base**-s, -np.log(base)
    return [value * log**k / math.factorial(k) for k in range(n + 1)]


def _hurwitz(s: Any, q: Any, n: int) -> Series:
    """zeta(s, q) for s > 0, q > 0 (DLMF 25.11.43): terms of the sum, an integral, end corrections."""
    total: Series = [0.0] * (n + 1)
    for k in range(TERMS):
        total = [t + p for t, p in zip(total, _power(q + k, s, n))]
    a = q + TERMS
    power = _power(a, s, n)
    tail = [a * (-1) ** k / (s - 1) ** (k + 1) for k in range(n + 1)]
    tail[0] = tail[0] + 0.5
    rising: Series = [s, 1.0, *[0.0] * n][: n + 1]  # s (s+1) ... (s+2j-2)
    for j, b in enumerate(BERNOULLI, 1):
        tail = [t + b / math.factorial(2 * j) * a ** (1 - 2 * j) * r for t, r in zip(tail, rising)]
        for m in (2 * j - 1, 2 * j):
            rising = _product(rising, [s + m, 1.0, *[0.0] * n][: n + 1])
    return [t + p for t, p in zip(total, _product(power, tail))]


def _reflected(s: Any, n: int) -> Series:
    """zeta(s) = 2 (2 pi)**(s-1) sin(pi s/2) gamma(1-s) zeta(1-s) for s < 1/2 (DLMF 25.4.1)."""
    powers = [c * (-1) ** k for k, c in enumerate(_power(2 * math.pi, 1 - s, n))]
    turned = 0.5 * math.pi * (s - 4 * np.rint(0.25 * s))
    waves = (np.sin(turned), np.cos(turned), -np.sin(turned), -np.cos(turned))
    sine = [(0.5 * math.pi) ** k * waves[k % 4] / math.factorial(k) for k in range(n + 1)]
    slopes = [-polygamma(1 - s, k) * (-1) ** k / math.factorial(k) for k in range(n)]  # of log gamma(1-s)
    gamma: Series = [special.gamma(1 - s)]
    for k in range(1, n + 1):
        gamma.append(sum(slopes[i] * gamma[k - 1 - i] for i in range(k)) / k)
    other = [c * (-1) ** k for k, c in enumerate(_hurwitz(1 - s, 1.0, n))]
    return _product(_product([2 * p for p in powers], sine), _product(gamma, other))


def _zeta_derivative(x: Any, q: Any, n: int) -> Any:
    """The n-th derivative of Hurwitz' zeta function in x."""
    if n == 0:
        return special.zeta(x, q)
    if np.iscomplexobj(x):
        return by_contour(lambda z: special.zeta(z, q), x, np.minimum(abs(x - 1) / 3, 0.5), n)
    with np.errstate(all="ignore"):
        out = math.factorial(n) * _hurwitz(x, q, n)[n]
    return repaired(out, np.logical_or(x <= 1, q <= 0), lambda x: np.full_like(x, np.nan), x)


def _riemann_derivative(x: Any, n: int) -> Any:
    """The n-th derivative of Riemann's zeta function."""
    if np.iscomplexobj(x):
        return by_contour(special.zeta, x, np.minimum(abs(x - 1) / 3, 0.5), n)
    with np.errstate(all="ignore"):
        out = math.factorial(n) * _hurwitz(x, 1.0, n)[n]
    return repaired(out, x < 0.5, lambda x: math.factorial(n) * _reflected(x, n)[n], x)


zeta_derivative = own(
    _zeta_derivative,
    lambda x, q, n: zeta_derivative(x, q, n + 1),
    lambda x, q, n: -x * zeta_derivative(x + 1, q, n) - (n * zeta_derivative(x + 1, q, n - 1) if n else 0.0),
    None,
)
riemann_derivative = own(_riemann_derivative, lambda x, n: riemann_derivative(x, n + 1), None)

elementwise("_riemann_zeta zetac", lambda x: riemann_derivative(x, 1))
elementwise("_zeta", lambda x, y: zeta_derivative(x, y, 1), lambda x, y: -x * special.zeta(x + 1, y))
