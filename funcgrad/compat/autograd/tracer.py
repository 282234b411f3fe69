"""Tracers with nodes of one's own: `trace` runs a function, and a Node remembers each call."""

from __future__ import annotations

import functools
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from funcgrad import tree
from funcgrad.core.engine.primitive import Call, Opaque, Primitive
from funcgrad.core.engine.trace import Trace, Tracer, bind, concrete, lower, rebuilt
from funcgrad.tree.containers import CONTAINERS

_OF_PRIMITIVES = ("notrace_primitive", "primitive", "register_notrace")  # which take longer to load

notrace_primitives: dict[type, set[Any]] = defaultdict(set)


def getval(x: Any) -> Any:
    """The plain value of `x`, beneath all transforms; of a tree, with plain leaves."""
    if isinstance(x, Tracer):
        return concrete(x)
    if isinstance(x, Box):
        return import_module("funcgrad.compat.autograd.objects").plain(x)
    return tree.map(concrete, x) if isinstance(x, (list, tuple, dict)) else x


def isbox(x: Any) -> bool:
    """Is `x` a value that a transform watches?"""
    return isinstance(x, (Tracer, Box))


class Node:
    """What a tracer of one's own remembers of a call: see `tracer.trace`."""

    __slots__ = ()
    direction: str = ""  # of derivatives, in which it leads

    def __init__(
        self, value: Any, fun: Any, args: Any, kwargs: Any, parent_argnums: Any, parents: Any
    ) -> None:
        raise NotImplementedError("a Node is subclassed: __init__ records a call, initialize_root begins")

    def initialize_root(self, *args: Any, **kwargs: Any) -> None:
        """Set up the node of the input."""
        raise NotImplementedError

    @classmethod
    def new_root(cls, *args: Any, **kwargs: Any) -> Any:
        """The node of the input."""
        root = cls.__new__(cls)
        root.initialize_root(*args, **kwargs)
        return root


_NUMBERS = (
    bool, int, float, complex, np.ndarray, np.bool_, np.float16, np.float32, np.float64, np.longdouble, np.complex64,
    np.complex128, np.clongdouble, np.int8, np.int16, np.int32, np.int64,
)  # fmt: skip


class _BoxType(type):
    """Watched arrays are of the engine's classes: these count as boxes, and a box is made as one of them."""

    _is_of_objects = False  # which are no arrays

    def __instancecheck__(cls, x: Any) -> bool:
        if not isinstance(x, Tracer):
            return type.__instancecheck__(cls, x)
        return cls in (Box, ArrayBox) or Box.type_mappings.get(type(concrete(x))) is cls

    def __call__(cls, value: Any, trace: Any, node: Any) -> Any:
        if cls._is_of_objects:
            objects = import_module("funcgrad.compat.autograd.objects")
            return objects.boxed(cls, trace.wrap(objects.Held(value), node))
        return trace.wrap(value if hasattr(value, "dtype") else np.asarray(value)[()], node)


class _Mappings(dict[type, Callable[..., Any]]):
    """By the class of a value: what makes its box, of (value, trace, node), and may refuse it.

    A subclass of ndarray that is entered says that its values are numbers like another array's. Beside tracers
    they are taken for these, also where the class answers ufuncs itself.
    """

    def __setitem__(self, kind: type, maker: Callable[..., Any]) -> None:
        super().__setitem__(kind, maker)
        if issubclass(kind, np.ndarray) and kind is not np.ndarray and not hasattr(kind, "__operand__"):
            own: Any = kind
            own.__operand__ = lambda x: x.view(np.ndarray)
            if own.__array_ufunc__ is not np.ndarray.__array_ufunc__:
                own.__array_ufunc__ = _after_tracers(own.__array_ufunc__)


def _after_tracers(answer: Callable[..., Any]) -> Callable[..., Any]:
    """`__array_ufunc__` of a class, which leaves a call with tracers to them."""

    @functools.wraps(answer)
    def array_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if any(isinstance(x, Tracer) for x in (*inputs, *kwargs.values())):
            return NotImplemented
        return answer(self, ufunc, method, *inputs, **kwargs)

    return array_ufunc


