"""More of linear algebra: products with a summand, triangular systems, factors (Cholesky, LU, LDL,
Householder), exp of matrices.

What NumPy lacks is written as a body of NumPy calls, which the engine differentiates. Pivots are taken as
constants. LDL comes from LAPACK through SciPy, has no derivative (as in PyTorch), and is the only part that
needs SciPy.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from funcgrad.core.engine.trace import concrete
from funcgrad.torch.functions.linalg import LINALG, _scaled
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.functions.reduce import axis_of, named_result
from funcgrad.torch.functions.registry import declare, enter, function
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.tensor import Tensor

_la: Any = np.linalg
LinAlgError: Any = type(
    "LinAlgError", (RuntimeError,), {"__module__": "torch._C", "__doc__": "A matrix is singular."}
)


def _transposed(x: Any) -> Any:
    return np.swapaxes(x, -1, -2)


def _adjoint(x: Any) -> Any:
    return np.conjugate(_transposed(x)) if x.dtype.kind == "c" else _transposed(x)


def entered(name: str, body: Any, node: str | None = None, also: str = "", where: str = "fm") -> Op:
    """Enter a function of torch.linalg, and under other names as a function of torch."""
    made = LINALG[name] = Op(
        f"linalg_{name}", body, node or f"Linalg{name.title().replace('_', '')}Backward0"
    )
    for each in also.split():
        enter(each, made, where)
    return made


# ---- products with a summand -------------------------------------------------------------------------------------------
declare(
    "addbmm",
    lambda input, batch1, batch2, *, beta=1, alpha=1: (
        _scaled(beta, input) + _scaled(alpha, np.sum(batch1 @ batch2, 0))
    ),
    where="fmi",
)
declare(
    "addr",
    lambda input, vec1, vec2, *, beta=1, alpha=1: _scaled(beta, input) + _scaled(alpha, vec1[:, None] * vec2),
    "AddrBackward0",
    where="fmi",
)
entered(
    "vecdot",
    lambda x, y, *, dim=-1: np.sum((np.conjugate(x) if x.dtype.kind == "c" else x) * y, axis=dim),
    "SumBackward1",
)
entered("tensorinv", lambda A, ind=2: _la.tensorinv(A, ind), "ReshapeAliasBackward0")
entered("tensorsolve", lambda A, B, dims=None: _la.tensorsolve(A, B, dims), "ViewBackward0")


def _vander(x: Any, *, N: Any = None) -> Any:
    """The powers 0 to N-1 of the elements, along a new last dim."""
    n = x.shape[-1] if N is None else N
    columns = [np.ones_like(x)]
    for _ in range(n - 1):
        columns.append(columns[-1] * x)
    return np.stack(columns[:n], -1)


entered("vander", _vander, "CatBackward0")


# ---- the exponential ---------------------------------------------------------------------------------------------------
# Numerator of the [13/13] Pade approximant of exp (Higham 2005, table 2.3 and algorithm 2.3): good up to a 1-norm of 5.37.
_PADE = [
    math.factorial(26 - k)
    * math.factorial(13)
    / (math.factorial(26) * math.factorial(k) * math.factorial(13 - k))
    for k in range(14)
]


def _matrix_exp(A: Any) -> Any:
    """exp of square matrices, by scaling, a Pade approximant, and squaring."""
    if A.ndim < 2 or A.shape[-1] != A.shape[-2]:
        raise RuntimeError(
            f"linalg.matrix_exp: A must be batches of square matrices, but they have shape {tuple(A.shape)}"
        )
    size = np.max(np.sum(np.abs(concrete(A)), -2), initial=0.0)
    halvings = max(0, math.ceil(math.log2(size / 5.37))) if 5.37 < size < math.inf else 0
    x = A / np.asarray(2.0**halvings, A.real.dtype)
    square = x @ x
    power = np.zeros_like(x) + np.eye(A.shape[-1], dtype=A.dtype)
    even, odd = power * _PADE[0], power * _PADE[1]
    for k in range(1, 7):
        power = power @ square
        even, odd = even + power * _PADE[2 * k], odd + power * _PADE[2 * k + 1]
    odd = x @ odd
    out = _la.solve(even - odd, even + odd)
    for _ in range(halvings):
        out = out @ out
    return out


entered("matrix_exp", _matrix_exp, None, "matrix_exp")


# ---- systems and factors -----------------------------------------------------------------------------------------------
def _triangle(A: Any, upper: bool, unitriangular: bool) -> Any:
    """A triangle of A, with ones on the diagonal if that is to be taken as such."""
    if not unitriangular:
        return np.triu(A) if upper else np.tril(A)
    return (np.triu(A, 1) if upper else np.tril(A, -1)) + np.eye(A.shape[-1], dtype=A.dtype)


def _solve_triangular(A: Any, B: Any, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Any:
    """X with AX = B (XA = B if not `left`), of which A's one triangle is read."""
    T = _triangle(A, upper, unitriangular)
    return _la.solve(T, B) if left else _transposed(_la.solve(_transposed(T), _transposed(B)))


