"""Losses of numbers and probabilities, as functions: mse_loss, binary_cross_entropy, kl_div, ..."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.nn.kernels import losses as kernels
from funcgrad.torch.functions import creation
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.nn.functional.reduction import rank_and_count, reduced, reducing, together, warn_of_sizes
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.tensor import Tensor, plain
from funcgrad.transforms.elementwise import stop_gradient


def _loss(name: str, kernel: Callable[..., Any], node: Any) -> Op:
    """The Op of a kernel: op(input, target, reduction, setting, weight)."""

    def body(input: Any, target: Any, reduction: str, setting: Any = None, weight: Any = None) -> Any:
        x, y = together(input, target)
        rank, count = rank_and_count(x, reduction)
        if weight is None:
            return kernel(x, y, rank, count, setting)
        loss = kernel(x, y, 0, 1, setting) * weight
        return np.sum(loss) / count if rank else loss

    return Op(name, body, node)


def _by_reduction(name_of_none: str) -> Callable[..., str]:
    """The name of the last of several nodes that PyTorch makes."""
    names = {"mean": "MeanBackward0", "sum": "SumBackward0", "none": name_of_none}
    return lambda input, target, reduction, *rest: names[reduction]


# ---- of numbers ------------------------------------------------------------------------------------------------------
_MSE = _loss("mse_loss", kernels.MSE, "MseLossBackward0")
_L1 = _loss("l1_loss", kernels.L1, _by_reduction("AbsBackward0"))
_HUBER = _loss("huber_loss", kernels.HUBER, "HuberLossBackward0")
_SMOOTH_L1 = _loss("smooth_l1_loss", kernels.SMOOTH_L1, "SmoothL1LossBackward0")


def _weighted(loss: Tensor, weight: Tensor, reduction: str, by_weight: bool = True) -> Tensor:
    """A loss times a weight; the mean is over all weights, or (without by_weight) over all elements."""
    if weight.size() != loss.size():
        raise ValueError("Weights and input must have the same size.")
    weighted = loss.mul(weight)
    return (
        weighted.sum() / weight.sum() if reduction == "mean" and by_weight else reduced(weighted, reduction)
    )


@reducing()
def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean", weight: Tensor | None = None) -> Tensor:
    """(input - target)²: the mean, the sum, or all elements. A target of another size is broadcast, with a
    warning.

    >>> import funcgrad.torch as torch
    >>> torch.nn.functional.mse_loss(torch.tensor([1.0, 2.0]), torch.tensor([0.0, 0.0]))
    tensor(2.5000)
    """
    warn_of_sizes(input, target)
    if weight is not None:
        return _weighted(_MSE(input, target, "none"), weight, reduction)
    return _MSE(input, target, reduction)


@reducing()
def l1_loss(input: Tensor, target: Tensor, reduction: str = "mean", weight: Tensor | None = None) -> Tensor:
    """|input - target|: the mean, the sum, or all elements."""
    warn_of_sizes(input, target)
    if weight is not None:
        return _weighted(_L1(input, target, "none"), weight, reduction)
    return _L1(input, target, reduction)


@reducing()
def smooth_l1_loss(input: Tensor, target: Tensor, reduction: str = "mean", beta: float = 1.0) -> Tensor:
    """(input - target)² / (2 * beta) where that is nearer than beta, |input - target| - beta / 2 elsewhere."""
    warn_of_sizes(input, target)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    return _L1(input, target, reduction) if beta == 0 else _SMOOTH_L1(input, target, reduction, float(beta))


@reducing(None)
def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """(input - target)² / 2 within delta, else delta * (|input - target| - delta / 2)."""
    warn_of_sizes(input, target)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    if weight is not None:
        return _weighted(_HUBER(input, target, "none", float(delta)), weight, reduction, by_weight=False)
    return _HUBER(input, target, reduction, float(delta))


# ---- of probabilities ------------------------------------------------------------------------------------------------
_BCE = _loss("binary_cross_entropy", kernels.BCE, "BinaryCrossEntropyBackward0")
_BCE_WITH_LOGITS = _loss(
    "binary_cross_entropy_with_logits", kernels.BCE_WITH_LOGITS, "BinaryCrossEntropyWithLogitsBackward0"
)


@reducing()
def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """-target * log(input) - (1 - target) * log(1 - input), of probabilities; logarithms are not less than
    -100.

    Raises ValueError for sizes that differ, RuntimeError for what is no probability.
    """
    if target.size() != input.size():
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is deprecated. Please "
            "ensure they have the same size."
        )
    value = np.asarray(plain(input))
    if not np.all((value >= 0) & (value <= 1)):
        raise RuntimeError("all elements of input should be between 0 and 1")
    return _BCE(input, target, reduction, None, weight)


def _bce_with_pos_weight(input: Any, target: Any, reduction: str, weight: Any, pos_weight: Any) -> Any:
    x, y, factor = dtypes.aligned((input, target, pos_weight), floating=True)
    tail = np.log1p(np.exp(-np.abs(x))) + np.maximum(-x, 0)
    rank, count = rank_and_count(x, reduction)
    loss = (1 - y) * x + ((factor - 1) * y + 1) * tail
    loss = loss if weight is None else loss * weight
    return np.sum(loss) / count if rank else loss


_BCE_WITH_POS_WEIGHT = Op(
    "binary_cross_entropy_with_logits", _bce_with_pos_weight, "BinaryCrossEntropyWithLogitsBackward0"
)


@reducing()
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """binary_cross_entropy(sigmoid(input), target) without underflow; `pos_weight` scales the first term."""
    if target.size() != input.size():
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    if pos_weight is None:
        return _BCE_WITH_LOGITS(input, target, reduction, None, weight)
    return _BCE_WITH_POS_WEIGHT(input, target, reduction, weight, pos_weight)


# ---- of distributions ------------------------------------------------------------------------------------------------
_KL = _loss("kl_div", kernels.KL, _by_reduction("SubBackward0"))
_KL_OF_LOGS = _loss("kl_div", kernels.KL_OF_LOGS, _by_reduction("MulBackward0"))
_POISSON = _loss("poisson_nll_loss", kernels.POISSON, _by_reduction("SubBackward0"))
_POISSON_OF_LOGS = _loss("poisson_nll_loss", kernels.POISSON_OF_LOGS, _by_reduction("SubBackward0"))


@reducing(also=("batchmean",))
def kl_div(input: Tensor, target: Tensor, reduction: str = "mean", log_target: bool = False) -> Tensor:
    """target * (log(target) - input): input are logarithms of probabilities, target too if log_target.

    "batchmean" divides the sum by the size of axis 0: that is the divergence in its usual meaning.
    """
    if reduction == "batchmean":
        summed = (_KL_OF_LOGS if log_target else _KL)(input, target, "sum")
        return summed / input.size()[0] if input.dim() else summed
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides only by "
            "the batch size, and aligns with the KL div math definition.'mean' will be changed to behave the same as 'batchmean' "
            "in the next major release.",
            stacklevel=2,
        )
    return (_KL_OF_LOGS if log_target else _KL)(input, target, reduction)


def _stirling(target: Tensor) -> Tensor:
    """log(target!), by Stirling's formula; 0 for targets up to 1."""
    large = target.gt(1)
    t = target.masked_fill(~large, 1.0)
    return (t * t.log() - t + 0.5 * (2 * math.pi * t).log()).masked_fill(~large, 0.0)


