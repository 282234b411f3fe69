"""Statistics: covariances, histograms, the most frequent value, statistics without NaN."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.torch.functions.reduce import (
    ModeResult,
    as_line,
    axis_of,
    named_result,
    picked,
    shared,
)
from funcgrad.torch.functions.registry import declare, function
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.tensor import Tensor, make_tensor
from funcgrad.torch.tensors.values import constant, looked_at

declare(
    "cov",
    lambda input, *, correction=1, fweights=None, aweights=None: dtypes.cast(
        np.cov(input, ddof=correction, fweights=fweights, aweights=aweights), input.dtype
    ),
    "SqueezeBackward0",
)
declare("corrcoef", lambda input: dtypes.cast(np.corrcoef(input), input.dtype), "ClampBackward1")
declare(
    "histc",
    lambda input, bins=100, min=0, max=0: np.histogram(input, bins, (min, max) if min != max else None)[
        0
    ].astype(input.dtype),
)


Histogram = named_result("histogram", "hist bin_edges")


@function("fm", out=True)
def histogram(
    input: Tensor, bins: Any = 100, *, range: Any = None, weight: Any = None, density: bool = False
) -> Any:
    """How many elements (or how much weight) lie in each bin, and the edges of the bins."""
    x = looked_at(input.value, "histogram").reshape(-1)
    edges = bins.value if isinstance(bins, Tensor) else bins
    weights = None if weight is None else np.asarray(weight.value).reshape(-1)
    counts, found = np.histogram(x, edges, range, weights=weights, density=density)
    return Histogram(make_tensor(counts.astype(x.dtype)), make_tensor(found.astype(x.dtype)))


Histogramdd = named_result("histogramdd", "hist bin_edges")


@function(out=True)
def histogramdd(
    input: Tensor, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False
) -> Any:
    """A histogram in several dimensions: rows of `input` are points."""
    x = looked_at(input.value, "histogramdd").reshape(-1, input.shape[-1])
    given = (
        [b.value if isinstance(b, Tensor) else b for b in bins] if isinstance(bins, (list, tuple)) else bins
    )
    limits = None if range is None else list(zip(range[::2], range[1::2], strict=True))
    counts, edges = np.histogramdd(
        x, given, limits, density, None if weight is None else np.asarray(weight.value).reshape(-1)
    )
    return Histogramdd(
        make_tensor(counts.astype(x.dtype)), tuple(make_tensor(e.astype(x.dtype)) for e in edges)
    )


# ---- order ---------------------------------------------------------------------------------------------------------------
declare("msort", as_line(lambda input: np.sort(input, 0)), "SortBackward0")


def _mode_index(x: Any, dim: int) -> Any:
    """Where along `dim` the most frequent value (the smallest of several) stands last."""
    x = np.moveaxis(x, dim, -1)
    places = np.arange(x.shape[-1])
    ordered = np.sort(x, -1)
    # where a run of equal values begins
    begins = np.where(ordered[..., 1:] != ordered[..., :-1], places[1:], 0)
    begins = np.concatenate(
        [np.zeros_like(begins, shape=(*x.shape[:-1], 1)), np.maximum.accumulate(begins, -1)], -1
    )
    longest = np.argmax(places - begins, -1)[..., None]
    return np.max(np.where(x == np.take_along_axis(ordered, longest, -1), places, 0), -1)


def _mode(input: Any, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent value (the smallest of several), with the index of its last occurrence."""
    return picked(input, _mode_index(constant(input), dim), dim, keepdim, ModeResult)


declare("mode", as_line(_mode))


AminmaxResult = named_result("aminmax", "min max")


@function("fm", out=True)
def aminmax(input: Tensor, *, dim: Any = None, keepdim: bool = False) -> Any:
    """The minimum and the maximum."""
    return AminmaxResult(input.amin(dim, keepdim), input.amax(dim, keepdim))


def _middle_without_nan(x: Any, dim: int) -> Any:
    """The index of the lower middle of what is not NaN."""
    count = np.sum(~np.isnan(x), dim, keepdims=True)
    permutation = np.argsort(x, axis=dim, kind="stable")  # NaN comes last
    return np.squeeze(np.take_along_axis(permutation, np.maximum(count - 1, 0) // 2, dim), dim)


NanmedianResult = named_result("nanmedian")


def _nanmedian(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The lower middle of what is not NaN; along `dim`, (values, indices)."""
    if dim is None:
        flat = np.reshape(input, -1)
        return shared(flat, _middle_without_nan(constant(flat), 0))
    return picked(input, _middle_without_nan(constant(input), dim), dim, keepdim, NanmedianResult)


declare(
    "nanmedian",
    as_line(_nanmedian),
    lambda input, dim=None, keepdim=False: f"NanmedianBackward{0 if dim is None else 1}",
)


def _nanquantile(
    input: Any, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: Any = "linear"
) -> Any:
    """Quantiles of what is not NaN."""
    given = q if hasattr(q, "dtype") else np.asarray(q, input.dtype)
    return np.nanquantile(input, given, axis=axis_of(dim, input), keepdims=keepdim, method=interpolation)


declare("nanquantile", _nanquantile, "SqueezeBackward4")
