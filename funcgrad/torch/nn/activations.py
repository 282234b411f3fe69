"""Activations as modules: a row names the module and its function; the settings are the function's."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.functions import creation
from funcgrad.torch.nn import functional, init
from funcgrad.torch.nn.from_functions import module
from funcgrad.torch.nn.module import Module
from funcgrad.torch.nn.parameter import Parameter
from funcgrad.torch.tensors.tensor import Tensor


def _check_limits(self: Any) -> None:
    if self.max_val <= self.min_val:
        raise AssertionError(f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})")


# ---- of each element -------------------------------------------------------------------------------------------------
ReLU = module("ReLU", functional.relu)
Hardtanh = module("Hardtanh", functional.hardtanh, then=_check_limits)
Hardsigmoid = module("Hardsigmoid", functional.hardsigmoid, shows="")
Hardswish = module("Hardswish", functional.hardswish, shows="")
Hardshrink = module("Hardshrink", functional.hardshrink, shows="{lambd}")
Softshrink = module("Softshrink", functional.softshrink, shows="{lambd}")
Threshold = module("Threshold", functional.threshold, "input")
LeakyReLU = module("LeakyReLU", functional.leaky_relu)
RReLU = module("RReLU", functional.rrelu)
ELU = module("ELU", functional.elu)
CELU = module("CELU", functional.celu)
SELU = module("SELU", functional.selu)
GELU = module("GELU", functional.gelu, shows="approximate={approximate!r}")
SiLU = module("SiLU", functional.silu)
Mish = module("Mish", functional.mish)
Softplus = module("Softplus", functional.softplus)
Softsign = module("Softsign", functional.softsign)
Sigmoid = module("Sigmoid", functional.sigmoid, doc="1 / (1 + exp(-x)).")
LogSigmoid = module("LogSigmoid", functional.logsigmoid)
Tanh = module("Tanh", functional.tanh, doc="tanh(x).")
Tanhshrink = module("Tanhshrink", functional.tanhshrink)


class ReLU6(Hardtanh):
    """min(max(x, 0), 6)."""

    settings = ()

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)


class PReLU(Module):
    """x where positive, weight * x elsewhere; the weight (one, or one for each channel) is trained."""

    settings = ("num_parameters",)

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(creation.empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Fill with the initial value."""
        init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        return functional.prelu(input, self.weight)


# ---- along an axis ---------------------------------------------------------------------------------------------------
Softmax = module("Softmax", functional.softmax, _stacklevel=5)
LogSoftmax = module("LogSoftmax", functional.log_softmax, _stacklevel=5)
Softmin = module("Softmin", functional.softmin, _stacklevel=5)
GLU = module("GLU", functional.glu)


class Softmax2d(Module):
    """softmax over the channels of (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return functional.softmax(input, -3)
