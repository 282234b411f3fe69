"""Run a function on a tape of which everything is noted: what was called, on what, where, how long it took."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from time import perf_counter
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.core.engine.primitive import Call, Opaque, Primitive
from funcgrad.core.engine.reverse import PICK, ReverseTrace, ReverseTracer
from funcgrad.core.engine.sweep import Node, sweep
from funcgrad.core.engine.trace import Tracer, concrete, lower, snapshot
from funcgrad.drawing.stack import NO_LINE, Line, Stack, TransformRun
from funcgrad.drawing.values import PulledSteps, told
from funcgrad.errors import OutputError
from funcgrad.transforms.wrapping import name_of


class Note:
    """Notes on a node. `constants` are operands without a derivative: position, name, value.

    `path` has the lines of the user's functions that were running, outermost first; `value` is the output in
    words.
    """

    __slots__ = ("boxes", "call", "constants", "line", "node", "path", "primitive", "seconds", "value")

    def __init__(
        self, boxes: tuple[TransformRun, ...] = (), line: Line = NO_LINE, path: tuple[Line, ...] = ()
    ) -> None:
        self.boxes, self.line, self.path = boxes, line, path
        self.value = ""
        self.node: Node | None = None
        self.primitive: Any = None
        self.call: Any = None  # its layout and params; the operands are let go of
        self.constants: list[tuple[int, str, Any]] = []
        self.seconds = 0.0

    @property
    def name(self) -> str:
        """What was called."""
        if self.primitive is not None:
            return self.primitive.title.removeprefix("np.")
        return (
            self.node.plan.name.removeprefix("np.")
            if self.node is not None and self.node.plan is not None
            else ""
        )

    @property
    def kind(self) -> str:
        """The kind of its rule."""
        plan = self.node.plan if self.node is not None else None
        primitive = self.primitive or getattr(plan, "primitive", None)
        if primitive is None:
            return "assignment" if getattr(plan, "name", "").startswith("x[index] =") else "opaque"
        return primitive.kind or "opaque"


class Clock:
    """Numbers the nodes of a trace, as its counter would, and begins a note for each."""

    def __init__(self, stack: Stack) -> None:
        self.stack, self.numbers = stack, count(0, -1)
        self.notes: dict[int, Note] = {}

    def __iter__(self) -> Clock:
        return self

    def __next__(self) -> int:
        number = next(self.numbers)
        self.notes[number] = Note(*self.stack.now())
        return number


class NotedTracer(ReverseTracer):
    """A tracer of a noted trace: of a class that the fast lanes don't know, so that every call is seen."""

    __slots__ = ()


class NotedTrace(ReverseTrace):
    """A reverse trace that takes notes. `timed` runs NumPy's part of each call again, to time it alone."""

    __slots__ = ("notes", "timed")
    tracer_type = NotedTracer

    def __init__(self, stack: Stack, *, timed: bool = False) -> None:
        super().__init__()
        clock = Clock(stack)
        self.numbers: Any = clock
        self.notes, self.timed = clock.notes, timed

    def apply(self, primitive: Primitive | Opaque, call: Call) -> Any:
        begin = perf_counter()
        out = super().apply(primitive, call)
        seconds = perf_counter() - begin
        for x in out if isinstance(out, (tuple, list)) else [out]:
            if isinstance(x, Tracer) and x._trace is self and x._node is not None:
                self._noted(made_by(x._node), primitive, call, seconds, out)
        return out

    def _noted(self, node: Node, primitive: Any, call: Call, seconds: float, out: Any) -> None:
        note = self.notes[node.number]
        if note.node is not None or node.plan is None:
            return
        note.value = "" if self.timed else told(out)
        note.node, note.primitive = node, primitive
        note.call = Call((), call.layout, call.params)
        operands = enumerate(zip(operand_names(call), call.operands, strict=True))
        note.constants = [(i, name, concrete(x)) for i, (name, x) in operands if not self.flows(x)]
        note.seconds = (
            self._time(primitive, call) if self.timed and isinstance(primitive, Primitive) else seconds
        )

    def flows(self, x: Any) -> bool:
        """Does a derivative of this trace flow through `x`?"""
        return isinstance(x, Tracer) and x._trace is self and x._node is not None

    def _time(self, primitive: Primitive, call: Call) -> float:
        plain = call.with_operands([concrete(lower(self, x)) for x in call.operands])
        begin = perf_counter()
        primitive.run(plain)
        return perf_counter() - begin


