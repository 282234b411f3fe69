"""The pull of the Cholesky factor, by blocks: 5/6 n^3 multiplications and additions, where the formula takes 3 n^3.

Two blocks of rows turn the factorisation into four steps, which are pulled through one after the other (Murray,
"Differentiation of the Cholesky decomposition", arXiv:1602.07527, section 4.2); a block on the diagonal is halved
again. With the factor [[a, 0], [b, d]] and g for the gradients,

    g22 = pull(d, ct_d),    h = (ct_b - 2 g22 b) inv(a),    g11 = pull(a, ct_a - h.T b),    g21 = h / 2.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

SMALL = 64  # rows of a block for which the formula is as fast


@cache
def solver(char: str) -> Any:
    """BLAS's solver with a triangle for real numbers of this kind; None without SciPy."""
    if char not in "fd" or find_spec("scipy") is None:
        return None
    return getattr(import_module("scipy.linalg.blas"), {"d": "dtrsm", "f": "strsm"}[char])


def pulled_by_blocks(factor: Any, ct: Any) -> Any:
    """The symmetric gradient; of `factor` and `ct`, real matrices of one type, the lower triangles are read."""
    back = np.empty(factor.shape, factor.dtype)
    _pull(factor, ct, back, solver(factor.dtype.char))
    return back


def _pull(factor: Any, ct: Any, back: Any, solve: Any) -> None:
    n = len(factor)
    if n <= SMALL:
        _pull_small(factor, ct, back, solve)
        return
    h = n // 2
    a, b, d = factor[:h, :h], factor[h:, :h], factor[h:, h:]
    _pull(d, ct[h:, h:], back[h:, h:], solve)
    inner = back[h:, h:] @ b
    inner *= -2
    inner += ct[h:, :h]
    inner = solve(1.0, a.T, inner.T).T
    _pull(a, ct[:h, :h] - inner.T @ b, back[:h, :h], solve)
    inner *= 0.5
    back[h:, :h], back[:h, h:] = inner, inner.T


def _pull_small(factor: Any, ct: Any, back: Any, solve: Any) -> None:
    """The symmetric part of inv(factor).T half(factor.T ct) inv(factor)."""
    x = np.tril(factor).T @ ct
    x *= _halves(len(x), x.dtype.char)
    x = solve(1.0, factor.T, solve(1.0, factor.T, x), side=1, trans_a=1)
    np.add(x, x.T, out=back)
    back *= 0.5


@cache
def _halves(n: int, char: str) -> Any:
    """1 in the lower triangle, and 1/2 on its diagonal. There are few sizes of blocks, all of them small."""
    halves = np.tri(n, dtype=char)
    np.einsum("ii->i", halves)[...] = 0.5
    return halves
