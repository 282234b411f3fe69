"""x ** y, exact at x = 0 and at whole exponents, to every order and in both operands."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from funcgrad.core.engine.declare import elementwise
from funcgrad.rules.slopes import by_orders, repaired

NUMBERS = frozenset([int, float, np.float64, np.float32, np.int64, np.int32])


def power_slope(x: Any, y: Any) -> Any:
    """The derivative in x. An exponent that is a number comes down step by step, and stops at 0."""
    if type(y) not in NUMBERS:
        return power_derivative(x, y, 1, 0)
    if y == 0:
        return 0.0
    if y == 1:
        return 1.0
    if -0.05 < y < 0.05:  # x ** (y - 1) may overflow where the derivative doesn't
        return power_derivative(x, y, 1, 0)
    if y < 0 and x.dtype.kind == "c":  # of whose lower powers the parts would overflow
        return y * (x**y / x)
    return x + x if y == 2 else y * x ** (y - 1)


def _power_derivative(x: Any, y: Any, n: int, m: int) -> Any:
    """The derivative of x**y, n times in x and m times in y:

        sum over j of binomial(m, j) * F[m-j](y) * x**(y-n) * log(x)**j,    F(y) = y (y-1) ... (y-n+1),

    where F[i] is the i-th derivative of F. Where a product is 0 * inf, its limit is taken: F is 0 at whole
    exponents below n.
    """
    x, y = _inexact(x, y)
    coefficients = _falling(y, n, m)
    with np.errstate(all="ignore"):
        out = _sum(x, y, n, m, *coefficients)
    bad = np.logical_not(np.isfinite(out))
    return repaired(out, bad, lambda x, y, *c: _limit(x, y, n, m, *c), x, y, *coefficients)


def _inexact(x: Any, y: Any) -> tuple[Any, Any]:
    """x and y as floats; both complex if the power is (the logarithm of a negative x is then complex too)."""
    x, y = _array(x), _array(y)
    if x.dtype.kind == "f" and y.dtype.kind == "f":
        return x, y
    dtype = np.result_type(x, y, 1.0)
    kind = complex if dtype.kind == "c" else float
    return tuple(v * kind(1) if v.dtype.kind in "biu" or dtype.kind == "c" else v for v in (x, y))


def _array(x: Any) -> Any:
    if type(x) is int and x.bit_length() > 63:  # which NumPy takes for an object when it stands alone
        x = float(x)
    return x if hasattr(x, "dtype") else np.asarray(x)


def _falling(y: Any, n: int, k: int) -> list[Any]:
    """y (y-1) ... (y-n+1) and its first k derivatives."""
    values: list[Any] = [1.0] + [0.0] * k
    for i in range(n):
        higher = [values[m] * (y - i) + m * values[m - 1] for m in range(1, k + 1)]
        values = [values[0] * (y - i), *higher]
    return values


def _sum(x: Any, y: Any, n: int, k: int, *coefficients: Any) -> Any:
    """The sum, term by term."""
    power = x ** (y - n)
    if k == 0:
        return coefficients[0] * power
    log = np.log(x)
    if n == 0:
        return power * log**k
    return power * sum(math.comb(k, j) * coefficients[k - j] * log**j for j in range(k + 1))


def _limit(x: Any, y: Any, n: int, k: int, *coefficients: Any) -> Any:
    """The same sum with the limits of its terms: 0 where the coefficient, or a power of 0, is 0.

    0**y jumps at y = 0; the slope in y there is 0 by convention.
    """
    power, whole, log = x ** (y - n), x**y, np.log(x)
    regular = np.logical_and(np.logical_and(x != 0, np.isfinite(x)), np.isfinite(whole))
    beaten = np.logical_and(x == 0, y.real > n if n or k > 1 else y.real >= 0)
    out: Any = 0
    for j in range(k + 1):
        c = coefficients[k - j]
        gone = np.logical_or(c == 0, beaten) if j else c == 0
        # in which x**(y-n) alone can't overflow
        term = np.where(regular, _quotient(c, x, n) * whole, c * power)
        out = out + np.where(gone, 0, math.comb(k, j) * term * log**j)
    return out


def _quotient(c: Any, x: Any, n: int) -> Any:
    """c / x**n, step by step."""
    for _ in range(n):
        c = c / x
    return c


power_derivative = by_orders(_power_derivative)

for _function in (np.power, np.float_power):
    elementwise(_function, power_slope, lambda x, y: power_derivative(x, y, 0, 1))
