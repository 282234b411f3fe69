"""Sorting and order statistics: what is sorted is taken by a stable permutation, which is piecewise constant.

A median or quantile mixes two neighbours of the sorted array. Which, and how, NumPy itself says if it is
asked for the same statistic of the positions 0, 1, 2, ...: so every method is supported, and described
nowhere twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from funcgrad.core.arrays.arguments import out_refused
from funcgrad.core.arrays.ufunc import as_array, as_result
from funcgrad.core.engine.batch import is_batched, one_by_one
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.engine.declare import composite, custom
from funcgrad.core.engine.primitive import Call, Primitive
from funcgrad.core.engine.trace import Tracer
from funcgrad.core.memory.orders import corner, lying_as, lying_as_copy_of
from funcgrad.errors import UnsupportedFunctionError, user_line
from funcgrad.rules.axes import given, merged
from funcgrad.rules.mixing import mix
from funcgrad.rules.reductions import laid_along
from funcgrad.rules.rows import is_lazy, places, sorting_rows, take_rows

# ---- sorting ---------------------------------------------------------------------------------------------------------


def _flat(a: Any, axis: Any) -> tuple[Any, int]:
    """`a` and a counted axis; the flattened array where axis is None."""
    a = as_array(a)
    return (a.reshape(-1), 0) if axis is None else (a, normalize_axis_index(axis, a.ndim))


def _no_fields(name: str, order: Any) -> None:
    if order is not None:
        raise ValueError(
            f"np.{name}(order=...) sorts by the fields of a structured array; arrays of numbers have none"
        )


def _sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    _no_fields("sort", order)
    if kind is not None:
        np.sort(np.empty(0), kind=kind)  # NumPy's refusal of what is no kind; they all give the same
    a, axis = _flat(a, axis)
    if is_lazy(a):
        return _sorted_rows(np.argsort, a, axis, stable=True)
    return lying_as_copy_of(np.take_along_axis(a, np.argsort(a, axis=axis, stable=True), axis), a)


def _sorted_rows(function: Callable[..., Any], a: Any, axis: int, **options: Any) -> Any:
    if not a.size:
        return a.copy()
    rows = np.moveaxis(a, axis, -1)
    return np.moveaxis(take_rows(rows, CATALOGUE[sorting_rows](rows, function, options)), -1, axis)


def _partition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> Any:
    _no_fields("partition", order)
    a, axis = _flat(a, axis)
    if is_lazy(a):
        return _sorted_rows(np.argpartition, a, axis, kth=kth, kind=kind)
    return lying_as_copy_of(np.take_along_axis(a, np.argpartition(a, kth, axis=axis, kind=kind), axis), a)


def _sort_complex(a: Any) -> Any:
    a = np.sort(a)
    if a.dtype.kind == "c":
        return a
    return a.astype(np.complex64 if a.dtype.char in "bhBH" else np.result_type(a.dtype, np.complex128))


composite(np.sort, _sort)
composite(np.partition, _partition)
composite(np.sort_complex, _sort_complex)

# ---- where an order statistic lies -----------------------------------------------------------------------------------


def _positions(
    grid: Any, q: Any = None, weights: Any = None, *, function: Callable[..., Any], method: Any = None
) -> Any:
    """The positions that `function` mixes in sorted arrays; `grid` is arange(n), NaN where the arrays are."""
    return function(grid, *([] if q is None else [q]), axis=-1, **given(method=method, weights=weights))


# The methods whose positions move with q: (alpha, beta) of Hyndman and Fan, "Sample quantiles in statistical
# packages" (The American Statistician 50, 1996). The other methods jump.
_CONTINUOUS = {
    "linear": (1, 1),
    "interpolated_inverted_cdf": (0, 1),
    "hazen": (1 / 2, 1 / 2),
    "weibull": (0, 0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}


def _positions_pull_q(ct, grid, q, method=None):
    if method not in _CONTINUOUS:
        return None
    alpha, beta = _CONTINUOUS[method]
    n = (~np.isnan(grid)).sum(axis=-1)
    rate = n + (1 - alpha - beta)
    q = q.reshape((*q.shape, *(1,) * n.ndim))
    unclipped = rate * q + (alpha - 1)
    inside = np.logical_and(unclipped >= 0, unclipped <= n - 1)
    return np.where(inside, ct * rate, 0).sum(axis=tuple(range(q.ndim - n.ndim, q.ndim)))


def _batched_positions(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    named, is_many = call.named(call.operands), call.named(batched)
    if is_many.get("q") or size == 0:
        return one_by_one(primitive, call, batched, size)
    for name in ("grid", "weights"):
        if name in named and not is_many[name]:
            named[name] = np.broadcast_to(named[name], (size, *named[name].shape))
    out = _positions_of(**named, **call.params)
    return np.moveaxis(out, np.ndim(named.get("q", 0.0)), 0)


_positions_of = custom(
    _positions,
    {"q": _positions_pull_q, "weights": lambda ct: None},
    operands="grid q weights",
    batch=_batched_positions,
)

# ---- order statistics ------------------------------------------------------------------------------------------------


def _order_statistic(
    function: Callable[..., Any],
    a: Any,
    axis: Any,
    keepdims: bool,
    q: Any = None,
    weights: Any = None,
    method: Any = None,
) -> Any:
    """The statistic `function` (median, quantile or a NaN-ignoring one of these)."""
    axis = axis if axis is None else normalize_axis_tuple(axis, a.ndim)
    values = merged(a, axis)
    n = values.shape[-1]
    if is_lazy(values):
        return _of_lazy(function, a, values, _reduced_shape(a.shape, axis, keepdims), q, weights, method)
    permutation = np.argsort(values, axis=-1, stable=True)
    nan = np.take_along_axis(np.isnan(values), permutation, -1)
    grid: Any = np.arange(float(n))
    if is_batched(nan) or nan.any() or weights is not None:
        grid = np.where(nan, np.nan, grid)
    if weights is not None:
        weights = np.take_along_axis(merged(laid_along(as_array(weights), a, axis), axis), permutation, -1)
    position = _positions_of(grid, q, weights, function=function, method=method)
    shape = np.shape(q if q is not None else 0.0) + _reduced_shape(a.shape, axis, keepdims)
    if n == 0 and function is np.nanquantile:
        return np.nanmean(a, axis=axis, keepdims=keepdims)  # as NumPy has it: one NaN, however many quantiles
    if n == 0:
        return np.full(shape, np.nan, _dtype(function, a, q, method))[()]
    position = _last(position, 0 if q is None else np.ndim(q))
    low, high, share = _neighbours(position, np.sum(~nan, axis=-1, keepdims=True), n)
    lower, upper = (
        np.take_along_axis(values, np.take_along_axis(permutation, i, -1), -1) for i in (low, high)
    )
    out = np.moveaxis(mix(lower, upper, share.astype(_dtype(function, a, q, method))), -1, 0)
    return _lying_as_numpy_has_it(as_result(out.reshape(shape)), function, a, axis, keepdims, q)


def _of_lazy(
    function: Callable[..., Any], a: Any, values: Any, shape: Any, q: Any, weights: Any, method: Any
) -> Any:
    """The same of a lazy array: where the neighbours are is found when its chunks are there."""
    if weights is not None or isinstance(q, Tracer):
        raise UnsupportedFunctionError(
            f"np.{function.__name__} of a lazy array at {user_line()} has no derivative with weights= or in q. Write "
            "a.compute(), or q as a number."
        )
    find = partial(_found_in_rows, q=None if q is None else np.asarray(q), function=function, method=method)
    shape = np.shape(q if q is not None else 0.0) + shape
    neighbours = CATALOGUE[places](values, find, math.prod(np.shape(q if q is not None else 0.0)))
    low, high = neighbours[..., 0].astype(np.intp), neighbours[..., 1].astype(np.intp)
    share = neighbours[..., 2].astype(_dtype(function, a, q, method))
    out = mix(take_rows(values, low), take_rows(values, high), share)
    return np.moveaxis(out, -1, 0).reshape(shape)


def _found_in_rows(values: Any, *, q: Any, function: Callable[..., Any], method: Any) -> Any:
    """The two elements of each row that a statistic mixes, and the share of the second: as `_order_statistic`
    finds them.
    """
    n = values.shape[-1]
    permutation = np.argsort(values, axis=-1, stable=True)
    nan = np.take_along_axis(np.isnan(values), permutation, -1)
    grid = np.where(nan, np.nan, np.arange(float(n)))
    position = _last(_positions(grid, q, function=function, method=method), 0 if q is None else np.ndim(q))
    low, high, share = _neighbours(position, np.sum(~nan, axis=-1, keepdims=True), n)
    low, high = (np.take_along_axis(permutation, i, -1) for i in (low, high))
    return np.stack([low, high, share], axis=-1)


def _lying_as_numpy_has_it(
    out: Any, function: Callable[..., Any], a: Any, axis: Any, keepdims: bool, q: Any
) -> Any:
    """NumPy sorts a copy, moves its axes and mixes: ask it how what comes of a corner of `a` lies in memory."""
    if out.ndim < 2:
        return out
    few = [] if q is None else [np.full([min(n, 2) for n in np.shape(q)], 0.5)]
    return lying_as(out, function(np.zeros_like(corner(a), float), *few, axis=axis, keepdims=keepdims))


def _last(position: Any, rank: int) -> Any:
    """`position` with its first `rank` axes, those of q, as one last axis."""
    position = as_array(position)
    return np.moveaxis(position.reshape((math.prod(position.shape[:rank]), *position.shape[rank:])), 0, -1)


def _neighbours(position: Any, count: Any, n: int) -> tuple[Any, Any, Any]:
    """Indices of each position's two neighbours among `count` numbers, and the upper one's share.

    Where the position is NaN, the statistic is: then it is the last element, where sorting puts NaN.
    """
    lost = np.isnan(position)
    position = np.where(lost, n - 1, position)
    low = np.where(lost, n - 1, np.minimum(np.floor(position), np.maximum(count - 2, 0))).astype(int)
    high = np.where(lost, n - 1, np.minimum(low + 1, np.maximum(count - 1, 0))).astype(int)
    return low, high, position - low


def _dtype(function: Callable[..., Any], a: Any, q: Any, method: Any) -> Any:
    """The dtype that NumPy gives the statistic."""
    if q is None or a.dtype == np.float64:
        return a.real.dtype
    like = [] if q is None else [q if isinstance(q, (int, float)) else np.full((), 0.5, q.dtype)]
    return function(np.ones(1, a.dtype), *like, **given(method=method)).dtype


def _reduced_shape(shape: tuple[int, ...], axis: Any, keepdims: bool) -> tuple[int, ...]:
    axes = range(len(shape)) if axis is None else axis
    return tuple(1 if i in axes else n for i, n in enumerate(shape) if keepdims or i not in axes)


def _declare_median(function: Callable[..., Any]) -> None:
    def body(
        a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False
    ) -> Any:
        if out is not None:
            raise out_refused(function.__name__)
        return _order_statistic(function, as_array(a), axis, keepdims)

    composite(function, body)


def _declare_quantile(function: Callable[..., Any], quantile: Callable[..., Any], scale: int) -> None:
    def body(
        a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
        keepdims: bool = False, *, weights: Any = None,
    ) -> Any:  # fmt: skip
        if out is not None:
            raise out_refused(function.__name__)
        a = as_array(a)
        if a.dtype.kind == "c":
            raise TypeError(f"np.{function.__name__} needs real numbers, not {a.dtype}")
        q = q if isinstance(q, (int, float)) else as_array(q)
        q = q if scale == 1 else q / scale  # NumPy asks for the dtype of q as it was given
        return _order_statistic(quantile, a, axis, keepdims, q, weights, method)

    composite(function, body)


_declare_median(np.median)
_declare_median(np.nanmedian)
_declare_quantile(np.quantile, np.quantile, 1)
_declare_quantile(np.percentile, np.quantile, 100)
_declare_quantile(np.nanquantile, np.nanquantile, 1)
_declare_quantile(np.nanpercentile, np.nanquantile, 100)
