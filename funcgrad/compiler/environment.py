"""What a function can see beside its arguments: cells, globals, defaults, attributes, and what these hold.

A recording looks at these as they are, and no tracer tells. So what the code names is remembered with the
program, as facts (facts.py), and asked again before each call: names must still stand for the same objects,
arrays must hold the same numbers. If something has changed, the function is recorded again. What can't be
looked into makes a function run eagerly.
"""

from __future__ import annotations

import array
import builtins
import collections
import contextvars
import dis
import functools
import mmap
import os
import random
import re
import sys
import types
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from funcgrad.compiler.facts import ATOMS, MISSING, Content, Fact, question
from funcgrad.compiler.randomness import has_state_bytes
from funcgrad.compiler.signature import Arguments, unwatched
from funcgrad.core.engine.trace import Tracer
from funcgrad.errors import is_library

_WRAPPED = (types.FunctionType, types.MethodType, functools.partial)
_CONTAINERS = (
    list,
    tuple,
    dict,
    set,
    frozenset,
    collections.deque,
    types.MappingProxyType,
)  # and what derives from them
_FOR_USERS = (
    collections.UserDict,
    collections.UserList,
    collections.UserString,
    collections.ChainMap,
)  # to derive from
_BYTES = (bytearray, memoryview, array.array, mmap.mmap)
_GENERATORS = (np.random.Generator, np.random.BitGenerator, np.random.RandomState, random.Random)
_IMMUTABLE = (np.generic, np.dtype, range, re.Pattern, re.Match, types.GenericAlias, slice)
# Code that asks for attributes by names which nobody can read off it: all are watched.
_ALL = frozenset(
    ["__dict__", "asdict", "astuple", "attrgetter", "getattr", "hasattr", "methodcaller", "vars"]
)
_GLOBALS = frozenset(["eval", "exec", "globals"])
_ENVIRON = frozenset(["environ", "environb", "getenv"])
_MANY = 4096  # things that are watched
SETTINGS: dict[
    str, tuple[Any, ...]
] = {}  # what all depends on that is at home in a package; packages put it here


