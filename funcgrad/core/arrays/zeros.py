"""The zeros of a derivative where nothing came: arrays of the kind that the value has.

A lazy array's are lazy, and those of a device lie there: an ndarray as large as the data would spoil both.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core.arrays.spec import Spec, spec
from funcgrad.core.engine.trace import is_foreign, memory_of
from funcgrad.core.memory.chunks import runner

# The dtype of the "derivative" with respect to an integer: it holds nothing.
float0 = np.dtype([("float0", np.void, 0)])


class ForeignSpec(Spec):
    """The Spec of an array of another library, and an array of it to make others like, without its memory."""

    __slots__ = ("like",)

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], like: Any) -> None:
        super().__init__(shape, dtype)
        self.like = like


def lasting_spec(x: Any) -> Spec:
    """The Spec of a value of which nothing else is kept; `zeros` and `ones` of it are of the value's kind."""
    value = memory_of(x)
    if type(value) is np.ndarray or not is_foreign(value):
        return spec(x)
    shape = value.shape if runner(value) else (0,)  # a lazy one has no memory, but the chunks to follow
    return ForeignSpec(x.shape, x.dtype, np.zeros_like(value, shape=shape))


def zeros(to: Any, *lead: int) -> Any:
    """Zeros for a value or a Spec, with more axes in front; of dtype float0 for what has no derivative."""
    shape = (*lead, *to.shape)
    if to.dtype.kind not in "fc":
        return np.zeros(shape, float0)[()]
    like = foreign_like(to)
    if like is None:
        return np.zeros(shape, to.dtype)[()]
    # asked for a shape, Dask chooses chunks anew
    return np.zeros_like(like, to.dtype, shape=None if like.shape == shape else shape)


def ones(to: Any) -> Any:
    """Ones for a value or a Spec that has a derivative."""
    like = foreign_like(to)
    if like is None:
        return np.ones(to.shape, to.dtype)
    return np.ones_like(like, to.dtype, shape=None if like.shape == to.shape else to.shape)


def of_kind(x: Any, to: Any) -> Any:
    """`x`, a constant that is plain, as an array of the kind that the value has."""
    like = foreign_like(to) if type(x) is np.ndarray else None
    return x if like is None else np.asarray(x, like=like)


def foreign_like(to: Any) -> Any:
    """An array of another library that this value is, or belongs to; None for NumPy's own."""
    like = to.like if isinstance(to, ForeignSpec) else memory_of(to)
    return like if is_foreign(like) else None
