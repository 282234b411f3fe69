"""What hot code does with plain arrays in a part of NumPy's time."""

from __future__ import annotations

import math
from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np

# Globals for hot code: an attribute of `np` takes ten times as long.
ndarray, float64, empty, where, vdot, add_reduce = (
    np.ndarray,
    np.float64,
    np.empty,
    np.where,
    np.vdot,
    np.add.reduce,
)
# elements; from here on a fresh array costs more than finding out whether an old one may be overwritten
LARGE = 2048
# The types of parts that are what they are; anything else is looked at.
PLAIN_PARTS = frozenset([np.float64, np.float32, ndarray])


# ---- floating point errors, ignored in a fifth of the time that `with np.errstate(all="ignore")` takes ----

Pair = tuple[Callable[[], Any], Callable[[Any], None]]


def by_variable() -> Pair:
    """Set the context variable that np.errstate sets, with what it would make each time anew."""
    from numpy._core.umath import _extobj_contextvar, _make_extobj

    ignoring = _make_extobj(all="ignore")
    return lambda: _extobj_contextvar.set(ignoring), _extobj_contextvar.reset


def by_errstate() -> Pair:
    """The same by np.errstate itself, should NumPy come to store this elsewhere."""

    def begin() -> Any:
        state = np.errstate(all="ignore")
        state.__enter__()
        return state

    return begin, lambda state: state.__exit__(None, None, None)


# `token = quiet()`, and `loud(token)` in a `finally`.
try:
    quiet, loud = by_variable()
except ImportError:
    quiet, loud = by_errstate()


# ---- elements ----


def is_finite(x: Any) -> bool:
    """Is `x` a plain array all of whose elements are surely finite? Then 0 times them is 0."""
    if type(x) is not ndarray:
        return type(x) is float64 and isfinite(x)
    return x.dtype in _BITS and isfinite(x.dot(x) if x.ndim == 1 else vdot(x, x))


_BITS = {np.dtype(np.float32): np.int32, np.dtype(np.float64): np.int64}
_ZEROS = {dtype: np.zeros((), dtype) for dtype in _BITS}
_BOOL = np.dtype(bool)


def where_live(live: Any, ct: Any) -> Any:
    """np.where(live, ct, 0). Clearing bits by a mask is ten times faster where there are many elements."""
    is_plain = type(ct) is ndarray and type(live) is ndarray and live.dtype is _BOOL and ct.dtype in _BITS
    if not is_plain:
        return np.where(live, ct, 0)
    if live.size < LARGE:
        return where(live, ct, _ZEROS[ct.dtype])
    bits = _BITS[ct.dtype]
    ones = live.view(np.int8).astype(bits)
    np.negative(ones, out=ones)
    return np.bitwise_and(ones, ct.view(bits), out=ones if ones.shape == ct.shape else None).view(ct.dtype)


def broadcast(part: Any, shape: tuple[int, ...]) -> Any:
    """`part` repeated to `shape`; a small one by filling, 6x faster than np.broadcast_to, and writeable."""
    if (
        type(part) not in PLAIN_PARTS
        and not isinstance(part, (ndarray, np.generic))
        or math.prod(shape) > LARGE
    ):
        return np.broadcast_to(part, shape)
    filled = empty(shape, part.dtype)
    filled[...] = part
    return filled


# ---- indices ----

INTS = frozenset([int, np.int64])
BASIC = INTS | {slice}  # a basic index names each position once


def is_element(index: Any) -> bool:
    """Is this an integer, or a tuple of integers, as loops over elements have them?"""
    kind = type(index)
    return kind in INTS or kind is tuple and INTS.issuperset(map(type, index))


def positions(index: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Where an index leads in an array of this shape, as positions in its elements one after the other."""
    if type(index) is tuple and len(index) == len(shape):
        total: Any = 0
        for i, n in zip(index, shape, strict=True):
            if type(i) is not np.ndarray or i.dtype.kind not in "iu" or not i.size:
                break
            lowest = i.min()
            if lowest < -n or i.max() >= n:
                break
            total = total * n + (i if lowest >= 0 else np.where(i < 0, i + n, i))
        else:
            return np.asarray(total)
    return np.arange(math.prod(shape)).reshape(shape)[
        index
    ]  # any index; NumPy's error, where it leads nowhere


def repeats(index: Any) -> bool:
    """May this index name a position twice? Integer arrays may; integers, slices and masks don't."""
    if isinstance(index, tuple):
        return any(repeats(i) for i in index)
    return isinstance(index, (list, np.ndarray)) and np.asarray(index).dtype.kind in "iu"
