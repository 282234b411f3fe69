"""Matrices of a special form: what makes them, products with them, systems of equations with them."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import scipy.linalg as sl

from funcgrad.core.arrays.arguments import as_operand
from funcgrad.rules.matrices import conj, mH
from funcgrad.scipy.declare import Chapter, constant, step
from funcgrad.scipy.linalg.stacks import column, like_vector, matrix

linalg = Chapter("linalg")
linalg.rerun("fiedler fiedler_companion leslie companion convolution_matrix helmert hadamard khatri_rao")

# ---- what makes them -----------------------------------------------------------------------------------------------------


def _vector(x: Any) -> Any:
    return as_operand(x).reshape(-1)


def _diagonals(values: Any, shape: tuple[int, int], shift: int, sign: int) -> Any:
    """The matrix with values[shift + i - sign * j] at (i, j)."""
    i, j = np.indices(shape)
    return values[shift + i - sign * j]


@linalg.composite("toeplitz")
def toeplitz(c, r=None):
    c = np.atleast_1d(as_operand(c))
    if r is None:
        r = conj(c)
    r = np.atleast_1d(as_operand(r))
    if c.ndim > 1 or r.ndim > 1:
        stack = np.broadcast_shapes(c.shape[:-1], r.shape[:-1])
        c, r = (np.broadcast_to(x, (*stack, x.shape[-1])) for x in (c, r))
        rows = [toeplitz(c[k], r[k]) for k in np.ndindex(*stack)]
        return np.stack(rows).reshape(*stack, c.shape[-1], r.shape[-1])
    return _diagonals(np.concatenate([r[:0:-1], c]), (c.size, r.size), r.size - 1, 1)


@linalg.composite("hankel")
def hankel(c, r=None):
    c = _vector(c)
    r = np.zeros_like(c) if r is None else _vector(r)
    return _diagonals(np.concatenate([c, r[1:]]), (c.size, r.size), 0, -1)


@linalg.composite("circulant")
def circulant(c):
    c = np.atleast_1d(as_operand(c))
    i, j = np.indices((c.shape[-1],) * 2)
    return c[..., (i - j) % c.shape[-1]]


@linalg.composite("block_diag")
def block_diag(*arrs):
    blocks = [np.atleast_2d(as_operand(a)) for a in arrs] or [np.zeros((1, 0))]
    dtype = functools.reduce(np.promote_types, [b.dtype for b in blocks])
    stack = np.broadcast_shapes(*(b.shape[:-2] for b in blocks))
    width, at, rows = sum(b.shape[-1] for b in blocks), 0, []
    for b in blocks:
        b = np.broadcast_to(b, stack + b.shape[-2:]).astype(dtype)
        rows.append(np.pad(b, [(0, 0)] * (b.ndim - 1) + [(at, width - at - b.shape[-1])]))
        at += b.shape[-1]
    return np.concatenate(rows, axis=-2)


@linalg.composite("diagsvd")
def diagsvd(s, M, N):
    s = _vector(s)
    if s.size not in (M, N):
        raise ValueError("Length of s must be M or N.")
    k = min(M, N)
    return np.eye(M, k, dtype=s.dtype) @ (s[:k, None] * np.eye(k, N, dtype=s.dtype))


@linalg.composite("clarkson_woodruff_transform")
def clarkson_woodruff_transform(input_matrix, sketch_size, rng=None, seed=None):
    import scipy.sparse

    a = as_operand(input_matrix)
    one = scipy.sparse.eye_array(a.shape[-2], format="csc")
    how = {"rng": rng} if seed is None else {"seed": seed}
    return sl.clarkson_woodruff_transform(one, sketch_size, **how).toarray() @ a


# ---- Toeplitz and circulant systems --------------------------------------------------------------------------------------


def _double(x: Any) -> Any:
    """SciPy computes with Toeplitz matrices in double precision."""
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def _column_and_row(c_or_cr: Any) -> Any:
    if isinstance(c_or_cr, tuple):
        return tuple(_vector(x) for x in c_or_cr)
    c = _vector(c_or_cr)
    return c, conj(c)


def _along_diagonals(p: Any, q: Any) -> Any:
    """What the cotangent p q.T of a Toeplitz matrix gives to its column and its row."""
    m, n = p.shape[0], q.shape[0]
    padded = np.concatenate([p, np.zeros((n, p.shape[1]), p.dtype)])
    column = [(padded[k : k + n] * q).sum() for k in range(m)]
    padded = np.concatenate([q, np.zeros((m, q.shape[1]), q.dtype)])
    row = [(padded[k : k + m] * p).sum() for k in range(n)]
    return np.stack(column), np.concatenate([np.zeros(1, p.dtype), np.stack(row)[1:]]) if n > 1 else np.zeros(
        1, p.dtype
    )


def _toeplitz_product(c: Any, r: Any, x: Any) -> Any:
    """The product with a Toeplitz matrix, by the Fourier transform of the circulant matrix around it."""
    m, n = c.shape[0], r.shape[0]
    around = np.concatenate([c, r[:0:-1]])
    size = m + n - 1
    if all(a.dtype.kind == "f" for a in (c, r, x)):
        spectrum = np.fft.rfft(around)[:, None] * np.fft.rfft(x, n=size, axis=0)
        return np.fft.irfft(spectrum, n=size, axis=0)[:m]
    return np.fft.ifft(np.fft.fft(around)[:, None] * np.fft.fft(x, n=size, axis=0), axis=0)[:m]


@linalg.composite("matmul_toeplitz")
def matmul_toeplitz(c_or_cr, x):
    c, r = map(_double, _column_and_row(c_or_cr))
    x = _double(as_operand(x))
    if x.shape[0] != r.shape[0]:
        raise ValueError(f"incompatible dimensions ({(c.shape[0], r.shape[0])} and {x.shape})")
    return _toeplitz_product(c, r, x.reshape(x.shape[0], -1)).reshape(c.shape[0], *x.shape[1:])


def _toeplitz_joint(ct, c, r, out):
    ct_b = _toeplitz_pull_b(ct, c, r)
    ct_c, ct_r = _along_diagonals(-ct_b, out)
    return ct_c, ct_r, ct_b


def _toeplitz_push(t, c, r, b, out):
    right = np.zeros_like(out) if t["b"] is None else t["b"]
    if t["c"] is not None or t["r"] is not None:
        tc = np.zeros_like(c) if t["c"] is None else t["c"]
        tr = np.zeros_like(r) if t["r"] is None else t["r"]
        right = right - toeplitz(tc, tr) @ out
    return _toeplitz_solved(c, r, right)


def _toeplitz_pull_b(ct, c, r):
    return _toeplitz_solved(np.concatenate([c[:1], r[1:]]), np.concatenate([r[:1], c[1:]]), ct)


@step("c r b", {"b": _toeplitz_pull_b}, joint=_toeplitz_joint, push=_toeplitz_push)
def _toeplitz_solved(c, r, b):
    """Levinson's recursion. (The first element of r is not used.)"""
    return sl.solve_toeplitz((c, r), b)


