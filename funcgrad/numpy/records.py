"""Structured arrays into which tracers can be written: a blank array for each field.

>>> import funcgrad.numpy as np
>>> from funcgrad import grad
>>> def f(x):
...     bodies = np.zeros(2, dtype=[("mass", float), ("place", float, 3)])
...     bodies["mass"] = 1.0
...     bodies[1]["place"] = x
...     bodies[0] = (x, [0.0, 1.0, 2.0])
...     return np.sum(bodies["mass"][:, None] * bodies["place"])
>>> grad(f)(2.0)
np.float64(6.0)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from funcgrad.core.memory.blank import BLANK, plain
from funcgrad.errors import TracerConversionError, user_line


class Records:
    """A structured array while a transform runs, or one record of it: `fields` holds an array for each field."""

    def __init__(self, fields: dict[str, Any], dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
        self.fields, self.dtype, self.shape = fields, dtype, shape

    @classmethod
    def of(cls, array: np.ndarray) -> Records:
        """The records of a new array."""
        names = array.dtype.names or ()
        return cls({name: BLANK.constant(array[name].copy()) for name in names}, array.dtype, array.shape)

    @property
    def ndim(self) -> int:
        """How many axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many records."""
        return int(np.prod(self.shape, dtype=int))

    def __len__(self) -> int:
        if not self.shape:
            return len(self.fields)  # a record
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (
            (self[i] for i in range(self.shape[0]))
            if self.shape
            else iter([x[()] for x in self.fields.values()])
        )

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, str):
            return self._field(index)
        if isinstance(index, list) and index and all(isinstance(i, str) for i in index):
            return Records({name: self._field(name) for name in index}, self.dtype[index], self.shape)
        if not self.shape and isinstance(index, int):
            return self[(self.dtype.names or ())[index]]
        shape = np.broadcast_to(False, self.shape)[index].shape
        rest = index if isinstance(index, tuple) else (index,)
        return Records({name: x[(*rest, ...)] for name, x in self.fields.items()}, self.dtype, shape)

    def __setitem__(self, index: Any, v: Any) -> None:
        if isinstance(index, str):
            self._field(index)[...] = v
            return
        target = self[index]
        values = v.fields.values() if isinstance(v, Records) else v
        for x, value in zip(target.fields.values(), values, strict=True):
            x[...] = value

    def _field(self, name: str) -> Any:
        if name not in self.fields:
            raise ValueError(f"no field of name {name}")
        return self.fields[name]

    def copy(self) -> Records:
        """Records of their own."""
        return Records({name: x.copy() for name, x in self.fields.items()}, self.dtype, self.shape)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        out = np.empty(self.shape, self.dtype)
        for name, x in self.fields.items():
            if plain(x) is x and not isinstance(x, np.ndarray):
                raise TracerConversionError(
                    f"a structured array with tracers in its field {name!r} was made plain at {user_line()}: the derivative "
                    f"would be lost. Give the field itself, a[{name!r}]."
                )
            out[name] = np.asarray(x)
        return out if dtype is None else out.astype(dtype)

    def __repr__(self) -> str:
        return f"Records({', '.join(f'{name}={x!r}' for name, x in self.fields.items())})"
