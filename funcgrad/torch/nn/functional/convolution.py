"""Convolutions as functions, on inputs (N, C, *S) or (C, *S)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

from funcgrad.nn.kernels.columns import ADDED_COLUMNS, COLUMNS
from funcgrad.nn.kernels.convolution import CONVOLVE, CONVOLVE_TRANSPOSED, Geometry
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.nn.functional.sizes import spread_out
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.tensor import Tensor

_NODE = "ConvolutionBackward0"


def _convolved(input: Any, weight: Any, bias: Any, geometry: Geometry) -> Any:
    return CONVOLVE(input, weight, bias, geometry=geometry)


def _convolved_transposed(input: Any, weight: Any, bias: Any, geometry: Geometry) -> Any:
    return CONVOLVE_TRANSPOSED(input, weight, bias, geometry=geometry)


_FORWARD = Op("convolution", _convolved, _NODE)
_TRANSPOSED = Op("conv_transpose", _convolved_transposed, _NODE)


def _checked_dtypes(input: Any, weight: Any, bias: Any) -> None:
    for other, name in ((weight, "weight"), (bias, "bias")):
        if other is not None and other.value.dtype != input.value.dtype:
            raise RuntimeError(
                f"Input type ({dtypes.of(input.value.dtype)}) and {name} type ({dtypes.of(other.value.dtype)}) should be the "
                "same: convert one of them, as in input.to(weight.dtype)"
            )


def _checked_shapes(
    who: str, rank: int, input: Any, weight: Any, bias: Any, groups: int, transposed: bool
) -> None:
    shape, kernel = list(input.shape), list(weight.shape)
    if len(shape) not in (rank + 1, rank + 2):
        raise RuntimeError(
            f"Expected {rank + 1}D (unbatched) or {rank + 2}D (batched) input to {who}, but got input of size: {shape}"
        )
    if len(kernel) != rank + 2:
        raise RuntimeError(
            f"Expected a weight of {rank + 2} axes for {who}, but got weight of size: {kernel}"
        )
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    if kernel[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of size "
            f"[{kernel}] instead"
        )
    channels = shape[-rank - 1]
    wanted = kernel[0] if transposed else kernel[1] * groups
    if channels != wanted:
        batched = shape if len(shape) == rank + 2 else [1, *shape]
        given = "transposed=1" if transposed else f"groups={groups}"
        raise RuntimeError(
            f"Given {given}, weight of size {kernel}, expected input{batched} to have {wanted} channels, but got {channels} "
            "channels instead"
        )
    made = kernel[1] * groups if transposed else kernel[0]
    if bias is not None and tuple(bias.shape) != (made,):
        raise RuntimeError(
            f"Given{' transposed=1,' if transposed else ''} weight of size {kernel}, expected bias to be 1-dimensional with "
            f"{made} elements, but got bias of size {list(bias.shape)} instead"
        )


def _positive(**named: tuple[int, ...]) -> None:
    for name, values in named.items():
        if min(values) < (0 if "padding" in name else 1):
            raise RuntimeError(
                f"{'negative' if 'padding' in name else 'non-positive'} {name} is not supported"
            )


def _margins(padding: Any, geometry: Geometry) -> Geometry:
    """The geometry with padding: numbers, "valid" (none), "same" (a window per element; odd one behind)."""
    rank = len(geometry.size)
    if padding == "valid":
        return geometry
    if padding == "same":
        if any(s != 1 for s in geometry.stride):
            raise RuntimeError("padding='same' is not supported for strided convolutions")
        total = [r - 1 for r in geometry.reach]
        return replace(geometry, before=tuple(t // 2 for t in total), after=tuple(t - t // 2 for t in total))
    if isinstance(padding, str):
        raise RuntimeError(f"Invalid padding string: '{padding}': write 'same', 'valid' or numbers")
    each = spread_out(padding, rank, "padding")
    _positive(padding=each)
    return replace(geometry, before=each, after=each)


@lru_cache(256)
def _of_windows(size: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Geometry:
    """The geometry of a convolution. Raises RuntimeError for settings without windows."""
    rank = len(size)
    none = (0,) * rank
    steps, gaps = spread_out(stride, rank, "stride"), spread_out(dilation, rank, "dilation")
    _positive(stride=steps, dilation=gaps)
    geometry = _margins(padding, Geometry(size, kernel, steps, gaps, none, none, groups))
    if any(r > n for r, n in zip(geometry.reach, geometry.padded, strict=True)):
        sizes = [" x ".join(map(str, each)) for each in (geometry.padded, geometry.reach)]
        raise RuntimeError(
            f"Calculated padded input size per channel: ({sizes[0]}). Kernel size: ({sizes[1]}). Kernel size can't be "
            "greater than actual input size"
        )
    return geometry


@lru_cache(256)
def _of_transpose(
    shape: Any, kernel: Any, stride: Any, padding: Any, output_padding: Any, dilation: Any, groups: int
) -> Geometry:
    """The geometry of a transposed convolution of this input shape. RuntimeError if without output."""
    settings = {"stride": stride, "dilation": dilation, "padding": padding, "output_padding": output_padding}
    steps, gaps, margin, more = (spread_out(x, len(shape), name) for name, x in settings.items())
    _positive(stride=steps, dilation=gaps, padding=margin, output_padding=more)
    if any(m >= max(s, d) for m, s, d in zip(more, steps, gaps, strict=True)):
        raise RuntimeError(
            f"output padding must be smaller than either stride or dilation, but got output_padding: {more}, stride: "
            f"{steps}, dilation: {gaps}"
        )
    each = zip(shape, kernel, steps, gaps, margin, more, strict=True)
    size = tuple((n - 1) * s - 2 * p + d * (k - 1) + m + 1 for n, k, s, d, p, m in each)
    if min(size) < 1:
        raise RuntimeError(
            f"Given input size per channel: {shape}. Calculated output size: {size}. Output size is too small"
        )
    return Geometry(size, kernel, steps, gaps, margin, margin, groups)


def _hashable(x: Any) -> Any:
    return tuple(x) if isinstance(x, list) else x


def _convolution(rank: int) -> Callable[..., Tensor]:
    def conv(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        _checked_shapes(f"conv{rank}d", rank, input, weight, bias, groups, False)
        _checked_dtypes(input, weight, bias)
        size, kernel = tuple(input.value.shape)[-rank:], tuple(weight.value.shape[2:])
        geometry = _of_windows(
            size, kernel, _hashable(stride), _hashable(padding), _hashable(dilation), groups
        )
        return _on_batch(_FORWARD, input, weight, bias, geometry)

    return _described(
        conv,
        f"conv{rank}d",
        f"The correlation of `input` (N, C, {_SPATIAL[rank]}) with `weight` (O, C/groups, {_KERNEL[rank]}), plus `bias` (O,).\n\n"
        "    `padding` may be 'valid' (none) or 'same'. Raises RuntimeError for channels, sizes or dtypes that do not fit.\n",
    )


def _conv_transposed(rank: int) -> Callable[..., Tensor]:
    def conv_transpose(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
    ) -> Tensor:
        _checked_shapes(f"conv_transpose{rank}d", rank, input, weight, bias, groups, True)
        _checked_dtypes(input, weight, bias)
        shape, kernel = tuple(input.value.shape)[-rank:], tuple(weight.value.shape[2:])
        settings = [_hashable(x) for x in (stride, padding, output_padding, dilation)]
        return _on_batch(_TRANSPOSED, input, weight, bias, _of_transpose(shape, kernel, *settings, groups))

    return _described(
        conv_transpose,
        f"conv_transpose{rank}d",
        f"The transpose of conv{rank}d: `input` (N, C, {_SPATIAL[rank]}), `weight` (C, O/groups, {_KERNEL[rank]}), `bias` (O,).\n"
        "\n    `output_padding` elements are added behind. Raises RuntimeError for channels, sizes or dtypes that do not fit.\n",
    )


_SPATIAL = {1: "L", 2: "H, W", 3: "D, H, W"}
_KERNEL = {1: "kL", 2: "kH, kW", 3: "kD, kH, kW"}


def _on_batch(op: Op, input: Tensor, weight: Tensor, bias: Tensor | None, geometry: Geometry) -> Tensor:
    """The convolution of a batch; of a single example as a batch of one."""
    if input.ndim == len(geometry.size) + 2:
        return op(input, weight, bias, geometry)
    return op(input.unsqueeze(0), weight, bias, geometry).squeeze(0)


def _described(made: Any, name: str, text: str) -> Any:
    made.__name__ = made.__qualname__ = name
    made.__doc__ = text
    return made


conv1d, conv2d, conv3d = (_convolution(rank) for rank in (1, 2, 3))
conv_transpose1d, conv_transpose2d, conv_transpose3d = (_conv_transposed(rank) for rank in (1, 2, 3))


# ---- windows as columns ----------------------------------------------------------------------------------------------
def _windows(input: Any, geometry: Geometry) -> Any:
    return (
        COLUMNS(input, geometry=geometry) if input.ndim == 4 else COLUMNS(input[None], geometry=geometry)[0]
    )


def _added(input: Any, geometry: Geometry) -> Any:
    return (
        ADDED_COLUMNS(input, geometry=geometry)
        if input.ndim == 3
        else ADDED_COLUMNS(input[None], geometry=geometry)[0]
    )


_UNFOLD = Op("unfold", _windows, "Im2ColBackward0")
_FOLD = Op("fold", _added, "Col2ImBackward0")


def _geometry(size: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Geometry:
    kernel, gaps, margin, steps = (
        spread_out(x, 2, name)
        for x, name in (
            (kernel_size, "kernel_size"),
            (dilation, "dilation"),
            (padding, "padding"),
            (stride, "stride"),
        )
    )
    _positive(kernel_size=kernel, dilation=gaps, padding=margin, stride=steps)
    return Geometry(spread_out(size, 2, "output_size"), kernel, steps, gaps, margin, margin, 1)


def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """The windows of `input` (N, C, H, W) as columns: (N, C*kH*kW, number of windows)."""
    if input.ndim not in (3, 4):
        raise RuntimeError(f"Expected 3D or 4D input to unfold, but got input of size: {list(input.shape)}")
    geometry = _geometry(tuple(input.shape)[-2:], kernel_size, dilation, padding, stride)
    if min(geometry.out) < 1:
        raise RuntimeError(
            f"Given input with spatial size {geometry.size}, kernel_size={geometry.kernel}, padding={geometry.before}: the "
            f"calculated number of windows {geometry.out} is not positive"
        )
    return _UNFOLD(input, geometry)


def fold(
    input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """The sum of columns (N, C*kH*kW, number of windows) in their places: (N, C, *output_size)."""
    if input.ndim not in (2, 3):
        raise RuntimeError(f"Expected 2D or 3D input to fold, but got input of size: {list(input.shape)}")
    geometry = _geometry(output_size, kernel_size, dilation, padding, stride)
    rows, found = input.shape[-2:]
    if rows % (geometry.kernel[0] * geometry.kernel[1]):
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            f"input.size(1)={rows} and kernel_size={geometry.kernel}."
        )
    if geometry.out[0] * geometry.out[1] != found:
        raise RuntimeError(
            f"Given output_size={geometry.size}, kernel_size={geometry.kernel}, dilation={geometry.dilation}, "
            f"padding={geometry.before}, stride={geometry.stride}, expected size of input's dimension 2 to match the "
            f"calculated number of sliding blocks {geometry.out[0]} * {geometry.out[1]} = "
            f"{geometry.out[0] * geometry.out[1]}, but got input.size(2)={found}."
        )
    return _FOLD(input, geometry)
