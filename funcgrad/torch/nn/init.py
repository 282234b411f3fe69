"""torch.nn.init: first values of parameters, in place; the numbers are PyTorch's for the same seed."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from funcgrad.torch import random
from funcgrad.torch.graph.modes import no_grad
from funcgrad.torch.random import generator as draws
from funcgrad.torch.random.generator import Generator
from funcgrad.torch.tensors.tensor import Tensor, make_tensor, plain

_GAINS = {"linear": 1.0, "sigmoid": 1.0, "tanh": 5 / 3, "relu": math.sqrt(2.0), "selu": 3 / 4}
_GAINS.update({f"conv{rest}{n}d": 1.0 for rest in ("", "_transpose") for n in (1, 2, 3)})


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """By how much to scale the weights before a nonlinearity; `param` is the negative slope of leaky_relu.

    >>> import funcgrad.torch as torch
    >>> torch.nn.init.calculate_gain("tanh")
    1.6666666666666667
    """
    if nonlinearity != "leaky_relu":
        if nonlinearity not in _GAINS:
            raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
        return 1 if _GAINS[nonlinearity] == 1 else _GAINS[nonlinearity]
    slope = 0.01 if param is None else param
    if isinstance(slope, bool) or not isinstance(slope, (int, float)):
        raise ValueError(f"negative_slope {slope} not a valid number")
    return math.sqrt(2.0 / (1 + slope**2))


def _overwritten(tensor: Tensor, value: Any) -> Tensor:
    with no_grad():
        return tensor.copy_(make_tensor(np.asarray(value, tensor.value.dtype)))


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Uniform numbers in [a, b)."""
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Normal numbers."""
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def _cdf(x: float) -> float:
    """The normal distribution's cumulative probability."""
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Normal numbers, of which those outside [a, b] are drawn again."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be incorrect.",
            stacklevel=2,
        )
    chance = _cdf((b - mean) / std) - _cdf((a - mean) / std)
    stream, array = generator or random.default_generator, np.asarray(plain(tensor))
    return _overwritten(tensor, (_redrawn if chance > 0.3 else _thinned)(stream, array, mean, std, a, b))


def _redrawn(stream: Generator, like: np.ndarray, mean: float, std: float, a: float, b: float) -> np.ndarray:
    """Normal numbers; those outside are drawn again."""
    low, high = like.dtype.type(a), like.dtype.type(b)
    draw = lambda: draws.filled(stream, like.shape, like.dtype, draws.normal(mean, std))  # noqa: E731
    out = draw()
    while (outside := (out < low) | (out > high)).any():
        out = np.where(outside, draw(), out)
    return out


def _thinned(stream: Generator, like: np.ndarray, mean: float, std: float, a: float, b: float) -> np.ndarray:
    """Uniform numbers in [a, b], each kept in proportion to its density; the others are drawn again."""
    top = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
    out, pending = np.zeros_like(like), np.ones(like.shape, bool)
    while pending.any():
        drawn = draws.filled(stream, like.shape, like.dtype, draws.uniform) * like.dtype.type(
            b - a
        ) + like.dtype.type(a)
        out = np.where(pending, drawn, out)
        log_chance = np.square((drawn - mean) / std) * -0.5 - top
        with np.errstate(divide="ignore"):
            pending &= np.log(draws.filled(stream, like.shape, like.dtype, draws.uniform)) > log_chance
    return out


def constant_(tensor: Tensor, val: float) -> Tensor:
    """The same number everywhere."""
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
    return constant_(tensor, 0.0)


def eye_(tensor: Tensor) -> Tensor:
    """The identity matrix. Raises ValueError for other than 2 axes."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return _overwritten(tensor, np.eye(tensor.shape[0], tensor.shape[1]))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Convolution filters that keep their input, for as many channels as both sides of a group have."""
    if tensor.ndim not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.shape[0] % groups:
        raise ValueError("dim 0 must be divisible by groups")
    made = np.zeros(tensor.shape)
    per_group = tensor.shape[0] // groups
    middle = tuple(n // 2 for n in tensor.shape[2:])
    for group in range(groups):
        for channel in range(min(per_group, tensor.shape[1])):
            made[(group * per_group + channel, channel, *middle)] = 1
    return _overwritten(tensor, made)


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    if tensor.ndim < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _fan(tensor: Tensor, mode: str) -> int:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _calculate_fan_in_and_fan_out(tensor)[mode == "fan_out"]


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Uniform numbers of variance 2 * gain² / (fan_in + fan_out) (Glorot and Bengio, 2010)."""
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / float(sum(_calculate_fan_in_and_fan_out(tensor))))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal numbers of variance 2 * gain² / (fan_in + fan_out) (Glorot and Bengio, 2010)."""
    std = gain * math.sqrt(2.0 / float(sum(_calculate_fan_in_and_fan_out(tensor))))
    return normal_(tensor, 0.0, std, generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float | None:
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return None
    return calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode))


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Uniform numbers of variance gain² / fan, where `a` is the negative slope behind (He and others, 2015)."""
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else uniform_(tensor, -math.sqrt(3.0) * std, math.sqrt(3.0) * std, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Normal numbers of variance gain² / fan, where `a` is the negative slope behind (He and others, 2015)."""
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else normal_(tensor, 0, std, generator)


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """Orthonormal rows or columns (of the tensor as a matrix of its first axis and all others), times `gain`."""
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if not tensor.numel():
        return tensor
    rows = tensor.shape[0]
    shape = (rows, tensor.numel() // rows)
    drawn = draws.filled(generator or random.default_generator, shape, tensor.value.dtype, draws.normal())
    q, r = np.linalg.qr(drawn.T if shape[0] < shape[1] else drawn)
    q = q * np.sign(np.diagonal(r))  # makes the distribution uniform (Mezzadri, 2007)
    return _overwritten(tensor, (q.T if shape[0] < shape[1] else q).reshape(tensor.shape) * gain)


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None) -> Tensor:
    """Normal numbers, of which a fraction `sparsity` of each column is zero (Martens, 2010)."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    normal_(tensor, 0, std, generator)
    made = np.array(plain(tensor))
    for column in range(columns):
        made[(generator or random.default_generator).permutation(rows)[:zeros], column] = 0
    return _overwritten(tensor, made)
