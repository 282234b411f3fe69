"""Systems of equations. One factorisation solves forwards and backwards; no inverse is formed.

With x = inv(a) b: dx = inv(a) (db - da x), so ct_b = inv(a).T ct and ct_a = -ct_b x.T (Giles, "An extended
collection of matrix derivative results", 2008, section 2.2). `_factors` is a constant: all that its result
depends on is accounted for by `a`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sl

from funcgrad.rules.matrices import conj, mH, mT, symmetrised
from funcgrad.scipy.declare import Chapter, constant, step
from funcgrad.scipy.linalg.stacks import column, like_vector, matrix, over_stacks, plain
from funcgrad.scipy.linalg.triangles import triangle_of_products

linalg = Chapter("linalg")

# ---- one factorisation, many solves --------------------------------------------------------------------------------------


@constant("a")
def _factors(a: Any, kind: str) -> Any:
    """LU with its pivots, or the lower Cholesky factor."""
    if kind == "pos":
        return sl.cholesky(a, lower=True), np.zeros(0, np.int32)
    getrf = sl.get_lapack_funcs("getrf", (a,))
    lu, pivots, info = getrf(a)
    if info > 0:
        raise np.linalg.LinAlgError("A singular matrix detected.")
    return lu, pivots


def _solved_pull(ct, f, p, a, kind, transposed=False):
    return solved(f, p, a, ct, kind, not transposed)


def _solved_joint(ct, f, p, a, out, kind, transposed=False):
    ct_b = solved(f, p, a, ct, kind, not transposed)
    return None, None, -(out @ mT(ct_b) if transposed else ct_b @ mT(out)), ct_b


def _solved_push(t, f, p, a, b, out, kind, transposed=False):
    right = np.zeros_like(out) if t["b"] is None else t["b"]
    if t["a"] is not None:
        right = right - (mT(t["a"]) if transposed else t["a"]) @ out
    return solved(f, p, a, right, kind, transposed)


@step("f p a b", {"b": _solved_pull}, joint=_solved_joint, push=_solved_push)
def solved(f, p, a, b, kind, transposed=False):
    """inv(a) b by the factors of a."""
    if kind == "pos":
        lower = f.conj() if transposed else f
        return sl.cho_solve((lower, True), b, check_finite=False)
    return sl.lu_solve((f, p), b, trans=int(transposed), check_finite=False)


def _triangular_pull_b(ct, a, lower=True, transposed=False, unit=False):
    return triangular(a, ct, lower, not transposed, unit)


def _triangle(x: Any, lower: bool, unit: bool) -> Any:
    return np.tril(x, -unit) if lower else np.triu(x, unit)


def _triangular_joint(ct, a, out, lower=True, transposed=False, unit=False):
    ct_b = triangular(a, ct, lower, not transposed, unit)
    ct_a = -(out @ mT(ct_b) if transposed else ct_b @ mT(out))
    return _triangle(ct_a, lower, unit), ct_b


def _triangular_push(t, a, b, out, lower=True, transposed=False, unit=False):
    right = np.zeros_like(out) if t["b"] is None else t["b"]
    if t["a"] is not None:
        ta = _triangle(t["a"], lower, unit)
        right = right - (mT(ta) if transposed else ta) @ out
    return triangular(a, right, lower, transposed, unit)


@step("a b", {"b": _triangular_pull_b}, joint=_triangular_joint, push=_triangular_push)
def triangular(a, b, lower=True, transposed=False, unit=False):
    """inv(a) b for one triangle of a. BLAS gets arrays as they lie: rows are the transposed's columns."""
    a, b = a.astype(np.result_type(a, b), copy=False), b.astype(np.result_type(a, b), copy=False)
    diagonal = np.ones(1) if unit else np.diagonal(a)
    if (diagonal == 0).any():
        raise np.linalg.LinAlgError(
            f"singular matrix: resolution failed at diagonal {int(np.argmin(abs(diagonal)))}"
        )
    trsm = sl.get_blas_funcs("trsm", (a, b))
    by_rows = a.flags.c_contiguous
    factor, lower, transposed = (a.T, not lower, not transposed) if by_rows else (a, lower, transposed)
    if b.flags.c_contiguous and b.shape[1] > 1:  # x.T inv(a).T = b.T
        return trsm(1.0, factor, b.T, side=1, lower=lower, trans_a=int(not transposed), diag=unit).T
    return trsm(1.0, factor, b, side=0, lower=lower, trans_a=int(transposed), diag=unit)


