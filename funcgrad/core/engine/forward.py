"""Forward mode: each call pushes the tangents of its operands to a tangent of its output, at once."""

from __future__ import annotations

from typing import Any, cast

from funcgrad.core.engine.cotangent import Masked, dense, fit
from funcgrad.core.engine.kinds import fit_tangent
from funcgrad.core.engine.primitive import Call, Opaque, Primitive
from funcgrad.core.engine.reverse import ReverseTrace, ReverseTracer, plan_of
from funcgrad.core.engine.roots import (
    JOINS,
    MOVES,
    SIGNS,
    Root,
    are_same_roots,
    halves_in,
    is_copy,
    is_multiple,
    is_step,
    memo_of,
    remembered,
    settled,
    squared,
)
from funcgrad.core.engine.sweep import Node, sweep
from funcgrad.core.engine.trace import Trace, Tracer, bind, lower, rebuilt
from funcgrad.core.memory.plain import loud, quiet
from funcgrad.core.memory.reads import buffer_for
from funcgrad.core.messages.conversions import OBJECT, of_numbers
from funcgrad.typed import override


class ForwardTracer(Tracer):
    """A tracer of a forward trace: `_node` is its tangent, None if that is zero."""

    __slots__ = ()
    _trace: ForwardTrace


class ForwardTrace(Trace):
    """Carries a tangent beside each value."""

    __slots__ = ()
    transform = "forward-mode transform (jvp, jacfwd, ...)"
    tracer_type = ForwardTracer

    @override
    def apply(self, primitive: Primitive | Opaque, call: Call) -> Any:
        operands = list(call.operands)
        tangents: dict[int, Any] = {}
        for i, x in enumerate(operands):
            if isinstance(x, ForwardTracer) and x._trace is self and x._node is not None:
                tangents[i] = x._node
            operands[i] = lower(self, x)
        lowered = call.with_operands(operands)
        if isinstance(primitive, Opaque):
            return primitive.on_forward(self, lowered, tangents)
        out = bind(primitive, lowered)
        if not tangents or primitive.rule.is_constant:
            return self.constant(out)
        if not isinstance(out, (tuple, list)) and getattr(out, "dtype", OBJECT) is OBJECT:
            of_numbers(out, primitive.title)  # refuses it
        memos = (
            [memo_of(x) if i in tangents else None for i, x in enumerate(call.operands)]
            if self.has_roots
            else []
        )
        if primitive.rule.squared is not None:
            return self.root_of(primitive, lowered, out, tangents, memos)
        if not any(memos):
            return self.paired(out, pushed(primitive, lowered, out, tangents))
        if (t := self._pushed_of_roots(primitive, lowered, out, memos)) is not None:
            return self.paired(out, t)
        if is_step(primitive, [i for i, memo in enumerate(memos) if memo], tangents):
            return self.root_of(primitive, lowered, out, tangents, memos)
        return self.paired(out, pushed(primitive, lowered, out, tangents))

    def _pushed_of_roots(self, primitive: Primitive, call: Call, out: Any, memos: list[Any]) -> Any:
        """The tangent of `out`, an even power of a root or a product of two that are alike; None of any other."""
        if not memos[0]:
            return None
        if n := halves_in(primitive.function, call.operands):
            root = settled(memos[0])
            return None if root is None else self._pushed_power(root, primitive, n, out)
        of_square = primitive.rule.of_square
        if of_square is None or sum(map(bool, memos)) != 2 or call.operands[0].dtype.kind != "f":
            return None
        roots = [settled(memo) for memo in memos if memo]
        if None in roots:
            return None
        a, b = cast("list[Root]", roots)
        t = _pushed_product(a, b)
        square = None if t is None else of_square(self.wrap(a.out * b.out, t), **call.params)
        return None if square is None else square._node

    def _pushed_power(self, root: Root, primitive: Primitive, n: int, out: Any) -> Any:
        """The tangent of `out`, the square of a root to the power n: a function of the root's operands."""
        square = out if n == 1 else root.out * root.out
        t: Any = _pushed_square(root, square)
        if n == 1 or t is None:
            return t
        layout = tuple((name, None) for name in primitive.operand_names)
        return pushed(primitive, Call((square, n), layout, {}), out, {0: t})

    def root_of(
        self, primitive: Primitive, call: Call, out: Any, tangents: dict[int, Any], memos: list[Any]
    ) -> Any:
        """The output of a root or a step to one, which remembers what it is of, for its square."""
        token = quiet()
        try:
            t = pushed(primitive, call, out, tangents)
        finally:
            loud(token)
        tracer = self.paired(out, t)
        if type(tracer) is ForwardTracer:
            self.has_roots = True
            ts = tuple(map(tangents.get, range(len(call.operands))))
            tracer._root = remembered(primitive, call, out, ts, memos)
        return tracer

    def paired(self, out: Any, t: Any) -> Any:
        """`out` as a tracer (or tracers) with the tangent `t`, fitted to it."""
        if isinstance(out, (tuple, list)):
            return rebuilt(out, [self.paired(o, t_o) for o, t_o in zip(out, t, strict=True)])
        if t is None or out.dtype.kind not in "fc":
            return self.constant(out)
        if type(t) is not Masked:
            t = fit_tangent(dense(t), out)
        return self.wrap(out, t)


