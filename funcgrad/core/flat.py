"""x.flat: the elements of an array in order, to be read, written and iterated over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from funcgrad.core.casts import cast
from funcgrad.core.catalogue import CATALOGUE


class Flat:
    """x.flat: the elements of `x` in order. What is written goes into x, and what is too short is repeated."""

    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = x

    def __iter__(self) -> Iterator[Any]:
        return iter(self.x.ravel())

    def __len__(self) -> int:
        return self.x.size

    def __getitem__(self, index: Any) -> Any:
        return self.x[self._places(index)]

    def __setitem__(self, index: Any, v: Any) -> None:
        x = self.x
        places = self._places(index)
        shape = x[places].shape
        values = cast(v, x.dtype, _write_elements if shape or isinstance(index, slice) else _write_element)
        if values.size:  # NumPy writes nothing at all, of an empty array
            x[places] = values if not values.ndim else CATALOGUE[np.resize](values, shape)

    def _places(self, index: Any) -> tuple[Any, ...]:
        positions = np.arange(self.x.size)[index]
        if not self.x.shape:
            return (np.newaxis,) if positions.shape else ()
        return np.unravel_index(positions, self.x.shape)


def _write_element(a: Any, v: Any) -> None:
    a.flat[0] = v


def _write_elements(a: Any, v: Any) -> None:
    a.flat[:] = v
