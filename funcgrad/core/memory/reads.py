"""The transpose of x[index]: contributions to the cotangent of x, added up in one buffer."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core.arrays.arguments import holds_tracer
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.engine.cotangent import Gathered, Masked, dense, is_of_library
from funcgrad.core.engine.trace import Tracer, is_foreign
from funcgrad.core.memory.chunks import runner
from funcgrad.core.memory.plain import BASIC, INTS, LARGE, PLAIN_PARTS, ndarray, positions, repeats
from funcgrad.core.memory.scattering import scattered
from funcgrad.typed import override


class Read(Gathered):
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

    @override
    def settled(self) -> Any:
        """The one reading, as a Masked."""
        return Scatter(self).settled()

    @override
    def dense(self) -> Any:
        """The one reading, as an array."""
        return Scatter(self).buffer


def make_read(index: Any, part: Any, spec: Any) -> Read:
    """A new Read. (The pull of x[i] in a loop writes these lines out.)"""
    read = Read()
    read.index, read.part, read.spec = index, part, spec
    return read


class Scatter(Gathered):
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

    @override
    def dense(self) -> Any:
        """The sum."""
        return self.buffer

    @override
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
        if not isinstance(live, Tracer) and runner(live) is None and live.all():
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
            touched = added_from_zero(weights, index, self.shape) != 0
            live = touched if live is None else np.logical_or(live, touched)
        return live


def add_to_masked(masked: Masked, read: Read) -> bool:
    """Add a contribution into the buffers of a Masked, if all are plain. Was it done?"""
    part, live, index = read.part, True, read.index
    if type(part) is Masked:
        part, live = part.value, part.live
    if not (type(part) in PLAIN_PARTS and type(masked.value) is type(masked.live) is ndarray) or isinstance(
        live, Tracer
    ):
        return False
    if type(part) is ndarray and repeats(index):
        add_at(masked.value, index, part)
        np.logical_or.at(masked.live, index, live)
    else:
        masked.value[index] += part
        if live is True:
            masked.live[index] = True
        else:
            masked.live[index] |= live
    return True


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
