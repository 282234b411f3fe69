"""Where everything in a picture stands: each group is laid out alone, as one cell of its outer group.

An edge that crosses the border of a group passes through a port there: so it is routed in each of the groups
on its way, and never crosses what it has nothing to do with.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from funcgrad.drawing.graph import CONSTANT, INPUT, OUTPUT, Edge, Group, Item, Vertex, spec_text, vertices_in
from funcgrad.drawing.layout import Arrangement, Piece, Point, Wire, arrange

PAD, HEADER, ARC, STUB = 14.0, 26.0, 14.0, 20.0
LABEL, DETAIL, SMALL = 13.0, 10.5, 9.5
_NARROW, _WIDE = set("iljtfrI.,:;'|![]() -"), set("mwMW@%…")

Key = tuple[Any, ...]


def text_width(text: str, size: float) -> float:
    """About how wide a text is, in the sans-serif fonts of browsers."""
    return size * sum(
        0.38 if c in _NARROW else 0.94 if c in _WIDE else 0.68 if c.isupper() else 0.6 for c in text
    )


@dataclass
class Route:
    """A line to be drawn: its points, the edge it is a part of, whether it begins or ends that edge."""

    points: list[Point]
    edge: Edge
    begins: bool
    ends: bool


@dataclass
class Scene:
    """A group, laid out; positions are relative to its own corner."""

    group: Group
    width: float = 0.0
    height: float = 0.0
    top: float = 0.0  # between the outer edge and the rectangle
    right: float = 0.0
    bottom: float = 0.0
    vertices: list[tuple[Vertex, Piece]] = field(default_factory=list)
    scenes: list[tuple[Scene, Point]] = field(default_factory=list)
    routes: list[Route] = field(default_factory=list)
    entries: dict[Key, float] = field(default_factory=dict)
    exits: dict[Key, float] = field(default_factory=dict)
    arcs: list[Edge] = field(default_factory=list)


def key_of(edge: Edge, *, entering: bool = False) -> Key:
    """What one port stands for: an output of a vertex (of the round before, if carried into the next)."""
    return (edge.source, edge.output, entering and edge.carried is not None)


def vertex_size(vertex: Vertex) -> tuple[float, float]:
    """Width and height of a vertex's shape."""
    width = max(text_width(vertex.label, LABEL), text_width(vertex.detail, DETAIL)) + 22
    several = len(vertex.outs) * room_of(vertex) if len(vertex.outs) > 1 else 0.0
    return max(width, several, 44.0), 42.0 if vertex.detail else 28.0


def room_of(vertex: Vertex) -> float:
    """The distance between the outputs of one vertex: labels fit in, unless there are many."""
    return max(text_width(spec_text(out), SMALL) for out in vertex.outs) + 8 if has_labels(vertex) else 10.0


def has_labels(vertex: Vertex) -> bool:
    """Are few enough outputs there to label them?"""
    return len(vertex.outs) <= 4


def footprint(vertex: Vertex) -> float:
    """The width that is kept free for a vertex and the label below it."""
    return max([vertex_size(vertex)[0], *(text_width(spec_text(out), SMALL) + 6 for out in vertex.outs[:1])])


