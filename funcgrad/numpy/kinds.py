"""Number classes, as converters and for isinstance, that know tracers: np.float64, Python's float."""

from __future__ import annotations

import copyreg
import types
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from funcgrad.core.arrays.resting import Resting
from funcgrad.core.engine.trace import RUNNING, Tracer
from funcgrad.core.memory.blank import BlankTracer, fresh
from funcgrad.core.memory.views import is_scalar
from funcgrad.numpy.dispatch import tracer_in

running = RUNNING.get


class NumberKind(type):
    """The class of stand-ins for a class of numbers. A stand-in equals its original, and calling it gives
    such numbers, or tracers that take their place. A subclass of it is one of the original.
    """

    original: type

    def __new__(mcs, name: str, bases: tuple[type, ...], space: dict[str, Any], **options: Any) -> Any:
        if "original" in space:
            return super().__new__(mcs, name, bases, space)
        bases = tuple(getattr(base, "original", base) for base in bases)
        return types.new_class(name, bases, options, lambda made: made.update(space))

    def __instancecheck__(cls, x: object) -> bool:
        if "original" not in cls.__dict__:
            return super().__instancecheck__(x)
        if isinstance(x, Tracer):
            return not x.shape and is_scalar(x) and issubclass(x.dtype.type, cls.original)
        return isinstance(x, cls.original)

    def __subclasscheck__(cls, kind: type) -> bool:
        return (
            issubclass(kind, cls.original) if "original" in cls.__dict__ else super().__subclasscheck__(kind)
        )

    def __eq__(cls, other: object) -> bool:
        return cls is other or cls.__dict__.get("original") is other

    def __hash__(cls) -> int:
        return hash(cls.__dict__.get("original")) if "original" in cls.__dict__ else super().__hash__()

    def __repr__(cls) -> str:
        return repr(cls.original) if "original" in cls.__dict__ else super().__repr__()


def _itself(kind: Any) -> Any:
    return kind


def stand_in_for(original: type, convert: Callable[..., Any], dtype: Any) -> Any:
    """A class in the place of `original`, whose calls are `convert`; as a dtype it is `dtype`."""
    bases = () if original is np.bool_ else (original,)
    space = {"original": original, "__doc__": original.__doc__, "__slots__": ()}
    if not issubclass(original, np.generic) or original is np.bool_:
        space["dtype"] = np.dtype(dtype)
    # Each has a class of its own, of which its calls are an attribute that C code finds and calls.
    resting = Resting(original, lambda in_vain: _converting(original, convert, in_vain))
    stand_in = type("NumberKind", (NumberKind,), {"__call__": staticmethod(resting.call)})(
        original.__name__, bases, space
    )
    stand_in.__module__, stand_in.__qualname__ = original.__module__, original.__qualname__
    # Pickled as the original, which stands under this name in its module.
    copyreg.pickle(type(stand_in), lambda kind: (_itself, (kind.original,)))
    return stand_in


def _converting(original: type, convert: Callable[..., Any], in_vain: Callable[[], None]) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        if running() is not None:
            return convert(*args, **kwargs)
        in_vain()
        return original(*args, **kwargs)

    return call


@cache
def number_class(original: Any) -> Any:
    """The stand-in for a class of NumPy's numbers."""

    def convert(*args: Any, **kwargs: Any) -> Any:
        tracer = tracer_in(args)
        if tracer is None or isinstance(tracer, BlankTracer):
            return fresh(original(*args, **kwargs))
        as_array: Any = np.array
        return as_array(args[0], dtype=original, like=tracer)[()]

    return stand_in_for(original, convert, original)


def is_number_class(value: Any) -> bool:
    """Is this one of NumPy's classes of numbers, such as np.float64 or np.floating?"""
    return isinstance(value, type) and issubclass(value, np.number) and value is not np.timedelta64
