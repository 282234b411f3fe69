"""Functions of lists and keywords that hold tracers: those in which NumPy does not look for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, update_wrapper
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

import funcgrad.rules  # noqa: F401  (declares them)
from funcgrad.core.arrays.methods import call_function
from funcgrad.core.arrays.resting import Resting
from funcgrad.core.engine.catalogue import Unsupported, known
from funcgrad.core.engine.trace import RUNNING, Tracer
from funcgrad.core.memory.blank import BlankTracer, filling_plain, only_fills_plain
from funcgrad.core.memory.looks import handed_out

HOME = "funcgrad.numpy"  # the module that users see
running = RUNNING.get  # found faster


def tracer_in(items: Any) -> Tracer | None:
    """A tracer among these, or in lists among them."""
    for x in items:
        if isinstance(x, Tracer):
            return x
        if isinstance(x, (list, tuple)):
            tracer = tracer_in(x)
            if tracer is not None:
                return tracer
    return None


def named_like(wrapper: Any, function: Callable[..., Any], home: str) -> Any:
    """`wrapper` with the name, docstring and signature of a NumPy function; `home` is its module."""
    update_wrapper(wrapper, function, assigned=("__name__",))
    wrapper.__module__, wrapper.__qualname__ = home, wrapper.__name__
    wrapper.__doc__ = _without_examples(function.__doc__ or "")
    return wrapper


def _without_examples(doc: str) -> str:
    """A docstring of NumPy's without its examples, which are NumPy's to test, and without its indentation."""
    if doc[:1] == "\n":  # (inspect.cleandoc takes a fifth of what importing all of this takes)
        doc = doc[1:].replace("\n    ", "\n").lstrip(" ")
    return doc.partition("\nExamples\n")[0].replace(">>> ", "").strip()


@cache
def looking(function: Callable[..., Any], home: str) -> Any:
    """`function`, which during a transform finds tracers in lists and keywords, and makes blank arrays."""
    primitive = known(function)
    has_rule = primitive is not None and not isinstance(primitive, Unsupported)

    def call(args: Any, kwargs: Any) -> Any:
        tracer = tracer_in((*args, *kwargs.values()))
        if tracer is None or not has_rule:
            return handed_out(function(*args, **kwargs), (args, tuple(kwargs.values())))
        if isinstance(tracer, BlankTracer) and only_fills_plain(function, args, kwargs):
            return filling_plain(function, args, kwargs)
        return call_function(function, args, kwargs)

    return during_transforms(function, call, home)


def during_transforms(function: Callable[..., Any], call: Callable[[Any, Any], Any], home: str) -> Any:
    """`function` outside of transforms; while one runs, call(args, kwargs)."""

    def looking(in_vain: Callable[[], None]) -> Any:
        def look(*args: Any, **kwargs: Any) -> Any:
            if running() is not None:
                return call(args, kwargs)
            in_vain()
            return function(*args, **kwargs)

        look.__qualname__ = function.__name__  # by which it is shown
        return look

    return named_like(Resting(function, looking).call, function, home)


FUNCTIONS = (FunctionType, BuiltinFunctionType, type(np.sum), type(np.dot))
_MIRRORED = ("numpy.lib", "numpy.emath")


def dispatched(module: ModuleType, name: str, home: str) -> Any:
    """A name of one of NumPy's modules: NumPy's own, unless it gives arrays or takes them in lists."""
    value = getattr(module, name)
    if isinstance(value, ModuleType):
        return Mirror(value, f"{home}.{name}") if value.__name__.startswith(_MIRRORED) else value
    return looking(value, home) if isinstance(value, FUNCTIONS) and name not in _OF_NO_ARRAYS else value


# Functions that neither give arrays nor look into lists for them.
_NAMES = """
array2string array_repr array_str base_repr binary_repr broadcast_shapes can_cast format_float_positional
format_float_scientific get_include get_printoptions getbufsize geterr geterrcall info isdtype issubdtype may_share_memory
min_scalar_type mintypecode nested_iters promote_types save savetxt savez savez_compressed set_printoptions setbufsize seterr
seterrcall shares_memory show_config show_runtime test typename
"""
_OF_NO_ARRAYS = frozenset(_NAMES.split())


class Mirror(ModuleType):
    """A module of NumPy's whose functions are `dispatched`."""

    def __init__(self, original: ModuleType, home: str) -> None:
        super().__init__(home, original.__doc__)
        self._original = original

    def __getattr__(self, name: str) -> Any:
        value = dispatched(self._original, name, self.__name__)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return dir(self._original)
