"""Functions that read elements by position: all of them are x[index] in the end.

x[index] itself is in core/memory/indexing.py, what writes in assignment.py, x with some elements changed in
at.py.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from funcgrad.core.arrays.arguments import as_operand, holds_tracer, out_refused
from funcgrad.core.engine.batch import is_batched
from funcgrad.core.engine.catalogue import ANY_CAST
from funcgrad.core.engine.cotangent import Masked
from funcgrad.core.engine.declare import composite, linear, piecewise_constant, query
from funcgrad.core.engine.trace import Tracer, is_foreign, memory_of
from funcgrad.core.memory.indexing import ADD_AT, GETITEM
from funcgrad.core.memory.orders import in_order
from funcgrad.core.memory.reads import make_read
from funcgrad.core.memory.scattering import scattered
from funcgrad.errors import BatchedControlFlowError, UnsupportedFunctionError, user_line
from funcgrad.rules.rows import is_lazy, take_rows
from funcgrad.rules.shapes import shifted

# ---- taking ----------------------------------------------------------------------------------------------------------


def _take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    if out is not None:
        raise out_refused("take")
    a, indices = as_operand(a), as_positions(indices)
    if type(indices) is np.ndarray and not indices.ndim and is_foreign(memory_of(a)):
        indices = int(indices)  # which some libraries take for an index only as such
    if axis is None or not np.ndim(a) and axis in (0, -1):  # a number counts as an array of one axis
        a, axis = np.reshape(a, -1), 0
    axis = normalize_axis_index(axis, np.ndim(a))
    if mode == "wrap":
        indices = np.mod(indices, a.shape[axis])
    elif mode == "clip":
        indices = np.clip(indices, 0, a.shape[axis] - 1)
    elif mode != "raise":
        raise ValueError(f"np.take at {user_line()}: mode is 'raise', 'wrap' or 'clip', not {mode!r}")
    out = GETITEM(a, (slice(None),) * axis + (indices,))
    if not isinstance(out, Tracer) or not out.shape:
        return out
    # NumPy's result is an array of its own, row by row; that of an index may be a view, or lie otherwise.
    return in_order(out, range(out.ndim)) if out._alias is None else np.copy(out, order="C")


def as_positions(indices: Any) -> Any:
    """`indices` as NumPy's functions read positions: booleans are 0 and 1, numbers in lists are truncated."""
    if is_foreign(indices):
        return indices
    if not holds_tracer(indices):
        if isinstance(indices, (np.ndarray, np.generic)):
            return indices.astype(np.intp, casting="same_kind", copy=False)
        return np.asarray(indices, np.intp)
    indices = as_operand(indices)
    if not np.can_cast(indices.dtype, np.intp, "same_kind"):
        raise TypeError(
            f"positions must be integers, and not of dtype {indices.dtype} (at {user_line()}); see x.astype(int)"
        )
    return indices.astype(np.intp)


def along_axis(arr: Any, indices: Any, axis: Any) -> tuple[Any, ...]:
    """The index of np.take_along_axis: `indices` along `axis`, each position itself along the others."""
    indices = as_operand(indices)
    if np.asarray(indices, like=indices).dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if axis is None:
        return np.unravel_index(GETITEM(np.arange(arr.size), np.reshape(indices, -1)), arr.shape)
    axis = normalize_axis_index(axis, arr.ndim)
    if indices.ndim != arr.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    grid = np.ogrid[tuple(slice(n) for n in arr.shape)]
    return (*grid[:axis], indices, *grid[axis + 1 :])


def _compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    if out is not None:
        raise out_refused("compress")
    if np.ndim(condition) != 1:
        raise ValueError("condition must be a 1-d array")
    return np.take(a, np.nonzero(condition)[0], axis)


def _extract(condition: Any, arr: Any) -> Any:
    return np.take(np.reshape(arr, -1), np.nonzero(np.reshape(condition, -1))[0])


def _trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    x = as_operand(filt)
    if not set(trim.lower()) <= set("fb"):
        raise ValueError(f"np.trim_zeros at {user_line()}: trim is 'f', 'b' or 'fb', not {trim!r}")
    mask = x != 0
    if is_lazy(x):
        raise UnsupportedFunctionError(
            f"np.trim_zeros at {user_line()}: the shape of the result depends on the values of a lazy array. Write "
            "x[first:last]."
        )
    if is_batched(mask):
        raise BatchedControlFlowError(
            f"np.trim_zeros at {user_line()}: under vmap, the examples may have zeros at different ends. Write x[first:last]."
        )
    live = np.argwhere(mask if is_foreign(mask) else np.asarray(mask))
    # Of nothing but zeros, NumPy keeps nothing.
    first, last = (
        (live.min(axis=0), live.max(axis=0) + 1) if live.size else (np.array(x.shape), np.zeros(x.ndim, int))
    )
    axes = range(x.ndim) if axis is None else normalize_axis_tuple(axis, x.ndim)
    front, back = "f" in trim.lower(), "b" in trim.lower()
    kept = [slice(first[k] if front else None, last[k] if back else None) for k in range(x.ndim)]
    return x[tuple(kept[k] if k in axes else slice(None) for k in range(x.ndim))]


