"""Copies of classes: the same attributes, with copies of the methods."""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable
from enum import Enum
from types import FunctionType, MemberDescriptorType
from typing import TYPE_CHECKING, Any

from funcgrad.adaptation.session import SESSION

if TYPE_CHECKING:
    from funcgrad.adaptation.translation import Translator

_NOT_COPIED = frozenset(["__dict__", "__weakref__", "_abc_impl", "__abstractmethods__", "__init_subclass__"])
_METHODS = (FunctionType, staticmethod, classmethod, property, functools.cached_property)
# Identity counts: what is raised or compared has to be of the very class.
_UNIQUE = (BaseException, Enum)
# copies that are being made: their parents' __init_subclass__ is not told, who knows the originals
_making = 0


class Classes:
    """The copies of one program's classes."""

    def __init__(self, translator: Translator) -> None:
        self.translator = translator
        self.known: dict[type, type] = {}
        self.originals: dict[type, type] = {}
        # of each copy: what its attributes that are no methods were last
        self.data: dict[type, dict[str, Any]] = {}

    def copy_of(self, cls: type) -> type:
        """The copy of a class; the class itself, if it has no methods or has to stay the one that it is
        (errors, enums): then it has translated methods while the call runs.
        """
        if issubclass(cls, _UNIQUE) and SESSION.running and not SESSION.has_seen(cls):
            self._lend_methods(cls)
        if cls not in self.known:
            self.known[cls] = cls
            if _is_copied(cls, list(filter(self.translator.scope.has_class, cls.__mro__))):
                self._make(cls)
        return self.known[cls]

    def _make(self, cls: type) -> None:
        translated, is_ours = self.translator.translated, self.translator.scope.has_class
        bases = tuple(self.copy_of(b) if is_ours(b) else b for b in cls.__bases__)
        space = {
            k: v
            for k, v in cls.__dict__.items()
            if k not in _NOT_COPIED and not isinstance(v, MemberDescriptorType)
        }
        methods = {k: v for k, v in space.items() if isinstance(v, _METHODS)}
        data = {k: v for k, v in space.items() if k not in methods}
        copy = _new_class(type(cls), cls.__name__, bases, data)
        self.known[cls] = self.known[copy] = copy
        self.originals[copy] = cls
        for name, value in methods.items():
            type.__setattr__(copy, name, self._method(value, name))
        if "__init_subclass__" in cls.__dict__:
            told = translated(cls.__dict__["__init_subclass__"].__func__)
            type.__setattr__(copy, "__init_subclass__", classmethod(_unless_making(told)))
        if isinstance(copy, abc.ABCMeta):
            abc.update_abstractmethods(copy)
        for name, value in data.items():
            ours = translated(value)
            if ours is not value:
                type.__setattr__(copy, name, ours)
        self.data[copy] = {k: v for k, v in copy.__dict__.items() if _is_data(k, v)}

    def _lend_methods(self, cls: type) -> None:
        for kind in filter(self.translator.scope.has_class, cls.__mro__):
            for name, value in list(kind.__dict__.items()):
                if isinstance(
                    value, (FunctionType, staticmethod, classmethod, property)
                ) and not name.startswith("__"):
                    SESSION.replace_attribute(kind, name, value, self._method(value, name))

    def _method(self, value: Any, name: str) -> Any:
        """A method, property and the like, with functions translated."""
        translated = self.translator.translated
        if isinstance(value, property):
            fget, fset, fdel = map(translated, (value.fget, value.fset, value.fdel))
            return type(value)(fget, fset, fdel, value.__doc__)
        if isinstance(value, (staticmethod, classmethod)):
            return type(value)(translated(value.__func__))
        if name == "__bool__" and isinstance(value, FunctionType):
            # a comparison gives Python's bool for Python's number, and NumPy's for a tracer
            ask = translated(value)
            return lambda self: bool(ask(self))
        if isinstance(value, functools.cached_property):
            ours = type(value)(translated(value.func))
            ours.__set_name__(type, name)
            return ours
        return translated(value)

    # ---- objects -----------------------------------------------------------------------------------------------------
    def adopt(self, x: Any) -> None:
        """Make `x`, and objects of the program in its attributes, objects of the copies, while the call runs."""
        if SESSION.has_seen(x) or not SESSION.running:
            return
        copy = self.copy_of(type(x))
        if copy is not type(x):
            SESSION.switch(x, copy)
        attributes = getattr(x, "__dict__", None)
        if type(attributes) is dict:
            for name, value in list(attributes.items()):
                ours = self.translator.translated(value)
                if ours is not value:
                    SESSION.replace(attributes, name, ours)
        for name in _slots(type(x)):
            self.translator.translated(getattr(x, name, None))
        if isinstance(x, (list, dict)) and len(x) <= 1000:
            for value in list(x.values() if isinstance(x, dict) else x):
                self.translator.translated(value)

    def given_back(self, x: Any) -> Any:
        """What a call returns: objects of the copies become objects of the originals."""
        if type(x) in (list, tuple, set):
            for item in x:
                self.given_back(item)
        elif type(x) is dict:
            for item in x.values():
                self.given_back(item)
        elif type(x) in self.originals:
            SESSION.switch(x, self.originals[type(x)], undo=False)
            for item in list(getattr(x, "__dict__", {}).values()):
                self.given_back(item)
        return x

    # ---- state -------------------------------------------------------------------------------------------------------
    def refresh(self) -> None:
        """Take over what was changed in the originals."""
        for copy, last in self.data.items():
            for name, value in list(self.originals[copy].__dict__.items()):
                if _is_data(name, value) and self.translator.translated(value) is not last.get(name, self):
                    last[name] = self.translator.translated(value)
                    type.__setattr__(copy, name, last[name])

    def flush(self) -> None:
        """Change in the originals what was changed in the copies."""
        for copy, last in self.data.items():
            for name, value in list(copy.__dict__.items()):
                if _is_data(name, value) and value is not last.get(name, self):
                    last[name] = value
                    type.__setattr__(self.originals[copy], name, value)


def _is_copied(cls: type, parents: list[type]) -> bool:
    if issubclass(cls, _UNIQUE) or getattr(cls, "_is_protocol", False):
        return False
    return any(isinstance(value, _METHODS) for kind in parents for value in kind.__dict__.values())


def _is_data(name: str, value: Any) -> bool:
    return (
        not name.startswith("__")
        and not isinstance(value, (*_METHODS, MemberDescriptorType))
        and name != "_abc_impl"
    )


def _new_class(meta: type, name: str, bases: tuple[type, ...], space: dict[str, Any]) -> type:
    """A class without a word to its metaclass and its parents, who may note down each class that there is."""
    global _making
    make: Any = abc.ABCMeta if issubclass(meta, abc.ABCMeta) else type
    _making += 1
    try:
        return make.__new__(meta, name, bases, space)
    finally:
        _making -= 1


def _unless_making(told: Callable[..., Any]) -> Callable[..., Any]:
    def init_subclass(cls: type, **kwargs: Any) -> None:
        if not _making:
            told(cls, **kwargs)

    return init_subclass


def _slots(cls: type) -> list[str]:
    return [
        name
        for kind in cls.__mro__
        for name, v in kind.__dict__.items()
        if isinstance(v, MemberDescriptorType)
    ]
