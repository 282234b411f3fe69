"""B-splines: de Boor's recursion on the knots and coefficients near a point, differentiated in all of these.

C. de Boor, "A Practical Guide to Splines", revised edition, chapters IX and X. SciPy's own code runs down to
its compiled loops.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from funcgrad import numpy as fgnp
from funcgrad.core.arrays.ufunc import as_array
from funcgrad.core.memory.indexing import GETITEM
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.rerun import leaves, on_values, private, values

interpolate = Chapter("interpolate")


def span(x: Any, t: Any, k: int) -> Any:
    """The knot interval of each point, a whole one."""
    knots = values(t)
    n = knots.size - k - 1
    last = max(int(np.searchsorted(knots, knots[n], side="left")) - 1, k)
    return np.clip(np.searchsorted(knots, values(x), side="right") - 1, k, min(n - 1, last))


def recursion(x: Any, near: list[Any], parts: list[Any], nu: int) -> Any:
    """The nu-th derivative of a spline at x, from the 2 k knots near it and k + 1 coefficients."""
    k = len(parts) - 1
    if nu > k:
        return 0.0 * parts[0]
    for p in range(k, k - nu, -1):
        parts = [p * (b - a) / (near[j + p] - near[j]) for j, (a, b) in enumerate(itertools.pairwise(parts))]
        near = near[1:-1]
    degree = k - nu
    for r in range(1, degree + 1):
        shares = [(x - near[j + r - 1]) / (near[j + degree] - near[j + r - 1]) for j in range(degree - r + 1)]
        parts = [a + s * (b - a) for s, (a, b) in zip(shares, itertools.pairwise(parts), strict=True)]
    return parts[0]


def spline(t: Any, c: Any, k: int, x: Any, nu: int = 0) -> Any:
    """The nu-th derivative of the spline with coefficients c (axis 0) at the points x."""
    t, c, x = as_array(t), as_array(c), as_array(x)
    where = span(x, t, k)
    trailing = (1,) * (c.ndim - 1)
    near = [GETITEM(t, where + j).reshape(-1, *trailing) for j in range(1 - k, k + 1)]
    parts = [GETITEM(c, where + j) for j in range(-k, 1)]
    return recursion(x.reshape(-1, *trailing), near, parts, nu)


def basis(t: Any, k: int, x: Any, nu: int = 0) -> tuple[Any, Any]:
    """The k + 1 basis functions that don't vanish at each point (axis 1), and the index of the first."""
    t, x = as_array(t), as_array(x)
    where = span(x, t, k)
    near = [GETITEM(t, where + j)[:, None] for j in range(1 - k, k + 1)]
    parts = [np.broadcast_to(row, (x.shape[0], k + 1)) for row in np.eye(k + 1)]
    return recursion(x[:, None], near, parts, nu) + np.zeros((x.shape[0], k + 1)), where - k


def matrix(t: Any, k: int, x: Any, nu: int = 0) -> Any:
    """All basis functions at all points."""
    found, first = basis(t, k, x, nu)
    whole = fgnp.zeros((found.shape[0], as_array(t).shape[0] - k - 1))
    whole[np.arange(found.shape[0])[:, None], first[:, None] + np.arange(k + 1)] = found
    return whole


# ---- what stands for SciPy's compiled functions ----------------------------------------------------------------------
def _evaluate_spline(t: Any, c: Any, k: int, x: Any, nu: int, extrapolate: bool) -> Any:
    out = spline(t, c, k, x, nu) + np.zeros((as_array(x).shape[0], as_array(c).shape[1]))
    knots, at = values(t), values(x)
    n = knots.size - k - 1
    invalid = np.isnan(at) if extrapolate else ~((at >= knots[k]) & (at <= knots[n]))
    return np.where(invalid[:, None], np.nan, out) if invalid.any() else out


def _evaluate_all_bspl(t: Any, k: int, x: Any, left: int, nu: int = 0) -> Any:
    t, x = as_array(t), as_array(x)
    near = [t[left + j] for j in range(1 - k, k + 1)]
    found = recursion(x, near, list(np.eye(k + 1)), nu)
    return np.concatenate([found + np.zeros(k + 1), np.zeros(k + 1)])


def _coloc(x: Any, t: Any, k: int, ab: Any, offset: int = 0) -> None:
    found, first = basis(t, k, x)
    rows = np.arange(found.shape[0])[:, None]
    columns = first[:, None] + np.arange(k + 1)
    ab[columns, 2 * k + rows + offset - columns] = found


