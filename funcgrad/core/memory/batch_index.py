"""x[index] under vmap: an index into one example becomes an index into the whole batch.

Integers and integer arrays that differ between the examples are gathered in one go, with a column of batch
positions beside them. Where the axes of index arrays go depends, in NumPy, on their places among the slices,
and the column is one more of these places: so the result says which axes have to be moved back.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad.core.engine.batch import BatchTrace, BatchTracer, ndim_of, padded
from funcgrad.core.engine.trace import Tracer
from funcgrad.core.memory.layout import together
from funcgrad.errors import BatchedControlFlowError, user_line


class BatchIndex(NamedTuple):
    """An index into the batch, and the axes that NumPy puts elsewhere: the batch belongs first.

    Axis source[i] of batch[index] belongs at destination[i]; `rank` is how many axes x[index] has for one
    example.
    """

    index: tuple[Any, ...]
    source: tuple[int, ...]
    destination: tuple[int, ...]
    rank: int

    def arranged(self, out: Any) -> Any:
        """batch[index], its axes brought to where they belong."""
        return together(
            np.moveaxis(out, self.source, self.destination) if self.source != self.destination else out
        )

    def disarranged(self, part: Any, *, is_batched: bool) -> Any:
        """The reverse, for a `part` that goes to batch[index]: its axes where NumPy wants them."""
        if self.source == self.destination and not is_batched and np.ndim(part) <= self.rank:
            return part
        shape = np.shape(part)
        batch, shape = (shape[:1], shape[1:]) if is_batched else ((1,), shape)
        part = np.reshape(
            part, (*batch, *(1,) * (self.rank - len(shape)), *shape[max(len(shape) - self.rank, 0) :])
        )
        return np.moveaxis(part, self.destination, self.source) if self.source != self.destination else part


def batch_index(
    items: Sequence[Any], batched: Sequence[bool], shape: Sequence[int], size: int, *, x_batched: bool
) -> BatchIndex | None:
    """The index into the batch for x[items], one example of x having this shape; None: one by one.

    `batched` says which of the items differ between the examples (their axis 0 is the batch).
    """
    # Index arrays side by side leave their axes where they stand; with a slice between (or a `...`, even one
    # that stands for no axis), NumPy puts the axes first.
    stands_together = _side_by_side(_advanced(items))
    expanded = _expanded(items, batched, shape)
    if expanded is None:
        return None
    items, batched = expanded
    places = _advanced(items)
    # axes that the index arrays make
    block = max((ndim_of(items[k]) - batched[k] for k in places), default=0)
    rank = len(items) - len(places) + block
    front = places[0] if places and stands_together else 0
    if not stands_together and _side_by_side(places):  # without its `...` the index would mean something else
        items.insert(places[0] + 1, Ellipsis)
        batched.insert(places[0] + 1, False)
    if not any(batched):
        index = (slice(None), *items) if x_batched else tuple(items)
        moved = x_batched and not stands_together
        return BatchIndex(index, (block,) if moved else (), (0,) if moved else (), rank)
    items = [padded(i, block) if b else i for i, b in zip(items, batched, strict=True)]
    belongs = (0, *range(front + 1, front + 1 + block))
    if not x_batched:
        return BatchIndex(tuple(items), tuple(range(front, front + block + 1)), belongs, rank)
    column = np.arange(size).reshape((-1,) + (1,) * block)
    return BatchIndex((column, *items), tuple(range(block + 1)), belongs, rank)


def _advanced(items: Sequence[Any]) -> list[int]:
    """Where integers, integer arrays and masks stand among these items."""
    return [k for k, i in enumerate(items) if not (i is None or i is Ellipsis or isinstance(i, slice))]


def _side_by_side(places: list[int]) -> bool:
    return not places or places[-1] - places[0] < len(places)


def _expanded(
    items: Sequence[Any], batched: Sequence[bool], shape: Sequence[int]
) -> tuple[list[Any], list[bool]] | None:
    """One item for each axis of x: slices for Ellipsis, integers for masks; None if a mask can't be that."""
    items = [index_array(i) if isinstance(i, list) else i for i in items]
    out: list[Any] = []
    flags: list[bool] = []
    missing = len(shape) - sum(_axes_of(i, b) for i, b in zip(items, batched, strict=True))
    axis = 0
    for i, b in zip(items, batched, strict=True):
        new = [i]
        if i is Ellipsis:
            new = [slice(None)] * missing
        elif _is_mask(i):
            if b or isinstance(i, Tracer) or not ndim_of(i) or i.shape != tuple(shape[axis : axis + i.ndim]):
                return None
            new = list(np.nonzero(i))
        axis += missing if i is Ellipsis else _axes_of(i, b)
        out += new
        flags += [b] * len(new)
    trailing = len(shape) - axis
    return out + [slice(None)] * trailing, flags + [False] * trailing


def index_array(i: Any) -> Any:
    """A list of indices as an array: an empty one is of integers, as NumPy takes it."""
    array = np.array(i)
    return array if array.size else array.astype(np.intp)


def _is_mask(i: Any) -> bool:
    return isinstance(i, bool) or getattr(i, "dtype", None) == np.dtype(bool)


def _axes_of(i: Any, is_batched: bool) -> int:
    """How many axes of x an item takes up."""
    if i is None or i is Ellipsis:
        return 0
    return ndim_of(i) - is_batched if _is_mask(i) else 1


def to_batch_index(trace: BatchTrace, index: Any, v: Any, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """The index and the value of a write `x[index] = v`, for a whole batch of arrays of this shape."""

    def taken_off(x: Any) -> tuple[Any, bool]:
        return (x._value, True) if isinstance(x, BatchTracer) and x._trace is trace else (x, False)

    pairs = [taken_off(i) for i in (index if isinstance(index, tuple) else (index,))]
    items, batched = [i for i, _ in pairs], [is_batched for _, is_batched in pairs]
    in_batch = batch_index(items, batched, shape, trace.size, x_batched=True)
    if in_batch is None and not any(isinstance(i, Tracer) for i in items) and not any(batched):
        # True or False for an index, or a mask that does not fit: NumPy says what it means, or what is wrong.
        positions = np.arange(math.prod(shape)).reshape(shape)[index]
        items = list(np.unravel_index(positions, shape)) if shape else [np.newaxis] * positions.ndim
        if shape or positions.size:
            in_batch = batch_index(items, [False] * len(items), shape, trace.size, x_batched=True)
    v, is_batched = taken_off(v)
    if in_batch is not None:
        return in_batch.index, in_batch.disarranged(v, is_batched=is_batched)
    mask: Any = items[0]
    if batched == [True] and _is_mask(mask) and mask.shape[1:] == tuple(shape) and np.ndim(v) == is_batched:
        # One number for whatever the mask takes: it does not matter that this differs between the examples.
        return (mask,), v[np.nonzero(mask)[0]] if is_batched else v
    if batched == [True] and type(mask) is np.ndarray and mask.dtype == bool and np.ndim(v) == 1 + is_batched:
        counts = mask.reshape(trace.size, -1).sum(axis=1)
        # as many values as each example has places, one example after the other
        if (counts == np.shape(v)[-1]).all():
            return (mask,), np.broadcast_to(v, (trace.size, np.shape(v)[-1])).reshape(-1)
    raise BatchedControlFlowError(
        f"x[mask] = v at {user_line()}: under vmap, the mask differs between examples. Write np.where(mask, v, x)."
    )
