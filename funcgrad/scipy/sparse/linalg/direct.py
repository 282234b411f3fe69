"""Direct solvers: one factorisation serves both sweeps, with constant or traced entries."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as ss
import scipy.sparse.linalg as sl

from funcgrad.core.engine.primitive import as_operand
from funcgrad.core.engine.trace import Tracer
from funcgrad.scipy.declare import Chapter, step
from funcgrad.scipy.linalg.stacks import plain
from funcgrad.scipy.mirror import carries_tracer
from funcgrad.scipy.sparse.structure import Pattern, product, sampled
from funcgrad.scipy.sparse.traced import TracedSparse, is_sparse, traced

linalg = Chapter("sparse.linalg")


class Factors:
    """SuperLU's factors, or a triangle, with the places of the entries."""

    def __init__(self, structure: Pattern, solve: Any) -> None:
        """`solve(b, transposed)`, of plain arrays."""
        self.structure, self.solve = structure, solve


def _batched(primitive: Any, call: Any, batched: Any, size: int) -> Any:
    """Right sides of all examples side by side, if the matrix is the same for all."""
    from funcgrad.core.engine.batch import one_by_one

    if batched[0]:
        return one_by_one(primitive, call, batched, size)
    data, b = call.operands
    columns = np.moveaxis(b, 0, -1)
    out = primitive(data, columns.reshape(columns.shape[0], -1), **call.params)
    return np.moveaxis(out.reshape(out.shape[:1] + columns.shape[1:]), -1, 0)


def _pull_b(ct, data, factors, transposed=False):
    return solved(data, ct, factors, not transposed)


def _joint(ct, data, out, factors, transposed=False):
    ct_b = solved(data, ct, factors, not transposed)
    u, v = (out, ct_b) if transposed else (ct_b, out)
    return -sampled(u, v, factors.structure), ct_b


def _push(t, data, b, out, factors, transposed=False):
    right = np.zeros_like(out) if t["b"] is None else t["b"]
    if t["data"] is not None:
        s = factors.structure.T if transposed else factors.structure
        right = right - product(t["data"], out, s)
    return solved(data, right, factors, transposed)


@step("data b", {"b": _pull_b}, joint=_joint, push=_push, batch=_batched)
def solved(data, b, factors, transposed=False):
    """inv(matrix) b"""
    return factors.solve(b, transposed)


def csc_of(a: Any) -> Any:
    """The matrix of plain values, by columns."""
    if isinstance(a, TracedSparse):
        return a.structure.matrix(np.asarray(plain(a.data))).tocsc()
    return a.tocsc() if ss.issparse(a) else ss.csc_array(a)


def _lu_factors(a: TracedSparse, lu: Any = None) -> Factors:
    lu = sl.splu(csc_of(a)) if lu is None else lu

    def solve(b: Any, transposed: bool) -> Any:
        how = "T" if transposed else "N"
        if b.dtype.kind == "c" and lu.U.dtype.kind != "c":
            return lu.solve(np.ascontiguousarray(b.real), how) + 1j * lu.solve(
                np.ascontiguousarray(b.imag), how
            )
        return lu.solve(np.ascontiguousarray(b, dtype=np.result_type(b.dtype, lu.U.dtype)), how).astype(
            b.dtype
        )

    return Factors(a.structure, solve)


def _as_matrix(a: Any) -> TracedSparse:
    return traced(a) if is_sparse(a) else traced(as_operand(a))


def _promoted(a: TracedSparse, b: Any) -> tuple[TracedSparse, Any]:
    dtype = np.promote_types(a.dtype, b.dtype)
    dtype = dtype if dtype.kind in "fc" else np.dtype(float)
    return a.astype(dtype), b.astype(dtype)


@linalg.composite("spsolve")
def spsolve(A, b):
    if is_sparse(b):
        raise NotImplementedError(
            "scipy.sparse.linalg.spsolve with a sparse right side has no derivative rule: write b.toarray()"
        )
    b = as_operand(b)
    a, b = _promoted(_as_matrix(A), b if isinstance(b, Tracer) else np.asarray(b))
    if a.shape[0] != a.shape[1]:
        raise ValueError(f"matrix must be square (has shape {a.shape})")
    out = solved(a.data, b, _lu_factors(a))
    return out[:, 0] if out.ndim == 2 and out.shape[1] == 1 else out


