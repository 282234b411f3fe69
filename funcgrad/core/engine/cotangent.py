"""What a cotangent (or tangent) may be, and the one place that keeps it fitting the value it belongs to.

The invariant: a cotangent has exactly the shape and dtype of its value. `fit` restores it: the only undoing
of broadcasting, of dtype promotion and of real-to-complex promotion in the library.

Besides a plain array or a tracer, a cotangent may be
- `Masked`: an array with a mask of its live positions; the others are zero by structure (a branch that `where` did not take, a
  row that belongs to another output), and stay zero even where the derivative that multiplies them is inf or
  NaN;
- `Read`, `Scatter`: contributions of `x[index]`, added into one buffer, so that reading x element by element stays linear;
- `Repeated`: one value at many places, of an array of another library: what is repeated stays small;
- `Part`: the cotangent of one of several outputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.arrays.arguments import holds_tracer
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.engine.trace import Tracer, is_foreign
from funcgrad.core.memory.plain import (
    BASIC,
    INTS,
    LARGE,
    PLAIN_PARTS,
    add_reduce,
    broadcast,
    is_finite,
    loud,
    ndarray,
    positions,
    quiet,
    repeats,
    where_live,
)
from funcgrad.core.memory.scattering import scattered


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

    def add(self, read: Read) -> bool:
        """Add a contribution into its own buffers, if all are plain. Was it done?"""
        part, live, index = read.part, True, read.index
        if type(part) is Masked:
            part, live = part.value, part.live
        if not (type(part) in PLAIN_PARTS and type(self.value) is type(self.live) is ndarray) or isinstance(
            live, Tracer
        ):
            return False
        if type(part) is ndarray and repeats(index):
            add_at(self.value, index, part)
            np.logical_or.at(self.live, index, live)
        else:
            self.value[index] += part
            if live is True:
                self.live[index] = True
            else:
                self.live[index] |= live
        return True

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


class Read:
    """What one `x[index]` contributes to the cotangent of x: `part` at `index`, zero by structure elsewhere."""

    __slots__ = ("index", "part", "spec")
    index: Any
    part: Any
    spec: Any  # that of x; None until the sweep knows it

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of x."""
        return self.spec.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of x."""
        return self.spec.dtype


def make_read(index: Any, part: Any, spec: Any) -> Read:
    """A new Read. (The pull of x[i] in a loop writes these lines out.)"""
    read = Read()
    read.index, read.part, read.spec = index, part, spec
    return read


class Scatter:
    """The sum of many `Read`s, in one buffer: reading x element by element costs O(1) each."""

    __slots__ = ("basics", "buffer", "dtype", "elements", "masked", "places", "reads", "shape")

    def __init__(self, read: Read) -> None:
        self.shape, self.dtype = read.shape, read.dtype
        part = read.part.value if type(read.part) is Masked else read.part
        self.buffer: Any = None if is_of_library(part) else buffer_for(part, read.shape, read.dtype)
        self.elements: list[int] = []  # what loops read
        self.places: list[tuple[int, ...]] = []  # and loops over several axes
        self.basics: list[Any] = []  # slices, and tuples of slices and integers
        self.masked: list[tuple[Any, Any]] = []  # and the live positions of what they read
        self.reads: list[tuple[Any, Any]] = []  # all else: (index, which of its positions are live)
        self.add(read)

    def add(self, read: Read) -> None:
        """Add one more contribution; the indices are kept, for the mask."""
        part, live, index = read.part, True, read.index
        if type(part) is Masked and type(part.value) is ndarray and type(part.live) is ndarray:
            part, live = part.value, part.live
        if type(part) in PLAIN_PARTS and type(self.buffer) is ndarray:
            kind = type(index)
            if live is not True and (kind in BASIC or kind is tuple and BASIC.issuperset(map(type, index))):
                self.buffer[index] += part
                self.masked.append((index, live))
                return
            if kind in INTS:
                self.buffer[index] += part
                self.elements.append(index)
                return
            if kind is tuple and len(index) == self.buffer.ndim and INTS.issuperset(map(type, index)):
                self.buffer[index] += part
                self.places.append(index)
                return
            if kind is slice or kind is tuple and BASIC.issuperset(map(type, index)):
                self.buffer[index] += part
                self.basics.append(index)
                return
        if type(part) is Masked:
            part, live = part.value, part.live
        elif type(part) is not ndarray and is_of_library(part):
            part = dense(part)
            live = np.ones_like(part, dtype=bool)
        self.reads.append((read.index, live))
        if self.buffer is None:
            self.buffer = added_from_zero(part, index, self.shape)
        else:
            self.buffer = add_at(self.buffer, index, part)

    def settled(self) -> Any:
        """The sum as a Masked, or as a plain array where every position is live."""
        if is_foreign(self.buffer):
            return Masked(self.buffer, self._live_elsewhere(), owned=True)
        live: Any = np.zeros(self.shape, bool)
        if self.elements:
            live[self.elements] = True
        if self.places:
            live[tuple(map(list, zip(*self.places)))] = True
        for index in self.basics:
            live[index] = True
        for index, part in self.masked:
            live[index] |= part
        for index, part in self.reads:
            if (
                isinstance(live, Tracer)
                or holds_tracer((part, index))
                or is_foreign(part)
                or is_foreign(live)
            ):
                part = part.astype(float) if hasattr(part, "astype") else np.asarray(part, float)
                live = np.logical_or(live, add_at(buffer_for(part, self.shape, float), index, part) != 0)
            elif part is True or not repeats(index):
                live[index] |= part
            else:  # one reading of a position may be live, another not
                np.logical_or.at(live, index, part)
        if not isinstance(live, Tracer) and live.all():
            return self.buffer
        return Masked(self.buffer, live, owned=True)

    def _live_elsewhere(self) -> Any:
        """Where the reads are, as an array of the library that the parts are from."""
        live = np.zeros(self.shape, bool) if self.elements or self.places else None
        if self.elements:
            live[self.elements] = True  # pyright: ignore[reportOptionalSubscript]
        if self.places:
            live[tuple(map(list, zip(*self.places)))] = True  # pyright: ignore[reportOptionalSubscript]
        for index, part in self.reads:
            weights = part.astype(float) if hasattr(part, "astype") else np.ones_like(self.buffer)[index]
            found = added_from_zero(weights, index, self.shape) != 0
            live = found if live is None else np.logical_or(live, found)
        return live


def added_from_zero(part: Any, index: Any, shape: tuple[int, ...]) -> Any:
    """`part`, of another library, at `index` of zeros of this shape."""
    out = None if holds_tracer((part, index)) else scattered(part, index, shape)
    return add_at(buffer_for(part, shape, part.dtype), index, part) if out is None else out


def buffer_for(part: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Zeros to add up parts in: of the same kind of array as `part`, if that is one of another library."""
    if type(part) is Masked:
        part = part.value
    return np.zeros_like(part, shape=shape, dtype=dtype) if is_foreign(part) else np.zeros(shape, dtype)


