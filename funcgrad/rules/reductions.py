"""Sums, means, extremes and spreads along axes. (See also products.py, nan_reductions.py.)

What a mask (`where=`) leaves out, and what a maximum does not choose, contributes zeros by structure.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from funcgrad.core.arrays.arguments import out_refused
from funcgrad.core.arrays.ufunc import as_array
from funcgrad.core.engine.batch import is_batched
from funcgrad.core.engine.catalogue import ANY_CAST
from funcgrad.core.engine.cotangent import select
from funcgrad.core.engine.declare import composite, custom, linear
from funcgrad.core.engine.roots import declare_square
from funcgrad.core.engine.trace import Tracer, concrete, is_foreign, memory_of
from funcgrad.rules.axes import Axis, axes_of, count_along, expanded, given, reversed_along
from funcgrad.rules.directions import has_rule, spread_slope, weighted_mean
from funcgrad.rules.slopes import ratio, some

# ---- sums and means --------------------------------------------------------------------------------------------------


def sum_pull(ct, a, axis=None, keepdims=False, where=None):
    """The transpose of a sum; any reduction along `axis` depends on the elements that this reaches."""
    ct = expanded(ct, a.shape, axis, keepdims)
    return ct if where is None else select(where, ct)


def summed(x: Any, axis: Axis, where: Any, *, keepdims: bool) -> Any:
    """x.sum(where=where); what is left out may be inf or NaN."""
    if where is not None:
        x = np.where(where, x, 0)
    return x.sum(axis=axis, keepdims=keepdims)


def cumsum_pull(ct, a, axis=None):
    """The transpose of a running sum; any running reduction depends on the elements that this reaches."""
    if axis is None:
        return reversed_along(reversed_along(ct, 0).cumsum(axis=0), 0).reshape(a.shape)
    return reversed_along(reversed_along(ct, axis).cumsum(axis=axis), axis)


def _mean_pull(ct, a, axis=None, keepdims=False, where=None):
    if where is None:
        # Multiplied by 1 / n, since n itself may be too large for a float16.
        ct = ct * (1.0 / (count_along(a.shape, axis) or 1))
        return ct if axis is None else expanded(ct, a.shape, axis, keepdims)
    ct = expanded(ct, a.shape, axis, keepdims)
    return select(where, ct / _taken(where, a.shape, axis))


def _taken(where: Any, shape: tuple[int, ...], axis: Axis) -> Any:
    """How many elements `where` leaves to each result, with the reduced axes kept."""
    return np.broadcast_to(where, shape).sum(axis=axis, keepdims=True)


_initial_pull = lambda ct, initial: ct

# What these move, they add up: so the result is no view.
_SUMS: dict[str, Any] = {"moves": True, "may_view": False, "batch": "axis", "out": ANY_CAST}
linear(np.sum, {"a": sum_pull, "initial": _initial_pull}, operands="a where initial", repeats=True, **_SUMS)
linear(np.mean, {"a": _mean_pull}, operands="a where", repeats=True, **_SUMS)
linear(np.cumsum, cumsum_pull, flattens=True, **_SUMS)


def declare_cumulative(name: str, accumulate: Any, initial: float) -> None:
    """Declare cumulative_sum or cumulative_prod, where NumPy has it: another form of cumsum or cumprod."""

    def body(
        x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False
    ) -> Any:
        x = np.atleast_1d(x)
        if axis is None and x.ndim > 1:
            raise ValueError(f"np.{name} needs axis= for an array with {x.ndim} dimensions")
        axis = 0 if axis is None else normalize_axis_index(axis, x.ndim)
        totals = accumulate(x, axis=axis, dtype=dtype, out=out)
        if not include_initial:
            return totals
        first = np.full_like(totals, initial, shape=(*x.shape[:axis], 1, *x.shape[axis + 1 :]))
        return np.concatenate([first, totals], axis=axis)

    if hasattr(np, name):
        composite(getattr(np, name), body)


declare_cumulative("cumulative_sum", np.cumsum, 0)


def _average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False
) -> Any:
    a = as_array(a)
    if weights is None:
        average = np.mean(a, axis=axis, keepdims=keepdims)
        total = np.full(average.shape, a.size / max(average.size, 1), average.dtype)
    else:
        weights = laid_along(as_array(weights), a, axis)
        total = np.sum(weights, axis=axis, keepdims=keepdims, dtype=np.result_type(a, weights))
        is_known = not is_batched(total) and not is_foreign(memory_of(total))
        if is_known and np.any(total == 0):
            raise ZeroDivisionError("np.average: the weights sum to zero")
        average = weighted_mean(a, weights, axis=axis, keepdims=keepdims)
    return (average, np.broadcast_to(total, average.shape)) if returned else average


def laid_along(weights: Any, a: Any, axis: Any) -> Any:
    """`weights` for each element of `a`, from weights of its shape or for the given axes alone."""
    if weights.shape == a.shape:
        return weights
    if axis is None:
        raise TypeError(
            f"np.average: weights of shape {weights.shape} for an array of shape {a.shape} need axis="
        )
    axes = normalize_axis_tuple(axis, a.ndim)
    if weights.shape != tuple(a.shape[i] for i in axes):
        raise ValueError(
            f"np.average: weights of shape {weights.shape} don't fit axis {axis} of an array of shape {a.shape}"
        )
    weights = weights.transpose(sorted(range(len(axes)), key=axes.__getitem__))
    weights = weights.reshape([n if i in axes else 1 for i, n in enumerate(a.shape)])
    return np.broadcast_to(weights, a.shape)


composite(np.average, _average)

# ---- maximum and minimum: ties share evenly, also with `initial` -----------------------------------------------------


def _chosen(a: Any, out: Any, axis: Axis, keepdims: bool, where: Any, initial: Any) -> tuple[Any, Any, Any]:
    """Where `a` is the extreme, whether `initial` is, and how many they are."""
    out = expanded(out, a.shape, axis, keepdims)
    chosen, initial_chosen, count = _equal(a, out, axis, where, initial, nan=False)
    if (
        isinstance(count, Tracer) or is_foreign(count) or not count.all()
    ):  # NaN is the extreme, but equals nothing
        chosen, initial_chosen, count = _equal(a, out, axis, where, initial, nan=True)
        count = np.maximum(count, 1)  # nothing is chosen where NaN-ignoring functions find only NaN
    return chosen, initial_chosen, count


def _equal(a: Any, out: Any, axis: Axis, where: Any, initial: Any, *, nan: bool) -> tuple[Any, Any, Any]:
    chosen = (a == out) | (a != a) if nan else a == out
    if where is not None:
        chosen = np.logical_and(chosen, where)
    count = chosen.sum(axis=axis, keepdims=True)
    if initial is None:
        return chosen, None, count
    initial_chosen = (initial == out) | (initial != initial) if nan else initial == out
    return chosen, initial_chosen, count + initial_chosen


def _extreme_pull(ct, a, out, axis=None, keepdims=False, where=None, initial=None):
    chosen, _, count = _chosen(a, out, axis, keepdims, where, initial)
    return select(chosen, expanded(ct, a.shape, axis, keepdims) / count)


def _extreme_pull_initial(ct, a, out, axis=None, keepdims=False, where=None, initial=None):
    _, initial_chosen, count = _chosen(a, out, axis, keepdims, where, initial)
    return select(initial_chosen, expanded(ct, a.shape, axis, keepdims) / count)


def _extreme_push(t, a, out, axis=None, keepdims=False, where=None, initial=None):
    chosen, initial_chosen, count = _chosen(a, out, axis, keepdims, where, initial)
    terms = []
    if t["a"] is not None:
        terms.append(np.where(chosen, t["a"], 0).sum(axis=axis, keepdims=True))
    if t.get("initial") is not None:
        terms.append(np.where(initial_chosen, t["initial"], 0))
    return (sum(terms[1:], terms[0]) / count).reshape(out.shape)


def declare_extreme(function: Any, adapt: Any = lambda formula: formula) -> None:
    """Declare a maximum or minimum; `adapt` turns its formulas into those of a variant."""
    pulls = {"a": adapt(_extreme_pull), "initial": adapt(_extreme_pull_initial)}
    push, reach = adapt(_extreme_push), adapt(sum_pull)
    custom(function, pulls, push=push, reach=reach, operands="a where initial", batch="axis", repeats=True)


for _function in {np.max, np.amax, np.min, np.amin}:  # in some versions amax is max itself
    declare_extreme(_function)


def _ptp(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    if out is not None:
        raise out_refused("ptp")
    return np.max(a, axis=axis, keepdims=keepdims) - np.min(a, axis=axis, keepdims=keepdims)


composite(np.ptp, _ptp)

# ---- variance and standard deviation ---------------------------------------------------------------------------------


def _deviations(a: Any, axis: Axis, dtype: Any, where: Any, mean: Any) -> Any:
    """a - mean (of the complex conjugates); half precision is worked out in single."""
    if mean is None:
        dtype = np.float32 if dtype is None and a.dtype == np.float16 else dtype
        mean = _mean(a, axis, dtype, where)
    deviations = a - mean
    return deviations.conj() if deviations.dtype.kind == "c" else deviations


def _mean(a: Any, axis: Axis, dtype: Any, where: Any) -> Any:
    """The mean with the reduced axes kept; not all libraries have it with a mask."""
    if where is None or not is_foreign(memory_of(a)):
        return np.mean(a, axis=axis, dtype=dtype, keepdims=True, **given(where=where))
    total = np.where(where, a, 0).sum(axis=axis, dtype=dtype, keepdims=True)
    return total / _taken(where, a.shape, axis)


def _degrees(shape: tuple[int, ...], axis: Axis, where: Any, ddof: Any) -> Any:
    """What the sum of squares is divided by: the number of elements less `ddof`, and at least 0."""
    if where is None:
        return max(count_along(shape, axis) - ddof, 0)
    return np.maximum(_taken(where, shape, axis) - ddof, 0)


def declare_spread(function: Any, slope: Any, adapt: Any = lambda formula: formula) -> Any:
    """Declare a variance or standard deviation; `slope` is its derivative in the deviations from the mean."""

    def partial(
        a, out, axis=None, dtype=None, ddof=0, keepdims=False, where=None, mean=None, correction=None
    ):
        degrees = _degrees(a.shape, axis, where, ddof if correction is None else correction)
        out = expanded(out, a.shape, axis, keepdims)
        in_full = slope is std_slope and where is None and mean is None and degrees > 0
        if in_full and has_rule(a) and count_along(a.shape, axis) > 1:  # one element alone has no spread
            size = expanded(out, a.shape, axes_of(axis, a.ndim), False)
            return spread_slope(a.astype(np.result_type(a, out)), size, degrees, axis)
        return slope(_deviations(a, axis, dtype, where, mean), degrees, out, axis, where)

    @wraps(partial)
    def pull(ct, a, axis=None, keepdims=False, where=None, **rest):
        ct = expanded(ct, a.shape, axis, keepdims) * partial(
            a, axis=axis, keepdims=keepdims, where=where, **rest
        )
        return ct if where is None else select(where, ct)

    @wraps(partial)
    def pull_mean(ct, **saved):
        return pull(-ct, **saved)

    @wraps(partial)
    def push(t, axis=None, keepdims=False, where=None, **rest):
        moved = -t["mean"] if t["a"] is None else t["a"] if t.get("mean") is None else t["a"] - t["mean"]
        terms = (moved * partial(axis=axis, keepdims=keepdims, where=where, **rest)).real
        return summed(terms, axis, where, keepdims=keepdims)

    pulls = {"a": adapt(pull), "mean": adapt(pull_mean)}
    return custom(
        function,
        pulls,
        push=adapt(push),
        reach=adapt(sum_pull),
        operands="a where mean",
        batch="axis",
        repeats=True,
    )


def var_slope(deviations: Any, degrees: Any, out: Any, axis: Axis, where: Any) -> Any:
    """d var / d deviation."""
    return deviations * 2 / degrees


def std_slope(deviations: Any, degrees: Any, out: Any, axis: Axis, where: Any) -> Any:
    """d std / d deviation: 0 without spread, which is the minimum; so, too, for one element alone."""
    if _squares_are_lost(concrete(out)):
        size = np.abs(deviations) if where is None else np.where(where, np.abs(deviations), 0)
        # which not all libraries know; they have an element to begin with
        start: dict[str, Any] = {} if is_foreign(memory_of(size)) else {"initial": 0}
        size = np.max(size, axis=axis, keepdims=True, **start)
        deviations = deviations / np.where((size > 0) & (size < np.inf), size, 1)
        squares = (deviations * deviations.conj()).real
        out = np.sqrt(summed(squares, axis, where, keepdims=True) / degrees)
    alone = (
        count_along(deviations.shape, axis) == 1
        if where is None
        else _taken(where, deviations.shape, axis) == 1
    )
    if alone is True:
        return deviations * 0 / degrees
    slope = ratio(deviations, out * degrees)
    return slope if where is None else np.where(np.logical_and(alone, degrees), 0, slope)


def _squares_are_lost(x: Any) -> bool:
    """Do the squares of numbers of this size overflow or underflow?"""
    limits = np.finfo(x.dtype)
    return some((x < np.sqrt(limits.tiny)) | (x > np.sqrt(limits.max)))


declare_square(declare_spread(np.std, std_slope), declare_spread(np.var, var_slope))
