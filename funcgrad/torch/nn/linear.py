"""Linear layers."""

from __future__ import annotations

import math
from typing import Any

from funcgrad.torch import creation, sampling
from funcgrad.torch.modes import no_grad
from funcgrad.torch.nn import functional
from funcgrad.torch.nn.module import Module
from funcgrad.torch.nn.parameter import Parameter
from funcgrad.torch.tensor import Tensor


class Linear(Module):
    """x @ weight.T + bias, with weight (out_features, in_features)."""

    def __init__(self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(creation.empty(out_features, in_features, dtype=dtype))
        if bias:
            self.bias = Parameter(creation.empty(out_features, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform in ±1/sqrt(in_features)."""
        bound = 1 / math.sqrt(self.in_features) if self.in_features else 0.0
        with no_grad():
            for p in (self.weight, self.bias):
                if p is not None:
                    sampling.uniform_(p, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """The product."""
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"
