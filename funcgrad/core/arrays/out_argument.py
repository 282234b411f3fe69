"""out=: how a function of NumPy writes its result into an array that it is given."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from funcgrad.core.engine.catalogue import CATALOGUE, Function

# The functions that repeat their result where out= is larger.
BROADCASTING: frozenset[Any] = frozenset([np.clip, np.einsum, np.outer])

# The functions that NumPy lets write complex results into real arrays (with a ComplexWarning).
CASTING_ANYTHING: frozenset[Any] = frozenset([
    np.sum, np.prod, np.mean, np.trace, np.cumsum, np.cumprod, np.nansum, np.nanprod, np.nanmean, np.nancumsum, np.nancumprod,
    np.take, np.compress, np.choose,
])  # fmt: skip

# The functions that write while they still read -> what refuses an out= in the memory of what they read (put here by inplace.py).
PIECE_BY_PIECE: dict[Any, Callable[..., None]] = {}


@cache
def place_of_out(made: Function) -> float:
    """How many arguments come before `out` where it is given by position; infinite if it can't be."""
    names = _names(made)
    return names.index("out") if "out" in names else math.inf


def by_name(made: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call, those from `out` on by name."""
    place = int(place_of_out(made))
    return args[:place], {**dict(zip(_names(made)[place:], args[place:])), **kwargs}


@cache
def _names(made: Function) -> list[str]:
    """The parameters that may be given by position."""
    try:
        signature = getattr(made, "signature", None) or inspect.signature(made.function)
    except (TypeError, ValueError):  # one written in C: what its rule stands for has NumPy's signature, too
        body = getattr(made, "body", None)
        if body is None:
            return []
        signature = inspect.signature(body)
    return [p.name for p in signature.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def written(function: Any, args: tuple[Any, ...], result: Any, out: Any) -> Any:
    """The tracer `out` with the `result` of function(*args) in it."""
    if function in PIECE_BY_PIECE:
        PIECE_BY_PIECE[function](out, *args)
    if result.shape != out.shape and function not in BROADCASTING and not isinstance(function, np.ufunc):
        raise ValueError(f"np.{function.__name__}: out has the shape {out.shape}, but the result has {result.shape}")
    CATALOGUE[np.copyto](out, result, "unsafe" if function in CASTING_ANYTHING else "same_kind")
    return out
