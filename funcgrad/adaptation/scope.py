"""Which modules belong to the program that is adapted: those of its package, or the scripts beside it."""

from __future__ import annotations

import os
import sys
from functools import partial
from types import FunctionType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from funcgrad.transforms.wrapping import Transformed

_STANDARD_LIBRARY = os.path.dirname(os.__file__)
# Not adapted, whatever is asked for: they are what programs are translated to, or run by.
_NEVER = frozenset(["funcgrad", "numpy", "scipy", "math", "cmath", "builtins", *sys.stdlib_module_names]) - {
    "__main__"
}


class Scope:
    """Packages by name, folders of scripts, and the globals of functions that belong to no module."""

    def __init__(
        self, packages: frozenset[str], folders: frozenset[str], space: dict[str, Any] | None
    ) -> None:
        self.packages, self.folders, self.space = packages, folders, space
        self.known: dict[str, bool] = {}
        self.known_classes: WeakKeyDictionary[type, bool] = WeakKeyDictionary()

    @classmethod
    def of(cls, value: Any, packages: tuple[str, ...] = ()) -> Scope:
        """The scope of a function, a class or a module, with further packages."""
        space = _globals_of(value)
        if isinstance(value, ModuleType):
            names = [value.__name__]
        elif isinstance(value, type):
            names = [value.__module__]
        else:
            names = [str((space or {}).get("__name__", "")), str(getattr(value, "__module__", ""))]
        tops = frozenset(n.partition(".")[0] for n in (*names, *packages) if n) - _NEVER
        module = sys.modules.get(str((space or {}).get("__name__")))
        if module is not None and module.__dict__ is space and module.__name__.partition(".")[0] in tops:
            space = None  # known by its name, as the other modules of the package are
        return cls(tops, frozenset(filter(None, map(_folder, tops))), space)

    @property
    def key(self) -> Any:
        """Scopes with the same key are one."""
        return self.packages, self.folders, id(self.space)

    def has(self, module: Any, space: dict[str, Any] | None = None) -> bool:
        """Does a module of this name, or a function with these globals, belong to the program?"""
        # made by exec: nobody else's
        if space is not None and (space is self.space or "__name__" not in space):
            return True
        if not isinstance(module, str):
            return False
        if module not in self.known:
            top = module.partition(".")[0]
            self.known[module] = top in self.packages or top not in _NEVER and _folder(top) in self.folders
        return self.known[module]

    def has_class(self, cls: type) -> bool:
        """Does a class belong to the program? One made outside any module is known by its methods."""
        answer = self.known_classes.get(cls)
        if answer is None:
            functions = [getattr(value, "__func__", value) for value in cls.__dict__.values()]
            is_of_space = any(
                getattr(f, "__globals__", None) is self.space
                for f in functions
                if isinstance(f, FunctionType)
            )
            answer = self.known_classes[cls] = self.has(cls.__module__) or is_of_space
        return answer


def _globals_of(value: Any) -> dict[str, Any] | None:
    """The globals that a function runs in; for what wraps a function, those of that."""
    while isinstance(value, (partial, Transformed)):
        value = value.func if isinstance(value, partial) else value.fun
    value = getattr(value, "__func__", value)
    while hasattr(value, "__wrapped__") and _is_of_library(getattr(value, "__globals__", None)):
        value = value.__wrapped__
    if isinstance(value, (type, ModuleType)):
        module = sys.modules.get(value.__module__) if isinstance(value, type) else value
        return getattr(module, "__dict__", None)
    if not hasattr(value, "__globals__"):  # an object that can be called
        value = type(value).__dict__.get("__call__", value)
    return getattr(value, "__globals__", None)


def _is_of_library(space: dict[str, Any] | None) -> bool:
    return space is None or str(space.get("__name__")).partition(".")[0] in _NEVER


def _folder(name: str) -> str | None:
    """The folder of a module that is a file of its own: what lies beside it belongs to the same program."""
    module = sys.modules.get(name)
    path = getattr(module, "__file__", None)
    if path is None or hasattr(module, "__path__"):
        return None
    folder = os.path.dirname(os.path.abspath(path))
    return None if "-packages" in folder or folder.startswith(_STANDARD_LIBRARY) else folder
