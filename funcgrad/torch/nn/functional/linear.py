"""Linear and bilinear maps as functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.nn.kernels.basic import AFFINE
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.inplace import write_out
from funcgrad.torch.tensors.tensor import Tensor


def _check(input: Any, weight: Any) -> None:
    if input.dtype != weight.dtype:
        raise RuntimeError(
            f"mat1 and mat2 must have the same dtype, but got {dtypes.of(input.dtype)} and {dtypes.of(weight.dtype)}"
        )
    if not input.ndim or input.shape[-1] != weight.shape[-1]:
        rows = int(np.prod(input.shape[:-1]))
        columns = weight.shape[0] if weight.ndim > 1 else 1
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({rows}x{input.shape[-1] if input.ndim else 1} and "
            f"{weight.shape[-1]}x{columns})"
        )


def _affine(input: Any, weight: Any, bias: Any) -> Any:
    _check(input, weight)
    return AFFINE(bias, input, weight)


def _product(input: Any, weight: Any) -> Any:
    _check(input, weight)
    return input @ np.swapaxes(weight, -1, -2) if weight.ndim > 1 else input @ weight


def _product_node(input: Tensor, weight: Tensor) -> str:
    return {1: "SqueezeBackward4", 2: "MmBackward0"}.get(input.ndim, "UnsafeViewBackward0")


_AFFINE = Op(
    "linear", _affine, lambda input, weight, bias: "AddmmBackward0" if input.ndim == 2 else "ViewBackward0"
)
_PRODUCT = Op("linear", _product, _product_node)


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """input @ weight.T + bias: input (*, in), weight (out, in), bias (out,); the result is (*, out)."""
    found = _PRODUCT(input, weight) if bias is None else _AFFINE(input, weight, bias)
    return found if out is None else write_out(out, found, "linear")


def _bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    if input1.shape[:-1] != input2.shape[:-1]:
        raise RuntimeError(
            f"bilinear(): input batch dimensions do not match: got {input1.shape[:-1]} and {input2.shape[:-1]}"
        )
    for name, x, k in (("input1", input1, 1), ("input2", input2, 2)):
        if x.shape[-1] != weight.shape[k]:
            raise RuntimeError(
                f"bilinear(): {name} size does not match weight size: got {x.shape[-1]} but expected {weight.shape[k]}"
            )
    out = np.einsum("...i,oij,...j->...o", input1, weight, input2)
    return out if bias is None else out + bias


_BILINEAR = Op(
    "bilinear",
    _bilinear,
    lambda input1, input2, weight, bias=None: "ViewBackward0" if bias is None else "AddBackward0",
)


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """The sums of input1[i] * weight[o, i, j] * input2[j], plus bias[o]: (*, in1) and (*, in2) give (*, out)."""
    return _BILINEAR(input1, input2, weight) if bias is None else _BILINEAR(input1, input2, weight, bias)
