"""Repeated structure, shown once with a count; and what is still too large, summed up.

All operations stand in the order of time, so that a run of them can always be put into one box without
closing a circle. What repeats is found as a period of that sequence: for each period p, the operations are
compared with those p places on.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from funcgrad.drawing.graph import (
    CONSTANT,
    FOLDED,
    INPUT,
    OUTPUT,
    Edge,
    Graph,
    Group,
    Item,
    Vertex,
    groups_in,
    vertices_in,
)

LEAST = 3  # rounds of a repetition
SAVES = 4  # vertices that folding must save
ROUNDS = 6  # of a repetition that is opened, shown one by one; of more, the first two and the last


class Run(NamedTuple):
    """`count` rounds of `period` items from `start`."""

    start: int
    period: int
    count: int

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.start + self.period * self.count

    @property
    def saved(self) -> int:
        """How many items folding it saves."""
        return (self.count - 1) * self.period


class Folder:
    """Folds a graph, except for what is `opened`: the keys of repetitions whose rounds are shown one by one.

    `stands_for` sends a vertex to the one shown, `rounds` tells its round of a group.
    """

    def __init__(self, opened: frozenset[str] = frozenset()) -> None:
        self.opened = opened
        self.stands_for: dict[Vertex, Vertex] = {}
        self.rounds: dict[Vertex, dict[Group, int]] = defaultdict(dict)
        self.whole: dict[Group, list[Vertex]] = {}

    def fold(self, items: Sequence[Item], key: str = "") -> list[Item]:
        """The items, with what repeats as a group with a count. `key` is that of the group around them."""
        for item in items:
            if isinstance(item, Group) and item not in self.whole:
                self.whole[item] = self._originals(item.items)
                item.items = self.fold(item.items, f"{key}{item.title}/")
        folded: list[Item] = []
        at = 0
        for number, run in enumerate(runs(items)):
            folded += items[at : run.start]
            folded += self._run(items, run, f"{key}{number}.")
            at = run.end
        return [*folded, *items[at:]]

    def _run(self, items: Sequence[Item], run: Run, key: str, first: int = 1) -> list[Item]:
        """A repetition: folded, or opened, with what is in the middle of a long one folded again."""
        if key not in self.opened:
            return [self._repeated(items, run, key)]
        shown = range(run.count) if run.count <= ROUNDS else [0, 1, run.count - 1]
        rounds: list[Item] = []
        for k in shown:
            block = items[run.start + k * run.period : run.start + (k + 1) * run.period]
            group = Group(f"round {first + k}", key=key)
            self.whole[group] = self._originals(block)
            group.items = self.fold(block, key)
            rounds.append(group)
        if run.count > ROUNDS:
            middle = Run(run.start + 2 * run.period, run.period, run.count - 3)
            rounds[2:2] = self._run(items, middle, f"{key}m", first + 2)
        return rounds

    def _originals(self, items: Iterable[Item]) -> list[Vertex]:
        originals: list[Vertex] = []
        for item in items:
            if isinstance(item, Vertex):
                originals.append(item)
            else:
                originals += self.whole[item] if item in self.whole else self._originals(item.items)
        return originals

    def _repeated(self, items: Sequence[Item], run: Run, key: str) -> Item:
        blocks = [
            items[run.start + k * run.period : run.start + (k + 1) * run.period] for k in range(run.count)
        ]
        group = Group("", count=run.count, key=key)
        self.whole[group] = self._originals(items[run.start : run.end])
        for k, block in enumerate(blocks):
            for vertex in self._originals(block):
                self.rounds[vertex][group] = k
        shown = [v for item in blocks[0] for v in vertices_in(item)]
        for block in blocks[1:]:
            for first, other in zip(shown, (v for item in block for v in vertices_in(item)), strict=True):
                self._merge(first, other)
        group.items = self.fold(blocks[0], key)
        only = group.items[0]
        if len(group.items) == 1 and isinstance(only, Group) and only.count == 1:
            group.title, group.items = only.title, only.items  # a transform in a loop: one box
        return group

    def _merge(self, first: Vertex, other: Vertex) -> None:
        if first.detail != other.detail:
            first.detail = "…"
        self.stands_for[other] = first

    def shown(self, vertex: Vertex) -> Vertex:
        """The vertex that stands for this one."""
        while vertex in self.stands_for:
            vertex = self.stands_for[vertex]
        return vertex

    def edge(self, edge: Edge) -> Edge:
        """An edge between the vertices that are shown."""
        source, target = self.rounds.get(edge.source, {}), self.rounds.get(edge.target, {})
        carried = next((g for g, k in source.items() if g in target and target[g] != k), None)
        return replace(edge, source=self.shown(edge.source), target=self.shown(edge.target), carried=carried)


def runs(items: Sequence[Item]) -> list[Run]:
    """Repetitions that don't overlap, those that save most first chosen; in order."""
    numbers: dict[object, int] = {}
    tokens = np.array([numbers.setdefault(item.token, len(numbers)) for item in items])
    candidates = [run for period in range(1, len(items) // LEAST + 1) for run in runs_of(tokens, period)]
    candidates.sort(key=lambda run: (-run.saved, run.period))
    covered = np.zeros(len(items), bool)
    chosen = []
    for run in candidates:
        if not covered[run.start : run.end].any():
            covered[run.start : run.end] = True
            chosen.append(aligned(items, tokens, run))
    return sorted(chosen)


def runs_of(tokens: np.ndarray, period: int) -> list[Run]:
    """The repetitions of one period."""
    same = np.concatenate([[False], tokens[period:] == tokens[:-period], [False]])
    changes = np.flatnonzero(same[1:] != same[:-1])
    starts, counts = changes[::2], (changes[1::2] - changes[::2]) // period + 1
    worth = (counts >= LEAST) & ((counts - 1) * period >= SAVES)
    return [
        Run(start, period, count)
        for start, count in zip(starts[worth].tolist(), counts[worth].tolist(), strict=True)
    ]


def aligned(items: Sequence[Item], tokens: np.ndarray, run: Run) -> Run:
    """The same run, begun where the loop begins, if there is room: at its first line."""
    room = 0
    while (
        run.end + room < len(items)
        and room < run.period
        and tokens[run.end + room] == tokens[run.start + room]
    ):
        room += 1
    starts = [
        item.line.number if isinstance(item, Vertex) else 0
        for item in items[run.start : run.start + room + 1]
    ]
    return run._replace(start=run.start + starts.index(min(starts)))


def folded(graph: Graph, limit: int, opened: frozenset[str] = frozenset()) -> Graph:
    """A graph with repeated structure shown once, but for what is `opened`, and at most about `limit` vertices.

    `graph` is left as it is.
    """
    graph = graph.copy()
    folder = Folder(opened)
    inputs, inner, outputs = parted(graph.root.items)
    root = Group(graph.root.title, [*inputs, *folder.fold(inner), *outputs])
    gather(folder, vertices_in(root), graph.edges)
    prune(root, set(folder.stands_for))
    summed_up(folder, root, limit)
    for vertex in folder.stands_for:
        folder.shown(vertex).members += vertex.members
    return replace(graph, root=root, edges=shown_edges(folder, root, graph.edges))


def parted(items: Iterable[Item]) -> tuple[list[Item], list[Item], list[Item]]:
    """Inputs, what is between, and outputs."""
    parts: dict[str, list[Item]] = {INPUT: [], "": [], OUTPUT: []}
    for item in items:
        kind = item.kind if isinstance(item, Vertex) else ""
        parts[kind if kind in parts else ""].append(item)
    return parts[INPUT], parts[""], parts[OUTPUT]


def shown_edges(folder: Folder, root: Group, edges: Iterable[Edge]) -> list[Edge]:
    """The edges between what is shown, each once; none from one round to the next of what was closed."""
    groups = set(groups_in(root))
    shown: dict[Edge, None] = {}
    for edge in map(folder.edge, edges):
        if edge.carried is not None and edge.carried not in groups:
            edge = replace(edge, carried=None)
        if edge.source is not edge.target or edge.carried:
            shown[edge] = None
    return list(shown)


def gather(folder: Folder, vertices: Iterable[Vertex], edges: Iterable[Edge]) -> None:
    """Merge inputs, constants and outputs of one kind that lead to (or from) the same shown vertices."""
    neighbours: dict[Vertex, set[tuple[Vertex, int]]] = defaultdict(set)
    for edge in edges:
        neighbours[edge.source].add((folder.shown(edge.target), edge.slot))
        if edge.target.kind == OUTPUT:
            neighbours[edge.target].add((folder.shown(edge.source), edge.output))
    alike: dict[object, list[Vertex]] = defaultdict(list)
    for vertex in vertices:
        if vertex.kind in (INPUT, OUTPUT, CONSTANT) and vertex not in folder.stands_for:
            alike[vertex.kind, vertex.outs, frozenset(neighbours[vertex])].append(vertex)
    for members in alike.values():
        if len(members) >= LEAST:
            first, last = members[0], members[-1]
            first.detail = f"{len(members)} of them"
            first.label = first.label if first.label == last.label else f"{first.label} … {last.label}"
            folder.stands_for.update(dict.fromkeys(members[1:], first))


def prune(group: Group, gone: set[Vertex]) -> None:
    """Take vertices out of a group, and of those within."""
    group.items = [item for item in group.items if item not in gone]
    for item in group.items:
        if isinstance(item, Group):
            prune(item, gone)
    group.items = [item for item in group.items if isinstance(item, Vertex) or item.items]


def size(item: Item) -> int:
    """How many vertices are in an item."""
    return sum(1 for _ in vertices_in(item))


def summed_up(folder: Folder, root: Group, limit: int) -> None:
    """Close groups, the largest first, and then runs of operations, until the picture is small enough."""
    while size(root) > limit:
        groups = [item for item in root.items if isinstance(item, Group)]
        if not groups:
            break
        largest = max(groups, key=size)
        times = f" × {largest.count}" if largest.count > 1 else ""
        at = root.items.index(largest)
        root.items[at] = summary(folder, f"{largest.title or 'repeated'}{times}", [largest])
    root.items = [
        item
        for part, name in zip(parted(root.items), ("inputs", "operations", "outputs"), strict=True)
        for item in in_chunks(folder, part, name, limit)
    ]


def in_chunks(folder: Folder, items: list[Item], name: str, limit: int) -> list[Item]:
    """Neighbours closed together, if there are more than half of what may be shown."""
    if 2 * len(items) <= limit:
        return items
    step = -(-2 * len(items) // limit) if name == "operations" else len(items)
    chunks = [items[k : k + step] for k in range(0, len(items), step)]
    return [summary(folder, f"{len(chunk)} {name}", chunk) for chunk in chunks]


def summary(folder: Folder, label: str, items: Sequence[Item]) -> Vertex:
    """One vertex in the place of several."""
    inside = [v for item in items for v in vertices_in(item)]
    kinds = {v.kind for v in inside}
    common = Counter(v.label for v in inside if v.kind not in (INPUT, OUTPUT, CONSTANT)).most_common(3)
    detail = ", ".join(f"{n} {name}" for name, n in common)
    vertex = Vertex(
        label,
        kinds.pop() if len(kinds) == 1 and kinds <= {INPUT, OUTPUT} else FOLDED,
        (),
        detail,
        inside[0].line,
    )
    folder.stands_for.update(dict.fromkeys(inside, vertex))
    return vertex
