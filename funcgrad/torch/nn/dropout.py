"""Dropout as modules: active in training mode only."""

from __future__ import annotations

from funcgrad.torch.nn import functional
from funcgrad.torch.nn.module import Module
from funcgrad.torch.tensors.tensor import Tensor


class _Dropout(Module):
    settings = ("p", "inplace")

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace


class Dropout(_Dropout):
    """Elements become 0 with probability p, the others are divided by 1 - p."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_Dropout):
    """Dropout of whole channels of (N, C, L) or (C, L)."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_Dropout):
    """Dropout of whole channels of (N, C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_Dropout):
    """Dropout of whole channels of (N, C, D, H, W) or (C, D, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_Dropout):
    """Dropout that keeps mean 0 and variance 1, for networks of SELU."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.alpha_dropout(input, self.p, self.training, self.inplace)


class FeatureAlphaDropout(_Dropout):
    """AlphaDropout of whole channels."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.feature_alpha_dropout(input, self.p, self.training, self.inplace)
