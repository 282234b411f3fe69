"""The tape: nodes of tensors are nodes of the core, with plans that know PyTorch's names.

A torch function runs on an inner trace of the core. If that recorded one call, the call's node is adopted; if
it recorded several, they become one `Fused` node, as PyTorch shows one node for each of its functions. Saved
values are plain: a sweep that is itself to be differentiated (create_graph) raises them to tracers at the
nodes they came from, so that no node ever refers to itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import count
from typing import Any

import numpy as np

from funcgrad.core.engine.kinds import Plan
from funcgrad.core.engine.reverse import PICK, ReverseTrace, ReverseTracer
from funcgrad.core.engine.sweep import Node, make_node, sweep
from funcgrad.core.engine.trace import Tracer, rebuilt, snapshot
from funcgrad.core.memory.guard import Unguarded
from funcgrad.torch.graph.locations import Where, line_of
from funcgrad.typed import override

UNGUARDED = Unguarded()
NUMBERS = count(0, -1)  # of the nodes of tensors, the newest first
next_number = NUMBERS.__next__
Wrap = Callable[[Any, Node], Any]  # what makes a tracer of a value and its node
ndarray = np.ndarray


class EagerTracer(ReverseTracer):
    """The content of a tensor that requires grad, as the engine sees it."""

    __slots__ = ()


_BASES = {
    "subtract": "Sub",
    "multiply": "Mul",
    "divide": "Div",
    "negative": "Neg",
    "power": "Pow",
    "absolute": "Abs",
    "matmul": "Mm",
    "arctan2": "Atan2",
    "arcsin": "Asin",
    "arccos": "Acos",
    "arctan": "Atan",
    "getitem": "Index",
    "concatenate": "Cat",
    "transpose": "Permute",
    "conjugate": "Conj",
    "max": "Max",
    "min": "Min",
    "astype": "ToCopy",
    "copy": "Clone",
    "expand_dims": "Unsqueeze",
    "broadcast_to": "Expand",
    "square": "Pow",
    "float_power": "Pow",
}


def node_name(name: str) -> str:
    """The name of the node of a NumPy function."""
    plain = name.rpartition(".")[2]
    return _BASES.get(plain, "".join(word.capitalize() for word in plain.split("_"))) + "Backward0"


class NamedPlan(Plan):
    """The plan of a node of the facade: one of the core's, under PyTorch's name."""

    __slots__ = ("title",)

    def __init__(self, plan: Any, title: str, *, pulls_alike: bool = True) -> None:
        self.title, self.layout = title, ()
        for slot in Plan.__slots__:
            if hasattr(plan, slot):
                setattr(self, slot, getattr(plan, slot))
        for pull in (self.pull, getattr(self, "pull_masked", None)) if pulls_alike else ():
            getattr(pull, "holders", []).append(self)  # what is not made yet is made for both
        arrays = {"out", *(name for name, _ in self.layout)}
        self.keeps = tuple(name for name in plan.keeps if name in arrays)

    @property
    @override
    def name(self) -> str:
        """What was called, for messages."""
        return self.title

    def raised(self, node: Node, wrap: Wrap) -> Any:
        """What `node` saved, with tracers in the place of values that depend on something."""
        saved = node.saved
        if type(saved) is tuple and self.keeps and type(self.primitive).__name__ != "GetItem":
            names = self.primitive.operand_names
            return tuple(
                _out_of(node, value, wrap)
                if name == "out"
                else self._operand(node, names.index(name), value, wrap)
                for name, value in zip(self.keeps, saved, strict=True)
            )
        if type(saved) is dict and self.keeps:
            return {name: self._raised_entry(node, name, value, wrap) for name, value in saved.items()}
        return saved

    def _operand(self, node: Node, position: int, value: Any, wrap: Wrap) -> Any:
        return wrap(value, node.parents[self.slots.index(position)]) if position in self.slots else value

    def _raised_entry(self, node: Node, name: str, value: Any, wrap: Wrap) -> Any:
        if name == "out":
            return _out_of(node, value, wrap)
        at = 0
        for other, length in self.layout:
            if other == name and name in self.keeps:
                if length is None:
                    return self._operand(node, at, value, wrap)
                return [self._operand(node, at + k, v, wrap) for k, v in enumerate(value)]
            at += 1 if length is None else length
        return value


class NumberFirstPlan(NamedPlan):
    """The plan of `number * tensor`, which PyTorch takes for `tensor * number`."""

    __slots__ = ()


def _out_of(node: Node, value: Any, wrap: Wrap) -> Any:
    """The output of `node` as a tracer (or tracers) at that node."""
    if not isinstance(value, (tuple, list)):
        return wrap(value, node)
    picked = [
        wrap(v, make_node(next_number(), PICK, k, (node,), v.shape, v.dtype)) if v.dtype.kind in "fc" else v
        for k, v in enumerate(value)
    ]
    return rebuilt(value, picked)


_named: dict[tuple[Any, str], NamedPlan] = {}


def named(plan: Any, title: str) -> NamedPlan:
    """`plan` under this name, made once."""
    found = _named.get((plan, title))
    if found is None:
        found = _named[plan, title] = NamedPlan(plan, title)
    return found


class Tape:
    """What a Fused node saves: the function, its operands (those at `slots` require grad), and the tape of
    its run.

    Without leaves the tape is not there yet: the function is to be run again, on operands that are tracers.
    """

    __slots__ = ("ends", "function", "leaves", "operands", "slots", "where")

    def __init__(
        self, function: Callable[..., Any], operands: list[Any], slots: tuple[int, ...], where: Where = None
    ) -> None:
        self.function, self.operands, self.slots, self.where = function, operands, slots, where
        self.leaves: list[Node] = []
        self.ends: list[Node | None] = []

    def nodes(self) -> list[Node]:
        """The nodes of the inner tape."""
        found = dict.fromkeys(end for end in self.ends if end is not None)
        stack = list(found)
        while stack:
            for parent in stack.pop().parents:
                if parent not in found and parent.plan is not None:
                    found[parent] = None
                    stack.append(parent)
        return list(found)

    def keeps(self) -> bool:
        """Has its run saved any array?"""
        return any(isinstance(x, (ndarray, Tracer)) for node in self.nodes() for x in saved_values(node))

    def run(self) -> Any:
        """Run the function on an inner trace, and keep its tape."""
        with ReverseTrace(UNGUARDED) as trace:
            arguments = list(self.operands)
            for i in self.slots:
                leaf = arguments[i] = trace.leaf(arguments[i])
                self.leaves.append(leaf._node)  # type: ignore[arg-type]
            out = _looked_up(self.function(arguments))
            outs = out if isinstance(out, (tuple, list)) else (out,)
            self.ends = [x._node if type(x) is ReverseTracer and x._trace is trace else None for x in outs]
        return out


def _looked_up(out: Any) -> Any:
    """`out`, with views of what was written to since looking anew now: their trace is about to close."""
    if isinstance(out, (tuple, list)):
        return rebuilt(out, [_looked_up(x) for x in out])
    return snapshot(out) if isinstance(out, Tracer) and type(out) is not ReverseTracer else out


def saved_values(node: Node) -> list[Any]:
    """What a node has saved, as a list."""
    saved = node.saved
    if type(saved) is Tape:
        return (
            [x for inner in saved.nodes() for x in saved_values(inner)]
            if saved.leaves
            else list(saved.operands)
        )
    values = saved.values() if type(saved) is dict else saved
    return list(values) if isinstance(values, (tuple, list, type({}.values()))) else []


class FusedPlan(NamedPlan):
    """The plan of a function that the core runs as several calls."""

    __slots__ = ()

    def __init__(self, title: str, keeps: bool) -> None:
        self.title, self.slots, self.layout, self.primitive = title, (), (), None
        self.keeps = ("operands",) if keeps else ()
        self.constants, self.lane_save, self.masks = (), "", True
        self.pull = self.pull_masked = pull_fused

    @override
    def raised(self, node: Node, wrap: Wrap) -> Tape:
        tape = node.saved
        operands = list(tape.operands)
        for slot, parent in zip(tape.slots, node.parents, strict=True):
            operands[slot] = wrap(operands[slot], parent)
        return Tape(tape.function, operands, tape.slots, tape.where)


def pull_fused(ct: Any, tape: Tape) -> list[Any]:
    """Sweep the inner tape."""
    if not tape.leaves:
        tape.run()
    try:
        found = sweep(_seeds(ct, tape.ends))
    except Exception as error:
        error.add_note(f"The operation was called at {line_of(tape.where)}.")
        raise
    return [found.get(leaf) for leaf in tape.leaves]


@cache
def fused(title: str, keeps: bool = True) -> FusedPlan:
    """The plan of a Fused node of this name."""
    return FusedPlan(title, keeps)


def _seeds(ct: Any, ends: list[Any]) -> list[tuple[Node, Any]]:
    """The cotangents for the ends of a tape."""
    cts = ct if type(ct) is list else [ct]
    return [(end, c) for end, c in zip(ends, cts, strict=True) if end is not None and c is not None]