class Environment:
    """The surroundings of `fun` as they are now, and of `others`, which it is called with and are no arrays.

    Of objects, classes and modules, those attributes are watched that some code names which `fun` can come to.
    Looking at them may lead to further code with further names, so all is looked at anew until no name is added.
    """

    def __init__(
        self, fun: Callable[..., Any], met: Callable[[Any], Any] | None = None, others: Iterable[Any] = ()
    ) -> None:
        self._names: set[str] = set()
        self._is_told = met is not None  # what can't be watched is met, or an argument
        known = -1
        while known != len(self._names):
            known = len(self._names)
            self.facts: list[Fact] = []
            self.generators: list[tuple[Any, str]] = []
            self.holds_tracers = False
            self.hidden: str | None = None  # something that can't be watched
            self.advice = "Pass its numbers as an argument."
            self._seen: dict[int, Any] = {}
            self._look(fun, getattr(fun, "__name__", "the function"))
            for x in others:
                self._look(x, "an argument")
            if not self._names.isdisjoint(_ENVIRON):
                self._look(os.environ, "os.environ")
        if met is not None:  # it is told of each object that is met
            for x in self._seen.values():
                met(x)
        self._seen = {}
        self._question: Callable[[], bool] | None = None

    # ---- collecting --------------------------------------------------------------------------------------------------
    def _note(self, kind: str, holder: Any, key: Any, value: Any, name: str) -> None:
        self.facts.append(Fact(kind, holder, key, value, name))

    def _look(self, x: Any, name: str) -> None:
        kind = type(x)
        if kind in ATOMS or id(x) in self._seen:
            return
        if len(self._seen) > _MANY:
            self.hidden = f"more than {_MANY} objects"
            return
        self._seen[id(x)] = x
        if isinstance(x, Tracer):
            self.holds_tracers = True
        elif isinstance(x, np.ndarray):
            self._look_at_array(x, name)
        elif not self._is_told and (advice := unwatched(x)):
            self.hidden, self.advice = f"{name}, {_article(kind)}, which changes where no fact tells", advice
        elif kind is types.FunctionType:
            self._look_into(x)
        elif isinstance(x, _CONTAINERS):
            self._look_through(x, name)
        elif isinstance(x, _BYTES):
            self._note("bytes", x, None, bytes(x), name)
        elif isinstance(x, _GENERATORS) or has_state_bytes(x):
            self.generators.append((x, name))
        elif kind is contextvars.ContextVar:
            self._note("variable", x, None, x.get(MISSING), name)
            self._look(x.get(None), name)
        elif kind is types.ModuleType:
            self._look_at_module(x)
        elif isinstance(x, type):
            self._look_at_class(x)
        elif (within := _within(x)) is not None:
            for item in within:
                self._look(item, name)
        else:
            self._look_at_object(x, name)

    def _look_at_array(self, x: np.ndarray, name: str) -> None:
        plain = x if type(x) is np.ndarray else x.view(np.ndarray)
        self._note("content", plain, None, Content(plain), name)
        if plain.dtype.hasobject:
            for item in plain.ravel():
                self._look(item, name)
        if isinstance(x, np.ma.MaskedArray):
            self._note("attribute", x, "_mask", np.ma.getmask(x), name)
            self._look(np.ma.getmask(x), name)

    def _look_into(self, fun: types.FunctionType) -> None:
        code = fun.__code__
        if is_library(code.co_filename):
            self._look_at_settings(fun.__module__ or "")
            self._look_beneath(fun)
            return
        read = _read(code)
        self._names |= read.names
        for key in ("__code__", "__defaults__", "__kwdefaults__"):
            self._note("attribute", fun, key, getattr(fun, key), fun.__name__)
        for name, cell in zip(code.co_freevars, fun.__closure__ or ()):
            try:
                value = cell.cell_contents
            except ValueError:  # it is not bound yet
                continue
            self._note("cell", cell, None, value, name)
            self._look(value, name)
        self._look_at_globals(fun.__globals__, read)
        for held in (fun.__defaults__, fun.__kwdefaults__):
            self._look(held, fun.__name__)
        if fun.__dict__:
            self._attributes(fun.__dict__)

    def _look_at_globals(self, space: dict[str, Any], read: _Code) -> None:
        """What the code names of its module, and of those that it imports as it runs; or all of its module."""
        for name in read.names.intersection(space):
            self._entry(space, name)
        if not read.names.isdisjoint(_GLOBALS):
            self._note("size", space, None, len(space), "a global")
            for name in set(space).difference(read.names):
                is_data = type(space[name]) in ATOMS or isinstance(space[name], (*_CONTAINERS, np.ndarray))
                if is_data and not name.startswith("__"):
                    self._entry(space, name)
                else:
                    self._note("entry", space, name, space[name], name)
        absent = read.names.intersection(_BUILTIN).difference(space)
        if absent:
            self._note("without", space, None, absent, "a global")
        if read.imports:
            package = space.get("__package__") or ""
            modules = {
                package,
                *read.imports,
                *(f"{package}.{name}" for name in (*read.imports, *read.names)),
            }
            for module in filter(None, map(sys.modules.get, modules)):
                self._look(module, module.__name__)

    def _look_beneath(self, fun: types.FunctionType) -> None:
        """Functions of users that one of a library has wrapped."""
        for cell in fun.__closure__ or ():
            try:
                value = cell.cell_contents
            except ValueError:
                continue
            if isinstance(value, (*_WRAPPED, *_CONTAINERS)) or hasattr(value, "fun"):
                self._look(value, getattr(value, "__name__", "a function"))

    def _look_through(self, x: Any, name: str) -> None:
        if isinstance(x, (dict, types.MappingProxyType)):
            self._note("size", x, None, len(x), name)
            for key in list(x):
                self._entry(x, key)
        else:
            if not isinstance(x, (tuple, frozenset)):
                self._note("items", x, None, list(x), name)
            for item in x:
                self._look(item, name)
        if type(x) not in _CONTAINERS and _is_of_user(type(x)):
            self._look_at_own(x, name)

    def _look_at_module(self, x: types.ModuleType) -> None:
        """What the code names of it; of a library numbers and containers alone."""
        if not _is_library_module(x):
            self._attributes(x.__dict__)
            return
        self._look_at_settings(x.__name__)
        for key in self._names.intersection(x.__dict__):
            value = x.__dict__[key]
            if type(value) in ATOMS or type(value) in (list, dict, np.ndarray):
                self._entry(x.__dict__, key)

    def _look_at_settings(self, home: str) -> None:
        """What a package depends on, if `home` is the package or a module of it."""
        if package := _package(home):
            self._look(SETTINGS[package], package)

    def _look_at_object(self, x: Any, name: str) -> None:
        kind = type(x)
        module = kind.__module__.split(".")[0]
        if module == "funcgrad":
            self._look_at_ours(x, name)
        elif _is_of_user(kind) and not _is_opaque(x):
            self._look_at_own(x, name)
        elif module in ("collections", "numpy", "os", "scipy", "types") and hasattr(x, "__dict__"):
            self._attributes(x.__dict__, has_all=True)
        elif isinstance(x, Iterator) and module in ("builtins", "itertools"):
            self.hidden = f"{name}, which each run takes something from ({_article(kind)})"
        elif _is_opaque(x):
            self.hidden = f"{name}, {_article(kind)}, into which nobody can look"
        elif isinstance(getattr(x, "__dict__", None), dict):
            self._attributes(x.__dict__)

    def _look_at_own(self, x: Any, name: str) -> None:
        """An object of a class of the user's."""
        kind = type(x)
        self._note("attribute", x, "__class__", kind, name)
        if isinstance(held := getattr(x, "__dict__", None), dict):
            self._note("attribute", x, "__dict__", held, name)
            has_all = isinstance(x, _FOR_USERS) or not self._names.isdisjoint(_ALL)
            has_all |= not self._is_told and any(_package(base.__module__) for base in kind.__mro__)
            self._attributes(held, has_all=has_all, kind=kind)
        self._look(kind, kind.__name__)
        for key in _slots(kind):
            value = getattr(x, key, MISSING)
            self._note("attribute", x, key, value, key)
            if value is not MISSING:
                self._look(value, key)

    def _look_at_ours(self, x: Any, name: str) -> None:
        if getattr(x, "is_given_all", False):  # it hands to its function what can't be watched
            before, self._is_told = self._is_told, True
            self._look(x.fun, name)
            self._is_told = before
        elif hasattr(x, "fun") or hasattr(x, "function"):
            # a transformed function, one with rules, or a rule of several: the functions that it holds
            for held in getattr(x, "__dict__", {}).values():
                if isinstance(held, Arguments):
                    self._look(tuple(held.leaves), name)
                elif callable(held) or type(held) is tuple:
                    self._look(held, name)
        elif not self._is_told and _package(type(x).__module__) and hasattr(x, "__dict__"):
            self._attributes(x.__dict__, has_all=True)

    def _look_at_class(self, x: type) -> None:
        """What it names, and operators, which no code names, of it and of its bases."""
        for kind in filter(_is_of_user, x.__mro__):
            self._seen[id(kind)] = kind
            self._attributes(kind.__dict__, kind=kind)
            for key in [
                k for k, v in kind.__dict__.items() if k[:2] == "__" and isinstance(v, types.FunctionType)
            ]:
                self._entry(kind.__dict__, key)

    def _attributes(self, attributes: Any, has_all: bool = False, kind: type | None = None) -> None:
        """The attributes that are named, or all; names that `kind` or a base of it has must not turn up here."""
        for key in list(attributes):
            if has_all or key in self._names:
                self._entry(attributes, key)
        if has_all:
            self._note("size", attributes, None, len(attributes), "an attribute")
        elif kind is not None:
            above = {key for base in filter(_is_of_user, kind.__mro__) for key in base.__dict__}
            absent = frozenset(above.intersection(self._names).difference(attributes))
            if absent:
                self._note("without", attributes, None, absent, "an attribute")

    def _entry(self, holder: Any, key: Any) -> None:
        value = holder[key]
        self._note("entry", holder, key, value, str(key))
        self._look(value, str(key))

    # ---- asking ------------------------------------------------------------------------------------------------------
    def change(self) -> str | None:
        """The name of something that is no more as it was; None, if all is."""
        if self._question is None:
            self._question = question(self.facts)
        try:
            if self._question():
                return None
        except Exception:  # noqa: BLE001 (what can't be asked any more has changed)
            pass
        return next((fact.name for fact in self.facts if not fact.still_holds()), None)

    def written_array(self) -> str | None:
        """The name of an array that holds other numbers now."""
        return next((f.name for f in self.facts if f.kind == "content" and not f.still_holds()), None)

    @property
    def arrays(self) -> list[np.ndarray]:
        """The arrays that are watched."""
        return [fact.holder for fact in self.facts if fact.kind == "content"]

    def without_own_effects(self) -> Environment:
        """This, less what has changed since: after a run, what the function itself changed (a log, a count).

        A compiled program leaves such things alone. Where they reach the results, two recordings differ.
        """
        self.facts = [fact for fact in self.facts if fact.still_holds()]
        self._question = None
        return self


