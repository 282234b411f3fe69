"""weight_norm: a weight as a length and a direction, computed before each call (Salimans and Kingma, 2016)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from funcgrad.torch.functions.ops import Op
from funcgrad.torch.nn.module import Module
from funcgrad.torch.nn.parameter import Parameter
from funcgrad.torch.tensors.tensor import Tensor


def _lengths(v: Any, dim: int) -> Any:
    """The norms over all axes but `dim` (-1: over all)."""
    axes = tuple(i for i in range(v.ndim) if dim == -1 or i != dim % v.ndim)
    return np.sqrt(np.sum(np.square(v), axis=axes, keepdims=dim != -1))


LENGTHS = Op("norm_except_dim", _lengths, "NormBackward1")
_WEIGHT = Op("_weight_norm", lambda v, g, dim: v * (g / _lengths(v, dim)), "WeightNormInterfaceBackward0")


def normed_weight(v: Tensor, g: Tensor, dim: int) -> Tensor:
    """g * v / |v|."""
    return _WEIGHT(v, g, dim)


class WeightNorm:
    """The hook that computes the weight of a module from its length (name_g) and direction (name_v)."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Tensor:
        """The weight."""
        return normed_weight(getattr(module, self.name + "_v"), getattr(module, self.name + "_g"), self.dim)

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def _hook_of(module: Module, name: str) -> int | None:
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            return key
    return None


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Split a parameter into lengths `name`_g (but for `dim`) and directions `name`_v."""
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    if _hook_of(module, name) is not None:
        raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
    hook, weight = WeightNorm(name, dim), getattr(module, name)
    del module._parameters[name]
    module.register_parameter(name + "_g", Parameter(LENGTHS(weight, hook.dim).data))
    module.register_parameter(name + "_v", Parameter(weight.data))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Make the weight one parameter again. ValueError without weight_norm. Returns the module."""
    key = _hook_of(module, name)
    if key is None:
        raise ValueError(f"weight_norm of '{name}' not found in {module}")
    weight = module._forward_pre_hooks.pop(key).compute_weight(module)
    delattr(module, name)
    del module._parameters[name + "_g"], module._parameters[name + "_v"]
    setattr(module, name, Parameter(weight.data))
    return module
