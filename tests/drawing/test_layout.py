"""The layout of any acyclic graph: nothing overlaps, edges lead down, coordinates are the nearest."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from funcgrad.drawing.layout import DUMMY_GAP, GAP, Piece, Wire, arrange, settle


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 14))
    cells = [Piece(k, draw(st.floats(10, 120)), draw(st.floats(10, 60))) for k in range(n)]
    pairs = draw(st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=24))
    return cells, [Wire(cells[min(p)], cells[max(p)], name=p) for p in pairs if p[0] != p[1]]


@given(graphs())
def test_nothing_overlaps_and_edges_lead_down(graph):
    cells, links = graph
    layout = arrange(cells, links)
    for i, cell in enumerate(cells):
        assert cell.x - cell.width / 2 >= -1e-6
        assert cell.x + cell.width / 2 <= layout.width + 1e-6
        assert cell.y + cell.height <= layout.height + 1e-6
        for other in cells[:i]:
            apart = abs(cell.x - other.x) + 1e-6 >= (cell.width + other.width) / 2
            assert apart or cell.y >= other.y + other.height or other.y >= cell.y + cell.height
    for link in links:
        assert link.source.rank < link.target.rank
        points = layout.routes[link]
        assert points[0][1] == link.source.y + link.source.height
        assert points[-1][1] == link.target.y
        assert abs(points[-1][0] - link.target.x) <= link.target.width / 2
        assert all(a[1] <= b[1] for a, b in pairwise(points))


@given(
    st.lists(st.tuples(st.floats(-100, 100), st.floats(0.1, 5)), min_size=2, max_size=8),
    st.integers(0, 2**32 - 1),
)
def test_positions_are_the_nearest_to_the_wishes(wanted, seed):
    rng = np.random.default_rng(seed)
    row = [Piece(k, 10.0, dummy=rng.random() < 0.5) for k in range(len(wanted))]
    wishes, weights = map(np.array, zip(*wanted))
    gaps = np.array([10 + (DUMMY_GAP if a.dummy or b.dummy else GAP) for a, b in pairwise(row)])
    settle(row, wishes.tolist(), weights.tolist())
    found = np.array([cell.x for cell in row])
    assert np.all(np.diff(found) >= gaps - 1e-6)
    cost = np.sum(weights * (found - wishes) ** 2)
    for _ in range(20):  # no allowed place nearby is better
        moved = found + rng.normal(0, 3, len(row))
        for k, gap in enumerate(gaps):
            moved[k + 1] = max(moved[k + 1], moved[k] + gap)
        assert cost <= np.sum(weights * (moved - wishes) ** 2) + 1e-6
