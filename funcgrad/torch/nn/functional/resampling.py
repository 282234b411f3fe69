"""Changing the size of images and signals, as functions: interpolate, pixel_shuffle and their relatives."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from funcgrad.torch.functions.ops import Op
from funcgrad.torch.nn.functional.pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d
from funcgrad.torch.tensors.tensor import Tensor

_LINEAR = {"linear": 1, "bilinear": 2, "trilinear": 3}
_ALIGNED = ("linear", "bilinear", "trilinear", "bicubic")
_KNOWN = "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact"


# ---- where the elements of one axis come from --------------------------------------------------------------------------
def _nearest(size: int, wanted: int, step: float, middle: float) -> list[tuple[Any, Any]]:
    at = np.floor((np.arange(wanted, dtype=np.float32) + np.float32(middle)) * np.float32(step)).astype(int)
    return [(np.clip(at, 0, size - 1), None)]


def _places(wanted: int, size: int, step: float, aligned: bool) -> np.ndarray:
    """Where the new elements lie on the old axis."""
    if aligned:
        return np.arange(wanted) * ((size - 1) / (wanted - 1) if wanted > 1 else 0.0)
    return (np.arange(wanted) + 0.5) * step - 0.5


def _linear(size: int, wanted: int, step: float, aligned: bool) -> list[tuple[Any, Any]]:
    place = np.maximum(_places(wanted, size, step, aligned), 0)
    low = np.minimum(place.astype(int), size - 1)
    part = np.clip(place - low, 0, 1)
    return [(low, 1 - part), (np.minimum(low + 1, size - 1), part)]


def _cubic(size: int, wanted: int, step: float, aligned: bool) -> list[tuple[Any, Any]]:
    """Four elements each, with the weights of cubic convolution, a = -3/4 (Keys, 1981)."""
    place = _places(wanted, size, step, aligned)
    low = np.floor(place).astype(int)
    part = place - low
    return [(np.clip(low + k, 0, size - 1), _cubic_weight(np.abs(part - k))) for k in (-1, 0, 1, 2)]


def _cubic_weight(d: np.ndarray, a: float = -0.75) -> np.ndarray:
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    return np.where(d <= 1, near, ((a * d - 5 * a) * d + 8 * a) * d - 4 * a)


def _sources(mode: str, size: int, wanted: int, scale: float | None, aligned: bool) -> list[tuple[Any, Any]]:
    """For one axis: indices of old elements for each new one, and their weights (None: 1)."""
    step = 1 / scale if scale else size / wanted
    if mode in ("nearest", "nearest-exact"):
        return _nearest(size, wanted, step, 0.5 * (mode == "nearest-exact"))
    return (_cubic if mode == "bicubic" else _linear)(size, wanted, step, aligned)


def _resampled(
    input: Any, mode: str, size: tuple[int, ...], scales: tuple[float | None, ...], aligned: bool
) -> Any:
    out, rank = input, len(size)
    for k, (wanted, scale) in enumerate(zip(size, scales, strict=True)):
        axis = k - rank
        sources = _sources(mode, input.shape[axis], wanted, scale, aligned)
        parts = [
            np.take(out, at, axis)
            if weight is None
            else np.take(out, at, axis) * _along(weight, axis, input.dtype)
            for at, weight in sources
        ]
        out = parts[0]
        for part in parts[1:]:
            out = out + part
    return out


def _along(weight: np.ndarray, axis: int, dtype: Any) -> np.ndarray:
    return weight.astype(dtype).reshape(-1, *(1,) * (-axis - 1))


_NAMES = {"nearest": "Nearest", "nearest-exact": "NearestExact", "linear": "Linear", "bilinear": "Bilinear"}
_NAMES |= {"trilinear": "Trilinear", "bicubic": "Bicubic"}
_RESAMPLE = Op(
    "upsample", _resampled, lambda input, mode, size, *_: f"Upsample{_NAMES[mode]}{len(size)}DBackward0"
)


# ---- interpolate -----------------------------------------------------------------------------------------------------
def _per_axis(x: Any, rank: int) -> tuple[Any, ...]:
    return tuple(x) if isinstance(x, (tuple, list)) else (x,) * rank


def _sizes(input: Tensor, size: Any, scale_factor: Any) -> tuple[tuple[int, ...], tuple[float | None, ...]]:
    """The new sizes, and the scales that were given."""
    old = tuple(input.shape[2:])
    if (size is None) == (scale_factor is None):
        raise ValueError(
            f"{'either' if size is None else 'only one of'} size or scale_factor should be defined"
        )
    what, given = ("output size", size) if scale_factor is None else ("scale_factor", scale_factor)
    values = _per_axis(given, len(old))
    if len(values) != len(old):
        first, letter = ("Input and output", "o") if scale_factor is None else ("Input and scale_factor", "s")
        text = f"output size of {size}" if scale_factor is None else f"scale_factor of shape {values}"
        raise ValueError(
            f"{first} must have the same number of spatial dimensions, but got input with spatial dimensions of {list(old)} and "
            f"{text}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and {what} in "
            f"({letter}1, {letter}2, ...,{letter}K) format."
        )
    if scale_factor is None:
        return tuple(int(n) for n in values), (None,) * len(old)
    return tuple(math.floor(n * s) for n, s in zip(old, values, strict=True)), tuple(float(s) for s in values)


def _check_mode(input: Tensor, mode: str, align_corners: bool | None) -> None:
    rank = input.dim() - 2
    if mode not in ("area", "bicubic", *_NAMES) or rank not in (1, 2, 3):
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.dim()}D) for the modes: {_KNOWN} (got {mode})"
        )
    needed = _LINEAR.get(mode, 2 if mode == "bicubic" else rank)
    if rank != needed:
        raise NotImplementedError(f"Got {input.dim()}D input, but {mode} mode needs {needed + 2}D input")
    if align_corners is not None and mode not in _ALIGNED:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )


def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """(N, C, d1, ...) with other sizes d: "nearest", "nearest-exact", "linear", "bilinear", "trilinear",
    "bicubic", "area".

    Raises ValueError for sizes that do not fit, NotImplementedError for a mode that the rank does not have,
    and for antialias.

    >>> import funcgrad.torch as torch
    >>> torch.nn.functional.interpolate(torch.tensor([[[1.0, 3.0]]]), scale_factor=2, mode="linear")
    tensor([[[1.0000, 1.5000, 2.5000, 3.0000]]])
    """
    _check_mode(input, mode, align_corners)
    wanted, scales = _sizes(input, size, scale_factor)
    if antialias:
        raise NotImplementedError(
            "interpolate: antialias=True is not known here: smooth the input, or use mode='area'"
        )
    if mode == "area":
        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[len(wanted) - 1](input, wanted)
    if recompute_scale_factor:
        scales = (None,) * len(wanted)
    return _RESAMPLE(input, mode, wanted, scales, bool(align_corners))


def upsample(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """The old name of interpolate."""
    warnings.warn(
        "`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2
    )
    return interpolate(input, size, scale_factor, mode, align_corners)


# ---- between channels and pixels -------------------------------------------------------------------------------------
def _pixel_shuffle(input: Any, factor: int) -> Any:
    *batch, channels, height, width = input.shape
    if channels % factor**2:
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
            f"input.size(-3)={channels} is not divisible by {factor**2}"
        )
    out = channels // factor**2
    x = np.reshape(input, (-1, out, factor, factor, height, width))
    return np.reshape(np.transpose(x, (0, 1, 4, 2, 5, 3)), (*batch, out, height * factor, width * factor))


def _pixel_unshuffle(input: Any, factor: int) -> Any:
    *batch, channels, height, width = input.shape
    for name, axis, n in (("height", -2, height), ("width", -1, width)):
        if n % factor:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but input.size({axis})={n} is not "
                f"divisible by {factor}"
            )
    x = np.reshape(input, (-1, channels, height // factor, factor, width // factor, factor))
    shape = (*batch, channels * factor**2, height // factor, width // factor)
    return np.reshape(np.transpose(x, (0, 1, 3, 5, 2, 4)), shape)


def _channel_shuffle(input: Any, groups: int) -> Any:
    n, channels, *rest = input.shape
    if channels % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {channels} channels and {groups} groups."
        )
    return np.reshape(
        np.swapaxes(np.reshape(input, (n, groups, channels // groups, *rest)), 1, 2), input.shape
    )


_PIXEL_SHUFFLE = Op("pixel_shuffle", _pixel_shuffle)
_PIXEL_UNSHUFFLE = Op("pixel_unshuffle", _pixel_unshuffle)
_CHANNEL_SHUFFLE = Op("channel_shuffle", _channel_shuffle)


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """(*, C * r², H, W) as (*, C, H * r, W * r): channels become pixels."""
    return _PIXEL_SHUFFLE(input, upscale_factor)


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """(*, C, H * r, W * r) as (*, C * r², H, W): pixels become channels."""
    return _PIXEL_UNSHUFFLE(input, downscale_factor)


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """The channels of (N, C, ...), of which `groups` groups lie one after the other, in turn."""
    return _CHANNEL_SHUFFLE(input, groups)
