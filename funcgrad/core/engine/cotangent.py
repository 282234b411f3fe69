"""What a cotangent (or tangent) may be, and the one place that keeps it fitting the value it belongs to.

The invariant: a cotangent has exactly the shape and dtype of its value. `fit` restores it: the only undoing
of broadcasting, of dtype promotion and of real-to-complex promotion in the library.

Besides a plain array or a tracer, a cotangent may be
- `Masked`: an array with a mask of its live positions; the others are zero by structure (a branch that `where` did not take, a
  row that belongs to another output), and stay zero even where the derivative that multiplies them is inf or
  NaN;
- `Gathered`: contributions of `x[index]`, added into one buffer, so that reading x element by element stays linear (reads.py);
- `Repeated`: one value at many places, of an array of another library (repeated.py);
- `Part`: the cotangent of one of several outputs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.arrays.repeated import Repeated, repeated
from funcgrad.core.engine.trace import is_foreign
from funcgrad.core.memory.plain import (
    PLAIN_PARTS,
    add_reduce,
    broadcast,
    is_finite,
    loud,
    ndarray,
    quiet,
    where_live,
)


class Masked:
    """`value`, zero by structure outside `live`. The sweep may write into `owned` buffers."""

    __slots__ = ("live", "owned", "value")

    def __init__(self, value: Any, live: Any, *, owned: bool = False) -> None:
        self.value = value
        self.live = live
        self.owned = owned

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the value it belongs to."""
        return self.value.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the value it belongs to."""
        return self.value.dtype

    def times(self, partial: Any) -> Masked:
        """The product with a partial derivative (value or function); it may be inf or NaN where not live."""
        token = quiet()
        try:
            return self.like(partial(self.value) if callable(partial) else self.value * partial)
        finally:
            loud(token)

    def like(self, value: Any) -> Masked:
        """`value`, a product with it that may be inf or NaN where nothing is live, with zeros there again."""
        return Masked(value if is_finite(value) else where_live(self.live, value), self.live)

    def through(self, linear: Callable[[Any], Any]) -> Any:
        """Apply a linear function that only moves, copies and sums elements; the mask goes the same way."""
        value = linear(self.value)
        if type(value) is list and len(value) == 1 and value[0] is self.value:
            return [Masked(value[0], self.live)]  # a copy
        live = linear(self.live.astype(_MASK_DTYPES.get(self.value.dtype, np.float64)))
        if isinstance(value, (tuple, list)):
            return [_masked(v, m) for v, m in zip(value, live, strict=True)]
        return _masked(value, live)


_MASK_DTYPES = {np.dtype(np.float32): np.float32, np.dtype(np.complex64): np.float32}


def _masked(value: Any, weights: Any) -> Any:
    if value is None:
        return None
    value, weights = settled(value), dense(weights)
    live = weights != 0
    return Masked(value.value, live & value.live) if type(value) is Masked else Masked(value, live)


def select(live: Any, ct: Any) -> Masked:
    """`ct` where `live`, zero by structure elsewhere: what a branch that was not taken contributes."""
    if not hasattr(live, "shape"):  # where=True
        live = np.asarray(live, bool)
    return Masked(
        where_live(live, ct),
        live if live.shape == ct.shape else np.logical_and(live, np.ones(ct.shape, bool)),
    )


def is_of_library(ct: Any) -> bool:
    """Is this cotangent an array of another library, or does it repeat one?"""
    return type(ct) is Repeated or type(ct) is not ndarray and is_foreign(ct)


def small(ct: Any) -> Any:
    """`ct`, or what it repeats."""
    return ct.value if type(ct) is Repeated else dense(ct)


class Part:
    """The cotangent of one output, `position`, of a node that has several."""

    __slots__ = ("ct", "dtype", "position", "shape")

    def __init__(self, position: int, ct: Any, width: Any) -> None:
        self.position, self.ct, self.shape, self.dtype = position, ct, width, None


class Gathered:
    """Contributions that are put together when they are needed as an array: see reads.py."""

    __slots__ = ()

    def settled(self) -> Any:
        """It as a plain array, a tracer or a Masked."""
        raise NotImplementedError

    def dense(self) -> Any:
        """It as a plain array or a tracer: the structure of its zeros is forgotten."""
        raise NotImplementedError

    def ended(self) -> Any:
        """It as what a leaf gets."""
        return self.dense()

    def joined(self, other: Any) -> Any:
        """The sum with another one of its kind."""
        return self.dense() + other.dense()


def settled(ct: Any) -> Any:
    """`ct` as a plain array, a tracer or a Masked."""
    kind = type(ct)
    if kind is ndarray or kind is Masked:
        return ct
    if kind is Repeated:
        return ct.dense()
    return ct.settled() if isinstance(ct, Gathered) else ct


def dense(ct: Any) -> Any:
    """`ct` as a plain array or a tracer: the structure of its zeros is forgotten."""
    if type(ct) is Masked:
        return ct.value
    return ct.dense() if isinstance(ct, (Gathered, Repeated)) else ct


def ended(ct: Any) -> Any:
    """`ct` as what a leaf gets: a plain array or a tracer, or what a kind of `Gathered` says."""
    return ct.ended() if isinstance(ct, Gathered) else dense(ct)


def added(ct: Any, other: Any) -> Any:
    """The sum of two; what both mask stays zero by structure."""
    if type(ct) is Repeated or type(other) is Repeated:
        return repeated(small(ct) + small(other), ct.shape)
    if isinstance(ct, Gathered) and type(ct) is type(other):
        return ct.joined(other)
    if type(ct) is Masked and type(other) is Masked:
        return Masked(ct.value + other.value, np.logical_or(ct.live, other.live))
    return dense(ct) + dense(other)


def fit(part: Any, to: Any) -> Any:
    """`part`, a contribution to the cotangent of a value like `to`, with the shape and dtype of that value."""
    if type(part) is ndarray:
        if part.shape[1:] == to.shape and part.ndim:  # the gradient of a bias
            part = add_reduce(part, 0)
            if part.dtype is to.dtype:
                return part
    elif type(part) in PLAIN_PARTS:  # the gradient of a sum
        part = broadcast(part, to.shape)
    elif type(part) is Masked:
        if to.shape == () and part.shape and is_any_live(part):  # the gradient of a number
            part = add_reduce(part.value, None)
    elif not hasattr(part, "shape"):
        part = np.asarray(part)
    if part.shape != to.shape:
        part = fit_shape(part, to.shape)
    if type(part) is Masked:
        return Masked(_cast(part.value, to.dtype), part.live)
    if type(part) is Repeated:
        return Repeated(_cast(part.value, to.dtype), part.shape)
    return _cast(part, to.dtype)


def is_any_live(ct: Masked) -> bool:
    """Is a plain array not zero by structure as a whole? (The first True: ten times as fast as live.any().)"""
    live = ct.live
    return type(ct.value) is type(live) is ndarray and live.size > 0 and live.item(live.argmax())


def _cast(part: Any, dtype: Any) -> Any:
    if part.dtype == dtype:
        return part
    if part.dtype.kind == "c" and dtype.kind != "c":
        part = part.real
    return part.astype(dtype)


def fit_shape(part: Any, shape: tuple[int, ...]) -> Any:
    """Undo broadcasting: sum `part` over the axes along which a value of this shape was repeated."""
    if type(part) is Masked:
        return part.through(lambda p: fit_shape(p, shape))
    if type(part) is Repeated:
        return part.summed(shape) if len(part.shape) >= len(shape) else fit_shape(part.dense(), shape)
    if 0 < part.ndim < len(shape):  # x[:] = v, where v has axes of length 1 in front
        part = part.reshape((1,) * (len(shape) - part.ndim) + part.shape)
    lead = max(part.ndim - len(shape), 0)
    kept = part.shape[lead:]
    stretched: tuple[int, ...] = ()
    if len(kept) == len(shape):
        stretched = tuple(lead + i for i, n in enumerate(shape) if n == 1 and kept[i] != 1)
    if lead or stretched:
        part = part.sum(axis=(*range(lead), *stretched)).reshape(
            [1 if n == 1 else m for n, m in zip(shape, kept)]
        )
    if part.shape == shape:
        return part
    return Repeated(part, shape) if is_foreign(part) else broadcast(part, shape)
