"""Factors: Cholesky, QR, eigenvalues, singular values. On stacks of matrices, real and complex.

Conventions
- *Triangles.* `cholesky`, `eigh` and `eigvalsh` read one triangle and take the matrix as Hermitian. Here they are
  functions of the whole matrix, by its Hermitian part: tangents are symmetrised, and so are gradients. So it
  is for svd(hermitian=True).
- *Gaps.* Vectors that belong to equal values are not determined, and turn infinitely fast when the values split. What
  doesn't need the gap is exact: the values themselves (for one choice of vectors), vectors of other values.
  What needs it is NaN. A gap below the rounding errors of the values counts as closed. A cotangent doesn't
  need a vector if it is zero there by structure (v[:, -1] doesn't need the others); a zero that just came out
  won't do, as it may be the limit of something that isn't.
- *Gauges.* Complex vectors are determined up to a phase, the last columns of a full u, v or q up to a rotation.
  Tangents hold the phase (v.H dv has a real diagonal) and don't rotate. A cotangent that depends on it has no
  derivative: NaN. Eigenvectors of a general matrix keep the length 1.

The pulls below work with conjugated cotangents, which pair as Re(sum(conj(ct) t)), as the literature has
them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core.arrays.arguments import as_operand
from funcgrad.core.engine.declare import composite, custom
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.rules.cholesky import pulled_by_blocks, solver
from funcgrad.rules.gauges import (
    diagonal,
    inverse,
    inverse_gaps,
    inverse_sums,
    largest,
    live_columns,
    nan_if_rotation_counts,
    nan_where_phase_counts,
    off_diagonal,
    on_diagonal,
    rounding,
)
from funcgrad.rules.linalg import inverse_or_nan
from funcgrad.rules.matrices import conj, in_live_matrices, mH, mT, symmetrised, whole_matrix

# ---- Cholesky --------------------------------------------------------------------------------------------------------


def _lower_half(x: Any) -> Any:
    """The lower triangle with half the diagonal."""
    return np.tril(x) - 0.5 * on_diagonal(diagonal(x))


def _cholesky_pull(ct, out, upper=False):
    """Murray, arXiv:1602.07527."""
    factor, ct = (mH(out), mT(ct)) if upper else (out, conj(ct))
    is_large = type(factor) is type(ct) is np.ndarray and factor.ndim == 2 and len(factor) >= _LARGE
    if is_large and factor.dtype == ct.dtype and solver(factor.dtype.char):
        return pulled_by_blocks(factor, ct)
    inverse = np.linalg.inv(factor)
    return conj(symmetrised(mH(inverse) @ _lower_half(mH(factor) @ ct) @ inverse))


_LARGE = 48  # rows: below, the calls take longer than the arithmetic


def _cholesky_push(t, out, upper=False):
    factor = mH(out) if upper else out
    inverse = np.linalg.inv(factor)
    moved = factor @ _lower_half(inverse @ symmetrised(t) @ mH(inverse))
    return mH(moved) if upper else moved


custom(np.linalg.cholesky, _cholesky_pull, push=_cholesky_push, reach=whole_matrix, batch="leading")


# ---- QR --------------------------------------------------------------------------------------------------------------


def _qr(a: Any, mode: str = "reduced") -> Any:
    if mode not in ("reduced", "complete", "r"):
        raise UnsupportedFunctionError(
            f"np.linalg.qr(mode={mode!r}) has no derivative. Use mode='reduced', 'complete' or 'r'."
        )
    a = as_operand(a)
    out = qr_factors(a, "complete" if mode == "complete" and a.shape[-2] > a.shape[-1] else "reduced")
    return out[1] if mode == "r" else out


def _qr_factors(a: Any, mode: Any) -> Any:
    return np.linalg.qr(a) if mode == "reduced" else np.linalg.qr(a, mode)  # that of Dask has no mode=


def _inverse_of_triangle(r: Any) -> Any:
    """The inverse of r; NaN if the columns of the matrix depend on each other, since q is not smooth there.

    What is left of a column without its part along the others has to be small beside this column too: the
    columns may have different scales.
    """
    n, size = r.shape[-1], abs(diagonal(r))
    lengths = abs(r).max(axis=-2, initial=0)
    is_small = (size <= rounding(size, n)) & (size <= n * np.finfo(r.dtype).eps * lengths)
    dependent = is_small.any(axis=-1)[..., None, None]
    return np.where(dependent, np.nan, inverse_or_nan(r))


def _turn(x: Any) -> Any:
    """The anti-Hermitian matrix with the strict lower triangle of x and what is imaginary on its diagonal."""
    lower = np.tril(x, -1)
    return _with_phases(lower - mH(lower), x)


def _turn_back(ct: Any) -> Any:
    """The transpose of `_turn`."""
    return _with_phases(np.tril(ct - mH(ct), -1), ct)


def _with_phases(turn: Any, x: Any) -> Any:
    return turn + 1j * on_diagonal(diagonal(x).imag) if x.dtype.kind == "c" else turn


def _qr_push(t, a, out, mode):
    """With x = q.H da inv(r): dq = q turn(x) + (what leaves the columns of q), dr = (x - turn(x)) r."""
    q, r = out
    k = min(a.shape[-2:])
    q1, r1 = q[..., :k], r[..., :k, :k]
    moved = t[..., :k] @ _inverse_of_triangle(r1)
    x = mH(q1) @ moved
    turn = _turn(x)
    dq, dr = q1 @ (turn - x) + moved, (x - turn) @ r1
    if a.shape[-1] > k:
        dr = np.concatenate([dr, mH(dq) @ (q @ r[..., k:]) + mH(q) @ t[..., k:]], axis=-1)
    if q.shape[-1] > k:
        dq = np.concatenate([dq, -(q1 @ (mH(dq) @ q[..., k:]))], axis=-1)
        dr = np.concatenate([dr, np.zeros_like(r[..., k:, :])], axis=-2)
    return dq, dr


def _qr_pull(ct, a, out, live, mode):
    """The transpose of `_qr_push`."""
    q, r = out
    k = min(a.shape[-2:])
    q1, r1 = q[..., :k], r[..., :k, :k]
    ct_q, ct_r = (np.zeros_like(x) if c is None else conj(c) for c, x in zip(ct, out, strict=True))
    ct_q1, ct_right = ct_q[..., :k], ct_r[..., :k, k:]
    if a.shape[-1] > k:
        ct_q1 = ct_q1 + q @ (r[..., k:] @ mH(ct_right))
    inner, straight = mH(q1) @ ct_q1, np.triu(ct_r[..., :k, :k]) @ mH(r1)
    outside = ct_q1 - q1 @ inner
    if q.shape[-1] > k:
        rest, ct_rest = q[..., k:], ct_q[..., k:]
        outside = nan_if_rotation_counts(outside - rest @ (mH(ct_rest) @ q1), rest, ct_rest)
    first = (q1 @ (straight + _turn_back(inner - straight)) + outside) @ mH(_inverse_of_triangle(r1))
    whole = np.concatenate([first, q @ ct_right], axis=-1) if a.shape[-1] > k else first
    return in_live_matrices(conj(whole), ct, live)


qr_factors = custom(_qr_factors, _qr_pull, push=_qr_push, batch="leading", name="linalg.qr")
composite(np.linalg.qr, _qr)


# ---- eigenvalues of Hermitian matrices -------------------------------------------------------------------------------


def _eigh_push(t, out):
    w, v = out
    moved = mH(v) @ symmetrised(t) @ v
    return diagonal(moved).real, v @ (inverse_gaps(w, w.shape[-1]) * moved)


def _eigh_pull(ct, out, live):
    w, v = out
    ct_w, ct_v = ct
    total = 0 if ct_w is None else _values_pull(v, v, ct_w, live[0])
    if ct_v is not None:
        ct_v = conj(ct_v)
        along = mH(v) @ ct_v
        turned = along * inverse_gaps(w, w.shape[-1], live_columns(live[1]))
        if v.dtype.kind == "c":
            turned = nan_where_phase_counts(turned, diagonal(along).imag, _column_sizes(v, ct_v))
        total = total + v @ turned @ mH(v)
    return conj(symmetrised(total))


def _values_pull(u: Any, v: Any, ct: Any, live: Any) -> Any:
    """What the cotangent of eigenvalues, or singular values, contributes; without unneeded vectors."""
    if live is not None:
        u, v = (np.where(live[..., None, :], x, 0) for x in (u, v))
    return (u * ct[..., None, :]) @ mH(v)


def _column_sizes(v: Any, ct: Any) -> Any:
    return (abs(v) * abs(ct)).sum(axis=-2)


def _eigvalsh(a: Any, UPLO: Any = "L") -> Any:
    return np.linalg.eigh(a, UPLO)[0]


custom(np.linalg.eigh, _eigh_pull, push=_eigh_push, batch="leading")
composite(np.linalg.eigvalsh, _eigvalsh)


# ---- eigenvalues of general matrices ---------------------------------------------------------------------------------


def _inverse_of_vectors(v: Any) -> Any:
    """inv(v), with NaN in the rows of values that have no derivative (the matrix is not diagonalisable)."""
    rows = inverse_or_nan(v)
    defective = largest(abs(rows), -1, keepdims=True) * v.shape[-1] * np.finfo(v.dtype).eps > 0.01
    return np.where(defective, np.nan, rows)


def _eig_push(t, out):
    w, v = out
    moved = _inverse_of_vectors(v) @ t @ v
    dv = v @ (inverse_gaps(w, w.shape[-1]) * moved)
    return diagonal(moved), dv - v * (conj(v) * dv).sum(axis=-2, keepdims=True)


def _eig_pull(ct, out, live):
    w, v = out
    ct_w, ct_v = ct
    inner = 0 if ct_w is None else on_diagonal(conj(ct_w))
    if ct_v is not None:
        ct_v = conj(ct_v)
        along = mH(v) @ ct_v
        sideways = along - (mH(v) @ v) * diagonal(along)[..., None, :]
        turned = sideways * conj(inverse_gaps(w, w.shape[-1], live_columns(live[1])))
        if v.dtype.kind == "c":
            turned = nan_where_phase_counts(turned, diagonal(along).imag, _column_sizes(v, ct_v))
        inner = inner + turned
    return in_live_matrices(conj(mH(_inverse_of_vectors(v)) @ inner @ mH(v)), ct, live)


custom(np.linalg.eig, _eig_pull, push=_eig_push, batch="leading")
composite(np.linalg.eigvals, lambda a: np.linalg.eig(a)[0])


# ---- singular values -------------------------------------------------------------------------------------------------
SVDResult: Any = type(np.linalg.svd(np.eye(1)))


def _svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    a = as_operand(a)
    if hermitian:
        return _svd_by_eigh(a) if compute_uv else np.sort(abs(np.linalg.eigvalsh(a)))[..., ::-1]
    if not compute_uv:
        return singular_factors(a, full=False)[1]
    return singular_factors(a, full=full_matrices and a.shape[-1] != a.shape[-2])


def _svd_by_eigh(a: Any) -> Any:
    """A Hermitian matrix's singular values and vectors from its eigenvalues; opposite ones have a gap."""
    w, v = np.linalg.eigh(a)
    permutation = np.argsort(abs(w))[..., ::-1]
    w, v = np.take_along_axis(w, permutation, -1), np.take_along_axis(v, permutation[..., None, :], -1)
    return SVDResult(v, abs(w), mH(v * np.sign(w)[..., None, :]))


