"""Factorisations: LU, Cholesky, LDL, QR and its updates, the polar decomposition, Schur."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sl

from funcgrad.rules.cholesky import pulled_by_blocks
from funcgrad.rules.decompositions import qr_factors
from funcgrad.rules.matrices import conj, mH, mT, symmetrised
from funcgrad.scipy.declare import Chapter, constant, step
from funcgrad.scipy.linalg.stacks import matrix, over_stacks
from funcgrad.scipy.linalg.systems import _completed, triangular
from funcgrad.scipy.linalg.triangles import is_lower
from funcgrad.transforms.derivatives import jvp, vjp

linalg = Chapter("linalg")

# ---- LU ------------------------------------------------------------------------------------------------------------------
# With M = inv(L) da inv(U): dL = L tril(M, -1), dU = triu(M) U.


@constant("a")
def _lu_known(a: Any) -> Any:
    """The packed factors, the swaps, and the order of rows that these amount to."""
    m = a.shape[0]
    lu, swaps = sl.lu_factor(a, check_finite=False)
    order = np.arange(m)
    for i, k in enumerate(swaps):
        order[i], order[k] = order[k], order[i]
    return lu, swaps, order


def _packed_pull(ct, out):
    back = np.tril(mT(np.tril(out, -1) + np.eye(out.shape[-1], dtype=out.dtype)) @ np.tril(ct, -1), -1)
    back = back + np.triu(np.triu(ct) @ mT(np.triu(out)))
    return mT(triangular(out, mT(triangular(out, back, True, True, True)), False, False))


def _packed_push(t, out):
    if t["a"] is None:
        return None
    inner = mT(triangular(out, mT(triangular(out, t["a"], True, False, True)), False, True))
    unit = np.tril(out, -1) + np.eye(out.shape[-1], dtype=out.dtype)
    return np.tril(unit @ np.tril(inner, -1), -1) + np.triu(np.triu(inner) @ np.triu(out))


@step("known a", {"a": _packed_pull}, push=_packed_push)
def _packed(known, a):
    """The packed factors of a square matrix that needs no swaps, which are known."""
    return np.array(known)


def _lu_packed(a: Any) -> Any:
    known, swaps, order = _lu_known(a)
    m, n = a.shape
    k = min(m, n)
    rows = a[order]
    out = _packed(known[:k, :k], rows[:k, :k])
    if m > n:
        out = np.concatenate([out, mT(triangular(out, mT(rows[k:]), False, True))])
    elif n > m:
        out = np.concatenate([out, triangular(out, rows[:, k:], True, False, True)], axis=1)
    return out, swaps, order


@linalg.composite("lu_factor")
@over_stacks(a=2)
def lu_factor(a):
    if a.size and a.shape[0] != a.shape[1] and a.ndim < 2:
        raise ValueError("expected matrix")
    lu, swaps, _ = _lu_packed(a)
    return lu, swaps


@linalg.composite("lu")
@over_stacks(a=2)
def lu(a, permute_l=False, p_indices=False):
    packed, _, order = _lu_packed(a)
    m, n = a.shape
    k = min(m, n)
    lower = np.tril(packed[:, :k], -1) + np.eye(m, k, dtype=a.dtype)
    upper = np.triu(packed[:k])
    back = np.argsort(order)
    if permute_l:
        return lower[back], upper
    places = back.astype(np.int32) if p_indices else (back[:, None] == np.arange(m)).astype(a.real.dtype)
    return places, lower, upper


# ---- Cholesky ------------------------------------------------------------------------------------------------------------


def _half(x: Any) -> Any:
    """The lower triangle with half the diagonal."""
    return np.tril(x) * (1 - 0.5 * np.eye(x.shape[-1], dtype=x.real.dtype))


def _between(factor: Any, x: Any) -> Any:
    """inv(factor).H x inv(factor), for a lower factor."""
    f = conj(factor)
    right = mT(triangular(factor, mT(x), True, True))
    return triangular(f, right, True, True)


def _pull_formula(factor, ct):
    """Murray, "Differentiation of the Cholesky decomposition", arXiv:1602.07527; for lower factors."""
    factor = np.tril(factor)
    return conj(symmetrised(_between(factor, _half(mH(factor) @ np.tril(conj(ct))))))


def _pull_of_pull(ct, factor, wanted):
    _, pull = vjp(_pull_formula, factor, wanted)
    return pull(ct)


def _push_of_pull(t, factor, wanted):
    ts = tuple(
        np.zeros_like(x) if t[name] is None else t[name]
        for name, x in (("factor", factor), ("wanted", wanted))
    )
    return jvp(_pull_formula, (factor, wanted), ts)[1]


@step(
    "factor wanted",
    {
        "factor": lambda ct, factor, wanted: _pull_of_pull(ct, factor, wanted)[0],
        "wanted": lambda ct, factor, wanted: _pull_of_pull(ct, factor, wanted)[1],
    },
    push=_push_of_pull,
)
def _pulled(factor, wanted):
    """`_pull_formula`, by blocks where they are real."""
    if factor.dtype.kind == "c":
        return _pull_formula(factor, wanted)
    return pulled_by_blocks(factor, wanted.astype(factor.dtype, copy=False))


def _cholesky_pull(ct, out, lower=True):
    return _pulled(out, ct) if lower else _pulled(mH(out), mH(ct))


def _cholesky_push(t, out, lower=True):
    factor = out if lower else mH(out)
    inner = triangular(factor, mH(triangular(factor, symmetrised(t), True)), True)
    moved = factor @ _half(mH(inner))
    return moved if lower else mH(moved)


@step("a", _cholesky_pull, push=_cholesky_push)
def cholesky_factor(a, lower=True):
    """The Cholesky factor of the Hermitian matrix of which one triangle is read."""
    return sl.cholesky(a, lower=lower, check_finite=False)


@linalg.composite("cholesky")
@over_stacks(a=2)
def cholesky(a, lower=False):
    return cholesky_factor(a, bool(lower))


def _packed_cholesky_pull(ct, out, lower=True):
    factor, wanted = (out, ct) if lower else (mH(out), mH(ct))
    back = _pulled(factor, wanted)
    if is_lower(wanted):
        return back
    return back + (np.triu(ct, 1) if lower else np.tril(ct, -1))


def _packed_cholesky_push(t, out, lower=True):
    factor = np.tril(out) if lower else np.triu(out)
    return _cholesky_push(t, factor, lower) + (np.triu(t, 1) if lower else np.tril(t, -1))


@step("a", _packed_cholesky_pull, push=_packed_cholesky_push)
def _packed_cholesky(a, lower=True):
    """The factor, and in the other triangle what was there, as SciPy leaves it."""
    return sl.cho_factor(a, lower=lower, check_finite=False)[0]


@linalg.composite("cho_factor")
def cho_factor(a, lower=False):
    return over_stacks(a=2)(lambda a, lower: _packed_cholesky(a, lower))(a=a, lower=bool(lower)), lower


@linalg.composite("ldl")
@over_stacks(A=2)
def ldl(A, lower=True, hermitian=True):
    order, sizes = _ldl_order(A, lower, hermitian)
    by_blocks = _ldl_by_lu if max(sizes, default=1) == 1 else _ldl_by_blocks
    if not lower:
        flip = np.arange(len(order))[::-1]
        full = _completed(A, lower, hermitian)[order][:, order][flip][:, flip]
        factor, d = by_blocks(full, sizes[::-1], hermitian)
        return factor[flip][:, flip][np.argsort(order)], d[flip][:, flip], order
    factor, d = by_blocks(_completed(A, lower, hermitian)[order][:, order], sizes, hermitian)
    return factor[np.argsort(order)], d, order


@constant("a")
def _ldl_order(a: Any, lower: bool, hermitian: bool) -> Any:
    """How the rows are swapped, and the sizes of the blocks on the diagonal, 1 or 2."""
    _, d, order = sl.ldl(a, lower=lower, hermitian=hermitian)
    sizes, k = [], 0
    while k < len(order):
        sizes.append(2 if k + 1 < len(order) and d[k + 1, k] != 0 else 1)
        k += sizes[-1]
    return order, sizes


def _ldl_by_blocks(a: Any, sizes: list[int], hermitian: bool) -> Any:
    """L D L.H of a matrix that needs no swaps, by elimination of one block after the other."""
    n, rest, k = a.shape[-1], a, 0
    transposed = mH if hermitian else np.transpose
    columns, blocks = [], []
    for size in sizes:
        block, below = rest[:size, :size], rest[size:, :size]
        part = np.linalg.solve(block.T, below.T).T
        columns.append(np.concatenate([np.zeros((k, size)), np.eye(size), part]).astype(a.dtype))
        ends = [(k, n - k - size)] * 2
        blocks.append(np.pad(block, ends))
        rest, k = rest[size:, size:] - part @ block @ transposed(part), k + size
    return np.concatenate(columns, axis=1), sum(blocks)


def _ldl_by_lu(a: Any, sizes: list[int], hermitian: bool) -> Any:
    """L D L.H of a matrix that needs no swaps: its LU without pivoting."""
    packed = _packed(_without_swaps(a), a)
    n = a.shape[-1]
    return np.tril(packed, -1) + np.eye(n, dtype=a.dtype), np.eye(n, dtype=a.dtype) * np.diagonal(packed)


@constant("a")
def _without_swaps(a: Any) -> Any:
    lu = np.array(a)
    for k in range(len(lu) - 1):
        lu[k + 1 :, k] /= lu[k, k]
        lu[k + 1 :, k + 1 :] -= np.outer(lu[k + 1 :, k], lu[k, k + 1 :])
    return lu


# ---- QR ------------------------------------------------------------------------------------------------------------------


@constant("a")
def _pivots(a: Any) -> Any:
    return sl.qr(a, mode="r", pivoting=True, check_finite=False)[-1].astype(np.int32)


@linalg.composite("qr")
@over_stacks(a=2)
def qr(a, mode="full", pivoting=False):
    if mode not in ("full", "qr", "r", "economic", "raw"):
        raise ValueError("Mode argument should be one of ['full', 'r', 'economic', 'raw']")
    if mode == "raw":
        raise NotImplementedError(
            "scipy.linalg.qr(mode='raw') has no derivative rule: write mode='full', 'economic' or 'r'"
        )
    order = _pivots(a) if pivoting else None
    columns = a if order is None else a[:, order]
    complete = mode != "economic" and a.shape[0] > a.shape[1]
    q, r = qr_factors(columns, "complete" if complete else "reduced")
    outs = (r,) if mode == "r" else (q, r)
    return outs if order is None else (*outs, order)


@linalg.composite("rq")
@over_stacks(a=2)
def rq(a, mode="full"):
    """By the QR decomposition of the matrix with its rows in the opposite order, conjugated."""
    m, n = a.shape
    q0, r0 = qr_factors(mH(a[::-1]), "complete" if n > m and mode != "economic" else "reduced")
    if mode == "full" and m > n:
        raise NotImplementedError(
            "scipy.linalg.rq of a matrix with more rows than columns has no derivative rule"
        )
    r, q = mH(r0)[::-1, ::-1], mH(q0)[::-1]
    sign = _row_signs(q, _known_rq(a, mode))
    r, q = r * conj(sign), sign[:, None] * q
    return r if mode == "r" else (r, q)


@constant("a")
def _known_rq(a: Any, mode: str) -> Any:
    return sl.rq(a, mode="economic" if mode == "economic" else "full", check_finite=False)[1]


@constant("q known")
def _row_signs(q: Any, known: Any) -> Any:
    along = (known * q.conj()).sum(axis=1)
    return (along / np.where(along == 0, 1, abs(along))).astype(q.dtype)


@linalg.composite("qr_multiply")
def qr_multiply(a, c, mode="right", pivoting=False, conjugate=False):
    a, c = matrix(a), matrix(c)
    out = qr(a=a, mode="economic", pivoting=pivoting)
    q = conj(out[0]) if conjugate else out[0]
    if c.ndim == 1:
        product = c @ q if mode == "right" else q @ c
    elif mode == "right":
        product = c @ q if c.shape[1] == a.shape[0] else c @ _full_q(a, pivoting, conjugate)
    else:
        product = q @ c
    return (product, *out[1:])


def _full_q(a: Any, pivoting: bool, conjugate: bool) -> Any:
    q = qr(a=a, mode="full", pivoting=pivoting)[0]
    return conj(q) if conjugate else q


@constant("known r")
def _signs(known: Any, r: Any) -> Any:
    """Which rows of r SciPy has with another sign."""
    k = min(r.shape)
    ours, theirs = np.diagonal(r)[:k], np.diagonal(known)[:k]
    turn = theirs * ours.conj()
    sign = np.where(abs(turn) > 0, turn / np.where(turn == 0, 1, abs(turn)), 1)
    return np.concatenate([sign, np.ones(r.shape[0] - k, sign.dtype)]).astype(r.dtype)


@constant("q r u v")
def _updated(q: Any, r: Any, u: Any = None, v: Any = None, how: str = "", rest: Any = ()) -> Any:
    return getattr(sl, how)(q, r, *(x for x in (u, v) if x is not None), *rest)[1]


def _again(a: Any, known: Any, shape: tuple[int, int]) -> Any:
    """The QR decomposition of `a` with the signs of SciPy's."""
    q, r = qr_factors(a, "complete" if shape[0] == shape[1] and a.shape[0] > a.shape[1] else "reduced")
    sign = _signs(known, r)
    return q * sign, conj(sign)[:, None] * r


