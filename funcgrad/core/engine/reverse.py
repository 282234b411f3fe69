"""Reverse mode: the trace that records each call as a node of the tape, with what its rule saves."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any, cast

import numpy as np

from funcgrad.core.arrays.spec import Spec
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.engine.cotangent import Part
from funcgrad.core.engine.kinds import Plan
from funcgrad.core.engine.primitive import Call, Opaque, Primitive
from funcgrad.core.engine.roots import (
    LEADING,
    ROOTS,
    SIGNS,
    STEPS,
    are_same,
    halves_in,
    is_copy,
    is_multiple,
    is_root,
    note_plan,
    resaved,
    squared,
)
from funcgrad.core.engine.sweep import Node, make_node
from funcgrad.core.engine.trace import Trace, Tracer, bind, lower, rebuilt
from funcgrad.core.memory.guard import SavedArrays
from funcgrad.core.memory.plain import ndarray
from funcgrad.core.messages.conversions import OBJECT, of_numbers
from funcgrad.typed import override

_new = object.__new__


class ReverseTracer(Tracer):
    """A tracer of a reverse trace: `_node` is its place on the tape, None if no derivative flows into it."""

    __slots__ = ()
    _trace: ReverseTrace
    _node: Node | None


class ReverseTrace(Trace):
    """Records each call on its tracers as a node. `guard` keeps the plain arrays that nodes have saved."""

    __slots__ = ("guard",)
    transform = "reverse-mode transform (grad, vjp, jacrev, ...)"
    tracer_type = ReverseTracer

    def __init__(self, guard: SavedArrays | None = None) -> None:
        # sooner than super(), and so below: the smallest functions are differentiated, too
        Trace.__init__(self)
        self.guard = guard or SavedArrays()

    @override
    def close(self) -> None:
        Trace.close(self)
        if self.guard.locked:
            self.guard.release()

    def leaf(self, value: Any) -> ReverseTracer:
        """A tracer to differentiate in."""
        node = Node()
        node.number, node.origin = next(self.numbers), ()
        node.plan = node.saved = None  # type: ignore[assignment]
        node.spec = spec = _new(Spec)
        spec.shape, spec.dtype = value.shape, value.dtype
        tracer: Any = self.tracer_type()
        tracer._trace, tracer._value = self, value  # four in one line would be packed into a tuple first
        tracer._node, tracer._alias = node, None
        return tracer

    @override
    def apply(self, primitive: Primitive | Opaque, call: Call) -> Any:
        if isinstance(primitive, Opaque):
            return primitive.on_reverse(self, *self.lowered(call))
        lowered, slots, parents = self.lowered(call, primitive.rule.ignores)
        out = bind(primitive, lowered)
        if not slots or primitive.rule.is_constant:
            return self.constant(out)
        return self.record(primitive, lowered, out, slots, parents)

    def lowered(
        self, call: Call, ignores: Container[int] = ()
    ) -> tuple[Call, tuple[int, ...], tuple[Node, ...]]:
        """`call` without this trace's wrapping; positions of operands with nodes (`slots`); these nodes."""
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

    def record(
        self, primitive: Primitive, call: Call, out: Any, slots: tuple[int, ...], parents: tuple[Node, ...]
    ) -> Any:
        """The tracer (or tracers) of `out`, whose node remembers `call`."""
        if isinstance(out, (tuple, list)):
            return self._record_many(primitive, call, out, slots, parents)
        if (
            parents[0].plan in LEADING
            and is_root(parents[0])
            and (tracer := self.of_root(primitive, call, out, parents)) is not None
        ):
            return tracer
        if getattr(out, "dtype", OBJECT).kind not in "fc":
            return self.constant(of_numbers(out, primitive.title))
        plan = plan_of(primitive, slots, call)
        node = make_node(
            next(self.numbers), plan, plan.save(self._kept(plan, call), out), parents, out.shape, out.dtype
        )
        return self.wrap(out, node)

    def of_root(self, primitive: Primitive, call: Call, out: Any, parents: tuple[Node, ...]) -> Any:
        """The tracer of `out`, if it is an even power of a root or a product of two that are alike; else None."""
        a, b = parents[0], parents[-1]
        if len(parents) == 1:
            n = halves_in(primitive.function, call.operands)
            return power_of_root(self, a, call.operands[0], n, out) if n else None
        of_square = primitive.rule.of_square
        if (
            of_square is None
            or len(parents) > 2
            or a.dtype.kind != "f"
            or a.shape != b.shape
            or not is_root(b)
        ):
            return None
        if not are_same(_base(a), _base(b)):
            return None
        x, y = call.operands
        node = _product_node(self, a, x, b, y)
        square = None if node is None else of_square(_wrapped(self, x * y, node), **call.params)
        return None if square is None else _wrapped(self, out, square._node)

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

    def record_outputs(
        self, plan: Plan, saved: Any, parents: tuple[Node, ...], outs: Sequence[Any]
    ) -> list[Any]:
        """The tracers of several outputs of one call: each picks its part of the call's node."""
        node = make_node(next(self.numbers), plan, saved, parents, len(outs), None)
        tracers = []
        for position, value in enumerate(outs):
            if value.dtype.kind in "fc":
                pick = make_node(next(self.numbers), PICK, position, (node,), value.shape, value.dtype)
                tracers.append(self.wrap(value, pick))
            else:
                tracers.append(self.constant(value))
        return tracers


