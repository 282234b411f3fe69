"""What ordinary code uses seldom: float_power, frexp, writes to copies, histograms, statistics without NaN, STFT."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.engine.trace import concrete
from funcgrad.torch.functions.index import at_add
from funcgrad.torch.functions.reduce import MedianResult, axis_of, named_result, picked, shared
from funcgrad.torch.functions.registry import FUNCTIONS, declare, enter, function
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.inplace import check_writable
from funcgrad.torch.tensors.tensor import Tensor, make_tensor

# ---- elementwise -------------------------------------------------------------------------------------------------------


def _float_power(input: Any, exponent: Any) -> Any:
    """input ** exponent in double precision."""
    x, y = [dtypes.cast(z, np.dtype(complex if _kind(z) == "c" else float)) for z in (input, exponent)]
    return np.power(x, y)


def _kind(x: Any) -> str:
    return x.dtype.kind if hasattr(x, "dtype") else np.asarray(x).dtype.kind


def _float_power_node(input: Any = None, exponent: Any = None) -> str:
    if not isinstance(input, Tensor) and input is not None:
        return "PowBackward2"
    return "PowBackward0" if exponent is not None and not isinstance(exponent, Tensor) else "PowBackward1"


declare("float_power", _float_power, _float_power_node)


def _float_power_inplace(self: Tensor, exponent: Any) -> Tensor:
    """float_power, in place: for tensors in double precision."""
    if self.value.dtype.itemsize < 8:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {self.dtype} but the operation's result requires dtype Double"
        )
    return self.pow_(exponent)


Tensor.float_power_ = _float_power_inplace  # type: ignore[attr-defined]
Frexp = named_result("frexp", "mantissa exponent")


def _frexp(input: Any) -> Any:
    """mantissa * 2**exponent, with a mantissa in [0.5, 1)."""
    exponent = np.frexp(concrete(input))[1]
    return Frexp(input * np.exp2(-exponent.astype(input.dtype)), exponent)


declare("frexp", _frexp)
declare("conj_physical", lambda input: np.conjugate(input) if input.dtype.kind == "c" else input, where="fmi")
declare("isreal", lambda input: np.imag(concrete(input)) == 0)
for _name in ("xlogy", "i0"):
    enter(_name, FUNCTIONS[_name], "fmi")
for _name in ("swapaxes", "swapdims"):
    setattr(Tensor, f"{_name}_", Tensor.transpose_)  # type: ignore[attr-defined]
for _name in ("arctan2", "renorm"):
    enter(_name, FUNCTIONS[_name], "fmi")


@function("m")
def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Each element replaced by `callable` of it: slow, and without derivatives."""
    return self.map_(self, lambda a, _: callable(a))


