"""The parts of the core, put together: the one place where something is handed to what it is built on.

A tracer is an array that can be read, written and changed in place. How that is done is built on traces and
tracers, which therefore can't import it.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from funcgrad.core.arrays.flat import FlatIter, set_flat
from funcgrad.core.arrays.methods import LANES, ArrayMethods
from funcgrad.core.engine.batch import BatchTrace
from funcgrad.core.engine.catalogue import Function
from funcgrad.core.engine.forward import ForwardTrace
from funcgrad.core.engine.reverse import ReverseTrace
from funcgrad.core.memory.indexing import read_item
from funcgrad.core.memory.inplace import OPERATORS, astype, copy, take_shape
from funcgrad.core.memory.loops import assign
from funcgrad.core.memory.mutation import write_batch, write_forward, write_reverse

# What tracers can do that needs more than a function of the catalogue.
ArrayMethods.__getitem__ = read_item  # type: ignore[method-assign]
ArrayMethods.__setitem__ = assign  # type: ignore[method-assign]
ArrayMethods.flat = property(FlatIter, set_flat)
ArrayMethods.astype = astype
ArrayMethods.copy = copy
ArrayMethods._take_shape = take_shape  # type: ignore[method-assign]
for name, operator in OPERATORS.items():
    setattr(ArrayMethods, name, operator)

# What a write means on each trace.
ReverseTrace.write = write_reverse
ForwardTrace.write = write_forward
BatchTrace.write = write_batch


def make_lane(function: Function) -> Callable[..., Any]:
    """The lane of a function that is called often. What makes lanes is imported for the first of them."""
    LANES.make = make = import_module("funcgrad.core.lanes.reverse").make_lane
    return make(function)


LANES.make = make_lane