class OpenReverseTrace(ReverseTrace):
    """A reverse trace whose tracers stay usable when its transform has returned, for those who ask for that.

    What is computed with them then is recorded, though nobody pulls through it any more.
    """

    __slots__ = ()

    @override
    def close(self) -> None:
        if self.guard.locked:
            self.guard.release()


def plan_of(primitive: Primitive, slots: tuple[int, ...], call: Call) -> Plan:
    """The plan of `primitive` for these slots, made once."""
    key = (slots, call.layout) if primitive.lists or len(call.layout) > 1 else slots
    plan = primitive.plans.get(key)
    if plan is None:
        plan = primitive.plans[key] = primitive.rule.plan(primitive, slots, call)
        plan.layout = call.layout
        note_plan(plan, primitive)
    return plan


def square_of_root(trace: ReverseTrace, node: Node, out: Any) -> Any:
    """The tracer of `out`, the square of the root at `node`: a function of the root's operands."""
    return _wrapped(trace, out, _square_node(trace, node, out))


def _wrapped(trace: ReverseTrace, out: Any, node: Node) -> Any:
    """The tracer of `out`, whose shape and dtype may be others than the operand's."""
    node.spec = spec = _new(Spec)
    spec.shape, spec.dtype = out.shape, out.dtype
    return trace.wrap(out, node)


def _square_node(trace: ReverseTrace, node: Node, out: Any = None) -> Node:
    """The node of the square (with the value `out`, if that is known) of what `node` stands for."""
    plan: Any = node.plan
    if plan in ROOTS:
        if (nested := _square_of_nested(trace, node)) is not None:
            return nested
        square = plan_of(ROOTS[plan], plan.slots, Call((), plan.layout, {}))
        saved, parents = resaved(plan, node.saved, square, out), node.parents
    elif plan.primitive.function in SIGNS:
        return _square_node(trace, node.parents[0], out)
    else:
        square, parents = plan, tuple(_square_of_parent(trace, node, i) for i in range(len(node.parents)))
        saved = tuple(map(squared, node.saved)) if STEPS[plan] else node.saved
    return make_node(next(trace.numbers), square, saved, parents, node.shape, node.dtype)


