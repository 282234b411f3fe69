"""Loaded tensors in their places: parameters and leaves, and views of the memory that several of them share."""

from __future__ import annotations

from functools import partial

import numpy as np

from funcgrad.torch.nn.parameter import Parameter
from funcgrad.torch.tensors import storage
from funcgrad.torch.tensors.tensor import Tensor, make_tensor


def finished(t: Tensor, requires_grad: bool, parameter: bool) -> Tensor:
    """A loaded tensor as it was: a parameter, or a leaf."""
    return Parameter(t, requires_grad) if parameter else t.requires_grad_(requires_grad)


def placed(root: Tensor, offset: int, shape: list[int], strides: list[int]) -> Tensor:
    """A tensor in the memory of `root` at this place. RuntimeError if the place is outside."""
    last = offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    if min([offset, *shape, *strides]) < 0 or (0 not in shape and last >= root.numel()):
        raise RuntimeError(
            f"torch.load: a tensor lies outside its storage: {shape} by {strides} from {offset} of {root.numel()}"
        )
    step = partial(_strided, offset=offset, shape=tuple(shape), strides=tuple(strides))
    return storage.share(root, make_tensor(step(root.value)), step)


def _strided(x: np.ndarray, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> np.ndarray:
    flat = x.reshape(-1)
    return np.lib.stride_tricks.as_strided(flat[offset:], shape, [s * flat.itemsize for s in strides])
