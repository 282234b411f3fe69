"""How a module of SciPy's is mirrored: its names, lazily, each with the rule that funcgrad has for it.

A function of SciPy's is wrapped: it looks for tracers among its arguments while a transform runs, and
otherwise is SciPy's own. A function that calls functions of the user (quad, minimize) is handed to its rule
whenever a transform runs: they may close over tracers. A chapter may put an object of its own in the place of
a class (declare.Chapter.replaces).
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.engine.trace import RUNNING, Tracer
from funcgrad.errors import UnsupportedFunctionError, user_line

# What a chapter has put in the place of SciPy's object: "linalg.name" -> that.
REPLACED: dict[str, Any] = {}
BY_ORIGINAL: dict[Any, Any] = {}  # the same, by SciPy's object
# The same, made when it is first asked for.
MADE: dict[str, Callable[[], Any]] = {}
# A class of SciPy's -> how one of its objects becomes one of ours, which takes tracers.
ADOPTED: dict[type, Callable[[Any], Any]] = {}
# Functions of the user's functions: their rules are asked whenever a transform runs.
FUNCTIONALS: set[Any] = set()
ALWAYS: set[Any] = set()  # those among them that have more to give outside of transforms, too
# Modules of SciPy's that are mirrored within another one.
_INNER = (
    "cluster.vq cluster.hierarchy linalg.blas linalg.lapack linalg.interpolative optimize.elementwise signal.windows "
    "sparse.linalg sparse.csgraph spatial.distance spatial.transform stats.qmc stats.mstats stats.contingency stats.sampling"
)
INNER = frozenset(_INNER.split())
_FUNCTIONS = (FunctionType, BuiltinFunctionType, functools.partial, type(functools.lru_cache(lambda: None)))


def scipy_module(name: str) -> ModuleType:
    """A module of SciPy's, or an error that says how to get SciPy."""
    try:
        return import_module(name)
    except ImportError as error:
        if error.name not in ("scipy", None):
            raise
        raise ImportError(
            f"funcgrad.scipy needs SciPy, which is optional: pip install 'funcgrad[scipy]' ({error})"
        ) from None


def mirror(home: str, chapters: str = "") -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of the module `home` ("funcgrad.scipy.linalg"); `chapters`: its rules."""
    part = home.removeprefix("funcgrad.scipy.")
    space = sys.modules[home].__dict__

    @functools.cache
    def theirs() -> ModuleType:
        module = scipy_module(f"scipy.{part}")
        for chapter in chapters.split():
            import_module(f"{home}.{chapter}")
        return module

    def get(name: str) -> Any:
        if name.startswith("__"):
            if name == "__all__":
                return public_names(theirs())
            raise AttributeError(f"module {home!r} has no attribute {name!r}")
        module = theirs()
        if name in space:  # a chapter, which has just been imported
            return space[name]
        made = mirrored(getattr(module, name), f"{part}.{name}")
        space[name] = made
        return made

    def names() -> list[str]:
        return sorted({*dir(theirs()), *space})

    return get, names


def public_names(module: ModuleType) -> list[str]:
    """The public names of a module of SciPy's."""
    return list(getattr(module, "__all__", None) or [n for n in dir(module) if not n.startswith("_")])


def mirrored(value: Any, name: str) -> Any:
    """SciPy's object `value`, known as "linalg.solve", as funcgrad.scipy has it."""
    if name in REPLACED:
        return REPLACED[name]
    if name in MADE:
        return REPLACED.setdefault(name, MADE[name]())
    if isinstance(value, ModuleType):
        return import_module(f"funcgrad.scipy.{name}") if name in INNER else value
    if isinstance(value, _FUNCTIONS) or type(value).__name__ in ("_Function", "cython_function_or_method"):
        return looking(value, name)
    return value


def adopted(x: Any) -> Any:
    """What a plain call has given: an object of a class that has one of ours in its place, as one of that."""
    kind = type(x)
    if kind in ADOPTED:
        return ADOPTED[kind](x)
    if kind is tuple and any(type(v) in ADOPTED for v in x):
        return tuple(map(adopted, x))
    return x


def looking(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """`function`, which hands tracers to funcgrad's rule for it, or refuses them if there is none."""
    is_functional, is_always = function in FUNCTIONALS, function in ALWAYS

    def call(*args: Any, **kwargs: Any) -> Any:
        is_traced = RUNNING.get() is not None and (is_functional or carries_tracer((args, kwargs)))
        if not is_traced and not is_always:
            return adopted(function(*args, **kwargs))
        made = CATALOGUE.get(function)
        if made is None:
            raise no_rule(name)
        return made(*args, **kwargs)

    functools.update_wrapper(call, function)
    call.__module__ = f"funcgrad.scipy.{name.rpartition('.')[0]}"
    call.__doc__ = (function.__doc__ or "").partition("\n    Examples\n")[0].replace(">>> ", "")
    return call


def no_rule(name: str) -> UnsupportedFunctionError:
    """The error for a function of SciPy's that funcgrad has no rule for."""
    return UnsupportedFunctionError(
        f"scipy.{name} was called on a tracer at {user_line()} and has no derivative rule. Write the computation with functions "
        "that have one (the page 'What is supported' lists them), call it on funcgrad.stop_gradient(x) if its derivative is not "
        "meant to count, or declare a rule with funcgrad.extend."
    )


def carries_tracer(x: Any) -> bool:
    """Is `x` a tracer, a list or dict with one, or an object that says so by `__carries_tracer__`?"""
    if isinstance(x, Tracer):
        return True
    if isinstance(x, (list, tuple)):
        return _any(x)
    if isinstance(x, dict):
        return _any(x.values())
    asked = getattr(type(x), "__carries_tracer__", None)
    return asked is not None and asked(x)


def _any(items: Iterable[Any]) -> bool:
    return any(carries_tracer(item) for item in items)
