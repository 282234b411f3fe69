"""A step as a Python expression: an operator, method or NumPy function, whichever is quickest to call."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.compiler.names import BINARY, UNARY, Names, index_text
from funcgrad.compiler.steps import HERE, Hole, Step, itself

Write = Callable[[Any], str]


class Expressions:
    """Writes steps; `names` are those of the program."""

    def __init__(self, names: Names) -> None:
        self.names = names

    def of(self, step: Step, operand: Write) -> str:
        """The expression for a step, whose operands are written by `operand`."""
        write = self._writer(step, operand)
        special = _SPECIAL.get(step.function)
        if special is not None:
            text = special(self, step, write)
            if text is not None:
                return text
        args = tuple(step.args)
        if not step.kwargs and step.function in BINARY and len(args) == 2 and self._is_operation(step):
            return f"{write(args[0])} {BINARY[step.function]} {write(args[1])}"
        if not step.kwargs and step.function in UNARY and len(args) == 1 and self._is_operation(step):
            return f"{UNARY[step.function]}{write(args[0])}"
        return self.call(self.names.function(step.function), args, step.kwargs, write)

    def call(self, name: str, args: Any, kwargs: dict[str, Any], write: Write, out: str | None = None) -> str:
        """A call of a function; `out` is where its result goes, by position behind all operands."""
        parts = [write(a) for a in args]
        if out is not None:
            parts.append(out)
        parts += [f"{k}={write(v)}" for k, v in kwargs.items()]
        return f"{name}({', '.join(parts)})"

    def view(self, view: Any, looked: str, write: Write) -> str:
        """What a view makes of the array `looked`."""
        function, args, kwargs = view
        step = Step(function, (), args, kwargs)
        return self.of(step, lambda x: looked if x is HERE else write(x))

    def _is_operation(self, step: Step) -> bool:
        """May an operator stand for the function? Not for a Python number and a list, or two constants."""
        return any(type(x) is Hole for x in step.args) or any(x is HERE for x in step.args)

    def _writer(self, step: Step, operand: Write) -> Write:
        def write(x: Any) -> str:
            if type(x) is Hole:
                return operand(step.operands[x])
            if x is HERE:
                return operand(x)
            if type(x) is tuple:
                return f"({', '.join(map(write, x))}{',' * (len(x) == 1)})"
            if type(x) is list:
                return f"[{', '.join(map(write, x))}]"
            if type(x) is slice:
                return f"slice({write(x.start)}, {write(x.stop)}, {write(x.step)})"
            return self.names.text(x)

        return write


Special = Callable[[Expressions, Step, Write], "str | None"]
_SPECIAL: dict[Any, Special] = {}


def _written_as(*functions: Any) -> Callable[[Special], Special]:
    def enter(special: Special) -> Special:
        _SPECIAL.update(dict.fromkeys(functions, special))
        return special

    return enter


@_written_as(operator.getitem)
def _getitem(self: Expressions, step: Step, write: Write) -> str:
    x, index = step.args
    return f"{write(x)}[{index_text(index, write)}]"


@_written_as(np.transpose)
def _transpose(self: Expressions, step: Step, write: Write) -> str | None:
    if len(step.args) != 1 or not _is_array(step):
        return None
    axes = step.kwargs.get("axes")
    return (
        f"{write(step.args[0])}.T"
        if axes is None
        else f"{write(step.args[0])}.transpose({self.names.text(axes)})"
    )


@_written_as(np.reshape)
def _reshape(self: Expressions, step: Step, write: Write) -> str | None:
    kwargs = dict(step.kwargs)
    shape = kwargs.pop("shape", None)
    if shape is None or kwargs.keys() - {"order"}:
        return None
    order = f", order={kwargs['order']!r}" if "order" in kwargs else ""
    return f"{write(step.args[0])}.reshape({self.names.text(shape)}{order})"


_REDUCTIONS = {np.sum: "np.add", np.prod: "np.multiply", np.max: "np.maximum", np.min: "np.minimum"}


@_written_as(*_REDUCTIONS)
def _reduction(self: Expressions, step: Step, write: Write) -> str | None:
    if len(step.args) != 1 or step.kwargs.keys() - {"axis", "keepdims"}:
        return None
    kwargs = {"axis": step.kwargs.get("axis"), **step.kwargs}
    return self.call(f"{_REDUCTIONS[step.function]}.reduce", step.args, kwargs, write)


@_written_as(itself)
def _constant(self: Expressions, step: Step, write: Write) -> str:
    return f"{write(step.args[0])}.copy()" if _is_array(step) else write(step.args[0])


def _is_array(step: Step) -> bool:
    """Is the result known to be an array?"""
    return bool(step.specs) and step.specs[0].is_array
