"""A sparse matrix whose entries are a tracer: the pattern is constant, the work goes to the entries.

It behaves as SciPy's does: products with arrays and with sparse matrices, sums, slices, other formats.
Entries are kept by place (rows, columns, data); `format` is only remembered.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as ss

from funcgrad.core.engine.primitive import as_operand
from funcgrad.core.engine.trace import Tracer, concrete
from funcgrad.numpy.products import sparse_times
from funcgrad.scipy.mirror import carries_tracer
from funcgrad.scipy.sparse.structure import Pattern, gathered, product

FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")


def is_sparse(x: Any) -> bool:
    """Is it a sparse matrix, of SciPy's or of tracers?"""
    return isinstance(x, TracedSparse) or ss.issparse(x)


def traced(x: Any, like: str = "coo") -> TracedSparse:
    """A sparse matrix, or a dense one of tracers, by its entries."""
    if isinstance(x, TracedSparse):
        return x
    if ss.issparse(x):
        c = x.tocoo()
        return TracedSparse(c.data, Pattern(c.row, c.col, c.shape), x.format, isinstance(x, ss.sparray))
    x = as_operand(x)
    plain = np.asarray(concrete(x))
    rows, cols = np.nonzero(np.atleast_2d(plain))
    return TracedSparse(
        np.atleast_2d(x)[rows, cols], Pattern(rows, cols, np.atleast_2d(plain).shape), like, True
    )


