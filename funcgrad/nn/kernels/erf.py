"""erf, erfc and the normal cdf to float64's precision; of float32 to float32's, ten times faster.

Rational functions on three ranges of |x|, with the coefficients of W. J. Cody, "Rational Chebyshev
approximations for the error function", Mathematics of Computation 23 (1969); the relative error is below
1e-15.

In single precision erf(x) = tanh(x p(x²)) and cdf(x) = 1 / (1 + exp(-x q(x²))) with polynomials p and q of
our own, fitted by linear programming for the smallest largest error (of erf, relative; of x cdf(x),
absolute): NumPy's tanh and exp are fast.
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import numpy as np

from funcgrad.nn.kernels.blocks import by_blocks

_NEAR, _FAR = 0.46875, 4.0
_ERF = (
    1.85777706184603153e-1,
    3.16112374387056560,
    1.13864154151050156e2,
    3.77485237685302021e2,
    3.20937758913846947e3,
)
_ERF_BELOW = (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3, 2.84423683343917062e3)
_MIDDLE = (
    2.15311535474403846e-8,
    5.64188496988670089e-1,
    8.88314979438837594,
    6.61191906371416295e1,
    2.98635138197400131e2,
    8.81952221241769090e2,
    1.71204761263407058e3,
    2.05107837782607147e3,
    1.23033935479799725e3,
)
_MIDDLE_BELOW = (
    1.0,
    1.57449261107098347e1,
    1.17693950891312499e2,
    5.37181101862009858e2,
    1.62138957456669019e3,
    3.29079923573345963e3,
    4.36261909014324716e3,
    3.43936767414372164e3,
    1.23033935480374942e3,
)
_TAIL = (
    1.63153871373020978e-2,
    3.05326634961232344e-1,
    3.60344899949804439e-1,
    1.25781726111229246e-1,
    1.60837851487422766e-2,
    6.58749161529837803e-4,
)
_TAIL_BELOW = (
    1.0,
    2.56852019228982242,
    1.87295284992346725,
    5.27905102951428412e-1,
    6.05183413124413191e-2,
    2.33520497626869185e-3,
)


def _ratio(above: tuple[float, ...], below: tuple[float, ...], x: Any) -> Any:
    """A rational function, by Horner's rule in place."""
    p, q = np.full_like(x, above[0]), np.full_like(x, below[0])
    for a, b in zip(above[1:], below[1:], strict=True):
        p *= x
        p += a
        q *= x
        q += b
    p /= q
    return p


def _exp_of_minus_square(y: Any) -> Any:
    """exp(-y²), whose error does not grow with y²."""
    rounded = np.trunc(y * 16) / 16
    return np.exp(-rounded * rounded) * np.exp(-(y - rounded) * (y + rounded))


def _complement(y: Any) -> Any:
    """erfc(y) for y > 0.46875."""
    y = np.minimum(y, 30.0)  # where it is 0 already
    out = np.empty_like(y)
    far = y > _FAR
    middle = ~far
    out[middle] = _ratio(_MIDDLE, _MIDDLE_BELOW, y[middle])
    tail = y[far]
    z = 1 / (tail * tail)
    out[far] = (1 / math.sqrt(math.pi) - z * _ratio(_TAIL, _TAIL_BELOW, z)) / tail
    return out * _exp_of_minus_square(y)


def _both(x: Any) -> tuple[Any, Any, Any]:
    """|x| as a row of float64, where it is small or NaN, and erf of x there."""
    flat = np.asarray(x, np.float64).reshape(-1)
    near = ~(np.abs(flat) > _NEAR)
    inner = flat[near]
    return flat, near, inner * _ratio(_ERF, _ERF_BELOW, inner * inner)


def _erf(x: Any) -> np.ndarray:
    flat, near, inner = _both(x)
    out = np.empty_like(flat)
    out[near] = inner
    outer = flat[~near]
    out[~near] = np.copysign(1 - _complement(np.abs(outer)), outer)
    return out


