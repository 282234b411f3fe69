"""Losses as functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.torch import dtypes
from funcgrad.torch.ops import Op
from funcgrad.torch.tensor import Tensor


def _reduced(loss: Any, reduction: str) -> Any:
    if reduction == "none":
        return loss
    if reduction not in ("mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return np.mean(loss) if reduction == "mean" else np.sum(loss)


def _mse(input: Any, target: Any, reduction: str) -> Any:
    x, y = dtypes.aligned((input, target))
    gap = x - y
    return _reduced(gap * gap, reduction)


_MSE = Op("mse_loss", _mse, "MseLossBackward0")


def mse_loss(input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> Tensor:
    """The mean (or sum, or all) of the squared differences."""
    return _MSE(input, target, reduction)
