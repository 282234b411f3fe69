"""What stands for the modules of libraries, and for their functions and classes."""

from __future__ import annotations

import functools
import sys
from functools import cache
from importlib import import_module
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from funcgrad.adaptation.ufuncs import NUMPY

LIBRARIES = {
    "numpy": "funcgrad.numpy", "scipy": "funcgrad.scipy", "math": "funcgrad.math", "cmath": "funcgrad.cmath",
    "autograd": "funcgrad.compat.autograd", "functools": "funcgrad.adaptation.tools", "statistics": "funcgrad.adaptation.tools",
}  # fmt: skip
# Modules whose functions are found by asking for each name, since these do not know their home.
_ASKED = (
    "numpy", "numpy.linalg", "numpy.fft", "numpy.random", "numpy.testing", "numpy.lib.stride_tricks",
    "numpy.polynomial.polynomial", "math", "cmath", "functools", "statistics", "scipy.stats",
)  # fmt: skip


@cache
def module_for(name: str) -> Any:
    """funcgrad's module in the place of the module `name`; None if there is none."""
    top, _, rest = ("numpy", "", "") if name == "numpy._core.numeric" else name.partition(".")
    if top not in LIBRARIES:
        return None
    if top == "numpy" and not rest:
        return NUMPY
    try:
        module: Any = import_module(LIBRARIES[top])
        for part in filter(None, rest.split(".")):
            module = getattr(module, part)
    except (ImportError, AttributeError):
        return None
    if module is sys.modules.get(name):
        return None
    return module.MODULES[name] if LIBRARIES[top] == "funcgrad.adaptation.tools" else module


@cache
def _asked(loaded: tuple[str, ...]) -> dict[int, tuple[Any, str, str]]:
    """By the identity of an object of a library: the object, the module that has it, and its name there."""
    by_id: dict[int, tuple[Any, str, str]] = {}
    for module in loaded:
        if module_for(module) is None:
            continue
        space = import_module(module)
        for name in getattr(space, "__all__", dir(space)):  # not what it takes from other modules
            value = getattr(space, name)
            if not name.startswith("_") and not isinstance(value, (bool, int, float, str, ModuleType)):
                by_id.setdefault(id(value), (value, module, name))
    return by_id


# What a library's function can be: of anything else, nothing is asked.
_KINDS = (
    FunctionType,
    BuiltinFunctionType,
    MethodType,
    type,
    np.ufunc,
    type(np.sum),
    type(np.dot),
    type(np.r_),
    type(np.mgrid),
)
KINDS: tuple[type, ...] = tuple({*_KINDS, functools._lru_cache_wrapper, type(np.c_), type(np.ogrid)})


def counterpart(value: Any) -> Any:
    """funcgrad's object in the place of a library's, or `value` itself."""
    entry = _asked(tuple(filter(sys.modules.__contains__, _ASKED))).get(id(value))
    if entry is not None and entry[0] is value:
        return getattr(module_for(entry[1]), entry[2], value)
    module, name = getattr(value, "__module__", None), getattr(value, "__name__", None)
    if not isinstance(module, str) or not isinstance(name, str) or module.partition(".")[0] not in LIBRARIES:
        return value
    return _in_public_module(value, module, name)


def _in_public_module(value: Any, module: str, name: str) -> Any:
    """A function of scipy.linalg._basic is found in scipy.linalg."""
    parts = module.split(".")
    for n in range(len(parts), 0, -1):
        public = ".".join(parts[:n])
        if getattr(sys.modules.get(public), name, None) is value:
            public_value = getattr(module_for(public), name, value)
            if public_value is not value:
                return public_value
    return value
