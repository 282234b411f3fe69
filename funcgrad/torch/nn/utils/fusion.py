"""A layer and the batch normalization behind it as one layer, for evaluation."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from funcgrad.torch.nn.parameter import Parameter
from funcgrad.torch.tensors.tensor import Tensor, make_tensor, plain


def _array(t: Tensor | None, missing: float, like: Any) -> np.ndarray:
    return np.full_like(like, missing) if t is None else np.asarray(plain(t))


def _fused(weight: Tensor, bias: Tensor | None, norm: Any, axis: int) -> tuple[Parameter, Parameter]:
    mean, var = (np.asarray(plain(t)) for t in (norm.running_mean, norm.running_var))
    scale = _array(norm.weight, 1, mean) / np.sqrt(var + norm.eps)
    w = np.asarray(plain(weight))
    shape = [1] * w.ndim
    shape[axis] = -1
    shift = (_array(bias, 0, mean) - mean) * scale + _array(norm.bias, 0, mean)
    made = [(w * scale.reshape(shape)).astype(w.dtype), shift.astype(w.dtype)]
    return Parameter(make_tensor(made[0]), weight.requires_grad), Parameter(
        make_tensor(made[1]), weight.requires_grad
    )


def _check_evaluation(*modules: Any) -> None:
    if any(module.training for module in modules):
        raise AssertionError("Fusion only for eval!")


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A convolution that does what `conv` and then `bn` do, both in evaluation mode."""
    _check_evaluation(conv, bn)
    made = copy.deepcopy(conv)
    made.weight, made.bias = _fused(conv.weight, conv.bias, bn, int(transpose))
    return made


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A Linear that does what `linear` and then `bn` do, both in evaluation mode."""
    _check_evaluation(linear, bn)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1")
    made = copy.deepcopy(linear)
    made.weight, made.bias = _fused(linear.weight, linear.bias, bn, 0)
    return made