def _erfc(x: Any) -> np.ndarray:
    flat, near, inner = _both(x)
    out = np.empty_like(flat)
    out[near] = 1 - inner
    outer = flat[~near]
    tail = _complement(np.abs(outer))
    out[~near] = np.where(outer < 0, 2 - tail, tail)
    return out


_BLOCK = 1 << 15  # elements, whose intermediate results stay in the cache
MANY = 1 << 12  # from which on it is worth to ask for SciPy


def of_many(function: Any, name: str, x: Any) -> np.ndarray:
    """`function` of the elements of `x`; of many, SciPy's of this name where it is installed, or by blocks."""
    x = np.asarray(x, np.float64)
    if x.size < MANY:
        return function(x).reshape(x.shape)
    with suppress(ImportError):
        from scipy import special

        return getattr(special, name)(x)
    flat = x.reshape(-1)
    parts = [function(flat[start : start + _BLOCK]) for start in range(0, flat.size, _BLOCK)]
    return np.concatenate(parts).reshape(x.shape)


def erf(x: Any) -> np.ndarray:
    """2/sqrt(pi) times the integral of exp(-t*t) from 0 to x, as float64."""
    return of_many(_erf, "erf", x)


def erfc(x: Any) -> np.ndarray:
    """1 - erf(x), without cancellation, as float64."""
    return of_many(_erfc, "erfc", x)


# ---- float32 -----------------------------------------------------------------------------------------------------------
# Highest power first; as arrays, which NumPy's functions take in less time than numbers.
_TANH_OF_ERF = (
    1.41879286e-07,
    -5.66896052e-06,
    8.76403501e-05,
    -0.000619792756,
    -0.000191821562,
    0.102769052,
    1.12837927,
)
_LOGIT_OF_CDF = (
    3.61996327e-09,
    -2.67360736e-07,
    7.94758161e-06,
    -0.000110568823,
    -6.58488268e-05,
    0.0726676925,
    1.59576908,
)
_P = tuple(np.array(c, np.float32) for c in _TANH_OF_ERF)
_Q = tuple(np.array(-c, np.float32) for c in _LOGIT_OF_CDF)
_ONE = np.array(1, np.float32)


def _with_polynomial(x: np.ndarray, powers: tuple[np.ndarray, ...], finish: Any) -> np.ndarray:
    """finish(x, x * polynomial(x²), out) for a block of x after the other."""

    def block(v: Any, out: Any, square: Any, u: Any) -> None:
        np.multiply(v, v, square)
        np.multiply(square, powers[0], u)
        for c in powers[1:-1]:
            np.add(u, c, u)
            np.multiply(u, square, u)
        np.add(u, powers[-1], u)
        np.multiply(u, v, u)
        finish(v, u, out)

    return by_blocks(block, x, buffers=2, size=_BLOCK)


def _cdf(v: Any, u: Any, out: Any) -> None:
    np.exp(u, u)
    np.add(u, _ONE, u)
    np.reciprocal(u, out)


def _times_cdf(v: Any, u: Any, out: Any) -> None:
    np.exp(u, u)
    np.add(u, _ONE, u)
    np.divide(v, u, out)


def is_single(x: Any) -> bool:
    """Is it an array of float32, for the functions below?"""
    return type(x) is np.ndarray and x.dtype == np.float32


def single_erf(x: np.ndarray) -> np.ndarray:
    """erf, of a float32 array: within 4 units in the last place."""
    return _with_polynomial(x, _P, lambda v, u, out: np.tanh(u, out))


def single_cdf(x: np.ndarray) -> np.ndarray:
    """The normal distribution's cdf, of a float32 array: within 1e-7."""
    return _with_polynomial(x, _Q, _cdf)


def single_gelu(x: np.ndarray) -> np.ndarray:
    """x times the normal distribution's cdf, of a float32 array: within 5e-7."""
    return _with_polynomial(x, _Q, _times_cdf)


def normal_cdf(x: Any) -> np.ndarray:
    """The normal distribution's cdf, without cancellation, as float64."""
    return 0.5 * erfc(np.asarray(x, np.float64) * -math.sqrt(0.5))