def operand_names(call: Call) -> list[str]:
    """A name for each operand."""
    names: list[str] = []
    for name, length in call.layout:
        names += [name] if length is None else [f"{name}[{k}]" for k in range(length)]
    return names


def made_by(node: Node) -> Node:
    """The node of the call that a node stands for."""
    return node.parents[0] if node.plan is PICK else node


class GraphRecording:
    """The nodes behind the outputs, oldest first, with notes; inputs (with `values`) and outputs by name."""

    def __init__(
        self,
        title: str,
        inputs: Sequence[tuple[str, Node]],
        outputs: Sequence[tuple[str, Node]],
        notes: dict[int, Note],
        values: Sequence[Any] = (),
    ) -> None:
        self.title, self.inputs, self.outputs, self.values = title, list(inputs), list(outputs), values
        self.steps: list[tuple[Node, str]] = []  # of the sweep: a node, and its cotangent in words
        self.stopped = ""  # what ended it early
        self.nodes = reachable(node for _, node in outputs)
        self.notes: dict[Node, Note] = {}
        for node in self.nodes:
            note = self.notes[node] = notes.get(node.number) or Note()
            note.node = node

    def swept(self) -> GraphRecording:
        """With the steps of the sweep noted, from a cotangent of ones, as far as it comes."""
        seeds = [(node, np.ones(node.spec.shape, node.spec.dtype)[()]) for _, node in self.outputs]
        steps, leaves = PulledSteps(), {}
        try:
            leaves = sweep(seeds, visitor=steps)
        except Exception as error:  # noqa: BLE001 (the function can be drawn, whatever its rules raise)
            self.stopped = f"The sweep ends with {type(error).__name__}: {error}"
        self.steps = [(made_by(node), ct) for node, ct in steps.found if node.plan is not PICK]
        self.steps += [(node, told(leaves[node])) for _, node in self.inputs if node in leaves]
        return self


def reachable(ends: Iterable[Node]) -> list[Node]:
    """All nodes behind `ends`, oldest first."""
    reached: dict[Node, None] = dict.fromkeys(ends)
    todo = list(reached)
    while todo:
        for parent in todo.pop().parents:
            if parent not in reached:
                reached[parent] = None
                todo.append(parent)
    return sorted(reached, key=lambda node: -node.number)


class LeafFunction:
    """A function of the floating leaves of its arguments; what can't be differentiated stays as it is."""

    def __init__(self, fun: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        self.fun = fun
        paths, self.structure = tree.flatten_with_path((tuple(args), kwargs))
        self.given = [leaf for _, leaf in paths]
        self.where = [i for i, leaf in enumerate(self.given) if is_floating(leaf)]
        self.values = [as_array(self.given[i]) for i in self.where]
        self.names = [argument_name(fun, paths[i][0]) for i in self.where]

    def __call__(self, leaves: Sequence[Any]) -> list[tuple[str, Any]]:
        """The outputs, by name."""
        full = list(self.given)
        for i, leaf in zip(self.where, leaves, strict=True):
            full[i] = leaf
        args, kwargs = tree.unflatten(self.structure, full)
        paths, _ = tree.flatten_with_path(self.fun(*args, **kwargs))
        return [(f"out{tree.keystr(path)}", leaf) for path, leaf in paths]


def is_floating(x: Any) -> bool:
    """Is this a number or array in which one can differentiate?"""
    return isinstance(x, (float, complex)) or getattr(getattr(x, "dtype", None), "kind", "") in ("f", "c")


def as_array(x: Any) -> Any:
    """A number as NumPy's; a tracer as it is now."""
    if isinstance(x, Tracer):
        return snapshot(x)
    return x if hasattr(x, "dtype") else np.asarray(x)[()]


def argument_name(fun: Callable[..., Any], path: Sequence[Any]) -> str:
    """'w[0]' for the path of a leaf in (args, kwargs)."""
    where, key, *rest = path
    if where == tree.Index(1):
        return f"{key.key}{tree.keystr(rest)}"
    names = positional_names(fun)
    position = key.index
    return f"{names[position] if position < len(names) else f'argument {position}'}{tree.keystr(rest)}"


def positional_names(fun: Callable[..., Any]) -> list[str]:
    """The names of a function's positional parameters, where Python knows them."""
    try:
        parameters = inspect.signature(fun).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def record(
    fun: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], *, timed: bool = False
) -> GraphRecording:
    """Note all of one run of `fun`."""
    flat = LeafFunction(fun, args, kwargs)
    with Stack() as stack, NotedTrace(stack, timed=timed) as trace:
        leaves = [trace.leaf(v) for v in flat.values]
        inputs = [(name, made(leaf)) for name, leaf in zip(flat.names, leaves, strict=True)]
        outs = flat(leaves)
        ends = [(name, x._node) for name, x in outs if trace.flows(x)]
    return GraphRecording(name_of(fun), inputs, checked(ends, fun, outs), trace.notes, flat.values)