def _singular_factors(a: Any, *, full: bool) -> Any:
    return np.linalg.svd(a, full_matrices=full)


def _split(out: Any) -> tuple[Any, Any, Any, Any, Any]:
    """u, s and v with as many columns as there are singular values, and the other columns of a full u or v."""
    u, s, vh = out
    k, v = s.shape[-1], mH(vh)
    return u[..., :k], s, v[..., :k], u[..., k:], v[..., k:]


def _inverse_values(s: Any, n: int, live: Any = None) -> Any:
    """1 / s along the columns, NaN where s is 0."""
    return inverse(s[..., None, :], (s <= rounding(s, n))[..., None, :], live)


def _svd_push(t, a, out, full):
    """With x = u.H da v, its Hermitian part h and the rest x - h:

    u.H du + v.H dv = 2 h[i, j] / (s[j] - s[i]),   u.H du - v.H dv = 2 (x - h)[i, j] / (s[j] + s[i]),   ds = diag(h).
    """
    u, s, v, rest_u, rest_v = _split(out)
    n, moved_u, moved_v = max(a.shape[-2:]), t @ v, mH(t) @ u
    x = mH(u) @ moved_u
    h = symmetrised(x)
    even, odd = h * inverse_gaps(s, n), (x - h) * _sums_off(inverse_sums(s, n), x)
    du = _vectors_push(u, even + odd, moved_u - u @ x, _inverse_values(s, n), rest_u)
    dv = _vectors_push(v, even - odd, moved_v - v @ mH(x), _inverse_values(s, n), rest_v)
    return du, diagonal(h).real, mH(dv)


