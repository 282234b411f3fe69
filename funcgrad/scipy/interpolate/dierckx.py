"""FITPACK's splines: through the data, or by least squares with given knots.

P. Dierckx, "Curve and Surface Fitting with Splines". The knots of an interpolating spline are data points, or
lie between. A smoothing spline (s > 0) places its knots by a search, and is refused; make_smoothing_spline
has a derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core.arrays.ufunc import as_array
from funcgrad.errors import UnsupportedFunctionError, user_line
from funcgrad.scipy.classes import instead
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.interpolate.bsplines import least_squares, matrix, spline, through
from funcgrad.scipy.rerun import leaves, private, values

interpolate = Chapter("interpolate")


def _smoothing_refused(name: str) -> UnsupportedFunctionError:
    return UnsupportedFunctionError(
        f"scipy.interpolate.{name} with s > 0 was called on a tracer at {user_line()}: it searches for its knots. Write s=0, "
        "make_lsq_spline with knots of your own, or make_smoothing_spline."
    )


def knots(x: Any, k: int, start: Any = None, end: Any = None) -> Any:
    """The knots of the spline of degree k through points at x."""
    start = x[0] if start is None else as_array(start)
    end = x[-1] if end is None else as_array(end)
    inner = (
        x[(k + 1) // 2 : x.shape[0] - (k + 1) // 2]
        if k % 2
        else ((x[1:] + x[:-1]) / 2)[k // 2 : x.shape[0] - 1 - k // 2]
    )
    ones = np.ones(k + 1)
    return np.concatenate([start * ones, inner, end * ones])


def _padded(c: Any, k: int) -> Any:
    """With zeros at the end, as FITPACK stores coefficients."""
    return np.concatenate([c, np.zeros(k + 1)])


def fitted(x: Any, y: Any, k: int, ends: tuple[Any, Any] = (None, None)) -> tuple[Any, Any]:
    """Knots and coefficients of the spline through the points."""
    t = knots(x, k, *ends)
    return t, through(x, y, t, k)


@interpolate.composite("splrep")
def _splrep(
    x: Any,
    y: Any,
    w: Any = None,
    xb: Any = None,
    xe: Any = None,
    k: int = 3,
    task: int = 0,
    s: Any = None,
    t: Any = None,
) -> Any:
    x, y = as_array(x), as_array(y)
    if t is not None:
        first, last = (x[0] if xb is None else xb), (x[-1] if xe is None else xe)
        t = np.concatenate([first * np.ones(k + 1), as_array(t), last * np.ones(k + 1)])
        weights = np.ones(x.shape[0]) if w is None else as_array(w)
        return t, _padded(least_squares(x, y, weights, t, k), k), k
    if s is None and w is not None or s:
        raise _smoothing_refused("splrep")
    t, c = fitted(x, y, k, (xb, xe))
    return t, _padded(c, k), k


@interpolate.composite("splprep")
def _splprep(
    x: Any, w: Any = None, u: Any = None, ub: Any = None, ue: Any = None, k: int = 3, s: Any = None
) -> Any:
    points = np.stack([as_array(row) for row in x]) if isinstance(x, (list, tuple)) else as_array(x)
    if s is None or s:
        raise _smoothing_refused("splprep")
    if u is None:
        steps = np.sqrt(np.sum((points[:, 1:] - points[:, :-1]) ** 2, axis=0))
        u = np.concatenate([np.zeros(1), np.cumsum(steps)])
        u = u / u[-1]
    u = as_array(u)
    t, c = fitted(u, points.T, k, (ub, ue))
    return (t, list(c.T), k), u


# ---- evaluation: what stands for FITPACK's functions -------------------------------------------------------------------
def _splder(t: Any, c: Any, k: int, x: Any, nu: int = 0, ext: int = 0) -> tuple[Any, int]:
    t, c, x = as_array(t), as_array(c), as_array(x)
    first, last = t[k], t[t.shape[0] - k - 1]
    at, low, high = values(x), values(first), values(last)
    beyond = (at < low) | (at > high)
    if ext == 2 and beyond.any():
        return x, 1
    place = np.where(at < low, first, np.where(at > high, last, x)) if ext == 3 else x
    out = spline(t, c[: t.shape[0] - k - 1], k, place, nu)
    return (np.where(beyond, 0.0, out) if ext == 1 else out), 0


def _integral_basis(t: Any, c: Any, k: int) -> tuple[Any, Any]:
    """Knots and coefficients of the antiderivative."""
    n = t.shape[0] - k - 1
    widths = (t[k + 1 :] - t[:n]) / (k + 1)
    whole = np.concatenate([np.zeros(1), np.cumsum(c[:n] * widths)])
    return np.concatenate([t[:1], t, t[-1:]]), whole


def _splint(t: Any, c: Any, k: int, a: Any, b: Any) -> tuple[Any, Any]:
    t, c = as_array(t), as_array(c)
    low, high = t[k], t[t.shape[0] - k - 1]
    ends = np.stack([np.clip(as_array(a) + 0.0, low, high), np.clip(as_array(b) + 0.0, low, high)])
    knots_of, whole = _integral_basis(t, c, k)
    at = spline(knots_of, whole, k + 1, ends)
    return at[1] - at[0], None


def _spalde(t: Any, c: Any, order: int, x: Any) -> tuple[Any, int]:
    k = order - 1
    point = np.reshape(x, (1,))
    n = as_array(t).shape[0] - k - 1
    return np.concatenate([spline(t, as_array(c)[:n], k, point, nu) for nu in range(order)]), 0


def _grid(tx: Any, ty: Any, c: Any, kx: int, ky: int, nux: int, nuy: int, x: Any, y: Any) -> tuple[Any, int]:
    tx, ty = as_array(tx), as_array(ty)
    table = as_array(c).reshape(tx.shape[0] - kx - 1, ty.shape[0] - ky - 1)
    x, y = (
        np.clip(np.reshape(as_array(v), -1), t[k], t[t.shape[0] - k - 1])
        for v, t, k in ((x, tx, kx), (y, ty, ky))
    )
    return matrix(tx, kx, x, nux) @ table @ matrix(ty, ky, y, nuy).T, 0


def _pairs(tx: Any, ty: Any, c: Any, kx: int, ky: int, nux: int, nuy: int, x: Any, y: Any) -> tuple[Any, int]:
    tx, ty = as_array(tx), as_array(ty)
    table = as_array(c).reshape(tx.shape[0] - kx - 1, ty.shape[0] - ky - 1)
    x, y = (
        np.clip(np.reshape(as_array(v), -1), t[k], t[t.shape[0] - k - 1])
        for v, t, k in ((x, tx, kx), (y, ty, ky))
    )
    return np.sum((matrix(tx, kx, x, nux) @ table) * matrix(ty, ky, y, nuy), axis=1), 0


def _dblint(tx: Any, ty: Any, c: Any, kx: int, ky: int, xa: Any, xb: Any, ya: Any, yb: Any) -> Any:
    tx, ty = as_array(tx), as_array(ty)
    table = as_array(c).reshape(tx.shape[0] - kx - 1, ty.shape[0] - ky - 1)
    rows = np.stack([_splint(tx, column, kx, xa, xb)[0] for column in table.T])
    return _splint(ty, rows, ky, ya, yb)[0]


def _sproot(t: Any, c: Any, mest: int = 10) -> tuple[Any, int, int]:
    """The roots of a cubic spline, which move with it as roots of an equation."""
    from funcgrad.scipy.optimize.roots import elementwise_roots

    t, c = as_array(t), as_array(c)
    found, count, error = private("scipy.interpolate._dfitpack").sproot(values(t), values(c), mest)
    n = t.shape[0] - 4
    equation = lambda x, t, c: spline(t, c[:n], 3, x, 0)
    return elementwise_roots(equation, np.array(found[:count]), (t, c)), count, error


leaves(
    "scipy.interpolate._dfitpack",
    sproot=_sproot,
    splev=lambda t, c, k, x, ext=0: _splder(t, c, k, x, 0, ext),
    splder=_splder,
    splint=_splint,
    spalde=_spalde,
    bispev=lambda tx, ty, c, kx, ky, x, y: _grid(tx, ty, c, kx, ky, 0, 0, x, y),
    bispeu=lambda tx, ty, c, kx, ky, x, y: _pairs(tx, ty, c, kx, ky, 0, 0, x, y),
    parder=_grid,
    pardeu=_pairs,
    dblint=_dblint,
)
interpolate.rerun("splev splint spalde splder splantider bisplev sproot")


# ---- classes -----------------------------------------------------------------------------------------------------------
interpolate.classes("UnivariateSpline InterpolatedUnivariateSpline LSQUnivariateSpline RectBivariateSpline")


def _init_univariate(
    self: Any, x: Any, y: Any, w: Any = None, bbox: Any = (None, None), k: int = 3, s: Any = None, ext: Any = 0,
    check_finite: bool = False,
) -> None:  # fmt: skip
    """The spline through the data."""
    if s is None or s:
        raise _smoothing_refused("UnivariateSpline")
    _set_univariate(self, as_array(x), as_array(y), w, bbox, k, ext)


def _init_interpolated(
    self: Any,
    x: Any,
    y: Any,
    w: Any = None,
    bbox: Any = (None, None),
    k: int = 3,
    ext: Any = 0,
    check_finite: bool = False,
) -> None:
    """The spline through the data."""
    _set_univariate(self, as_array(x), as_array(y), w, bbox, k, ext)


EXTENSIONS = {"extrapolate": 0, "zeros": 1, "raise": 2, "const": 3}


def _set_univariate(self: Any, x: Any, y: Any, w: Any, bbox: Any, k: int, ext: Any, t: Any = None) -> None:
    ends = tuple(bbox)
    if t is None:
        t, c = fitted(x, y, k, (ends[0], ends[1]))
    else:
        first, last = (x[0] if ends[0] is None else ends[0]), (x[-1] if ends[1] is None else ends[1])
        t = np.concatenate([first * np.ones(k + 1), as_array(t), last * np.ones(k + 1)])
        c = least_squares(x, y, np.ones(x.shape[0]) if w is None else w, t, k)
    padded = _padded(c, k)
    self.ext = EXTENSIONS.get(ext, ext)
    self._eval_args = t, padded, k
    self._data = (x, y, w, *ends, k, 0.0, t.shape[0], t, padded, 0.0, None, None, -1)


def _init_least_squares(
    self: Any, x: Any, y: Any, t: Any, w: Any = None, bbox: Any = (None, None), k: int = 3, ext: Any = 0,
    check_finite: bool = False,
) -> None:  # fmt: skip
    """The spline with these knots that is nearest to the data."""
    _set_univariate(self, as_array(x), as_array(y), w, bbox, k, ext, t)


def _init_rectangle(
    self: Any, x: Any, y: Any, z: Any, bbox: Any = (None,) * 4, kx: int = 3, ky: int = 3, s: Any = 0
) -> None:
    """The spline through data on a grid: along one axis, then along the other."""
    if s:
        raise _smoothing_refused("RectBivariateSpline")
    x, y, z = as_array(x), as_array(y), as_array(z)
    tx, rows = fitted(x, z, kx, (bbox[0], bbox[1]))
    ty, both = fitted(y, rows.T, ky, (bbox[2], bbox[3]))
    self.fp, self.tck, self.degrees = 0.0, (tx, ty, both.T.reshape(-1)), (kx, ky)


instead(interpolate.replaced("UnivariateSpline"), __init__=_init_univariate)
instead(interpolate.replaced("InterpolatedUnivariateSpline"), __init__=_init_interpolated)
instead(interpolate.replaced("LSQUnivariateSpline"), __init__=_init_least_squares)
instead(interpolate.replaced("RectBivariateSpline"), __init__=_init_rectangle)
