"""Functions that are written out from a list of parameters.

They show their arguments as functions written by hand do, refuse others in the same words, and cost no more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import Parameter
from typing import Any

_STARS = {Parameter.VAR_POSITIONAL: "*", Parameter.VAR_KEYWORD: "**"}


def passed_on(parameters: Iterable[Parameter]) -> str:
    """The text of a call's arguments that hands on these parameters: "x, *rest, by=by"."""
    by_name = Parameter.KEYWORD_ONLY
    return ", ".join(
        f"{p.name}={p.name}" if p.kind is by_name else _STARS.get(p.kind, "") + p.name for p in parameters
    )


def generated(
    name: str,
    parameters: list[Parameter],
    lines: list[str],
    space: dict[str, Any],
    *,
    like: Callable[..., Any],
    returns: Any = None,
    owner: str = "",
) -> Any:
    """The function `name` with these parameters and these lines, in which the names of `space` mean what it says.

    Its module, docstring and return type are those of `like` (unless `returns` says more); with `owner` it is a
    method of that class.

    >>> from inspect import signature
    >>> def scaled(x, by=2.0):
    ...     "x * by"
    >>> f = generated("scaled", list(signature(scaled).parameters.values()), ["return x * by"], {}, like=scaled)
    >>> f(3.0), f.__doc__
    (6.0, 'x * by')
    """
    defaults = {f"_{p.name}": p.default for p in parameters if p.default is not Parameter.empty}
    heads, starred = ["self"] if owner else [], False
    for p in parameters:
        if p.kind is Parameter.KEYWORD_ONLY and not starred:
            heads.append("*")
        starred = starred or p.kind in (Parameter.KEYWORD_ONLY, Parameter.VAR_POSITIONAL)
        heads.append(_STARS.get(p.kind, "") + (f"{p.name}=_{p.name}" if f"_{p.name}" in defaults else p.name))
    names = {**defaults, **space}
    text = f"def make({', '.join(names)}):\n    def {name}({', '.join(heads)}):\n        "
    text += "\n        ".join(lines) + f"\n    return {name}\n"
    found: dict[str, Any] = {}
    exec(compile(text, f"<funcgrad.torch {owner or name}>", "exec"), like.__globals__, found)
    made = found["make"](**names)
    types = {p.name: p.annotation for p in parameters if p.annotation is not Parameter.empty}
    made.__annotations__ = {**types, "return": returns or like.__annotations__.get("return", "Any")}
    made.__doc__, made.__module__ = like.__doc__, like.__module__
    made.__qualname__ = f"{owner}.{name}" if owner else name
    return made