def _sums_off(inverse: Any, x: Any) -> Any:
    """Only phases need the diagonal."""
    return inverse if x.dtype.kind == "c" else off_diagonal(inverse)


def _vectors_push(u: Any, turn: Any, outside: Any, inverse_s: Any, rest: Any) -> Any:
    du = u @ turn
    if u.shape[-2] > u.shape[-1]:
        du = du + outside * inverse_s
    return np.concatenate([du, -(u @ (mH(du) @ rest))], axis=-1) if rest.shape[-1] else du


def _svd_pull(ct, a, out, live, full):
    """The transpose of `_svd_push`."""
    u, s, v, rest_u, rest_v = _split(out)
    n, inner, phases = max(a.shape[-2:]), 0, []
    total = 0 if ct[1] is None else _values_pull(u, v, ct[1], live[1])
    if ct[0] is not None:
        even, odd, outside, phase = _vectors_pull(u, rest_u, conj(ct[0]), live[0], s, n)
        inner, total = inner + even + odd, total + outside @ mH(v)
        phases.append(phase)
    if ct[2] is not None:
        live_v = None if live[2] is None else mT(live[2])
        even, odd, outside, phase = _vectors_pull(v, rest_v, mT(ct[2]), live_v, s, n)
        inner, total = inner + even - odd, total + u @ mH(outside)
        phases.append(phase)
    if phases and u.dtype.kind == "c":
        along, size = (sum(parts[1:], parts[0]) for parts in zip(*phases))
        inner = nan_where_phase_counts(inner, along, size)
    return conj(total + u @ inner @ mH(v) if phases else total)


