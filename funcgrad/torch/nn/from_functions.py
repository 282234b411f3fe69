"""Modules that keep settings and call a function with them: they are made from that function's signature."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from inspect import Parameter
from typing import Any

from funcgrad.torch.functions.generated import generated
from funcgrad.torch.nn.functional.reduction import LEGACY, legacy
from funcgrad.torch.nn.module import Module

BUFFERS = ("weight", "pos_weight")  # settings that go with the module


class FromFunction(Module):
    """A module that was made from a function."""

    shows: str | None = None

    def extra_repr(self) -> str:
        """The settings as `shows` wants them; without it all of them, inplace only where it is True."""
        if self.shows is not None:
            return self.shows.format_map(vars(self))
        inplace = ["inplace=True"] if getattr(self, "inplace", False) else []
        return ", ".join([*filter(None, [super().extra_repr()]), *inplace])


def module(
    name: str,
    function: Callable[..., Any],
    operands: str | None = None,
    arguments: str | None = None,
    *,
    doc: str | None = None,
    shows: str | None = None,
    then: Callable[[Any], None] | None = None,
    **fixed: Any,
) -> Any:
    """A class of modules: `__init__` keeps the settings, `forward` calls `function(*operands, *settings)`.

    Args:
        name: the class's name.
        function: a function of torch.nn.functional; if it has a parameter `training`, the module's own is given.
        operands: the names of forward's parameters; without it, the parameters that have no default.
        arguments: the names of __init__'s parameters; without it, all others but training, _private ones and dtype.
        doc: the docstring; without it, the first paragraph of the function's.
        shows: what the repr says of the settings, as a format string; without it, name=value of all of them.
        then: what __init__ does in the end: it checks the settings, or completes them.
        fixed: further arguments of the function.

    >>> import funcgrad.torch as torch
    >>> Shift = module("Shift", lambda input, by=1.0, inplace=False: input + by)
    >>> Shift(by=2.0)(torch.ones(2)), Shift(inplace=True)
    (tensor([3., 3.]), Shift(by=1.0, inplace=True))
    """
    parameters = _parameters(function)
    required = [p.name for p in parameters.values() if p.default is Parameter.empty]
    operands_ = required if operands is None else operands.split()
    settings = _settings(parameters, len(operands_)) if arguments is None else arguments.split()
    kept = [s for s in settings if s not in ("*", *LEGACY)]
    space = {
        "__doc__": doc or (inspect.getdoc(function) or "").partition("\n\n")[0],
        "__module__": sys._getframe(1).f_globals.get("__name__", "__main__"),
        "settings": tuple(s for s in kept if s != "inplace"),
        "shows": shows,
        "__init__": _init(name, settings, parameters, then),
        "forward": _forward(name, function, operands_, kept, parameters, fixed),
    }
    return type(name, (FromFunction,), space)


def _parameters(function: Callable[..., Any]) -> dict[str, Parameter]:
    """Those that have names."""
    starred = Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD
    return {n: p for n, p in inspect.signature(function).parameters.items() if p.kind not in starred}


def _settings(parameters: dict[str, Parameter], operands: int) -> list[str]:
    """What is no operand, with a star before what is given by name only."""
    names = [n for n in list(parameters)[operands:] if n not in ("training", "dtype") and n[0] != "_"]
    by_name = [n for n in names if parameters[n].kind is Parameter.KEYWORD_ONLY]
    return [*names[: -len(by_name)], "*", *by_name] if by_name else names


def _init(name: str, settings: list[str], parameters: dict[str, Parameter], then: Any) -> Any:
    """__init__: it keeps the settings."""
    first = settings.index("*") if "*" in settings else len(settings)
    given = [parameters[s] for s in settings[:first]]
    given += [parameters[s].replace(kind=Parameter.KEYWORD_ONLY) for s in settings[first + 1 :]]
    lines = ["FromFunction.__init__(self)"]
    if LEGACY[0] in settings:
        lines.append("if size_average is not None or reduce is not None:")
        lines.append("    reduction = legacy(size_average, reduce)")
    for n in (p.name for p in given if p.name not in LEGACY):
        lines.append(f"self.register_buffer('{n}', {n})" if n in BUFFERS else f"self.{n} = {n}")
    if then is not None:
        lines.append("then(self)")
    space = {"FromFunction": FromFunction, "then": then, "legacy": legacy}
    return generated("__init__", given, lines, space, like=FromFunction.__init__, returns="None", owner=name)


def _forward(
    name: str,
    function: Any,
    operands: list[str],
    kept: list[str],
    parameters: dict[str, Parameter],
    fixed: Any,
) -> Any:
    """forward: operands and settings go by position as far as the function's order is followed, then by name."""
    names = list(parameters)
    entries, in_place = list(operands), True
    for n in (n for n in names[len(operands) :] if n in kept or n == "training"):
        in_place = in_place and parameters[n].kind is not Parameter.KEYWORD_ONLY and names[len(entries)] == n
        entries.append(f"self.{n}" if in_place else f"{n}=self.{n}")
    entries += [f"{n}=fixed['{n}']" for n in fixed]
    given = [parameters[n].replace(name=o) for n, o in zip(names, operands, strict=False)]
    returns = getattr(function, "__annotations__", {}).get("return", "Tensor")
    space = {"function": function, "fixed": fixed}
    lines = [f"return function({', '.join(entries)})"]
    return generated("forward", given, lines, space, like=FromFunction.forward, returns=returns, owner=name)
