"""Normalization: means and variances taken out, over an axis, over groups of channels, or over a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad.errors import ArgumentError
from funcgrad.nn.kernels.normalization import NORMALIZE
from funcgrad.nn.operands import array, axes_of, floats
from funcgrad.transforms.elementwise import stop_gradient


def layer_norm(
    x: Any, scale: Any = None, bias: Any = None, *, axis: int | Sequence[int] = -1, eps: float = 1e-5
) -> Any:
    """(x - mean) / sqrt(var + eps) * scale + bias, mean and variance along `axis` (Ba and others, 2016).

    `scale` and `bias` have the shape of x along `axis`, in order. Raises ArgumentError where they have
    another.

    >>> from funcgrad import nn
    >>> nn.layer_norm([[1.0, 3.0], [0.0, 10.0]]).round(4)
    array([[-1.,  1.],
           [-1.,  1.]])
    """
    return _normalized("funcgrad.nn.layer_norm", x, scale, bias, axis, eps, True)


def rms_norm(x: Any, scale: Any = None, *, axis: int | Sequence[int] = -1, eps: float | None = None) -> Any:
    """x / sqrt(mean(x²) + eps) * scale along `axis` (Zhang and Sennrich, 2019); eps: the dtype's by default.

    `scale` has the shape of x along `axis`. Raises ArgumentError where it has another.

    >>> from funcgrad import nn
    >>> nn.rms_norm([3.0, 4.0]).round(4)
    array([0.8485, 1.1314])
    """
    return _normalized("funcgrad.nn.rms_norm", x, scale, None, axis, eps, False)


def _normalized(who: str, x: Any, scale: Any, bias: Any, axis: Any, eps: float | None, centered: bool) -> Any:
    x, scale, bias = floats(who, x, scale, bias)
    axes = axes_of(who, axis, x.ndim)
    size = tuple(x.shape[a] for a in axes)
    spread = [1] * -axes[0]
    for a, n in zip(axes, size, strict=True):
        spread[a] = n
    for name, p in (("scale", scale), ("bias", bias)):
        if p is not None and tuple(p.shape) != size:
            raise ArgumentError(f"{who}: {name} {p.shape} for x {x.shape} along axis={axis}: give {size}")
    scale, bias = (None if p is None else np.reshape(p, tuple(spread)) for p in (scale, bias))
    eps = float(np.finfo(x.dtype).eps) if eps is None else eps
    return NORMALIZE(x, scale, bias, eps=eps, axes=axes, centered=centered)[0]


def group_norm(x: Any, groups: int, scale: Any = None, bias: Any = None, *, eps: float = 1e-5) -> Any:
    """layer_norm over `groups` groups of each example's channels (Wu and He, 2018): x is (N, C, ...).

    With as many groups as channels it is instance normalization. Raises ArgumentError for groups that do not
    divide C.

    >>> import numpy as np
    >>> from funcgrad import nn
    >>> nn.group_norm(np.array([[1.0, 3.0, 10.0, 30.0]]), 2).round(3)
    array([[-1.,  1., -1.,  1.]])
    """
    who = "funcgrad.nn.group_norm"
    x, scale, bias = floats(who, x, scale, bias)
    if x.ndim < 2 or groups < 1 or x.shape[1] % groups:
        raise ArgumentError(
            f"{who}: x {x.shape} with groups={groups}: give x (N, C, ...), and a number that divides C"
        )
    n, channels = x.shape[:2]
    _check_channels(who, channels, scale=scale, bias=bias)
    split = np.reshape(x, (n, groups, channels // groups, int(np.prod(x.shape[2:], dtype=int))))
    scale, bias = (
        None if p is None else np.reshape(p, (groups, channels // groups, 1)) for p in (scale, bias)
    )
    return np.reshape(NORMALIZE(split, scale, bias, eps=eps, axes=(-2, -1), centered=True)[0], x.shape)


class BatchStatistics(NamedTuple):
    """The running mean and variance of each channel, (C,): a pytree."""

    mean: Any
    var: Any


def batch_statistics(channels: int, dtype: Any = np.float64) -> BatchStatistics:
    """The statistics to begin with: mean 0 and variance 1.

    >>> from funcgrad import nn
    >>> nn.batch_statistics(2)
    BatchStatistics(mean=array([0., 0.]), var=array([1., 1.]))
    """
    return BatchStatistics(np.zeros(channels, dtype), np.ones(channels, dtype))


def batch_norm(
    x: Any,
    statistics: BatchStatistics,
    scale: Any = None,
    bias: Any = None,
    *,
    training: bool,
    momentum: float = 0.1,
    axis: int = 1,
    eps: float = 1e-5,
) -> tuple[Any, BatchStatistics]:
    """(x - mean) / sqrt(var + eps) * scale + bias by channel (Ioffe and Szegedy, 2015), and new statistics.

    Args:
        x: (N, C, ...), or with the channels along another axis.
        statistics: running mean and variance, as `batch_statistics` or an earlier call made them.
        scale, bias: (C,).
        training: mean and variance are those of the batch, and the running ones move towards them by
            `momentum` (the variance towards the unbiased one); else the running ones are used, and returned
            as they are.
        axis: the channels' axis.

    Returns:
        The output, like x, and the statistics, which are constants: no derivative goes through them.

    Raises:
        ArgumentError: sizes that differ; in training, a batch of one value for each channel.

    >>> import numpy as np
    >>> from funcgrad import nn
    >>> out, statistics = nn.batch_norm(np.array([[1.0], [3.0]]), nn.batch_statistics(1), training=True)
    >>> out.round(3), statistics.mean, statistics.var
    (array([[-1.],
           [ 1.]]), array([0.2]), array([1.1]))
    """
    who = "funcgrad.nn.batch_norm"
    x, scale, bias = floats(who, x, scale, bias)
    channel = axes_of(who, axis, x.ndim)[0]
    channels = x.shape[channel]
    _check_channels(who, channels, mean=statistics.mean, var=statistics.var, scale=scale, bias=bias)
    spread = (channels, *(1,) * (-channel - 1))
    scale, bias = (None if p is None else np.reshape(p, spread) for p in (scale, bias))
    if not training:
        mean, var = (np.reshape(array(s).astype(x.dtype), spread) for s in statistics)
        factor = 1 / np.sqrt(var + x.dtype.type(eps))
        out = (x - mean) * (factor if scale is None else factor * scale)
        return out if bias is None else out + bias, statistics
    count = x.size // max(channels, 1)
    if count < 2:
        raise ArgumentError(
            f"{who} in training: x {x.shape} has {count} value for each channel: give a larger batch"
        )
    axes = tuple(a for a in range(-x.ndim, 0) if a != channel)
    out, mean, var = NORMALIZE(x, scale, bias, eps=eps, axes=axes, centered=True)
    new = (np.reshape(stop_gradient(s), (channels,)) for s in (mean, var * (count / (count - 1))))
    return out, BatchStatistics(*(_moved(old, s, momentum) for old, s in zip(statistics, new, strict=True)))


def _moved(old: Any, new: Any, momentum: float) -> Any:
    old = array(old)
    return ((1 - momentum) * old + momentum * new).astype(old.dtype)


def _check_channels(who: str, channels: int, **parameters: Any) -> None:
    for name, p in parameters.items():
        if p is not None and tuple(np.shape(p)) != (channels,):
            raise ArgumentError(f"{who}: {name} {np.shape(p)} for {channels} channels: give ({channels},)")
