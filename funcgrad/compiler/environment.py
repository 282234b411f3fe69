"""What a function can see beside its arguments: cells, globals, defaults, attributes, and what these hold.

A recording looks at these as they are, and no tracer tells. So the numbers and arrays that the code names are
remembered with the program, and looked at again before each call: names must still stand for the same
objects, arrays must hold the same numbers. If something has changed, the function is recorded again.
"""

from __future__ import annotations

import collections
import functools
import operator
import sys
import types
from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np

from funcgrad.compiler.constants import content_of, same, same_content
from funcgrad.core.engine.trace import Tracer
from funcgrad.errors import is_library

MISSING: Any = object()
_ATOMS = frozenset([int, float, complex, bool, str, bytes, type(None)])
_WRAPPED = (types.FunctionType, types.MethodType, functools.partial)
_ALL = frozenset(["__dict__", "asdict", "astuple", "vars"])  # these ask for every attribute of an object
_CONTAINERS = (list, tuple, dict, set, collections.deque)  # and what derives from them
_BY_NAME = frozenset(["attrgetter", "getattr", "methodcaller"])
_MANY = 4096  # things that are watched; a function that sees more is watched in part


class Environment:
    """The surroundings of `fun` as they are now.

    Of objects, classes and modules, those attributes are watched that some code names which `fun` can come to.
    Looking at them may lead to further code with further names, so all is looked at anew until no name is added.
    """

    def __init__(self, fun: Callable[..., Any], met: Callable[[Any], Any] | None = None) -> None:
        self._names: set[str] = set()
        known = -1
        while known != len(self._names):
            known = len(self._names)
            self.cells: list[tuple[Any, Any, str]] = []
            self.entries: list[tuple[Any, Any, Any]] = []
            self.lists: list[tuple[Collection[Any], list[Any], str]] = []
            self.arrays: list[tuple[np.ndarray, Any, str]] = []
            self.holds_tracers = False
            self._seen: dict[int, Any] = {}
            self._look(fun, getattr(fun, "__name__", "the function"))
        if met is not None:  # it is told of each object that is met
            for x in self._seen.values():
                met(x)
        self._seen = {}

    # ---- collecting --------------------------------------------------------------------------------------------------
    def _look(self, x: Any, name: str) -> None:
        kind = type(x)
        if kind in _ATOMS or id(x) in self._seen or len(self._seen) > _MANY:
            return
        self._seen[id(x)] = x
        if isinstance(x, Tracer):
            self.holds_tracers = True
        elif isinstance(x, np.ndarray):
            self.arrays.append((x, content_of(x), name))
        elif kind is types.FunctionType:
            self._look_into(x)
        elif isinstance(x, _CONTAINERS):
            self._look_through(x, name)
        elif kind is types.ModuleType:
            if not _of_library(getattr(x, "__file__", None)):
                self._attributes(x.__dict__)
        elif isinstance(x, type):
            self._look_at_class(x)
        elif (within := _within(x)) is not None:
            self._look_through(within, name)
        else:
            self._look_at_object(x, name)

    def _look_into(self, fun: types.FunctionType) -> None:
        code = fun.__code__
        if _of_library(code.co_filename):
            self._look_beneath(fun)
            return
        names = _names_in(code)
        self._names |= names
        for name, cell in zip(code.co_freevars, fun.__closure__ or ()):
            try:
                value = cell.cell_contents
            except ValueError:  # it is not bound yet
                continue
            self.cells.append((cell, value, name))
            self._look(value, name)
        for name in names:
            if name in fun.__globals__:
                self._entry(fun.__globals__, name)
        self._look_through((fun.__defaults__, fun.__kwdefaults__), fun.__name__)

    def _look_beneath(self, fun: types.FunctionType) -> None:
        """Functions of users that one of a library has wrapped."""
        for cell in fun.__closure__ or ():
            try:
                value = cell.cell_contents
            except ValueError:
                continue
            if isinstance(value, _WRAPPED) or hasattr(value, "fun"):
                self._look(value, getattr(value, "__name__", "a function"))

    def _look_through(self, x: Any, name: str) -> None:
        if isinstance(x, (list, set, collections.deque)):
            self.lists.append((x, list(x), name))
        if isinstance(x, dict):
            for key in list(x):
                self._entry(x, key)
            return
        for item in x:
            self._look(item, name)

    def _look_at_object(self, x: Any, name: str) -> None:
        kind = type(x)
        module = kind.__module__.split(".")[0]
        if module == "funcgrad" and (hasattr(x, "fun") or hasattr(x, "function")):
            # a transformed function, one with rules, or a rule of several: the functions that it holds
            for held in getattr(x, "__dict__", {}).values():
                if callable(held) or type(held) is tuple:
                    self._look(held, name)
        elif module not in ("numpy", "scipy", "funcgrad"):
            if isinstance(getattr(x, "__dict__", None), dict):
                self._attributes(x.__dict__, has_all=not self._names.isdisjoint(_ALL))
            if _is_of_user(kind):
                self._look(kind, kind.__name__)
                self._attributes(_Slots(x))

    def _look_at_class(self, x: type) -> None:
        """What it names, and operators, which no code names, of it and of its bases."""
        for kind in filter(_is_of_user, x.__mro__):
            self._seen[id(kind)] = kind
            self._attributes(kind.__dict__)
            for key in [
                k for k, v in kind.__dict__.items() if k[:2] == "__" and isinstance(v, types.FunctionType)
            ]:
                self._entry(kind.__dict__, key)

    def _attributes(self, attributes: Any, has_all: bool = False) -> None:
        for key in list(attributes):
            if has_all or key in self._names:
                self._entry(attributes, key)

    def _entry(self, holder: Any, key: Any) -> None:
        value = holder[key]
        if type(value) is types.ModuleType and _of_library(getattr(value, "__file__", None)):
            return
        self.entries.append((holder, key, value))
        self._look(value, str(key))

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
        return self.written_array()

    def written_array(self) -> str | None:
        """The name of an array that holds other numbers now."""
        return next(
            (name for x, content, name in self.arrays if not same_content(content_of(x), content)), None
        )

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


