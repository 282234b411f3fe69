"""x.flat: the elements of an array in order, to be read, written and iterated over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

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
        places = self._places(index)
        is_number = not isinstance(v, (list, tuple)) and not np.ndim(v)
        self.x[places] = v if is_number else CATALOGUE[np.resize](v, self.x[places].shape)

    def _places(self, index: Any) -> tuple[Any, ...]:
        positions = np.arange(self.x.size)[index]
        if not self.x.shape:
            return (np.newaxis,) if positions.shape else ()
        return np.unravel_index(positions, self.x.shape)
