"""Layers and losses as modules."""

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


class Sequential(Module):
    """Modules one after the other."""

    def __init__(self, *modules: Any) -> None:
        super().__init__()
        items = (
            modules[0].items()
            if len(modules) == 1 and isinstance(modules[0], dict)
            else ((str(i), m) for i, m in enumerate(modules))
        )
        for name, module in items:
            self.add_module(name, module)

    def forward(self, input: Any) -> Any:
        """All of them."""
        for module in self:
            input = module(input)
        return input

    def __iter__(self) -> Any:
        return iter(self._modules.values())

    def __len__(self) -> int:
        return len(self._modules)

    def __getitem__(self, index: Any) -> Any:
        items = list(self._modules.values())
        return Sequential(*items[index]) if isinstance(index, slice) else items[index]


class ReLU(Module):
    """max(x, 0)."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """max(x, 0)."""
        return input.relu_() if self.inplace else functional.relu(input)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Sigmoid(Module):
    """1 / (1 + exp(-x))."""

    def forward(self, input: Tensor) -> Tensor:
        """Elementwise."""
        return functional.sigmoid(input)


class Tanh(Module):
    """tanh(x)."""

    def forward(self, input: Tensor) -> Tensor:
        """Elementwise."""
        return functional.tanh(input)


class MSELoss(Module):
    """The mean squared difference."""

    def __init__(self, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return functional.mse_loss(input, target, reduction=self.reduction)
