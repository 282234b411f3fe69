"""Who handles this call? Traces, tracers and `bind`.

A `Trace` is one running transform. A `Tracer` stands for an array inside one trace: its `_value` is a plain
array or a tracer of an outer trace. `bind` gives each call to the innermost trace among the operands; that
trace takes the wrapping off its own tracers only, and binds again, so that the outer traces see the call
next. A level is the next number of one counter: a trace that starts later is an inner one. There is no stack
and no global state, so threads, asyncio and closures can't be confused.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from itertools import count
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np

from funcgrad.core.arrays.methods import ArrayMethods
from funcgrad.core.arrays.resting import LIVE, RESTING, wake_all
from funcgrad.core.libraries import BEFOREHAND, load_beforehand
from funcgrad.core.messages.conversions import OBJECT, escaped
from funcgrad.core.messages.tracebacks import shorten

if TYPE_CHECKING:
    from funcgrad.core.engine.primitive import Call, Opaque, Primitive
    from funcgrad.core.memory.places import Place

_levels = count(1)
# For an observer: in its context each new trace becomes one of a subclass; elsewhere this is free.
WATCHED: ContextVar[Callable[[type[Trace]], type[Trace]] | None] = ContextVar("watched", default=None)
# The transform that runs the code of this context, if one does. No call is handed out by it: it only tells
# makers of new arrays whether tracers may come to be written into them (blank.py).
RUNNING: ContextVar[Trace | None] = ContextVar("running", default=None)


class _Counted:
    """The form in which integers and booleans that come of traced values are handed out; None: as they are."""

    form: Callable[[Any], Any] | None = None


_COUNTED = _Counted()


def hand_out_counted(form: Callable[[Any], Any] | None) -> None:
    """From here on hand out integers and booleans in this form, in all threads."""
    _COUNTED.form = form


class Trace:
    """One running transform. `apply` answers the only question: what does this call mean for my tracers?"""

    __slots__ = ("__weakref__", "has_roots", "has_series", "is_open", "level", "numbers", "refused", "token")
    transform = "a transform"
    tracer_type: type[Tracer]
    # Has it let its tracers go? They are then as good as their values, and may become plain data.
    has_let_go = False

    def __init__(self) -> None:
        self.level: int = next(_levels)
        self.has_series = False  # has a pandas Series stood beside a tracer, while it was the running one?
        self.has_roots = False  # does a tracer of forward mode remember what it is a root of?
        self.is_open = True  # until the transform has returned
        # Nodes are numbered downwards, so that a heap hands out the newest first.
        self.numbers: Iterator[int] = count(0, -1)
        watched: Any = WATCHED.get()
        if watched is not None:
            self.__class__ = watched(type(self))

    def close(self) -> None:
        """From now on using a tracer is an error, which `next(trace.numbers)` raises: free until then."""
        self.is_open = False
        self.numbers = _closed(self.transform)

    def __enter__(self) -> Self:
        self.token = RUNNING.set(self)
        if BEFOREHAND:
            load_beforehand()
        LIVE.append(None)
        if RESTING:
            wake_all()
        return self

    def __exit__(self, kind: object, error: BaseException | None, where: object) -> None:
        LIVE.pop()
        RUNNING.reset(self.token)  # not set to what it was: NumPy's own look into an empty context is faster
        self.close()
        if error is None:
            self.refused = None  # an error holds the frames that hold this trace
            return
        failures: Any = import_module("funcgrad.core.messages.failures")  # which most programs never need
        explanation: BaseException = failures.explained(error, getattr(self, "refused", None))
        self.refused = None
        shorten(error)
        if explanation is not error:
            is_cause = explanation in (error.__cause__, error.__context__)
            try:
                raise explanation from (None if is_cause else error)
            finally:  # without cycles: the traceback holds this frame, and what it hides need not be named
                if is_cause:
                    explanation.__context__ = None
                del error, explanation

    def apply(self, primitive: Primitive | Opaque, call: Call) -> Any:
        """Run `call`, some of whose operands are tracers of this trace."""
        raise NotImplementedError

    def write(self, x: Any, place: Place, v: Any, /) -> None:
        """Item assignment: put `v` at `place` of `x`, a tracer of this trace."""
        raise NotImplementedError

    def wrap(self, value: Any, node: Any) -> Any:
        """A tracer of this trace around `value`."""
        tracer = self.tracer_type()
        tracer._trace = self
        tracer._value = value
        tracer._node = node
        tracer._alias = None
        return tracer

    def as_input(self, x: Any) -> Any:
        """What a transform inside this trace differentiates in, given the tracer `x`."""
        return snapshot(x)

    def handed_out(self, x: Any) -> Any:
        """What a user gets of the tracer `x`, as a result of a transform inside this trace."""
        return snapshot(x)

    def constant(self, value: Any) -> Any:
        """`value` as a tracer with no derivative: still an array of this trace, which can be assigned into.

        What can't hold a derivative (booleans, integers) stays as it is: masks and indices are concrete.
        """
        if isinstance(value, (tuple, list)):
            return rebuilt(value, [self.constant(v) for v in value])
        if getattr(value, "dtype", OBJECT).kind in "fc":
            return self.wrap(value, None)
        return Trace.counted(value)

    @staticmethod
    def counted(value: Any) -> Any:
        """Integers or booleans that came of traced values, as they are handed out."""
        return value if _COUNTED.form is None else _COUNTED.form(value)


class _Closed:
    """Takes the place of a closed trace's counter."""

    def __init__(self, transform: str) -> None:
        self.transform = transform

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> NoReturn:
        code = sys._getframe(1).f_code  # a lane, which has the name of its operation
        raise escaped(
            code.co_name if code.co_filename.startswith("<funcgrad") else "an operation", self.transform
        )