def _package(home: str) -> str | None:
    """The package with settings that the module `home` belongs to."""
    return next((package for package in SETTINGS if f"{home}.".startswith(f"{package}.")), None)


def _slots(kind: type) -> list[str]:
    return [k for c in kind.__mro__ for k, v in c.__dict__.items() if type(v) is types.MemberDescriptorType]


def _article(kind: type) -> str:
    module = _package(kind.__module__) or kind.__module__.split(".")[0]
    name = kind.__name__ if module == "builtins" else f"{module}.{kind.__name__}"
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def _is_opaque(x: Any) -> bool:
    """May `x` hold numbers where nobody can look for them?"""
    kind = type(x)
    if isinstance(x, _IMMUTABLE) or kind.__module__.split(".")[0] in ("jax", "jaxlib", "typing"):
        return False
    holds = hasattr(kind, "__array__") or hasattr(kind, "__getitem__") and hasattr(kind, "__len__")
    return holds and not (_is_of_user(kind) and (hasattr(x, "__dict__") or _slots(kind)))


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
        case weakref.ref():
            return (x(),)
    return (x.__repr__.__self__,) if type(x) in weakref.ProxyTypes else None


class _Code(NamedTuple):
    """What a piece of code names, and the modules that it imports as it runs."""

    names: frozenset[str]
    imports: frozenset[str]


@functools.lru_cache(maxsize=1024)
def _read(code: types.CodeType) -> _Code:
    names, imports = set(code.co_names), set()
    if any(op == _IMPORT for op in code.co_code[::2]):
        imports = {i.argval for i in dis.get_instructions(code) if i.opcode == _IMPORT}
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            names |= _read(inner).names
            imports |= _read(inner).imports
    return _Code(frozenset(names), frozenset(imports))


_IMPORT = dis.opmap["IMPORT_NAME"]
_BUILTIN = frozenset(dir(builtins))


def _is_of_user(kind: type) -> bool:
    home = sys.modules.get(kind.__module__)
    return home is None or not _is_library_module(home)


def _is_library_module(module: types.ModuleType) -> bool:
    path = getattr(module, "__file__", None)
    if path is None:  # compiled into Python, or made by the user
        return module.__name__.split(".")[0] in sys.stdlib_module_names and module.__name__ != "__main__"
    return is_library(path)
