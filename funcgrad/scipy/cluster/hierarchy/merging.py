"""Hierarchical clustering: which clusters merge is constant, at what distance is not (Lance, Williams)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.cluster.hierarchy as sh

from funcgrad.core.engine.primitive import as_operand
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.linalg.stacks import plain
from funcgrad.scipy.spatial.distance.metrics import pdist, squareform

hierarchy = Chapter("cluster.hierarchy")

# The distance of others to the union of a and b, with na, nb, n members: from their distances to a and to b,
# and that of a and b.
Update = Callable[..., Any]


def _ward(da: Any, db: Any, dab: Any, na: Any, nb: Any, n: Any) -> Any:
    return np.sqrt(((na + n) * da**2 + (nb + n) * db**2 - n * dab**2) / (na + nb + n))


def _centroid(da: Any, db: Any, dab: Any, na: Any, nb: Any, n: Any) -> Any:
    s = na + nb
    return np.sqrt((na * da**2 + nb * db**2) / s - na * nb * dab**2 / s**2)


UPDATES: dict[str, Update] = {
    "single": lambda da, db, dab, na, nb, n: np.minimum(da, db),
    "complete": lambda da, db, dab, na, nb, n: np.maximum(da, db),
    "average": lambda da, db, dab, na, nb, n: (na * da + nb * db) / (na + nb),
    "weighted": lambda da, db, dab, na, nb, n: (da + db) / 2,
    "centroid": _centroid,
    "median": lambda da, db, dab, na, nb, n: np.sqrt(da**2 / 2 + db**2 / 2 - dab**2 / 4),
    "ward": _ward,
}


@hierarchy.composite("linkage")
def linkage(y, method="single", metric="euclidean", optimal_ordering=False):
    y = as_operand(y)
    found = sh.linkage(np.asarray(plain(y)), method, metric, optimal_ordering)
    distances = squareform(pdist(y, metric) if y.ndim == 2 else y)
    count = distances.shape[0]
    rows = {i: distances[i] for i in range(count)}  # distances to the clusters of `order`
    order, sizes, heights = list(range(count)), dict.fromkeys(range(count), 1), []
    for step, (a, b) in enumerate(found[:, :2].astype(int)):
        rest = [k for k in range(len(order)) if order[k] not in (a, b)]
        da, db, dab = rows[a][rest], rows[b][rest], rows[a][order.index(b)]
        heights.append(dab)
        n = np.array([sizes[order[k]] for k in rest], float)
        with np.errstate(invalid="ignore"):
            new = UPDATES[method](da, db, dab, sizes[a], sizes[b], n)
        others = [order[k] for k in rest]
        rows = {k: np.concatenate([rows[k][rest], new[i : i + 1]]) for i, k in enumerate(others)}
        rows[count + step] = np.concatenate([new, np.zeros(1)])
        sizes[count + step] = sizes[a] + sizes[b]
        order = [*others, count + step]
    return np.concatenate([found[:, :2], np.stack(heights)[:, None], found[:, 3:]], axis=1)


@hierarchy.composite("cophenet")
def cophenet(Z, Y=None):
    z = as_operand(Z)
    heights, merges = z[:, 2], np.asarray(plain(z))[:, :2].astype(int)
    count = len(merges) + 1
    members: dict[int, list[int]] = {i: [i] for i in range(count)}
    where = np.zeros((count, count), int)
    for step, (a, b) in enumerate(merges):
        for i in members[a]:
            where[i, members[b]] = where[members[b], i] = step
        members[count + step] = members[a] + members[b]
    distances = heights[where[np.triu_indices(count, 1)]]
    if Y is None:
        return distances
    y = as_operand(Y)
    u, v = y - np.mean(y), distances - np.mean(distances)
    return np.sum(u * v) / np.sqrt(np.sum(u**2) * np.sum(v**2)), distances


hierarchy.piecewise_constant(
    "fcluster fclusterdata leaves_list cut_tree leaders is_valid_linkage is_monotonic num_obs_linkage"
)
