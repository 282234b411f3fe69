"""Points: nearest neighbours, hulls, procrustes, arcs on spheres."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.spatial as ss

from funcgrad.core.arrays.arguments import as_operand
from funcgrad.core.engine.trace import RUNNING
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.linalg.stacks import plain
from funcgrad.scipy.mirror import carries_tracer
from funcgrad.scipy.spatial.distance.metrics import _double, _minkowski

spatial = Chapter("spatial")
spatial.rerun("procrustes geometric_slerp minkowski_distance_p")


@spatial.composite("minkowski_distance")
def minkowski_distance(x, y, p=2):
    return _minkowski(_double(x), _double(y), p)


@spatial.composite("distance_matrix")
def distance_matrix(x, y, p=2, threshold=1000000):
    x, y = _double(x), _double(y)
    if x.shape[1] != y.shape[1]:
        raise ValueError(
            f"x contains {x.shape[1]}-dimensional vectors but y contains {y.shape[1]}-dimensional vectors"
        )
    return _minkowski(x[:, None, :], y[None, :, :], p)


def _values(x: Any) -> Any:
    return np.asarray(plain(as_operand(x)))


class _Neighbours:
    """What the trees share: SciPy searches, on plain values; distances are computed from what it found."""

    def __init__(self, data: Any, *args: Any, **kwargs: Any) -> None:
        self._points = data if carries_tracer(data) else None
        super().__init__(_values(data) if carries_tracer(data) else data, *args, **kwargs)

    def __carries_tracer__(self) -> bool:
        return self._points is not None

    def query(
        self,
        x: Any,
        k: Any = 1,
        eps: float = 0.0,
        p: float = 2.0,
        distance_upper_bound: float = np.inf,
        workers: int = 1,
    ):
        """As SciPy's; the distances have derivatives in x and in the points."""
        theirs: Any = super()
        if RUNNING.get() is None or not carries_tracer((x, self)):
            return theirs.query(x, k, eps, p, distance_upper_bound, workers)
        _, where = theirs.query(_values(x), k, eps, p, distance_upper_bound, workers)
        x = as_operand(x)
        points: Any = self.data if self._points is None else as_operand(self._points)
        found = np.asarray(where) < self.n
        near = points[np.where(found, where, 0)]
        spread = x[..., None, :] if np.ndim(where) > x.ndim - 1 else x
        return np.where(
            found, _minkowski(spread.astype(np.float64), near.astype(np.float64), p), np.inf
        ), where

    def query_ball_point(self, x: Any, r: Any, *args: Any, **kwargs: Any) -> Any:
        """As SciPy's: indices, which are constant."""
        theirs: Any = super()
        return theirs.query_ball_point(_values(x), _values(r), *args, **kwargs)


class KDTree(_Neighbours, ss.KDTree):
    """scipy.spatial.KDTree, of points that may be tracers, and searched for tracers."""


class CKDTree(_Neighbours, ss.cKDTree):
    """scipy.spatial.cKDTree, likewise."""

    __name__ = "cKDTree"


spatial.replaces("KDTree", KDTree)
spatial.replaces("cKDTree", CKDTree)


def _of_values(name: str) -> None:
    """A class whose combinatorics are those of the plain values."""
    theirs = getattr(ss, name)

    def __init__(self: Any, points: Any, *args: Any, **kwargs: Any) -> None:
        self._traced = points if carries_tracer(points) else None
        theirs.__init__(self, _values(points) if carries_tracer(points) else points, *args, **kwargs)
        if self._traced is not None:
            for name, measured in _MEASURED.get(type(self).__name__, {}).items():
                setattr(self, name, measured(self))

    made = type(name, (theirs,), {"__init__": __init__, "__doc__": theirs.__doc__})
    spatial.replaces(name, made)


def _simplex_volumes(hull: Any) -> Any:
    """The volumes of the cones from the middle of the points to the facets, in any dimension."""
    points = _double(hull._traced)
    middle = np.mean(points, axis=0)
    facets = points[hull.simplices] - middle
    return abs(np.linalg.det(facets)) / float(np.prod(np.arange(1, points.shape[1] + 1)))


def _volume(hull: Any) -> Any:
    return np.sum(_simplex_volumes(hull))


def _area(hull: Any) -> Any:
    corners = _double(hull._traced)[hull.simplices]
    edges = corners[:, 1:] - corners[:, :1]
    gram = edges @ edges.swapaxes(-1, -2)
    return np.sum(np.sqrt(np.linalg.det(gram))) / float(np.prod(np.arange(1, edges.shape[1] + 1)))


_MEASURED: dict[str, dict[str, Any]] = {"ConvexHull": {"volume": _volume, "area": _area}}
for _name in ("Delaunay", "ConvexHull", "Voronoi"):
    _of_values(_name)