# ---- systems of a Cholesky factor ----------------------------------------------------------------------------------------
# x solves c c.H x = b, for a lower factor c: with w = inv(c) conj(ct), ct_b = conj(inv(c).H w), and with u = inv(c) b
# ct_c = -tril(ct_b u.T + conj(x) w.T). No product of matrices is formed but these two.


def _cho_joint(ct, c, b, out):
    w = triangular(c, conj(ct))
    ct_b = triangular(c, conj(w), transposed=True)
    return -triangle_of_products(ct_b, triangular(c, b), conj(out), w), ct_b


def _cho_pull_b(ct, c):
    return conj(cho_solved(c, conj(ct)))


def _cho_push(t, c, b, out):
    right = np.zeros_like(out) if t["b"] is None else t["b"]
    if t["c"] is not None:
        tc = np.tril(t["c"])
        c = np.tril(c)
        right = right - tc @ (mH(c) @ out) - c @ (mH(tc) @ out)
    return cho_solved(c, right)


@step("c b", {"b": _cho_pull_b}, joint=_cho_joint, push=_cho_push)
def cho_solved(c, b):
    """inv(c c.H) b, for the lower triangle of c."""
    return triangular(c.conj() if c.dtype.kind == "c" else c, triangular(c, b), transposed=True)


# ---- the public functions ------------------------------------------------------------------------------------------------


def from_triangle(a: Any, lower: bool, conjugated: bool = True) -> Any:
    """The Hermitian (symmetric) matrix of which one triangle is read; its gradient is Hermitian too."""
    return _completed(a, lower, conjugated)


def _evened(x: Any, conjugated: bool) -> Any:
    return symmetrised(x) if conjugated else (x + mT(x)) * 0.5


@step(
    "a",
    lambda ct, conjugated=True: _evened(ct, conjugated),
    push=lambda t, conjugated=True: _evened(t, conjugated),
)
def _completed(a, lower, conjugated=True):
    part = np.tril(a) if lower else np.triu(a)
    strict = np.tril(a, -1) if lower else np.triu(a, 1)
    return part + (mH(strict) if conjugated else mT(strict))


_KINDS = {
    "gen": "general", "sym": "symmetric", "her": "hermitian", "pos": "positive definite",
}  # fmt: skip


@linalg.composite("solve")
@over_stacks(a=2, b=-1)
def solve(a, b, lower=False, assume_a=None, transposed=False):
    if a.shape[-1] != a.shape[-2]:
        raise ValueError("Expected square matrix")
    if b.shape[0] != a.shape[0]:
        raise ValueError("incompatible shapes between a and b")
    dtype = np.result_type(a.dtype, b.dtype)
    a, right = a.astype(dtype), column(b).astype(dtype)
    return like_vector(_solve(a, right, lower, _KINDS.get(assume_a, assume_a) or "general", transposed), b)


def _solve(a: Any, b: Any, lower: bool, kind: str, transposed: bool) -> Any:
    if transposed and a.dtype.kind == "c" and kind not in ("general",):
        raise NotImplementedError(
            "scipy.linalg.solve can currently not solve a^T x = b or a^H x = b for complex matrices."
        )
    if kind == "diagonal":
        return b / np.diagonal(a)[:, None]
    if kind in ("upper triangular", "lower triangular"):
        return triangular(a, b, kind.startswith("lower"), transposed)
    if kind == "tridiagonal":
        a = np.triu(np.tril(a, 1), -1)
    elif kind in ("symmetric", "hermitian", "positive definite"):
        a = from_triangle(a, lower, conjugated=kind != "symmetric")
    elif kind not in ("general", "banded"):
        raise ValueError(f"{kind} is not a recognized matrix structure")
    kind = "pos" if kind == "positive definite" else "lu"
    f, p = _factors(a, kind)
    return solved(f, p, a, b, kind, transposed)


@linalg.composite("inv")
@over_stacks(a=2)
def inv(a, assume_a=None, lower=False):
    if a.shape[-1] != a.shape[-2]:
        raise ValueError(f"Expected a square matrix. Got a.shape = {a.shape}.")
    return _solve(
        a, np.eye(a.shape[-1], dtype=a.dtype), lower, _KINDS.get(assume_a, assume_a) or "general", False
    )