def _cholesky_solve(B: Any, L: Any, upper: bool = False) -> Any:
    """X with L L^H X = B (U^H U X = B, if `upper`)."""
    F = _adjoint(np.triu(L)) if upper else np.tril(L)
    return _la.solve(F @ _adjoint(F), B)


def _cholesky_inverse(L: Any, upper: bool = False) -> Any:
    """The inverse of L L^H."""
    return _cholesky_solve(np.zeros_like(L) + np.eye(L.shape[-1], dtype=L.dtype), L, upper)


entered("solve_triangular", _solve_triangular)
TriangularSolve = named_result("triangular_solve", "solution cloned_coefficient")
enter("cholesky_solve", Op("cholesky_solve", _cholesky_solve), "fm")
enter("cholesky_inverse", Op("cholesky_inverse", _cholesky_inverse), "fm")


@function("fm", out=True)
def triangular_solve(
    b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """X with AX = b, of which A's one triangle is read; beside it, a copy of A."""
    T = A.mT if transpose else A
    out = LINALG["solve_triangular"](T, b, upper=upper is not transpose, unitriangular=unitriangular)
    return TriangularSolve(out, A.clone())


def _eliminated(A: Any, pivot: bool) -> tuple[Any, Any]:
    """The factors of LU in one matrix, and the pivots: the row (from 1) exchanged with each row."""
    n, m = A.shape[-2:]
    rows = min(n, m)
    LU = np.copy(A)
    pivots = np.broadcast_to(np.arange(1, rows + 1, dtype=np.int32), (*A.shape[:-2], rows)).copy()
    for k in range(rows):
        if pivot:
            found = k + np.argmax(np.abs(concrete(LU)[..., k:, k]), -1)
            pivots[..., k] = found + 1
            permutation = np.broadcast_to(np.arange(n), (*A.shape[:-2], n)).copy()
            permutation[..., k] = found
            np.put_along_axis(permutation, found[..., None], k, -1)
            LU = np.take_along_axis(LU, permutation[..., None], -2)
        if k + 1 < n:
            factors = LU[..., k + 1 :, k : k + 1] / LU[..., k : k + 1, k : k + 1]
            rest = LU[..., k + 1 :, k + 1 :] - factors * LU[..., k : k + 1, k + 1 :]
            LU = np.concatenate(
                [LU[..., : k + 1, :], np.concatenate([LU[..., k + 1 :, :k], factors, rest], -1)], -2
            )
    return LU, pivots


def _permutation(pivots: Any, n: int) -> Any:
    """For each row of the permuted matrix, the row that it was."""
    permutation = np.broadcast_to(np.arange(n), (*pivots.shape[:-1], n)).copy()
    for k in range(pivots.shape[-1]):
        other = pivots[..., k : k + 1].astype(int) - 1
        here, there = permutation[..., k].copy(), np.take_along_axis(permutation, other, -1)[..., 0]
        permutation[..., k] = there
        np.put_along_axis(permutation, other, here[..., None], -1)
    return permutation


LU_FACTOR = named_result("linalg_lu_factor", "LU pivots")
LU_FACTOR_EX = named_result("linalg_lu_factor_ex", "LU pivots info")
LU_PARTS = named_result("linalg_lu", "P L U")


def _unpacked(LU: Any, pivots: Any) -> Any:
    """(P, L, U) with A = P L U."""
    n, m = LU.shape[-2:]
    k = min(n, m)
    L = np.tril(LU[..., :k], -1) + np.eye(n, k, dtype=LU.dtype)
    P = _transposed(np.eye(n, dtype=LU.dtype)[_permutation(concrete(pivots), n)])
    return LU_PARTS(P, L, np.triu(LU[..., :k, :]))


def _lu_solve(LU: Any, pivots: Any, B: Any, *, left: bool = True, adjoint: bool = False) -> Any:
    """X with AX = B, from the factors of A."""
    P, L, U = _unpacked(LU, pivots)
    A = P @ L @ U
    A = _adjoint(A) if adjoint else A
    return _la.solve(A, B) if left else _transposed(_la.solve(_transposed(A), _transposed(B)))


def _info(A: Any) -> Any:
    return np.zeros(A.shape[:-2], np.int32)


entered(
    "lu_factor", lambda A, *, pivot=True: LU_FACTOR(*_eliminated(A, pivot)), "LinalgLuFactorExBackward0", "lu"
)
entered(
    "lu_factor_ex",
    lambda A, *, pivot=True, check_errors=False: LU_FACTOR_EX(*_eliminated(A, pivot), _info(A)),
)
entered("lu", lambda A, *, pivot=True: _unpacked(*_eliminated(A, pivot)))
entered("lu_solve", _lu_solve)
enter(
    "lu_unpack",
    Op("lu_unpack", lambda LU_data, LU_pivots, **_: _unpacked(LU_data, LU_pivots), "LuUnpackBackward0"),
    "f",
)
enter(
    "lu_solve",
    Op("lu_solve", lambda b, LU_data, LU_pivots: _lu_solve(LU_data, LU_pivots, b), "LinalgLuSolveBackward0"),
    "fm",
)


# ---- with a word on errors ---------------------------------------------------------------------------------------------
CHOLESKY_EX = named_result("linalg_cholesky_ex", "L info")
INV_EX = named_result("linalg_inv_ex", "inverse info")
SOLVE_EX = named_result("linalg_solve_ex", "result info")


def _failing_minor(a: Any) -> int:
    """The order of the first leading minor that is not positive definite; 0 if all are."""
    for k in range(1, len(a) + 1):
        try:
            _la.cholesky(a[:k, :k])
        except _la.LinAlgError:
            return k
    return 0


def _cholesky_ex(A: Any, *, upper: bool = False, check_errors: bool = False) -> Any:
    """The factor, with 0; NaN, with the order of the first minor that is not positive definite."""
    try:
        return CHOLESKY_EX(_la.cholesky(A, upper=upper), _info(A))
    except _la.LinAlgError:
        if check_errors:
            raise
    plain = np.asarray(concrete(A))
    info = np.array([_failing_minor(a) for a in plain.reshape(-1, *plain.shape[-2:])], np.int32)
    info = info.reshape(plain.shape[:-2])
    fails = (info > 0)[..., None, None]
    factors = _la.cholesky(np.where(fails, np.eye(plain.shape[-1], dtype=plain.dtype), A), upper=upper)
    return CHOLESKY_EX(np.where(fails, np.nan, factors), info)


entered(
    "cholesky_ex",
    _cholesky_ex,
    "LinalgCholeskyExBackward0",
)
entered("inv_ex", lambda A, *, check_errors=False: INV_EX(_la.inv(A), _info(A)))
entered("solve_ex", lambda A, B, *, left=True, check_errors=False: SOLVE_EX(_la.solve(A, B), _info(A)))


# ---- Householder -------------------------------------------------------------------------------------------------------
def _householder_product(A: Any, tau: Any) -> Any:
    """The first columns of the product of I - tau v v^H, whose vectors v lie below the diagonal of A."""
    m, n = A.shape[-2:]
    out = np.zeros_like(A) + np.eye(m, n, dtype=A.dtype)
    below = np.tril(A, -1)
    for k in reversed(range(tau.shape[-1])):
        v = (below[..., :, k] + np.eye(m, dtype=A.dtype)[k])[..., None]
        out = out - tau[..., k, None, None] * v @ (_adjoint(v) @ out)
    return out


GEQRF = named_result("geqrf", "a tau")


@function("fm", out=True)
def geqrf(input: Tensor) -> Any:
    """QR in LAPACK's form: R and Householder's vectors in one matrix, and their factors; no derivative."""
    h, tau = np.linalg.qr(np.asarray(concrete(input.value)), "raw")
    return GEQRF(_array(np.ascontiguousarray(_transposed(h))), _array(tau))


def _array(x: Any) -> Tensor:
    from funcgrad.torch.tensors.tensor import make_tensor

    return make_tensor(np.asarray(x))


entered("householder_product", _householder_product, None, "orgqr")


@function("fm", out=True)
def ormqr(input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False) -> Tensor:
    """The product of the (full) Q of geqrf and `other`."""
    m = input.shape[-2]
    padding = np.zeros((*input.shape[:-1], m - input.shape[-1]), input.value.dtype)
    full = _PADDED(input, padding) if m > input.shape[-1] else input
    Q = LINALG["householder_product"](full, tau)
    Q = Q.mH if transpose else Q
    return Q @ other if left else other @ Q


_PADDED = Op("cat", lambda x, padding: np.concatenate([x, padding], -1), "CatBackward0")


# ---- LDL ---------------------------------------------------------------------------------------------------------------
LDL_FACTOR = named_result("linalg_ldl_factor", "LD pivots")
LDL_FACTOR_EX = named_result("linalg_ldl_factor_ex", "LD pivots info")


def _lapack(name: str, x: Any) -> Any:
    try:
        from scipy.linalg.lapack import get_lapack_funcs
    except ImportError:
        raise ImportError(
            f"torch.linalg.{'ldl_solve' if 's' in name[-1] else 'ldl_factor'} needs SciPy: pip install scipy"
        ) from None
    return get_lapack_funcs((name,), (x,))[0]


def _each(function: Any, *xs: Any, core: int = 2) -> list[Any]:
    """`function` of each matrix of batches, its results stacked."""
    batch = xs[0].shape[:-core]
    flat = [x.reshape(-1, *x.shape[len(batch) :]) for x in xs]
    found = [function(*parts) for parts in zip(*flat, strict=True)]
    return [np.stack(each).reshape((*batch, *np.shape(each[0]))) for each in zip(*found, strict=True)]


def _ldl(A: Any, hermitian: bool) -> list[Any]:
    run = _lapack("hetrf" if hermitian and A.dtype.kind == "c" else "sytrf", A)

    def one(a: Any) -> Any:
        factors, pivots, info = run(a, lower=1)
        return np.tril(factors), pivots.astype(np.int32), np.int32(info)

    return _each(one, np.asarray(concrete(A)))


@function("", out=True)
def ldl_factor_ex(A: Tensor, *, hermitian: bool = False, check_errors: bool = False) -> Any:
    """LDL^T of symmetric matrices in LAPACK's form, with its pivots and word on errors. It has no derivative."""
    return LDL_FACTOR_EX(*map(_array, _ldl(A.value, hermitian)))


@function("", out=True)
def ldl_factor(A: Tensor, *, hermitian: bool = False) -> Any:
    """LDL^T of symmetric matrices in LAPACK's form, with its pivots. It has no derivative."""
    return LDL_FACTOR(*map(_array, _ldl(A.value, hermitian)[:2]))


@function("", out=True)
def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False) -> Tensor:
    """X with AX = B, from the LDL factors of A."""
    run = _lapack("hetrs" if hermitian and LD.value.dtype.kind == "c" else "sytrs", LD.value)
    solved = _each(
        lambda ld, p, b: (run(ld, p, b, lower=1)[0],),
        *[np.asarray(concrete(x.value)) for x in (LD, pivots, B)],
    )
    return _array(solved[0])


LINALG.update(
    ldl_factor=ldl_factor, ldl_factor_ex=ldl_factor_ex, ldl_solve=ldl_solve, LinAlgError=LinAlgError
)
enter(
    "svd", Op("svd", lambda input, some=True, compute_uv=True: _svd(input, some), "LinalgSvdBackward0"), "fm"
)
SVD = named_result("svd", "U S V")


def _svd(A: Any, some: bool) -> Any:
    U, S, Vh = _la.svd(A, full_matrices=not some)
    return SVD(U, S, _adjoint(Vh))


def _frobenius_norm(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The square root of the sum of squares, of all elements or along dims."""
    return _la.norm(np.reshape(input, -1) if dim is None else input, axis=axis_of(dim), keepdims=keepdim)


enter("frobenius_norm", Op("frobenius_norm", _frobenius_norm, "NormBackward1"), "f")
enter(
    "nuclear_norm",
    Op("nuclear_norm", lambda input, keepdim=False: _la.norm(input, "nuc", keepdims=keepdim), "SumBackward1"),
    "f",
)


declare(
    "vander",
    lambda x, N=None, increasing=False: dtypes.cast(np.vander(x, N, increasing), x.dtype),
    "FlipBackward0",
    where="f",
)