class _Slots:
    """The slots of an object, as a mapping that shows them as they are."""

    def __init__(self, x: Any) -> None:
        self.x = x
        self.keys = [
            k for c in type(x).__mro__ for k, v in c.__dict__.items() if type(v) is types.MemberDescriptorType
        ]

    def __iter__(self) -> Iterator[str]:
        return (key for key in self.keys if hasattr(self.x, key))

    def __getitem__(self, key: str) -> Any:
        return getattr(self.x, key)

    def get(self, key: str, default: Any) -> Any:
        return getattr(self.x, key, default)


def _within(x: Any) -> tuple[Any, ...] | None:
    """The functions, and arguments of them, that a method, a property or another wrapper of Python's own holds."""
    match x:
        case types.MethodType():
            return x.__func__, x.__self__
        case functools.partial():
            return x.func, x.args, x.keywords
        case staticmethod() | classmethod():
            return (x.__func__,)
        case property():
            return (x.fget,)
        case functools.cached_property():
            return (x.func,)
        case functools._lru_cache_wrapper():
            return (x.__wrapped__,)
    return None


def _is_of_user(kind: type) -> bool:
    module = kind.__module__
    return module == "__main__" or not _of_library(getattr(sys.modules.get(module), "__file__", None))


@functools.lru_cache(maxsize=1024)
def _names_in(code: types.CodeType) -> frozenset[str]:
    return frozenset(_all_names(code))


def _all_names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    asks_by_name = not _BY_NAME.isdisjoint(code.co_names)
    for constant in code.co_consts:
        if asks_by_name and type(constant) is str:
            yield constant
        if isinstance(constant, types.CodeType):
            yield from _all_names(constant)


def _of_library(path: str | None) -> bool:
    return path is None or is_library(path)
