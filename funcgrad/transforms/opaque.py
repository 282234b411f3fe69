"""Calls that are one step for the engine, with their maker's derivative: custom rules, checkpoints, ...

    PullCall    its derivative runs backwards (fwd, bwd); forwards it is bwd transposed
    PushCall    its derivative runs forwards (jvp); backwards it is jvp transposed
    batched()   either of them for a whole batch of vmap

A call is made anew each time a function is called, so it may remember what belongs to that call. Operands and
outputs are flat. What the functions behind it close over is not among the operands: where they compute with a
tracer of the trace that is just taking the call, their output is itself such a tracer, and its own node joins
the parents of the call's node.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.core.engine.batch import BatchTrace, BatchTracer
from funcgrad.core.engine.cotangent import dense
from funcgrad.core.engine.forward import ForwardTrace
from funcgrad.core.engine.kinds import Plan, total
from funcgrad.core.engine.primitive import Call, Opaque, Primitive
from funcgrad.core.engine.reverse import ReverseTrace
from funcgrad.core.engine.sweep import Node
from funcgrad.core.engine.trace import Trace, Tracer, bind, concrete, lower, snapshot
from funcgrad.errors import EscapedTracerError, RuleError
from funcgrad.transforms.transposition import LinearTape, LinearTrace, input_like, node_of
from funcgrad.typed import override

Outputs = tuple[list[Any], Any]


class OpaquePlan(Plan):
    """The plan of an opaque call's node; its saved data are what `fwd` left for `bwd`.

    `captured` are the positions of outputs that depend on the trace by more than the operands.
    """

    __slots__ = ("call", "captured")

    def __init__(self, call: OpaqueCall, slots: tuple[int, ...], captured: Sequence[int]) -> None:
        self.call, self.slots, self.captured, self.keeps = call, slots, captured, ()

    @property
    @override
    def name(self) -> str:
        return self.call.name

    @override
    def pull(self, cts: list[Any], saved: Any) -> list[Any]:
        cts = [None if ct is None else dense(ct) for ct in cts]
        try:
            with linear_rules(self.name, [] if self.call.is_linear else cts):
                parts = self.call.bwd(saved, cts, self.slots)
        except EscapedTracerError as error:
            raise EscapedTracerError(
                f"{self.name}: its derivative rule closes over a tracer, whose transform had returned when the rule "
                f"was run. Make that value an argument of the function, so that the rule is given it. ({error})"
            ) from error
        return [*parts, *(cts[k] for k in self.captured)]


def linear_rules(name: str, cts: Sequence[Any]) -> AbstractContextManager[Any]:
    """Hold a backward rule to be linear in those cotangents for which it is being transposed."""
    traces = {ct._trace for ct in cts if isinstance(ct, Tracer) and isinstance(ct._trace, LinearTrace)}
    if not traces:
        return _AS_IT_IS
    stack = ExitStack()
    for trace in traces:
        stack.enter_context(trace.held_to(f"{name}, linearized: its backward rule"))
    return stack


_AS_IT_IS = nullcontext()


class OpaqueCall(Opaque):
    """What PullCall and PushCall share: how they stand on each trace, by way of run, fwd, bwd and jvp."""

    kind = "opaque"
    is_linear = True  # is `bwd` known to be linear in the cotangents?
    follows = True  # do derivatives go through what the function closes over?

    def __init__(self, name: str) -> None:
        super().__init__(type(self).run, name)

    def fwd(self, operands: Sequence[Any], slots: Sequence[int], trace: Trace) -> Outputs:
        """The outputs, and what `bwd` will need (nothing of `trace` may remain in it)."""
        raise NotImplementedError

    def bwd(self, residuals: Any, cts: Sequence[Any], slots: Sequence[int]) -> Sequence[Any]:
        """One cotangent for each operand in `slots`, from one for each output (None is zero)."""
        raise NotImplementedError

    def jvp(self, operands: Sequence[Any], tangents: dict[int, Any], trace: Trace) -> Outputs:
        """The outputs, and the tangent of each (None is zero)."""
        raise NotImplementedError

    def batched(self, trace: BatchTrace, flags: Sequence[bool]) -> OpaqueCall:
        """This call for a whole batch; `flags` tell the operands that are batched."""
        raise NotImplementedError

    def portable(self, residuals: Any) -> Any:
        """`residuals` as a pytree that hides no tracer: they are about to be carried out of a vmap."""
        return residuals

    @override
    def on_reverse(
        self, trace: ReverseTrace, call: Call, slots: tuple[int, ...], parents: tuple[Node, ...]
    ) -> list[Any]:
        operands = [
            trace.guard.keep(x) if type(x) is np.ndarray and i not in slots else x
            for i, x in enumerate(call.operands)
        ]
        outs, residuals = self.fwd(operands, slots, trace) if slots else (bind(self, call), None)
        captured = [k for k, o in enumerate(outs) if node_of(trace, o) is not None]
        if not slots:
            return [o if k in captured else trace.constant(lower(trace, o)) for k, o in enumerate(outs)]
        captured = captured if self.follows else []
        plan = OpaquePlan(self, slots, captured)
        parents += tuple(outs[k]._node for k in captured)
        return trace.record_outputs(plan, residuals, parents, [lower(trace, o) for o in outs])

    @override
    def on_forward(self, trace: ForwardTrace, call: Call, tangents: dict[int, Any]) -> list[Any]:
        if tangents:
            outs, ts = self.jvp(call.operands, {i: dense(t) for i, t in tangents.items()}, trace)
        else:
            outs = bind(self, call)
            ts = [None] * len(outs)
        pairs = []
        for o, t in zip(outs, ts, strict=True):
            value = lower(trace, o)
            is_captured = isinstance(o, Tracer) and o._trace is trace and (self.follows or not tangents)
            terms = [lower(trace, t), o._node if is_captured else None]
            pairs.append(trace.paired(value, total([t for t in terms if t is not None], value)))
        return pairs

    @override
    def on_batch(self, trace: BatchTrace, call: Call, batched: Sequence[bool]) -> list[Any]:
        return [trace.wrap(o, None) for o in bind(self.batched(trace, batched), call)]


def flat_call(operands: Sequence[Any]) -> Call:
    """A call of something opaque."""
    return Call(operands, (("operands", len(operands)),), {})


class PullCall(OpaqueCall):
    """A call with fwd and bwd."""

    @override
    def jvp(self, operands: Sequence[Any], tangents: dict[int, Any], trace: Trace) -> Outputs:
        """By transposition: `bwd` is linear in the cotangents, so pulling tangents through it pushes them."""
        slots = tuple(tangents)
        outs, residuals = self.fwd(operands, slots, trace)
        with LinearTrace(f"{self.name} in forward mode: its backward rule") as backward:
            cts = [input_like(backward, o) for o in outs]
            parts = self.bwd(residuals, cts, slots)
        return outs, LinearTape(backward, cts, parts).pull([tangents[i] for i in slots])

    @override
    def batched(self, trace: BatchTrace, flags: Sequence[bool]) -> OpaqueCall:
        return BatchedPull(self, trace, flags)


class PushCall(OpaqueCall):
    """A call with jvp."""

    @override
    def fwd(self, operands: Sequence[Any], slots: Sequence[int], trace: Trace) -> Outputs:
        """By transposition: `jvp` is linear in the tangents."""
        with LinearTrace(f"{self.name} in reverse mode: its rule, in the tangents,") as forward:
            tangents = {i: input_like(forward, operands[i]) for i in slots}
            outs, ts = self.jvp(operands, tangents, trace)
        if any(node_of(forward, o) is not None for o in outs):
            raise RuleError(
                f"{self.name}: the output that its rule returns depends on the tangents; it must not"
            )
        if any(t is not None and node_of(forward, t) is None and np.any(concrete(t) != 0) for t in ts):
            raise RuleError(
                f"{self.name}: the tangent that its rule returns is a constant, not linear in the tangents"
            )
        return outs, LinearTape(forward, list(tangents.values()), ts)

    @override
    def bwd(self, residuals: LinearTape, cts: Sequence[Any], slots: Sequence[int]) -> Sequence[Any]:
        return residuals.pull(cts)

    @override
    def batched(self, trace: BatchTrace, flags: Sequence[bool]) -> OpaqueCall:
        return BatchedPush(self, trace, flags)


class StandIn(BatchTrace):
    """A batch trace in the place of an earlier one: what is run within may have closed over tracers of that."""

    __slots__ = ("family",)

    def __init__(self, of: BatchTrace) -> None:
        super().__init__(of.size)
        # without itself, which would be a cycle
        self.family: tuple[BatchTrace, ...] = (of, *getattr(of, "family", ()))

    @override
    def apply(self, primitive: Primitive | Opaque, call: Call) -> Any:
        mine = [
            self.wrap(x._value, None) if self.holds(x) and x._trace is not self else x for x in call.operands
        ]
        return super().apply(primitive, call.with_operands(mine))

    def holds(self, x: Any) -> bool:
        """Is `x` batched, here or in the trace that this one stands for?"""
        return isinstance(x, BatchTracer) and any(x._trace is trace for trace in (self, *self.family))

    def given(self, operands: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
        """Values as tracers, where they are batched."""
        return [
            self.wrap(x, None) if is_batched and x is not None else x
            for x, is_batched in zip(operands, flags, strict=True)
        ]

    def taken(self, outs: Sequence[Any]) -> list[Any]:
        """Results as values with the batch at axis 0."""
        return [
            o if o is None else o._value if self.holds(o) else np.broadcast_to(o, (self.size, *np.shape(o)))
            for o in outs
        ]

    def summed(self, part: Any) -> Any:
        """The cotangent of something that all examples share."""
        return None if part is None else part._value.sum(axis=0) if self.holds(part) else part * self.size


class _Batched(OpaqueCall):
    """A call for a whole batch: the same functions, run on batch tracers."""

    def __init__(self, inner: OpaqueCall, trace: BatchTrace, flags: Sequence[bool]) -> None:
        super().__init__(inner.name)
        self.inner, self.trace, self.flags = inner, trace, tuple(flags)
        self.is_linear, self.follows = inner.is_linear, inner.follows

    @override
    def run(self, call: Call) -> list[Any]:
        with StandIn(self.trace) as batch:
            return batch.taken(self.inner.run(call.with_operands(batch.given(call.operands, self.flags))))

    @override
    def jvp(self, operands: Sequence[Any], tangents: dict[int, Any], trace: Trace) -> Outputs:
        with StandIn(self.trace) as batch:
            moved = batch.given(list(tangents.values()), [self.flags[i] for i in tangents])
            outs, ts = self.inner.jvp(
                batch.given(operands, self.flags), dict(zip(tangents, moved, strict=True)), trace
            )
            return batch.taken(outs), batch.taken(ts)


class BatchedPush(_Batched, PushCall):
    """A PushCall for a whole batch."""


class BatchedPull(_Batched, PullCall):
    """A PullCall for a whole batch. Residuals leave the batch trace as values, and come back as tracers."""

    inner: PullCall

    @override
    def fwd(self, operands: Sequence[Any], slots: Sequence[int], trace: Trace) -> Outputs:
        with StandIn(self.trace) as batch:
            outs, residuals = self.inner.fwd(batch.given(operands, self.flags), slots, trace)
            leaves, structure = tree.flatten(self.inner.portable(residuals))
            flags = [batch.holds(x) for x in leaves]
            leaves = [x._value if is_batched else x for x, is_batched in zip(leaves, flags, strict=True)]
            return batch.taken(outs), (leaves, flags, structure)

    @override
    def bwd(self, residuals: Any, cts: Sequence[Any], slots: Sequence[int]) -> Sequence[Any]:
        leaves, flags, structure = residuals
        with StandIn(self.trace) as batch:
            saved = tree.unflatten(structure, batch.given(leaves, flags))
            parts = self.inner.bwd(saved, batch.given(cts, [True] * len(cts)), slots)
            shared = [not self.flags[i] for i in slots]
            return [batch.summed(p) if s else batch.taken([p])[0] for p, s in zip(parts, shared, strict=True)]


def stripped(trace: Trace, x: Any) -> Any:
    """`x` (a pytree) with the wrapping of `trace` taken off, also where it lies beneath that of a vmap."""
    return tree.map(lambda leaf: stripped_leaf(trace, leaf), x)


def stripped_leaf(trace: Trace, x: Any) -> Any:
    """The same of a leaf."""
    if not isinstance(x, Tracer):
        return x
    if x._trace is trace:
        return snapshot(x._value) if isinstance(x._value, Tracer) else x._value
    return x._trace.wrap(stripped_leaf(trace, x._value), None) if isinstance(x, BatchTracer) else snapshot(x)
