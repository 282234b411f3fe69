"""Normalization: batch_norm, layer_norm, group_norm, instance_norm, rms_norm, local_response_norm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.core.engine.batch import is_batched
from funcgrad.core.engine.trace import concrete
from funcgrad.nn.kernels.normalization import NORMALIZE
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.tensors import dtypes, storage
from funcgrad.torch.tensors.inplace import kind_name
from funcgrad.torch.tensors.tensor import Tensor, plain
from funcgrad.torch.tensors.values import as_array


def _check_dtypes(name: str, x: Any, *parameters: Any) -> None:
    if x.dtype.kind != "f":
        raise NotImplementedError(f"\"{name}\" not implemented for '{kind_name(x.dtype)}'")
    for p in parameters:
        if p is not None and p.dtype != x.dtype:
            raise RuntimeError(
                f"{name}: expected parameters of the input's dtype {dtypes.of(x.dtype)}, but got {dtypes.of(p.dtype)}: convert "
                "the module with .to(dtype), or the input"
            )


def _by_channel(p: Any, rank: int) -> Any:
    """(C,) as (C, 1, ...), to meet axis 1 of an array of this rank."""
    return None if p is None else np.reshape(p, (-1,) + (1,) * (rank - 2))


def _statistics(mean: Any, var: Any, shape: tuple[int, ...], tracked: bool) -> tuple[Any, Any]:
    """Mean and variance as plain arrays, for running statistics (if there are any)."""
    if not tracked:
        return None, None
    if is_batched(mean):
        raise RuntimeError(
            "batch_norm: running statistics can't be updated inside vmap, where each example has its own. Put the module into "
            "eval(), or build it with track_running_stats=False."
        )
    return tuple(np.reshape(concrete(s), shape) for s in (mean, var))  # type: ignore[return-value]


# ---- over the batch --------------------------------------------------------------------------------------------------
def _batch_norm(input: Any, weight: Any, bias: Any, eps: float, tracked: bool) -> tuple[Any, Any, Any]:
    """The output, and the mean and the variance of each channel."""
    _check_dtypes("batch_norm", input, weight, bias)
    axes = tuple(i - input.ndim for i in range(input.ndim) if i != 1)
    out, mean, var = NORMALIZE(
        input,
        _by_channel(weight, input.ndim),
        _by_channel(bias, input.ndim),
        eps=eps,
        axes=axes,
        centered=True,
    )
    return out, *_statistics(mean, var, (-1,), tracked)


def _by_statistics(input: Any, mean: Any, var: Any, weight: Any, bias: Any, eps: float) -> Any:
    _check_dtypes("batch_norm", input, weight, bias)
    scale = 1 / np.sqrt(var + eps) if weight is None else weight / np.sqrt(var + eps)
    out = (input - _by_channel(mean, input.ndim)) * _by_channel(scale, input.ndim)
    return out if bias is None else out + _by_channel(bias, input.ndim)


_BATCH_NORM = Op("batch_norm", _batch_norm, "NativeBatchNormBackward0")
_BY_STATISTICS = Op("batch_norm", _by_statistics, "NativeBatchNormBackward0")


def _moved(running: Tensor, found: Any, momentum: float) -> Any:
    """A running mean after a step."""
    old = as_array(plain(running))
    return ((1 - momentum) * old + momentum * found).astype(old.dtype)


def _update(
    running_mean: Tensor | None, running_var: Tensor | None, mean: Any, var: Any, count: int, momentum: float
) -> None:
    """Running statistics after a batch of `count` values per channel; the variance is unbiased."""
    with np.errstate(divide="ignore", invalid="ignore"):
        unbiased = as_array(plain(var)) * (np.float64(count) / (count - 1))
    for running, found in ((running_mean, as_array(plain(mean))), (running_var, unbiased)):
        if running is not None:
            storage.write(running, ..., _moved(running, found, momentum))  # in place, and not recorded


def _check_channels(input: Tensor, **parameters: Tensor | None) -> None:
    channels = input.shape[1]
    for name, p in parameters.items():
        if p is not None and p.numel() != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {p.numel()}")


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """(x - mean) / sqrt(var + eps) * weight + bias for each channel of (N, C, ...).

    In training, mean and variance are those of the batch, and the running ones (C,) move towards them by
    `momentum`; else the running ones are used. Raises ValueError for a batch of one value for each channel,
    RuntimeError for sizes that differ.
    """
    count = input.numel() // max(input.shape[1], 1)
    if training and count == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {input.size()}"
        )
    _check_channels(input, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    if not training:
        for name, p in (("running_mean", running_mean), ("running_var", running_var)):
            if p is None:
                raise RuntimeError(f"{name} must be defined in evaluation mode")
        return _BY_STATISTICS(input, running_mean, running_var, weight, bias, eps)
    tracked = running_mean is not None or running_var is not None
    out, mean, var = _BATCH_NORM(input, weight, bias, eps, tracked)
    if tracked:
        _update(running_mean, running_var, mean, var, count, momentum)
    return out


# ---- over each example -----------------------------------------------------------------------------------------------
def _layer_norm(input: Any, rank: int, weight: Any, bias: Any, eps: float) -> Any:
    _check_dtypes("LayerNormKernelImpl", input, weight, bias)
    return NORMALIZE(input, weight, bias, eps=eps, axes=tuple(range(-rank, 0)), centered=True)[0]


def _rms_norm(input: Any, rank: int, weight: Any, eps: float | None) -> Any:
    _check_dtypes("rms_norm", input, weight)
    eps = float(np.finfo(input.dtype).eps) if eps is None else eps
    return NORMALIZE(input, weight, None, eps=eps, axes=tuple(range(-rank, 0)), centered=False)[0]


_LAYER_NORM = Op("layer_norm", _layer_norm, "NativeLayerNormBackward0")
_RMS_NORM = Op("rms_norm", _rms_norm, "MulBackward0")


def _check_shape(input: Tensor, shape: tuple[int, ...], comma: str, **parameters: Tensor | None) -> None:
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            "normalized_shape = []"
        )
    for name, p in parameters.items():
        if p is not None and tuple(p.shape) != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape {list(p.shape)} and "
                f"normalized_shape = {list(shape)}"
            )
    if tuple(input.shape[-len(shape) :]) != shape:
        wanted = ", ".join(map(str, shape))
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*{comma}{wanted}], but got input of size"
            f"{list(input.shape)}"
        )


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """(x - mean) / sqrt(var + eps) * weight + bias over the last axes, whose sizes are normalized_shape.

    >>> import funcgrad.torch as torch
    >>> torch.nn.functional.layer_norm(torch.tensor([[1.0, 3.0]]), (2,))
    tensor([[-1.0000,  1.0000]])
    """
    shape = tuple(normalized_shape)
    _check_shape(input, shape, ", ", weight=weight, bias=bias)
    return _LAYER_NORM(input, len(shape), weight, bias, eps)


def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """x / sqrt(mean(x²) + eps) * weight over the last axes, whose sizes are normalized_shape (Zhang and
    Sennrich, 2019).

    Without eps it is the smallest relative step of the dtype.
    """
    shape = tuple(normalized_shape)
    _check_shape(input, shape, "", weight=weight)
    return _RMS_NORM(input, len(shape), weight, eps)


def _group_norm(input: Any, groups: int, weight: Any, bias: Any, eps: float) -> Any:
    _check_dtypes("GroupNormKernelImpl", input, weight, bias)
    n, channels = input.shape[:2]
    x = np.reshape(input, (n, groups, channels // groups, int(np.prod(input.shape[2:], dtype=int))))
    weight, bias = (
        None if p is None else np.reshape(p, (groups, channels // groups, 1)) for p in (weight, bias)
    )
    return np.reshape(NORMALIZE(x, weight, bias, eps=eps, axes=(-2, -1), centered=True)[0], input.shape)


_GROUP_NORM = Op("group_norm", _group_norm, "NativeGroupNormBackward0")


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """(x - mean) / sqrt(var + eps) * weight + bias over groups of the channels of each example (N, C, ...)."""
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    n, channels = input.shape[:2]
    if channels % num_groups:
        raise RuntimeError(
            f"Expected number of channels in input to be divisible by num_groups, but got input of shape {list(input.shape)} and "
            f"num_groups={num_groups}"
        )
    if input.numel() == n * num_groups == num_groups:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {list(input.shape)}"
        )
    for name, p in (("weight", weight), ("bias", bias)):
        if p is not None and p.numel() != channels:
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got {name} of shape "
                f"{list(p.shape)} and input of shape {list(input.shape)}"
            )
    return _GROUP_NORM(input, num_groups, weight, bias, eps)


def _instance_norm(input: Any, weight: Any, bias: Any, eps: float, tracked: bool) -> tuple[Any, Any, Any]:
    """The output, and the mean and the variance of each channel, averaged over the batch."""
    _check_dtypes("batch_norm", input, weight, bias)
    rank = input.ndim
    out, mean, var = NORMALIZE(
        input,
        _by_channel(weight, rank),
        _by_channel(bias, rank),
        eps=eps,
        axes=tuple(range(2 - rank, 0)),
        centered=True,
    )
    means, variances = _statistics(mean, var, input.shape[:2], tracked)
    return (out, means.mean(0), variances.mean(0)) if tracked else (out, None, None)


_INSTANCE_NORM = Op("instance_norm", _instance_norm, "ViewBackward0")
_INSTANCE_BY_STATISTICS = Op("instance_norm", _by_statistics, "ViewBackward0")


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """(x - mean) / sqrt(var + eps) * weight + bias for each channel of each example (N, C, ...)."""
    if not use_input_stats:
        if running_mean is None or running_var is None:
            raise RuntimeError(
                "Expected running_mean and running_var to be defined when use_input_stats is false"
            )
        return _INSTANCE_BY_STATISTICS(input, running_mean, running_var, weight, bias, eps)
    count = int(np.prod(input.shape[2:], dtype=int))
    if count == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.size()}")
    tracked = running_mean is not None or running_var is not None
    out, mean, var = _INSTANCE_NORM(input, weight, bias, eps, tracked)
    if tracked:
        _update(running_mean, running_var, mean, var, count, momentum)
    return out


# ---- over neighbouring channels --------------------------------------------------------------------------------------
def _local_response_norm(input: Any, size: int, alpha: float, beta: float, k: float) -> Any:
    before, channels = size // 2, input.shape[1]
    pads = [(0, 0)] * input.ndim
    pads[1] = (before, (size - 1) // 2)
    squares = np.pad(np.square(input), pads)
    total = squares[:, :channels]
    for i in range(1, size):
        total = total + squares[:, i : i + channels]
    return input / (total * (alpha / size) + k) ** beta


_LOCAL_RESPONSE_NORM = Op("local_response_norm", _local_response_norm, "DivBackward0")


def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """x / (k + alpha * mean of x² over `size` neighbouring channels) ** beta, for (N, C, ...)."""
    if input.dim() < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality                          input (got {input.dim()} dimensions)"
        )
    return _LOCAL_RESPONSE_NORM(input, size, alpha, beta, k) if input.numel() else input
