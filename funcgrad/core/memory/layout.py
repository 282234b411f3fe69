"""How plain arrays lie in memory.

NumPy decides by it what is a view (`ravel`, `reshape`), and so programs can tell. Hence copies keep it to the
last stride, and so does a batch for each of its examples: the axes of an example lie inside those of the
batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from sys import getrefcount
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from funcgrad.core.engine.trace import memory_of


def by_strides(x: np.ndarray) -> tuple[int, ...]:
    """The axes of `x`, longest stride first, sorted as NumPy's iterator does (a stride of 0 is ignored)."""
    strides = [abs(s) if n > 1 else 0 for s, n in zip(x.strides, x.shape)]
    fastest: list[int] = []
    for axis in reversed(range(len(strides))):
        at = len(fastest)
        for k in reversed(range(len(fastest))):
            if strides[axis] and strides[fastest[k]]:
                if strides[fastest[k]] <= strides[axis]:
                    break
                at = k
        fastest.insert(at, axis)
    return tuple(reversed(fastest))


def axes_of(x: np.ndarray) -> tuple[int, ...]:
    """The axes of `x`, an array without repetitions, that with the longest stride first."""
    return tuple(sorted(range(x.ndim), key=lambda k: -abs(x.strides[k]) if x.shape[k] > 1 else 1))


def to_read(x: np.ndarray) -> np.ndarray:
    """A copy of `x` to be read. Results computed from it lie in memory as if computed from `x`."""
    if x.ndim < 2 or not x.size:
        return x.copy()
    strides = [abs(s) for s, n in zip(x.strides, x.shape) if n > 1]
    if len({0, *strides}) > len(strides):
        return x.copy("K")
    out = _spread(x)
    out[...] = x
    return out


def copied(x: np.ndarray) -> np.ndarray:
    """A copy with the strides of `x`: gaps and axes that run backwards are kept."""
    out = x.copy("K")
    if out.strides == x.strides or 0 in x.strides or not x.size:
        return out
    out = spread_like(x)
    out[...] = x
    return out


def spread_like(x: np.ndarray, lead: Sequence[int] = ()) -> np.ndarray:
    """A new array of the shape `lead` + x.shape; what is behind the axes `lead` lies in memory as `x` does."""
    if 0 in x.strides or not x.size:
        return np.empty((*lead, *x.shape), x.dtype)
    return _spread(x, lead)


def _spread(x: np.ndarray, lead: Sequence[int] = ()) -> np.ndarray:
    """The same, of an array with elements; axes along which `x` repeats them repeat them here, too."""
    if x.dtype.hasobject:  # memory that is not filled holds no objects
        return np.empty((*lead, *x.shape), x.dtype)
    low, high = byte_bounds(x)
    memory = np.empty((*lead, high - low), np.uint8)
    return np.ndarray(
        (*lead, *x.shape),
        x.dtype,
        memory,
        x.__array_interface__["data"][0] - low,
        (*memory.strides[:-1], *x.strides),
    )


def in_bytes(x: np.ndarray) -> np.ndarray:
    """An array of bytes that lies in memory as `x` does, element for element: cheap to try NumPy on."""
    if 0 in x.strides or not x.size or any(s % x.itemsize for s in x.strides):
        return np.empty_like(x, bool)
    low, high = byte_bounds(x)
    memory = np.zeros((high - low) // x.itemsize, bool)
    start = (x.__array_interface__["data"][0] - low) // x.itemsize
    return np.ndarray(x.shape, bool, memory, start, [s // x.itemsize for s in x.strides])


def repeated(x: Any, size: int) -> Any:
    """`x` as each of the `size` examples of a batch."""
    if not isinstance(x, np.ndarray):  # of another library, whose arrays are not written into
        return np.zeros_like(x, shape=(size, *x.shape)) + x
    out = spread_like(x, (size,))
    out[...] = x
    return out


def together(x: Any) -> Any:
    """`x`, a batch (array or tracer); copied, if its examples don't lie in memory one after the other."""
    if type(x) is np.ndarray and x.flags.c_contiguous:
        return x
    plain = one_example(x)
    if type(plain) is not np.ndarray or plain.ndim < 2 or not plain.size or not plain.strides[0]:
        return x
    reach = plain.itemsize + sum(abs(s) * (n - 1) for s, n in zip(plain.strides[1:], plain.shape[1:]))
    return x if reach <= abs(plain.strides[0]) else x.copy("C")


def as_alone(x: Any, alone: np.ndarray) -> Any:
    """`x`, a batch, of which each example has its axes in memory in the order that they have in `alone`."""
    if type(alone) is not np.ndarray:  # of another library, which does not tell
        return x
    wanted = axes_of(alone)
    plain = one_example(x)
    if not plain.size or wanted == axes_of(plain[0]):
        return x
    axes = (0, *(1 + k for k in wanted))
    return np.transpose(np.transpose(x, axes).copy("C"), tuple(np.argsort(axes).tolist()))


def one_example(x: Any) -> Any:
    """The plain value beneath `x`, a tracer or array; under vmap one example (zeros if there is none)."""
    value = memory_of(x)
    extra = np.ndim(value) - x.ndim
    if not extra:
        return value
    return value[(*(0,) * extra, ...)] if value.size else np.zeros(x.shape, x.dtype)


def _private(x: np.ndarray) -> int:
    base: Any = x.base
    return getrefcount(base)


# The reference count, seen in `is_private`, of an array in which only `x` looks.
_ALONE = _private(np.ones(3)[:])


def is_private(x: np.ndarray) -> bool:
    """Is `x` a look into memory that nobody else looks into?"""
    base: Any = x.base
    return type(base) is np.ndarray and base.base is None and getrefcount(base) <= _ALONE
