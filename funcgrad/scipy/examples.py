"""Code that asks for values can't run on a whole batch: it runs on its examples, one by one.

`by_examples(f, args, kwargs)` is `f(*args, **kwargs)`. Where `f` asks for a value that differs between the
examples of a vmap, its call becomes one step for the engine, whose derivative is that of the code, and which
a batch runs for each example.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from types import MethodType
from typing import Any

import numpy as np

from funcgrad.core.arrays.spec import spec
from funcgrad.core.engine.batch import BatchTrace, is_batched, stacked
from funcgrad.core.engine.primitive import Call
from funcgrad.core.engine.trace import Trace, Tracer, bind
from funcgrad.core.memory.blank import BlankTracer
from funcgrad.core.memory.blank import plain as plain_of
from funcgrad.errors import FuncgradError
from funcgrad.scipy.rerun import substitute
from funcgrad.transforms.opaque import OpaqueCall, Outputs, flat_call

Flat = Callable[..., list[Any]]


# Is code of SciPy's running already? Its inner calls may write into what outer ones have made, so only a
# whole call is one step.
INSIDE: ContextVar[bool] = ContextVar("inside", default=False)


def by_examples(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    name: str,
    plain: Callable[..., Any] | None = None,
) -> Any:
    """f(*args, **kwargs), example by example if no batch works; `plain` serves where no tracer is left."""
    if INSIDE.get():
        return f(*args, **kwargs)
    token = INSIDE.set(True)
    try:
        return f(*args, **kwargs)
    except (FuncgradError, TypeError):
        inputs, _ = apart((args, kwargs))
        if not any(map(is_batched, inputs)) or _writes(args, kwargs):
            raise
        run = _made if name.endswith("__init__") else _run
        return run(f, args, kwargs, name, plain or f)
    finally:
        INSIDE.reset(token)


def _writes(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Is there an array that the call may write into?"""
    return any(isinstance(x, BlankTracer) for x in (*args, *kwargs.values())) or any(
        isinstance(kwargs.get(name), (np.ndarray, Tracer)) for name in ("out", "output")
    )


def _run(
    f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], name: str, plain: Callable[..., Any]
) -> Any:
    inputs, rebuilt = apart((args, kwargs))

    def run(leaves: list[Any]) -> Any:
        chosen = f if any(map(_is_tracer, leaves)) else plain
        given, named = rebuilt(leaves)
        return chosen(*given, **named)

    return _as_step(name, run, inputs)


def _made(
    f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], name: str, plain: Callable[..., Any]
) -> None:
    """An object made example by example: its attributes are those of all examples."""
    inputs, rebuilt = apart((args[1:], kwargs))

    def run(leaves: list[Any]) -> Any:
        chosen = f if any(map(_is_tracer, leaves)) else plain
        given, named = rebuilt(leaves)
        made = object.__new__(type(args[0]))
        chosen(made, *given, **named)
        return attributes(made)

    _set(args[0], _as_step(name, run, inputs))


def _as_step(name: str, run: Callable[[list[Any]], Any], inputs: list[Any]) -> Any:
    """The result of `run`, with all examples' numbers; Python numbers stay if they are all the same."""
    rebuild: list[Any] = []
    numbers: list[list[Any]] = []

    def flat(*leaves: Any) -> list[Any]:
        outs, made = _apart(run(list(leaves)), _is_number)
        outs = [plain_of(o) for o in outs]
        rebuild[:] = [made]
        numbers.append([o if isinstance(o, (int, float, complex)) else None for o in outs])
        return [o if hasattr(o, "dtype") else np.asarray(o)[()] for o in outs]

    outs = bind(CodeCall(name, flat), flat_call(inputs))
    same = [
        column[0] if column[0] is not None and len(set(column)) == 1 else None
        for column in zip(*numbers, strict=True)
    ]
    return rebuild[0]([o if number is None else number for o, number in zip(outs, same, strict=True)])


def attributes(x: Any) -> dict[str, Any]:
    """The attributes of an object, those in slots too."""
    slots = [name for c in type(x).__mro__ for name in _names(c.__dict__.get("__slots__", ()))]
    return {**getattr(x, "__dict__", {}), **{name: getattr(x, name) for name in slots if hasattr(x, name)}}


def _names(slots: Any) -> tuple[str, ...]:
    return tuple(
        name for name in ((slots,) if isinstance(slots, str) else slots) if not name.startswith("__")
    )


def _set(x: Any, named: dict[str, Any]) -> None:
    for name, value in named.items():
        if isinstance(value, MethodType) and type(value.__self__) is type(x):  # one of its own
            value = MethodType(value.__func__, x)
        try:
            object.__setattr__(x, name, value)
        except AttributeError:  # a property stands before it, as in tuples with named parts
            vars(x)[name] = value


def _is_tracer(x: Any) -> bool:
    return isinstance(x, Tracer) and not isinstance(x, BlankTracer)


def _is_number(x: Any) -> bool:
    return (
        isinstance(x, (int, float, complex))
        or isinstance(x, (Tracer, np.ndarray, np.generic))
        and spec(x).dtype.kind in "fcbiu"
    )


def apart(x: Any) -> tuple[list[Any], Callable[[list[Any]], Any]]:
    """The tracers in `x`, and the function that puts others in their places."""
    return _apart(x, _is_tracer)


