"""Sparse matrices in coordinates: what torch.sparse_coo_tensor and x.to_sparse() give, for products with
dense tensors.

A sparse tensor has indices and values, which may require grad; what is computed of it is dense, but for sums
and products with numbers. Indices of the first dims only leave the others to the values: so are the gradients of
tables of rows. SciPy's routines run beneath, where SciPy is installed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from funcgrad.nn.kernels.embedding import SparseRows
from funcgrad.torch.functions import creation
from funcgrad.torch.functions.join import cat
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.functions.scatter import at_add
from funcgrad.torch.tensors.size import Size
from funcgrad.torch.tensors.tensor import Tensor, make_tensor, plain


def _dense(values: Any, indices: Any, shape: tuple[int, ...]) -> Any:
    return at_add(np.zeros(shape, values.dtype), tuple(indices), values)


def _mm(values: Any, dense: Any, indices: Any, rows: int) -> Any:
    """The product of a sparse matrix with a dense one (or a vector)."""
    row, column = indices
    picked = dense[column]
    terms = picked * (values[:, None] if dense.ndim == 2 else values)
    return at_add(np.zeros((rows, *dense.shape[1:]), terms.dtype), (row,), terms)


class _FixedTuple(tuple):
    """Indices, which are passed on as they are."""


_TO_DENSE = Op("to_dense", _dense, "ToDenseBackward0")
_MM = Op("sparse_mm", _mm, "SparseAddmmBackward0")


class SparseTensor:
    """A tensor of which the elements that are not 0 are kept, with their indices (dims, count)."""

    is_sparse, layout = True, "torch.sparse_coo"

    def __init__(
        self, indices: np.ndarray, values: Any, shape: tuple[int, ...], coalesced: bool = False
    ) -> None:
        self._index, self._held, self.shape, self._coalesced = indices, values, Size(shape), coalesced

    dtype = property(lambda self: self._held.dtype)
    requires_grad = property(lambda self: self._held.requires_grad)
    ndim = property(lambda self: len(self.shape))
    device = property(lambda self: self._held.device)
    grad = property(lambda self: self._held.grad)
    grad_fn = property(lambda self: self._held.grad_fn)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the number of elements along one dim."""
        return self.shape if dim is None else self.shape[dim]

    def dim(self) -> int:
        """The number of dims."""
        return len(self.shape)

    def _indices(self) -> Tensor:
        return make_tensor(self._index)

    def _values(self) -> Any:
        return self._held

    def _nnz(self) -> int:
        return self._index.shape[1]

    def sparse_dim(self) -> int:
        """The number of dims that the indices have."""
        return len(self._index)

    def dense_dim(self) -> int:
        """The number of dims that are left to the values."""
        return len(self.shape) - len(self._index)

    def numel(self) -> int:
        """The number of elements, zeros included."""
        return math.prod(self.shape)

    def indices(self) -> Tensor:
        """The indices (dims, count). Raises RuntimeError before coalesce()."""
        self._need_coalesced("indices")
        return self._indices()

    def values(self) -> Any:
        """The values. Raises RuntimeError before coalesce()."""
        self._need_coalesced("values")
        return self._held

    def _need_coalesced(self, what: str) -> None:
        if not self._coalesced:
            raise RuntimeError(f"Cannot get {what} on an uncoalesced tensor, please call .coalesce() first")

    def is_coalesced(self) -> bool:
        """Has each element one value?"""
        return self._coalesced

    def coalesce(self) -> SparseTensor:
        """Indices in order, each once: values of one element are added up."""
        if self._coalesced:
            return self
        sizes = self.shape[: self.sparse_dim()]
        flat = np.ravel_multi_index(tuple(self._index), sizes)
        places, where = np.unique(flat, return_inverse=True)
        sums = creation.zeros(len(places), *self._held.shape[1:], dtype=self.dtype).index_add(
            0, make_tensor(where), self._held
        )
        return SparseTensor(np.stack(np.unravel_index(places, sizes)), sums, self.shape, True)

    def to_dense(self) -> Any:
        """The dense tensor."""
        return _TO_DENSE(self._held, _FixedTuple(self._index), tuple(self.shape))

    def to_sparse(self) -> SparseTensor:
        """Itself."""
        return self

    def t(self) -> SparseTensor:
        """The transpose."""
        return SparseTensor(self._index[::-1].copy(), self._held, self.shape[::-1])

    transpose = lambda self, dim0, dim1: self.t()  # noqa: E731

    def _with(self, values: Any) -> SparseTensor:
        return SparseTensor(self._index, values, self.shape, self._coalesced)

    def requires_grad_(self, requires_grad: bool = True) -> SparseTensor:
        """Record operations on the values."""
        self._held.requires_grad_(requires_grad)
        return self

    def detach(self) -> SparseTensor:
        """The same, outside the graph."""
        return self._with(self._held.detach())

    def clone(self) -> SparseTensor:
        """A copy of the values."""
        return self._with(self._held.clone())

    def detach_(self) -> SparseTensor:
        """Cut this off from the graph."""
        self._held = self._held.detach()
        return self

    def zero_(self) -> SparseTensor:
        """Keep nothing: all elements are 0."""
        self._index, self._held, self._coalesced = self._index[:, :0], self._held.detach()[:0], True
        return self

    def mul_(self, other: Any) -> SparseTensor:
        """Multiply the values by a number."""
        self._held = self._held * other
        return self

    def to(self, *args: Any, **kwargs: Any) -> SparseTensor:
        """With values of another dtype."""
        return self._with(self._held.to(*args, **kwargs))

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, (int, float)) or (isinstance(other, Tensor) and not other.ndim):
            return self._with(self._held * other)
        if isinstance(other, Tensor):
            return self._with(self._held * other[tuple(map(make_tensor, self._index))])
        return (self.to_dense() * other.to_dense()).to_sparse()

    __rmul__ = mul = __mul__

    def __truediv__(self, other: Any) -> SparseTensor:
        return self._with(self._held / other)

    div = __truediv__

    def __neg__(self) -> SparseTensor:
        return self._with(-self._held)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, SparseTensor):
            return SparseTensor(
                np.concatenate([self._index, other._index], 1), cat([self._held, other._held]), self.shape
            )
        return self.to_dense() + other

    __radd__ = add = __add__

    def __matmul__(self, other: Any) -> Any:
        return mm(self, other)

    mm = matmul = mv = __matmul__

    def __rmatmul__(self, other: Any) -> Any:
        return mm(self.t(), other.transpose(-1, -2) if other.ndim > 1 else other).transpose(-1, -2)

    def sum(self, dim: Any = None) -> Any:
        """The sum of all elements, or along a dim."""
        return self._held.sum() if dim is None else self.to_dense().sum(dim)

    def __repr__(self) -> str:
        pad = "       "
        indices, values = (
            repr(x).replace("\n", "\n" + pad + " " * n) for x, n in ((self._indices(), 8), (self._held, 7))
        )
        return (
            f"tensor(indices={indices},\n{pad}values={values},\n"
            f"{pad}size={tuple(self.shape)}, nnz={self._nnz()}, layout=torch.sparse_coo)"
        )


