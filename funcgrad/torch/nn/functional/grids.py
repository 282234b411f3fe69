"""Reading images at points that are no pixels: affine_grid and grid_sample."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np

from funcgrad.torch.functions.ops import Op
from funcgrad.torch.nn.functional.resampling import _cubic_weight
from funcgrad.torch.tensors.tensor import Tensor
from funcgrad.torch.tensors.values import constant, item

_MODES, _PADDINGS = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")


def _aligned(align_corners: bool | None, who: str) -> bool:
    if align_corners is None:
        warnings.warn(
            f"Default {who} behavior has changed to align_corners=False since 1.3.0. Please specify align_corners=True if "
            f"the old behavior is desired. See the documentation of {who} for details.",
            stacklevel=3,
        )
    return bool(align_corners)


# ---- grids -------------------------------------------------------------------------------------------------------------
def _affine_grid(theta: Any, size: tuple[int, ...], aligned: bool) -> Any:
    axes = [
        np.linspace(-1, 1, n) * (1 if aligned else (n - 1) / n) if n > 1 else np.zeros(1) for n in size[2:]
    ]
    mesh = np.meshgrid(*axes, indexing="ij")
    base = np.stack([*mesh[::-1], np.ones(size[2:])], -1).astype(theta.dtype)
    points = np.reshape(base, (1, -1, len(axes) + 1)) @ np.swapaxes(theta, -1, -2)
    return np.reshape(points, (theta.shape[0], *size[2:], len(axes)))


_AFFINE_GRID = Op("affine_grid", _affine_grid, "AffineGridGeneratorBackward0")


def affine_grid(theta: Tensor, size: Any, align_corners: bool | None = None) -> Tensor:
    """The points of an image of this size after affine maps theta (N, d, d + 1): (N, *spatial, d), d = 2 or
    3, x first.

    Raises ValueError and RuntimeError for shapes that do not fit.
    """
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    size = tuple(int(n) for n in size)
    d = len(size) - 2
    if d not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. "
            f"Got size {size}."
        )
    if theta.ndim != 3 or theta.shape[-2:] != (d, d + 1):
        raise ValueError(
            f"Expected a batch of {d}D affine matrices of shape Nx{d}x{d + 1} for size {size}. Got {theta.shape}."
        )
    return _AFFINE_GRID(theta, size, _aligned(align_corners, "grid_sample and affine_grid"))


# ---- reading -----------------------------------------------------------------------------------------------------------
def _reflected(x: Any, low: float, high: float) -> Any:
    """Coordinates thrown back at both ends, again and again."""
    span = high - low
    if span == 0:
        return x * 0
    x = np.abs(x - low)
    turns = np.floor(constant(x) / span)
    x = x - turns * span
    return np.where(turns % 2 == 0, x, span - x) + low


def _padded(x: Any, size: int, padding: str, aligned: bool) -> Any:
    """Coordinates that lie in the image, for a padding that has such."""
    if padding == "zeros":
        return x
    if padding == "reflection":
        x = _reflected(x, *((0.0, size - 1.0) if aligned else (-0.5, size - 0.5)))
    return np.clip(x, 0, size - 1)


def _pixels(input: Any, places: list[Any], padding: str) -> Any:
    """The pixels at whole places (one array for each spatial axis): (N, *out, C); 0 outside the image."""
    inside: Any = None
    index = []
    for at, size in zip(places, input.shape[2:], strict=True):
        here = (at >= 0) & (at <= size - 1)
        inside = here if inside is None else inside & here
        index.append(np.clip(np.where(np.isfinite(at), at, -1), 0, size - 1).astype(np.int64))
    first = np.arange(input.shape[0]).reshape(-1, *(1,) * (index[0].ndim - 1))
    found = item(input, (first, slice(None), *index))
    return found if padding != "zeros" else np.where(inside[..., None], found, input.dtype.type(0))


def _grid_sample(input: Any, grid: Any, mode: str, padding: str, aligned: bool) -> Any:
    sizes = input.shape[2:]
    points = [grid[..., len(sizes) - 1 - k] for k in range(len(sizes))]  # the last axis comes first in a grid
    points = [
        (x + 1) / 2 * (n - 1) if aligned else ((x + 1) * n - 1) / 2
        for x, n in zip(points, sizes, strict=True)
    ]
    if mode != "bicubic":
        points = [_padded(x, n, padding, aligned) for x, n in zip(points, sizes, strict=True)]
    if mode == "nearest":
        return np.moveaxis(_pixels(input, [np.rint(constant(x)) for x in points], padding), -1, 1)
    lows = [np.floor(constant(x)) for x in points]
    parts = [x - low for x, low in zip(points, lows, strict=True)]
    steps = (-1, 0, 1, 2) if mode == "bicubic" else (0, 1)
    total: Any = None
    for corner in itertools.product(steps, repeat=len(sizes)):
        places = [low + k for low, k in zip(lows, corner, strict=True)]
        weight: Any = None
        for part, k in zip(parts, corner, strict=True):
            w = _cubic_weight(np.abs(part - k)) if mode == "bicubic" else part if k else 1 - part
            weight = w if weight is None else weight * w
        if mode == "bicubic":
            places = [_padded(x, n, padding, aligned) for x, n in zip(places, sizes, strict=True)]
        term = _pixels(input, places, padding) * weight[..., None]
        total = term if total is None else total + term
    return np.moveaxis(total, -1, 1)


_GRID_SAMPLE = Op("grid_sample", _grid_sample, lambda input, *_: f"GridSampler{input.ndim - 2}DBackward0")


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """The image (N, C, *spatial) at the points of a grid (N, *out, d), whose coordinates go from -1 to 1, x
    first: (N, C, *out).

    Between pixels: bilinear, nearest, or bicubic (of two spatial dims); outside: zeros, border or reflection.
    Raises ValueError and RuntimeError for other modes, and for shapes that do not fit.
    """
    if mode not in _MODES:
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: "
            f"'{mode}'"
        )
    if padding_mode not in _PADDINGS:
        raise ValueError(
            f"nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'"
        )
    aligned = _aligned(align_corners, "grid_sample and affine_grid")
    d = input.ndim - 2
    if d not in (2, 3) or grid.ndim != input.ndim or grid.shape[-1] != d or grid.shape[0] != input.shape[0]:
        raise RuntimeError(
            f"grid_sampler(): expected a 4D or 5D input and a grid (N, ..., {max(d, 2)}) of the same batch size, but got sizes "
            f"{list(input.shape)} and {list(grid.shape)}"
        )
    if mode == "bicubic" and d == 3:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    return _GRID_SAMPLE(input, grid, mode, padding_mode, aligned)
