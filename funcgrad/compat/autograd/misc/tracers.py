"""Functions recorded once: what is constant is not run again."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from funcgrad.compat.autograd.tracer import Node, trace
from funcgrad.compat.autograd.util import subvals, toposort


class ConstGraphNode(Node):
    """Remembers a call as a function of the values of its parents."""

    __slots__ = ("parents", "partial_fun")

    def __init__(
        self, value: Any, fun: Any, args: Any, kwargs: Any, parent_argnums: Any, parents: Any
    ) -> None:
        self.parents = parents
        self.partial_fun = lambda values: fun(*subvals(args, zip(parent_argnums, values)), **kwargs)

    def initialize_root(self) -> None:
        self.parents = ()


def const_graph(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """`fun` of further arguments, run once: later calls replay what it did, whatever else it depends on.

    >>> from funcgrad.compat.autograd import numpy as np
    >>> f = const_graph(lambda x: np.sin(x) ** 2)
    >>> float(f(0.0)), float(f(np.pi / 2))
    (0.0, 1.0)
    """
    recorded = const_graph_unary(lambda inputs: fun(*args, *inputs, **kwargs))

    @functools.wraps(fun)
    def of_all(*more: Any) -> Any:
        return recorded(more)

    return of_all


def const_graph_unary(fun: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The same, for a function of one argument.

    >>> f = const_graph_unary(lambda x: x * x)
    >>> float(f(2.0)), float(f(3.0))
    (4.0, 9.0)
    """
    nodes: list[Any] = []

    def recorded(x: Any) -> Any:
        if not nodes:
            value, end = trace(ConstGraphNode.new_root(), fun, x)
            if end is None:
                raise ValueError("const_graph: the output does not depend on the arguments")
            nodes.extend(reversed(list(toposort(end))))
            return value
        values = {nodes[0]: x}
        for node in nodes[1:]:
            values[node] = node.partial_fun([values[parent] for parent in node.parents])
        return values[nodes[-1]]

    return recorded


class FullGraphNode(Node):
    """Remembers the value of a call, and its recipe: (fun, args, kwargs, pairs of positions and parents)."""

    __slots__ = ("recipe", "value")

    def __init__(
        self, value: Any, fun: Any, args: Any, kwargs: Any, parent_argnums: Any, parents: Any
    ) -> None:
        self.value, self.recipe = value, (fun, args, kwargs, list(zip(parent_argnums, parents)))

    def initialize_root(self) -> None:
        self.value, self.recipe = None, (lambda x: x, (), {}, [])


def full_graph(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The node of the output of fun(*args, **kwargs), from which all others can be reached."""
    return trace(FullGraphNode.new_root(), lambda inputs: fun(*inputs, **kwargs), args)[1]
