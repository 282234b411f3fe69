"""NumPy, with arrays that may begin as watched ones: funcgrad.numpy, with autograd's conventions in `linalg`.

Names are looked up when they are first asked for. Who asks for all, by `__dict__` or `import *`, gets all.
"""

from __future__ import annotations

import builtins
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

import funcgrad.numpy as _numpy
from funcgrad import tree
from funcgrad.compat.autograd.numpy.namespaces import filled
from funcgrad.core.engine.trace import Tracer

_ARRAYS = (np.ndarray, np.generic, Tracer)
_MODULES = (
    "fft", "linalg", "numpy_boxes", "numpy_jvps", "numpy_vjps", "numpy_vspaces", "numpy_wrapper", "random",
)  # fmt: skip
_OF_WRAPPER = (
    "array_from_args", "concatenate_args", "metadata", "notrace_functions", "notrace_primitive", "numpy_version",
    "parse_einsum_input", "primitive", "wrap_if_boxes_inside", "wrap_intdtype", "wrap_namespace",
)  # fmt: skip


def make_diagonal(D: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Matrices (along the last two axes) with these diagonals: of shape (..., n) one of shape (..., n, n)."""
    if offset != 0 or {axis1, axis2} != {-1, -2}:
        raise NotImplementedError(
            "make_diagonal takes offset=0, axis1=-1 and axis2=-2 alone; see np.diagflat, np.eye"
        )
    return np.expand_dims(D, -1) * np.eye(np.shape(D)[-1])


def where(condition: Any = None, *args: Any, **kwargs: Any) -> Any:
    """np.where; of Python's own numbers and lists the result is Python's, too."""
    if len(args) == 2 and not kwargs and isinstance(condition, _ARRAYS):
        return _numpy.where(condition, *args)
    choices = (*args, *(kwargs.pop(name) for name in ("x", "y") if name in kwargs))
    condition = kwargs.pop("condition", condition)
    if len(choices) not in (0, 2):
        raise ValueError("either both or neither of x and y should be given")
    out = _numpy.where(condition, *choices)
    # (the name `any` may be NumPy's here)
    is_python = choices and not builtins.any(
        isinstance(leaf, _ARRAYS) for leaf in tree.leaves((condition, choices))
    )
    return out.tolist() if is_python and isinstance(out, np.ndarray) else out


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in _OF_WRAPPER:
        return getattr(__getattr__("numpy_wrapper"), name)
    plain = getattr(np, name, None)
    # Programs compare dtypes with these classes. Those of integers may be called on watched arrays.
    value = plain if isinstance(plain, type) and issubclass(plain, np.inexact) else getattr(_numpy, name)
    globals()[name] = value
    return value


def _fill() -> None:
    for name in ("fft", "linalg", "random"):
        globals()[name] = __getattr__(name)
    for name, thing in [*vars(np).items()]:
        if name[0] != "_" and not isinstance(thing, ModuleType) and name not in globals():
            __getattr__(name)


def __dir__() -> list[str]:
    return sorted({*_MODULES, *_OF_WRAPPER, "make_diagonal", "where", *dir(_numpy)})


filled(globals(), _fill)