class LU:
    """What splu returns: SciPy's object, whose `solve` takes tracers, for a matrix that may be made of them."""

    def __init__(self, a: Any, lu: Any) -> None:
        self._matrix, self._lu = a, lu

    def __carries_tracer__(self) -> bool:
        return carries_tracer(self._matrix)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lu, name)

    def solve(self, rhs: Any, trans: str = "N") -> Any:
        """As SciPy's."""
        if not carries_tracer((rhs, self._matrix)):
            return self._lu.solve(rhs, trans)
        rhs = as_operand(rhs)
        a = _as_matrix(self._matrix)
        dtype = np.promote_types(a.dtype, rhs.dtype)
        if trans == "H":
            return self.solve(rhs.conj(), "T").conj()
        return solved(a.data.astype(dtype), rhs.astype(dtype), _lu_factors(a, self._lu), trans == "T")


def _plain_or_traced(A: Any) -> Any:
    return A if not carries_tracer(A) else csc_of(_as_matrix(A))


def splu(A, *args, **options):
    """scipy.sparse.linalg.splu, of a matrix that may be made of tracers; `solve` takes tracers."""
    return LU(A, sl.splu(_plain_or_traced(A), *args, **options))


def spilu(A, *args, **options):
    """scipy.sparse.linalg.spilu; `solve` takes tracers, but has no derivative in the matrix."""
    if carries_tracer(A):
        raise NotImplementedError(
            "scipy.sparse.linalg.spilu of tracers has no derivative rule: call it on funcgrad.stop_gradient"
        )
    return LU(A, sl.spilu(A, *args, **options))


def factorized(A):
    """scipy.sparse.linalg.factorized: a function that solves, for tracers too, with one factorisation."""
    theirs = sl.factorized(_plain_or_traced(A))
    made: list[LU] = []

    def solve(b: Any) -> Any:
        if not carries_tracer((b, A)):
            return theirs(b)
        if not made:
            made.append(splu(ss.csc_array(A) if ss.issparse(A) else A))
        return made[0].solve(b)

    return solve


for _name, _made in (("splu", splu), ("spilu", spilu), ("factorized", factorized)):
    linalg.replaces(_name, _made)


@linalg.composite("spsolve_triangular")
def spsolve_triangular(A, b, lower=True, unit_diagonal=False):
    b = as_operand(b)
    a, b = _promoted(_as_matrix(A), b if isinstance(b, Tracer) else np.asarray(b))
    gap = a.structure.rows - a.structure.cols
    keep = np.flatnonzero((gap > 0 if lower else gap < 0) | (gap == 0) & (not unit_diagonal))
    s = Pattern(a.structure.rows[keep], a.structure.cols[keep], a.shape)
    data = a.data[keep]
    matrix = s.matrix(np.asarray(plain(data)))
    if unit_diagonal:
        matrix = matrix + ss.eye_array(a.shape[0], dtype=matrix.dtype)
    matrix = matrix.tocsr()

    def solve(b: Any, transposed: bool) -> Any:
        m = matrix.T.tocsr() if transposed else matrix
        return sl.spsolve_triangular(m, b, lower=bool(lower) != transposed, unit_diagonal=bool(unit_diagonal))

    return solved(data, b, Factors(s, solve))


@linalg.composite("inv")
def inv(A):
    a = _as_matrix(A)
    return _sparse_of(solved(a.data, np.eye(a.shape[0], dtype=a.dtype), _lu_factors(a)))


def _sparse_of(x: Any) -> TracedSparse:
    return traced(x, "csc")


@linalg.composite("norm")
def norm(x, ord=None, axis=None):
    a = _as_matrix(x).asformat("csr")
    structure, member = a.structure.unique()
    from funcgrad.scipy.sparse.structure import gathered

    data = gathered(a.data, member, len(structure.rows))
    if axis is not None and not isinstance(axis, int):
        axis = None
    if axis is None and ord in (None, "fro", "f"):
        return np.linalg.norm(data)
    if axis is None and ord in (1, -1, np.inf, -np.inf):
        sums = TracedSparse(abs(data), structure, "csr", True).sum(axis=0 if abs(ord) == 1 else 1)
        return np.max(sums) if ord > 0 else np.min(sums)
    if axis is not None and ord in (None, 2):
        total = TracedSparse(data * data, structure, "csr", True).sum(axis=axis)
        return np.where(total == 0, 0, np.sqrt(np.where(total == 0, 1, total)))
    if axis is not None and ord == 1:
        return TracedSparse(abs(data), structure, "csr", True).sum(axis=axis)
    raise NotImplementedError(
        f"scipy.sparse.linalg.norm with ord={ord!r} has no derivative rule: write svds, or np.linalg.norm"
    )


@linalg.composite("matrix_power")
def matrix_power(A, power):
    a = _as_matrix(A)
    out = TracedSparse(
        np.ones(a.shape[0], a.dtype),
        Pattern(np.arange(a.shape[0]), np.arange(a.shape[0]), a.shape),
        "csr",
        True,
    )
    for _ in range(power):
        out = out @ a
    return out