class Box(metaclass=_BoxType):
    """The class of watched values. `Box.register(cls)` lets values of a class of one's own be watched: arrays
    (which have a shape and a dtype, as subclasses of ndarray do) as tracers, others as instances of the class of
    boxes, whose methods call primitives. How the latter are added their space tells (`VSpace.register`).

    >>> from funcgrad.compat.autograd import grad
    >>> from funcgrad.compat.autograd.extend import Box, VSpace, defvjp, primitive
    >>> class Interval:
    ...     def __init__(self, low, high):
    ...         self.low, self.high = low, high
    >>> class IntervalSpace(VSpace):
    ...     def zeros(self):
    ...         return Interval(0.0, 0.0)
    ...     def _add(self, x, y):
    ...         return Interval(x.low + y.low, x.high + y.high)
    >>> @primitive
    ... def width(x):
    ...     return x.high - x.low
    >>> defvjp(width, lambda ans, x: lambda g: Interval(-g, g))
    >>> class IntervalBox(Box):
    ...     width = property(width)
    >>> IntervalBox.register(Interval)
    >>> IntervalSpace.register(Interval)
    >>> ct = grad(lambda x: x.width**2 + x.width)(Interval(1.0, 4.0))
    >>> float(ct.low), float(ct.high)
    (-7.0, 7.0)
    """

    types: ClassVar[set[Any]] = set()
    type_mappings = _Mappings()

    @classmethod
    def register(cls, value_type: type) -> None:
        """Values of this class may be watched."""
        Box.types.add(cls)
        Box.type_mappings[value_type] = Box.type_mappings[cls] = cls
        is_array = value_type in _NUMBERS or hasattr(value_type, "dtype")
        if not is_array and value_type not in CONTAINERS:
            cls._is_of_objects = True
            import_module("funcgrad.compat.autograd.objects").register(value_type, cls)

    @property
    def _value(self) -> Any:
        value = self._tracer._value  # type: ignore[attr-defined]
        return value if isinstance(value, Tracer) else value.value

    @property
    def _trace(self) -> Any:
        return self._tracer._trace  # type: ignore[attr-defined]

    @property
    def _node(self) -> Any:
        return self._tracer._node  # type: ignore[attr-defined]


class ArrayBox(Box):
    """The class of watched arrays."""


for _type in _NUMBERS:
    ArrayBox.register(_type)
box_types, box_type_mappings = Box.types, Box.type_mappings


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
        if getattr(primitive, "function", None) in notrace_primitives.get(type(kept[0][1]), ()):
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


def new_box(value: Any, trace: Any, node: Any) -> Any:
    """A tracer of `trace` around a value; a tuple or list of them; TypeError if it is no number or array."""
    mapped = Box.type_mappings.get(type(value))
    if mapped is not None:
        return mapped(value, trace, node)
    if isinstance(value, Tracer) or hasattr(value, "dtype"):
        return trace.wrap(value, node)
    if isinstance(value, (tuple, list)):
        return SequenceBox([new_box(x, trace, node) for x in value], value, trace, node)
    raise TypeError(f"Can't differentiate w.r.t. type {type(value)}")


class SequenceBox(tuple):
    """A sequence of watched values, as `new_box` makes it of a tuple or list."""

    _value: Any = None
    _trace: Any = None
    _node: Any = None

    def __new__(cls, items: Any, value: Any = None, trace: Any = None, node: Any = None) -> SequenceBox:
        sequence = super().__new__(cls, items)
        sequence._value, sequence._trace, sequence._node = value, trace, node
        return sequence


class TraceStack:
    """Hands out traces: `with trace_stack.new_trace() as trace`."""

    @contextmanager
    def new_trace(self) -> Iterator[NodeTrace]:
        """A trace that is open within."""
        with NodeTrace() as running:
            yield running


trace_stack = TraceStack()


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


def __getattr__(name: str) -> Any:
    if name in _OF_PRIMITIVES:
        return getattr(import_module("funcgrad.compat.autograd.primitives"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