def of_rows(rows: SparseRows) -> SparseTensor:
    """The gradient of a table: one value (D,) for each row that was looked up."""
    values = rows.values.conj() if rows.dtype.kind == "c" else rows.values
    return SparseTensor(rows.indices[None], make_tensor(values), rows.shape)


def mm(sparse: Any, dense: Any) -> Any:
    """The product of a sparse matrix and a dense one (or a vector); of two sparse ones a sparse one.

    Raises RuntimeError for shapes that do not fit.
    """
    if not isinstance(sparse, SparseTensor):
        return sparse @ (dense.to_dense() if isinstance(dense, SparseTensor) else dense)
    if isinstance(dense, SparseTensor):
        return to_sparse(mm(sparse, dense.to_dense()))
    if sparse.shape[1] != dense.shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({sparse.shape[0]}x{sparse.shape[1]} and "
            f"{dense.shape[0]})"
        )
    return _MM(sparse._held, dense, _FixedTuple(sparse._index), sparse.shape[0])


def addmm(mat: Any, mat1: Any, mat2: Any, *, beta: Any = 1.0, alpha: Any = 1.0) -> Any:
    """beta * mat + alpha * (mat1 @ mat2), with a sparse mat1."""
    return beta * mat + alpha * mm(mat1, mat2)


def sum(input: Any, dim: Any = None, dtype: Any = None) -> Any:
    """The sum of a sparse tensor, as a dense one."""
    return input.sum(dim)


def to_sparse(x: Any, *args: Any, **kwargs: Any) -> SparseTensor:
    """The elements of a dense tensor that are not 0, with their indices."""
    index = np.stack(np.nonzero(np.asarray(plain(x))))
    return SparseTensor(index, x[tuple(map(make_tensor, index))], tuple(x.shape), True)


def sparse_coo_tensor(
    indices: Any, values: Any, size: Any = None, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
    check_invariants: bool | None = None, is_coalesced: bool | None = None,
) -> SparseTensor:  # fmt: skip
    """A sparse tensor from indices (dims, count) and values (count,); values of one element add up.

    Raises RuntimeError where an index lies outside of `size`.

    >>> import funcgrad.torch as torch
    >>> torch.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3)).to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 0.]])
    """
    index = np.array(plain(creation.as_tensor(indices)), np.int64)
    held = values if isinstance(values, Tensor) else creation.tensor(values)
    held = held if dtype is None else held.to(dtype)
    shape = tuple(index.max(1) + 1) if size is None else tuple(int(n) for n in size)
    if index.size and ((index < 0).any() or (index.max(1) >= np.array(shape)).any()):
        raise RuntimeError(f"size is inconsistent with indices: an index lies outside of {list(shape)}")
    made = SparseTensor(index, held, shape, bool(is_coalesced))
    return made.requires_grad_() if requires_grad else made


__all__ = ["SparseTensor", "addmm", "mm", "sparse_coo_tensor", "sum", "to_sparse"]
