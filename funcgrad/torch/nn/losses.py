"""Losses."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.nn import functional
from funcgrad.torch.nn.module import Module
from funcgrad.torch.tensor import Tensor


class MSELoss(Module):
    """The mean squared difference."""

    def __init__(self, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return functional.mse_loss(input, target, reduction=self.reduction)
