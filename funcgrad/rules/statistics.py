"""Correlations and histograms: NumPy's chapter on statistics, beyond the reductions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.core.arrays.ufunc import as_array
from funcgrad.core.engine.batch import is_batched, one_by_one
from funcgrad.core.engine.declare import composite, elementwise, linear
from funcgrad.core.engine.primitive import Call, Primitive
from funcgrad.core.engine.trace import Tracer, bind, concrete
from funcgrad.core.memory.indexing import GETITEM
from funcgrad.errors import BatchedControlFlowError, user_line
from funcgrad.rules.indexing import as_positions
from funcgrad.rules.rows import is_lazy

# ---- correlations ----------------------------------------------------------------------------------------------------

# NumPy 2.2 began to turn a matrix of a single row, too.
_TURNS_A_ROW = np.cov(np.ones((1, 2)), rowvar=False, bias=True).shape == (2, 2)


def _variables(m: Any, rowvar: bool, dtype: Any) -> Any:
    """The observations as a matrix with one variable in each row."""
    m = as_array(m)
    if m.ndim > 2:
        raise ValueError(f"np.cov takes one or two dimensions, not {m.ndim}")
    m = m.astype(np.result_type(m.dtype, np.float64) if dtype is None else dtype)
    if m.ndim < 2:
        return m.reshape(1, -1)
    return m if rowvar or (m.shape[0] == 1 and not _TURNS_A_ROW) else m.T


def _is_any(mask: Any) -> bool:
    """Is an element True? A lazy array is not asked: it would be computed."""
    return not is_lazy(mask) and bool(np.any(mask))


def _observation_weights(fweights: Any, aweights: Any, count: int) -> Any:
    """How often, and how much, each observation counts; None for once."""
    weights = None
    for name, factor in (("fweights", fweights), ("aweights", aweights)):
        if factor is None:
            continue
        factor = as_array(factor)
        if factor.shape != (count,):
            raise ValueError(f"np.cov: {name} has shape {factor.shape}, but there are {count} observations")
        if _is_any(concrete(factor) < 0):
            raise ValueError(f"np.cov: {name} cannot be negative")
        if name == "fweights" and _is_any(concrete(factor) != np.around(concrete(factor))):
            raise TypeError(
                "np.cov: fweights must be integers, as they count; give other weights as aweights"
            )
        weights = factor if weights is None else weights * factor
    return weights


def _cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None, fweights: Any = None,
    aweights: Any = None, *, dtype: Any = None,
) -> Any:  # fmt: skip
    x = _variables(m, rowvar, dtype)
    if y is not None:
        y = as_array(y)
        # a row is never turned
        x = np.concatenate([x, _variables(y, rowvar or y.ndim == 2 and y.shape[0] == 1, dtype)])
    ddof = ddof if ddof is not None else 0 if bias else 1
    if ddof != int(ddof):
        raise ValueError(f"np.cov: ddof must be an integer, not {ddof}")
    weights = _observation_weights(fweights, aweights, x.shape[1])
    if weights is None:
        x = x - x.mean(axis=1, keepdims=True)
        return (x @ x.conj().T / max(x.shape[1] - ddof, 0)).squeeze()
    total = weights.sum()
    if _is_any(concrete(total) == 0):
        raise ZeroDivisionError("np.cov: the weights sum to zero")
    x = x - (x @ weights / total).reshape(-1, 1)
    lost = ddof if aweights is None else ddof * (weights * aweights).sum() / total
    return (x @ (x * weights).conj().T / np.maximum(total - lost, 0)).squeeze()


def _within_unit(x: Any) -> Any:
    """`x` clipped to [-1, 1], exceeded only by rounding; its derivative is that of an exact result, 1."""
    if x.dtype.kind != "c":
        return np.clip(x, -1, 1)
    return np.clip(x.real, -1, 1) + 1j * np.clip(x.imag, -1, 1)


_unit = elementwise(_within_unit, 1)


def _corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    c = np.cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    variance: Any = np.diagonal(c)
    deviation = np.sqrt(variance.real)
    return _unit(c / deviation.reshape(-1, 1) / deviation)


composite(np.cov, _cov)
composite(np.corrcoef, _corrcoef)

# ---- counting --------------------------------------------------------------------------------------------------------


def _batched_bincount(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    """Each example counts in a range of its own."""
    if size == 0:
        return one_by_one(primitive, call, batched, size)
    x, *weights = (
        o if b else np.broadcast_to(o, (size, *o.shape)) for o, b in zip(call.operands, batched, strict=True)
    )
    if concrete(x).min(initial=0) < 0:
        raise ValueError("np.bincount counts the numbers from 0 on; there are negative ones")
    count = max(int(concrete(x).max(initial=-1)) + 1, call.params.get("minlength", 0))
    shifted = (x + count * np.arange(size).reshape(-1, 1)).reshape(-1)
    flat = Call([shifted, *(w.reshape(-1) for w in weights)], call.layout, {"minlength": count * size})
    return bind(primitive, flat).reshape(size, count)


linear(
    np.bincount,
    {"weights": lambda ct, x: GETITEM(ct, as_positions(x))},
    operands="x weights",
    signature="x, /, weights=None, minlength=0",
    moves=True,
    batch=_batched_bincount,
)

# ---- histograms: counts are piecewise constant, but linear in the weights; edges found from the data follow them -----


def _bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    a = as_array(a)
    bins = bins if isinstance(bins, str) or np.ndim(bins) == 0 else as_array(bins)
    count = _bin_count(a, bins, range, weights)
    if np.ndim(bins):
        return bins
    low, high = range if range is not None else (a.min(), a.max()) if a.size else (0.0, 1.0)
    dtype = np.result_type(low, high, a)
    dtype = dtype if dtype.kind == "f" else np.dtype(float)
    apart = np.where(np.equal(low, high), 0.5, 0.0).astype(dtype)
    return np.linspace(low - apart, high + apart, count + 1, dtype=dtype)


def _bin_count(a: Any, bins: Any, range: Any, weights: Any) -> int:
    """How many bins there are; where the values can be seen, NumPy says so, and refuses what is wrong."""
    if is_batched(a) or is_batched(bins):
        if isinstance(bins, str):
            raise BatchedControlFlowError(
                f"bins={bins!r} at {user_line()} depends on the data, but under vmap each example has its own. "
                "Give the number of bins or their edges instead."
            )
        return bins.shape[0] - 1 if np.ndim(bins) else bins
    # of edges that jit records there is only the number
    if np.ndim(bins) == 1 and isinstance(concrete(bins), Tracer):
        return bins.shape[0] - 1
    range = None if range is None else [concrete(x) for x in range]
    weights = concrete(weights) if isinstance(bins, str) else None
    return len(np.histogram_bin_edges(concrete(a), concrete(bins), range, weights)) - 1


def _bin_of(x: Any, edges: Any) -> Any:
    """The number of the bin of each x; one too many outside. The last bin includes its upper edge."""
    n = edges.shape[0] - 1
    index = np.searchsorted(edges, x, side="right") - 1
    index = np.where(x == edges[-1], n - 1, index)
    return np.where(index < 0, n, index)


def _counts(index: Any, weights: Any, n: int) -> Any:
    """How many of `index` (or how much of their weights) are 0, 1, ... n - 1."""
    if weights is None:
        return np.bincount(index, minlength=n + 1)[:n]
    if weights.dtype.kind == "c":
        return _counts(index, weights.real, n) + 1j * _counts(index, weights.imag, n)
    return np.bincount(index, weights, minlength=n + 1)[:n].astype(weights.dtype)


def _histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    a = as_array(a).reshape(-1)
    if weights is not None:
        weights = as_array(weights).reshape(-1)
        if weights.shape != a.shape:
            raise ValueError(f"np.histogram: {weights.size} weights for {a.size} values")
    edges = _bin_edges(a, bins, range, weights)
    counts = _counts(_bin_of(a, edges), weights, edges.shape[0] - 1)
    return (counts / np.diff(edges) / counts.sum() if density else counts), edges


_WHOLE = (int, np.integer)


def _histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    sample = as_array(sample) if hasattr(sample, "shape") else np.atleast_2d(as_array(sample)).T
    sample = sample if sample.ndim == 2 else np.atleast_2d(sample).T
    width = sample.shape[1]
    bins = [bins] * width if isinstance(bins, _WHOLE) else list(bins)
    if len(bins) != width:
        raise ValueError(f"np.histogramdd: {len(bins)} bins for a sample of {width} dimensions")
    ranges = [None] * width if range is None else range
    edges = [_bin_edges(x, b, r) for x, b, r in zip(sample.T, bins, ranges, strict=True)]
    shape = [e.shape[0] - 1 for e in edges]
    index, outside = 0, False
    for x, e, n in zip(sample.T, edges, shape, strict=True):
        k = _bin_of(x, e)
        index, outside = index * n + k, np.logical_or(outside, k >= n)
    total = math.prod(shape)
    weights = None if weights is None else as_array(weights)
    counts = _counts(np.where(outside, total, index), weights, total).reshape(shape).astype(float)
    if density:
        volumes = 1.0
        for e in edges:
            volumes = np.multiply.outer(volumes, np.diff(e))
        counts = counts / volumes / counts.sum()
    return counts, edges


def _histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    if len(x) != len(y):
        raise ValueError(f"np.histogram2d: x has {len(x)} values and y has {len(y)}")
    if not isinstance(bins, _WHOLE) and len(bins) > 2:  # edges for both axes
        bins = [bins, bins]
    weights = weights if weights is None else as_array(weights)
    counts, edges = np.histogramdd([as_array(x), as_array(y)], bins, range, density, weights)
    return counts, *edges


composite(np.histogram_bin_edges, _bin_edges)
composite(np.histogram, _histogram)
composite(np.histogramdd, _histogramdd)
composite(np.histogram2d, _histogram2d)
