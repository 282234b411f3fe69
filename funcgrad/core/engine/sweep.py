"""The tape and the sweep: nodes, and the walk that pulls cotangents back through them.

Nodes hold data, not closures, and hang off their outputs: there is no list of them anywhere, so a value that
nobody needs takes its part of the tape with it. The sweep visits nodes newest first and lets go of each as it
passes. On large arrays it adds and multiplies in place, where nobody else holds a cotangent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from sys import getrefcount
from typing import Any, Protocol

from funcgrad.core.arrays.spec import Spec
from funcgrad.core.engine.cotangent import (
    Masked,
    Part,
    added,
    ended,
    fit,
    is_of_library,
    settled,
)
from funcgrad.core.memory.owned import OWNED
from funcgrad.core.memory.plain import LARGE, PLAIN_PARTS, ndarray
from funcgrad.core.memory.reads import Read, Scatter, add_to_masked

try:
    from _heapq import heappop, heappush  # what heapq imports, in a tenth of the time
except ImportError:
    from heapq import heappop, heappush

_new = object.__new__


class NodePlan(Protocol):
    """What serves as the plan of a node: a `Plan`, made from a rule, or an object written for one kind of node."""

    @property
    def name(self) -> str:
        """What was called, for messages."""
        ...

    @property
    def slots(self) -> tuple[int, ...]:
        """The positions of the traced operands."""
        ...

    @property
    def keeps(self) -> tuple[str, ...]:
        """The names of what is saved."""
        ...

    @property
    def masks(self) -> bool:
        """Does it ask which zeros of a cotangent are zero by structure?"""
        ...

    def pull(self, ct: Any, saved: Any, /) -> Sequence[Any]:
        """The parts of a plain cotangent for the parents, None for a zero."""
        ...

    def pull_masked(self, ct: Any, saved: Any, /) -> Sequence[Any]:
        """The same for a Masked cotangent."""
        ...


class Visitor(Protocol):
    """Looks in while cotangents are pulled back."""

    def enter(self, node: Node, ct: Any, /) -> tuple[Any, Any]:
        """The cotangent to go on with (None: no further), and the saved values to use."""
        ...

    def leave(self, node: Node, parts: Sequence[Any], /) -> Sequence[Any]:
        """The parts to hand to the parents."""
        ...


class Node:
    """One recorded call: plan, what it saved, the traced operands' nodes, the output's shape and dtype.

    `origin` is the node of its one traced operand, or a tuple of several: nodes are many, and a tuple for one
    costs memory. A leaf has no plan. `number` falls with time. `spec` is the very Spec of a parent where the
    output has its shape and dtype: the sweep then knows, without a look, that nothing was broadcast. An
    output of a call with several is a node of its own, with the plan PICK, whose parent is the call's node
    (whose spec has the number of outputs for a shape). `notes` is left to who uses the engine: it is unset, but
    for the few nodes with which something is to be kept as long as they live.
    """

    __slots__ = ("__weakref__", "notes", "number", "origin", "plan", "saved", "spec")
    notes: Any
    number: int
    plan: NodePlan  # None for a leaf
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


def make_node(number: int, plan: Any, saved: Any, parents: tuple[Node, ...], shape: Any, dtype: Any) -> Node:
    """A new node. (The fast lanes write these lines out.)"""
    node = Node()
    node.number, node.plan, node.saved = number, plan, saved
    node.spec = spec = _new(Spec)
    spec.shape, spec.dtype = shape, dtype
    node.origin = parents[0] if len(parents) == 1 else parents
    return node


def sweep(  # noqa: PLR0915 (the loop is written out: a call for each step would cost as much as the step)
    seeds: Iterable[tuple[Node, Any]],
    *,
    release: bool = False,
    freed: Any = None,
    visitor: Visitor | None = None,
) -> dict[Node, Any]:
    """Pull cotangents back from nodes, newest node first; the cotangent of each leaf that they reach.

    `release` lets go of what a node has saved as soon as it is passed: for a tape that is swept only once.
    With `freed`, the tape stays, and this takes the place of what was saved. A `visitor` may look in.
    """
    cts: dict[Node, Any] = {}  # the cotangents of the nodes in the heap
    heap: list[tuple[int, Node]] = []
    leaves: dict[Node, Any] = {}
    plain = visitor is None  # is nothing to be done but to pull? So it is as long as all parts are plain
    parents, parts = [*zip(*seeds)] or ((), ())  # as if an imaginary last node had pulled them
    node = ct = spec = None
    while True:
        # The newest parent that is new to the sweep becomes the next `node` without passing the heap.
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
            elif parent.number < node.number:
                _push(cts, heap, node, ct)
                node, ct = parent, part
            else:
                _push(cts, heap, parent, part)
        parts = part = parent = None  # a name left over would look like a second holder, or keep a node
        if heap and (node is None or heap[0][0] < node.number):
            if node is not None:
                _push(cts, heap, node, ct)
            node = heappop(heap)[1]
            ct = cts.pop(node)
        if node is None:
            return leaves if plain else {leaf: ended(ct) for leaf, ct in leaves.items()}
        while True:
            try:
                if plain or visitor is None and (type(ct) is ndarray or type(ct) in PLAIN_PARTS):
                    # on a line of its own: the interpreter finds a slot faster than a method
                    pull = node.plan.pull
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
            kind = type(part)
            if (
                parents.plan is None
                or heap
                and heap[0][0] <= parents.number
                or kind is not ndarray
                and kind not in PLAIN_PARTS
                and (kind is not Masked or part.owned or not parents.plan.masks)
                or part.dtype is not to.dtype
                or to is not spec
                and part.shape != to.shape
            ):
                parents = (parents,)
                break
            if kind is Masked:
                plain = False
            node, ct = parents, part  # a chain: what stands above does the same
            parts = part = None
        node = None


STOPPED = (None,)  # the parts of a node at which a visitor stops


def _pulled(node: Node, ct: Any, visitor: Visitor | None) -> Sequence[Any]:
    """The parts for the parents of `node`, whatever its cotangent is, and whoever looks in."""
    plan, saved = node.plan, node.saved
    if visitor is None:
        is_masked = type(ct) is Masked
        if is_of_library(ct.value if is_masked else ct) and (pull := getattr(plan, "pull_foreign", None)):
            return pull(ct, saved)
        if is_masked:
            return plan.pull_masked(ct, saved)
    if type(ct) not in PLAIN_PARTS:
        ct = settled(ct)
    if visitor is not None:
        ct, saved = visitor.enter(node, ct)
        if ct is None:
            return STOPPED
    parts = (plan.pull_masked if type(ct) is Masked else plan.pull)(ct, saved)
    return parts if visitor is None else visitor.leave(node, parts)


def _fitted(
    cts: dict[Node, Any],
    heap: list[tuple[int, Node]],
    leaves: dict[Node, Any],
    parent: Node,
    part: Any,
    spec: Spec | None,
) -> Any:
    """`part`, fitted to its parent; None if there is none, or it has already been added in its place."""
    kind = type(part)
    if kind is Read:
        held = (leaves if parent.plan is None else cts).get(parent)
        if type(held) is Scatter:  # x[i] in a loop
            held.add(part)
            return None
        if (
            type(held) is Masked and held.owned and add_to_masked(held, part)
        ):  # x[i] of an array that a loop fills
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
    if (
        kind is float
        or kind is int
        or to is not spec
        and part.shape != to.shape
        or part.dtype is not to.dtype
    ):
        return fit(part, to)
    return part


def _push(cts: dict[Node, Any], heap: list[tuple[int, Node]], node: Node, ct: Any) -> None:
    cts[node] = ct
    heappush(heap, (node.number, node))


def _gather(cts: dict[Node, Any], heap: list[tuple[int, Node]], parent: Node, part: Part) -> None:
    """Put the cotangent of one output into the list that is the cotangent of a node with several."""
    if parent not in cts:
        _push(cts, heap, parent, [None] * parent.shape)
    held = cts[parent][part.position]
    cts[parent][part.position] = part.ct if held is None else merged(held, part.ct)


def merged(held: Any, part: Any) -> Any:
    """The sum of two contributions to one cotangent: in place if the first is large and held nowhere else."""
    if type(held) is ndarray and type(part) is ndarray:
        if held.size >= LARGE and getrefcount(held) <= OWNED.merging and held.base is None:
            held += part
            return held
        return held + part
    if type(part) is Read or type(held) is Read:
        return _merged_reads(held, part)
    if type(held) is Scatter or type(part) is Scatter:
        held, part = settled(held), settled(part)
    return added(held, part)


def _merged_reads(held: Any, part: Any) -> Any:
    if type(held) is Read:
        held = Scatter(held)
    if type(held) is Scatter and type(part) is Read:
        held.add(part)
        return held
    if type(held) is Masked and held.owned and type(part) is Read and add_to_masked(held, part):
        return held
    return merged(held, Scatter(part) if type(part) is Read else part)


# The reference count of a cotangent that only the sweep holds depends on the interpreter: ask it.
OWNED.measure(sweep, make_node)
