"""Determinants, exact at singular matrices too, to every order.

The derivative of det(a) is the matrix of its cofactors. For a regular matrix that is det(a) inv(a).T. At a
singular matrix this is 0/0, though the determinant is a polynomial. Up to 3 by 3 its cofactors are written
out. Beyond, the matrix is turned by its singular vectors u and vh, held constant, to

    u.H a vh.H = [[p, q], [r, s]]   with p regular and s small,

and the cofactors are put together from those of p and of the Schur complement z = s - r inv(p) q. All this is
smooth in a, so that its derivatives are those of the polynomial. `slogdet` has no derivative at a singular
matrix: NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.engine.declare import custom, piecewise_constant
from funcgrad.core.engine.trace import Tracer, concrete, is_foreign, memory_of
from funcgrad.rules.linalg import inverse_or_nan
from funcgrad.rules.matrices import in_live_matrices, mH, mT
from funcgrad.rules.slopes import some

# ---- what is held constant -------------------------------------------------------------------------------------------


def _flat_directions(a: Any) -> Any:
    """For each matrix, how many singular values are so small that dividing by them loses half the digits."""
    if not a.size or not np.isfinite(a).all() or _regular_inverse(a) is not None:
        return np.zeros(a.shape[:-2], int)[()]
    s = np.linalg.svdvals(a)
    return (s <= np.finfo(a.dtype).eps ** 0.5 * s[..., :1]).sum(axis=-1)


def _regular_inverse(a: Any) -> Any:
    """The inverse if no direction is flat, else None. (Singular values would cost ten times as much.)"""
    try:
        inverse = np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return None
    is_regular = (_largest_row(a) * _largest_row(inverse) < np.finfo(a.dtype).eps ** -0.5).all()
    return inverse if is_regular else None


def _largest_row(a: Any) -> Any:
    return abs(a).sum(axis=-1).max(axis=-1)


def _frame(a: Any) -> Any:
    """The singular vectors."""
    u, _, vh = np.linalg.svd(a)
    return u, vh


piecewise_constant(_flat_directions, _frame, batch="leading")

# ---- the adjugate ----------------------------------------------------------------------------------------------------


def adjugate(a: Any, det: Any) -> Any:
    """The transposed cofactors of each matrix, with determinant `det`: adjugate(a) @ a = det(a) 1."""
    n = a.shape[-1]
    if n <= 3:
        return _small_adjugate(a)
    inverse = None if isinstance(a, Tracer) else _regular_inverse(a)
    if inverse is not None:
        return det[..., None, None] * inverse
    flat = CATALOGUE[_flat_directions](a)
    numbers = sorted(set(np.ravel(concrete(flat)).tolist()))
    if len(numbers) <= 1:
        return _adjugate(a, det, sum(numbers))
    out = np.zeros((), a.dtype)
    for number in numbers:
        mine = (flat == number)[..., None, None]
        chosen = np.where(mine, a, np.eye(n, dtype=a.dtype))
        out = np.where(mine, _adjugate(chosen, np.linalg.det(chosen), number), out)
    return out


def _small_adjugate(a: Any) -> Any:
    n = a.shape[-1]
    if n < 2:
        return np.ones_like(a)
    if n == 2:
        return a[..., ::-1, ::-1].swapaxes(-1, -2) * np.array([[1, -1], [-1, 1]], a.dtype)
    rows = np.roll(a, -1, axis=-2), np.roll(a, -2, axis=-2)
    return mT(np.cross(*rows))


def _adjugate(a: Any, det: Any, flat: int) -> Any:
    """The adjugate of matrices that have (up to) so many flat directions."""
    if flat == a.shape[-1]:
        return _polynomial_adjugate(a)
    if not flat:
        return det[..., None, None] * np.linalg.inv(a)
    u, vh = CATALOGUE[_frame](a)
    turned = _block_adjugate(mH(u) @ a @ mH(vh), a.shape[-1] - flat)
    return (np.linalg.det(u) * np.linalg.det(vh))[..., None, None] * (mH(vh) @ turned @ mH(u))


def _block_adjugate(a: Any, k: int) -> Any:
    """The adjugate of a matrix whose first k by k block is regular."""
    p, q, r, s = a[..., :k, :k], a[..., :k, k:], a[..., k:, :k], a[..., k:, k:]
    inverse = np.linalg.inv(p)
    right, below = inverse @ q, r @ inverse
    z = s - r @ right
    det_z = np.linalg.det(z)
    adjoint = adjugate(z, det_z)
    first = det_z[..., None, None] * inverse + right @ adjoint @ below
    top = np.concatenate([first, -(right @ adjoint)], axis=-1)
    bottom = np.concatenate([-(adjoint @ below), adjoint], axis=-1)
    return np.linalg.det(p)[..., None, None] * np.concatenate([top, bottom], axis=-2)


def _polynomial_adjugate(a: Any) -> Any:
    """The adjugate without a division by an element (Faddeev and LeVerrier): for matrices near zero."""
    n = a.shape[-1]
    one = np.eye(n, dtype=a.dtype)
    out = np.broadcast_to(one, a.shape)
    for k in range(1, n):
        product = a @ out
        out = product - np.trace(product, axis1=-2, axis2=-1)[..., None, None] * (one / k)
    return out if n % 2 else -out


# ---- huge and tiny elements ------------------------------------------------------------------------------------------


def _extreme_size(a: Any, det: Any) -> Any:
    """A power of 2 of about the size of each matrix's elements, if its n-th power may over- or underflow.

    Else None. Divided by it, the matrix has a determinant and cofactors in range. (Elements of very different
    sizes have no scale in common.)
    """
    if is_foreign(memory_of(a)) or not a.size:
        return None
    limit = np.finfo(a.dtype).maxexp / 3
    det = abs(concrete(det))
    if not some((det <= 0.5**limit) | (det >= 2.0**limit)):
        return None
    values = np.asarray(concrete(a))
    _, exponents = np.frexp(abs(values))
    largest = exponents.max(axis=(-2, -1), keepdims=True, where=values != 0, initial=-2000)
    smallest = exponents.min(axis=(-2, -1), keepdims=True, where=values != 0, initial=2000)
    n = a.shape[-1]
    is_extreme = (abs(largest) * n > limit) & (abs(largest - smallest) * n < limit)
    return np.ldexp(np.ones((), a.real.dtype), np.where(is_extreme, largest, 0)) if is_extreme.any() else None


def _times_power(x: Any, size: Any, n: int) -> Any:
    """x * size**n, step by step: the power alone might overflow."""
    for _ in range(n):
        x = x * size
    return x


# ---- det and slogdet -------------------------------------------------------------------------------------------------


def _slogdet_pull(ct, a, out, live):
    ct_sign, ct_log = ct
    weight = np.zeros((), a.dtype) if ct_log is None else ct_log
    if a.dtype.kind == "c" and ct_sign is not None:
        weight = weight + 1j * (out[0] * ct_sign).imag
    return in_live_matrices(weight[..., None, None] * mT(inverse_or_nan(a)), ct, live)


def _slogdet_push(t, a, out):
    moved = (mT(inverse_or_nan(a)) * t).sum(axis=(-2, -1))
    return (1j * out[0] * moved.imag if a.dtype.kind == "c" else None), moved.real


def _det_pull(ct, a, out):
    size = _extreme_size(a, out)
    if size is None:
        return ct[..., None, None] * mT(adjugate(a, out))
    a = a / size
    cofactors = mT(adjugate(a, np.linalg.det(a)))
    return ct[..., None, None] * _times_power(cofactors, size, a.shape[-1] - 1)


def _det_push(t, a, out):
    size = _extreme_size(a, out)
    if size is None:
        return (mT(adjugate(a, out)) * t).sum(axis=(-2, -1))
    a = a / size
    moved = (mT(adjugate(a, np.linalg.det(a))) * (t / size)).sum(axis=(-2, -1), keepdims=True)
    return _times_power(moved, size, a.shape[-1])[..., 0, 0]


custom(
    np.linalg.det,
    _det_pull,
    push=_det_push,
    reach=lambda ct: ct[..., None, None],
    batch="leading",
)
custom(np.linalg.slogdet, _slogdet_pull, push=_slogdet_push, batch="leading")
