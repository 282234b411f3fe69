"""SciPy's own Python code, run on tracers: a function of SciPy's whose globals are looked up with funcgrad in NumPy's place.

Where a function of SciPy's is written in Python in terms of NumPy, its own code is the best rule: the value is SciPy's in every
version and with every option. The code object is not changed. It is given other globals: `np` is funcgrad.numpy, a module of
SciPy's is funcgrad.scipy's, an array namespace is funcgrad.numpy, and functions of SciPy's in Python are rerun in their turn.
What is compiled refuses tracers, by a conversion error, unless there is a rule for it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import CellType, FunctionType, ModuleType
from typing import Any

import numpy as np

from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.engine.primitive import as_operand
from funcgrad.core.engine.trace import Tracer, concrete

_MADE: dict[Any, Callable[..., Any]] = {}


def rerun(function: Callable[..., Any], instead: dict[str, Any] | None = None) -> Callable[..., Any]:
    """`function`, with other globals; `instead` names those that are to be replaced in it and in what it calls."""
    if instead:
        return _rebound(inspect.unwrap(function), instead)
    if function not in _MADE:
        _MADE[function] = _rebound(inspect.unwrap(function), {})
    return _MADE[function]


def _rebound(function: Any, instead: dict[str, Any]) -> Callable[..., Any]:
    if not isinstance(function, FunctionType):
        return function
    cells = function.__closure__
    if cells is not None:
        cells = tuple(_cell(cell, instead) for cell in cells)
    space = Globals(function.__globals__, instead)
    made = FunctionType(function.__code__, space, function.__name__, function.__defaults__, cells)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _cell(cell: CellType, instead: dict[str, Any]) -> CellType:
    try:
        return CellType(_substitute("", cell.cell_contents, instead))
    except ValueError:  # empty
        return cell


class Globals(dict[str, Any]):
    """The globals of rerun code: each name is looked up in the original ones when it is first used."""

    def __init__(self, original: dict[str, Any], instead: dict[str, Any]) -> None:
        super().__init__(__builtins__=original["__builtins__"], __name__=original["__name__"])
        self.original, self.instead = original, instead

    def __missing__(self, name: str) -> Any:
        value = self.instead[name] if name in self.instead else _substitute(name, self.original[name], self.instead)
        self[name] = value
        return value


def _substitute(name: str, value: Any, instead: dict[str, Any]) -> Any:
    """What stands for a global of SciPy's code."""
    if name in _HELPERS:
        return _HELPERS[name]
    if isinstance(value, ModuleType):
        return _module(value)
    if isinstance(value, FunctionType):
        module = value.__module__ or ""
        if CATALOGUE.get(value) is not None:
            return _known(value)
        if module.startswith("numpy"):
            from funcgrad import numpy

            return getattr(numpy, value.__name__, value)
        if module.startswith("scipy"):
            return rerun(value, instead)
    elif callable(value) and type(value).__module__ == "numpy" and getattr(np, getattr(value, "__name__", ""), None) is value:
        from funcgrad import numpy

        return getattr(numpy, value.__name__)
    return value


def _module(module: ModuleType) -> Any:
    from funcgrad import numpy, scipy

    name = module.__name__
    if name in ("numpy", "numpy.linalg", "numpy.fft"):
        return functools.reduce(getattr, name.split(".")[1:], numpy)
    if name.endswith("array_api_compat.numpy"):
        return numpy
    if name == "scipy":
        return scipy
    if name.startswith("scipy.") and "._" not in name:
        parts = name.split(".")[1:]
        if parts[0] in scipy.MODULES:
            return functools.reduce(getattr, parts, scipy)
    if name.startswith("scipy."):
        return _Names(module)
    return module


class _Names:
    """A private module of SciPy's, of which each function is rerun."""

    def __init__(self, module: ModuleType) -> None:
        self.__dict__["_module"] = module

    def __getattr__(self, name: str) -> Any:
        return _substitute(name, getattr(self._module, name), {})


def _known(function: Any) -> Callable[..., Any]:
    """A function that has a rule, which is asked where there are tracers."""
    from funcgrad.scipy.mirror import looking

    return looking(function, function.__name__)


# ---- helpers of SciPy's that ask whose arrays these are ------------------------------------------------------------------


def _namespace(*arrays: Any, **_: Any) -> Any:
    from funcgrad import numpy

    return numpy


def _as_array(x: Any, dtype: Any = None, order: Any = None, copy: Any = None, **_: Any) -> Any:
    """SciPy's own `_asarray`, `_asarray_validated`."""
    x = as_operand(x)
    x = x if isinstance(x, Tracer) else np.asarray(x)
    if dtype is not None and x.dtype != dtype:
        return x.astype(dtype)
    return x.copy() if copy else x


def _true(*_: Any, **__: Any) -> bool:
    return True


def _false(*_: Any, **__: Any) -> bool:
    return False


def _validated(a: Any, check_finite: bool = True, as_inexact: bool = False, **_: Any) -> Any:
    a = _as_array(a)
    if check_finite and not np.isfinite(np.asarray(concrete(a))).all():
        raise ValueError("array must not contain infs or NaNs")
    return a.astype(float) if as_inexact and a.dtype.kind in "iub" else a


_HELPERS: dict[str, Any] = {
    "array_namespace": _namespace,
    "_asarray": _as_array,
    "_asarray_validated": _validated,
    "is_numpy": _true,
    "is_jax": _false,
    "is_torch": _false,
    "is_cupy": _false,
    "is_dask": _false,
    "is_lazy_array": _false,
    "is_array_api_strict": _false,
}