def _data_matrix(x: Any, t: Any, k: int, w: Any, extrapolate: bool = False) -> tuple[Any, Any, int]:
    found, first = basis(t, k, x)
    return found * as_array(w)[:, None], first, as_array(t).shape[0] - k - 1


def _evaluate_ndbspline(
    x: Any,
    t: Any,
    len_t: Any,
    k: Any,
    nu: Any,
    extrapolate: bool,
    c: Any,
    count: int,
    strides: Any,
    indices: Any,
) -> Any:
    x = as_array(x)
    axes = [basis(t[d, : len_t[d]], int(k[d]), x[:, d], int(nu[d])) for d in range(x.shape[1])]
    shape = tuple(int(n - d - 1) for n, d in zip(len_t, k))
    return nd_spline(axes, as_array(c).reshape((*shape, count)))


def nd_spline(axes: list[tuple[Any, Any]], c: Any) -> Any:
    """A sum over products of basis functions, one for each axis: their values, and the index of the first."""
    dims = len(axes)
    flat = c.reshape((-1, c.shape[-1]))
    total: Any = 0.0
    for choice in itertools.product(*(range(found.shape[1]) for found, _ in axes)):
        index = np.ravel_multi_index(tuple(first + j for (_, first), j in zip(axes, choice)), c.shape[:dims])
        weight: Any = 1.0
        for (found, _), j in zip(axes, choice):
            weight = weight * found[:, j]
        total = total + weight[:, None] * GETITEM(flat, index)
    return total


_compiled = private("scipy.interpolate._dierckx")
leaves(
    "scipy.interpolate._dierckx",
    evaluate_spline=_evaluate_spline,
    evaluate_all_bspl=_evaluate_all_bspl,
    _coloc=_coloc,
    data_matrix=_data_matrix,
    find_interval=on_values(getattr(_compiled, "find_interval", len)),
)


# ---- systems of equations --------------------------------------------------------------------------------------------
def banded(t: Any, k: int, x: Any) -> Any:
    """The values of the basis functions at as many points, as the bands of a matrix."""
    whole = fgnp.zeros((as_array(t).shape[0] - k - 1, 3 * k + 1))
    _coloc(x, t, k, whole)
    return whole.T[k:]


def through(x: Any, y: Any, t: Any, k: int) -> Any:
    """The coefficients of the spline through the points (x, y)."""
    from funcgrad.scipy import linalg

    return linalg.solve_banded((k, k), banded(t, k, x), y)


def least_squares(x: Any, y: Any, w: Any, t: Any, k: int) -> Any:
    """The coefficients of the spline nearest to the points."""
    w = as_array(w)
    q, r = np.linalg.qr(matrix(t, k, x) * w[:, None])
    flat = as_array(y).reshape((w.shape[0], -1))
    return np.linalg.solve(r, q.T @ (w[:, None] * flat)).reshape((r.shape[0], *as_array(y).shape[1:]))


class _Gbsv:
    """LAPACK's solver for banded matrices, as SciPy's code calls it."""

    def __call__(self, kl: int, ku: int, ab: Any, b: Any, **_: Any) -> tuple[Any, Any, Any, int]:
        from funcgrad.scipy import linalg

        return None, None, linalg.solve_banded((kl, ku), as_array(ab)[kl:], b), 0


def _lapack(names: Any, arrays: Any = (), **_: Any) -> Any:
    return tuple({"gbsv": _Gbsv()}[name] for name in names)


interpolate.classes("BSpline NdBSpline")
interpolate.rerun("make_interp_spline", get_lapack_funcs=_lapack)
interpolate.rerun("make_smoothing_spline make_splrep make_splprep", get_lapack_funcs=_lapack)


@interpolate.composite("make_lsq_spline")
def _make_lsq_spline(
    x: Any, y: Any, t: Any, k: int = 3, w: Any = None, axis: int = 0, method: str = "qr"
) -> Any:
    from funcgrad.scipy import interpolate as ours

    x, y, t = as_array(x), np.moveaxis(as_array(y), axis, 0), as_array(t)
    w = np.ones(x.shape[0]) if w is None else as_array(w)
    return ours.BSpline.construct_fast(t, least_squares(x, y, w, t, k), k, axis=axis % y.ndim)