def _vectors_pull(u: Any, rest: Any, ct: Any, live: Any, s: Any, n: int) -> Any:
    """What the cotangent of u (or v) gives to h, and to x - h outside u's columns; its part along phases."""
    k, columns = s.shape[-1], live_columns(live)
    first, live_first = ct[..., :k], None if columns is None else columns[..., :k]
    along = mH(u) @ first
    even = symmetrised(along * inverse_gaps(s, n, live_first))
    odd = along * _sums_off(inverse_sums(s, n, live_first), along)
    phase = diagonal(along).imag, _column_sizes(u, first)
    if u.shape[-2] == k:
        return even, 0.5 * (odd - mH(odd)), np.zeros_like(u), phase
    outside = first - u @ along
    if rest.shape[-1]:
        ct_rest = ct[..., k:]
        outside = nan_if_rotation_counts(outside - rest @ (mH(ct_rest) @ u), rest, ct_rest)
        live_first = None if columns is None else live_first | columns[..., k:].any(axis=-1, keepdims=True)
    return even, 0.5 * (odd - mH(odd)), outside * _inverse_values(s, n, live_first), phase


singular_factors = custom(_singular_factors, _svd_pull, push=_svd_push, batch="leading", name="linalg.svd")
composite(np.linalg.svd, _svd)
composite(np.linalg.svdvals, lambda x, /: np.linalg.svd(x, compute_uv=False))