def copy_for(part: Any, buffer: Any, dtype: Any = None) -> Any:
    """A copy of `buffer`, to write parts like `part` into."""
    if is_foreign(part) or is_foreign(buffer):
        return buffer_for(part if is_foreign(part) else buffer, buffer.shape, dtype or buffer.dtype) + buffer
    return np.array(buffer, dtype)


def add_at(buffer: Any, index: Any, part: Any) -> Any:
    """`buffer` with `part` added at `index` (repeated indices add up): in place where both are plain."""
    if isinstance(buffer, Tracer) or holds_tracer((part, index)):
        return CATALOGUE[add_at](buffer, part, index)
    if type(part) is not ndarray and is_foreign(part) or type(buffer) is not ndarray and is_foreign(buffer):
        out = scattered(part, index, buffer.shape)
        if out is not None:
            return buffer + out
    if not repeats(index):
        buffer[index] += part
    elif np.size(part) < LARGE or type(buffer) is not ndarray or not buffer.flags.c_contiguous:
        np.add.at(buffer, index, part)
    else:  # np.add.at is ten times faster along one axis
        places = positions(index, buffer.shape)
        np.add.at(buffer.reshape(-1), places.reshape(-1), np.broadcast_to(part, places.shape).reshape(-1))
    return buffer


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


def settled(ct: Any) -> Any:
    """`ct` as a plain array, a tracer or a Masked."""
    if type(ct) is Read:
        ct = Scatter(ct)
    if type(ct) is Repeated:
        return ct.dense()
    return ct.settled() if type(ct) is Scatter else ct


def dense(ct: Any) -> Any:
    """`ct` as a plain array or a tracer: the structure of its zeros is forgotten."""
    if type(ct) is Read:
        ct = Scatter(ct)
    if type(ct) is Scatter:
        return ct.buffer
    if type(ct) is Repeated:
        return ct.dense()
    return ct.value if type(ct) is Masked else ct


def added(ct: Any, other: Any) -> Any:
    """The sum of two; what both mask stays zero by structure."""
    if type(ct) is Repeated or type(other) is Repeated:
        return repeated(small(ct) + small(other), ct.shape)
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
