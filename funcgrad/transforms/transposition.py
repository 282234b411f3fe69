"""Linear functions on a tape of their own: recorded once, pulled back often, refused if not linear."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from funcgrad.core.arrays.zeros import ones
from funcgrad.core.engine.cotangent import dense, fit
from funcgrad.core.engine.forward import PullTrace
from funcgrad.core.engine.kinds import Plan
from funcgrad.core.engine.primitive import Call, Primitive
from funcgrad.core.engine.reverse import ReverseTrace, ReverseTracer, plan_of
from funcgrad.core.engine.sweep import Node, sweep
from funcgrad.core.engine.trace import Tracer
from funcgrad.core.memory.guard import SavedCopies
from funcgrad.errors import FuncgradError, RuleError, user_line
from funcgrad.typed import override

# Linear between their jumps: their derivative is, so that they keep nothing.
_WITH_JUMPS = frozenset(["remainder", "fmod", "divmod", "modf", "unwrap"])
# They ask an array for its shape and dtype alone, so that their results may stand in a linear function.
_OF_THE_SHAPE = frozenset(["zeros_like", "ones_like", "empty_like", "_built"])


class LinearTracer(ReverseTracer):
    """A tracer of a linear trace. Its value is not meaningful, so Python may not ask for it."""

    __slots__ = ()
    _trace: LinearTrace

    @override
    def _question(self, what: str) -> Any:
        if self._trace.role is None:
            return super()._question(what)
        raise self._trace.refusal(what)


class LinearTrace(PullTrace):
    """A tape that takes linear operations only; `role` says, for the message, what has to be linear.

    Without a role it takes all. It may be given one for a while: for the rules of users, which are not known
    to be linear.
    """

    __slots__ = ("error", "role")
    transform = "transposition of a linear function"
    tracer_type = LinearTracer

    def __init__(self, role: str | None, error: type[FuncgradError] = RuleError) -> None:
        super().__init__(SavedCopies())  # the tape outlives the trace
        self.role, self.error = role, error

    @override
    def apply(self, primitive: Any, call: Call) -> Any:
        if self.role is not None and is_step_function(primitive) and self.lowered(call)[1]:
            raise self.refusal(primitive.title)
        return super().apply(primitive, call)

    @override
    def record(
        self, primitive: Primitive, call: Call, out: Any, slots: tuple[int, ...], parents: tuple[Node, ...]
    ) -> Any:
        if self.role is not None and keeps_traced(plan_of(primitive, slots, call), call):
            raise self.refusal(primitive.title)
        return super().record(primitive, call, out, slots, parents)

    @contextmanager
    def held_to(self, role: str) -> Iterator[None]:
        """Take linear operations only, within this context."""
        before, self.role = self.role, role
        try:
            yield
        finally:
            self.role = before

    def refusal(self, operation: str) -> FuncgradError:
        """The error for an operation that is not linear in what is traced here."""
        return self.error(
            f"{self.role} must be linear, but {operation} at {user_line()} is not linear in what it is given. Sums "
            "are, and products with fixed values; products of two varying values, comparisons and choices are not."
        )


def is_step_function(primitive: Any) -> bool:
    """Does it jump, as comparisons, rounding and remainders do?"""
    if not isinstance(primitive, Primitive):
        return False
    return primitive.name in _WITH_JUMPS or primitive.rule.is_constant and primitive.name not in _OF_THE_SHAPE


def keeps_traced(plan: Plan, call: Call) -> bool:
    """Does the derivative depend on what it is taken in? A plan says so by what it keeps."""
    if "out" in plan.keeps:
        return True
    return any(i in plan.slots for name in plan.keeps for i in call.slots(name))


class LinearTape:
    """A linear map from inputs to outputs (flat lists), recorded on `trace`; may be pulled back often."""

    def __init__(self, trace: ReverseTrace, inputs: Sequence[Any], outs: Sequence[Any]) -> None:
        self.inputs = [node_of(trace, x) for x in inputs]
        self.ends = [node_of(trace, dense(o)) for o in outs]

    def pull(self, cts: Sequence[Any]) -> list[Any]:
        """One cotangent for each input, from one for each output; None is zero."""
        leaves = sweep(
            [
                (n, fit(ct, n))
                for n, ct in zip(self.ends, cts, strict=True)
                if n is not None and ct is not None
            ]
        )
        return [None if n is None else leaves.get(n) for n in self.inputs]


def node_of(trace: ReverseTrace, x: Any) -> Node | None:
    """The place of `x` on the tape of this trace, if it has one."""
    return x._node if isinstance(x, Tracer) and x._trace is trace else None


def input_like(trace: ReverseTrace, x: Any) -> Any:
    """An input of a linear map, with the shape and dtype of `x`; None where there is no derivative.

    Its value is one, not zero: a rule that looks for zeros would take a zero for one by structure.
    """
    return trace.leaf(ones(x)) if x.dtype.kind in "fc" else None