@linalg.composite("qr_update")
def qr_update(Q, R, u, v):
    q, r, u, v = map(matrix, (Q, R, u, v))
    added = (u[:, None] @ conj(v)[None]) if u.ndim == 1 else u @ mH(v)
    return _again(q @ r + added, _updated(q, r, u, v, "qr_update"), q.shape)


@linalg.composite("qr_insert")
def qr_insert(Q, R, u, k, which="row"):
    q, r, u = map(matrix, (Q, R, u))
    a, axis = q @ r, 0 if which == "row" else 1
    block = u[None] if u.ndim == 1 and axis == 0 else u[:, None] if u.ndim == 1 else u
    parts = [a[:k], block, a[k:]] if axis == 0 else [a[:, :k], block, a[:, k:]]
    whole = np.concatenate(parts, axis=axis)
    return _again(
        whole,
        _updated(q, r, u, None, "qr_insert", (k, which)),
        (len(whole),) * 2 if q.shape[0] == q.shape[1] else q.shape,
    )


@linalg.composite("qr_delete")
def qr_delete(Q, R, k, p=1, which="row"):
    q, r = map(matrix, (Q, R))
    whole = np.delete(q @ r, slice(k, k + p), axis=0 if which == "row" else 1)
    return _again(
        whole,
        _updated(q, r, None, None, "qr_delete", (k, p, which)),
        (len(whole),) * 2 if q.shape[0] == q.shape[1] else q.shape,
    )


