"""Derivatives of hyp0f1 and hyp2f1 in their parameters: series, and integrals where those are long or cancel.

    F(a, b; c; x) = (1 - x)**-a F(a, c - b; c; x / (x - 1))                    (DLMF 15.8.1, for negative x)
    F(a, b; c; x) = integral of t**(b - 1) (1 - t)**(c - b - 1) (1 - x t)**-a, t from 0 to 1, over B(b, c - b)
                                                                               (DLMF 15.6.1, for 0 < b < c)
    0F1(b; x) = gamma(b) (z / 2)**(1 - b) J(b - 1, z), z = 2 sqrt(-x)          (DLMF 10.16.9)

with Hankel's integral for J (Watson, Bessel Functions, 6.12), whose integrand does not change its sign. They
are functions like any other, so all orders follow. Where none of them keeps its digits the result is NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from funcgrad.core.engine.trace import concrete
from funcgrad.scipy.special.shapes import _count, _sum_of, _terms, _wide, in_parameter

# The double exponential rule, farther out than NODES of the other shapes, for small exponents, and denser.
_STEPS = np.arange(-6.1, 6.1 + 1e-9, 1 / 96)  # farther out than NODES, for small exponents
_T = np.pi / 2 * np.sinh(_STEPS)
_LOG_WEIGHTS = np.log(np.pi / 4 * np.cosh(_STEPS) / 96) - 2 * (np.logaddexp(_T, -_T) - np.log(2))
_LOG_NODES, _LOG_FROM_ONE = -np.logaddexp(0, -2 * _T), -np.logaddexp(0, 2 * _T)


def _chosen(
    pieces: list[tuple[Any, Callable[..., Any]]], which: int, args: tuple[Any, ...], inner: Any
) -> Any:
    """The derivative by the first piece whose condition holds, else NaN; each sees `inner` where it is not asked."""
    out, free = np.nan * args[0], args[0] == args[0]
    for condition, f in pieces:
        here = free & condition
        if np.any(concrete(here)):
            seen = [np.where(here, x, safe) for x, safe in zip(args, inner)]
            out = np.where(here, in_parameter(f, which, *seen), out)
        free = free & np.logical_not(here)
    return out


def _arrays(*args: Any) -> tuple[Any, ...]:
    return tuple(x + 0.0 for x in np.broadcast_arrays(*args))


# ---- hyp0f1 ----------------------------------------------------------------------------------------------------------


def _limit(b: Any, x: Any) -> Any:
    k = _terms(min(_count(x), 400))
    return _sum_of(_wide(x) / (_wide(b) + k) / (k + 1))


def _hankel(b: Any, x: Any) -> Any:
    """For b above 1, and z not below b; u is scaled by b, near which the integrand is."""
    z, power = 2 * np.sqrt(-x), _wide(b) - 1.5
    log_u = np.minimum(2 * _T, 9) + np.log(_wide(b))  # (no weight is left beyond)
    u = np.exp(log_u)
    ratio = u / _wide(2 * z)
    phase = _wide(z - (b - 1) * np.pi / 2 - np.pi / 4) + power * np.arctan(ratio)
    size = (power + 1) * log_u + power * 0.5 * np.log1p(ratio**2) - u - _wide(special.gammaln(b - 0.5))
    whole = np.sum(np.pi * np.cosh(_STEPS) / 96 * np.exp(size) * np.cos(phase), axis=-1)
    return np.exp(special.gammaln(b) + (1 - b) * np.log(z / 2)) * np.sqrt(2 / (np.pi * z)) * whole


def _hankel_below(b: Any, x: Any) -> Any:
    """For b down to -1: 0F1(b) - 0F1(b + 1) = x / (b (b + 1)) 0F1(b + 2), twice."""
    high, higher = _hankel(b + 2, x), _hankel(b + 3, x)
    middle = high + x / ((b + 1) * (b + 2)) * higher
    return middle + x / (b * (b + 1)) * high


def limit_in_parameter(b: Any, x: Any) -> Any:
    """The derivative of hyp0f1 in b; NaN below -40 where b is below -0.9, and around the turning point of a large b."""
    b, x = _arrays(b, x)
    z = 2 * np.sqrt(np.where(x < 0, -x, 0.0))
    pieces = [
        (x >= -40, _limit),
        ((b >= 1.1) & (b <= 300) & (b - 1 <= z) & (b**3 < 40 * z * z), _hankel),
        ((b > -0.9) & (b < 1.1), _hankel_below),
        ((b > z) & (z * z < 28 * b), _limit),
    ]
    return _chosen(pieces, 0, (b, x), (2.0, -40.0))


# ---- hyp2f1 ----------------------------------------------------------------------------------------------------------

LEAST = 0.06  # of the exponents of the integral


def _gauss(a: Any, b: Any, c: Any, x: Any) -> Any:
    k = _terms(400 if np.all(abs(concrete(x)) <= 0.9) else 4000)
    return _sum_of((_wide(a) + k) * (_wide(b) + k) / (_wide(c) + k) / (k + 1) * _wide(x))


def _pfaff(a: Any, b: Any, c: Any, x: Any) -> Any:
    return np.exp(-a * np.log1p(-x)) * _gauss(a, c - b, c, x / (x - 1))


def _euler(a: Any, b: Any, c: Any, x: Any) -> Any:
    """For 0 < b < c and any x below 1."""
    outside = np.log(np.exp(_LOG_FROM_ONE) + np.exp(_LOG_NODES) * _wide(1 - x))
    inside = (_wide(b) - 1) * _LOG_NODES + (_wide(c - b) - 1) * _LOG_FROM_ONE + _LOG_WEIGHTS
    exponent = inside - _wide(a) * outside - _wide(special.betaln(b, c - b))
    return np.sum(np.exp(exponent), axis=-1)


def _euler_swapped(a: Any, b: Any, c: Any, x: Any) -> Any:
    return _euler(b, a, c, x)


def gauss_in_parameter(which: int, a: Any, b: Any, c: Any, x: Any) -> Any:
    """The derivative of hyp2f1 in a, b or c; NaN above 0.99 and below -99 where neither 0 < a < c nor 0 < b < c."""
    a, b, c, x = _arrays(a, b, c, x)
    pieces = [
        ((x >= -0.5) & (x <= 0.9), _gauss),
        ((x < 1) & (b >= LEAST) & (c - b >= LEAST), _euler),
        ((x < 1) & (a >= LEAST) & (c - a >= LEAST), _euler_swapped),
        ((x < -0.5) & (x >= -99), _pfaff),
        ((x > 0.9) & (x <= 0.99), _gauss),
    ]
    return _chosen(pieces, which, (a, b, c, x), (0.5, 0.5, 1.0, -0.5))
