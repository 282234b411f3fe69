"""The catalogue: every NumPy function the engine knows, once, keyed by the function object, with its status.

Statuses: a `Primitive` (differentiable, or piecewise constant), `Composite` (written in terms of other
functions), `Query` (answered from shapes and dtypes, or from values that no derivative depends on),
`Unsupported` (with the reason and a way out).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from funcgrad.core.libraries import load_next
from funcgrad.errors import UnsupportedFunctionError, user_line


class Out(NamedTuple):
    """How a function writes its result into `out=`."""

    casting: str = "same_kind"  # some functions let NumPy cast as it likes, with a ComplexWarning
    repeats: bool = False  # may `out=` be larger than the result?
    # (out, *args): refuses an `out=` that lies in the memory of what is read
    check: Callable[..., None] | None = None


ANY_CAST = Out("unsafe")


class Function:
    """An entry of the catalogue: a NumPy function and what funcgrad does when a tracer reaches it."""

    status = "function"
    kind = ""
    note = ""
    out = Out()
    takes_like = False  # is it called for the sake of like=? NumPy takes that argument away

    def __init__(self, function: Callable[..., Any], name: str | None = None) -> None:
        self.function = function
        self.name = self.__name__ = name or name_of(function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{self.status} {self.name}>"

    @property
    def title(self) -> str:
        """How users call it: with "np." only if it is NumPy's."""
        return title_of(self.function, self.name)


class Catalogue(dict[Any, Function]):
    """Functions and their entries; chapters that were not loaded are, when one is missed."""

    def __missing__(self, function: Any) -> Function:
        if load_next():
            return self[function]
        raise KeyError(function)


CATALOGUE = Catalogue()


def name_of(function: Callable[..., Any]) -> str:
    """The name under which users know a NumPy function, such as 'linalg.norm'."""
    name = getattr(function, "__name__", repr(function))
    if getattr(function, "__objclass__", None) is np.ndarray:  # a method of arrays
        return f"ndarray.{name}"
    module = (getattr(function, "__module__", "") or "").split(".")
    if module[-1] in ("scimath", "_scimath_impl"):  # np.sqrt is another function
        return f"emath.{name}"
    return f"{module[1]}.{name}" if len(module) > 1 and module[1] in ("linalg", "fft") else name


def title_of(function: Callable[..., Any], name: str) -> str:
    """The name of a function in messages. (A ufunc does not know its module.)"""
    is_numpy = (getattr(function, "__module__", "") or "").startswith("numpy") or getattr(
        np, name, None
    ) is function
    return f"np.{name}" if is_numpy else name


def entry(function: Callable[..., Any]) -> Function:
    """The catalogue's entry for `function`, or an error that says that there is none."""
    known_entry = known(function)
    if known_entry is not None:
        return known_entry
    raise UnsupportedFunctionError(
        f"{title_of(function, name_of(function))} has no derivative rule in funcgrad (called at {user_line()}). Declare "
        "one with funcgrad.extend, or write the computation with functions that have one."
    )


def known(function: Any) -> Function | None:
    """The catalogue's entry for `function`, if it has one."""
    try:
        return CATALOGUE[function]
    except KeyError:
        return None
    except TypeError:  # what has no hash is no function
        return None


def register(function: Callable[..., Any], new: Function) -> Function:
    """Enter `new` into the catalogue; a second entry for one function is a mistake."""
    if function in CATALOGUE:
        raise ValueError(f"{new.title} is declared twice in the catalogue")
    CATALOGUE[function] = new
    return new


class Composite(Function):
    """Written in terms of other functions: `body` has NumPy's signature and calls NumPy."""

    status = "composite"
    kind = "composite"

    def __init__(
        self, function: Callable[..., Any], body: Callable[..., Any], note: str = "", out: Out = Function.out
    ) -> None:
        super().__init__(function)
        self.body, self.note, self.out = body, note, out

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.body(*args, **kwargs)


class Constructor(Composite):
    """Makes a new array, as in np.zeros(3, like=x): `body` takes x, then what NumPy's function takes."""

    kind = "constructor"
    takes_like = True


class Unsupported(Function):
    """Refused, with the reason and what to write instead."""

    status = "unsupported"

    def __init__(self, function: Callable[..., Any], reason: str, instead: str = "") -> None:
        super().__init__(function)
        self.reason, self.instead = reason, instead
        self.note = f"{reason}. {instead}".strip()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise UnsupportedFunctionError(
            f"{self.title} was called on a tracer at {user_line()}: {self.reason}."
            + (f" {self.instead}" if self.instead else "")
        )
