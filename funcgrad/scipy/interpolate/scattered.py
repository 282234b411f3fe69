"""Scattered data: radial basis functions, triangles, the nearest point."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate as theirs
from scipy.spatial import Delaunay, KDTree

from funcgrad.core.arrays.ufunc import as_array
from funcgrad.core.memory.indexing import GETITEM
from funcgrad.errors import UnsupportedFunctionError, user_line
from funcgrad.scipy.classes import instead
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.interpolate.grids import _coordinates
from funcgrad.scipy.mirror import carries_tracer
from funcgrad.scipy.rerun import HELPERS, NUMPY, private, rerun, values

interpolate = Chapter("interpolate")


# ---- radial basis functions: of the squared distance, so that nothing is infinite where a point is a centre ----------
def _root(q: Any) -> Any:
    zero = q == 0
    return np.where(zero, 0.0, np.sqrt(np.where(zero, 1.0, q)))


def _thin_plate(q: Any, xp: Any) -> Any:
    zero = q == 0
    return np.where(zero, 0.0, 0.5 * q * np.log(np.where(zero, 1.0, q)))


KERNELS = {
    "linear": lambda q, xp: -_root(q),
    "thin_plate_spline": _thin_plate,
    "cubic": lambda q, xp: q * _root(q),
    "quintic": lambda q, xp: -(q**2) * _root(q),
    "multiquadric": lambda q, xp: -np.sqrt(q + 1),
    "inverse_multiquadric": lambda q, xp: 1 / np.sqrt(q + 1),
    "inverse_quadratic": lambda q, xp: 1 / (q + 1),
    "gaussian": lambda q, xp: np.exp(-q),
}


class _Squares:
    """NumPy for SciPy's code about these functions: its distances are squares here."""

    class linalg:
        """With the solver of NumPy's."""

        solve = staticmethod(np.linalg.solve)

        @staticmethod
        def vector_norm(x: Any, axis: int = -1) -> Any:
            """The square of the length."""
            return np.sum(x**2, axis=axis)

    def __getattr__(self, name: str) -> Any:
        return getattr(NUMPY, name)


class _Backend:
    """SciPy's functions for any array library."""

    def __getattr__(self, name: str) -> Any:
        function = rerun(getattr(private("scipy.interpolate._rbfinterp_xp"), name), {"NAME_TO_FUNC": KERNELS})

        def call(*args: Any, **kwargs: Any) -> Any:
            args = tuple(_Squares() if x is NUMPY else x for x in args)
            return function(*args, **{k: _Squares() if k == "xp" else v for k, v in kwargs.items()})

        return call


HELPERS["_get_backend"] = lambda xp: _Backend()
interpolate.classes("RBFInterpolator NearestNDInterpolator LinearNDInterpolator")


def _points_of(points: Any, rescale: bool) -> tuple[Any, Any, Any]:
    points = _coordinates(points)
    if not rescale:
        return points, 0.0, 1.0
    offset = np.mean(points, axis=0)
    scale = np.max(points, axis=0) - np.min(points, axis=0)
    return (points - offset) / scale, offset, scale


def _init_linear(
    self: Any, points: Any, values: Any, fill_value: Any = np.nan, rescale: bool = False
) -> None:
    """A triangulation of the plain points; the points and values themselves may be traced."""
    if isinstance(points, Delaunay):
        self.tri, points = points, points.points
    self.points, self.offset, self.scale = _points_of(points, rescale)
    self.values, self.fill_value, self.is_rescaled = as_array(values), fill_value, rescale
    if not hasattr(self, "tri"):
        self.tri = Delaunay(_plain(self.points))


def _plain(x: Any) -> Any:
    return values(x)


def _scaled(self: Any, x: Any) -> Any:
    offset, scale = getattr(self, "offset", None), getattr(self, "scale", None)
    return x if offset is None or scale is None else (x - offset) / scale


def _in_double(x: Any) -> Any:
    x = as_array(x)
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def _call_linear(self: Any, *args: Any) -> Any:
    """The plane through the corners of the triangle that a point lies in."""
    corners = as_array(self.points)
    x = _scaled(self, _coordinates(args, corners.shape[1]))
    flat, data = x.reshape(-1, corners.shape[1]), _in_double(self.values)
    found = self.tri.find_simplex(_plain(flat))
    triangle = self.tri.simplices[np.maximum(found, 0)]
    at = [GETITEM(corners, triangle[:, j]) for j in range(triangle.shape[1])]
    edges = np.stack([p - at[-1] for p in at[:-1]], axis=-1)
    shares = np.linalg.solve(edges, (flat - at[-1])[..., None])[..., 0]
    rows = data.reshape(data.shape[0], -1)
    last = GETITEM(rows, triangle[:, -1])
    out = last
    for j in range(triangle.shape[1] - 1):
        out = out + shares[:, j : j + 1] * (GETITEM(rows, triangle[:, j]) - last)
    out = np.where((found < 0)[:, None], self.fill_value, out)
    return out.reshape((*x.shape[:-1], *data.shape[1:]))


def _init_nearest(self: Any, x: Any, y: Any, rescale: bool = False, tree_options: Any = None) -> None:
    """A tree of the plain points."""
    self.points, self.offset, self.scale = _points_of(x, rescale)
    self.values, self.tree = as_array(y), KDTree(_plain(self.points), **(tree_options or {}))


def _call_nearest(self: Any, *args: Any, **options: Any) -> Any:
    """The value at the nearest point, which is piecewise constant in the place."""
    x = _scaled(self, _coordinates(args, self.points.shape[1]))
    flat, data = x.reshape(-1, x.shape[-1]), _in_double(self.values)
    distance, index = self.tree.query(_plain(flat), **options)
    found = np.isfinite(distance)
    out = GETITEM(data, np.where(found, index, 0))
    out = out if found.all() else np.where(found.reshape((-1,) + (1,) * (data.ndim - 1)), out, np.nan)
    return out.reshape((*x.shape[:-1], *data.shape[1:]))


instead(interpolate.replaced("NearestNDInterpolator"), __init__=_init_nearest, __call__=_call_nearest)
instead(interpolate.replaced("LinearNDInterpolator"), __init__=_init_linear, __call__=_call_linear)


class CloughTocher2DInterpolator(theirs.CloughTocher2DInterpolator):
    """scipy.interpolate.CloughTocher2DInterpolator, which refuses tracers by name."""

    def __init__(self, points: Any, values: Any, *args: Any, **kwargs: Any) -> None:
        _refused_by_cubics(points, values)
        super().__init__(points, values, *args, **kwargs)

    def __call__(self, *args: Any) -> Any:
        _refused_by_cubics(*args)
        return super().__call__(*args)


def _refused_by_cubics(*args: Any) -> None:
    if carries_tracer(args):
        raise UnsupportedFunctionError(
            "scipy.interpolate.CloughTocher2DInterpolator (griddata with method='cubic') was called on a tracer at "
            f"{user_line()}: its slopes at the points come from compiled iterations. Write method='linear', or RBFInterpolator "
            "with kernel='thin_plate_spline', which is smooth and has derivatives in points, values and places."
        )


interpolate.replaces("CloughTocher2DInterpolator", CloughTocher2DInterpolator)
interpolate.rerun("griddata")
interpolate.unsupported(
    "bisplrep",
    "it searches for its knots",
    "Write RectBivariateSpline for data on a grid, or RBFInterpolator; bisplev takes tracers, with plain knots.",
)