class TracedSparse:
    """See the module."""

    __array_priority__ = 20.0

    def __init__(self, data: Any, structure: Pattern, format: str, is_array: bool) -> None:
        self.data, self.structure, self.format, self.is_array = data, structure, format, is_array

    def __carries_tracer__(self) -> bool:
        return carries_tracer(self.data)

    # ---- what it is ------------------------------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, int]:
        """As SciPy's."""
        return self.structure.shape

    @property
    def ndim(self) -> int:
        """Two."""
        return 2

    @property
    def dtype(self) -> Any:
        """That of the entries."""
        return self.data.dtype

    @property
    def nnz(self) -> int:
        """How many entries are stored."""
        return len(self.structure.rows)

    @property
    def row(self) -> Any:
        """The row of each entry."""
        return self.structure.rows

    @property
    def col(self) -> Any:
        """The column of each entry."""
        return self.structure.cols

    @property
    def indices(self) -> Any:
        """As SciPy's, for data by rows or columns."""
        return self.structure.cols if self.format == "csr" else self.structure.rows

    @property
    def indptr(self) -> Any:
        """As SciPy's, for data by rows or columns."""
        major, count = (
            (self.structure.rows, self.shape[0])
            if self.format == "csr"
            else (self.structure.cols, self.shape[1])
        )
        return np.concatenate([[0], np.cumsum(np.bincount(major, minlength=count))])

    def __repr__(self) -> str:
        kind = "array" if self.is_array else "matrix"
        return f"<sparse {kind} of tracers, {self.shape}, {self.nnz} entries, format {self.format}>"

    def _like(self, data: Any, structure: Pattern | None = None, format: str | None = None) -> TracedSparse:
        return TracedSparse(data, structure or self.structure, format or self.format, self.is_array)

    # ---- formats ---------------------------------------------------------------------------------------------------------

    def asformat(self, format: str | None, copy: bool = False) -> TracedSparse:
        """In another format: entries in one place are added up, and sorted."""
        if format is None or format == self.format:
            return self
        if format in ("coo", "dok", "lil", "dia") and self.format != "coo":
            return self._like(self.data, format=format)
        structure, member = self.structure.unique()
        if format == "csc":
            structure, member = self.structure.T.unique()
            structure = structure.T
        data = (
            self.data[np.argsort(member)]
            if len(structure.rows) == self.nnz
            else gathered(self.data, member, len(structure.rows))
        )
        return self._like(data, structure, format)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("to") and name[2:] in FORMATS:
            return lambda *args, **kwargs: self.asformat(name[2:])
        if name in _ELEMENTWISE:
            return lambda: self._like(
                getattr(np, name)(self.asformat("csr").data), self.asformat("csr").structure
            )
        raise AttributeError(
            f"a sparse matrix of tracers has no {name!r}. Write it in terms of products, sums, multiply and toarray(), or with "
            "its entries x.data."
        )

    def copy(self) -> TracedSparse:
        """Another matrix of the same entries."""
        return self._like(self.data)

    def astype(self, dtype: Any, **_: Any) -> TracedSparse:
        """With entries of another dtype."""
        return self._like(self.data.astype(dtype))

    def toarray(self, *_: Any, **__: Any) -> Any:
        """The dense array."""
        m, n = self.shape
        places = self.structure.rows.astype(np.int64) * n + self.structure.cols
        return gathered(self.data, places, m * n).reshape(m, n)

    def todense(self, *_: Any, **__: Any) -> Any:
        """The dense array."""
        return self.toarray()

    def sum_duplicates(self) -> None:
        """Add up entries in one place."""
        made = self.asformat("coo" if self.format != "coo" else "csr")
        self.data, self.structure = made.data, made.structure

    def sort_indices(self) -> None:
        """The order of entries has no meaning here."""

    def eliminate_zeros(self) -> None:
        """Entries that are 0 may have derivatives: they are kept."""

    # ---- algebra ---------------------------------------------------------------------------------------------------------

    @property
    def T(self) -> TracedSparse:
        """The transposed matrix."""
        other = {"csr": "csc", "csc": "csr"}.get(self.format, self.format)
        return self._like(self.data, self.structure.T, other)

    def transpose(self, *_: Any, **__: Any) -> TracedSparse:
        """The transposed matrix."""
        return self.T

    def conj(self, copy: bool = True) -> TracedSparse:
        """The conjugate."""
        return self._like(self.data.conj())

    conjugate = conj

    def __matmul__(self, other: Any) -> Any:
        if is_sparse(other):
            return self._times_sparse(traced(other))
        other = as_operand(other)
        dtype = np.result_type(self.dtype, other.dtype)
        return product(self.data.astype(dtype), other.astype(dtype), self.structure)

    def __rmatmul__(self, other: Any) -> Any:
        if is_sparse(other):
            return traced(other) @ self
        other = as_operand(other)
        return self.T @ other if other.ndim == 1 else (self.T @ other.T).T

    def dot(self, other: Any) -> Any:
        """The product."""
        return self * other if np.ndim(other) == 0 and not is_sparse(other) else self @ other

    def _times_sparse(self, other: TracedSparse) -> TracedSparse:
        a, b = self.asformat("csr"), other.asformat("csr")
        if a.format == self.format and a is self:
            a = self._like(*_sorted(self))
        if b is other:
            b = other._like(*_sorted(other))
        if a.shape[1] != b.shape[0]:
            raise ValueError(
                f"matmul: dimension mismatch with signature (n,k={a.shape[1]}),(k={b.shape[0]},m)->(n,m)"
            )
        pointers = np.concatenate([[0], np.cumsum(np.bincount(b.structure.rows, minlength=b.shape[0]))])
        counts = np.diff(pointers)[a.structure.cols]
        first = np.repeat(np.arange(a.nnz), counts)
        offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        second = pointers[a.structure.cols][first] + offsets
        data = a.data[first] * b.data[second]
        raw = Pattern(a.structure.rows[first], b.structure.cols[second], (a.shape[0], b.shape[1]))
        structure, member = raw.unique()
        return self._like(gathered(data, member, len(structure.rows)), structure, "csr")

    def multiply(self, other: Any) -> Any:
        """Elementwise."""
        if is_sparse(other):
            return _common(self, traced(other))
        other = as_operand(other)
        if np.ndim(other) == 0:
            return self._like(self.data * other)
        wide = np.broadcast_to(other, self.shape)
        return self._like(self.data * wide[self.structure.rows, self.structure.cols], format="coo")

    def __mul__(self, other: Any) -> Any:
        if np.ndim(other) == 0 and not is_sparse(other):
            return self._like(self.data * other)
        return self.multiply(other) if self.is_array else self @ other

    def __rmul__(self, other: Any) -> Any:
        if np.ndim(other) == 0 and not is_sparse(other):
            return self._like(other * self.data)
        return self.multiply(other) if self.is_array else other @ self

    def __truediv__(self, other: Any) -> Any:
        return self._like(self.data / other) if np.ndim(other) == 0 else self.multiply(1 / as_operand(other))

    def __neg__(self) -> TracedSparse:
        return self._like(-self.data)

    def __add__(self, other: Any) -> Any:
        if not is_sparse(other):
            return (
                self
                if np.ndim(other) == 0 and not isinstance(other, Tracer) and other == 0
                else self.toarray() + other
            )
        other = traced(other)
        dtype = np.result_type(self.dtype, other.dtype)
        data = np.concatenate([self.data.astype(dtype), other.data.astype(dtype)])
        rows = np.concatenate([self.structure.rows, other.structure.rows])
        cols = np.concatenate([self.structure.cols, other.structure.cols])
        return self._like(data, Pattern(rows, cols, self.shape), "coo").asformat("csr")

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def power(self, n: Any, dtype: Any = None) -> TracedSparse:
        """Elementwise."""
        return self.asformat("csr")._like(self.asformat("csr").data ** n)

    def __pow__(self, n: Any) -> Any:
        if self.is_array:
            return self.power(n)
        out = self
        for _ in range(int(n) - 1):
            out = out @ self
        return out

    def __abs__(self) -> TracedSparse:
        return self.asformat("csr")._like(abs(self.asformat("csr").data))

    # ---- reductions, parts -----------------------------------------------------------------------------------------------

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """The sum of all entries, or along an axis."""
        if axis is None:
            return np.sum(self.data)
        s = self.structure if axis in (1, -1) else self.structure.T
        found = gathered(self.data, s.rows, s.shape[0])
        return found if self.is_array else (found[:, None] if axis in (1, -1) else found[None])

    def mean(self, axis: Any = None, **_: Any) -> Any:
        """The mean."""
        return self.sum(axis) / (self.shape[0] * self.shape[1] if axis is None else self.shape[axis])

    def diagonal(self, k: int = 0) -> Any:
        """The entries of a diagonal."""
        s = self.structure
        keep = np.flatnonzero(s.cols - s.rows == k)
        size = max(min(self.shape[0] + min(k, 0), self.shape[1] - max(k, 0)), 0)
        return gathered(self.data[keep], s.rows[keep] + min(k, 0), size)

    def trace(self, offset: int = 0) -> Any:
        """The sum of the diagonal."""
        return np.sum(self.diagonal(offset))

    def count_nonzero(self, axis: Any = None) -> Any:
        """As SciPy's, of the values."""
        return self.structure.matrix(np.asarray(concrete(self.data))).count_nonzero(axis)

    def nonzero(self) -> Any:
        """As SciPy's, of the values."""
        return self.structure.matrix(np.asarray(concrete(self.data))).nonzero()

    def __getitem__(self, key: Any) -> Any:
        a = self.asformat("csr") if self.format != "csr" else self._like(*_sorted(self))
        numbered = a.structure.matrix(np.arange(1.0, a.nnz + 1))[key]
        if not ss.issparse(numbered):
            k = int(numbered) - 1
            return a.data[k] if k >= 0 else 0.0 * np.sum(a.data[:1])
        c = numbered.tocoo()
        if len(c.shape) == 1:
            return gathered(a.data[c.data.astype(int) - 1], c.coords[0], c.shape[0])
        return a._like(a.data[c.data.astype(int) - 1], Pattern(c.row, c.col, c.shape), "csr")

    # ---- beside arrays ---------------------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return answered(self, ufunc, method, inputs, kwargs)


