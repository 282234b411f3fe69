"""Functions of flat operands, made of a function that is compiled: what a transform around it may ask for.

Flat      the function itself
Batched   for a whole batch
Pushed    with the tangents of its results
Pulled    the cotangents of its operands
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.compiler.signature import Arguments
from funcgrad.core.engine.batch import BatchTrace
from funcgrad.core.engine.cotangent import Masked
from funcgrad.core.engine.forward import ForwardTrace
from funcgrad.core.engine.reverse import ReverseTrace
from funcgrad.core.engine.sweep import Node, sweep
from funcgrad.core.engine.trace import Tracer
from funcgrad.transforms.transposition import node_of


class Layout:
    """How the leaves of a result make it up; itself a leaf, equal to others alike."""

    def __init__(self, structure: tree.Structure) -> None:
        self.structure = structure

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and self.structure == other.structure

    def __hash__(self) -> int:
        return hash(self.structure)


class Flat:
    """A function of the leaves that flow: the leaves of its result, and how they make it up."""

    def __init__(self, fun: Callable[..., Any], given: Arguments) -> None:
        self.fun, self.given = fun, given

    def __call__(self, *values: Any) -> tuple[list[Any], Layout]:
        args, kwargs = self.given.rebuilt(values)
        leaves, structure = tree.flatten(self.fun(*args, **kwargs))
        return leaves, Layout(structure)


class Batched:
    """A flat function for a whole batch; `flags` tell the operands that are batched, along axis 0."""

    def __init__(self, fun: Callable[..., Any], flags: tuple[bool, ...]) -> None:
        self.fun, self.flags = fun, flags

    def __call__(self, *values: Any) -> tuple[list[Any], Layout]:
        size = next(x.shape[0] for x, is_batched in zip(values, self.flags) if is_batched)
        with BatchTrace(size) as trace:
            outs, layout = self.fun(
                *[trace.wrap(x, None) if flag else x for x, flag in zip(values, self.flags)]
            )

            def whole(o: Any) -> Any:
                if isinstance(o, Tracer) and o._trace is trace:
                    return o._value
                return np.broadcast_to(o, (size, *o.shape)) if is_array(o) else o

            return [whole(o) for o in outs], layout


class Pushed:
    """A flat function, and the tangents of what it gives, for tangents of the operands at `slots`.

    A tangent with zeros by structure is given as [value, mask].
    """

    def __init__(self, fun: Callable[..., Any], slots: tuple[int, ...]) -> None:
        self.fun, self.slots = fun, slots

    def __call__(self, *values: Any) -> tuple[list[Any], list[Any], Layout]:
        count = len(values) - len(self.slots)
        given = list(values[:count])
        with ForwardTrace() as trace:
            for i, t in zip(self.slots, values[count:]):
                given[i] = trace.wrap(given[i], t)
            outs, layout = self.fun(*given)
            mine = [isinstance(o, Tracer) and o._trace is trace for o in outs]
            ts = [o._node if m else None for o, m in zip(outs, mine)]
            ts = [[t.value, t.live] if type(t) is Masked else t for t in ts]
            return [o._value if m else o for o, m in zip(outs, mine)], ts, layout


class Pulled:
    """The cotangents of the operands at `slots`, for some of those of what a flat function gives.

    `kinds` tells of each array among these whether there is a cotangent (1), with a mask beside it (2), or none (0).
    """

    def __init__(self, fun: Callable[..., Any], slots: tuple[int, ...], kinds: tuple[int, ...]) -> None:
        self.fun, self.slots, self.kinds = fun, slots, kinds

    def __call__(self, *values: Any) -> list[Any]:
        count = len(values) - sum(self.kinds)
        given, cts = list(values[:count]), iter(values[count:])
        with ReverseTrace() as trace:
            nodes, outs, _ = taped(trace, self.fun, given, self.slots)
        seeds = []
        for kind, o in zip(self.kinds, filter(is_array, outs), strict=True):
            if kind:
                ct = next(cts) if kind == 1 else Masked(next(cts), next(cts))
                seeds += [(node, ct)] if (node := node_of(trace, o)) is not None else []
        outs = o = None  # the sweep gets the only reference to the tape
        found = sweep(seeds, release=True)
        return [found.get(node) for node in nodes]


def taped(
    trace: ReverseTrace, fun: Callable[..., Any], given: list[Any], slots: Sequence[int]
) -> tuple[list[Node], list[Any], Layout]:
    """The nodes of the operands at `slots`, and what a flat function gives on a tape."""
    for i in slots:
        given[i] = trace.leaf(given[i])
    nodes = [given[i]._node for i in slots]
    outs, layout = fun(*given)
    return nodes, outs, layout


def is_array(x: Any) -> bool:
    """Is this leaf for a trace to care for? What is no array of numbers is handed on beside."""
    while isinstance(x, Tracer):  # jit's may stand for Python's numbers
        x = x._value
    return hasattr(x, "dtype") and x.dtype.kind in "fciub"