@linalg.composite("solve_triangular")
@over_stacks(a=2, b=-1)
def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False):
    trans = {"N": 0, "T": 1, "C": 2}.get(trans, trans)
    dtype = np.result_type(a.dtype, b.dtype)
    a, right = (conj(a) if trans == 2 else a).astype(dtype), column(b).astype(dtype)
    return like_vector(triangular(a, right, bool(lower), trans != 0, bool(unit_diagonal)), b)


@constant("p")
def _order(p: Any) -> Any:
    """The permutation of rows that a sequence of swaps amounts to."""
    order = np.arange(len(p))
    for i, k in enumerate(p):
        order[i], order[k] = order[k], order[i]
    return order


@linalg.composite("lu_solve")
def lu_solve(lu_and_piv, b, trans=0):
    @over_stacks(lu=2, b=-1)
    def solve_one(lu, b, piv):
        dtype = np.result_type(lu.dtype, b.dtype)
        order = _order(piv)
        f, right = (conj(lu) if trans == 2 else lu).astype(dtype), column(b).astype(dtype)
        if trans == 0:
            return like_vector(triangular(f, triangular(f, right[order], True, False, True), False), b)
        x = triangular(f, triangular(f, right, False, True), True, True, True)
        return like_vector(x[np.argsort(order)], b)

    lu, piv = matrix(lu_and_piv[0]), lu_and_piv[1]
    if lu.ndim > 2:
        return _each(lambda k: lu_solve((lu[k], piv[k]), b if b.ndim < 3 else b[k], trans), len(lu))
    return solve_one(lu=lu, b=b, piv=piv)


def _each(f: Any, count: int) -> Any:
    return np.stack([f(k) for k in range(count)])


@linalg.composite("cho_solve")
def cho_solve(c_and_lower, b):
    c, lower = c_and_lower
    return solve_with_cholesky(c=c, b=b, lower=bool(lower))


@over_stacks(c=2, b=-1)
def solve_with_cholesky(c, b, lower):
    """The solution for c c.H (lower) or c.H c."""
    dtype = np.result_type(c.dtype, b.dtype)
    c, right = c.astype(dtype), column(b).astype(dtype)
    return like_vector(cho_solved(c if lower else mH(c), right), b)


# ---- least squares, pseudo-inverses --------------------------------------------------------------------------------------


@linalg.composite("lstsq")
@over_stacks(a=2, b=-1)
def lstsq(a, b, cond=None, lapack_driver=None):
    eps = np.finfo(np.result_type(a.dtype, b.dtype)).eps
    x, residues, rank, s = np.linalg.lstsq(a, b, rcond=eps if cond is None else cond)
    if not residues.size:
        residues = np.zeros(0, residues.dtype)
    elif b.ndim == 1:
        residues = residues[0]
    return x, residues, rank, None if lapack_driver == "gelsy" else s


@linalg.composite("pinv")
@over_stacks(a=2)
def pinv(a, atol=None, rtol=None, return_rank=False):
    return _pinv(a, atol, rtol, return_rank, hermitian=False)


@linalg.composite("pinvh")
@over_stacks(a=2)
def pinvh(a, atol=None, rtol=None, lower=True, return_rank=False):
    return _pinv(from_triangle(a, lower), atol, rtol, return_rank, hermitian=True)


@constant("a")
def _largest(a: Any) -> Any:
    return np.linalg.norm(a, 2) if a.size else np.zeros((), a.real.dtype)


@constant("a")
def _rank(a: Any, rtol: float) -> Any:
    s = np.linalg.svd(a, compute_uv=False)
    return np.sum(s > rtol * np.max(s, initial=0))


def _pinv(a: Any, atol: Any, rtol: Any, return_rank: bool, hermitian: bool) -> Any:
    if (atol or 0) < 0 or (rtol or 0) < 0:
        raise ValueError("atol and rtol values must be positive.")
    rtol = max(a.shape) * np.finfo(a.dtype).eps if rtol is None else rtol
    if atol:
        rtol += atol / float(plain(_largest(a)))
    out = np.linalg.pinv(a, rcond=rtol, hermitian=hermitian)
    return (out, _rank(a, rtol)) if return_rank else out