_ELEMENTWISE = frozenset(
    [
        "sin",
        "tan",
        "arcsin",
        "arctan",
        "sinh",
        "tanh",
        "arcsinh",
        "arctanh",
        "expm1",
        "log1p",
        "sqrt",
        "deg2rad",
        "rad2deg",
    ]
)
_REFLECTED = {np.matmul: "__rmatmul__", np.multiply: "__rmul__", np.add: "__radd__", np.subtract: "__rsub__"}
_FORWARD = {
    np.matmul: "__matmul__",
    np.multiply: "__mul__",
    np.add: "__add__",
    np.subtract: "__sub__",
    np.true_divide: "__truediv__",
}


def answered(matrix: Any, ufunc: Any, method: str, inputs: Any, kwargs: Any) -> Any:
    """A ufunc of an array and a sparse matrix, by the matrix's own operators."""
    if method != "__call__" or kwargs or len(inputs) > 2:
        return NotImplemented
    if len(inputs) == 1:
        name = ufunc.__name__
        return (
            getattr(matrix, name)()
            if name in _ELEMENTWISE
            else abs(matrix)
            if ufunc is np.absolute
            else NotImplemented
        )
    first, second = inputs
    name = _FORWARD.get(ufunc) if first is matrix else _REFLECTED.get(ufunc)
    if name is None or not hasattr(type(matrix), name):
        return NotImplemented
    return getattr(matrix, name)(second if first is matrix else first)


def _sorted(a: TracedSparse) -> tuple[Any, Pattern]:
    """Data and places by rows, repetition or not."""
    order = np.argsort(a.structure.rows, kind="stable")
    s = a.structure
    return a.data[order], Pattern(s.rows[order], s.cols[order], s.shape)


def _common(a: TracedSparse, b: TracedSparse) -> TracedSparse:
    """The elementwise product of two sparse matrices."""
    a, b = a.asformat("coo" if a.format == "csr" else "csr").asformat("csr"), b.asformat("csr")
    (sa, ma), (sb, mb) = a.structure.unique(), b.structure.unique()
    da, db = gathered(a.data, ma, len(sa.rows)), gathered(b.data, mb, len(sb.rows))
    ka, kb = (s.rows.astype(np.int64) * a.shape[1] + s.cols for s in (sa, sb))
    _, ia, ib = np.intersect1d(ka, kb, return_indices=True)
    return a._like(da[ia] * db[ib], Pattern(sa.rows[ia], sa.cols[ia], a.shape), "csr")


def constant_times(matrix: Any, x: Any) -> Any:
    """matrix @ x for a constant sparse matrix and a tracer."""
    if x.ndim == 0:
        raise ValueError("Scalar operands are not allowed, use '*' instead")
    return sparse_times(x, matrix=matrix)
