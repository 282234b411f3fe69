"""Traces that are watched: subclasses, made as they are needed, of all kinds of traces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import ref

from funcgrad.core.engine.forward import ForwardTrace, PullTrace
from funcgrad.core.engine.kinds import Plan
from funcgrad.core.engine.primitive import Call
from funcgrad.core.engine.reverse import PICK, ReverseTrace, ReverseTracer
from funcgrad.core.engine.trace import WATCHED, Trace, Tracer
from funcgrad.debug.numbers import Held, as_list, check_derivative, check_value, operands
from funcgrad.errors import user_line

_CLASSES: dict[type[Trace], type[Trace]] = {}


class Watch:
    """What is looked for in one context, on top of what is looked for around it."""

    def __init__(self, *, nans: bool = False, infs: bool = False, leaks: bool = False) -> None:
        outer = WATCHED.get()
        self.outer = outer if isinstance(outer, Watch) else None
        self.nans = nans or (self.outer is not None and self.outer.nans)
        self.infs = infs or (self.outer is not None and self.outer.infs)
        self.seen: list[tuple[ref[Tracer], str]] | None = [] if leaks else None
        self.pulling = False  # within a pull, only its results are looked at

    def __call__(self, cls: type[Trace]) -> type[Trace]:
        """The class that a new trace of class `cls` gets.

        On the tape of a pull values are arbitrary: no use to look.
        """
        if issubclass(cls, (PullTrace, Watching)):
            return cls
        if cls not in _CLASSES:
            mixin = next(mixin for kind, mixin in _MIXINS.items() if issubclass(cls, kind))
            tracer = WatchedTracer if cls.tracer_type is ReverseTracer else cls.tracer_type
            _CLASSES[cls] = type(
                f"Watching{cls.__name__}", (mixin, cls), {"__slots__": (), "tracer_type": tracer}
            )
        return _CLASSES[cls]

    def note(self, tracer: Tracer) -> None:
        """Remember that this tracer was made, in all contexts that look for leaks."""
        watch: Watch | None = self
        while watch is not None:
            if watch.seen is not None:
                watch.seen.append((ref(tracer), user_line()))
            watch = watch.outer

    def alive(self) -> list[tuple[Tracer, str]]:
        """The noted tracers that are still alive, and where they were made."""
        tracers = [(reference(), line) for reference, line in self.seen or ()]
        return [(tracer, line) for tracer, line in tracers if tracer is not None]


def current() -> Watch | None:
    """Who watches here?"""
    watch = WATCHED.get()
    return watch if isinstance(watch, Watch) else None


def looking_for_nans() -> Watch | None:
    """Who looks for NaN here, unless a pull is running?"""
    watch = current()
    return watch if watch is not None and watch.nans and not watch.pulling else None


class WatchedTracer(ReverseTracer):
    """A tracer of a watched reverse trace: its class is unknown to the lanes, so all goes the general way."""

    __slots__ = ()


class Watching:
    """Mixed into a trace that is watched."""

    __slots__ = ()

    def apply(self, primitive: Any, call: Call) -> Any:
        out = super().apply(primitive, call)  # type: ignore[misc]
        watch = looking_for_nans()
        if watch is not None:
            check_value(primitive.title, user_line(), call, out, infs=watch.infs)
        return out

    def wrap(self, value: Any, node: Any) -> Any:
        return noted(super().wrap(value, node))  # type: ignore[misc]


def noted(tracer: Any) -> Any:
    """The tracer, which is looked for when its transform has returned."""
    watch = current()
    if watch is not None:
        watch.note(tracer)
    return tracer


class WatchingForward(Watching):
    """Looks at tangents as well."""

    __slots__ = ()

    def apply(self, primitive: Any, call: Call) -> Any:
        out = super().apply(primitive, call)
        watch = looking_for_nans()
        if watch is not None:
            before = Held.by([x._node for x in call.operands if is_mine(self, x)])
            what = f"a tangent was pushed through {primitive.title} at {user_line()} (operands: {operands(call)})"
            check_derivative(
                what, before, [o._node for o in as_list(out) if is_mine(self, o)], infs=watch.infs
            )
        return out


def is_mine(trace: Any, x: Any) -> bool:
    """Is `x` a tracer of this trace?"""
    return isinstance(x, Tracer) and x._trace is trace


class WatchingReverse(Watching):
    """Gives nodes a plan that knows the line that made them, and looks at what is pulled."""

    __slots__ = ()

    def leaf(self, value: Any) -> Any:
        return noted(super().leaf(value))  # type: ignore[misc]

    def record(self, primitive: Any, call: Call, out: Any, slots: Any, parents: Any) -> Any:
        recorded = super().record(primitive, call, out, slots, parents)  # type: ignore[misc]
        for plan in watched_plans(recorded):
            plan.name = f"{primitive.title}, called at {user_line()}"
            plan.operands = f" (operands: {operands(call)})"
        return recorded

    def record_outputs(self, plan: Plan, saved: Any, parents: Any, outs: Sequence[Any]) -> list[Any]:
        recorded = super().record_outputs(plan, saved, parents, outs)  # type: ignore[misc]
        watched_plans(recorded)
        return recorded


# The first that fits is mixed in.
_MIXINS: dict[type, type] = {ReverseTrace: WatchingReverse, ForwardTrace: WatchingForward, Trace: Watching}


class WatchedPlan:
    """A node's plan, with the line that made the node, and a word on its operands. It looks at what it pulls."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.name, self.operands = f"{plan.name}, called at {user_line()}", ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plan, name)

    def pull(self, ct: Any, saved: Any) -> Any:
        """Pull, and look at the results."""
        return self._looked_at(self.plan.pull, ct, saved)

    def pull_masked(self, ct: Any, saved: Any) -> Any:
        """The same for a masked cotangent."""
        return self._looked_at(self.plan.pull_masked, ct, saved)

    def _looked_at(self, pull: Any, ct: Any, saved: Any) -> Any:
        watch = current()
        if watch is None or not watch.nans:
            return pull(ct, saved)
        before = Held.by(ct)
        outer, watch.pulling = watch.pulling, True
        try:
            parts = pull(ct, saved)
        finally:
            watch.pulling = outer
        check_derivative(
            f"a cotangent was pulled back through {self.name}{self.operands}", before, parts, infs=watch.infs
        )
        return parts


def watched_plans(recorded: Any) -> list[WatchedPlan]:
    """The plan of the new node of `recorded` (one tracer, or several that share it), as one that looks."""
    plans = []
    for node in [x._node for x in as_list(recorded) if isinstance(x, ReverseTracer) and x._node is not None]:
        origin: Any = node.parents[0] if node.plan is PICK else node
        if not isinstance(origin.plan, WatchedPlan):
            origin.plan = WatchedPlan(origin.plan)
        plans.append(origin.plan)
    return plans
