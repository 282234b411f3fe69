"""The picture's content: vertices in the order of time, in nested groups, and the edges between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from funcgrad.core.arrays.spec import Spec
from funcgrad.core.engine.reverse import PICK
from funcgrad.core.engine.sweep import Node
from funcgrad.drawing.recording import GraphRecording, Note, made_by
from funcgrad.drawing.stack import NO_LINE, Line, TransformRun
from funcgrad.drawing.values import told

INPUT, OUTPUT, CONSTANT, FOLDED = "input", "output", "constant", "folded"


@dataclass(eq=False)
class Vertex:
    """One operation, input, constant or output.

    `outs` has the shape and dtype of each of its outputs, `value` says in a few words what they were.
    `members` are the numbers of the operations that it stands for.
    """

    label: str
    kind: str
    outs: tuple[Spec, ...] = ()
    detail: str = ""
    line: Line = NO_LINE
    arity: int = 0
    value: str = ""
    members: list[int] = field(default_factory=list)

    @property
    def token(self) -> Any:
        """Vertices with equal tokens do the same."""
        return self.label, self.kind, self.outs, self.arity


@dataclass(eq=False)
class Group:
    """A box: a transform that ran, or (with a `count`) a part that was repeated, shown once.

    `key` names the repetition; the rounds that are shown one by one have it, too.
    """

    title: str
    items: list[Vertex | Group] = field(default_factory=list)
    count: int = 1
    key: str = ""

    @property
    def token(self) -> Any:
        """Groups with equal tokens do the same."""
        return self.title, self.count, tuple(item.token for item in self.items)


Item = Vertex | Group


@dataclass(frozen=True)
class Edge:
    """From a vertex's output to an operand (`slot`) of another. `carried`: to the group's next round."""

    source: Vertex
    target: Vertex
    output: int = 0
    slot: int = 0
    carried: Group | None = None

    @property
    def spec(self) -> Spec | None:
        """What flows along it."""
        return self.source.outs[self.output] if self.output < len(self.source.outs) else None


@dataclass
class Graph:
    """A picture to be laid out; `root` holds everything."""

    title: str
    root: Group
    edges: list[Edge]
    operations: int  # how many were recorded
    # of the sweep: the number of a vertex, and its cotangent in words
    steps: list[tuple[int, str]] = field(default_factory=list)
    note: str = ""

    def vertices(self) -> list[Vertex]:
        """All of them, in the order in which they stand in their groups."""
        return list(vertices_in(self.root))

    def copy(self) -> Graph:
        """The same again, to be folded."""
        copies: dict[Item, Any] = {v: replace(v, members=[*v.members]) for v in vertices_in(self.root)}
        for group in groups_in(self.root):
            copies[group] = replace(group)
        for group in groups_in(self.root):
            copies[group].items = [copies[item] for item in group.items]
        edges = [replace(e, source=copies[e.source], target=copies[e.target]) for e in self.edges]
        return replace(self, root=copies[self.root], edges=edges)


def vertices_in(item: Item) -> Iterator[Vertex]:
    """The vertices of an item, nested ones included."""
    if isinstance(item, Vertex):
        yield item
    else:
        for inner in item.items:
            yield from vertices_in(inner)


def groups_in(group: Group) -> Iterator[Group]:
    """The groups within a group, itself first."""
    yield group
    for item in group.items:
        if isinstance(item, Group):
            yield from groups_in(item)


class Builder:
    """From a recording to a graph."""

    def __init__(self, recording: GraphRecording) -> None:
        self.recording = recording
        self.root = Group(recording.title)
        self.open: list[tuple[TransformRun, Group]] = []
        self.made: dict[Node, Vertex] = {}
        self.constants: dict[int, tuple[Vertex, Any]] = {}
        self.edges: dict[Edge, None] = {}

    def build(self) -> Graph:
        """The graph, with nothing folded yet."""
        names = {node: name for name, node in self.recording.inputs}
        values = {node: told(x) for (_, node), x in zip(self.recording.inputs, self.recording.values)}
        for node in self.recording.nodes:
            if node.plan is PICK:
                continue
            note = self.recording.notes[node]
            if node.plan is None:
                vertex = Vertex(names.get(node, "input"), INPUT, (node.spec,), value=values.get(node, ""))
                self.root.items.append(vertex)
            else:
                vertex = self._operation(node, note)
            self.made[node] = vertex
        for name, node in self.recording.outputs:
            end = Vertex(name, OUTPUT, (), arity=1, value=self.made[made_by(node)].value)
            self.root.items.append(end)
            self._connect(node, end)
        for number, vertex in enumerate(vertices_in(self.root)):
            vertex.members = [number]
        operations = sum(v.kind not in (INPUT, OUTPUT, CONSTANT) for v in vertices_in(self.root))
        steps = [(self.made[node].members[0], ct) for node, ct in self.recording.steps if node in self.made]
        return Graph(
            self.recording.title, self.root, list(self.edges), operations, steps, self.recording.stopped
        )

    def _operation(self, node: Node, note: Note) -> Vertex:
        arrays = [(slot, x) for slot, _, x in note.constants if np.ndim(x)]
        outs = self._outs(node)
        vertex = Vertex(
            note.name,
            note.kind,
            outs,
            detail_of(note),
            note.line,
            len(node.parents) + len(arrays),
            note.value,
        )
        group = self._group(note.boxes)
        for slot, x in arrays:
            self._constant(x, vertex, slot, group)
        group.items.append(vertex)
        slots = getattr(node.plan, "slots", ())
        for k, parent in enumerate(node.parents):
            self._connect(parent, vertex, slots[k] if k < len(slots) else k)
        return vertex

    def _outs(self, node: Node) -> tuple[Spec, ...]:
        if not isinstance(node.shape, int):
            return (node.spec,)
        picks = [n for n in self.recording.nodes if n.plan is PICK and n.parents[0] is node]
        specs = {pick.saved: pick.spec for pick in picks}
        return tuple(specs.get(k, Spec((), np.dtype(float))) for k in range(node.shape))

    def _group(self, boxes: tuple[TransformRun, ...]) -> Group:
        """The innermost group for these boxes: one that is open, or a new one."""
        same = 0
        while same < min(len(boxes), len(self.open)) and boxes[same] is self.open[same][0]:
            same += 1
        del self.open[same:]
        for box in boxes[same:]:
            group = Group(box.title)
            self._innermost().items.append(group)
            self.open.append((box, group))
        return self._innermost()

    def _innermost(self) -> Group:
        return self.open[-1][1] if self.open else self.root

    def _constant(self, x: Any, vertex: Vertex, slot: int, group: Group) -> None:
        """Show a constant array, once; it stands where it is first used, if that is its only place."""
        if id(x) not in self.constants:
            x_spec = Spec(x.shape, x.dtype) if hasattr(x, "dtype") else Spec(np.shape(x), np.asarray(x).dtype)
            constant = Vertex("array", CONSTANT, (x_spec,), value=told(x))
            self.constants[id(x)] = constant, x
            group.items.append(constant)
        self.edges[Edge(self.constants[id(x)][0], vertex, slot=slot)] = None

    def _connect(self, node: Node, target: Vertex, slot: int = 0) -> None:
        output = node.saved if node.plan is PICK else 0
        self.edges[Edge(self.made[made_by(node)], target, output, slot)] = None


def detail_of(note: Note) -> str:
    """The numbers and options of a call, in short."""
    parts = [f"{name}={number(x)}" for _, name, x in note.constants if not np.ndim(x)]
    params = note.call.params if note.call is not None else {}
    parts += [index_text(v) if name == "index" else f"{name}={shortened(v)}" for name, v in params.items()]
    return shorten(", ".join(parts), 28)


def number(x: Any) -> str:
    """A number with a few digits."""
    plain = x.item() if hasattr(x, "item") else x
    return f"{plain:.4g}" if isinstance(plain, (int, float)) and not isinstance(plain, bool) else str(plain)


def index_text(index: Any) -> str:
    """An index as it is written."""
    return f"[{', '.join(map(index_part, index if isinstance(index, tuple) else (index,)))}]"


def index_part(i: Any) -> str:
    """One of the parts of an index."""
    if isinstance(i, slice):
        ends = ["" if end is None else str(end) for end in (i.start, i.stop, i.step)]
        return ":".join(ends if i.step is not None else ends[:2])
    return "..." if i is Ellipsis else shortened(i)


def shortened(x: Any) -> str:
    """A parameter, in short."""
    if hasattr(x, "shape") and np.ndim(x):
        return f"array {np.shape(x)}"
    return shorten(str(x), 16)


def shorten(text: str, width: int) -> str:
    """`text`, cut to a width."""
    return text if len(text) <= width else text[: width - 1] + "…"


def spec_text(spec: Spec | None) -> str:
    """'(3, 4) float64'."""
    return f"{spec.shape} {spec.dtype}" if spec is not None else ""
