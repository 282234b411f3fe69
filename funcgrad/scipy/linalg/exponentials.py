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
        a, e = a * 0.5**s, e * 0.5**s
    # p = v + u, q = v - u, with u odd and v even; the same of their derivatives
    (u, v), (in_u, in_v) = _pade(a, e, m)
    getrf, getrs = sl.get_lapack_funcs(("getrf", "getrs"), (u,))
    lu, pivots, info = getrf((v - u).T, overwrite_a=True)
    if info:
        raise np.linalg.LinAlgError("The denominator of the Pade approximant is singular.")
    solved = lambda x: getrs(lu, pivots, x, trans=1)[0]
    r = solved(v + u) if s else out
    found = solved(in_u + in_v + (in_u - in_v) @ r)
    for k in range(s):
        found = r @ found + found @ r
        r = r @ r if k + 1 < s else r
    return found


def _pade(a: Any, e: Any, m: int) -> tuple[Any, Any]:
    """The odd and the even part of the numerator, and of its derivative along e."""
    n, count = a.shape[0], min(m // 2, 4) if m < 13 else 3
    powers, slopes = np.empty((count + 1, n, n), a.dtype), np.empty((count, n, n), a.dtype)  # of a^2
    powers[0] = np.eye(n)
    np.matmul(a, a, out=powers[1])
    np.add(a @ e, e @ a, out=slopes[0])
    for k in range(1, count):
        i, j = (k + 1) // 2, k + 1 - (k + 1) // 2
        np.matmul(powers[i], powers[j], out=powers[k + 1])
        np.add(powers[i] @ slopes[j - 1], slopes[i - 1] @ powers[j], out=slopes[k])
    flat = powers.reshape(count + 1, -1), slopes.reshape(count, -1)
    sums = lambda b: [(c @ x).reshape(2, n, n) for c, x in zip((b, b[:, 1:]), flat, strict=True)]
    (w, v), (in_w, in_v) = sums(_PADE[m][:, : count + 1])
    if m == 13:  # and a^6 times more
        rest = np.concatenate([np.zeros((2, 1)), _PADE[m][:, 4:]], axis=1)
        (w6, v6), (in_w6, in_v6) = sums(rest)
        a6, in_a6 = powers[3], slopes[2]
        w, v = w + a6 @ w6, v + a6 @ v6
        in_w, in_v = in_w + a6 @ in_w6 + in_a6 @ w6, in_v + a6 @ in_v6 + in_a6 @ v6
    return (a @ w, v), (a @ in_w + e @ w, in_v)
