"""Tuples with other entries, and graphs in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any


def subvals(x: Iterable[Any], ivs: Iterable[tuple[int, Any]]) -> tuple[Any, ...]:
    """`x` as a tuple, with these values at these positions.

    >>> subvals((1, 2, 3), [(0, 10)])
    (10, 2, 3)
    """
    items = list(x)
    for i, v in ivs:
        items[i] = v
    return tuple(items)


def subval(x: Iterable[Any], i: int, v: Any) -> tuple[Any, ...]:
    """`x` as a tuple, with the value `v` at position `i`."""
    return subvals(x, [(i, v)])


def toposort(
    end_node: Any, parents: Callable[[Any], Iterable[Any]] = lambda node: node.parents
) -> Iterator[Any]:
    """The nodes of a graph, from its end: each before its parents."""
    uses: dict[Any, int] = {}
    stack = [end_node]
    while stack:
        node = stack.pop()
        uses[node] = uses.get(node, 0) + 1
        if uses[node] == 1:
            stack.extend(parents(node))
    ready = [end_node]
    while ready:
        node = ready.pop()
        yield node
        for parent in parents(node):
            uses[parent] -= 1
            if not uses[parent]:
                ready.append(parent)


def func(f: Any) -> Any:
    """The function of a method."""
    return f


def __getattr__(name: str) -> Any:
    if name in ("quick_grad_check", "deprecation_msg"):
        return getattr(import_module("funcgrad.compat.autograd.test_util"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
