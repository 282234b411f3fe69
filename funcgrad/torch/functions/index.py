"""Indexing: x[index], gather, scatter, index_select, index_add, index_put, take, nonzero, narrow, ..."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from funcgrad.core.arrays.spec import Spec
from funcgrad.core.engine.sweep import Node
from funcgrad.core.engine.trace import Tracer
from funcgrad.core.memory.indexing import READ_PLAN
from funcgrad.torch.functions.ops import Op, note_views, run
from funcgrad.torch.functions.reduce import as_line
from funcgrad.torch.functions.registry import declare, function
from funcgrad.torch.functions.scatter import along, at_add, slices_at
from funcgrad.torch.graph.modes import MODE
from funcgrad.torch.graph.tape import named, next_number
from funcgrad.torch.tensors.inplace import content_index, set_item
from funcgrad.torch.tensors.storage import Shared, share_as_view
from funcgrad.torch.tensors.tensor import PLAIN, Tensor, make_tensor
from funcgrad.torch.tensors.values import as_array, cell, constant, item, looked_at

_new = object.__new__

# ---- x[index] --------------------------------------------------------------------------------------------------------


def is_basic(index: Any) -> bool:
    """Only integers, slices, None and Ellipsis: the result is a view."""
    if type(index) is tuple:
        return all(map(is_basic, index))
    return (
        index is None
        or index is Ellipsis
        or isinstance(index, slice)
        or (isinstance(index, (int, np.integer)) and not isinstance(index, bool))
    )


def _node(input: Any = None, index: Any = None) -> str:
    items = index if type(index) is tuple else (index,)
    if not is_basic(index):
        return "IndexBackward0"
    if all(i is Ellipsis for i in items):
        return "AliasBackward0"
    last = items[-1]
    return (
        "UnsqueezeBackward0"
        if last is None
        else "SelectBackward0"
        if isinstance(last, (int, np.integer))
        else "SliceBackward0"
    )


def _getitem(input: Any, index: Any) -> Any:
    out = input[index]
    if type(input) is Shared and not isinstance(out, np.ndarray):
        return input[(*(index if type(index) is tuple else (index,)), ...)]
    return out


GETITEM = Op("getitem", _getitem, _node)


class _WrappedIndex:
    """An index, wrapped so that it is passed on as it is."""

    __slots__ = ("index",)

    def __init__(self, index: Any) -> None:
        self.index = index


_GET = Op(
    "getitem",
    lambda input, fixed: _getitem(input, fixed.index),
    lambda input, fixed: _node(input, fixed.index),
)


class _BasicIndexStep:
    """The step from an array to what lies at a basic index."""

    __slots__ = ("index",)

    def __init__(self, index: Any) -> None:
        self.index = index

    def __call__(self, x: Any) -> Any:
        return _getitem(x, self.index)


_BASIC = frozenset((int, slice, type(None), type(Ellipsis)))
_PLANS: dict[str, Any] = {
    title: named(READ_PLAN, title) for title in ("SelectBackward0", "SliceBackward0", "UnsqueezeBackward0")
}
_PLANS["AliasBackward0"] = named(READ_PLAN, "AliasBackward0")


def _steps_forward(index: Any) -> bool:
    """Is it a slice with plain bounds, or None, that torch allows?"""
    return type(index) is not slice or (
        (index.step is None or type(index.step) is int and index.step > 0)
        and (index.start is None or type(index.start) is int)
        and (index.stop is None or type(index.stop) is int)
    )


def _fast_item(t: Tensor, index: Any) -> Tensor | None:
    """The lane of t[index] for plain arrays and basic indices, in the normal mode; None for anything else."""
    kind, x = type(index), t.value
    is_shared = type(x) is Shared
    if not (type(x) is np.ndarray or is_shared and t.node is None) or MODE.get() is not None:
        return None
    if kind is not int:
        items = index if kind is tuple else (index,)
        if not _BASIC.issuperset(map(type, items)) or not all(map(_steps_forward, items)):
            return None
    try:
        out = _getitem(x, index) if is_shared else x[index]
    except IndexError:
        return None
    made, node = _new(Tensor), t.node
    made.value, made.node = out, None
    if node is not None:
        read = made.node = Node()
        read.number, read.saved, read.origin = next_number(), index, node
        read.plan = _PLANS["SelectBackward0" if kind is int else _node(t, index)]
        read.spec = Spec(out.shape, out.dtype)
    share_as_view(t, made, _BasicIndexStep(index), None)
    return made


def get_item(t: Tensor, index: Any) -> Tensor:
    """t[index]: a view, if the index is of integers, slices, None and Ellipsis."""
    if type(t) in PLAIN:
        found = _fast_item(t, index)
        if found is not None:
            return found
    given = content_index(index)
    try:
        if isinstance(given, Tracer) or (type(given) is tuple and any(isinstance(i, Tracer) for i in given)):
            return run(GETITEM, (t, given), {})
        fixed = _WrappedIndex(given)
        out = _GET(t, fixed)
    except IndexError as error:
        raise IndexError(_index_error(t, given, error)) from None
    if is_basic(given):
        note_views(t, out, lambda contents: _getitem(contents[0], given), "view")
    return out


def _index_error(t: Tensor, index: Any, error: IndexError) -> str:
    if isinstance(index, int) and t.ndim:
        return f"index {index} is out of bounds for dimension 0 with size {t.shape[0]}"
    if not t.ndim:
        return "invalid index of a 0-dim tensor. Use `tensor.item()` to convert a 0-dim tensor to a number"
    return str(error)


Tensor.__getitem__ = get_item  # type: ignore[attr-defined]
Tensor.__setitem__ = set_item  # type: ignore[attr-defined]


def _iter(t: Tensor) -> Any:
    if not t.ndim:
        raise TypeError("iteration over a 0-d tensor")
    return iter(Tensor.unbind(t))


Tensor.__iter__ = _iter  # type: ignore[attr-defined]


@function("fm")
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """One slice along `dim`."""
    return get_item(input, (*[slice(None)] * (dim % input.ndim), index))


@function("fm")
def narrow(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """`length` slices along `dim`, from `start`."""
    size = input.shape[dim]
    start = int(start) + size if start < 0 else int(start)
    if length < 0 or not 0 <= start <= size - length:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return get_item(input, (*[slice(None)] * (dim % input.ndim), slice(start, start + length)))


def _unbind(input: Any, dim: int = 0) -> Any:
    """All slices along `dim`, as a tuple."""
    moved = np.moveaxis(input, dim, 0)
    return tuple(moved[i] for i in range(moved.shape[0]))


declare("unbind", _unbind, view=True)


def _split(input: Any, split_size_or_sections: Any, dim: int = 0) -> Any:
    """Parts along `dim`: of one size, or of the sizes given."""
    n = input.shape[dim]
    sizes = split_size_or_sections
    if isinstance(sizes, int):
        cuts = list(range(sizes, n, sizes))
    else:
        if sum(sizes) != n:
            raise RuntimeError(
                f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size at dimension {dim}), but "
                f"got split_sizes={list(sizes)}"
            )
        cuts = list(np.cumsum(sizes)[:-1])
    return tuple(np.split(input, cuts, dim))


def _chunk(input: Any, chunks: int, dim: int = 0) -> Any:
    """At most `chunks` parts of equal size along `dim`."""
    return _split(input, max(-(-input.shape[dim] // chunks), 1), dim)


declare(
    "split",
    _split,
    lambda input, sizes, dim=0: "SplitBackward0" if isinstance(sizes, int) else "SplitWithSizesBackward0",
    view=True,
)
declare("chunk", _chunk, "SplitBackward0", view=True)
declare(
    "tensor_split",
    lambda input, indices_or_sections, dim=0: tuple(np.array_split(input, indices_or_sections, dim)),
    view=True,
)

# ---- along one dim -----------------------------------------------------------------------------------------------------


def _gather(input: Any, dim: int, index: Any, *, sparse_grad: bool = False) -> Any:
    """out[i][j] = input[index[i][j]][j] for dim=0, and so on."""
    if input.ndim == 0:
        return np.copy(np.broadcast_to(input, index.shape)) if index.ndim else np.copy(input)
    return item(input, along(index, dim, input.ndim))


declare("gather", _gather)
declare(
    "take_along_dim",
    lambda input, indices, dim=None: (
        np.take_along_axis(input, indices, dim)
        if dim is not None
        else np.take_along_axis(np.reshape(input, -1), np.reshape(indices, -1), 0)
    ),
    "GatherBackward0",
)
declare("index_select", as_line(lambda input, dim, index: np.take(input, constant(index), dim)))


def _index_filled(input: Any, dim: int, index: Any, value: Any) -> Any:
    """`input` with `value` in the slices that `index` names along `dim`."""
    out = cell(input, index, value)
    out[slices_at(dim, index, input.ndim)] = value
    return out


declare("index_fill", _index_filled, where="fmi")
declare("index_copy", _index_filled, where="fmi")


def _index_put(input: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """`input` with `values` at `indices`; of several writes to one place the last one counts, or they add up."""
    where = tuple(slice(None) if i is None else constant(i) for i in indices)
    if accumulate:
        return at_add(input, where, values)
    out = cell(input, *where, values)
    out[where] = values
    return out


declare("index_put", _index_put, where="fmi")


def _masked_scatter(input: Any, mask: Any, source: Any) -> Any:
    """`input` with the first elements of `source` where `mask`."""
    mask = np.broadcast_to(constant(mask), input.shape)
    if isinstance(mask, Tracer):  # each example takes as many as its own mask has places
        rank = np.reshape(np.cumsum(np.reshape(mask, -1)), input.shape) - 1
        return np.where(mask, np.reshape(source, -1)[np.maximum(rank, 0)], input)
    out = cell(input, source)
    out[mask] = np.reshape(source, -1)[: int(mask.sum())]
    return out


declare("masked_scatter", _masked_scatter, where="fmi")
declare(
    "masked_select",
    lambda input, mask: np.broadcast_to(input, np.broadcast_shapes(input.shape, mask.shape))[
        np.broadcast_to(looked_at(mask, "masked_select"), np.broadcast_shapes(input.shape, mask.shape))
    ],
)
declare("take", lambda input, index: item(np.reshape(input, -1), constant(index)))


@function("fm", out=True)
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """The indices of the elements that are not 0: one row each, or a tuple with one tensor for each dim."""
    found = np.nonzero(np.atleast_1d(looked_at(input.value, "nonzero")))
    return tuple(map(make_tensor, found)) if as_tuple else make_tensor(np.stack(found, 1))


declare("argwhere", lambda input: np.argwhere(input))


def _searchsorted(
    sorted_sequence: Any,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: Any = None,
    sorter: Any = None,
) -> Any:
    """Where elements of `input` belong in a sorted vector, or in the rows of an array that is sorted, or that
    `sorter` sorts.
    """
    side = side or ("right" if right else "left")
    if sorter is not None:
        sorted_sequence = np.take_along_axis(sorted_sequence, sorter, -1)
    if np.ndim(sorted_sequence) == 1:
        found = as_array(np.searchsorted(sorted_sequence, input, side))
    else:
        rows = sorted_sequence.reshape(-1, sorted_sequence.shape[-1])
        values = input.reshape(len(rows), -1)
        found = np.stack([np.searchsorted(r, v, side) for r, v in zip(rows, values, strict=True)])
        found = found.reshape(input.shape)
    return found.astype(np.int32) if out_int32 else found


declare("searchsorted", _searchsorted, where="f")
declare(
    "bucketize",
    lambda input, boundaries, *, out_int32=False, right=False: as_array(
        np.searchsorted(boundaries, input, "right" if right else "left")
    ).astype(np.int32 if out_int32 else np.int64),
)
declare("bincount", lambda input, weights=None, minlength=0: np.bincount(input, weights, minlength))


# ---- writes to copies ---------------------------------------------------------------------------------------------------
def _put(input: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    """`input` with elements of `source` at flat indices; repeated places take the last, or the sum."""
    where, values = np.reshape(constant(index), -1), np.reshape(source, -1)
    where = np.where(where < 0, where + math.prod(input.shape), where)
    flat = cell(np.reshape(input, -1), where, values)
    if accumulate:
        return np.reshape(at_add(flat, (where,), values), input.shape)
    flat[where] = values
    return np.reshape(flat, input.shape)


declare("put", _put, where="fmi")
