"""Eigenvalues and vectors, of Hermitian, banded and general matrices and pencils; the Schur form; balancing.

For a pencil (a, b) with vectors v.H b v = 1: dw = v.H (da - w db) v, and v.H b dv = (da - w_j db)[i, j] /
(w_j - w_i) off the diagonal, -v.H db v / 2 on it (Giles 2008, section 3.1, for b = 1). Gauges are as in
funcgrad/rules/decompositions.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sl

from funcgrad.rules.matrices import conj, mH
from funcgrad.scipy.declare import Chapter, constant
from funcgrad.scipy.linalg.factors import cholesky_factor
from funcgrad.scipy.linalg.stacks import matrix, over_stacks, squared
from funcgrad.scipy.linalg.systems import from_triangle, triangular

linalg = Chapter("linalg")

# ---- Hermitian -----------------------------------------------------------------------------------------------------------


@constant("v known")
def turned_like(v: Any, known: Any) -> Any:
    """The sign or phase of each column by which v becomes `known`."""
    along = (v.conj() * known).sum(axis=-2)
    size = abs(along)
    return np.where(size > 0, along / np.where(size == 0, 1, size), 1).astype(v.dtype)


@constant("a b")
def _known_eigh(a: Any, b: Any, kind: int) -> Any:
    return sl.eigh(a, b, type=kind, check_finite=False)[1]


def _chosen(w: Any, v: Any, subset_by_index: Any, subset_by_value: Any) -> Any:
    if subset_by_index is not None and subset_by_value is not None:
        raise ValueError("Either index or value subset can be requested.")
    if subset_by_index is not None:
        low, high = subset_by_index
        if not (0 <= low <= high < w.shape[-1]):
            raise ValueError(
                f"Requested eigenvalue indices are not valid. Valid range is [0, {w.shape[-1] - 1}] and start <= end"
            )
        keep: Any = slice(low, high + 1)
    elif subset_by_value is not None:
        low, high = subset_by_value
        keep = np.asarray(_within(w, low, high))
    else:
        return w, v
    return w[keep], v[:, keep]


@constant("w")
def _within(w: Any, low: float, high: float) -> Any:
    return np.flatnonzero((w > low) & (w <= high))


@linalg.composite("eigh")
def eigh(
    a, b=None, lower=True, eigvals_only=False, type=1, subset_by_index=None, subset_by_value=None, driver=None
):
    w, v = _hermitian(
        a=a,
        b=b,
        lower=bool(lower),
        kind=type,
        vectors=not eigvals_only,
        index=subset_by_index,
        value=subset_by_value,
    )
    return w if eigvals_only else (w, v)


@linalg.composite("eigvalsh")
def eigvalsh(a, b=None, lower=True, type=1, subset_by_index=None, subset_by_value=None):
    return eigh(a, b, lower, True, type, subset_by_index, subset_by_value)


@over_stacks(a=2, b=2)
def _hermitian(a, b=None, lower=True, kind=1, vectors=True, index=None, value=None):
    if a.shape[0] != a.shape[1]:
        raise ValueError('expected square "a" matrix')
    a = from_triangle(a, lower)
    if b is None:
        return _chosen(*np.linalg.eigh(a), index, value)
    if b.shape != a.shape:
        raise ValueError(f"wrong b dimensions {b.shape}, should be {a.shape}")
    b = from_triangle(b, lower)
    dtype = np.result_type(a.dtype, b.dtype)
    a, b = a.astype(dtype), b.astype(dtype)
    factor = cholesky_factor(b, True)
    if kind == 1:
        inner = triangular(factor, mH(triangular(factor, a, True)), True)
    else:
        inner = mH(factor) @ a @ factor
    w, y = np.linalg.eigh(inner)
    if not vectors:
        return _chosen(w, y, index, value)
    v = factor @ y if kind == 3 else triangular(conj(factor), y, True, True)
    return _chosen(w, v * turned_like(v, _known_eigh(a, b, kind)), index, value)


@linalg.composite("eigh_tridiagonal")
def eigh_tridiagonal(d, e, eigvals_only=False, select="a", select_range=None, lapack_driver="auto"):
    d, e = matrix(d), matrix(e)
    if d.size != e.size + 1:
        raise ValueError(f"d ({d.size}) must have one more element than e ({e.size})")
    n = d.size
    beside = np.pad(e, (0, 1))[:, None] * np.eye(n, k=1, dtype=d.dtype)
    w, v = np.linalg.eigh(d[:, None] * np.eye(n, dtype=d.dtype) + beside + beside.T)
    known = None if eigvals_only else _known_tridiagonal(d, e)
    v = v if known is None else v * turned_like(v, known)
    w, v = _selected(w, v, select, select_range)
    return w if eigvals_only else (w, v)


@constant("d e")
def _known_tridiagonal(d: Any, e: Any) -> Any:
    return sl.eigh_tridiagonal(d, e)[1]


@linalg.composite("eigvalsh_tridiagonal")
def eigvalsh_tridiagonal(d, e, select="a", select_range=None):
    return eigh_tridiagonal(d, e, True, select, select_range)


def _selected(w: Any, v: Any, select: Any, select_range: Any) -> Any:
    if select in ("a", "all", 0):
        return w, v
    if select in ("i", "index", 2):
        return _chosen(w, v, select_range, None)
    return _chosen(w, v, None, select_range)


@linalg.composite("eig_banded")
def eig_banded(a_band, lower=False, eigvals_only=False, select="a", select_range=None):
    from funcgrad.scipy.linalg.structured import _dense, lower_from_band

    band = matrix(a_band)
    part = _dense(lower_from_band(band, bool(lower)))
    w, v = np.linalg.eigh(part + mH(np.tril(part, -1)))
    if not eigvals_only:
        v = v * turned_like(v, _known_banded(band, bool(lower)))
    w, v = _selected(w, v, select, select_range)
    return w if eigvals_only else (w, v)


@constant("band")
def _known_banded(band: Any, lower: bool) -> Any:
    return sl.eig_banded(band, lower=lower)[1]


@linalg.composite("eigvals_banded")
def eigvals_banded(a_band, lower=False, select="a", select_range=None):
    return eig_banded(a_band, lower, True, select, select_range)


# ---- general matrices ----------------------------------------------------------------------------------------------------


@constant("a b")
def _known_eig(a: Any, b: Any = None) -> Any:
    """SciPy's own values, left and right vectors."""
    w, left, right = sl.eig(a, b, left=True, right=True, check_finite=False)
    return w.astype(right.dtype) if right.dtype.kind == "c" else w, left, right


