"""How plain arrays lie in memory.

NumPy decides by it what is a view (`ravel`, `reshape`), and so programs can tell. Hence copies keep it to the last stride, and
so does a batch for each of its examples: the axes of an example lie inside those of the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from sys import getrefcount
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from funcgrad.core.trace import concrete


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
    low, high = byte_bounds(x)
    memory = np.empty((*lead, high - low), np.uint8)
    return np.ndarray(
        (*lead, *x.shape),
        x.dtype,
        memory,
        x.__array_interface__["data"][0] - low,
        (*memory.strides[:-1], *x.strides),
    )


def repeated(x: np.ndarray, size: int) -> np.ndarray:
    """`x` as each of the `size` examples of a batch."""
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
    """`x`, a batch (array or tracer) of which each example has its axes in memory in the order that they have in `alone`."""
    long = [k for k, n in enumerate(alone.shape) if n > 1]
    wanted = sorted(long, key=lambda k: -alone.strides[k])
    plain = one_example(x)
    if not plain.size or wanted == sorted(long, key=lambda k: -plain.strides[1 + k]):
        return x
    order = (0, *(1 + k for k in wanted), *(1 + k for k in range(alone.ndim) if k not in long))
    return np.transpose(np.transpose(x, order).copy("C"), tuple(np.argsort(order).tolist()))


def one_example(x: Any) -> Any:
    """The plain value beneath `x`, a tracer or array; under vmap, one example of it (zeros, if there is none)."""
    value = concrete(x)
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
