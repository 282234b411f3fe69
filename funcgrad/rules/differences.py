"""Differences and what is built on them: diff, ediff1d, gradient, trapezoid."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from funcgrad.core.arrays.ufunc import as_array
from funcgrad.core.engine.declare import composite
from funcgrad.core.engine.trace import Tracer
from funcgrad.core.memory.orders import lying_as_copy_of
from funcgrad.rules.axes import along

_ABSENT: Any = np._NoValue


def _steps(x: Any, axis: int) -> Any:
    """x[k + 1] - x[k] along `axis`."""
    return x[along(axis, slice(1, None))] - x[along(axis, slice(None, -1))]


def _diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = _ABSENT, append: Any = _ABSENT) -> Any:
    if n == 0:
        return a
    if n < 0:
        raise ValueError(f"np.diff takes differences of order 0 or more, not {n}")
    a = as_array(a)
    if a.ndim == 0:
        raise ValueError("np.diff needs an array of at least one dimension")
    axis = normalize_axis_index(axis, a.ndim)
    one = (*a.shape[:axis], 1, *a.shape[axis + 1 :])
    ends = [as_array(end) for end in (prepend, append) if end is not _ABSENT]
    ends = [np.broadcast_to(end, one) if end.ndim == 0 else end for end in ends]
    if ends:
        before, after = (ends[:1], ends[1:]) if prepend is not _ABSENT else ([], ends)
        a = np.concatenate([*before, a, *after], axis=axis)
    for _ in range(n):
        a = _steps(a, axis)
    return a


def _ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    middle = _steps(as_array(ary).reshape(-1), 0)
    ends = [
        None if end is None else as_array(end).reshape(-1).astype(middle.dtype) for end in (to_begin, to_end)
    ]
    parts = [part for part in (ends[0], middle, ends[1]) if part is not None]
    return np.concatenate(parts) if len(parts) > 1 else middle


composite(np.diff, _diff)
composite(np.ediff1d, _ediff1d)

# ---- trapezoid -------------------------------------------------------------------------------------------------------


def _trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    y = as_array(y)
    in_y = normalize_axis_index(axis, y.ndim)
    if x is not None:
        x = as_array(x)
        dx = _column(_steps(x, 0), in_y, y.ndim) if x.ndim == 1 else np.diff(x, axis=axis)
    pairs = y[along(in_y, slice(1, None))] + y[along(in_y, slice(None, -1))]
    # NumPy counts `axis` in each of them: x may have more axes than y, or fewer
    return (dx * pairs / 2.0).sum(axis=axis)


def _column(x: Any, axis: int, ndim: int) -> Any:
    """The one-dimensional `x` laid along `axis` of an array with `ndim` axes."""
    return x.reshape([-1 if i == axis else 1 for i in range(ndim)])


composite(np.trapezoid, _trapezoid)

# ---- gradient --------------------------------------------------------------------------------------------------------


def _gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    f = as_array(f)
    if f.dtype.kind not in "fc":
        f = f.astype(np.float64)
    axes = tuple(range(f.ndim)) if axis is None else normalize_axis_tuple(axis, f.ndim)
    if edge_order not in (1, 2):
        raise ValueError(f"np.gradient has edge_order 1 or 2, not {edge_order!r}")
    spacings = _spacings(f, varargs, axes)
    slopes = [_slope_along(f, d, a, edge_order) for d, a in zip(spacings, axes, strict=True)]
    return slopes[0] if len(slopes) == 1 else tuple(slopes)


def _spacings(f: Any, spacings: tuple[Any, ...], axes: tuple[int, ...]) -> list[Any]:
    """For each axis the distance between points: a scalar, or an array laid along the axis."""
    if len(spacings) == 0:
        return [1.0] * len(axes)
    if len(spacings) == 1 and np.ndim(spacings[0]) == 0:
        return list(spacings) * len(axes)
    if len(spacings) != len(axes):
        raise TypeError(
            f"np.gradient takes no spacing, one scalar, or one for each axis ({len(axes)}), not {len(spacings)}"
        )
    return [_spacing(f, as_array(x), a) for x, a in zip(spacings, axes, strict=True)]


def _spacing(f: Any, x: Any, axis: int) -> Any:
    if x.ndim == 0:
        return x
    if x.shape != (f.shape[axis],):
        raise ValueError(
            f"np.gradient: the coordinates along axis {axis} have shape {x.shape}; write a scalar spacing, or "
            f"coordinates of shape ({f.shape[axis]},)"
        )
    d = _steps(x.astype(np.float64) if x.dtype.kind in "iu" else x, 0)
    if not isinstance(d, Tracer) and d.size and (d == d[0]).all():
        return d[0]
    return _column(d, axis, f.ndim)


def _slope_along(f: Any, d: Any, axis: int, edge_order: int) -> Any:
    """Differences of second order inside, one-sided ones of order `edge_order` at the ends."""
    if f.shape[axis] < edge_order + 1:
        raise ValueError(
            f"np.gradient needs at least {edge_order + 1} points along axis {axis}, not {f.shape[axis]}"
        )

    def at(x: Any, start: int | None, stop: int | None) -> Any:
        return x[along(axis, slice(start, stop))] if np.ndim(x) else x

    slopes = _steps(f, axis) / d
    if np.ndim(d) == 0:
        inside = (at(f, 2, None) - at(f, None, -2)) / (2.0 * d)
    else:  # the slopes on both sides, weighted by each other's distance: the parabola through three points
        left, right = at(d, None, -1), at(d, 1, None)
        inside = (right * at(slopes, None, -1) + left * at(slopes, 1, None)) / (left + right)
    first, last = at(slopes, 0, 1), at(slopes, -1, None)
    if edge_order == 2:
        first = _parabola_end(first, at(slopes, 1, 2), at(d, 0, 1), at(d, 1, 2))
        last = _parabola_end(last, at(slopes, -2, -1), at(d, -1, None), at(d, -2, -1))
    return lying_as_copy_of(np.concatenate([first, inside, last], axis=axis).astype(f.dtype), f)


def _parabola_end(outer: Any, inner: Any, outer_step: Any, inner_step: Any) -> Any:
    """The slope at a parabola's end, from its mean slopes over the outermost step and the one before."""
    return outer + (outer - inner) * outer_step / (outer_step + inner_step)


composite(np.gradient, _gradient)