# ---- polar ---------------------------------------------------------------------------------------------------------------


@linalg.composite("polar")
@over_stacks(a=2)
def polar(a, side="right"):
    """By singular values: u = w vh does not depend on their gaps, so it is differentiated as a whole."""
    if side not in ("right", "left"):
        raise ValueError("`side` must be either 'right' or 'left'")
    u = unitary_factor(a)
    p = mH(u) @ a if side == "right" else a @ mH(u)
    return u, symmetrised(p)


def _sums(s: Any) -> Any:
    return 1 / (s[:, None] + s)


def _polar_push(t, a):
    """With x = w.H da v: w.H du v = (x - x.H) / (s_i + s_j), and what leaves the columns of w divided by s."""
    if a.shape[0] < a.shape[1]:
        return mH(_polar_push(mH(t), mH(a)))
    w, s, vh = np.linalg.svd(a, full_matrices=False)
    moved = t @ mH(vh)
    x = mH(w) @ moved
    inner = (x - mH(x)) * _sums(s)
    return (w @ inner + (moved - w @ x) / s) @ vh


def _polar_pull(ct, a):
    return conj(_polar_push(conj(ct), a))  # the map is its own adjoint


@step("a", _polar_pull, push=_polar_push)
def unitary_factor(a):
    """The nearest matrix with orthonormal columns (or rows)."""
    w, _, vh = sl.svd(a, full_matrices=False, check_finite=False)
    return w @ vh


@linalg.composite("orthogonal_procrustes")
def orthogonal_procrustes(A, B):
    a, b = matrix(A), matrix(B)
    if a.ndim != 2:
        raise ValueError(f"expected ndim to be 2, but observed {a.ndim}")
    if a.shape != b.shape:
        raise ValueError(f"the shapes of A and B differ ({a.shape} vs {b.shape})")
    inner = mT(mT(b) @ conj(a))
    return unitary_factor(inner), np.linalg.svd(inner, compute_uv=False).sum()
