"""Functions that apply the user's function: NumPy's chapter on functional programming."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from funcgrad.core.arrays.ufunc import as_array
from funcgrad.core.engine.declare import composite


def _apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    arr = as_array(arr)
    axis = normalize_axis_index(axis, arr.ndim)
    rows = np.moveaxis(arr, axis, -1)
    lead = rows.shape[:-1]
    outs = [as_array(func1d(rows[index], *args, **kwargs)) for index in np.ndindex(lead)]
    if not outs:
        raise ValueError(f"np.apply_along_axis has nothing to apply to: the other axes are {lead}")
    rank = outs[0].ndim
    out = np.stack(outs).reshape(lead + outs[0].shape)
    return np.moveaxis(out, tuple(range(len(lead), len(lead) + rank)), tuple(range(axis, axis + rank)))


def _apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Any:
    out = as_array(a)
    ndim = out.ndim
    for axis in axes if np.ndim(axes) else (axes,):
        axis = normalize_axis_index(axis, ndim)
        reduced = func(out, axis)
        out = reduced if reduced.ndim == ndim else np.expand_dims(reduced, axis)
        if out.ndim != ndim:
            raise ValueError(
                f"np.apply_over_axes: func turned {ndim} dimensions into {reduced.ndim}; it may remove one at most"
            )
    return out


composite(np.apply_along_axis, _apply_along_axis)
composite(np.apply_over_axes, _apply_over_axes)