@constant("w known")
def _places(w: Any, known: Any) -> Any:
    """Where SciPy has each of these values."""
    left, order = list(range(len(w))), []
    for value in known:
        nearest = min(left, key=lambda k: abs(w[k] - value))
        left.remove(nearest)
        order.append(nearest)
    return np.array(order, int)


@linalg.composite("eig")
def eig(a, b=None, left=False, right=True, homogeneous_eigvals=False):
    if homogeneous_eigvals:
        raise NotImplementedError(
            "scipy.linalg.eig(homogeneous_eigvals=True) has no derivative rule: leave it away"
        )
    w, vl, vr = _eig(a=a, b=b, left=left, right=right)
    outs = (w, *([vl] if left else []), *([vr] if right else []))
    return outs if len(outs) > 1 else w


@over_stacks(a=2, b=2)
def _eig(a, b=None, left=False, right=True):
    if a.shape[0] != a.shape[1]:
        raise ValueError("expected square matrix")
    known_w, known_l, known_r = _known_eig(a, b)
    w, v = np.linalg.eig(a if b is None else np.linalg.solve(b, a))
    order = _places(w, known_w)
    w, v = w[order], v[:, order]
    complex_dtype = np.result_type(w.dtype, np.complex64)
    if not left and not right:
        return w.astype(complex_dtype), w, w
    vl = v
    if left:
        vl = mH(np.linalg.inv(v if b is None else b @ v))
        vl = vl / np.sqrt(squared(vl).sum(axis=0))
        vl = vl.astype(np.result_type(vl.dtype, known_l.dtype)) * turned_like(vl, known_l)
    v = v.astype(np.result_type(v.dtype, known_r.dtype)) * turned_like(v, known_r)
    return w.astype(complex_dtype), vl, v


@linalg.composite("eigvals")
def eigvals(a, b=None, homogeneous_eigvals=False):
    return eig(a, b, False, False, homogeneous_eigvals)


@linalg.composite("cdf2rdf")
def cdf2rdf(w, v):
    w, v = matrix(w), matrix(v)
    turn = _pairing(w)
    real = np.real(np.linalg.inv(turn) @ (w[:, None] * np.eye(w.shape[-1])) @ turn)
    return real.astype(w.real.dtype), np.real(v @ turn)


@constant("w")
def _pairing(w: Any) -> Any:
    """The matrix by which the columns v, conj(v) of a pair become the real and the imaginary part of v."""
    turn, k = np.eye(len(w), dtype=complex), 0
    while k < len(w):
        if w[k].imag != 0:
            turn[k : k + 2, k : k + 2] = [[0.5, -0.5j], [0.5, 0.5j]]
            k += 1
        k += 1
    return turn


@linalg.composite("matrix_balance")
def matrix_balance(A, permute=True, scale=True, separate=False):
    a = matrix(A)
    transform, sca, perm = _known_balance(a, permute, scale)
    out = np.linalg.inv(transform) @ a @ transform
    return (out, (sca, perm)) if separate else (out, transform)


@constant("a")
def _known_balance(a: Any, permute: bool, scale: bool) -> Any:
    """The transformation: a permutation and powers of 2, which are constant where they are smooth."""
    _, (sca, perm) = sl.matrix_balance(a, permute=permute, scale=scale, separate=True)
    return sl.matrix_balance(a, permute=permute, scale=scale)[1], sca, perm
