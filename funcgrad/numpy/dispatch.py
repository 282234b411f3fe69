"""Functions of lists and keywords that hold tracers: those in which NumPy does not look for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, update_wrapper
from inspect import cleandoc
from types import ModuleType
from typing import Any

import numpy as np

import funcgrad.rules  # noqa: F401  (declares them)
from funcgrad.core.arrays.methods import call_function
from funcgrad.core.engine.catalogue import Unsupported, known
from funcgrad.core.engine.trace import RUNNING, Tracer


def tracer_in(items: Any) -> Tracer | None:
    """A tracer among these, or in lists among them."""
    for x in items:
        if isinstance(x, Tracer):
            return x
        if isinstance(x, (list, tuple)):
            found = tracer_in(x)
            if found is not None:
                return found
    return None


def named_like(made: Any, function: Callable[..., Any], home: str) -> Any:
    """`made`, with the name, the documentation and the signature of a function of NumPy's; `home` is the module that has it."""
    update_wrapper(made, function, assigned=("__name__",))
    made.__module__, made.__qualname__ = home, made.__name__
    # Without the examples, which are NumPy's to test.
    made.__doc__ = cleandoc(function.__doc__ or "").partition("\nExamples\n")[0].replace(">>> ", "")
    return made


@cache
def looking(function: Callable[..., Any], home: str) -> Any:
    """`function`, which looks for tracers in lists and keywords too, while a transform runs."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if RUNNING.get() is None or tracer_in((*args, *kwargs.values())) is None:
            return function(*args, **kwargs)
        return call_function(function, args, kwargs)

    return named_like(call, function, home)


def dispatched(module: ModuleType, name: str, home: str) -> Any:
    """The name of one of NumPy's modules: NumPy's own, unless NumPy might not see a tracer that it is called with."""
    value = getattr(module, name)
    if isinstance(value, (type, ModuleType, np.ufunc)) or not callable(value):
        return value
    made = known(value)
    return value if made is None or isinstance(made, Unsupported) else looking(value, home)
