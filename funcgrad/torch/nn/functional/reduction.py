"""What losses do with their elements: `reduction`, its older spellings, and sizes that differ."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.tensor import Tensor

REDUCTIONS = ("none", "mean", "sum")


def chosen(reduction: str, size_average: Any = None, reduce: Any = None) -> str:
    """The reduction, also from the two old arguments. Raises ValueError for an unknown one."""
    if size_average is not None or reduce is not None:
        reduction = legacy(size_average, reduce)
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction


def legacy(size_average: Any, reduce: Any, stacklevel: int = 4) -> str:
    """The reduction that the two old arguments mean."""
    found = "none" if reduce is False else "sum" if size_average is False else "mean"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{found}' instead.",
        stacklevel=stacklevel,
    )
    return found


def reduced(loss: Tensor, reduction: str) -> Tensor:
    """The mean, the sum, or all elements of a loss."""
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()


def rank_and_count(x: Any, reduction: str) -> tuple[int, float]:
    """Over how many axes a kernel adds up, and by what it divides."""
    if reduction == "none":
        return 0, 1
    size = int(np.prod(x.shape, dtype=int))
    return x.ndim, 1 if reduction == "sum" else size or np.nan


def together(x: Any, y: Any) -> list[Any]:
    """Two contents in one dtype and one shape."""
    x, y = dtypes.aligned((x, y), floating=True)
    if x.shape == y.shape:
        return [x, y]
    shape = np.broadcast_shapes(x.shape, y.shape)
    return [np.broadcast_to(x, shape), np.broadcast_to(y, shape)]


def warn_of_sizes(input: Tensor, target: Tensor) -> None:
    """Warn of a target that is to be broadcast."""
    if input.size() != target.size():
        warnings.warn(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). This will likely lead "
            "to incorrect results due to broadcasting. Please ensure they have the same size.",
            stacklevel=3,
        )