@reducing("eps")
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-8,
    reduction: str = "mean",
) -> Tensor:
    """The Poisson distribution's negative log-likelihood: rate - target * log(rate); `input` is log(rate) or
    the rate.

    full=True adds log(target!), by Stirling's formula, for targets over 1.
    """
    op = _POISSON_OF_LOGS if log_input else _POISSON
    if full:
        return reduced(op(input, target, "none", eps) + _stirling(target), reduction)
    return op(input, target, reduction, eps)


def _lifted(var: Any, eps: float) -> Any:
    """`var`, at least `eps`, with the slope 1 everywhere."""
    found = stop_gradient(var)
    return var + np.where(found < eps, eps - found, found.dtype.type(0))


_LIFTED = Op("clamp", _lifted, "CloneBackward0")


def gaussian_nll_loss(
    input: Tensor, target: Tensor, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """The normal distribution's negative log-likelihood: (log(var) + (input - target)² / var) / 2, with var
    at least eps.

    `var` is a number, or has the size of `input` (with a last axis of size 1, or without it: the same for all
    of it). full=True adds log(2 pi) / 2. Raises ValueError for a variance that is negative or of another
    size.
    """
    if not isinstance(var, Tensor):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = creation.full_like(input, float(var))
    elif (np.asarray(plain(var)) < 0).any():
        raise ValueError("var has negative entry/entries")
    if var.size() != input.size():
        if input.size()[:-1] == var.size():
            var = var.unsqueeze(-1)
        elif input.size()[:-1] != var.size()[:-1] or var.size(-1) != 1:
            raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    var = _LIFTED(var, eps)
    loss = 0.5 * (var.log() + input.sub(target) ** 2 / var)
    return reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)
