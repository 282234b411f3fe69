"""Piecewise polynomials and the interpolators made of them: SciPy's code, with rules for compiled parts.

The interval that a point lies in is piecewise constant; the polynomial there is differentiated in the point,
the coefficients and the breakpoints.
"""

from __future__ import annotations

import itertools
from math import comb, factorial, perm
from typing import Any

import numpy as np

from funcgrad.core.arrays.ufunc import as_array
from funcgrad.core.memory.indexing import GETITEM
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.rerun import leaves, values

interpolate = Chapter("interpolate")


def interval(points: Any, x: Any) -> Any:
    """The piece of each point: the one that begins there; outside, the first or last."""
    breaks, at = values(points), values(x)
    last = breaks.size - 2
    if breaks[-1] < breaks[0]:
        return np.clip(np.searchsorted(-breaks, -at, side="right") - 1, 0, last)
    return np.clip(np.searchsorted(breaks, at, side="right") - 1, 0, last)


def outside(points: Any, x: Any) -> Any:
    """Which points lie outside of all pieces, or are not numbers."""
    breaks, at = values(points), values(x)
    low, high = min(breaks[0], breaks[-1]), max(breaks[0], breaks[-1])
    return ~((at >= low) & (at <= high))


def _where_valid(out: Any, points: Any, x: Any, extrapolate: bool) -> Any:
    invalid = np.isnan(values(x)) if extrapolate else outside(points, x)
    return np.where(invalid[:, None], np.nan, out) if invalid.any() else out


def polynomial(c: Any, points: Any, x: Any, nu: int) -> Any:
    """The nu-th derivative of the pieces c (degree, piece, value) at x, by Horner's rule."""
    where = interval(points, x)
    s = (x - GETITEM(points, where))[:, None]
    degree = c.shape[0] - 1
    out: Any = 0.0 * s + np.zeros(c.shape[2])
    for k in range(degree - nu + 1):
        out = out * s + perm(degree - k, nu) * GETITEM(c[k], where)
    return out


def _evaluate(c: Any, points: Any, x: Any, nu: int, extrapolate: bool, out: Any) -> None:
    c, points, x = as_array(c), as_array(points), as_array(x)
    out[...] = _where_valid(polynomial(c, points, x, nu), points, x, extrapolate).astype(out.dtype)


def _bernstein(c: Any, points: Any, x: Any, nu: int, extrapolate: bool, out: Any) -> None:
    c, points, x = as_array(c), as_array(points), as_array(x)
    where = interval(points, x)
    start = GETITEM(points, where)
    width = (GETITEM(points, where + 1) - start)[:, None]
    s, degree = (x - start)[:, None] / width, c.shape[0] - 1
    parts = [GETITEM(row, where) for row in c]
    for _ in range(nu):
        parts = [b - a for a, b in itertools.pairwise(parts)]
    n = degree - nu
    total: Any = np.zeros((x.shape[0], c.shape[2])) + 0.0 * s
    for k, part in enumerate(parts):
        total = total + comb(n, k) * s**k * (1 - s) ** (n - k) * part
    total = total * (factorial(degree) / factorial(max(n, 0))) / width**nu if parts else total
    out[...] = _where_valid(total, points, x, extrapolate).astype(out.dtype)


def _fix_continuity(c: Any, points: Any, order: int) -> None:
    """Constants that let the derivatives up to `order` go on from one piece to the next."""
    points, degree = as_array(points), c.shape[0] - 1
    steps = (points[1:] - points[:-1])[:-1, None]
    for nu in range(order, -1, -1):
        gain = 0.0
        for k in range(degree - nu):
            power = degree - k - nu
            gain = gain + perm(degree - k, nu) * c[k, :-1] * steps**power
        total = np.cumsum(gain, axis=0) / factorial(nu)
        c[degree - nu, 1:] = c[degree - nu, :1] + total


def _integrate(c: Any, points: Any, a: Any, b: Any, extrapolate: bool, out: Any) -> None:
    c, points = as_array(c), as_array(points)
    powers = np.arange(c.shape[0], 0, -1)
    whole = np.concatenate([c / powers[:, None, None], np.zeros((1, *c.shape[1:]))])
    steps = (points[1:] - points[:-1])[:, None]
    gains: Any = 0.0
    for k in range(c.shape[0]):
        gains = gains + whole[k] * steps ** (c.shape[0] - k)
    before = np.concatenate([np.zeros((1, c.shape[2])), np.cumsum(gains, axis=0)])
    ends = np.stack([as_array(a) + 0.0, as_array(b) + 0.0])
    both = polynomial(whole, points, ends, 0) + GETITEM(before, interval(points, ends))
    both = _where_valid(both, points, ends, extrapolate)
    out[...] = (both[1] - both[0]).astype(out.dtype)


def _evaluate_nd(c: Any, breaks: Any, ks: Any, x: Any, nu: Any, extrapolate: bool, out: Any) -> None:
    c, x = as_array(c), as_array(x)
    sizes = [int(k) for k in ks]
    where = [interval(points, x[:, d]) for d, points in enumerate(breaks)]
    piece = np.ravel_multi_index(tuple(where), tuple(len(points) - 1 for points in breaks))
    s = [x[:, d] - GETITEM(as_array(points), where[d]) for d, points in enumerate(breaks)]
    total: Any = np.zeros((x.shape[0], c.shape[2]))
    for choice in itertools.product(*(range(size) for size in sizes)):
        powers = [size - 1 - k for size, k in zip(sizes, choice)]
        if any(p < n for p, n in zip(powers, nu)):
            continue
        factor: Any = 1.0
        for d, (p, n) in enumerate(zip(powers, nu)):
            factor = factor * perm(p, int(n)) * s[d] ** (p - int(n))
        total = total + np.reshape(factor, (-1, 1)) * GETITEM(
            c[np.ravel_multi_index(choice, tuple(sizes))], piece
        )
    if not extrapolate:
        invalid = np.any([outside(points, x[:, d]) for d, points in enumerate(breaks)], axis=0)
        total = np.where(invalid[:, None], np.nan, total) if invalid.any() else total
    out[...] = total.astype(out.dtype)


leaves(
    "scipy.interpolate._ppoly",
    evaluate=_evaluate,
    evaluate_bernstein=_bernstein,
    fix_continuity=_fix_continuity,
    integrate=_integrate,
    evaluate_nd=_evaluate_nd,
)
interpolate.classes(
    "PPoly BPoly NdPPoly CubicSpline CubicHermiteSpline PchipInterpolator Akima1DInterpolator interp1d BarycentricInterpolator "
    "KroghInterpolator AAA FloaterHormannInterpolator"
)
interpolate.rerun(
    "pchip_interpolate barycentric_interpolate krogh_interpolate approximate_taylor_polynomial lagrange pade"
)
