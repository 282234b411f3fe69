"""What a function can see beside its arguments: cells, globals, defaults, attributes, and what these hold.

A recording looks at these as they are, and no tracer tells. So the numbers and arrays that the code names are
remembered with the program, and looked at again before each call: names must still stand for the same
objects, arrays must hold the same numbers. If something has changed, the function is recorded again.
"""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from funcgrad.compiler.constants import content_of, same, same_content
from funcgrad.core.engine.trace import Tracer
from funcgrad.errors import is_library

MISSING: Any = object()
_ATOMS = frozenset([int, float, complex, bool, str, bytes, type(None)])
_WRAPPED = (types.FunctionType, types.MethodType, functools.partial)
_MANY = 4096  # things that are watched; a function that sees more is watched in part


class Environment:
    """The surroundings of `fun` as they are now."""

    def __init__(self, fun: Callable[..., Any], met: Callable[[Any], Any] | None = None) -> None:
        self.met = met  # is told of each object that is met
        self.cells: list[tuple[Any, Any, str]] = []
        self.entries: list[tuple[dict[Any, Any], Any, Any]] = []
        self.lists: list[tuple[list[Any], list[Any], str]] = []
        self.arrays: list[tuple[np.ndarray, Any, str]] = []
        self.holds_tracers = False
        self._seen: dict[int, Any] = {}
        self._look(fun, getattr(fun, "__name__", "the function"), _names(fun))
        self._seen = {}
        self.met = None

    # ---- collecting --------------------------------------------------------------------------------------------------
    def _look(self, x: Any, name: str, names: frozenset[str]) -> None:
        kind = type(x)
        if kind in _ATOMS or id(x) in self._seen or len(self._seen) > _MANY:
            return
        self._seen[id(x)] = x
        if self.met is not None:
            self.met(x)
        if isinstance(x, Tracer):
            self.holds_tracers = True
        elif isinstance(x, np.ndarray):
            self.arrays.append((x, content_of(x), name))
        elif kind is types.FunctionType:
            self._look_into(x)
        elif kind in (list, tuple, dict, set):
            self._look_through(x, name, names)
        elif kind is types.MethodType:
            self._look(x.__self__, name, names | _names(x.__func__))
            self._look(x.__func__, name, names)
        elif isinstance(x, functools.partial):
            self._look_through((x.func, x.args, x.keywords), name, names | _names(x.func))
        elif kind is types.ModuleType:
            if not _of_library(getattr(x, "__file__", None)):
                self._attributes(x.__dict__, name, names)
        elif isinstance(getattr(x, "__dict__", None), dict) and not isinstance(x, type):
            self._look_at_object(x, name, names)

    def _look_into(self, fun: types.FunctionType) -> None:
        code = fun.__code__
        if _of_library(code.co_filename):
            self._look_beneath(fun)
            return
        names = _names(fun)
        for name, cell in zip(code.co_freevars, fun.__closure__ or ()):
            try:
                value = cell.cell_contents
            except ValueError:  # it is not bound yet
                continue
            self.cells.append((cell, value, name))
            self._look(value, name, names)
        for name in names:
            if name in fun.__globals__:
                self._entry(fun.__globals__, name, names)
        self._look_through((fun.__defaults__, fun.__kwdefaults__), fun.__name__, names)

    def _look_beneath(self, fun: types.FunctionType) -> None:
        """Functions of users that one of a library has wrapped."""
        for cell in fun.__closure__ or ():
            try:
                value = cell.cell_contents
            except ValueError:
                continue
            if isinstance(value, _WRAPPED) or hasattr(value, "fun"):
                self._look(value, getattr(value, "__name__", "a function"), _names(value))

    def _look_through(self, x: Any, name: str, names: frozenset[str]) -> None:
        if type(x) is list:
            self.lists.append((x, list(x), name))
        if type(x) is dict:
            for key in list(x):
                self._entry(x, key, names)
            return
        for item in x:
            self._look(item, name, names)

    def _look_at_object(self, x: Any, name: str, names: frozenset[str]) -> None:
        module = type(x).__module__.split(".")[0]
        if module == "funcgrad" and hasattr(x, "fun"):  # a transformed function
            self._look(x.fun, name, names)
        elif module not in ("numpy", "scipy", "funcgrad"):
            call = type(x).__call__ if callable(x) else None
            self._attributes(x.__dict__, name, names | _names(call))
            if isinstance(call, types.FunctionType):
                self._look_into(call)

    def _attributes(self, attributes: dict[str, Any], name: str, names: frozenset[str]) -> None:
        for key in list(attributes):
            if key in names:
                self._entry(attributes, key, names)

    def _entry(self, holder: dict[Any, Any], key: Any, names: frozenset[str]) -> None:
        value = holder[key]
        if type(value) is types.ModuleType and _of_library(getattr(value, "__file__", None)):
            return
        self.entries.append((holder, key, value))
        self._look(value, str(key), names)

    # ---- asking ------------------------------------------------------------------------------------------------------
    def change(self) -> str | None:
        """The name of something that is no more as it was; None, if all is."""
        for cell, value, name in self.cells:
            if cell.cell_contents is not value and not _equal_atoms(cell.cell_contents, value):
                return name
        for holder, key, value in self.entries:
            now = holder.get(key, MISSING)
            if now is not value and not _equal_atoms(now, value):
                return str(key)
        for now, items, name in self.lists:
            if len(now) != len(items) or any(a is not b for a, b in zip(now, items)):
                return name
        for array, content, name in self.arrays:
            if not same_content(content_of(array), content):
                return name
        return None

    def without_own_effects(self) -> Environment:
        """This, less what has changed since: after a run, what the function itself changed (a log, a count).

        A compiled program leaves such things alone. Where they reach the results, two recordings differ.
        """
        self.cells = [c for c in self.cells if c[0].cell_contents is c[1]]
        self.entries = [e for e in self.entries if e[0].get(e[1], MISSING) is e[2]]
        self.lists = [x for x in self.lists if len(x[0]) == len(x[1]) and all(map(operator.is_, x[0], x[1]))]
        self.arrays = [a for a in self.arrays if same_content(content_of(a[0]), a[1])]
        return self


def _equal_atoms(a: Any, b: Any) -> bool:
    return type(a) in _ATOMS and same(a, b)


def _names(fun: Any) -> frozenset[str]:
    """The names of globals and attributes in the code of a function, and in that of the functions within."""
    code = getattr(getattr(fun, "__func__", fun), "__code__", None)
    return frozenset() if code is None else _names_in(code)


@functools.lru_cache(maxsize=1024)
def _names_in(code: types.CodeType) -> frozenset[str]:
    return frozenset(_all_names(code))


def _all_names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _all_names(constant)


def _of_library(path: str | None) -> bool:
    return path is None or is_library(path)
