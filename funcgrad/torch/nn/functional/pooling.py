"""Pooling as functions, on inputs (N, C, *S) or (C, *S)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.nn.kernels.pooling import PUT_PLACES, WINDOW_MEANS, Axis, adaptive, regular
from funcgrad.nn.pooling import averages, largest
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.nn.functional.sizes import spread_out
from funcgrad.torch.tensors.tensor import Tensor

# ---- the largest of each window --------------------------------------------------------------------------------------


def _largest(input: Any, axes: tuple[Axis, ...], return_indices: bool) -> Any:
    out, places = largest(input, axes)
    return (out, places) if return_indices else out


def _max_node(input: Any, axes: tuple[Axis, ...], return_indices: bool) -> str:
    return "SqueezeBackward1" if len(axes) == 1 else f"MaxPool{len(axes)}DWithIndicesBackward0"


def _adaptive_max_node(input: Any, axes: tuple[Axis, ...], return_indices: bool) -> str:
    return "SqueezeBackward1" if len(axes) == 1 else f"AdaptiveMaxPool{len(axes)}DBackward0"


_MAX_POOL = Op("max_pool", _largest, _max_node)
_ADAPTIVE_MAX_POOL = Op("adaptive_max_pool", _largest, _adaptive_max_node)


def _setting(who: str, name: str, x: Any, rank: int) -> tuple[int, ...]:
    if isinstance(x, (tuple, list)) and len(x) not in (1, rank):
        words = {1: "one int", 2: "two ints", 3: "three ints"}[rank]
        raise RuntimeError(f"{who}: {name} must either be a single int, or a tuple of {words}")
    return spread_out(x, rank, name)


def _regular_axes(
    who: str,
    input: Tensor,
    rank: int,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
) -> tuple[Axis, ...]:
    """The windows along the last `rank` axes of `input`. Raises RuntimeError where there are none."""
    shape = tuple(input.value.shape)
    if len(shape) not in (rank + 1, rank + 2) or 0 in shape[-rank - 1 :]:
        lengths = f"{rank + 1}D or {rank + 2}D (batch mode)"
        raise RuntimeError(
            f"{who}: Expected {lengths} tensor for input that is not empty, but got: {list(shape)}"
        )
    kernel = _setting(who, "kernel_size", kernel_size, rank)
    steps = (
        kernel if stride is None or stride == () or stride == [] else _setting(who, "stride", stride, rank)
    )
    margin, gaps = _setting(who, "padding", padding, rank), _setting(who, "dilation", dilation, rank)
    if min(steps) < 1:
        raise RuntimeError("stride should not be zero")
    if min(*kernel, *gaps) < 1:
        raise RuntimeError(
            f"{who}: kernel_size and dilation should be greater than zero, but got {kernel} and {gaps}"
        )
    for k, p, d in zip(kernel, margin, gaps, strict=True):
        if not 0 <= p <= (d * (k - 1) + 1) // 2:
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and dilation={d}"
            )
    axes = tuple(
        regular(n, k, s, p, d, ceil_mode)
        for n, k, s, p, d in zip(shape[-rank:], kernel, steps, margin, gaps, strict=True)
    )
    if any(axis.out < 1 for axis in axes):
        sizes = [
            "x".join(map(str, x))
            for x in (shape[-rank - 1 :], (shape[-rank - 1], *(axis.out for axis in axes)))
        ]
        raise RuntimeError(
            f"Given input size: ({sizes[0]}). Calculated output size: ({sizes[1]}). Output size is too small"
        )
    return axes


def _max_pool(rank: int) -> Callable[..., Any]:
    def max_pool(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        axes = _regular_axes(
            f"max_pool{rank}d", input, rank, kernel_size, stride, padding, dilation, ceil_mode
        )
        return _MAX_POOL(input, axes, return_indices)

    return _named(
        max_pool,
        f"max_pool{rank}d",
        f"The largest element of each window of the last {_AXES[rank]}; with `return_indices` also where it was (int64).\n\n"
        "Among equals the first one is taken, and gets all of the gradient. Raises RuntimeError for settings without windows.",
    )


_AXES = {1: "axis", 2: "two axes", 3: "three axes"}


def _named(made: Any, name: str, text: str) -> Any:
    made.__name__ = made.__qualname__ = name
    made.__doc__ = text
    return made


max_pool1d, max_pool2d, max_pool3d = (_max_pool(rank) for rank in (1, 2, 3))
max_pool1d_with_indices, max_pool2d_with_indices, max_pool3d_with_indices = (
    _named(
        lambda *args, pool=pool, **options: pool(*args, **{**options, "return_indices": True}),
        f"{pool.__name__}_with_indices",
        f"{pool.__name__} with return_indices=True.",
    )
    for pool in (max_pool1d, max_pool2d, max_pool3d)
)


def _put_back(input: Any, indices: Any, size: tuple[int, ...]) -> Any:
    return PUT_PLACES(input, indices, size, True)


_UNPOOL = Op("max_unpool", _put_back, lambda input, indices, size: f"MaxUnpool{len(size)}DBackward0")


def _max_unpool(rank: int) -> Callable[..., Tensor]:
    def max_unpool(
        input: Tensor,
        indices: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        output_size: Any = None,
    ) -> Tensor:
        kernel = spread_out(kernel_size, rank, "kernel_size")
        steps = kernel if stride is None else spread_out(stride, rank, "stride")
        margin = spread_out(padding, rank, "padding")
        shape = tuple(input.value.shape)[-rank:]
        usual = tuple(
            (n - 1) * s + k - 2 * p for n, s, k, p in zip(shape, steps, kernel, margin, strict=True)
        )
        size = usual if output_size is None else tuple(output_size)[-rank:]
        if any(not u - s < n < u + s for n, u, s in zip(size, usual, steps, strict=True)):
            raise ValueError(f"invalid output_size {size}: each must lie within a stride of {usual}")
        places = np.asarray(indices.value)
        if tuple(places.shape) != tuple(input.value.shape):
            raise RuntimeError(
                f"Expected shape of indices to be same as that of the input tensor ({list(input.shape)}) but got "
                f"{list(places.shape)}"
            )
        if places.size and not 0 <= places.min() <= places.max() < math.prod(size):
            worst = places.min() if places.min() < 0 else places.max()
            raise RuntimeError(
                f"Found an invalid max index: {worst} (output volumes are of size {'x'.join(map(str, size))})"
            )
        return _UNPOOL(input, indices, size)

    return _named(
        max_unpool,
        f"max_unpool{rank}d",
        f"Zeros with the elements of `input` at `indices`, as max_pool{rank}d with return_indices=True found them.\n\n"
        "Raises RuntimeError for indices outside of the output, ValueError for an `output_size` that pooling cannot come from.",
    )


max_unpool1d, max_unpool2d, max_unpool3d = (_max_unpool(rank) for rank in (1, 2, 3))

# ---- the mean of each window -----------------------------------------------------------------------------------------


def _averages(
    input: Any, axes: tuple[Axis, ...], margin: tuple[int, ...] | None = None, divisor: int | None = None
) -> Any:
    """Means; the padding counts as far as `margin` says, unless there is a divisor."""
    return averages(input, axes, margin) if divisor is None else WINDOW_MEANS(input, axes, divisor)


def _mean_node(input: Any, axes: tuple[Axis, ...], *_: Any) -> str:
    return "SqueezeBackward1" if len(axes) == 1 else f"AvgPool{len(axes)}DBackward0"


def _adaptive_mean_node(input: Any, axes: tuple[Axis, ...], *_: Any) -> str:
    if all(axis.out == 1 for axis in axes) and len(axes) > 1:
        return "MeanBackward1"
    return "SqueezeBackward1" if len(axes) == 1 else f"AdaptiveAvgPool{len(axes)}DBackward0"


_AVG_POOL = Op("avg_pool", _averages, _mean_node)
_ADAPTIVE_AVG_POOL = Op("adaptive_avg_pool", _averages, _adaptive_mean_node)


def _avg_pool(rank: int) -> Callable[..., Tensor]:
    def avg_pool(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Tensor:
        axes = _regular_axes(f"avg_pool{rank}d", input, rank, kernel_size, stride, padding, 1, ceil_mode)
        if divisor_override == 0:
            raise RuntimeError("divisor must be not zero")
        margin = spread_out(padding, rank, "padding") if count_include_pad else None
        return _AVG_POOL(input, axes, margin, divisor_override)

    return _named(
        avg_pool,
        f"avg_pool{rank}d",
        f"The mean of each window of the last {_AXES[rank]}.\n\nWith `count_include_pad` zeros of the padding count as elements; "
        "`divisor_override` replaces the number of elements. Raises RuntimeError for settings without windows.",
    )


avg_pool1d, avg_pool2d, avg_pool3d = (_avg_pool(rank) for rank in (1, 2, 3))

# ---- a given number of windows ---------------------------------------------------------------------------------------


def _adaptive_axes(who: str, input: Tensor, rank: int, output_size: Any) -> tuple[Axis, ...]:
    shape = tuple(input.value.shape)
    if len(shape) not in (rank + 1, rank + 2):
        raise RuntimeError(f"{who}(): Expected {rank + 1}D or {rank + 2}D tensor, but got {list(shape)}")
    sizes = spread_out(output_size, rank, "output_size")
    return tuple(adaptive(n, n if m is None else m) for n, m in zip(shape[-rank:], sizes, strict=True))


def _adaptive_avg_pool(rank: int) -> Callable[..., Tensor]:
    def adaptive_avg_pool(input: Tensor, output_size: Any) -> Tensor:
        return _ADAPTIVE_AVG_POOL(
            input, _adaptive_axes(f"adaptive_avg_pool{rank}d", input, rank, output_size)
        )

    return _named(
        adaptive_avg_pool,
        f"adaptive_avg_pool{rank}d",
        f"The means of `output_size` windows of the last {_AXES[rank]}, which share the elements; None leaves an axis as it is.",
    )


def _adaptive_max_pool(rank: int) -> Callable[..., Any]:
    def adaptive_max_pool(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
        axes = _adaptive_axes(f"adaptive_max_pool{rank}d", input, rank, output_size)
        return _ADAPTIVE_MAX_POOL(input, axes, return_indices)

    return _named(
        adaptive_max_pool,
        f"adaptive_max_pool{rank}d",
        f"The largest of each of `output_size` windows of the last {_AXES[rank]}, which share the elements.",
    )


adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = (
    _adaptive_avg_pool(rank) for rank in (1, 2, 3)
)
adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = (
    _adaptive_max_pool(rank) for rank in (1, 2, 3)
)

# ---- norms of windows ------------------------------------------------------------------------------------------------


def _lp_pool(rank: int) -> Callable[..., Tensor]:
    average = (avg_pool1d, avg_pool2d, avg_pool3d)[rank - 1]

    def lp_pool(
        input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> Tensor:
        count = math.prod(spread_out(kernel_size, rank, "kernel_size"))
        found: Any = average(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
        return (found.sign() * found.abs().relu()).mul(count).pow(1.0 / norm_type)

    return _named(
        lp_pool,
        f"lp_pool{rank}d",
        f"(sum of x**norm_type) ** (1 / norm_type) of each window of the last {_AXES[rank]}.",
    )


lp_pool1d, lp_pool2d, lp_pool3d = (_lp_pool(rank) for rank in (1, 2, 3))
