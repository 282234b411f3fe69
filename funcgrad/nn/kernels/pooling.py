"""Pooling, declared to the engine: choosing one element of each window, and adding up each window.

Which element is the largest is found first, and is a constant; taking it (`take_places`) is linear, and so is
putting it back (`put_places`): each is the derivative of the other. All functions work on the last axes,
whatever stands before them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.engine.declare import linear, piecewise_constant
from funcgrad.core.engine.primitive import Call, Primitive

Sizes = tuple[int, ...]


class Axis(NamedTuple):
    """The windows along one axis: i has starts[i] + k*dilation, k < kernel, within [0, stops[i])."""

    starts: Sizes
    stops: Sizes
    kernel: int
    dilation: int

    @property
    def out(self) -> int:
        """How many windows."""
        return len(self.starts)

    @property
    def is_regular(self) -> bool:
        """Do all windows have the same length, at even distances, but for what lies beyond the ends?"""
        gaps = np.diff(self.starts)
        return len(set(self.stops)) == 1 and bool(np.all(gaps == gaps[:1]))

    @property
    def margins(self) -> tuple[int, int]:
        """How far windows reach beyond the ends."""
        return max(-self.starts[0], 0), max(
            self.starts[-1] + (self.kernel - 1) * self.dilation + 1 - self.stops[0], 0
        )

    def first(self) -> np.ndarray:
        """The first element of each window."""
        starts = np.asarray(self.starts)
        return starts + -(np.minimum(starts, 0) // self.dilation) * self.dilation


def regular(n: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> Axis:
    """Windows at every `stride`-th element; with `ceil_mode` the last one may reach beyond the padding."""
    reach = dilation * (kernel - 1) + 1
    out = (n + 2 * padding - reach + (stride - 1 if ceil_mode else 0)) // stride + 1
    if ceil_mode and (out - 1) * stride >= n + padding:  # a window that starts behind the input
        out -= 1
    starts = tuple(k * stride - padding for k in range(out))
    return Axis(starts, (n,) * max(out, 0), kernel, dilation)


def adaptive(n: int, out: int) -> Axis:
    """`out` windows that share `n` elements among them as evenly as can be."""
    starts = tuple(k * n // out for k in range(out))
    stops = tuple(-(-(k + 1) * n // out) for k in range(out))
    return Axis(starts, stops, max((b - a for a, b in zip(starts, stops, strict=True)), default=1), 1)


def _places(axis: Axis) -> tuple[np.ndarray, np.ndarray]:
    """The element of each window at each position (kernel, out), and whether there is one."""
    at = np.arange(axis.kernel)[:, None] * axis.dilation + np.asarray(axis.starts)
    inside = (at >= 0) & (at < np.asarray(axis.stops))
    return np.where(inside, at, 0), inside


def _step(index: np.ndarray) -> Any:
    """Indices as a slice, where they are evenly spaced: a view instead of a copy."""
    if len(index) > 1 and index[1] > index[0] and np.all(np.diff(index) == index[1] - index[0]):
        return slice(int(index[0]), int(index[-1]) + 1, int(index[1] - index[0]))
    return slice(int(index[0]), int(index[0]) + 1) if len(index) == 1 else index


class Position(NamedTuple):
    """One position in all windows: the slices (or indices) that take it, its places, and who has it."""

    index: tuple[Any, ...]
    places: Any
    live: Any


@lru_cache(64)
def _positions(axes: tuple[Axis, ...], shape: Sizes, is_padded: bool) -> tuple[Any, list[Position]]:
    """The places where windows begin, and positions in windows; counted through axes of this shape.

    In a padded input (see `_padded`) the position is at the same element everywhere, and all windows have it.
    """
    steps = [math.prod(shape[k + 1 :]) for k in range(len(shape))]
    places = [_places(axis) for axis in axes]
    positions = []
    for k in itertools.product(*(range(axis.kernel) for axis in axes)):
        index = [at[i] for (at, _), i in zip(places, k, strict=True)]
        inside = [ok[i] for (_, ok), i in zip(places, k, strict=True)]
        live = None if is_padded or all(map(np.all, inside)) else _grid_all(inside)
        where = index
        if is_padded:
            where = [
                np.asarray(axis.starts) + i * axis.dilation + axis.margins[0]
                for axis, i in zip(axes, k, strict=True)
            ]
        positions.append(Position(tuple(map(_step, where)), _grid(index, steps), live))
    return _grid([axis.first() for axis in axes], steps), positions


def _padded(x: Any, axes: tuple[Axis, ...]) -> Any:
    """`x` with what is smaller than all else around it, as far as windows reach."""
    lead, size = x.shape[: x.ndim - len(axes)], x.shape[x.ndim - len(axes) :]
    margins = [axis.margins for axis in axes]
    padded = np.full(
        (*lead, *(b + n + a for (b, a), n in zip(margins, size, strict=True))), lowest(x.dtype), x.dtype
    )
    padded[(..., *(slice(b, b + n) for (b, _), n in zip(margins, size, strict=True)))] = x
    return padded


def largest_places(x: Any, axes: tuple[Axis, ...]) -> Any:
    """The place of each window's largest element, counted through x's last axes; NaN is the largest."""
    lead, size = x.shape[: x.ndim - len(axes)], x.shape[x.ndim - len(axes) :]
    nans = x.dtype.kind == "f" and bool(np.isnan(x.sum()))
    is_padded = all(axis.is_regular for axis in axes)
    begin, positions = _positions(axes, size, is_padded)
    if is_padded and any(any(axis.margins) for axis in axes):
        x = _padded(x, axes)
    places = np.empty((*lead, *begin.shape), np.int64)
    places[...] = begin
    best: Any = None
    for position in positions:
        seen, live = _window_elements(x, position.index), position.live
        if best is None:
            best = seen.copy() if live is None else np.where(live, seen, lowest(x.dtype))
            continue
        better = seen > best
        if nans:
            better |= np.isnan(seen)
        if live is not None:
            better &= live
        np.copyto(best, seen, where=better)
        np.copyto(places, position.places, where=better)
    return places


def lowest(dtype: Any) -> Any:
    """What is smaller than all else (or as small)."""
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def _grid(index: Sequence[np.ndarray], steps: Sequence[int]) -> Any:
    """Places counted through several axes, from the elements along each."""
    rank = len(index)
    return sum(
        i.reshape(-1, *(1,) * (rank - 1 - k)) * s for k, (i, s) in enumerate(zip(index, steps, strict=True))
    )


def _grid_all(inside: Sequence[np.ndarray]) -> Any:
    rank = len(inside)
    all_inside: Any = np.True_
    for k, ok in enumerate(inside):
        all_inside = all_inside & ok.reshape(-1, *(1,) * (rank - 1 - k))
    return all_inside


def _window_elements(x: Any, index: tuple[Any, ...]) -> Any:
    """x[..., index[0], index[1], ...], one axis after the other where there are indices."""
    if all(type(i) is slice for i in index):
        return x[(..., *index)]
    for k, i in enumerate(index):
        x = x[(..., i, *(slice(None),) * (len(index) - 1 - k))]
    return x


# ---- taking and putting ----------------------------------------------------------------------------------------------


def _flat(places: Any, rank: int, n: int) -> Any:
    """Places in each of many fields of n elements, as places in all of them together."""
    lead = math.prod(places.shape[: places.ndim - rank])
    return places + (np.arange(lead) * n).reshape(*places.shape[: places.ndim - rank], *(1,) * rank)


def take_places(x: Any, places: Any, rank: int, unique: bool) -> Any:
    """The elements of x (..., *size) at `places` (..., *out), counted through the last `rank` axes of x."""
    return x.reshape(-1).take(_flat(places, rank, math.prod(x.shape[x.ndim - rank :])))


def put_places(y: Any, places: Any, size: Sizes, unique: bool) -> Any:
    """Zeros (..., *size) with y (..., *out) added at `places`; `unique` says that no place comes twice."""
    lead = y.shape[: y.ndim - len(size)]
    total, flat = math.prod(lead) * math.prod(size), _flat(places, len(size), math.prod(size))
    if not unique and y.dtype.kind == "f":  # ten times faster than np.add.at
        out = np.bincount(flat.reshape(-1), weights=y.reshape(-1), minlength=total).astype(
            y.dtype, copy=False
        )
    else:
        out = np.zeros(total, y.dtype)
        if unique:
            out[flat] = y
        else:
            np.add.at(out, flat, y)
    return out.reshape(*lead, *size)


def _both_batched(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    operands = [
        x if b else np.broadcast_to(x, (size, *x.shape)) for x, b in zip(call.operands, batched, strict=True)
    ]
    return primitive(*operands, **call.params)


TAKE_PLACES = linear(
    take_places,
    {"x": lambda ct, x, places, rank, unique: PUT_PLACES(ct, places, x.shape[len(x.shape) - rank :], unique)},
    operands="x places",
    batch=_both_batched,
    name="take_places",
)
PUT_PLACES = linear(
    put_places,
    {"y": lambda ct, places, size, unique: TAKE_PLACES(ct, places, len(size), unique)},
    operands="y places",
    batch=_both_batched,
    name="put_places",
)


def _leading(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    return primitive(call.operands[0], **call.params)


piecewise_constant(largest_places, batch=_leading)
LARGEST_PLACES = CATALOGUE[largest_places]

# ---- adding up -------------------------------------------------------------------------------------------------------


def window_means(x: Any, axes: tuple[Axis, ...], divisor: Any) -> Any:
    """The sum of each window, added along one axis after the other, divided by `divisor`."""
    for k, axis in enumerate(axes):
        x = _summed(x, axis, x.ndim - len(axes) + k)
    return np.divide(x, divisor, out=x, casting="unsafe")


def _summed(x: Any, axis: Axis, at: int) -> Any:
    before, behind = (slice(None),) * at, (slice(None),) * (x.ndim - at - 1)
    total = np.zeros((*x.shape[:at], axis.out, *x.shape[at + 1 :]), x.dtype)
    if axis.is_regular and axis.out >= axis.kernel:
        for places, inside in zip(*_places(axis), strict=True):
            where = np.flatnonzero(inside)
            if where.size:
                total[(*before, _step(where), *behind)] += x[(*before, _step(places[where]), *behind)]
        return total
    for k, window in enumerate(_windows(axis)):
        out = total[(*before, slice(k, k + 1), *behind)]
        np.add.reduce(x[(*before, window, *behind)], axis=at, keepdims=True, out=out)
    return total


def _windows(axis: Axis) -> list[slice]:
    """Each window of an axis."""
    reach = (axis.kernel - 1) * axis.dilation + 1
    ends = [min(start + reach, stop) for start, stop in zip(axis.starts, axis.stops, strict=True)]
    return [slice(int(start), end, axis.dilation) for start, end in zip(axis.first(), ends, strict=True)]


def spread_means(y: Any, axes: tuple[Axis, ...], divisor: Any, size: Sizes) -> Any:
    """Each element of y / divisor added to all elements of its window: the transpose of `window_means`."""
    y = (y / divisor).astype(y.dtype, copy=False)
    for k in reversed(range(len(axes))):
        y = _spread(y, axes[k], y.ndim - len(axes) + k, size[k])
    return y


def _spread(y: Any, axis: Axis, at: int, n: int) -> Any:
    before, behind = (slice(None),) * at, (slice(None),) * (y.ndim - at - 1)
    total = np.zeros((*y.shape[:at], n, *y.shape[at + 1 :]), y.dtype)
    if axis.is_regular and axis.out >= axis.kernel:
        for places, inside in zip(*_places(axis), strict=True):
            where = np.flatnonzero(inside)
            if where.size:
                total[(*before, _step(places[where]), *behind)] += y[(*before, _step(where), *behind)]
        return total
    for k, window in enumerate(_windows(axis)):
        total[(*before, window, *behind)] += y[(*before, slice(k, k + 1), *behind)]
    return total


WINDOW_MEANS = linear(
    window_means,
    lambda ct, x, axes, divisor: SPREAD_MEANS(ct, axes, divisor, x.shape[len(x.shape) - len(axes) :]),
    batch=_leading,
    name="window_means",
)
SPREAD_MEANS = linear(
    spread_means,
    lambda ct, axes, divisor: WINDOW_MEANS(ct, axes, divisor),
    batch=_leading,
    name="spread_means",
)


def window_lengths(axes: tuple[Axis, ...], padding: Sequence[int] | None, size: Sizes) -> np.ndarray:
    """How many elements each window has; with `padding`, those of the padding count too."""
    lengths: Any = np.ones(())
    for axis, n, margin in zip(axes, size, padding or (None,) * len(axes), strict=True):
        if margin is None:
            counts = _places(axis)[1].sum(axis=0)
        else:
            starts = np.asarray(axis.starts)
            counts = np.minimum(starts + axis.kernel, n + margin) - starts
        lengths = np.multiply.outer(lengths, counts)
    return lengths
