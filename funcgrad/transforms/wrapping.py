"""What all transforms share: the wrapper that keeps a function's identity, and the reading of `argnums`."""

from __future__ import annotations

import functools
import operator
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad.errors import ArgumentError


class Transformed:
    """A transformed function: called like the original, with its name, docstring, signature; picklable if that is."""

    transform = "transform"

    def __init__(self, fun: Callable[..., Any]) -> None:
        check_function(fun, self.transform)
        functools.update_wrapper(self, fun)
        self.fun = fun

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{self.transform} of {name_of(self.fun)}>"

    def __reduce__(self) -> Any:
        name = getattr(self, "__qualname__", "")
        if _found_by_name(self.__module__, name) is self:  # a decorated function has taken the name of the original
            return name
        return _rebuild, (type(self), {k: v for k, v in self.__dict__.items() if k != "__wrapped__"})


def _found_by_name(module: str, name: str) -> Any:
    try:
        return functools.reduce(getattr, name.split("."), sys.modules[module])
    except (KeyError, AttributeError):
        return None


def _rebuild(cls: type, attributes: dict[str, Any]) -> Any:
    made = object.__new__(cls)
    made.__dict__.update(attributes, __wrapped__=attributes["fun"])
    return made


def check_function(fun: Any, transform: str) -> None:
    """Refuse what is no function."""
    if not callable(fun):
        found = type(fun).__name__
        raise ArgumentError(f"{transform} takes a function, not {found}: pass it itself, not its result")


def name_of(fun: Any) -> str:
    """A function's name, for messages."""
    return getattr(fun, "__name__", None) or type(fun).__name__


def checked_argnums(argnums: Any, transform: str) -> int | tuple[int, ...]:
    """`argnums` as an int or a tuple of ints, or an error that says what it should be."""
    if _is_int(argnums):
        return operator.index(argnums)
    if isinstance(argnums, (tuple, list)):
        if not argnums:
            raise ArgumentError(f"{transform}: argnums is empty; name at least one argument, for example argnums=0")
        if all(map(_is_int, argnums)):
            return tuple(map(operator.index, argnums))
    found = f"{argnums!r} ({type(argnums).__name__})"
    raise ArgumentError(f"{transform}: argnums must be an int or a tuple of ints, not {found}")


def _is_int(a: Any) -> bool:
    return isinstance(a, (int, np.integer)) and not isinstance(a, bool)


def positions(argnums: int | tuple[int, ...], args: Sequence[Any], transform: str, fun: Any) -> tuple[int, ...]:
    """The positions that `argnums` names among `args`, counted from 0."""
    found = _counted(argnums, len(args))
    if isinstance(found, tuple):
        return found
    if found is None:
        raise ArgumentError(f"{transform}: argnums={argnums!r} names an argument twice")
    raise ArgumentError(
        f"{transform}: argnums={argnums!r} asks for positional argument {found}, but {name_of(fun)} was called "
        f"with {len(args)} positional argument{'s' * (len(args) != 1)}; pass what is differentiated by position"
    )


@functools.lru_cache
def _counted(argnums: int | tuple[int, ...], n: int) -> tuple[int, ...] | int | None:
    """The positions among `n` arguments, counted from 0; the number that is none of them; None if one is named twice."""
    found = []
    for a in argnums if isinstance(argnums, tuple) else (argnums,):
        if not -n <= a < n:
            return a
        found.append(a % n)
    return tuple(found) if len(set(found)) == len(found) else None


def of_chosen(fun: Callable[..., Any], args: Sequence[Any], where: Sequence[int], kwargs: dict[str, Any]) -> Callable[..., Any]:
    """`fun` as a function of its arguments at the positions `where` alone; the others are those of `args`, `kwargs`."""

    def chosen(*given: Any) -> Any:
        full = list(args)
        for i, x in zip(where, given, strict=True):
            full[i] = x
        return fun(*full, **kwargs)

    chosen.__name__ = name_of(fun)
    return chosen
