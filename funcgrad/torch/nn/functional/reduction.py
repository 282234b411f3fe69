"""What losses do with their elements: `reduction`, its older spellings, and sizes that differ."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.torch.functions.generated import generated, passed_on
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.tensor import Tensor

REDUCTIONS = ("none", "mean", "sum")


LEGACY = ("size_average", "reduce")  # what `reduction` has replaced


def reducing(
    before: str | None = "reduce", also: tuple[str, ...] = ()
) -> Callable[[Callable[..., Tensor]], Callable[..., Tensor]]:
    """A loss as PyTorch calls it: its reduction is checked, and the two older arguments are taken in its place.

    `reduce` stands before `reduction`, and size_average before the argument of this name; None: it never had them.
    `also` are further reductions that the loss knows. Raises ValueError for one that it does not know.
    """
    known = (*REDUCTIONS, *also)

    def made(body: Callable[..., Tensor]) -> Callable[..., Tensor]:
        parameters = list(inspect.signature(body).parameters.values())
        lines = [
            "if reduction not in known:",
            "    refuse(reduction)",
            f"return body({passed_on(parameters)})",
        ]
        if before is not None:
            for name, place in (("reduce", "reduction"), ("size_average", before)):
                at = [p.name for p in parameters].index(place)
                older = inspect.Parameter(name, parameters[0].kind, default=None, annotation="Any")
                parameters.insert(at, older)
            lines[:0] = [
                "if size_average is not None or reduce is not None:",
                "    reduction = legacy(size_average, reduce)",
            ]
        space = {"legacy": legacy, "known": known, "refuse": _refuse, "body": body}
        return generated(body.__name__, parameters, lines, space, like=body)

    return made


def _refuse(reduction: str) -> None:
    raise ValueError(f"{reduction} is not a valid value for reduction")


def legacy(size_average: Any, reduce: Any) -> str:
    """The reduction that the two old arguments mean."""
    found = "none" if reduce is False else "sum" if size_average is False else "mean"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{found}' instead.",
        stacklevel=3,
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
            stacklevel=4,
        )
