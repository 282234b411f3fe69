"""Where in an array a write goes."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core.engine.trace import Tracer
from funcgrad.core.memory.families import stepped
from funcgrad.core.memory.indexing import kept, read_item
from funcgrad.core.memory.plain import is_element, repeats
from funcgrad.core.memory.views import ViewStep


class Place:
    """Where in an array a write goes: `index` in the view at the end of `steps`."""

    __slots__ = ("index", "is_plain", "steps")

    def __init__(self, steps: tuple[ViewStep, ...], index: Any) -> None:
        self.steps, self.index = steps, kept(index)
        self.is_plain = not steps and (type(index) is slice or is_element(index))

    def tracers(self) -> list[Tracer]:
        """The tracers in the index: batches of integers, under vmap."""
        if self.is_plain:
            return []
        return [
            i
            for i in (self.index if isinstance(self.index, tuple) else (self.index,))
            if isinstance(i, Tracer)
        ]

    @property
    def half(self) -> str:
        """Which part of complex elements the steps look at: "real", "imag", or "" for all of them."""
        return next((name for name in map(_half_of, self.steps) if name), "")

    @property
    def whole(self) -> Place:
        """The place of the same elements, but all of each."""
        return (
            Place(tuple(step for step in self.steps if not _half_of(step)), self.index) if self.half else self
        )

    def read(self, x: Any) -> Any:
        """The elements of `x` at this place."""
        return x[self.index] if self.is_plain else read_item(self.view(x), self.index)

    def view(self, x: Any) -> Any:
        """What the steps make of `x`."""
        return stepped(x, self.steps)

    def write(self, buffer: Any, v: Any) -> None:
        """Put `v` there; `buffer` is a plain array that may be overwritten."""
        _write(buffer, self.steps, self.index, v)

    def winners(self, shape: tuple[int, ...]) -> Any:
        """Which written elements stay: all (None), or a mask if a position repeats (the last one wins)."""
        indices = self.index if isinstance(self.index, tuple) else (self.index,)
        if self.is_plain or not repeats(self.index) and not any(isinstance(i, Tracer) for i in indices):
            return None
        positions = self.whole.read(_positions(shape))
        sequence = np.arange(positions.size, dtype=float).reshape(positions.shape)
        # a batch, if the indices are one
        last = np.zeros_like(positions, dtype=float, shape=int(np.prod(shape)))
        last[positions] = sequence
        winners = last[positions] == sequence
        return None if not isinstance(winners, Tracer) and winners.all() else winners


def _half_of(step: Any) -> str:
    name = step.primitive.name if isinstance(step, ViewStep) else ""
    return name if name in ("real", "imag") else ""


def _write(buffer: Any, steps: tuple[ViewStep, ...], index: Any, v: Any) -> None:
    if not steps:
        buffer[index] = v
        return
    view = np.asanyarray(steps[0](buffer))  # one element is a number to NumPy
    _write(view, steps[1:], index, v)
    if view is not buffer and not np.may_share_memory(view, buffer):
        # As this buffer lies in memory (a cotangent, a tangent), the step copies: so carry the copy back.
        buffer[np.unravel_index(steps[0](_positions(buffer.shape)), buffer.shape)] = view


def _positions(shape: tuple[int, ...]) -> Any:
    """The position of each element of an array of this shape, row by row."""
    return np.arange(int(np.prod(shape))).reshape(shape)
