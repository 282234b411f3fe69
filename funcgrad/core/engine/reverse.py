"""Reverse mode: nodes, the trace that records them, and the sweep that pulls a cotangent back.

Nodes hold data, not closures, and hang off their outputs: there is no list of them anywhere, so a value that nobody needs
takes its part of the tape with it. The sweep visits nodes newest first and lets go of each as it passes.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Any

import numpy as np

from funcgrad.core.engine import kinds
from funcgrad.core.engine.cotangent import LARGE, PLAIN_PARTS, Masked, Part, Read, Scatter, dense, fit, ndarray, settled
from funcgrad.core.engine.kinds import Plan
from funcgrad.core.engine.primitive import Call, Opaque, Primitive, Spec
from funcgrad.core.engine.trace import OBJECT, Trace, Tracer, bind, lower, of_numbers, rebuilt
from funcgrad.core.memory.guard import Guard

try:
    from _heapq import heappop, heappush  # what heapq imports, in a tenth of the time
except ImportError:
    from heapq import heappop, heappush

_new = object.__new__


class Node:
    """One recorded call: its plan, what the plan saved, the nodes of its traced operands, and its output's shape and dtype.

    `origin` is the node of its one traced operand, or a tuple of several: nodes are many, and a tuple for one costs memory.
    A leaf has no plan. `order` falls with time. `spec` is the very Spec of a parent where the output has its shape and dtype:
    the sweep then knows, without a look, that nothing was broadcast. An output of a call with several is a node of its own,
    with the plan PICK, whose parent is the call's node (whose spec has the number of outputs for a shape).
    """

    __slots__ = ("__weakref__", "order", "origin", "plan", "saved", "spec")
    order: int
    plan: Any  # a Plan, or what serves as one; None for a leaf
    saved: Any
    origin: Any  # Node, or tuple[Node, ...]
    spec: Spec

    @property
    def parents(self) -> tuple[Node, ...]:
        """The nodes of the traced operands."""
        return self.origin if type(self.origin) is tuple else (self.origin,)

    @parents.setter
    def parents(self, parents: tuple[Node, ...]) -> None:
        self.origin = parents[0] if len(parents) == 1 else parents

    @property
    def shape(self) -> Any:
        """The shape of the output (of a call with several: their number)."""
        return self.spec.shape

    @property
    def dtype(self) -> Any:
        """The dtype of the output."""
        return self.spec.dtype


def make_node(order: int, plan: Any, saved: Any, parents: tuple[Node, ...], shape: Any, dtype: Any) -> Node:
    """A new node. (The fast lanes write these lines out.)"""
    node = Node()
    node.order, node.plan, node.saved = order, plan, saved
    node.spec = spec = _new(Spec)
    spec.shape, spec.dtype = shape, dtype
    node.origin = parents[0] if len(parents) == 1 else parents
    return node


class ReverseTracer(Tracer):
    """A tracer of a reverse trace: `_node` is its place on the tape, None if no derivative flows into it."""

    __slots__ = ()
    _trace: ReverseTrace
    _node: Node | None


class ReverseTrace(Trace):
    """Records each call on its tracers as a node. `guard` keeps the plain arrays that nodes have saved from being changed."""

    __slots__ = ("guard",)
    transform = "reverse-mode transform (grad, vjp, jacrev, ...)"
    tracer_type = ReverseTracer

    def __init__(self, guard: Guard | None = None) -> None:
        Trace.__init__(self)  # sooner than super(), and so below: the smallest functions are differentiated, too
        self.guard = guard or Guard()

    def close(self) -> None:
        Trace.close(self)
        if self.guard.locked:
            self.guard.release()

    def leaf(self, value: Any) -> ReverseTracer:
        """A tracer to differentiate in."""
        node = Node()
        node.order, node.origin = next(self.order), ()
        node.plan = node.saved = None
        node.spec = spec = _new(Spec)
        spec.shape, spec.dtype = value.shape, value.dtype
        tracer: Any = self.tracer_type()
        tracer._trace, tracer._value = self, value  # four in one line would be packed into a tuple first
        tracer._node, tracer._alias = node, None
        return tracer

    def apply(self, primitive: Primitive | Opaque, call: Call) -> Any:
        if isinstance(primitive, Opaque):
            return primitive.on_reverse(self, *self.lowered(call))
        lowered, slots, parents = self.lowered(call, primitive.rule.ignores)
        out = bind(primitive, lowered)
        if not slots or primitive.rule.is_constant:
            return self.constant(out)
        return self.record(primitive, lowered, out, slots, parents)

    def lowered(self, call: Call, ignores: Container[int] = ()) -> tuple[Call, tuple[int, ...], tuple[Node, ...]]:
        """`call` without this trace's wrapping, and where its operands have nodes: their positions (`slots`), and the nodes."""
        operands = list(call.operands)
        if len(operands) == 1 and not ignores:  # for less, what follows would say
            (x,) = operands
            if type(x) is ReverseTracer and x._trace is self and x._node is not None:
                return call.with_operands((x._value,)), (0,), (x._node,)
        slots, parents = [], []
        for i, x in enumerate(operands):
            if isinstance(x, ReverseTracer) and x._trace is self and x._node is not None and i not in ignores:
                slots.append(i)
                parents.append(x._node)
            operands[i] = lower(self, x)
        return call.with_operands(operands), tuple(slots), tuple(parents)

    def record(self, primitive: Primitive, call: Call, out: Any, slots: tuple[int, ...], parents: tuple[Node, ...]) -> Any:
        """The tracer (or tracers) of `out`, whose node remembers `call`."""
        if isinstance(out, (tuple, list)):
            return self._record_many(primitive, call, out, slots, parents)
        if getattr(out, "dtype", OBJECT).kind not in "fc":
            return self.constant(of_numbers(out, primitive.title))
        plan = plan_of(primitive, slots, call)
        node = make_node(next(self.order), plan, plan.save(self._kept(plan, call), out), parents, out.shape, out.dtype)
        return self.wrap(out, node)

    def _kept(self, plan: Plan, call: Call) -> Call:
        """`call` with the plain arrays that the plan will save guarded against later changes."""
        if not plan.constants:
            return call
        operands = list(call.operands)
        for i in plan.constants:
            if type(operands[i]) is ndarray:
                operands[i] = self.guard.keep(operands[i])
        return call.with_operands(operands)

    def _record_many(self, primitive: Primitive, call: Call, out: Any, slots: Any, parents: Any) -> Any:
        plan = plan_of(primitive, slots, call)
        return rebuilt(out, self.record_outputs(plan, plan.save(self._kept(plan, call), out), parents, out))

    def record_outputs(self, plan: Plan, saved: Any, parents: tuple[Node, ...], outs: Sequence[Any]) -> list[Any]:
        """The tracers of several outputs of one call: each picks its part of the call's node."""
        node = make_node(next(self.order), plan, saved, parents, len(outs), None)
        tracers = []
        for position, value in enumerate(outs):
            if value.dtype.kind in "fc":
                pick = make_node(next(self.order), PICK, position, (node,), value.shape, value.dtype)
                tracers.append(self.wrap(value, pick))
            else:
                tracers.append(self.constant(value))
        return tracers


