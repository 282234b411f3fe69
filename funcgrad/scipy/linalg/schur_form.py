"""The Schur form, its kin for pencils, and the decomposition into cosines and sines.

With m = z.H da z and z.H dz = w, which is skew: dt = m - w t + t w. What lies below the diagonal (blocks) of
dt is zero, which gives w there, one block column after the other: a small Sylvester equation each. A block of
2 rows has equal numbers on its diagonal, which gives its rotation. A complex form is determined up to phases:
forward mode holds them, a gradient that depends on one is NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sl

from funcgrad.core.engine.trace import concrete
from funcgrad.rules.gauges import counts
from funcgrad.rules.matrices import conj, mH
from funcgrad.scipy.declare import Chapter, constant, step
from funcgrad.scipy.linalg.eigenvalues import turned_like
from funcgrad.scipy.linalg.functions import sylvester
from funcgrad.scipy.linalg.stacks import matrix, over_stacks, squared
from funcgrad.transforms.linear import linear_transpose

linalg = Chapter("linalg")


def _blocks(t: Any) -> list[slice]:
    """The diagonal blocks of a (quasi-)triangular matrix."""
    below, n, blocks, at = np.diagonal(np.asarray(concrete(t)), -1), t.shape[-1], [], 0
    while at < n:
        size = 2 if at + 1 < n and below[at] != 0 else 1
        blocks.append(slice(at, at + size))
        at += size
    return blocks


def _turn(m: Any, t: Any) -> Any:
    """The skew w."""
    blocks, n = _blocks(t), t.shape[-1]
    columns: list[Any] = []
    for k, j in enumerate(blocks):
        rows: dict[int, Any] = {}
        for i in reversed(blocks[k + 1 :]):
            rhs = m[i, j]
            if columns:
                left = np.concatenate([c[i] for c in columns], axis=1)
                rhs = rhs - left @ t[: j.start, j]
            for b in blocks[k + 1 :]:
                if b.start > i.start:
                    rhs = rhs + t[i, b] @ rows[b.start]
            rows[i.start] = sylvester(t[i, i], -t[j, j], -rhs)
        zeros = np.zeros((j.stop, j.stop - j.start), t.dtype)
        columns.append(np.concatenate([zeros, *(rows[b.start] for b in blocks[k + 1 :])]))
    lower = np.concatenate(columns, axis=1)
    turn = lower - mH(lower)
    return turn + _rotations(m, t, turn, blocks, n)


def _rotations(m: Any, t: Any, turn: Any, blocks: list[slice], n: int) -> Any:
    """What turns within blocks of 2 rows, so that their diagonals stay equal."""
    total: Any = np.zeros((n, n), t.dtype)
    for b in blocks:
        if b.stop - b.start == 2:
            dt = (m - turn @ t + t @ turn)[b, b]
            angle = (dt[1, 1] - dt[0, 0]) / (2 * (t[b.start, b.start + 1] + t[b.start + 1, b.start]))
            quarter = np.zeros((n, n), t.dtype)
            quarter[b.start, b.start + 1], quarter[b.start + 1, b.start] = -1, 1
            total = total + angle * quarter
    return total


def _schur_push(t, out, output="real"):
    form, z = out
    m = mH(z) @ t @ z
    turn = _turn(m, form)
    keep = np.ones(form.shape, bool)
    for b in _blocks(form):
        keep[b.stop :, b] = False
    return np.where(keep, m - turn @ form + form @ turn, 0), z @ turn


def _schur_pull(ct, a, out, output="real"):
    cts = tuple(np.zeros_like(x) if c is None else c for c, x in zip(ct, out, strict=True))
    a = a.astype(out[0].dtype)
    (back,) = linear_transpose(lambda t: _schur_push(t, out, output), np.zeros(a.shape, a.dtype))(cts)
    if a.dtype.kind != "c":
        return back
    form, z = out
    on_form = (cts[0] * form).sum(axis=0) - (cts[0] * form).sum(axis=1)
    along = -(on_form + (cts[1] * z).sum(axis=0)).imag
    size = (abs(cts[0]) * abs(form)).sum() + (abs(cts[1]) * abs(z)).sum()
    return np.where(counts(along, size).any(), np.nan, back)


@step("a", _schur_pull, push=_schur_push)
def schur_form(a, output="real"):
    """t and z"""
    return tuple(sl.schur(a, output=output, check_finite=False))


@linalg.composite("schur")
@over_stacks(a=2)
def schur(a, output="real", sort=None):
    if sort is not None:
        raise NotImplementedError("scipy.linalg.schur(sort=...) has no derivative rule: leave sort away")
    if output not in ("real", "complex", "r", "c"):
        raise ValueError("argument must be 'real', or 'complex'")
    return schur_form(
        a.astype(np.result_type(a, np.complex64)) if output[0] == "c" and a.dtype.kind == "f" else a, output
    )


@linalg.composite("rsf2csf")
def rsf2csf(T, Z):
    t, z = matrix(T), matrix(Z)
    form, turn = schur_form(t.astype(np.result_type(t, np.complex64)), "complex")
    phase = turned_like(z @ turn, _known_csf(t, z))
    return conj(phase)[:, None] * form * phase, (z @ turn) * phase


@constant("t z")
def _known_csf(t: Any, z: Any) -> Any:
    return sl.rsf2csf(t, z)[1]


# ---- Hessenberg ----------------------------------------------------------------------------------------------------------


@linalg.composite("hessenberg")
@over_stacks(a=2)
def hessenberg(a, calc_q=False):
    h, q = _hessenberg(a)
    return (h, q) if calc_q else h


def _hessenberg(a: Any) -> Any:
    """Arnoldi's process from the first unit vector, with the signs of SciPy's."""
    known = _known_q(a)
    n = a.shape[-1]
    q, columns = [np.eye(n, dtype=a.dtype)[0]], []
    for k in range(n):
        v = a @ q[k]
        basis = np.stack(q)
        along = basis.conj() @ v
        v = v - along @ basis
        again = basis.conj() @ v  # once more, for the digits
        v, along = v - again @ basis, along + again
        if k + 1 < n:
            length = np.sqrt(squared(v).sum())
            phase = turned_like((v / length)[:, None], known[:, k + 1 : k + 2])[0]
            q.append(v / length * phase)
            column = [along, np.reshape(length * conj(phase), 1), np.zeros(n - k - 2, a.dtype)]
        else:
            column = [along]
        columns.append(np.concatenate(column))
    return np.stack(columns, axis=1), np.stack(q, axis=1)


@constant("a")
def _known_q(a: Any) -> Any:
    return sl.hessenberg(a, calc_q=True)[1]


# ---- cosines and sines ---------------------------------------------------------------------------------------------------


@constant("x")
def _known_cossin(x: Any, p: Any, q: Any) -> Any:
    (u1, _), _, (v1h, _) = sl.cossin(x, p=p, q=q, separate=True)
    return u1, v1h


@linalg.composite("cossin")
def cossin(X, p=None, q=None, separate=False, swap_sign=False, compute_u=True, compute_vh=True):
    if p is None and isinstance(X, (tuple, list)):
        raise NotImplementedError(
            "scipy.linalg.cossin of four blocks has no derivative rule: give the whole matrix, p and q"
        )
    x = matrix(X)
    m = x.shape[0]
    if p != q or m != 2 * p or swap_sign:
        raise NotImplementedError(
            f"scipy.linalg.cossin with p={p}, q={q} of {m} rows has a derivative rule only for p = q = m / 2, without swap_sign"
        )
    u1, c, v1h = np.linalg.svd(x[:p, :p], full_matrices=False)
    known_u, _ = _known_cossin(x, p, q)
    phase = turned_like(u1, known_u)
    u1, v1h = u1 * phase, conj(phase)[:, None] * v1h
    below = x[p:, :p] @ mH(v1h)
    s = np.sqrt(squared(below).sum(axis=0))
    u2, v2h = below / s, -(mH(u1) @ x[:p, p:]) / s[:, None]
    if separate:
        return (u1, u2), np.arctan2(s, c), (v1h, v2h)
    eye = np.eye(p, dtype=c.dtype)
    cs = np.concatenate([np.concatenate([eye * c, -eye * s], 1), np.concatenate([eye * s, eye * c], 1)])
    zero = np.zeros_like(u1)
    u = np.concatenate([np.concatenate([u1, zero], 1), np.concatenate([zero, u2], 1)])
    vh = np.concatenate([np.concatenate([v1h, zero], 1), np.concatenate([zero, v2h], 1)])
    return u if compute_u else np.zeros((m, 0)), cs, vh if compute_vh else np.zeros((m, 0))
