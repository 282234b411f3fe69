"""Tracers with nodes of one's own: `trace` runs a function, and a Node remembers each call."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.compat.autograd.primitives import (
    Node,
    getval,
    isbox,
    notrace_primitive,
    primitive,
    register_notrace,
)
from funcgrad.compat.autograd.util import subval, subvals, toposort
from funcgrad.core.engine.primitive import Call, Opaque, Primitive
from funcgrad.core.engine.trace import Trace, Tracer, bind, lower, rebuilt

__all__ = [
    "Box",
    "Node",
    "getval",
    "isbox",
    "new_box",
    "notrace_primitive",
    "primitive",
    "register_notrace",
    "subval",
    "subvals",
    "toposort",
    "trace",
]

Box = Tracer


class NodeTracer(Tracer):
    """A tracer whose node is one of the caller's."""

    __slots__ = ()


class NodeTrace(Trace):
    """Hands each call on its tracers to the class of their nodes."""

    __slots__ = ()
    transform = "autograd.tracer.trace"
    tracer_type = NodeTracer

    def apply(self, primitive: Primitive | Opaque, call: Call) -> Any:
        mine = [i for i, x in enumerate(call.operands) if isinstance(x, NodeTracer) and x._trace is self]
        nodes = [call.operands[i]._node for i in mine]
        values = tuple(lower(self, x) for x in call.operands)
        kept = [(i, node) for i, node in zip(mine, nodes, strict=True) if node is not None]
        out = bind(primitive, call.with_operands(values))
        if not kept or isinstance(primitive, Primitive) and primitive.rule.is_constant:
            return self.constant(out)

        def again(*operands: Any) -> Any:
            return bind(primitive, call.with_operands(operands))

        again.__name__ = primitive.name
        positions, parents = zip(*kept, strict=True)
        node = type(parents[0])(out, again, values, {}, positions, parents)
        if isinstance(out, (tuple, list)):
            return rebuilt(out, [self._part(node, out, k) for k in range(len(out))])
        return self.wrap(out, node)

    def _part(self, node: Any, out: Any, k: int) -> Any:
        def part(whole: Any) -> Any:
            return whole[k]

        return self.wrap(out[k], type(node)(out[k], part, (out,), {}, (0,), (node,)))


def new_box(value: Any, trace: Trace, node: Any) -> Any:
    """A tracer of `trace` around a value; TypeError if it is no number or array."""
    if not isinstance(value, (bool, int, float, complex, Tracer)) and not hasattr(value, "dtype"):
        raise TypeError(f"Can't differentiate w.r.t. type {type(value)}")
    return trace.wrap(value if hasattr(value, "dtype") else np.asarray(value)[()], node)


def trace(start_node: Node, fun: Callable[[Any], Any], x: Any) -> tuple[Any, Any]:
    """Run `fun` on `x`, whose node is `start_node`: the output's value and node (None if independent of x).

    Each call on the way makes a node of the class of its parents: `Class(value, fun, args, kwargs,
    parent_argnums, parents)`. Of a tree, each leaf is a part of the start.
    """
    with NodeTrace() as running:
        leaves, structure = tree.flatten(x)
        if structure is tree.LEAF:
            boxes = [new_box(x, running, start_node)]
        else:
            boxes = [_leaf(running, start_node, x, k) for k in range(len(leaves))]
        end = fun(tree.unflatten(structure, boxes))
        ends, out_structure = tree.flatten(end)
        values = [lower(running, e) for e in ends]
        nodes = [e._node if isinstance(e, NodeTracer) and e._trace is running else None for e in ends]
    value = tree.unflatten(out_structure, values)
    if all(node is None for node in nodes):
        warnings.warn("Output seems independent of input.", stacklevel=3)
        return value, None
    if out_structure is tree.LEAF:
        return value, nodes[0]
    positions, parents = zip(*[(k, node) for k, node in enumerate(nodes) if node is not None], strict=True)

    def together(*parts: Any) -> Any:
        return tree.unflatten(out_structure, parts)

    return value, type(start_node)(value, together, tuple(values), {}, positions, parents)


def _leaf(running: NodeTrace, start_node: Any, x: Any, k: int) -> Any:
    def leaf(whole: Any) -> Any:
        return tree.leaves(whole)[k]

    return new_box(leaf(x), running, type(start_node)(leaf(x), leaf, (x,), {}, (0,), (start_node,)))