def plan_of(primitive: Primitive, slots: tuple[int, ...], call: Call) -> Plan:
    """The plan of `primitive` for these slots, made once."""
    key = (slots, call.layout) if primitive.lists or len(call.layout) > 1 else slots
    plan = primitive.plans.get(key)
    if plan is None:
        plan = primitive.plans[key] = primitive.rule.plan(primitive, slots, call)
        plan.layout = call.layout
    return plan


class _Pick(Plan):
    """The plan of a node that stands for one output of a call with several."""

    def __init__(self) -> None:
        self.slots, self.keeps, self.masks = (0,), (), True
        self.pull = self.pull_masked = lambda ct, position: (Part(position, ct, None),)

    @property
    def name(self) -> str:
        return "one of several outputs"


PICK = _Pick()


def sweep(  # noqa: PLR0915 (the loop is written out: a call for each step would cost as much as the step)
    seeds: Iterable[tuple[Node, Any]], *, release: bool = False, freed: Any = None, visitor: Any = None
) -> dict[Node, Any]:
    """Pull cotangents back from nodes, newest node first; the cotangent of each leaf that they reach.

    `release` lets go of what a node has saved as soon as it is passed: for a tape that is swept only once. With `freed`, the
    tape stays, and this takes the place of what was saved. A `visitor` may look in: `enter(node, ct)` gives the cotangent to go
    on with (None: no further) and the saved values to use; `leave(node, parts)` gives the parts to hand to the parents.
    """
    cts: dict[Node, Any] = {}  # the cotangents of the nodes in the heap
    heap: list[tuple[int, Node]] = []
    leaves: dict[Node, Any] = {}
    plain = visitor is None  # is nothing to be done but to pull? So it is as long as all parts are plain
    parents, parts = [*zip(*seeds)] or ((), ())  # as if an imaginary last node had pulled them
    node = ct = spec = None
    while True:
        # The newest parent that is new to the sweep becomes the next `node`, without a detour through the heap.
        for parent, part in zip(parents, parts):
            if type(part) is ndarray or type(part) in PLAIN_PARTS:
                to = parent.spec
                if to is not spec and part.shape != to.shape or part.dtype is not to.dtype:
                    part = fit(part, to)
            else:
                plain = False
                part = _fitted(cts, heap, leaves, parent, part, spec)
                if part is None:
                    continue
            if parent.plan is None:
                leaves[parent] = merged(leaves[parent], part) if parent in leaves else part
            elif parent is node:
                ct = merged(ct, part)
            elif parent in cts:
                cts[parent] = merged(cts[parent], part)
            elif node is None:
                node, ct = parent, part
            elif parent.order < node.order:
                _push(cts, heap, node, ct)
                node, ct = parent, part
            else:
                _push(cts, heap, parent, part)
        parts = part = parent = None  # a name left over would look like a second holder, or keep a node
        if heap and (node is None or heap[0][0] < node.order):
            if node is not None:
                _push(cts, heap, node, ct)
            node = heappop(heap)[1]
            ct = cts.pop(node)
        if node is None:
            return leaves if plain else {leaf: dense(ct) for leaf, ct in leaves.items()}
        while True:
            try:
                if plain or visitor is None and (type(ct) is ndarray or type(ct) in PLAIN_PARTS):
                    pull = node.plan.pull  # on a line of its own: the interpreter finds a slot faster than a method
                    parts = pull(ct, node.saved)
                else:
                    parts = _pulled(node, ct, visitor)
            except Exception as error:
                error.add_note(f"This happened while a cotangent was pulled back through {node.plan.name}.")
                raise
            parents, spec = node.origin, node.spec
            if release and parts is not STOPPED:
                if freed is None:
                    node.saved, node.origin = None, ()
                elif node.plan.keeps:
                    node.saved = freed
            if type(parents) is tuple:
                break
            part, to = parts[0], parents.spec
            if (
                parents.plan is None
                or heap
                and heap[0][0] <= parents.order
                or type(part) is not ndarray
                and type(part) not in PLAIN_PARTS
                or part.dtype is not to.dtype
                or to is not spec
                and part.shape != to.shape
            ):
                parents = (parents,)
                break
            node, ct = parents, part  # a chain: what stands above does the same
            parts = part = None
        node = None


