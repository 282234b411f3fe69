"""Shortest paths and trees: the path is SciPy's, its length the sum of the weights along it. Laplacians."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse.csgraph as sg

from funcgrad.core.engine.primitive import as_operand
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.linalg.stacks import plain
from funcgrad.scipy.sparse.structure import Pattern, gathered
from funcgrad.scipy.sparse.traced import TracedSparse, is_sparse, traced

graph = Chapter("sparse.csgraph")


def _edges(x: Any) -> TracedSparse:
    return traced(x) if is_sparse(x) else traced(as_operand(x), "csr")


def _lookup(a: TracedSparse) -> tuple[Any, dict[tuple[int, int], int], Any]:
    """The weights in their places, and SciPy's graph of plain weights."""
    s, member = a.structure.unique()
    weights = gathered(a.data, member, len(s.rows)).astype(np.float64)
    return (
        weights,
        {(int(i), int(j)): k for k, (i, j) in enumerate(zip(s.rows, s.cols))},
        s.matrix(np.asarray(plain(weights))),
    )


def _lengths(name: str) -> None:
    theirs = getattr(sg, name)

    @graph.composite(name)
    def body(csgraph, directed=True, indices=None, return_predecessors=False, unweighted=False, **options):
        weights, places, matrix = _lookup(_edges(csgraph))
        given = {"directed": directed, "return_predecessors": True, "unweighted": unweighted, **options}
        if name != "floyd_warshall":
            given["indices"] = indices
        length, before = theirs(matrix, **given)[:2]
        sources = np.arange(matrix.shape[0]) if indices is None else np.asarray(indices)
        out = length if unweighted else _along(weights, places, length, before, sources, directed)
        return (out, before) if return_predecessors else out


def _along(weights: Any, places: Any, length: Any, before: Any, sources: Any, directed: bool) -> Any:
    """The sum of the weights along each path."""
    flat_length, flat_before = np.atleast_2d(length), np.atleast_2d(before)
    member, edges = [], []
    for row, source in enumerate(np.atleast_1d(sources)):
        for target in range(flat_length.shape[1]):
            j = target
            while flat_before[row, j] >= 0 and j != source:
                i = int(flat_before[row, j])
                k = places.get((i, j))
                if not directed and (
                    k is None
                    or (j, i) in places
                    and flat_weight(weights, places[j, i]) < flat_weight(weights, k)
                ):
                    k = places[j, i]
                edges.append(k)
                member.append(row * flat_length.shape[1] + target)
                j = i
    total = gathered(weights[np.array(edges, int)], np.array(member, int), flat_length.size).reshape(
        flat_length.shape
    )
    total = np.where(np.isinf(flat_length), np.inf, total)
    return total.reshape(np.shape(length))


def flat_weight(weights: Any, k: int) -> float:
    """The plain weight of an edge."""
    return float(np.asarray(plain(weights))[k])


for _name in ("dijkstra", "bellman_ford", "johnson", "floyd_warshall", "shortest_path"):
    _lengths(_name)


@graph.composite("minimum_spanning_tree")
def minimum_spanning_tree(csgraph, overwrite=False):
    a = _edges(csgraph)
    weights, places, matrix = _lookup(a)
    tree = sg.minimum_spanning_tree(matrix).tocoo()
    at = np.array([places[int(i), int(j)] for i, j in zip(tree.row, tree.col)], int)
    return TracedSparse(weights[at], Pattern(tree.row, tree.col, a.shape), "csr", a.is_array)


@graph.composite("laplacian")
def laplacian(
    csgraph,
    normed=False,
    return_diag=False,
    use_out_degree=False,
    symmetrized=False,
    form="array",
    dtype=None,
):
    if form != "array" or is_sparse(csgraph):
        raise NotImplementedError(
            "scipy.sparse.csgraph.laplacian has a derivative rule for a dense graph and form='array' only"
        )
    a = as_operand(csgraph)
    a = a + a.T.conj() if symmetrized else a
    n = a.shape[0]
    a = a * (1 - np.eye(n, dtype=a.dtype))
    degree = a.sum(axis=1 if use_out_degree else 0)
    diagonal = degree
    out = -a + np.eye(n, dtype=a.dtype) * degree
    if normed:
        alone = degree == 0
        diagonal = np.where(alone, 1, np.sqrt(np.where(alone, 1, degree)))
        out = out / diagonal / diagonal[:, None]
    return (out, diagonal) if return_diag else out


graph.piecewise_constant("connected_components")