def made(leaf: ReverseTracer) -> Node:
    """The node of a leaf."""
    assert leaf._node is not None
    return leaf._node


def checked(ends: list[Any], fun: Callable[..., Any], outs: Sequence[Any]) -> list[Any]:
    """Refuse a function of which no output depends on an input."""
    if not ends:
        raise OutputError(
            f"no floating output of {name_of(fun)} depends on its arguments (it has {len(outs)}), so that there is no tape. "
            "Pass floating arguments, and return what is computed from them."
        )
    return ends


class PulledLines:
    """A visitor of a sweep: what is computed in a pull belongs to the line of the call that is pulled back."""

    def __init__(self, stack: Stack, notes: dict[int, Note]) -> None:
        self.stack, self.notes = stack, notes

    def enter(self, node: Node, ct: Any) -> tuple[Any, Any]:
        """Before a pull."""
        self.stack.line = self.notes[made_by(node).number].line
        return ct, node.saved

    def leave(self, node: Node, parts: Any) -> Any:
        """After it."""
        return parts


def record_backward(fun: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> GraphRecording:
    """Note all of one run of `fun` and of the sweep that pulls cotangents back through it."""
    flat = LeafFunction(fun, args, kwargs)
    with Stack() as stack, NotedTrace(stack) as trace:
        arguments = [trace.leaf(v) for v in flat.values]
        inputs = [(name, made(leaf)) for name, leaf in zip(flat.names, arguments, strict=True)]
        stack.prefix = (TransformRun("forward"),)
        with NotedTrace(stack) as inner:
            leaves = [inner.leaf(x) for x in arguments]
            outs = flat(leaves)
            ends = [(name, x) for name, x in outs if inner.flows(x)]
            values = [(name, lower(inner, x)) for name, x in checked(ends, fun, outs)]
        stack.prefix = ()
        cts = [trace.leaf(np.ones(x.shape, x.dtype)[()]) for _, x in values]
        inputs += [(f"ct of {name}", made(ct)) for (name, _), ct in zip(values, cts, strict=True)]
        totals = sweep(
            [(x._node, ct) for (_, x), ct in zip(ends, cts, strict=True)],
            visitor=PulledLines(stack, inner.notes),
        )
        gradients = [
            (f"ct of {name}", totals.get(made(leaf))) for name, leaf in zip(flat.names, leaves, strict=True)
        ]
    shown = [(name, x._node) for name, x in [*values, *gradients] if trace.flows(x)]
    totals = GraphRecording(name_of(fun), inputs, shown, trace.notes, [*flat.values, *map(concrete, cts)])
    sweeps = [
        node
        for node in totals.nodes
        if any(b.title == "backward sweep" for b in totals.notes[node].boxes[:1])
    ]
    totals.steps = [(node, totals.notes[node].value) for node in sweeps if node.plan is not PICK]
    return totals


def recording_of(x: Any) -> GraphRecording:
    """The tape behind a tracer, or behind an object that holds one."""
    held = x if isinstance(x, Tracer) else x.__operand__()
    if not isinstance(held, Tracer) or not isinstance(held._node, Node):
        raise OutputError("draw: this value has no tape behind it; draw(fun)(*args) records one")
    nodes = reachable([held._node])
    leaves = [node for node in nodes if node.plan is None]
    names = [(f"leaf {k}" if len(leaves) > 1 else "leaf", node) for k, node in enumerate(leaves)]
    notes = getattr(held._trace, "notes", {})
    return GraphRecording(type(x).__name__, names, [("out", held._node)], notes)