STOPPED = (None,)  # the parts of a node at which a visitor stops


def _pulled(node: Node, ct: Any, visitor: Any) -> Sequence[Any]:
    """The parts for the parents of `node`, whatever its cotangent is, and whoever looks in."""
    plan, saved = node.plan, node.saved
    if type(ct) not in PLAIN_PARTS:
        ct = settled(ct)
    if visitor is not None:
        ct, saved = visitor.enter(node, ct)
        if ct is None:
            return STOPPED
    parts = (plan.pull_masked if type(ct) is Masked else plan.pull)(ct, saved)
    return parts if visitor is None else visitor.leave(node, parts)


def _fitted(
    cts: dict[Node, Any], heap: list[tuple[int, Node]], leaves: dict[Node, Any], parent: Node, part: Any, spec: Spec | None
) -> Any:
    """`part`, of a node like `spec`, with the shape and dtype of its parent; None if there is none, or it is in its place."""
    kind = type(part)
    if kind is Read:
        held = (leaves if parent.plan is None else cts).get(parent)
        if type(held) is Scatter:  # x[i] in a loop
            held.add(part)
            return None
        if type(held) is Masked and held.owned and held.add(part):  # x[i] of an array that a loop fills
            return None
        part.spec = parent.spec
        return Scatter(part) if held is None and parent.plan is None else part
    if part is None:
        return None
    if kind is Part:
        _gather(cts, heap, parent, part)
        return None
    if kind is Masked and part.owned and parent.plan is not None:
        return part  # of a write into this very array
    if kind is Masked and (parent.plan is None or not parent.plan.masks):
        part = part.value  # nobody will ask where its zeros come from
    to = parent.spec
    if kind is float or kind is int or to is not spec and part.shape != to.shape or part.dtype is not to.dtype:
        return fit(part, to)
    return part


def _push(cts: dict[Node, Any], heap: list[tuple[int, Node]], node: Node, ct: Any) -> None:
    cts[node] = ct
    heappush(heap, (node.order, node))


def _gather(cts: dict[Node, Any], heap: list[tuple[int, Node]], parent: Node, part: Part) -> None:
    """Put the cotangent of one output into the list that is the cotangent of a node with several."""
    if parent not in cts:
        _push(cts, heap, parent, [None] * parent.shape)
    held = cts[parent][part.position]
    cts[parent][part.position] = part.ct if held is None else merged(held, part.ct)


# The reference count, seen in `merged`, of a cotangent that only the sweep holds; measured in owned.py.
OWNED = [0]


def merged(held: Any, part: Any) -> Any:
    """The sum of two contributions to one cotangent: in place, if the first is large and nobody else holds it."""
    if type(held) is ndarray and type(part) is ndarray:
        if held.size >= LARGE and kinds.getrefcount(held) <= OWNED[0] and held.base is None:
            held += part
            return held
        return held + part
    if type(part) is Read or type(held) is Read:
        return _merged_reads(held, part)
    if type(held) is Scatter or type(part) is Scatter:
        held, part = settled(held), settled(part)
    if type(held) is Masked and type(part) is Masked:
        return Masked(held.value + part.value, np.logical_or(held.live, part.live))
    return dense(held) + dense(part)


def _merged_reads(held: Any, part: Any) -> Any:
    if type(held) is Read:
        held = Scatter(held)
    if type(held) is Scatter and type(part) is Read:
        held.add(part)
        return held
    if type(held) is Masked and held.owned and type(part) is Read and held.add(part):
        return held
    return merged(held, Scatter(part) if type(part) is Read else part)