@function("m")
def map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Each element replaced by `callable` of it and of the one in `tensor`: slow, and without derivatives."""
    if self.requires_grad or tensor.requires_grad:
        raise RuntimeError("Can't call map_() on Variable that requires grad. Use var.detach().map_() instead.")
    check_writable(self)
    x, y = np.broadcast_arrays(np.asarray(concrete(self.value)), np.asarray(concrete(tensor.value)))
    made = [callable(a.item(), b.item()) for a, b in zip(x.reshape(-1), y.reshape(-1), strict=True)]
    return self.copy_(make_tensor(np.array(made, x.dtype).reshape(x.shape)))


# ---- writes to copies --------------------------------------------------------------------------------------------------
def _put(input: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    """`input` with the elements of `source` at flat indices; of several writes to one place the last counts, or they add up."""
    where, values = np.reshape(concrete(index), -1), np.reshape(source, -1)
    where = np.where(where < 0, where + math.prod(input.shape), where)
    flat = np.copy(np.reshape(input, -1))
    if accumulate:
        flat = at_add(flat, where, values)
    else:
        flat[where] = values
    return np.reshape(flat, input.shape)


declare("put", _put, where="fmi")


def _index_reduce(input: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True) -> Any:
    """`input` with slices of `source` reduced (prod, mean, amax, amin) into the slices that `index` names."""
    combine = {"prod": np.multiply, "mean": np.add, "amax": np.maximum, "amin": np.minimum}[reduce]
    x, src = np.moveaxis(input, dim, 0), np.moveaxis(source, dim, 0)
    slices: list[Any] = [x[i] for i in range(x.shape[0])]
    counts = [int(include_self)] * len(slices)
    for k, i in enumerate(int(i) for i in concrete(index)):
        slices[i] = src[k] if not counts[i] else combine(slices[i], src[k])
        counts[i] += 1
    if reduce == "mean":
        slices = [s / max(n, 1) if n > int(include_self) or include_self else s for s, n in zip(slices, counts, strict=True)]
    return np.moveaxis(np.stack(slices), 0, dim)


declare("index_reduce", _index_reduce, where="fmi")


# ---- sets and histograms -----------------------------------------------------------------------------------------------
def unique_consecutive(input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: Any = None) -> Any:
    """The elements (or slices along `dim`) without those that equal the one before."""
    x = np.asarray(concrete(input.value))
    rows = x.reshape(-1) if dim is None else np.moveaxis(x, dim, 0)
    changed = np.ones(len(rows), bool)
    changed[1:] = (rows[1:] != rows[:-1]).reshape(len(rows) - 1, -1).any(1) if len(rows) > 1 else changed[1:]
    inverse = np.cumsum(changed) - 1
    values = rows[changed] if dim is None else np.moveaxis(rows[changed], 0, dim)
    found = (values, inverse.reshape(x.shape) if dim is None else inverse, np.bincount(inverse))
    out = [make_tensor(a) for a, wanted in zip(found, (True, return_inverse, return_counts), strict=True) if wanted]
    return tuple(out) if len(out) > 1 else out[0]


enter("unique_consecutive", unique_consecutive, "fm")
Histogram = named_result("histogram", "hist bin_edges")


@function("fm")
def histogram(input: Tensor, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False) -> Any:
    """How many elements (or how much weight) lie in each bin, and the edges of the bins."""
    x = np.asarray(concrete(input.value)).reshape(-1)
    edges = bins.value if isinstance(bins, Tensor) else bins
    weights = None if weight is None else np.asarray(weight.value).reshape(-1)
    counts, found = np.histogram(x, edges, range, weights=weights, density=density)
    return Histogram(make_tensor(counts.astype(x.dtype)), make_tensor(found.astype(x.dtype)))


Histogramdd = named_result("histogramdd", "hist bin_edges")


@function()
def histogramdd(input: Tensor, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False) -> Any:
    """A histogram in several dimensions: rows of `input` are points."""
    x = np.asarray(concrete(input.value)).reshape(-1, input.shape[-1])
    given = [b.value if isinstance(b, Tensor) else b for b in bins] if isinstance(bins, (list, tuple)) else bins
    limits = None if range is None else list(zip(range[::2], range[1::2], strict=True))
    counts, edges = np.histogramdd(x, given, limits, density, None if weight is None else np.asarray(weight.value).reshape(-1))
    return Histogramdd(make_tensor(counts.astype(x.dtype)), tuple(make_tensor(e.astype(x.dtype)) for e in edges))


@function("fm")
def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """The first `size` indices of elements that are not 0, filled up with `fill_value`."""
    found = np.argwhere(np.asarray(concrete(input.value)))[:size]
    filling = np.full((size - len(found), found.shape[1]), fill_value)
    return make_tensor(np.concatenate([found, filling]))


# ---- statistics --------------------------------------------------------------------------------------------------------
def _middle_without_nan(x: Any, dim: int) -> Any:
    """The index of the lower middle of what is not NaN."""
    count = np.sum(~np.isnan(x), dim, keepdims=True)
    order = np.argsort(x, axis=dim, kind="stable")  # NaN comes last
    return np.squeeze(np.take_along_axis(order, np.maximum(count - 1, 0) // 2, dim), dim)


def _nanmedian(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The lower middle of what is not NaN; along `dim`, (values, indices)."""
    if dim is None:
        flat = np.reshape(input, -1)
        return shared(flat, int(_middle_without_nan(concrete(flat), 0)))
    return picked(input, _middle_without_nan(concrete(input), dim), dim, keepdim, MedianResult)


declare("nanmedian", _nanmedian, lambda input, dim=None, keepdim=False: f"NanmedianBackward{0 if dim is None else 1}")


def _nanquantile(input: Any, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: Any = "linear") -> Any:
    """Quantiles of what is not NaN."""
    given = q if hasattr(q, "dtype") else np.asarray(q)
    return np.nanquantile(input, given, axis=axis_of(dim, input), keepdims=keepdim, method=interpolation)


declare("nanquantile", _nanquantile, "SqueezeBackward4")


def _pdist(input: Any, p: Any = 2.0) -> Any:
    """The p-distances of all pairs of rows."""
    rows, columns = np.triu_indices(input.shape[0], 1)
    return np.linalg.vector_norm(input[rows] - input[columns], axis=-1, ord=p)


declare("pdist", _pdist, where="f")


def _norm_except_dim(v: Any, pow: Any = 2, dim: int = 0) -> Any:
    """The norms of the slices along one dim."""
    others = tuple(a for a in range(v.ndim) if a != dim % v.ndim)
    return np.linalg.vector_norm(v, ord=pow, axis=others, keepdims=True)


