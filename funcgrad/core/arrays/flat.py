"""x.flat: the elements of an array in order, to be read, written and iterated over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from funcgrad.core.arrays.casts import cast
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.memory.views import clash, overlap
from funcgrad.errors import TracerWriteError, user_line


class FlatIter:
    """x.flat: the elements of `x` in order. What is written goes into x, and what is too short is repeated."""

    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = x

    def __iter__(self) -> Iterator[Any]:
        return iter(self.x.ravel())

    def __operand__(self) -> Any:
        """The elements as an array, which NumPy's functions take them for."""
        return self.x.ravel()

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*_as_arrays(args), **_as_arrays(kwargs))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return function(*_as_arrays(args), **_as_arrays(kwargs))

    def copy(self) -> Any:
        """The elements in an array of its own."""
        return self.x.flatten()

    def __len__(self) -> int:
        return self.x.size

    def __getitem__(self, index: Any) -> Any:
        return self.x[self._places(index)]

    def __setitem__(self, index: Any, v: Any) -> None:
        x = self.x
        check_apart(x, index, v.x if isinstance(v, FlatIter) else v)
        places = self._places(index)
        shape = x[places].shape
        values = cast(v, x.dtype, _write_elements if shape or isinstance(index, slice) else _write_element)
        if values.size:  # NumPy writes nothing at all, of an empty array
            x[places] = values if not values.ndim else CATALOGUE[np.resize](values, shape)

    def _places(self, index: Any) -> tuple[Any, ...]:
        # Asked of NumPy's own x.flat, which reads some indices otherwise than x[index] does, and not in each version alike.
        positions = np.arange(self.x.size).flat[index]
        if not self.x.shape:
            return (np.newaxis,) if positions.shape else ()
        return np.unravel_index(positions, self.x.shape)


def set_flat(x: Any, v: Any) -> None:
    """x.flat = v."""
    FlatIter(x)[:] = v


flat = property(FlatIter, set_flat)


for _name in ("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"):
    setattr(FlatIter, _name, lambda self, y, name=_name: getattr(self.x.ravel(), name)(_as_arrays(y)))


def _as_arrays(x: Any) -> Any:
    """`x`, with an array for each x.flat in it."""
    if isinstance(x, (list, tuple)):
        return type(x)([_as_arrays(v) for v in x])
    if isinstance(x, dict):
        return {k: _as_arrays(v) for k, v in x.items()}
    return x.__operand__() if isinstance(x, FlatIter) else x


def check_apart(x: Any, index: Any, v: Any) -> None:
    """Refuse to write elements of `x` one by one into its own memory: NumPy would read its own writes."""
    if overlap(x, index, v):
        raise TracerWriteError(
            f"x.flat = y at {user_line()}, where y is a view of the memory of x in another order: NumPy would read elements that "
            "it has just overwritten. Write x.flat = y.copy()."
        )


def check_parts_apart(x: Any, arrays: Any, *axis: Any) -> None:
    """Refuse to join `arrays` into `x`, one after the other, where that overwrites one of them."""
    for k, v in enumerate(arrays):
        if clash(x, v):
            raise TracerWriteError(
                f"out= of what joins arrays, at {user_line()}, lies in the memory of array {k}: NumPy would read elements "
                "that it has just overwritten. Leave out= away, and write y[...] = np.concatenate(arrays)."
            )


def _write_element(a: Any, v: Any) -> None:
    a.flat[0] = v


def _write_elements(a: Any, v: Any) -> None:
    a.flat[:] = v
