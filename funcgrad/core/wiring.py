"""The parts of the core, put together: the one place where something is handed to what it is built on.

A tracer is an array that can be read, written and changed in place. How that is done is built on traces and
tracers, which therefore can't import it; and it is imported when it is first done, which many programs never do.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from funcgrad.core.arrays.methods import LANES, ArrayMethods
from funcgrad.core.engine.batch import BatchTrace
from funcgrad.core.engine.catalogue import Function
from funcgrad.core.engine.forward import ForwardTrace
from funcgrad.core.engine.reverse import ReverseTrace
from funcgrad.core.memory.blank import BlankTrace

INPLACE = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")

# What tracers can do that needs more than a function of the catalogue, and what a write means on each trace.
# Whose method -> its name -> the module of the core that has it, and its name there.
LATER: dict[type, dict[str, tuple[str, str]]] = {
    ArrayMethods: {
        "__getitem__": ("memory.indexing", "read_item"),
        "__setitem__": ("memory.loops", "assign"),
        "flat": ("arrays.flat", "flat"),
        "_take_shape": ("memory.inplace", "take_shape"),
        "astype": ("memory.inplace", "astype"),
        "copy": ("memory.inplace", "copy"),
        **{f"__i{name}__": ("memory.inplace", f"i{name}") for name in INPLACE},
    },
    ReverseTrace: {"write": ("memory.mutation", "write_reverse")},
    ForwardTrace: {"write": ("memory.mutation", "write_forward")},
    BatchTrace: {"write": ("memory.mutation", "write_batch")},
    BlankTrace: {"write": ("memory.mutation", "write_blank")},
}


def put(owner: type, name: str) -> None:
    """The method itself, in its place."""
    module, attribute = LATER[owner][name]
    setattr(owner, name, getattr(import_module(f"funcgrad.core.{module}"), attribute))


def until_called(owner: type, name: str) -> Callable[..., Any]:
    """What stands in the place of a method until it is first called."""

    def method(*args: Any, **kwargs: Any) -> Any:
        put(owner, name)
        return getattr(owner, name)(*args, **kwargs)

    method.__name__ = name
    return method


for _owner, _names in LATER.items():
    for _name in _names:
        setattr(_owner, _name, until_called(_owner, _name))


def _get_flat(x: Any) -> Any:
    put(ArrayMethods, "flat")
    return x.flat


def _set_flat(x: Any, v: Any) -> None:
    put(ArrayMethods, "flat")
    x.flat = v


ArrayMethods.flat = property(_get_flat, _set_flat)


def make_lane(function: Function) -> Callable[..., Any]:
    """The lane of a function that is called often. What makes lanes is imported for the first of them."""
    LANES.make = make = import_module("funcgrad.core.lanes.reverse").make_lane
    return make(function)


LANES.make = make_lane