declare("norm_except_dim", _norm_except_dim, "LinalgVectorNormBackward0", where="f")


def closed_range(start: Any, end: Any, step: Any = 1, **options: Any) -> Tensor:
    """The numbers start, start + step, ... up to and with `end` (arange leaves the end out)."""
    from funcgrad.torch.functions.creation import finished

    count = int((end - start) / step) + 1
    made = (start + step * np.arange(count)).astype(dtypes.default())
    return finished(made, **{"dtype": None, "requires_grad": False, **options})


FUNCTIONS["range"] = closed_range


# ---- short-time Fourier transforms -------------------------------------------------------------------------------------
def _framed(x: Any, n_fft: int, hop: int) -> Any:
    starts = np.arange(0, x.shape[-1] - n_fft + 1, hop)
    return x[..., starts[:, None] + np.arange(n_fft)]


def _full_window(window: Any, n_fft: int, length: int, dtype: Any) -> Any:
    given = np.ones(length, dtype) if window is None else window
    before = (n_fft - length) // 2
    return np.pad(given, (before, n_fft - length - before))


def _stft(
    input: Any,
    n_fft: int,
    hop_length: Any = None,
    win_length: Any = None,
    window: Any = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: Any = None,
    return_complex: Any = None,
) -> Any:
    """The Fourier transforms of windows of a signal: (..., frequencies, frames)."""
    if not return_complex:
        raise RuntimeError("stft requires the return_complex parameter be given for real inputs: write return_complex=True")
    hop = n_fft // 4 if hop_length is None else hop_length
    x = np.pad(input, [(0, 0)] * (input.ndim - 1) + [(n_fft // 2, n_fft // 2)], mode=pad_mode) if center else input  # type: ignore[call-overload]
    frames = _framed(x, n_fft, hop) * _full_window(window, n_fft, n_fft if win_length is None else win_length, x.dtype)
    transform = np.fft.rfft if onesided in (None, True) and x.dtype.kind == "f" else np.fft.fft
    out = transform(frames, norm="ortho" if normalized else None)
    return np.swapaxes(out, -1, -2)


declare("stft", lambda input, *args, **kwargs: _single(input, _stft(input, *args, **kwargs)), "TransposeBackward0")


def _single(x: Any, out: Any) -> Any:
    return out.astype(np.complex64) if x.dtype in (np.float32, np.complex64) and out.dtype != np.complex64 else out


def _istft(
    input: Any,
    n_fft: int,
    hop_length: Any = None,
    win_length: Any = None,
    window: Any = None,
    center: bool = True,
    normalized: bool = False,
    onesided: Any = None,
    length: Any = None,
    return_complex: bool = False,
) -> Any:
    """The signal whose stft this is: windows added up where they overlap, divided by the sum of their squares."""
    hop = n_fft // 4 if hop_length is None else hop_length
    real = np.float32 if input.dtype == np.complex64 else np.float64
    shape = _full_window(window, n_fft, n_fft if win_length is None else win_length, real)
    frames = np.swapaxes(input, -1, -2)
    frames = np.fft.irfft(frames, n_fft, norm="ortho" if normalized else None) * shape
    count = frames.shape[-2]
    where = np.arange(count)[:, None] * hop + np.arange(n_fft)
    total = n_fft + hop * (count - 1)
    out = at_add(np.zeros((*frames.shape[:-2], total), real), (..., where), frames)
    weight = at_add(np.zeros(total, real), where, np.broadcast_to(shape * shape, (count, n_fft)))
    start = n_fft // 2 if center else 0
    end = total - start if length is None else start + length
    return out[..., start:end] / weight[start:end]


declare("istft", lambda input, *args, **kwargs: _istft(input, *args, **kwargs), "DivBackward0")


@function()
def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, **options: Any) -> Tensor:
    """The window of Kaiser."""
    from funcgrad.torch.functions.creation import finished

    made = np.kaiser(window_length + periodic, beta)[:window_length].astype(dtypes.default())
    return finished(made, **{"dtype": None, "requires_grad": False, **options})


@function()
def binomial(count: Tensor, prob: Tensor, generator: Any = None) -> Tensor:
    """Numbers drawn from binomial distributions: sums of Bernoulli draws."""
    from funcgrad.torch.random import rand

    n, p = np.broadcast_arrays(np.asarray(concrete(count.value)), np.asarray(concrete(prob.value)))
    draws = rand((int(n.max(initial=0)), *n.shape), generator=generator, dtype=dtypes.of(np.float64))
    hits = (np.asarray(draws.value) < p) & (np.arange(len(draws)).reshape((-1,) + (1,) * n.ndim) < n)
    return make_tensor(hits.sum(0).astype(p.dtype))