class Composer:
    """Lays out one group, and those within."""

    def __init__(
        self, group: Group, edges: Sequence[Edge], firsts: dict[Any, Key], path: tuple[Group, ...] = ()
    ) -> None:
        self.group, self.firsts, self.path = group, firsts, (*path, group)
        self.item_of: dict[Vertex, Item] = {v: item for item in group.items for v in vertices_in(item)}
        self.edges = [e for e in edges if e.source in self.item_of or e.target in self.item_of]
        self.inner: dict[Item, Scene] = {
            item: Composer(item, self.edges, firsts, self.path).compose()
            for item in group.items
            if isinstance(item, Group)
        }
        self.cells: dict[Any, Piece] = {}
        self.links: dict[Wire, tuple[Edge, bool, bool]] = {}

    def compose(self) -> Scene:
        """The scene of this group."""
        bottoms: dict[Any, Piece] = {}
        tops: dict[Any, Piece] = {}
        for item in self.group.items:
            self.cells[item] = self._cell(item)
        for edge in self.edges:
            self._link(edge, tops, bottoms)
        layout = arrange([*tops.values(), *self.cells.values(), *bottoms.values()], list(self.links))
        return self._scene(layout, tops, bottoms)

    def _cell(self, item: Item) -> Piece:
        if isinstance(item, Vertex):
            return Piece(item, footprint(item), vertex_size(item)[1], "bottom" if item.kind == OUTPUT else "")
        return Piece(item, self.inner[item].width, self.inner[item].height)

    def _link(self, edge: Edge, tops: dict[Any, Piece], bottoms: dict[Any, Piece]) -> None:
        source, target = self.item_of.get(edge.source), self.item_of.get(edge.target)
        if edge.carried is not None and edge.carried not in self.path:
            return  # it stays within a group in here
        passes = edge.carried is not None or source is None or target is None
        if not passes and source is target:
            return
        begin = end = None
        if source is not None:
            end = (
                bottoms.setdefault(key_of(edge), Piece(key_of(edge), 6.0, held="bottom")) if passes else None
            )
            self._add(edge, source, None, self.cells[source], end or self.cells[target])
        if passes and target is not None and (edge.carried, key_of(edge)) not in self.firsts:
            key = key_of(edge, entering=True)
            begin = tops.setdefault(key, Piece(key, 6.0, held="top"))
            self._add(edge, None, target, begin, self.cells[target])

    def _add(self, edge: Edge, source: Item | None, target: Item | None, begin: Piece, end: Piece) -> None:
        if source is not None and not is_port(end):
            target = self.item_of[edge.target]
        leaves = enters = None
        if isinstance(source, Group):
            leaves = self.inner[source].exits[key_of(edge)] - self.inner[source].width / 2
        elif isinstance(source, Vertex) and len(source.outs) > 1:
            leaves = (edge.output - (len(source.outs) - 1) / 2) * room_of(source)
        if isinstance(target, Group):
            enters = self.inner[target].entries[key_of(edge, entering=True)] - self.inner[target].width / 2
        weight = 0.2 if isinstance(source, Vertex) and source.kind in (INPUT, CONSTANT) else 1.0
        link = Wire(begin, end, leaves, enters, key_of(edge), weight)
        if link not in self.links or edge.carried is None:  # what leads on as well is drawn as such
            self.links[link] = edge, isinstance(source, Vertex), isinstance(target, Vertex)

    def _scene(self, layout: Arrangement, tops: dict[Any, Piece], bottoms: dict[Any, Piece]) -> Scene:
        scene = Scene(self.group)
        scene.arcs = list({key_of(e): e for e in self.edges if e.carried is self.group}.values())
        is_root = len(self.path) == 1
        stacked = self.group.count > 1
        scene.top = ARC if scene.arcs else 0.0
        scene.bottom = (8.0 if stacked else 0.0) + scene.top
        scene.right = (10.0 if stacked else 0.0) + ARC * len(scene.arcs[:4])
        dx, dy = PAD, scene.top + (PAD if is_root else HEADER)
        header = text_width(header_of(self.group), 11.5) + 2 * PAD
        inner = max(layout.width, 0.0 if is_root else header - 2 * PAD)
        dx += (inner - layout.width) / 2
        scene.width = inner + 2 * PAD + scene.right
        scene.height = layout.height + dy + (PAD if is_root or not bottoms else 4.0) + scene.bottom
        for item in self.group.items:
            cell = self.cells[item]
            cell.x, cell.y = cell.x + dx, cell.y + dy
            if isinstance(item, Vertex):
                scene.vertices.append((item, cell))
            else:
                scene.scenes.append((self.inner[item], (cell.x - cell.width / 2, cell.y)))
        scene.entries = {key: cell.x + dx for key, cell in tops.items()}
        for edge in scene.arcs:
            first = self.firsts.get((self.group, key_of(edge)))
            if first is not None:
                scene.entries[key_of(edge, entering=True)] = scene.entries[first]
        scene.exits = {key: cell.x + dx for key, cell in bottoms.items()}
        scene.routes = [self._route(scene, link, layout.routes[link], dx, dy) for link in self.links]
        return scene

    def _route(self, scene: Scene, link: Wire, points: list[Point], dx: float, dy: float) -> Route:
        edge, begins, ends = self.links[link]
        moved = [(x + dx, y + dy) for x, y in points]
        if begins:  # upright past the label
            moved.insert(1, (moved[0][0], moved[0][1] + STUB))
            moved[2] = (moved[2][0], max(moved[2][1], moved[1][1]))
        if is_port(link.source):
            moved.insert(0, (moved[0][0], scene.top if edge.carried is self.group else 0.0))
        if is_port(link.target):
            moved.append((moved[-1][0], scene.height - (scene.bottom if edge.carried is self.group else 0.0)))
        return Route(moved, edge, begins, ends)


def is_port(cell: Piece) -> bool:
    """Does this cell stand for a port, not for an item?"""
    return isinstance(cell.key, tuple)


def header_of(group: Group) -> str:
    """What is written above a group."""
    times = f"{group.count} ×" if group.count > 1 else ""
    return f"{times} {group.title}".strip()


def first_values(edges: Sequence[Edge]) -> dict[Any, Key]:
    """(group, what is carried) -> what enters the first round at the very same operands: drawn as one."""
    firsts: dict[Any, Key] = {}
    for group in dict.fromkeys(edge.carried for edge in edges if edge.carried is not None):
        inside = set(vertices_in(group))
        carried, coming = defaultdict(set), defaultdict(set)
        for edge in edges:
            if edge.carried is group:
                carried[key_of(edge)].add((edge.target, edge.slot))
            elif edge.carried is None and edge.target in inside and edge.source not in inside:
                coming[key_of(edge)].add((edge.target, edge.slot))
        for key, targets in carried.items():
            for first in coming:
                if coming[first] == targets:
                    firsts[group, key] = first
    return firsts


def scene_of(root: Group, edges: Sequence[Edge]) -> Scene:
    """The whole picture."""
    return Composer(root, edges, first_values(edges)).compose()
