"""Layered drawing of a directed acyclic graph (Sugiyama): ranks, order within ranks, coordinates.

Sizes are given and positions found; nothing here knows what is drawn. Edges that pass several ranks run
through dummies, which all edges from one place share. The x coordinates are those that come closest, rank by
rank, to the mean of the neighbours, with the order and the distances kept: a regression with constraints,
solved exactly by pooling adjacent violators.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

Point = tuple[float, float]
GAP, RANK_GAP, PORT_GAP, DUMMY_GAP = 26.0, 52.0, 30.0, 14.0
SWEEPS = 8


@dataclass(eq=False)
class Piece:
    """Something to be placed: its size, and the rank it is held to ("top", "bottom" or "")."""

    key: Hashable
    width: float = 0.0
    height: float = 0.0
    held: str = ""
    dummy: bool = False
    rank: int = 0
    x: float = 0.0  # its middle
    y: float = 0.0  # its upper edge


@dataclass(frozen=True)
class Wire:
    """An edge between cells; `leaves` and `enters` are offsets from their middles, where these are fixed."""

    source: Piece
    target: Piece
    leaves: float | None = None
    enters: float | None = None
    name: Hashable = None
    weight: float = 1.0  # how much its target is to stand below its source


@dataclass
class Arrangement:
    """Cells with their positions, the points that each link passes, and the size of it all."""

    cells: list[Piece]
    routes: dict[Wire, list[Point]] = field(default_factory=dict)
    width: float = 0.0
    height: float = 0.0


class Segment:
    """A part of a link between neighbouring ranks."""

    __slots__ = ("enters", "leaves", "lower", "upper", "weight")

    def __init__(self, upper: Piece, lower: Piece, leaves: float, enters: float, weight: float = 1.0) -> None:
        self.upper, self.lower, self.leaves, self.enters, self.weight = upper, lower, leaves, enters, weight


def arrange(cells: Sequence[Piece], links: Sequence[Wire]) -> Arrangement:
    """Place the cells (given in an order in which every link leads on), and route the links."""
    rank(cells, links)
    chains, ranks, segments = with_dummies(cells, links)
    order(ranks, segments)
    place(ranks, segments)
    height = stack_up(ranks)
    layout = Arrangement(list(cells), {}, 0.0, height)
    every = [cell for row in ranks for cell in row]
    left = min((cell.x - cell.width / 2 for cell in every), default=0.0)
    for cell in every:
        cell.x -= left
    layout.width = max((cell.x + cell.width / 2 for cell in every), default=0.0)
    spans = [
        (min(c.y for c in row), max(c.y + c.height for c in row)) if row else (0.0, 0.0) for row in ranks
    ]
    enters = spread(links)
    for link in links:
        layout.routes[link] = route(link, chains, spans, enters)
    return layout


def rank(cells: Sequence[Piece], links: Sequence[Wire]) -> None:
    """The longest path decides; what has no source comes down to just above where it is needed."""
    incoming, outgoing = defaultdict(list), defaultdict(list)
    for link in links:
        incoming[link.target].append(link.source)
        outgoing[link.source].append(link.target)
    first = 1 if any(cell.held == "top" for cell in cells) else 0
    for cell in cells:
        if cell.held != "top":
            cell.rank = max([first, *(source.rank + 1 for source in incoming[cell])])
        else:
            cell.rank = 0
    for cell in reversed(cells):
        if not cell.held and not incoming[cell] and outgoing[cell]:
            cell.rank = max(first, min(target.rank for target in outgoing[cell]) - 1)
    last = max((cell.rank for cell in cells if cell.held != "bottom"), default=0) + 1
    for cell in cells:
        if cell.held == "bottom":
            cell.rank = last


def with_dummies(
    cells: Sequence[Piece], links: Sequence[Wire]
) -> tuple[dict[Hashable, list[Piece]], list[list[Piece]], list[Segment]]:
    """The chain of dummies behind each place that links leave, the cells by rank, and all segments."""
    ranks: list[list[Piece]] = [[] for _ in range(max((cell.rank for cell in cells), default=-1) + 1)]
    for cell in cells:
        ranks[cell.rank].append(cell)
    chains: dict[Hashable, list[Piece]] = {}
    segments: list[Segment] = []
    for link in links:
        chain = chains.setdefault((link.source, link.leaves, link.name), [])
        for at in range(link.source.rank + 1 + len(chain), link.target.rank):
            dummy = Piece(None, 2.0, dummy=True, rank=at)
            ranks[at].append(dummy)
            upper = chain[-1] if chain else link.source
            segments.append(Segment(upper, dummy, 0.0 if chain else link.leaves or 0.0, 0.0))
            chain.append(dummy)
        between = link.target.rank - link.source.rank - 1
        upper, leaves = (chain[between - 1], 0.0) if between > 0 else (link.source, link.leaves or 0.0)
        segments.append(Segment(upper, link.target, leaves, link.enters or 0.0, link.weight))
    return chains, ranks, segments


def order(ranks: list[list[Piece]], segments: Sequence[Segment]) -> None:
    """Order each rank by its neighbours' mean position, down and up in turn, and keep the best order."""
    above, below = defaultdict(list), defaultdict(list)
    for s in segments:
        above[s.lower].append((s.upper, s.leaves))
        below[s.upper].append((s.lower, s.enters))
    position = {cell: float(i) for row in ranks for i, cell in enumerate(row)}
    best, fewest = [list(row) for row in ranks], crossings(ranks, segments, position)
    for sweep in range(SWEEPS):
        if not fewest:
            break
        near = above if sweep % 2 == 0 else below
        for row in ranks if near is above else reversed(ranks):
            wish = {
                cell: mean([position[n] + offset / 1e4 for n, offset in near[cell]], position[cell])
                for cell in row
            }
            row.sort(key=wish.__getitem__)
            position.update((cell, float(i)) for i, cell in enumerate(row))
        count = crossings(ranks, segments, position)
        if count < fewest:
            best, fewest = [list(row) for row in ranks], count
    for row, kept in zip(ranks, best, strict=True):
        row[:] = kept