@linalg.composite("solve_toeplitz")
def solve_toeplitz(c_or_cr, b):
    c, r = _column_and_row(c_or_cr)
    b = _double(as_operand(b))
    return like_vector(_toeplitz_solved(_double(c), _double(r), column(b)), b)


@linalg.composite("solve_circulant")
def solve_circulant(c, b, singular="raise", tol=None, caxis=-1, baxis=0, outaxis=0):
    c, b = matrix(c), matrix(b)
    if c.shape[caxis] != b.shape[baxis]:
        raise ValueError(f"Shapes of c {c.shape} and b {b.shape} are incompatible")
    spectrum = np.fft.fft(np.moveaxis(c, caxis, -1), axis=-1)
    size = _magnitude(spectrum)
    if tol is None:
        tol = size.max(axis=-1, keepdims=True, initial=0.0) * c.shape[caxis] * np.finfo(np.float64).eps
    near = size <= tol
    if near.any() and singular == "raise":
        raise np.linalg.LinAlgError("near singular circulant matrix.")
    right = np.fft.fft(np.moveaxis(b, baxis, -1), axis=-1)
    out = np.fft.ifft(np.where(near, 0, right / np.where(near, 1, spectrum)), axis=-1)
    out = out if c.dtype.kind == "c" or b.dtype.kind == "c" else out.real
    return np.moveaxis(out, -1, outaxis)


