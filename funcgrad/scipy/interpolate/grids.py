"""Data on grids: RegularGridInterpolator and NdBSpline, by products of one-dimensional splines."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core.arrays.ufunc import as_array
from funcgrad.core.memory.indexing import GETITEM
from funcgrad.scipy.classes import instead
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.interpolate.bsplines import basis, nd_spline
from funcgrad.scipy.interpolate.piecewise import interval
from funcgrad.scipy.rerun import HELPERS, leaves, values

interpolate = Chapter("interpolate")


def _coordinates(points: Any, ndim: Any = None) -> Any:
    """Points as an array with the coordinates along its last axis, from a tuple of coordinates too."""
    if isinstance(points, tuple) and len(points) == 1:
        points = points[0]
    if isinstance(points, tuple):
        return np.stack(np.broadcast_arrays(*(as_array(p) for p in points)), axis=-1)
    points = as_array(points)
    return points.reshape(-1, 1 if ndim is None else ndim) if points.ndim == 1 else points


HELPERS["_ndim_coords_from_arrays"] = _coordinates


def _find_indices(grid: Any, x: Any) -> tuple[Any, Any]:
    """The cell of each point (x has the coordinates along axis 0), and where it lies in it."""
    x = as_array(x)
    places, shares = [], []
    for d, points in enumerate(grid):
        points = as_array(points)
        if points.shape[0] == 1:
            places.append(np.zeros(x.shape[1], int))
            shares.append(0.0 * x[d])
            continue
        where = interval(points, x[d])
        start = GETITEM(points, where)
        places.append(where)
        shares.append((x[d] - start) / (GETITEM(points, where + 1) - start))
    return np.stack(places), np.stack(shares)


def _linear_2d(data: Any, indices: Any, shares: Any, grid: Any, out: Any) -> Any:
    (i, j), (s, r) = indices, shares
    upper_i, upper_j = (np.minimum(k + 1, n - 1) for k, n in zip((i, j), data.shape))
    corner = lambda a, b: GETITEM(data.reshape(-1), a * data.shape[1] + b)
    low = corner(i, j) * (1 - r) + corner(i, upper_j) * r
    high = corner(upper_i, j) * (1 - r) + corner(upper_i, upper_j) * r
    return low * (1 - s) + high * s


leaves("scipy.interpolate._rgi_cython", find_indices=_find_indices, evaluate_linear_2d=_linear_2d)


def _call_nd_spline(self: Any, xi: Any, *, nu: Any = None, extrapolate: Any = None) -> Any:
    """The values of an NdBSpline."""
    t, c, k = self.t, as_array(self.c), self.k
    dims = len(t)
    k = (k,) * dims if np.ndim(k) == 0 else k
    nu = (0,) * dims if nu is None else nu
    x = as_array(xi)
    flat = x.reshape(-1, x.shape[-1])
    axes = [basis(as_array(t[d]), int(k[d]), flat[:, d], int(nu[d])) for d in range(dims)]
    out = nd_spline(axes, c.reshape((*c.shape[:dims], -1)))
    if not (self.extrapolate if extrapolate is None else extrapolate):
        knots = [values(t[d]) for d in range(dims)]
        invalid = [
            (values(flat)[:, d] < knots[d][k[d]]) | (values(flat)[:, d] > knots[d][-k[d] - 1])
            for d in range(dims)
        ]
        out = np.where(np.any(invalid, axis=0)[:, None], np.nan, out)
    return out.reshape((*x.shape[:-1], *c.shape[dims:]))


def _make_nd_spline(points: Any, data: Any, k: Any = 3, **_: Any) -> Any:
    """The spline through data on a grid, by an interpolation along one axis after the other."""
    from funcgrad.scipy import interpolate as ours

    dims = len(points)
    k = (k,) * dims if np.ndim(k) == 0 else k
    c, knots = as_array(data), []
    for d in range(dims):
        made = ours.make_interp_spline(points[d], c, k=int(k[d]), axis=d)
        c = np.moveaxis(as_array(made.c), 0, d)
        knots.append(made.t)
    return ours.NdBSpline(tuple(knots), c, tuple(int(j) for j in k))


instead(interpolate.replaced("NdBSpline"), __call__=_call_nd_spline)
leaves("scipy.interpolate._ndbspline", make_ndbspl=_make_nd_spline)
interpolate.classes("RegularGridInterpolator")
interpolate.rerun("interpn")
