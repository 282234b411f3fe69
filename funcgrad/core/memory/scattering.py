"""The transpose of x[index] without writing: for arrays of other libraries, which may be lazy or constant.

What is not at `index` is zero. Along an axis that is put together of zeros and the part, or by reading the
part: at each position what was read from it, or nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core.memory.chunks import with_axis

_SMALL = 2048  # positions along an axis, up to which it is read in one go: a mask of them is no burden
_ROUNDS = 8  # readings of one position, up to which they are added one by one
_MATRIX = 1 << 22  # entries of the matrix that adds up more


def scattered(part: Any, index: Any, shape: tuple[int, ...]) -> Any:
    """Zeros of this shape, with `part` added at `index`; None, if several arrays index together."""
    items = _items(index, len(shape))
    if items is None:
        return None
    laid, axes = _aligned(items, shape, part.shape)
    if len(axes) == 1 and _is_int(axes[0][1]):
        axis, n = axes[0][0], shape[axes[0][0]]
        out = with_axis(part, axis, n, int(axes[0][1]) % n) if n <= _SMALL else None
        if out is not None:
            return out
    out = part.reshape(laid) if tuple(laid) != part.shape else part
    for axis, item in axes:
        out = _placed(out, axis, shape[axis], item)
        if out is None:
            return None
    return out


def _items(index: Any, ndim: int) -> list[Any] | None:
    """The index of each axis, and None for each new one."""
    items = list(index) if isinstance(index, tuple) else [index]
    items = [np.asarray(i) if isinstance(i, (list, np.ndarray)) else i for i in items]
    arrays = [k for k, i in enumerate(items) if isinstance(i, np.ndarray) and i.ndim]
    if len(arrays) > 1 or any(items[k].ndim > 1 or items[k].dtype.kind not in "iub" for k in arrays):
        return None
    if not all(
        i is None or i is Ellipsis or isinstance(i, slice) or _is_int(i) for i in items if not _is_1d(i)
    ):
        return None
    if arrays and not _stay_together(items):
        return None
    missing = ndim - sum(i is not None and i is not Ellipsis for i in items)
    at = next((k for k, i in enumerate(items) if i is Ellipsis), len(items))
    return [*items[:at], *[slice(None)] * missing, *items[at + 1 :]]


def _is_1d(i: Any) -> bool:
    return isinstance(i, np.ndarray) and i.ndim == 1


def _is_int(i: Any) -> bool:
    return not isinstance(i, (bool, np.bool_)) and hasattr(i, "__index__") and not getattr(i, "ndim", 0)


def _stay_together(items: list[Any]) -> bool:
    """Do integers stand beside the one array, so that its axis stays where it is?"""
    among = [k for k, i in enumerate(items) if _is_1d(i) or _is_int(i)]
    return among[-1] - among[0] == len(among) - 1


def _aligned(
    items: list[Any], shape: tuple[int, ...], part: tuple[int, ...]
) -> tuple[list[int], list[tuple[int, Any]]]:
    """The shape of the part with one axis for each axis of x, and what is to be done along which."""
    laid: list[int] = []
    axes = []
    sizes = iter(part)
    for item in items:
        if item is None:
            next(sizes)
            continue
        axis = len(laid)
        laid.append(1 if _is_int(item) else next(sizes))
        if not (isinstance(item, slice) and item.indices(shape[axis]) == (0, shape[axis], 1)):
            axes.append((axis, item))
    return laid, axes


def _placed(part: Any, axis: int, n: int, item: Any) -> Any:
    """`part` at `item` of an axis of length n."""
    along = (slice(None),) * axis
    if _is_1d(item):
        return _gathered(part, axis, n, np.flatnonzero(item) if item.dtype == bool else item % max(n, 1))
    if _is_int(item):
        item = int(item) % n
        item = slice(item, item + 1)
    start, stop, step = item.indices(n)
    places = range(start, stop, step)
    if not len(places):
        return _zeros(part, axis, n)
    if step < 0:
        part, places = part[(*along, slice(None, None, -1))], places[::-1]
    if n > _SMALL and (places.step == 1 or len(places) == 1):
        ends = (places[0], n - places[-1] - 1)
        before, behind = (_zeros(part, axis, size) for size in ends)
        blocks = [before] * bool(ends[0]) + [part] + [behind] * bool(ends[1])
        return np.concatenate(blocks, axis=axis)
    if len(places) == 1:  # which broadcasts, if it is one chunk: Dask may add an empty one
        part = part.rechunk({axis: -1}) if hasattr(part, "rechunk") else part
        return np.where(_laid(np.arange(n) == places[0], axis, part.ndim), part, 0)
    return _gathered(part, axis, n, np.asarray(places))


def _zeros(part: Any, axis: int, size: int) -> Any:
    return np.zeros_like(part, shape=(*part.shape[:axis], size, *part.shape[axis + 1 :]))


def _laid(x: Any, axis: int, ndim: int) -> Any:
    return x.reshape([-1 if k == axis else 1 for k in range(ndim)])


def _gathered(part: Any, axis: int, n: int, places: Any) -> Any:
    """The sum of what stands at each position: read once for each time that the position was."""
    count = np.bincount(places, minlength=n) if len(places) else np.zeros(n, int)
    if not count.any():
        return _zeros(part, axis, n)
    permutation = np.argsort(places, kind="stable")
    first = np.cumsum(count) - count
    rounds = count.max()
    if rounds > _ROUNDS:
        return _multiplied(part, axis, n, places)
    total = None
    for k in range(rounds):
        live = count > k
        source = permutation[np.where(live, first + k, 0)]
        share = np.where(_laid(live, axis, part.ndim), np.take(part, source, axis=axis), 0)
        total = share if total is None else total + share
    return total


def _multiplied(part: Any, axis: int, n: int, places: Any) -> Any:
    """The same as a product with a matrix of ones and zeros."""
    if n * len(places) > _MATRIX:
        return None
    matrix = (np.arange(n)[:, None] == places).astype(part.dtype)
    return np.moveaxis(np.tensordot(matrix, part, axes=((1,), (axis,))), 0, axis)
