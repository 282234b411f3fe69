"""Functions that join arrays, and that take them apart.

np.concatenate and np.stack are primitives; the other joiners are written with them, the splitters with
slices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from funcgrad.core.arrays.arguments import as_operand, holds_tracer
from funcgrad.core.arrays.flat import check_parts_apart
from funcgrad.core.engine.catalogue import Out
from funcgrad.core.engine.declare import composite, linear
from funcgrad.core.engine.primitive import Call, Primitive
from funcgrad.core.engine.trace import bind, is_foreign, memory_of
from funcgrad.core.memory.layout import in_bytes
from funcgrad.core.memory.orders import contiguous_as, example, lying_as

# ---- joining ---------------------------------------------------------------------------------------------------------


def _batched_all(operands: Sequence[Any], batched: Sequence[bool], size: int) -> list[Any]:
    """Operands that all have the batch in front."""
    return [
        x if b else np.broadcast_to(x, (size, *np.shape(x))) for x, b in zip(operands, batched, strict=True)
    ]


def batched_concatenate(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    """The axis moves by one."""
    operands = _batched_all(call.operands, batched, size)
    axis = call.params.get("axis", primitive.defaults["axis"])
    if axis is None:
        operands = [x.reshape(size, math.prod(x.shape[1:])) for x in operands]
    return bind(
        primitive, Call(operands, call.layout, {**call.params, "axis": 1 if axis is None else axis + 1})
    )


def _cut(ct: Any, arrays: Any, axis: Any = 0) -> list[Any]:
    """The pieces of `ct` that belong to each of `arrays`."""
    if axis is None:
        ends = list(accumulate(x.size for x in arrays))
        return [ct[end - x.size : end].reshape(x.shape) for x, end in zip(arrays, ends, strict=True)]
    before = (slice(None),) * axis
    ends = list(accumulate(x.shape[axis] for x in arrays))
    return [ct[(*before, slice(end - x.shape[axis], end))] for x, end in zip(arrays, ends, strict=True)]


def _unstacked(ct: Any, arrays: Any, axis: int = 0) -> list[Any]:
    before = (slice(None),) * axis
    return [ct[(*before, k)] for k in range(len(arrays))]


_PARTS = Out(check=check_parts_apart)
linear(
    np.concatenate, _cut, moves=True, batch=batched_concatenate,
    operands="arrays*", signature="arrays, /, axis=0, out=None, *, dtype=None, casting='same_kind'", out=_PARTS,
)  # fmt: skip
linear(
    np.stack, _unstacked, operands="arrays*", axis="out", moves=True, batch=batched_concatenate, out=_PARTS
)


def _joined(tup: Any, at_least: Any, axis: int, **options: Any) -> Any:
    """The arrays of `tup`, each with at least as many axes as `at_least` gives, joined along `axis`."""
    return np.concatenate([at_least(x) for x in map(as_operand, tup)], axis, **options)


def _hstack(tup: Any, **options: Any) -> Any:
    arrays = [np.atleast_1d(x) for x in map(as_operand, tup)]
    return np.concatenate(arrays, 0 if arrays and arrays[0].ndim == 1 else 1, **options)


def _as_columns(x: Any) -> Any:
    return x if np.ndim(x) >= 2 else np.reshape(x, (-1, 1))


def _block(arrays: Any) -> Any:
    """Innermost lists are joined along the last axis, the lists around them along the axes before it."""
    _check_depths(arrays)
    if not isinstance(arrays, list):
        return np.copy(arrays, order="C")
    depth = _depth(arrays)
    rank = max(depth, *(np.ndim(x) for x in _leaves(arrays)))
    return _joined_block(arrays, depth, rank)


def _joined_block(item: Any, depth: int, rank: int) -> Any:
    if not isinstance(item, list):
        return np.reshape(item, (1,) * (rank - np.ndim(item)) + np.shape(item))
    return np.concatenate([_joined_block(x, depth - 1, rank) for x in item], -depth)


def _leaves(item: Any) -> list[Any]:
    return [leaf for x in item for leaf in _leaves(x)] if isinstance(item, list) else [item]


def _depth(item: Any) -> int:
    return 1 + _depth(item[0]) if isinstance(item, list) else 0


def _check_depths(item: Any) -> None:
    """Refuse what NumPy refuses: tuples, empty lists, lists of different depths."""
    if isinstance(item, tuple):
        raise TypeError(
            "np.block takes nested lists, not tuples: write lists, or join the arrays with np.concatenate"
        )
    if isinstance(item, list):
        if not item:
            raise ValueError("List at arrays cannot be empty")
        for x in item:
            _check_depths(x)
        if len({_depth(x) for x in item}) > 1:
            raise ValueError(
                f"List depths are mismatched: {sorted({_depth(x) for x in item})} stand side by side"
            )


def _append(arr: Any, values: Any, axis: Any = None) -> Any:
    arr, values = as_operand(arr), as_operand(values)
    if axis is None:
        return np.concatenate([np.reshape(arr, -1), np.reshape(values, -1)])
    return np.concatenate([arr, values], axis)


def as_dtype(x: Any, dtype: Any) -> Any:
    """`x` cast to this dtype as NumPy casts what it puts into an array."""
    return x if x.dtype == dtype else x.astype(dtype)


def _insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """NumPy says where each element goes, by inserting positions into positions."""
    arr = as_operand(arr)
    values = (
        as_operand(values) if holds_tracer(values) or is_foreign(values) else np.asarray(values, arr.dtype)
    )
    places = np.arange(np.size(arr)).reshape(np.shape(arr))
    new = np.size(arr) + np.arange(np.size(values)).reshape(np.shape(values))
    # NumPy casts what it inserts to the array's dtype.
    pool = np.concatenate([np.reshape(arr, -1), as_dtype(np.reshape(values, -1), arr.dtype)])
    origins = np.insert(places, obj, new, axis)
    if is_foreign(memory_of(pool)):  # which may take one array of positions along one axis, and no more
        return np.reshape(pool[origins.reshape(-1)], origins.shape)
    return contiguous_as(pool[origins], arr)


def _delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    arr = as_operand(arr)
    if axis is None:
        arr, axis = np.reshape(arr, -1), 0
    out = np.take(arr, np.delete(np.arange(arr.shape[axis]), obj), axis)
    if arr.ndim < 2:
        return out
    return lying_as(out, np.delete(in_bytes(example(arr)), obj, axis))


composite(np.vstack, lambda tup, **options: _joined(tup, np.atleast_2d, 0, **options))
composite(np.hstack, _hstack)
composite(np.dstack, lambda tup: _joined(tup, np.atleast_3d, 2))
composite(np.column_stack, lambda tup: _joined(tup, _as_columns, 1))
composite(np.block, _block)
composite(np.append, _append)
composite(np.insert, _insert)
composite(np.delete, _delete)


# ---- taking apart ----------------------------------------------------------------------------------------------------


def _array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """The pieces between the bounds that NumPy finds by splitting positions."""
    axis = normalize_axis_index(axis, ary.ndim)
    before = (slice(None),) * axis
    size = ary.shape[axis]
    if np.ndim(indices_or_sections):
        bounds = [None, *indices_or_sections, None]
    else:
        lengths = map(len, np.array_split(np.arange(size), indices_or_sections))
        bounds = [0, *accumulate(lengths)]
    return [ary[(*before, slice(start, stop))] for start, stop in pairwise(bounds)]


def _split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    if not np.ndim(indices_or_sections) and ary.shape[axis] % indices_or_sections:
        raise ValueError(f"array split does not result in an equal division: axis {axis} of {ary.shape}")
    return _array_split(ary, indices_or_sections, axis)


def _splitter(name: str, axis: int, rank: int) -> Any:
    def body(ary: Any, indices_or_sections: Any) -> list[Any]:
        if ary.ndim < rank:
            raise ValueError(f"{name} only works on arrays of {rank} or more dimensions")
        return _split(ary, indices_or_sections, axis if ary.ndim > 1 else 0)

    return body


def _unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    axis = normalize_axis_index(axis, x.ndim)
    return tuple(x[(slice(None),) * axis + (k,)] for k in range(x.shape[axis]))


composite(np.array_split, _array_split)
composite(np.split, _split)
composite(np.hsplit, _splitter("hsplit", 1, 1))
composite(np.vsplit, _splitter("vsplit", 0, 2))
composite(np.dsplit, _splitter("dsplit", 2, 3))
if hasattr(np, "unstack"):  # since NumPy 2.1
    composite(np.unstack, _unstack)


# ---- grids -----------------------------------------------------------------------------------------------------------


def _meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Any, ...]:
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    rank = len(xi)
    axes = [1, 0, *range(2, rank)] if indexing == "xy" and rank > 1 else list(range(rank))
    grids = [
        np.reshape(x, [-1 if k == axis else 1 for k in range(rank)])
        for x, axis in zip(map(as_operand, xi), axes)
    ]
    if not sparse:
        grids = list(np.broadcast_arrays(*grids))
    return tuple(np.copy(x, order="C") for x in grids) if copy else tuple(grids)


def _ix(*args: Any) -> tuple[Any, ...]:
    out = []
    for k, x in enumerate(map(as_operand, args)):
        if np.ndim(x) != 1:
            raise ValueError("Cross index must be 1 dimensional")
        x = np.nonzero(x)[0] if x.dtype == bool else x
        out.append(np.reshape(x, [-1 if i == k else 1 for i in range(len(args))]))
    return tuple(out)


composite(np.meshgrid, _meshgrid)
composite(np.ix_, _ix)