def mean(values: Sequence[float], otherwise: float) -> float:
    """The mean of values, if there are any."""
    return sum(values) / len(values) if values else otherwise


def crossings(
    ranks: Sequence[Sequence[Piece]], segments: Sequence[Segment], position: dict[Piece, float]
) -> int:
    """How many pairs of segments cross."""
    rows: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for s in segments:
        rows[s.upper.rank].append((position[s.upper] + s.leaves / 1e4, position[s.lower] + s.enters / 1e4))
    count = 0
    for pairs in rows.values():
        ends = [lower for _, lower in sorted(pairs)]
        seen: list[float] = []
        for end in ends:  # inversions
            count += sum(1 for other in seen if other > end)
            seen.append(end)
    return count


def place(ranks: Sequence[Sequence[Piece]], segments: Sequence[Segment]) -> None:
    """Find x: rank by rank as near as can be to the neighbours, downwards and upwards in turn."""
    above, below = defaultdict(list), defaultdict(list)
    for s in segments:
        weight = 8.0 if s.upper.dummy and s.lower.dummy else 2.0 if s.upper.dummy or s.lower.dummy else 1.0
        above[s.lower].append((s.upper, s.leaves - s.enters, weight * s.weight))
        below[s.upper].append((s.lower, s.enters - s.leaves, weight * s.weight))
    for row in ranks:
        settle(row, [0.0] * len(row), [1.0] * len(row))
    for sweep in range(SWEEPS + 1):
        both = sweep == SWEEPS
        for row in ranks if sweep % 2 == 0 else reversed(ranks):
            wishes, weights = [], []
            for cell in row:
                near = [*above[cell], *below[cell]] if both else (above if sweep % 2 == 0 else below)[cell]
                total = sum(w for _, _, w in near)
                wishes.append(sum((n.x + shift) * w for n, shift, w in near) / total if near else cell.x)
                weights.append(total or 0.1)
            settle(row, wishes, weights)


def settle(row: Sequence[Piece], wishes: Sequence[float], weights: Sequence[float]) -> None:
    """The positions nearest to the wishes (in the weighted mean square) that keep order and distances."""
    offsets, at = [], 0.0
    for i, cell in enumerate(row):
        if i:
            gap = DUMMY_GAP if cell.dummy or row[i - 1].dummy else GAP
            at += (row[i - 1].width + cell.width) / 2 + gap
        offsets.append(at)
    pools: list[list[float]] = []  # [sum of weight * wish, sum of weights, how many]
    for wish, weight, offset in zip(wishes, weights, offsets, strict=True):
        pools.append([(wish - offset) * weight, weight, 1])
        while len(pools) > 1 and pools[-2][0] / pools[-2][1] >= pools[-1][0] / pools[-1][1]:
            last = pools.pop()
            pools[-1] = [a + b for a, b in zip(pools[-1], last, strict=True)]
    places = [pool[0] / pool[1] for pool in pools for _ in range(int(pool[2]))]
    for cell, x, offset in zip(row, places, offsets, strict=True):
        cell.x = x + offset


def stack_up(ranks: Sequence[Sequence[Piece]]) -> float:
    """Find y; the height of it all. Cells stand in the middle of their rank."""
    y = 0.0
    for i, row in enumerate(ranks):
        height = max((cell.height for cell in row), default=0.0)
        for cell in row:
            cell.y = y + (0.0 if cell.dummy else (height - cell.height) / 2)
        if i + 1 < len(ranks):
            y += height + (PORT_GAP if is_held(row) or is_held(ranks[i + 1]) else RANK_GAP)
        else:
            y += height
    return y


def is_held(row: Sequence[Piece]) -> bool:
    """Is this the rank of ports, at the edge of a group?"""
    return any(cell.held and not cell.height for cell in row)


def spread(links: Sequence[Wire]) -> dict[Wire, float]:
    """Where links enter cells that don't fix it: side by side, in the order of their sources."""
    arriving: dict[Piece, list[Wire]] = defaultdict(list)
    for link in links:
        if link.enters is None:
            arriving[link.target].append(link)
    offsets: dict[Wire, float] = {}
    for target, several in arriving.items():
        several.sort(key=lambda link: link.source.x)
        room = min(14.0, target.width * 0.7 / len(several))
        for i, link in enumerate(several):
            offsets[link] = (i - (len(several) - 1) / 2) * room
    return offsets


def route(
    link: Wire, chains: dict[Hashable, list[Piece]], spans: Sequence[Point], enters: dict[Wire, float]
) -> list[Point]:
    """The points that a link passes: upright through each rank, and within those of its ends."""
    source, target = link.source, link.target
    x = source.x + (link.leaves or 0.0)
    points = [(x, source.y + source.height), (x, spans[source.rank][1])]
    for dummy in chains[source, link.leaves, link.name][: target.rank - source.rank - 1]:
        points += [(dummy.x, y) for y in spans[dummy.rank]]
    x = target.x + enters.get(link, link.enters or 0.0)
    return [*points, (x, spans[target.rank][0]), (x, target.y)]
