"""r_, c_, mgrid and ogrid: what is written as an index."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core.engine.trace import RUNNING
from funcgrad.core.memory.blank import fresh
from funcgrad.errors import UnsupportedFunctionError, user_line
from funcgrad.numpy.constructors import arange, array, linspace
from funcgrad.numpy.dispatch import tracer_in


def _parts(items: tuple[Any, ...]) -> list[Any]:
    """The items of an index, and what stands in its slices."""
    return [
        part
        for item in items
        for part in ((item.start, item.stop, item.step) if isinstance(item, slice) else (item,))
    ]


def _spaced(s: slice) -> Any:
    """The numbers of a slice: start:stop:step, or start:stop:5j for five of them with both ends."""
    start, step = 0 if s.start is None else s.start, 1 if s.step is None else s.step
    if isinstance(step, complex):
        return linspace(start, s.stop, int(abs(step)))
    return arange(start, s.stop, step)


class _Indexed:
    """What is written as an index: NumPy's own object, until there is a tracer in the index."""

    def __init__(self, numpys: Any) -> None:
        self.numpys = numpys

    def __getitem__(self, key: Any) -> Any:
        if RUNNING.get() is None:
            return self.numpys[key]
        if tracer_in(_parts(key if isinstance(key, tuple) else (key,))) is None:
            return fresh(self.numpys[key])
        return self._made(key)

    def _made(self, key: Any) -> Any:
        raise NotImplementedError


# Python's, which take the precision of what they stand beside
_NUMBERS = frozenset([bool, int, float, complex])


class _Concatenator(_Indexed):
    """r_ and c_: arrays, numbers and slices, put one after the other along an axis.

    `defaults` are the axis, the least number of axes of each item, and where the axes of an item with fewer
    come to stand.
    """

    def __init__(self, numpys: Any, defaults: tuple[int, int, int]) -> None:
        super().__init__(numpys)
        self.defaults = defaults

    def _made(self, key: Any) -> Any:
        items = key if isinstance(key, tuple) else (key,)
        axis, ndmin, first = self.defaults
        if isinstance(items[0], str):
            axis, ndmin, first = self._directive(items[0])
            items = items[1:]
        parts = [self._placed(item, ndmin, first) for item in items]
        dtype = np.result_type(
            *(item if type(item) in _NUMBERS else part.dtype for item, part in zip(items, parts))
        )
        return np.concatenate([part.astype(dtype, copy=False) for part in parts], axis)

    def _directive(self, text: str) -> tuple[int, int, int]:
        """What a string in the first place says, such as "-1,2,0"."""
        try:
            numbers = [int(part) for part in text.split(",")]
        except ValueError:
            raise UnsupportedFunctionError(
                f"np.r_[{text!r}, ...] at {user_line()} would make a matrix, which can't hold tracers. Write np.concatenate, or "
                "a string of up to three integers: axis, number of axes, place of the first axis."
            ) from None
        return (numbers + list(self.defaults[len(numbers) :]))[:3]  # type: ignore[return-value]

    def _placed(self, item: Any, ndmin: int, first: int) -> Any:
        """An item with at least `ndmin` axes: its own after `first` new ones (-1: after all new ones)."""
        out = _spaced(item) if isinstance(item, slice) else array(item)
        missing = ndmin - out.ndim
        if missing <= 0:
            return out
        before = missing if first < 0 or first > missing else first
        return out.reshape((1,) * before + out.shape + (1,) * (missing - before))

    def __len__(self) -> int:
        return 0


class _Grid(_Indexed):
    """mgrid and ogrid: a grid's coordinates, whole (an array) or open (one array per axis, to broadcast)."""

    def __init__(self, numpys: Any, *, is_open: bool) -> None:
        super().__init__(numpys)
        self.is_open = is_open

    def _made(self, key: Any) -> Any:
        axes = [_spaced(item) for item in (key if isinstance(key, tuple) else (key,))]
        if not isinstance(key, tuple):
            return axes[0]
        dtype = np.result_type(*axes)
        if not self.is_open:
            return np.stack(np.meshgrid(*axes, indexing="ij")).astype(dtype)
        return tuple(
            x.astype(dtype).reshape((1,) * k + (-1,) + (1,) * (len(axes) - 1 - k)) for k, x in enumerate(axes)
        )


r_, c_ = _Concatenator(np.r_, (0, 1, -1)), _Concatenator(np.c_, (-1, 2, 0))
mgrid, ogrid = _Grid(np.mgrid, is_open=False), _Grid(np.ogrid, is_open=True)
