"""How the rules for scipy.special are declared: by name, since one release has functions that another lacks.

The formulas are plain NumPy and SciPy; a partial that loses digits somewhere is a function of its own, as in
rules/slopes.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special
from scipy.special import _ufuncs

from funcgrad.core.engine import declare
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.engine.kinds import OPERANDS, Partial, Unknown, names_in


def ufunc_of(name: str) -> np.ufunc | None:
    """The ufunc of this name, if this SciPy has it and it has no entry yet (one ufunc may have two names)."""
    for module in (special, _ufuncs):
        found = getattr(module, name, None)
        if isinstance(found, np.ufunc) and found not in CATALOGUE:
            return found
    return None


def title(name: str) -> str:
    """The name for messages; the private ufuncs are the hearts of the public functions that dispatch to them."""
    return f"scipy.special.{PUBLIC.get(name, name)}"


PUBLIC = {"_lambertw": "lambertw", "_riemann_zeta": "zeta", "_zeta": "zeta"}


def elementwise(names: str, *partials: Partial) -> None:
    """Declare elementwise ufuncs: one partial derivative for each operand."""
    for name in names.split():
        function = ufunc_of(name)
        if function is not None:
            declare.elementwise(function, *partials, name=title(name))


Slopes = Callable[..., tuple[Any, ...]]


def vector_valued(names: str, *slopes: Slopes | Unknown) -> None:
    """Declare ufuncs with several results: for each operand a tuple of the derivatives of all of them."""
    for name in names.split():
        function = ufunc_of(name)
        if function is not None:
            operands = OPERANDS if function.nin <= len(OPERANDS) else [f"x{i}" for i in range(function.nin)]
            pulls: dict[str, Any] = {x: _puller(s) if callable(s) else s for x, s in zip(operands, slopes)}
            known = {x: s for x, s in zip(operands, slopes) if callable(s)}
            declare.custom(function, pulls, push=_pusher(known), name=title(name), batch="aligned")


def _puller(slopes: Slopes) -> Callable[..., Any]:
    def pull(ct: list[Any], **values: Any) -> Any:
        with np.errstate(all="ignore"):  # the slope of a result that nobody uses may be infinite
            parts = [c * s for c, s in zip(ct, slopes(**values), strict=True) if c is not None]
        return sum(parts[1:], parts[0])

    return _naming(pull, "ct", names_in(slopes))


def _pusher(known: dict[str, Slopes]) -> Callable[..., Any]:
    def push(t: Any, **values: Any) -> tuple[Any, ...]:
        ts = t if isinstance(t, dict) else dict.fromkeys(known, t)
        terms = [
            [ts[x] * s for s in slopes(**{n: values[n] for n in names_in(slopes)})]
            for x, slopes in known.items()
            if ts[x] is not None
        ]
        return tuple(sum(parts[1:], parts[0]) for parts in zip(*terms))

    return _naming(push, "t", tuple(dict.fromkeys(n for slopes in known.values() for n in names_in(slopes))))


def _naming(formula: Any, first: str, names: tuple[str, ...]) -> Any:
    """`formula`, so that the engine sees these names for its parameters."""
    parameter = inspect.Parameter
    formula.__signature__ = inspect.Signature(
        [parameter(n, parameter.POSITIONAL_OR_KEYWORD) for n in (first, *names)]
    )
    return formula


def piecewise_constant(names: str) -> None:
    """Declare ufuncs without a derivative."""
    for name in names.split():
        function = ufunc_of(name)
        if function is not None:
            declare.piecewise_constant(function, name=title(name))


def unsupported(names: str, reason: str, instead: str = "") -> None:
    """Refuse ufuncs, with the reason."""
    for name in names.split():
        function = ufunc_of(name)
        if function is not None:
            declare.unsupported(function, reason, instead).name = title(name)
