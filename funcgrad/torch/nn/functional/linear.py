"""Linear maps as functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.torch import dtypes
from funcgrad.torch.kernels import AFFINE
from funcgrad.torch.ops import Op
from funcgrad.torch.tensor import Tensor


def _linear(input: Any, weight: Any, bias: Any) -> Any:
    if input.dtype != weight.dtype:
        raise RuntimeError(
            f"mat1 and mat2 must have the same dtype, but got {dtypes.of(input.dtype)} and {dtypes.of(weight.dtype)}"
        )
    if input.shape[-1] != weight.shape[-1]:
        rows = int(np.prod(input.shape[:-1]))
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({rows}x{input.shape[-1]} and {weight.shape[1]}x{weight.shape[0]})"
        )
    return AFFINE(bias, input, weight)


_AFFINE = Op("linear", _linear, lambda input, weight, bias: "AddmmBackward0" if input.ndim == 2 else "ViewBackward0")
_PRODUCT = Op("linear", lambda input, weight: input @ np.swapaxes(weight, -1, -2), "MmBackward0")


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input @ weight.T + bias."""
    return _PRODUCT(input, weight) if bias is None else _AFFINE(input, weight, bias)