@constant("x")
def _magnitude(x: Any) -> Any:
    return abs(x)


# ---- banded matrices -----------------------------------------------------------------------------------------------------
# ab[u + i - j, j] = a[i, j], for the `lower` l diagonals below and the `upper` u above the main one.


def band_of_product(p: Any, q: Any, lower: int, upper: int) -> Any:
    """The band of p q.T, in the form of `ab`; outside of the matrix it is 0."""
    n = p.shape[0]
    zeros = lambda k: np.zeros((k, p.shape[1]), p.dtype)
    padded = np.concatenate([zeros(upper), p, zeros(lower)])
    return np.stack([(padded[k : k + n] * q).sum(axis=1) for k in range(lower + upper + 1)])


def banded_product(ab: Any, x: Any, lower: int, upper: int) -> Any:
    """a x"""
    n = x.shape[0]
    total: Any = 0
    for k in range(lower + upper + 1):
        moved = ab[k][:, None] * x  # column j goes to row j + k - upper
        down = k - upper
        zeros = np.zeros((min(abs(down), n), x.shape[1]), x.dtype)
        if down >= 0:
            moved = np.concatenate([zeros, moved[: n - down]])
        else:
            moved = np.concatenate([moved[-down:], zeros])
        total = total + moved
    return total


@constant("ab")
def _band_factors(ab: Any, lower: int, upper: int) -> Any:
    gbtrf = sl.get_lapack_funcs("gbtrf", (ab,))
    room = np.zeros((2 * lower + upper + 1, ab.shape[1]), ab.dtype)
    room[lower:] = ab
    lu, pivots, info = gbtrf(room, lower, upper)
    if info > 0:
        raise np.linalg.LinAlgError("singular matrix")
    return lu, pivots


def _band_joint(ct, f, p, ab, out, lower, upper, transposed=False):
    ct_b = _band_solved(f, p, ab, ct, lower, upper, not transposed)
    band = (
        band_of_product(out, ct_b, lower, upper) if transposed else band_of_product(ct_b, out, lower, upper)
    )
    return None, None, -band, ct_b


def _band_push(t, f, p, ab, b, out, lower, upper, transposed=False):
    right = np.zeros_like(out) if t["b"] is None else t["b"]
    if t["ab"] is not None:
        product = _transposed_product if transposed else banded_product
        right = right - product(t["ab"], out, lower, upper)
    return _band_solved(f, p, ab, right, lower, upper, transposed)


def _transposed_product(ab: Any, x: Any, lower: int, upper: int) -> Any:
    n = x.shape[0]
    zeros = lambda k: np.zeros((k, x.shape[1]), x.dtype)
    padded = np.concatenate([zeros(upper), x, zeros(lower)])
    return sum((ab[k][:, None] * padded[k : k + n] for k in range(lower + upper + 1)), 0)


def _band_pull_b(ct, f, p, ab, lower, upper, transposed=False):
    return _band_solved(f, p, ab, ct, lower, upper, not transposed)


@step("f p ab b", {"b": _band_pull_b}, joint=_band_joint, push=_band_push)
def _band_solved(f, p, ab, b, lower, upper, transposed=False):
    gbtrs = sl.get_lapack_funcs("gbtrs", (f, b))
    out, info = gbtrs(f, lower, upper, b, p, trans=int(transposed))
    if info < 0:
        raise ValueError(f"illegal value in {-info}-th argument of internal gbtrs")
    return out


def solve_band(ab: Any, b: Any, lower: int, upper: int) -> Any:
    """The solution for a matrix that is given by its band."""
    dtype = np.result_type(ab.dtype, b.dtype)
    ab, right = ab.astype(dtype), column(b).astype(dtype)
    return like_vector(_band_solved(*_band_factors(ab, lower, upper), ab, right, lower, upper), b)