def _square_of_nested(trace: ReverseTrace, node: Node) -> Node | None:
    """The node of the square of a root whose operand is a root, too: norm(abs(x)) ** 2 sums the squares of abs(x)."""
    plan, parent = cast("Plan", node.plan), node.parents[0]
    of_square = ROOTS[plan].rule.of_square
    if of_square is None or parent.plan not in LEADING or parent.dtype.kind != "f" or not is_root(parent):
        return None
    params = dict(node.saved if type(node.saved) is dict else zip(plan.keeps, node.saved))
    params.pop("out", None)
    x = params.pop("x")
    return of_square(_wrapped(trace, x * x, _square_node(trace, parent)), **params)._node


def _multiplied(node: Node) -> int | None:
    """Which operand of a node is the root that it is a multiple of? None if it is no multiple."""
    plan: Any = node.plan
    if plan not in STEPS or not is_multiple(plan.primitive):
        return None
    roots = [i for i, parent in enumerate(node.parents) if is_root(parent)]
    return roots[0] if len(roots) == 1 else None


def _uncopied(node: Node) -> Node:
    """The node that a node is a copy of; itself, if it is none."""
    while node.plan in STEPS and is_copy(cast("Plan", node.plan).primitive, node.shape):
        node = node.parents[0]
    return node


def _base(node: Node) -> Node:
    """The root that a node is a multiple of; itself, if it is none."""
    node = _uncopied(node)
    i = _multiplied(node)
    return node if i is None else _base(node.parents[i])


def _product_node(trace: ReverseTrace, a: Node, x: Any, b: Node, y: Any) -> Node | None:
    """The node of x * y, whose nodes are multiples of the same root; None if a value is needed that nobody kept.

    (c * r) * r is c * r²: what makes the multiple takes r² in the place of r.
    """
    a, b = _uncopied(a), _uncopied(b)
    if are_same(a, b):
        return _square_node(trace, a)
    for node, other, factor in ((a, b, y), (b, a, x)):
        i = _multiplied(node)
        if i is None or node.parents[i].shape != node.shape:
            continue
        plan: Any = node.plan
        saved, name = dict(zip(plan.keeps, node.saved)), plan.primitive.operand_names[plan.slots[i]]
        inner = saved.get(name)
        if inner is None and "out" in saved:  # of a quotient
            inner = saved["out"] * saved["y"]
        product = _product_node(trace, node.parents[i], inner, other, factor)
        grows = saved.keys() & {name, "out"}
        if product is None or grows and factor is None:
            continue
        saved = tuple(kept * factor if key in grows else kept for key, kept in saved.items())
        parents = tuple(product if k == i else parent for k, parent in enumerate(node.parents))
        return make_node(next(trace.numbers), plan, saved, parents, node.shape, node.dtype)
    return None


def _square_of_parent(trace: ReverseTrace, node: Node, i: int) -> Node:
    """The node of the square of an operand of a step: of a root, or of a factor, which the step has saved."""
    parent, plan = node.parents[i], cast("Plan", node.plan)
    if is_root(parent):
        return _square_node(trace, parent)
    factor = node.saved[plan.keeps.index(plan.primitive.operand_names[plan.slots[i]])]
    square = plan_of(cast("Primitive", CATALOGUE[np.square]), (0,), Call((), (("x", None),), {}))
    return make_node(next(trace.numbers), square, (factor,), (parent,), parent.shape, parent.dtype)


def power_of_root(trace: ReverseTrace, node: Node, root: Any, n: int, out: Any) -> Any:
    """The tracer of `out`, the square of the root at `node` to the power n."""
    if n == 1:
        return square_of_root(trace, node, out)
    square: Any = square_of_root(trace, node, root * root)
    power: Any = CATALOGUE[np.power]
    call = Call((square._value, n), tuple((name, None) for name in power.operand_names), {})
    return trace.record(power, call, out, (0,), (square._node,))


class _Pick(Plan):
    """The plan of a node that stands for one output of a call with several."""

    def __init__(self) -> None:
        self.slots, self.keeps, self.masks = (0,), (), True
        self.pull = self.pull_masked = lambda ct, position: (Part(position, ct, None),)

    @property
    @override
    def name(self) -> str:
        return "one of several outputs"


PICK = _Pick()
