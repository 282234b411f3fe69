"""How a call's arguments are read: bound by the signature, `axis` counted from 0, lists made arrays."""

from __future__ import annotations

import inspect
import operator
import re
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from funcgrad.core.arrays import foreign
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.engine.trace import Tracer
from funcgrad.errors import BEGIN, TracerWriteError, user_line

# What NumPy itself uses for "not given"; None means something else in initial=.
ABSENT: Any = np._NoValue


def out_refused(name: str) -> TracerWriteError:
    """The error for `out=` beside a tracer."""
    return TracerWriteError(
        f"np.{name}(..., out=a), or an operator such as `a += x`, at {user_line()} would write a tracer into a plain array and "
        f"lose its derivative. Write `a = np.{name}(...)` (a = a + x); or, to write into a, {BEGIN}."
    )


def signature_of(function: Callable[..., Any], text: str | None = None) -> inspect.Signature:
    """The signature by which the arguments of `function` are bound; `text` where Python can't see it."""
    if text is None:
        return inspect.signature(function)
    space: dict[str, Any] = {"absent": ABSENT}
    exec(f"def stand_in({text}): pass", space)
    return inspect.signature(space["stand_in"])


def binder(name: str, signature: inspect.Signature) -> Callable[..., dict[str, Any]]:
    """A function with this signature that returns its arguments by name: Python binds and complains."""
    space: dict[str, Any] = {}
    parameters = []
    for p in signature.parameters.values():
        if p.default is not p.empty:
            space[f"default_{p.name}"] = p.default
            p = p.replace(default=_Source(f"default_{p.name}"))
        parameters.append(p.replace(annotation=p.empty))
    head = str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))
    entries = [f"**{p.name}" if p.kind is p.VAR_KEYWORD else f"'{p.name}': {p.name}" for p in parameters]
    plain = re.sub(r"\W", "_", name)  # 'linalg.norm', '<lambda>'
    exec(compile(f"def {plain}{head}: return {{{', '.join(entries)}}}", "<funcgrad binder>", "exec"), space)
    return space[plain]


class _Source(str):
    """A string whose repr is itself: stands for a name in generated source."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


# Most operands that are no tracers.
TAKEN = frozenset(
    [np.ndarray, float, int, complex, bool, np.float64, np.float32, np.complex128, np.int64, np.bool_]
)


def as_operand(x: Any) -> Any:
    """`x` as an array: a (nested) list becomes one, even with tracers in it; a stale view looks anew."""
    if isinstance(x, Tracer):
        x._node  # noqa: B018
    elif type(x) in (list, tuple, range):
        return array_of(x)
    elif type(x) not in TAKEN:
        if hasattr(x, "__operand__"):  # an object that holds an array or a tracer
            return x.__operand__()
        return foreign.operand(x)
    return x


def array_of(items: Any) -> Any:
    """The array of a nested list; where there are tracers in it, a tracer."""
    if isinstance(items, (list, tuple, range)):
        if holds_tracer(items):
            return CATALOGUE[np.stack]([array_of(item) for item in items])
        return np.asarray(items)
    return items if type(items) in TAKEN or isinstance(items, Tracer) else foreign.content(items)


def holds_tracer(items: Any) -> bool:
    """Is there a tracer anywhere in this nested list?"""
    if isinstance(items, (list, tuple)):
        return any(holds_tracer(item) for item in items)
    return isinstance(items, Tracer)


# ---- axis ------------------------------------------------------------------------------------------------------------


class AxisArgument:
    """How a function reads `axis`: among the axes of its first operand, or of its output (`among_output`).

    NumPy's functions differ in what else they take, so the function itself is asked, once.
    """

    def __init__(self, function: Callable[..., Any], name: str, among_output: bool) -> None:
        self.function, self.name, self.among_output = function, name, among_output

    @cached_property
    def takes_lists(self) -> bool:
        """Are lists taken as axes, and booleans as integers?"""
        return self.among_output or self._takes(np.ones((1, 1)), [0])

    @cached_property
    def numbers_have_one(self) -> bool:
        """Does an array without axes count as one with an axis, as in `np.sum(1.5, axis=0)`?"""
        return not self.among_output and self._takes(np.ones(()), 0)

    def _takes(self, x: Any, axis: Any) -> bool:
        try:
            self.function(x, axis=axis)
        except (TypeError, ValueError):
            return False
        return True

    def normalised(self, axis: Any, ndim: int) -> Any:
        """The axis or axes of an array of rank `ndim`, counted from 0; None for all."""
        if isinstance(axis, (list, bool)) and not self.takes_lists:
            raise TypeError(
                f"np.{self.name}: axis={axis!r} is a {type(axis).__name__}; give an integer, or a tuple of integers"
            )
        if (
            isinstance(axis, (range, np.ndarray))
            and np.ndim(axis)
            and self.takes_lists
            and not self.among_output
        ):
            axis = tuple(axis)
        if isinstance(axis, (tuple, list)):
            return normalize_axis_tuple(axis, ndim + (len(axis) if self.among_output else 0))
        if ndim == 0 and axis in (0, -1) and self.numbers_have_one:
            return None
        index: Any = axis
        return normalize_axis_index(operator.index(index), ndim + self.among_output)
