"""The derivative of the exponential of a matrix along a direction, of which the exponential is known.

The algorithm is that of A. H. Al-Mohy and N. J. Higham, "Computing the Frechet derivative of the matrix
exponential, with an application to condition number estimation", SIAM J. Matrix Anal. Appl. 30 (2009): the
Pade approximant r = q^-1 p of the exponential is differentiated, so that q L = L_p - L_q r. Where nothing is
scaled, r is the exponential, and need not be computed again.
"""

from __future__ import annotations

from math import ceil, factorial, log2
from typing import Any

import numpy as np
import scipy.linalg as sl

# The greatest 1-norm for an approximant of this degree: table 6.1 there.
_REACHES = {3: 1.08e-2, 5: 2.00e-1, 7: 7.83e-1, 9: 1.78, 13: 4.74}


def _coefficients(m: int) -> Any:
    """The coefficients of the numerator of degree m, over that of x^0; those of odd powers, and of even ones."""
    falling = [factorial(2 * m - j) / (factorial(m - j) * factorial(j)) for j in range(m + 1)]
    b = np.array(falling) * (factorial(m) / factorial(2 * m))
    return np.stack([b[1::2], b[::2]])


_PADE = {m: _coefficients(m) for m in _REACHES}


def frechet(a: Any, e: Any, out: Any) -> Any:
    """The derivative of the exponential at `a` along `e`; `out` is the exponential of `a`."""
    norm = np.abs(a).sum(axis=0).max(initial=0.0)
    if not np.isfinite(norm):
        return np.full_like(out, np.nan)
    m = next((m for m, reach in _REACHES.items() if norm <= reach), 13)
    s = max(0, ceil(log2(norm / _REACHES[m]))) if norm else 0
    if s:
        a = a * 0.5**s
    # p = v + u, q = v - u, with u odd and v even; the same of their derivatives
    u, v, in_u, in_v = _pade(a, e, m)
    getrf, getrs = sl.get_lapack_funcs(("getrf", "getrs"), (u,))
    lu, pivots, info = getrf((v - u).T, overwrite_a=True)
    if info:
        raise np.linalg.LinAlgError("The denominator of the Pade approximant is singular.")
    solved = lambda x: getrs(lu, pivots, x, trans=1)[0]
    v += u
    r = solved(v) if s else out
    del u, v
    right = in_u + in_v
    in_u -= in_v
    right += in_u @ r
    del in_u, in_v
    slope = solved(right)
    slope *= 0.5**s  # linear in e, which need not be scaled before
    for k in range(s):
        slope = r @ slope + slope @ r
        r = r @ r if k + 1 < s else r
    return slope


def _pade(a: Any, e: Any, m: int) -> tuple[Any, Any, Any, Any]:
    """The odd and the even part of the numerator, and their derivatives along e."""
    powers, slopes = _squares(a, e, min(m // 2, 4) if m < 13 else 3)
    odd, even = _PADE[m]
    w, in_w = _part(odd, powers, slopes)
    u, in_u = a @ w, a @ in_w
    in_u += e @ w
    del w, in_w  # before the other part: four matrices fewer at the peak
    v, in_v = _part(even, powers, slopes)
    return u, v, in_u, in_v


def _squares(a: Any, e: Any, count: int) -> tuple[Any, Any]:
    """The powers of a^2, and their derivatives along e."""
    powers, slopes = np.empty((2, count, *a.shape), a.dtype)
    np.matmul(a, a, out=powers[0])
    np.matmul(a, e, out=slopes[0])
    slopes[0] += e @ a
    for k in range(1, count):
        i = (k - 1) // 2
        j = k - 1 - i
        np.matmul(powers[i], powers[j], out=powers[k])
        np.matmul(powers[i], slopes[j], out=slopes[k])
        slopes[k] += slopes[i] @ powers[j]
    return powers, slopes


def _part(b: Any, powers: Any, slopes: Any) -> tuple[Any, Any]:
    """The polynomial in a^2 with the coefficients b, and its derivative; terms past `powers` are a^6 times more."""
    count = len(powers)
    part, slope = (np.tensordot(b[1 : count + 1], x, 1) for x in (powers, slopes))
    np.einsum("ii->i", part)[...] += b[0]
    if len(b) > count + 1:
        rest, in_rest = (np.tensordot(b[count + 1 :], x, 1) for x in (powers, slopes))
        part += powers[-1] @ rest
        slope += powers[-1] @ in_rest
        slope += slopes[-1] @ rest
    return part, slope