class OpenForwardTrace(ForwardTrace):
    """A forward trace whose tracers stay usable when its transform has returned, for those who ask for that."""

    __slots__ = ()

    @override
    def close(self) -> None:
        pass


def pushed(primitive: Primitive, call: Call, out: Any, tangents: dict[int, Any]) -> Any:
    """The tangent of `out`. Where NumPy is told to raise, the element that fails may be masked out later."""
    push = primitive.rule.push if primitive.rule.pushes else transposed_pull
    try:
        return push(primitive, call, out, tangents)
    except FloatingPointError:
        token = quiet()
        try:
            return push(primitive, call, out, tangents)
        finally:
            loud(token)


def _pushed_square(root: Root, square: Any) -> Any:
    """The tangent of `square`, that of a root; of a step, it is of the squares of the operands."""
    primitive, call, tangents = root.primitive, root.call, root.tangents
    if primitive.rule.squared is not None and root.roots:
        of_square: Any = primitive.rule.squared.rule.of_square  # which is linear
        t = _pushed_square(root.roots[0], squared(call.operands[0]))
        return None if t is None else of_square(dense(t), **call.params)
    if primitive.function in SIGNS:
        return _pushed_square(root.roots[0], square)
    if primitive.function in MOVES:
        return pushed(primitive, call, square, {0: _pushed_square(root.roots[0], squared(call.operands[0]))})
    if root.roots:
        joins = primitive.function in JOINS
        operands = [squared(x) if i in root.roots or not joins else x for i, x in enumerate(call.operands)]
        tangents = {
            i: _pushed_square(root.roots[i], operands[i])
            if i in root.roots
            else 2 * call.operands[i] * dense(t)
            for i, t in tangents.items()
        }
        return pushed(primitive, call.with_operands(operands), square, tangents)
    return pushed(cast("Primitive", primitive.rule.squared), call, square, tangents)


def _uncopied(root: Root) -> Root:
    """The root that another is a copy of; itself, if it is none."""
    while root.roots and is_copy(root.primitive, root.out.shape):
        root = root.roots[0]
    return root


def _pushed_product(a: Root, b: Root) -> Any:
    """The tangent of the product of the same roots, or multiples of the same; None of any others."""
    if a.out.shape != b.out.shape:
        return None
    a, b = _uncopied(a), _uncopied(b)
    if a is b or are_same_roots(a, b):
        return _pushed_square(a, a.out * b.out)
    for root, other in ((a, b), (b, a)):
        if not root.roots or not is_multiple(root.primitive):
            continue
        if len(root.roots) != 1:
            return None
        ((i, inner),) = root.roots.items()
        t = _pushed_product(inner, other)
        if t is None:
            return None
        operands = [inner.out * other.out if k == i else x for k, x in enumerate(root.call.operands)]
        call = root.call.with_operands(operands)
        return pushed(root.primitive, call, root.out * other.out, {**root.tangents, i: t})
    return None


class PullTrace(ReverseTrace):
    """Records a pull, to transpose it: the values on it are arbitrary, the linear map counts."""

    __slots__ = ()


def transposed_pull(primitive: Primitive, call: Call, out: Any, tangents: dict[int, Any]) -> Any:
    """The tangent of `out` from a rule that knows only how to pull.

    `pull` is linear in the cotangent, so its transpose is push: record it on a reverse trace at any cotangent
    (here zeros), and pull the tangents back through that. Costs two or three times a push of its own; serves
    every rule, at any order.
    """
    tangents = {i: dense(t) for i, t in tangents.items()}
    slots = tuple(tangents)
    plan = plan_of(primitive, slots, call)
    saved = plan.save(call, out)
    many = isinstance(out, (tuple, list))
    outs = list(out) if many else [out]
    with PullTrace() as trace:
        cts: list[Any] = [
            trace.leaf(buffer_for(o, o.shape, o.dtype)) if o.dtype.kind in "fc" else None for o in outs
        ]
        parts = plan.pull(cts if many else cts[0], saved)
        seeds = []
        for i, part in zip(slots, parts, strict=True):
            part = dense(part)
            if isinstance(part, ReverseTracer) and part._trace is trace and part._node is not None:
                seeds.append((part._node, fit(tangents[i], part)))
    leaves: dict[Node, Any] = sweep(seeds)
    pushed = [None if ct is None else leaves.get(ct._node) for ct in cts]
    return pushed if many else pushed[0]
