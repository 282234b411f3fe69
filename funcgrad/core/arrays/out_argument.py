"""out=: how a function of NumPy writes its result into an array that it is given."""

from __future__ import annotations

import inspect
import math
from functools import cache
from typing import Any

import numpy as np

from funcgrad.core.engine.catalogue import CATALOGUE, Function


@cache
def place_of_out(function: Function) -> float:
    """How many arguments come before `out` where it is given by position; infinite if it can't be."""
    names = _names(function)
    return names.index("out") if "out" in names else math.inf


def by_name(
    function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call, those from `out` on by name."""
    place = int(place_of_out(function))
    return args[:place], {**dict(zip(_names(function)[place:], args[place:])), **kwargs}


@cache
def _names(function: Function) -> list[str]:
    """The parameters that may be given by position."""
    try:
        signature = getattr(function, "signature", None) or inspect.signature(function.function)
    except (TypeError, ValueError):  # one written in C: what its rule stands for has NumPy's signature, too
        body = getattr(function, "body", None)
        if body is None:
            return []
        signature = inspect.signature(body)
    return [
        p.name
        for p in signature.parameters.values()
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]


def written(function: Function, args: tuple[Any, ...], result: Any, out: Any) -> Any:
    """The tracer `out` with the `result` of function(*args) in it."""
    if function.out.check is not None:
        function.out.check(out, *args)
    if result.shape != out.shape and not function.out.repeats and not isinstance(function.function, np.ufunc):
        raise ValueError(
            f"np.{function.name}: out has the shape {out.shape}, but the result has {result.shape}"
        )
    CATALOGUE[np.copyto](out, result, function.out.casting)
    return out