_closed = cache(_Closed)  # one for each transform


class Tracer(ArrayMethods):
    """Stands for an array inside one trace. NumPy functions, operators and methods work on it (methods.py).

    `_trace` is the transform that it belongs to. `_node` is what that remembers of the value: the tape's node
    (reverse), the tangent (forward), nothing (batch); None means that the value has no derivative. `_alias`
    tells views and their root (see mutation.py). None of the slots has a public name: a library that asks any
    array for its `value` must not find the plain data.
    """

    __slots__ = ("__weakref__", "_alias", "_node", "_root", "_trace", "_value")
    _is_batch = False  # does the value hold many examples (vmap)?
    # is it a value of a program that jit records? Then its own questions are asked of it, and noted
    _is_recorded = False
    _trace: Trace
    _value: Any
    _node: Any
    _alias: Any


def rebuilt(like: Any, parts: list[Any]) -> Any:
    """`parts` in a container of the type of `like`: the NamedTuples that NumPy returns are kept."""
    return like._make(parts) if hasattr(like, "_make") else type(like)(parts)


def innermost(operands: Any) -> Trace | None:
    """The trace that started last among those of `operands`."""
    trace, level = None, -2  # the blank trace (blank.py) has the level -1
    for x in operands:
        if isinstance(x, Tracer) and x._trace.level > level:
            trace, level = x._trace, x._trace.level
    return trace


def bind(primitive: Primitive | Opaque, call: Call) -> Any:
    """Hand `call` to the innermost trace among its operands, or just run it."""
    operands = call.operands
    trace = (
        operands[0]._trace if len(operands) == 1 and isinstance(operands[0], Tracer) else innermost(operands)
    )
    if trace is None:
        return primitive.run(call)
    if not trace.is_open:
        raise escaped(primitive.name, trace.transform)
    return trace.apply(primitive, call)


def snapshot(x: Tracer) -> Tracer:
    """The content of `x` now, in a tracer that no user can assign into: traces keep only these."""
    # asked first: a stale view looks anew, and may have moved to another trace
    value, node = x._value, x._node
    return x._trace.wrap(value, node)


def lower(trace: Trace, x: Any) -> Any:
    """`x` with the wrapping of `trace` taken off; a tracer of an outer trace is kept as it is now."""
    if isinstance(x, Tracer):
        return x._value if x._trace is trace else snapshot(x)
    return x


def is_foreign(x: Any) -> bool:
    """Is this an array of another library (CuPy, Dask, ...) with NumPy's protocols? It stays what it is."""
    return hasattr(x, "__array_function__") and not isinstance(x, (np.ndarray, Tracer))


def concrete(x: Any) -> Any:
    """The plain value beneath all traces: for questions whose answer no derivative depends on.

    Beneath those of jit there is no plain value: what it records is asked as a tracer.
    """
    while isinstance(x, Tracer) and not x._is_recorded:
        x = x._value
    return x


def memory_of(x: Any) -> Any:
    """The plain value beneath all traces, for questions about shape, dtype and layout alone."""
    while isinstance(x, Tracer):
        x = x._value
    return x
