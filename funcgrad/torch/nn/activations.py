"""Activations as modules."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.functions import creation
from funcgrad.torch.nn import functional, init
from funcgrad.torch.nn.module import Module
from funcgrad.torch.nn.parameter import Parameter
from funcgrad.torch.tensors.tensor import Tensor


class _Elementwise(Module):
    """An activation that can work in place."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        named = super().extra_repr()
        return ", ".join([*filter(None, [named]), *["inplace=True"] * self.inplace])


class ReLU(_Elementwise):
    """max(x, 0)."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.relu(input, self.inplace)


class Hardtanh(_Elementwise):
    """x limited to [min_val, max_val]."""

    settings = ("min_val", "max_val")

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.min_val, self.max_val = min_val, max_val
        if max_val <= min_val:
            raise AssertionError(f"max_val ({max_val}) must be greater than min_val ({min_val})")

    def forward(self, input: Tensor) -> Tensor:
        return functional.hardtanh(input, self.min_val, self.max_val, self.inplace)


class ReLU6(Hardtanh):
    """min(max(x, 0), 6)."""

    settings = ()

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)


class LeakyReLU(_Elementwise):
    """x where positive, negative_slope * x elsewhere."""

    settings = ("negative_slope",)

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.negative_slope = negative_slope

    def forward(self, input: Tensor) -> Tensor:
        return functional.leaky_relu(input, self.negative_slope, self.inplace)


class RReLU(_Elementwise):
    """x where positive, r * x elsewhere: in training r is drawn from [lower, upper], else it is the middle."""

    settings = ("lower", "upper")

    def __init__(self, lower: float = 1 / 8, upper: float = 1 / 3, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.lower, self.upper = lower, upper

    def forward(self, input: Tensor) -> Tensor:
        return functional.rrelu(input, self.lower, self.upper, self.training, self.inplace)


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


class ELU(_Elementwise):
    """x where positive, alpha * (exp(x) - 1) elsewhere."""

    settings = ("alpha",)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input: Tensor) -> Tensor:
        return functional.elu(input, self.alpha, self.inplace)


class CELU(ELU):
    """x where positive, alpha * (exp(x / alpha) - 1) elsewhere."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.celu(input, self.alpha, self.inplace)


class SELU(_Elementwise):
    """ELU with the alpha and scale that keep mean 0 and variance 1."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.selu(input, self.inplace)


class GELU(Module):
    """x times the normal distribution's cumulative probability (approximate="tanh": computed by tanh)."""

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return functional.gelu(input, self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class SiLU(_Elementwise):
    """x * sigmoid(x)."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.silu(input, self.inplace)


class Mish(_Elementwise):
    """x * tanh(softplus(x))."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.mish(input, self.inplace)


class Softplus(Module):
    """log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold."""

    settings = ("beta", "threshold")

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input: Tensor) -> Tensor:
        return functional.softplus(input, self.beta, self.threshold)


class Softsign(Module):
    """x / (1 + |x|)."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.softsign(input)


class _Shrink(Module):
    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        return str(self.lambd)


class Softshrink(_Shrink):
    """0 where |x| <= lambd, x nearer to 0 by lambd elsewhere."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.softshrink(input, self.lambd)


class Hardshrink(_Shrink):
    """0 where |x| <= lambd, x elsewhere."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.hardshrink(input, self.lambd)


class Hardsigmoid(_Elementwise):
    """x / 6 + 1 / 2, limited to [0, 1]."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.hardsigmoid(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class Hardswish(Hardsigmoid):
    """x * hardsigmoid(x)."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.hardswish(input, self.inplace)


class Threshold(_Elementwise):
    """x where x > threshold, `value` elsewhere."""

    settings = ("threshold", "value")

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.threshold, self.value = threshold, value

    def forward(self, input: Tensor) -> Tensor:
        return functional.threshold(input, self.threshold, self.value, self.inplace)


class Sigmoid(Module):
    """1 / (1 + exp(-x))."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.sigmoid(input)


class LogSigmoid(Module):
    """log(sigmoid(x)), without underflow."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.logsigmoid(input)


class Tanh(Module):
    """tanh(x)."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.tanh(input)


class Tanhshrink(Module):
    """x - tanh(x)."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.tanhshrink(input)


# ---- along an axis ---------------------------------------------------------------------------------------------------
class _Along(Module):
    settings = ("dim",)

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim


class Softmax(_Along):
    """exp(x) / sum of exp(x) along `dim`."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.softmax(input, self.dim, _stacklevel=5)


class LogSoftmax(_Along):
    """log(softmax(x)) along `dim`, without underflow."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.log_softmax(input, self.dim, _stacklevel=5)


class Softmin(_Along):
    """softmax(-x) along `dim`."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.softmin(input, self.dim, _stacklevel=5)


class Softmax2d(Module):
    """softmax over the channels of (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return functional.softmax(input, -3, _stacklevel=5)


class GLU(_Along):
    """The first half along `dim`, times the sigmoid of the second."""

    def __init__(self, dim: int = -1) -> None:
        super().__init__(dim)

    def forward(self, input: Tensor) -> Tensor:
        assert self.dim is not None
        return functional.glu(input, self.dim)