def _apart(x: Any, is_leaf: Callable[[Any], bool]) -> tuple[list[Any], Callable[[list[Any]], Any]]:
    if is_leaf(x):
        return [x], lambda leaves: leaves.pop(0)
    if isinstance(x, BlankTracer):
        return [], lambda leaves: plain_of(x)
    # one of SciPy's results, which may have more than its items
    if isinstance(x, tuple) and getattr(x, "__dict__", None):
        leaves, build = _apart((list(x), dict(vars(x))), is_leaf)
        return leaves, lambda leaves: _bunch(x, build(leaves))
    if isinstance(x, (list, tuple)):
        parts = [_apart(v, is_leaf) for v in x]
        make = getattr(x, "_make", None) or (
            lambda items: tuple.__new__(type(x), items) if isinstance(x, tuple) else type(x)(items)
        )
        return [v for leaves, _ in parts for v in leaves], lambda leaves: make(
            [build(leaves) for _, build in parts]
        )
    if isinstance(x, dict):
        parts = [_apart(v, is_leaf) for v in x.values()]
        make = lambda values: _like(x, zip(list(x), values))
        return [v for leaves, _ in parts for v in leaves], lambda leaves: make(
            [build(leaves) for _, build in parts]
        )
    if holds_arrays(x) and attributes(x):
        leaves, build = _apart(attributes(x), is_leaf)
        return leaves, lambda leaves: _with(x, build(leaves))
    return [], lambda leaves: x


def holds_arrays(x: Any) -> bool:
    """Is `x` an object of SciPy's, or one of ours that may be made of tracers?"""
    if isinstance(x, type) or hasattr(x, "__code__"):
        return False
    return type(x).__module__.partition(".")[0] == "scipy" or hasattr(type(x), "__carries_tracer__")


def _bunch(x: Any, parts: tuple[list[Any], dict[str, Any]]) -> Any:
    items, attributes = parts
    made = tuple.__new__(type(x), items)
    vars(made).update(attributes)
    return made


def _like(x: dict[Any, Any], items: Any) -> dict[Any, Any]:
    made = copy.copy(x)
    made.update(items)
    return made


def _with(x: Any, named: dict[str, Any]) -> Any:
    return with_attributes(substitute("", type(x)), x, named)


def with_attributes(c: type, x: Any, named: dict[str, Any]) -> Any:
    """An object of class `c` like `x`, with these attributes."""
    try:
        made = object.__new__(c)
    except TypeError:  # it is made by compiled code
        made = copy.copy(x)
    _set(made, named)
    return made


class CodeCall(OpaqueCall):
    """A function of flat arrays as one step, differentiated as its code; a batch runs it per example."""

    def __init__(self, name: str, function: Flat) -> None:
        super().__init__(name)
        self.flat = function

    def run(self, call: Call) -> list[Any]:
        """The function itself."""
        return self.flat(*call.operands)

    def fwd(self, operands: Sequence[Any], slots: Sequence[int], trace: Trace) -> Outputs:
        """The outputs, and the operands for the sweep."""
        return bind(self, flat_call(operands)), list(operands)

    def bwd(self, residuals: Any, cts: Sequence[Any], slots: Sequence[int]) -> Sequence[Any]:
        """The pull of the code itself, as a step in its turn."""
        places = [k for k, ct in enumerate(cts) if ct is not None]

        def pulled(*values: Any) -> list[Any]:
            from funcgrad.transforms.derivatives import vjp

            chosen = self._chosen(values[: len(residuals)], slots, places)
            return list(vjp(chosen, *(values[i] for i in slots))[1](tuple(values[len(residuals) :])))

        return bind(CodeCall(self.name, pulled), flat_call([*residuals, *(cts[k] for k in places)]))

    def jvp(self, operands: Sequence[Any], tangents: dict[int, Any], trace: Trace) -> Outputs:
        """The push of the code itself, as a step in its turn."""
        outs = bind(self, flat_call(operands))
        places = [k for k, out in enumerate(outs) if spec(out).dtype.kind in "fc"]
        slots, count = tuple(tangents), len(operands)

        def pushed(*values: Any) -> list[Any]:
            from funcgrad.transforms.derivatives import jvp

            chosen = self._chosen(values[:count], slots, places)
            return list(jvp(chosen, tuple(values[i] for i in slots), tuple(values[count:]))[1])

        found = bind(CodeCall(self.name, pushed), flat_call([*operands, *tangents.values()]))
        ts: list[Any] = [None] * len(outs)
        for k, t in zip(places, found, strict=True):
            ts[k] = t
        return outs, ts

    def _chosen(
        self, operands: Sequence[Any], slots: Sequence[int], places: Sequence[int]
    ) -> Callable[..., Any]:
        """The function of the operands at `slots` alone, with the outputs at `places` alone."""

        def call(*varied: Any) -> Any:
            values = list(operands)
            for i, v in zip(slots, varied, strict=True):
                values[i] = v
            outs = self.flat(*values)  # the code itself: bound, this step would ask for its own pull again
            return tuple(outs[k] for k in places)

        return call

    def on_batch(self, trace: BatchTrace, call: Call, batched: Sequence[bool]) -> list[Any]:
        rows = []
        for k in range(trace.size):
            operands = [
                x[k] if is_batched else x for x, is_batched in zip(call.operands, batched, strict=True)
            ]
            rows.append(bind(self, call.with_operands(operands)))
        return [trace.wrap(stacked(list(parts)), None) for parts in zip(*rows, strict=True)]
