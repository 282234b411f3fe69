"""What all transforms share: the wrapper that keeps a function's identity, and the reading of `argnums`."""

from __future__ import annotations

import functools
import inspect
import operator
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad.errors import ArgumentError


class Transformed:
    """A transformed function: called like the original, with its name, docstring and signature; picklable."""

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
        # a decorated function has taken the name of the original
        if _found_by_name(self.__module__, name) is self:
            return name
        return _rebuild, (type(self), {k: v for k, v in self.__dict__.items() if k != "__wrapped__"})


class Differentiated(Transformed):
    """A transform that differentiates in some arguments: at the positions `argnums` or named `argnames`."""

    def __init__(self, fun: Callable[..., Any], argnums: Any = 0, argnames: Any = None) -> None:
        super().__init__(fun)
        if argnames is not None and not (_is_int(argnums) and argnums == 0):
            raise ArgumentError(
                f"{self.transform} was given argnums={argnums!r} and argnames={argnames!r}; give one of them"
            )
        self.argnums = checked_argnums(argnums, self.transform)
        self.argnames = checked_argnames(argnames, self.transform)
        self.in_several = isinstance(self.argnums if argnames is None else self.argnames, tuple)

    def placed(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], tuple[int, ...]]:
        """The function, its arguments (all positional), and the positions of those to differentiate in."""
        if self.argnames is None:
            where = _counted(self.argnums, len(args))
            if isinstance(where, tuple):
                return self.fun, args, kwargs, where
            if where is None:
                raise ArgumentError(f"{self.transform}: argnums={self.argnums!r} names an argument twice")
        return self._moved(args, kwargs)

    def _moved(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The same with keyword or named arguments to differentiate in: these move behind the others."""
        wanted = self.argnums if self.argnames is None else self.argnames
        keys = [self._place(w, args, kwargs) for w in (wanted if isinstance(wanted, tuple) else (wanted,))]
        moved, count, fun = [k for k in keys if isinstance(k, str)], len(args), self.fun

        def of_all(*full: Any, **others: Any) -> Any:
            return fun(*full[:count], **dict(zip(moved, full[count:], strict=True)), **others)

        of_all.__name__ = name_of(fun)
        where = tuple(count + moved.index(k) if isinstance(k, str) else k for k in keys)
        others = {name: x for name, x in kwargs.items() if name not in moved}
        return of_all, (*args, *(kwargs[name] for name in moved)), others, where

    def _place(self, wanted: int | str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int | str:
        """Where the call has the argument: its position, or its keyword."""
        if isinstance(wanted, int):
            if -len(args) <= wanted < len(args):
                return wanted % len(args)
            name = dict(enumerate(_parameters(self.fun))).get(wanted)
        else:
            name = wanted
            parameters = _parameters(self.fun)
            if name not in kwargs and name in parameters and parameters.index(name) < len(args):
                return parameters.index(name)
        if name in kwargs:
            return name
        raise ArgumentError(self._without(wanted, args, kwargs))

    def _without(self, wanted: int | str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        called = (
            f"but {name_of(self.fun)} was called with {len(args)} positional argument{'s' * (len(args) != 1)}"
        )
        if kwargs:
            called += f" and the keyword{'s' * (len(kwargs) != 1)} {', '.join(kwargs)}"
        if isinstance(wanted, str):
            return f"{self.transform}: argnames={self.argnames!r} asks for the argument {wanted!r}, {called}; pass it"
        return (
            f"{self.transform}: argnums={self.argnums!r} asks for positional argument {wanted}, {called}; "
            "pass what is differentiated, or name it by argnames="
        )


def _parameters(fun: Any) -> list[str]:
    """The names of the arguments that may be positional, in order."""
    try:
        parameters = inspect.signature(fun).parameters.values()
    except (TypeError, ValueError):  # one written in C
        return []
    return [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]


def _found_by_name(module: str, name: str) -> Any:
    try:
        return functools.reduce(getattr, name.split("."), sys.modules[module])
    except (KeyError, AttributeError):
        return None


def decorating(cls: type[Transformed], fun: Any, options: dict[str, Any]) -> Any:
    """`cls(fun)`; without a function, the decorator. Of a compiled function, the whole is compiled."""
    if fun is None:
        return lambda f: decorating(cls, f, options)
    compiled = getattr(type(fun), "outermost", None)
    if compiled is None or options.get("progress"):  # which a program would not show
        return cls(fun, **options)
    return compiled(fun, cls, options)


def _rebuild(cls: type, attributes: dict[str, Any]) -> Any:
    transformed = object.__new__(cls)
    transformed.__dict__.update(attributes, __wrapped__=attributes["fun"])
    return transformed


def check_function(fun: Any, transform: str) -> None:
    """Refuse what is no function."""
    if not callable(fun):
        kind = type(fun).__name__
        raise ArgumentError(f"{transform} takes a function, not {kind}: pass it itself, not its result")


def name_of(fun: Any) -> str:
    """A function's name, for messages."""
    return getattr(fun, "__name__", None) or type(fun).__name__


def checked_argnums(argnums: Any, transform: str) -> int | tuple[int, ...]:
    """`argnums` as an int or a tuple of ints, or an error that says what it should be."""
    if _is_int(argnums):
        return operator.index(argnums)
    if isinstance(argnums, (tuple, list)):
        if not argnums:
            raise ArgumentError(
                f"{transform}: argnums is empty; name at least one argument, for example argnums=0"
            )
        if all(map(_is_int, argnums)):
            return tuple(map(operator.index, argnums))
    what = f"{argnums!r} ({type(argnums).__name__})"
    raise ArgumentError(f"{transform}: argnums must be an int or a tuple of ints, not {what}")


def _is_int(a: Any) -> bool:
    return isinstance(a, (int, np.integer)) and not isinstance(a, bool)


def checked_argnames(argnames: Any, transform: str) -> str | tuple[str, ...] | None:
    """`argnames` as None, a name or a tuple of different names, or an error that says what it should be."""
    if argnames is None or isinstance(argnames, str):
        return argnames
    if isinstance(argnames, (tuple, list)) and argnames and all(isinstance(name, str) for name in argnames):
        if len(set(argnames)) == len(argnames):
            return tuple(argnames)
        raise ArgumentError(f"{transform}: argnames={argnames!r} names an argument twice")
    raise ArgumentError(
        f"{transform}: argnames must be a name or a tuple of names, not {argnames!r} ({type(argnames).__name__})"
    )


@functools.lru_cache
def _counted(argnums: int | tuple[int, ...], n: int) -> tuple[int, ...] | int | None:
    """Positions among `n` arguments, from 0; the number that is none of them; None if one is named twice."""
    positions = []
    for a in argnums if isinstance(argnums, tuple) else (argnums,):
        if not -n <= a < n:
            return a
        positions.append(a % n)
    return tuple(positions) if len(set(positions)) == len(positions) else None


def of_chosen(
    fun: Callable[..., Any], args: Sequence[Any], where: Sequence[int], kwargs: dict[str, Any]
) -> Callable[..., Any]:
    """`fun` as a function of its arguments at the positions `where`; the others are fixed."""

    def chosen(*values: Any) -> Any:
        full = list(args)
        for i, x in zip(where, values, strict=True):
            full[i] = x
        return fun(*full, **kwargs)

    chosen.__name__ = name_of(fun)
    return chosen
