"""One value at many places, of an array of another library: what is repeated stays small."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


class Repeated:
    """`value`, which broadcasts to `shape`: what a sum hands back, of an array of another library.

    There np.broadcast_to is no view: a lazy graph would have a task for each chunk, a device an array as large
    as the data. A partial derivative broadcasts it, too, in the product that is taken anyway.
    """

    __slots__ = ("shape", "value")

    def __init__(self, value: Any, shape: tuple[int, ...]) -> None:
        self.value, self.shape = value, shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the value it belongs to."""
        return self.value.dtype

    def __mul__(self, factor: Any) -> Repeated:
        return Repeated(self.value * factor, self.shape)

    def __neg__(self) -> Repeated:
        return Repeated(-self.value, self.shape)

    def aligned(self) -> Any:
        """The value, with as many axes as what it stands for."""
        missing = len(self.shape) - self.value.ndim
        return self.value.reshape((1,) * missing + self.value.shape) if missing else self.value

    def summed(self, shape: tuple[int, ...]) -> Any:
        """The undoing of broadcasting from a value of this shape, as `fit_shape` does it: what is repeated is
        multiplied, and not added up.
        """
        value, lead = self.aligned(), len(self.shape) - len(shape)
        axes = [i for i, n in enumerate((1,) * lead + shape) if n == 1 and self.shape[i] != 1]
        count = math.prod(self.shape[i] for i in axes if value.shape[i] == 1)
        added = tuple(i for i in axes if value.shape[i] != 1)
        if added:
            value = value.sum(axis=added, keepdims=True)
        if lead:
            value = value.reshape(value.shape[lead:])
        return repeated(value if count == 1 else value * count, shape)

    def dense(self) -> Any:
        """The array."""
        return np.broadcast_to(self.value, self.shape)


def repeated(value: Any, shape: tuple[int, ...]) -> Any:
    """`value` repeated to this shape: as it is, where it has that."""
    return value if value.shape == shape else Repeated(value, shape)
