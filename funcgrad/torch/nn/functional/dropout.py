"""Dropout as functions; the same seed drops what PyTorch drops."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

import numpy as np

from funcgrad.torch.random import default_generator
from funcgrad.torch.tensors.tensor import Tensor, make_tensor

_ALPHA = 1.7580993408473766  # what selu tends to for x -> -inf, without its sign


def _check(p: float) -> None:
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _kept(input: Tensor, shape: Sequence[int], p: float) -> np.ndarray:
    """1 with probability 1 - p, else 0, in the dtype of `input`."""
    if input.value.dtype.kind not in "fc":
        raise RuntimeError(
            f"result type Float can't be cast to the desired output type {input.dtype}: dropout is for floats"
        )
    if p == 1:
        return np.zeros(tuple(shape), input.value.dtype)
    drawn = default_generator.doubles(math.prod(shape)).reshape(tuple(shape))
    return (drawn < 1 - p).astype(input.value.dtype)


def _applied(input: Tensor, shape: Sequence[int], p: float, training: bool, inplace: bool) -> Tensor:
    """`input` times noise of this shape, whose mean is 1."""
    _check(p)
    if not training or p == 0 or not input.numel():
        return input
    noise = _kept(input, shape, p)
    if p < 1:
        noise /= 1 - p
    return input.mul_(make_tensor(noise)) if inplace else input.mul(make_tensor(noise))


def _applied_alpha(input: Tensor, shape: Sequence[int], p: float, training: bool, inplace: bool) -> Tensor:
    """Dropped elements become -_ALPHA; scale and shift keep mean and variance (Klambauer et al., 2017)."""
    _check(p)
    if not training or p == 0 or not input.numel():
        return input
    if p == 1:
        return (
            input.mul_(0.0) if inplace else input.mul(make_tensor(np.zeros(tuple(shape), input.value.dtype)))
        )
    scale = 1 / math.sqrt((_ALPHA * _ALPHA * p + 1) * (1 - p))
    noise = _kept(input, shape, p)
    shift = make_tensor((noise - 1) * (_ALPHA * scale) + _ALPHA * scale * p)
    noise = make_tensor(noise * scale)
    return input.mul_(noise).add_(shift) if inplace else input.mul(noise).add(shift)


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Elements become 0 with probability p, the others are divided by 1 - p.

    >>> import funcgrad.torch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.nn.functional.dropout(torch.ones(8))
    tensor([0., 0., 2., 0., 0., 0., 2., 2.])
    """
    return _applied(input, input.shape, p, training, inplace)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps mean 0 and variance 1, for networks of selu."""
    return _applied_alpha(input, input.shape, p, training, inplace)


def _feature_shape(input: Tensor) -> tuple[int, ...]:
    """One element for each channel of each example."""
    if input.dim() < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return (*input.shape[:2], *(1,) * (input.dim() - 2))


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """alpha_dropout of whole channels of (N, C, ...)."""
    return _applied_alpha(input, _feature_shape(input), p, training, inplace)


def _of_channels(input: Tensor, p: float, training: bool, inplace: bool, batched: bool) -> Tensor:
    if not batched:
        return _applied(input.unsqueeze(0), _feature_shape(input.unsqueeze(0)), p, training, inplace).squeeze(
            0
        )
    return _applied(input, _feature_shape(input), p, training, inplace)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of (N, C, L) or (C, L)."""
    _check(p)
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. Note that dropout1d exists to provide "
            "channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional batch dimension (i.e. "
            "2D or 3D inputs)."
        )
    return _of_channels(input, p, training, inplace, batched=input.dim() == 3)


def _warn_of_rank(name: str, input: Tensor, spatial: int) -> None:
    warnings.warn(
        f"{name}: Received a {input.dim()}-D input to {name}, which is deprecated and will result in an error in a future "
        f"release. To retain the behavior and silence this warning, please use dropout instead. Note that {name} exists to "
        f"provide channel-wise dropout on inputs with {spatial} spatial dimensions, a channel dimension, and an optional batch "
        f"dimension (i.e. {spatial + 1}D or {spatial + 2}D inputs).",
        stacklevel=3,
    )


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of (N, C, H, W)."""
    _check(p)
    if input.dim() not in (3, 4):
        _warn_of_rank("dropout2d", input, 2)
    if input.dim() == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired - input "
            "is interpreted as shape (N, C, L), where C is the channel dim. This behavior will change in a future release to "
            "interpret the input as one without a batch dimension, i.e. shape (C, H, W). To maintain the 1D channel-wise dropout "
            "behavior, please switch to using dropout1d instead.",
            stacklevel=2,
        )
    return _of_channels(input, p, training, inplace, batched=True)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of (N, C, D, H, W) or (C, D, H, W)."""
    _check(p)
    if input.dim() not in (4, 5):
        _warn_of_rank("dropout3d", input, 3)
    return _of_channels(input, p, training, inplace, batched=input.dim() == 5)
