"""Watched objects: values of classes that are no arrays, as `Box.register(SomeClass)` lets them be watched.

For the engine such an object is a number of another library, a `Held` one: its space (`VSpace.register`) tells
how it is added and multiplied. For pytrees it is a container of that number. What the program sees of a watched
object is an instance of the class of boxes, whose methods call primitives.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from funcgrad import tree
from funcgrad.compat.autograd.spaces import VSpace, vspace
from funcgrad.core.engine.trace import concrete
from funcgrad.tree.containers import CONTAINERS


class Held(NDArrayOperatorsMixin):
    """An object, as a number of another library."""

    __slots__ = ("value",)
    shape, ndim, size, dtype = (), 0, 1, np.dtype(float)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs:
            return NotImplemented
        if ufunc is np.add:
            return self._plus(*args)
        if ufunc is np.negative:
            return self._times(-1.0)
        if ufunc is np.multiply and not all(isinstance(x, Held) for x in args):
            return self._times(args[1] if args[0] is self else args[0])
        return NotImplemented

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function in (np.zeros_like, np.ones_like):
            return _Alike(self, "zeros" if function is np.zeros_like else "ones")
        return {np.shape: (), np.ndim: 0, np.size: 1, np.copy: self}.get(function, NotImplemented)

    def _plus(self, x: Any, y: Any) -> Any:
        if isinstance(x, Held) and isinstance(y, Held):
            return Held(vspace(self.value).add(x.value, y.value))
        return NotImplemented

    def _times(self, number: Any) -> Any:
        return Held(vspace(self.value).scalar_mul(self.value, number))


class _Alike(Held):
    """The zeros or ones of another's space, which is asked when they are needed: not every class has a space."""

    __slots__ = ("name", "other")

    def __init__(self, other: Held, name: str) -> None:
        self.other, self.name = other, name

    def __getattr__(self, name: str) -> Any:
        if name != "value":
            raise AttributeError(name)
        self.value = getattr(vspace(self.other.value), self.name)()
        return self.value


def register(value_type: type, box: type) -> None:
    """Objects of this class may be watched, as boxes of that one."""

    def content(x: Any) -> tuple[tuple[Any], None]:
        return (x._tracer if isinstance(x, box) else Held(x),), None

    def rebuilt(beside: None, children: tuple[Any, ...]) -> Any:
        return children[0].value if isinstance(children[0], Held) else boxed(box, children[0])

    if value_type not in CONTAINERS:
        tree.register_node(value_type, content, rebuilt)
        # Both are one kind of container: a rule returns an object where a box was given.
        CONTAINERS[box] = CONTAINERS[value_type]
        VSpace.mappings.setdefault(value_type, _no_space)
        VSpace.mappings.setdefault(box, lambda x: vspace(plain(x)))


def _no_space(x: Any) -> VSpace:
    raise TypeError(
        f"vspace: how objects of {type(x).__name__} are added is not known. Register their space: a subclass of VSpace with "
        f"zeros and _add, and Space.register({type(x).__name__})."
    )


def boxed(box: type, tracer: Any) -> Any:
    """A box around a tracer."""
    watched: Any = object.__new__(box)
    watched._tracer = tracer
    return watched


def plain(box: Any) -> Any:
    """The object in a box, beneath all transforms."""
    return concrete(box._tracer).value
