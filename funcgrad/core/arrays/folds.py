"""ufunc.reduce, .accumulate and .reduceat for every ufunc of two operands: applied row after row.

(np.add.reduce is np.sum, and so on: ufunc.py sends those to the functions with rules of their own.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core.arrays.arguments import AxisArgument, as_operand
from funcgrad.core.arrays.methods import astype
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.memory.orders import corner, lying_as

_ABSENT: Any = np._NoValue


def reduce(
    ufunc: Any,
    array: Any,
    /,
    axis: Any = 0,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = _ABSENT,
    where: Any = True,
) -> Any:
    """ufunc.reduce(array, axis, ...): from the first row to the last, as NumPy does it."""
    x = _of_dtype(array, dtype)
    axes = _axes(ufunc.reduce, axis, x)
    if len(axes) > 1 and ufunc.identity is None and ufunc not in (np.fmax, np.fmin):
        raise ValueError(
            f"reduction operation '{ufunc.__name__}' is not reorderable, so at most one axis may be specified"
        )
    kept = [1 if i in axes else n for i, n in enumerate(x.shape)]
    rows = _rows(x, axes)
    takes = None if where is True else _rows(np.broadcast_to(as_operand(where), x.shape), axes)
    total = _start(ufunc, rows, initial, masked=takes is not None)
    for i in range(1 if total is None else 0, len(rows)):
        joined = ufunc(rows[0] if total is None else total, rows[i])
        total = joined if takes is None else np.where(takes[i], joined, total)
    if total is None or np.shape(total) != rows.shape[1:]:  # NumPy makes a new array
        total = np.copy(np.broadcast_to(rows[0] if total is None else total, rows.shape[1:]), order="C")
    total = lying_as(total, np.logical_or.reduce(corner(x), axis=axes))
    return total.reshape(kept) if keepdims else total


def _start(ufunc: Any, rows: Any, initial: Any, *, masked: bool) -> Any:
    """What the first row is joined with: nothing (None), if there is one and it surely counts."""
    if initial is not _ABSENT and initial is not None:
        return as_operand(initial)
    if not masked and len(rows):
        return None
    if ufunc.identity is None or initial is None:
        what = "to use a where mask one has to specify 'initial'" if masked else "it needs at least one row"
        raise ValueError(f"reduction operation '{ufunc.__name__}' does not have an identity: {what}")
    return np.asarray(ufunc.identity, rows.dtype)


def accumulate(ufunc: Any, array: Any, /, axis: int = 0, dtype: Any = None, out: None = None) -> Any:
    """ufunc.accumulate(array, axis): the results on the way from the first row to the last."""
    x = _of_dtype(array, dtype)
    (axis,) = _axes(ufunc.accumulate, axis, x)
    rows = _rows(x, (axis,))
    totals = [rows[i] for i in range(min(1, len(rows)))]
    for i in range(1, len(rows)):
        totals.append(ufunc(totals[-1], rows[i]))
    return lying_as(np.stack(totals, axis), np.logical_or.accumulate(corner(x), axis)) if totals else x


def reduceat(
    ufunc: Any, array: Any, indices: Any, /, axis: int = 0, dtype: Any = None, out: None = None
) -> Any:
    """ufunc.reduceat(array, indices, axis): ranges of rows reduced; a backward range gives its first row."""
    x = _of_dtype(array, dtype)
    (axis,) = _axes(ufunc.reduceat, axis, x)
    rows = _rows(x, (axis,))
    starts = np.asarray(indices)
    if starts.size and (starts.min() < 0 or starts.max() >= len(rows)):
        raise IndexError(
            f"an index of {starts.tolist()} is out-of-bounds in {ufunc.__name__}.reduceat [0, {len(rows)})"
        )
    parts = [
        ufunc.reduce(rows[start:stop]) if start < stop else rows[start]
        for start, stop in zip(starts.tolist(), [*starts.tolist()[1:], len(rows)])
    ]
    if not parts:
        return np.take(x, starts.astype(int), axis)
    return lying_as(
        np.stack(parts, axis), np.logical_or.reduceat(corner(x), np.zeros(len(parts[:2]), int), axis)
    )


def _axes(method: Any, axis: Any, x: Any) -> tuple[int, ...]:
    """The axes that `axis` means to this method of a ufunc. (A number has none, and only `reduce` takes one.)"""
    if axis is not None:
        axis = AxisArgument(
            method, f"{method.__self__.__name__}.{method.__name__}", among_output=False
        ).normalised(axis, x.ndim)
    if axis is None:
        return tuple(range(x.ndim))
    return axis if isinstance(axis, tuple) else (axis,)


def _of_dtype(x: Any, dtype: Any) -> Any:
    x = as_operand(x)
    return x if dtype is None else CATALOGUE[astype](x, np.dtype(dtype))


def _rows(x: Any, axes: tuple[int, ...]) -> Any:
    """`x` with the axes to be folded as one in front."""
    rest = tuple(i for i in range(x.ndim) if i not in axes)
    size = int(np.prod([x.shape[i] for i in axes]))
    return np.transpose(x, (*axes, *rest)).reshape(size, *[x.shape[i] for i in rest])