def _sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Any:
    if writeable:
        raise UnsupportedFunctionError(
            f"sliding_window_view(writeable=True) at {user_line()}: one element of x is in many windows. Write into x itself."
        )
    x = as_operand(x)
    sizes = (
        tuple(map(operator.index, window_shape)) if np.ndim(window_shape) else (operator.index(window_shape),)
    )
    axes = tuple(range(x.ndim)) if axis is None else normalize_axis_tuple(axis, x.ndim, allow_duplicate=True)
    if len(sizes) != len(axes):
        raise ValueError(
            f"sliding_window_view at {user_line()}: {len(sizes)} window sizes for {len(axes)} axes; give one each"
        )
    for size, at in zip(sizes, axes):
        if size < 0 or x.shape[at] < size:
            raise ValueError(
                f"sliding_window_view at {user_line()}: no window of {size} fits axis {at} of shape {x.shape}"
            )
        x = WINDOWS(x, size, at)
    return x


def _windows(x: Any, size: int, axis: int) -> Any:
    """The windows along one axis."""
    return np.lib.stride_tricks.sliding_window_view(x, size, axis)


def _windows_back(ct: Any, x: Any, size: int, axis: int) -> Any:
    """A read of the elements of each window."""
    index = np.arange(x.shape[axis] - size + 1)[:, None] + np.arange(size)
    if is_foreign(memory_of(ct)):  # which need not take such an index: each place in a window by itself
        along = (slice(None),) * axis
        places = [(*along, slice(k, k + len(index))) for k in range(size)]
        return sum(scattered(ct[..., k], place, x.shape) for k, place in enumerate(places))
    return make_read((slice(None),) * axis + (index,), np.moveaxis(ct, -1, axis + 1), x)


WINDOWS = linear(
    _windows, {"x": _windows_back}, operands="x", axis="as is", moves=True, batch=shifted("axis")
)
composite(np.take, _take, out=ANY_CAST)
composite(np.lib.stride_tricks.sliding_window_view, _sliding_window_view)


def _take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    arr = as_operand(arr)
    if axis is not None and is_lazy(arr) and np.ndim(indices) == arr.ndim:
        rows = take_rows(*(np.moveaxis(x, axis, -1) for x in (arr, as_operand(indices))))
        return np.moveaxis(rows, -1, axis)
    return GETITEM(arr, along_axis(arr, indices, axis))


composite(np.take_along_axis, _take_along_axis)
composite(np.compress, _compress, out=ANY_CAST)
composite(np.extract, _extract)
composite(np.trim_zeros, _trim_zeros)


# ---- diagonals and triangles -----------------------------------------------------------------------------------------


def _steps(rows: int, columns: int, offset: int) -> slice:
    """Where a diagonal lies in a matrix that is stored row by row: at every (columns + 1)-th element."""
    if offset >= 0:
        start, count = offset, min(rows, columns - offset)
    else:
        start, count = -offset * columns, min(rows + offset, columns)
    return slice(start, start + max(count, 0) * (columns + 1), columns + 1)


def _diagonal_back(ct: Any, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    rows, columns = a.shape[axis1], a.shape[axis2]
    shape, places = (*ct.shape[:-1], rows * columns), (..., _steps(rows, columns, offset))
    live = np.zeros(shape, bool)
    live[places] = True  # all else is zero by structure
    back = lambda x: np.moveaxis(x.reshape(*shape[:-1], rows, columns), (-2, -1), (axis1, axis2))
    return Masked(back(ADD_AT(np.zeros(shape, ct.dtype), ct, places)), back(live))


def _diag(v: Any, k: int = 0) -> Any:
    v = as_operand(v)
    if v.ndim == 2:
        return np.diagonal(v, k)
    if v.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    size = v.shape[0] + abs(k)
    out = ADD_AT(np.zeros(size * size, v.dtype), v, _steps(size, size, k)).reshape(size, size)
    return np.copy(out, order="C") if is_batched(out) else out  # an array of its own in each example


def _trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None
) -> Any:
    if out is not None:
        raise out_refused("trace")
    return np.sum(np.diagonal(a, offset, axis1, axis2), -1, dtype=dtype)


def _tril(m: Any, k: int = 0) -> Any:
    m = as_operand(m)
    return np.where(np.tri(*m.shape[-2:], k=k, dtype=bool), m, np.zeros(1, m.dtype))


def _triu(m: Any, k: int = 0) -> Any:
    m = as_operand(m)
    return np.where(np.tri(*m.shape[-2:], k=k - 1, dtype=bool), np.zeros(1, m.dtype), m)


linear(np.diagonal, _diagonal_back, moves=True, batch=shifted("axis1", "axis2"))
composite(np.diag, _diag)
composite(np.diagflat, lambda v, k=0: np.diag(np.reshape(as_operand(v), -1), k))
composite(np.trace, _trace, out=ANY_CAST)
composite(np.tril, _tril)
composite(np.triu, _triu)
query(np.tril_indices_from, np.triu_indices_from, np.diag_indices_from)


# ---- positions -------------------------------------------------------------------------------------------------------

piecewise_constant(np.unravel_index, signature="indices, shape, order='C'")
piecewise_constant(
    np.ravel_multi_index, operands="multi_index*", signature="multi_index, dims, mode='raise', order='C'"
)