@linalg.composite("solve_banded")
def solve_banded(l_and_u, ab, b):
    lower, upper = l_and_u
    ab, b = matrix(ab), matrix(b)
    if ab.shape[-1] != b.shape[0]:
        raise ValueError("shapes of ab and b are not compatible.")
    if lower + upper + 1 != ab.shape[0]:
        raise ValueError(
            f"invalid values for the number of lower and upper diagonals: l+u+1 ({lower + upper + 1}) does not "
            f"equal ab.shape[0] ({ab.shape[0]})"
        )
    return solve_band(ab, b, lower, upper)


def full_band(ab: Any, lower: bool) -> Any:
    """The whole band of a Hermitian matrix of which the lower (upper) half is given."""
    count, n = ab.shape
    if lower:
        rows = [
            np.concatenate([np.zeros(min(k, n), ab.dtype), conj(ab[k][: n - k])])
            for k in range(count - 1, 0, -1)
        ]
        return np.concatenate([np.stack(rows), ab]) if rows else ab
    rows = [
        np.concatenate([conj(ab[count - 1 - k][k:]), np.zeros(min(k, n), ab.dtype)]) for k in range(1, count)
    ]
    return np.concatenate([ab, np.stack(rows)]) if rows else ab


@linalg.composite("solveh_banded")
def solveh_banded(ab, b, lower=False):
    ab, b = matrix(ab), matrix(b)
    if ab.shape[-1] != b.shape[0]:
        raise ValueError("shapes of ab and b are not compatible.")
    half = ab.shape[0] - 1
    return solve_band(full_band(ab, bool(lower)), b, half, half)


def lower_from_band(cb: Any, lower: bool) -> Any:
    """The band, as in `ab`, of the lower Cholesky factor."""
    if lower:
        return cb
    count, n = cb.shape
    return np.stack(
        [np.concatenate([conj(cb[count - 1 - k][k:]), np.zeros(min(k, n), cb.dtype)]) for k in range(count)]
    )


@linalg.composite("cho_solve_banded")
def cho_solve_banded(cb_and_lower, b):
    cb, lower = cb_and_lower
    cb, b = matrix(cb), matrix(b)
    if cb.shape[-1] != b.shape[0]:
        raise ValueError("shapes of cb and b are not compatible.")
    band = lower_from_band(cb, bool(lower))
    half = band.shape[0] - 1
    first = solve_band(band, b, half, 0)
    return solve_band(_raised(band), first, 0, half)


def _raised(band: Any) -> Any:
    """The band of the conjugate transpose of a lower triangular matrix."""
    count, n = band.shape
    return np.stack(
        [
            np.concatenate([np.zeros(min(k, n), band.dtype), conj(band[k][: n - k])])
            for k in range(count - 1, -1, -1)
        ]
    )


@linalg.composite("cholesky_banded")
def cholesky_banded(ab, lower=False):
    """Column by column: O(n u**2), as in LAPACK."""
    ab = matrix(ab)
    band = lower_from_band(ab, bool(lower))
    factor = _band_factor(_band_known(band), band)
    count, n = ab.shape
    k, j = np.indices(ab.shape)
    inside = j + k < n if lower else j + k >= count - 1
    return np.where(inside, factor if lower else _raised(factor), ab)  # SciPy leaves the corners as they are


@constant("band")
def _band_known(band: Any) -> Any:
    return sl.cholesky_banded(band, lower=True)


def _dense(band: Any) -> Any:
    count, n = band.shape
    i, j = np.indices((n, n))
    inside = (i >= j) & (i - j < count)
    return np.where(inside, band[np.where(inside, i - j, 0), j], 0)


def _banded(full: Any, count: int) -> Any:
    n = full.shape[-1]
    k, j = np.indices((count, n))
    inside = j + k < n
    return np.where(inside, full[np.where(inside, j + k, 0), j], 0)


def _band_factor(known: Any, band: Any) -> Any:
    from funcgrad.scipy.linalg.factors import cholesky_factor

    del known  # checks that the matrix is definite, with SciPy's error
    lower = _dense(band)
    return _banded(cholesky_factor(lower + mH(np.tril(lower, -1)), True), band.shape[0])
