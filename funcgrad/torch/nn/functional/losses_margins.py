"""Losses with margins, as functions: the right answer is to be better by so much, and no more is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.engine.trace import Tracer
from funcgrad.nn.kernels import losses as kernels
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.nn.functional.activations import logsigmoid
from funcgrad.torch.nn.functional.distances import pairwise_distance
from funcgrad.torch.nn.functional.losses import _loss
from funcgrad.torch.nn.functional.reduction import reduced, reducing
from funcgrad.torch.tensors.tensor import Tensor, plain
from funcgrad.torch.tensors.values import item

# ---- of signs --------------------------------------------------------------------------------------------------------
_SOFT_MARGIN = _loss("soft_margin_loss", kernels.SOFT_MARGIN, "SoftMarginLossBackward0")


@reducing()
def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, reduction: str = "mean"
) -> Tensor:
    """`input` where target is 1, max(0, margin - input) where it is -1."""
    far = (input.neg() + margin).clamp_min(0).masked_fill(target == 1, 0.0)
    near = input.masked_fill(target == -1, 0.0)
    return reduced(far + near, reduction)


@reducing()
def soft_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """log(1 + exp(-target * input)), of targets 1 and -1."""
    return _SOFT_MARGIN(input, target, reduction)


@reducing()
def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """max(0, -target * (input1 - input2) + margin): target 1 wants input1 larger, -1 input2."""
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    return reduced((target.neg() * input1.sub(input2) + margin).clamp_min(0), reduction)


# ---- of vectors ------------------------------------------------------------------------------------------------------
@reducing()
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """1 - cos(input1, input2) where target is 1, max(0, cos(input1, input2) - margin) where it is -1."""
    if target.dim() > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if input1.dim() != target.dim() + 1 or input2.dim() != target.dim() + 1:
        raise RuntimeError(
            f"{target.dim()}D target tensor expects {target.dim() + 1}D input tensors, but found inputs with sizes "
            f"{list(input1.size())} and {list(input2.size())}."
        )
    product = input1.mul(input2).sum(-1)
    lengths = (input1.square().sum(-1) + 1e-12) * (input2.square().sum(-1) + 1e-12)
    cosine = product / lengths.sqrt()
    near = (1 - cosine).masked_fill(target != 1, 0.0)
    far = (cosine - margin).clamp_min(0).masked_fill(target != -1, 0.0)
    return reduced(near + far, reduction)


def _check_triplet(margin: float, anchor: Tensor, positive: Tensor, negative: Tensor) -> None:
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: anchor "
            f"{anchor.dim()}D, positive {positive.dim()}D, and negative {negative.dim()}D inputs"
        )


@reducing()
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """max(0, |anchor - positive| - |anchor - negative| + margin), in the p-norm.

    With swap=True the negative is compared with the positive, where that is nearer.
    """
    return triplet_margin_with_distance_loss(
        anchor,
        positive,
        negative,
        distance_function=lambda x, y: pairwise_distance(x, y, p, eps),
        margin=margin,
        swap=swap,
        reduction=reduction,
    )


@reducing(None)
def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """triplet_margin_loss with a distance of your own (by default pairwise_distance)."""
    _check_triplet(margin, anchor, positive, negative)
    distance = distance_function or pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    return reduced((near.add(margin) - far).clamp_min(0), reduction)


# ---- of classes ------------------------------------------------------------------------------------------------------
def _multi_margin(input: Any, target: Any, weight: Any, p: int, margin: float, reduction: str) -> Any:
    x = input if input.ndim == 2 else np.reshape(input, (1, -1))
    t = np.reshape(target, -1)
    if t.shape[0] != x.shape[0] or target.ndim > 1:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch size). "
            f"Expected target size [{x.shape[0]}], but got {list(target.shape)}. Input has shape {list(input.shape)}."
        )
    if not isinstance(t, Tracer) and t.size and (t.min() < 0 or t.max() >= x.shape[1]):
        raise RuntimeError("target out of range")
    rows = np.arange(len(t))
    gap = np.maximum(margin - item(x, (rows, t))[:, None] + x, 0)
    loss = np.where(np.arange(x.shape[1]) == t[:, None], x.dtype.type(0), gap if p == 1 else gap * gap)
    loss = loss if weight is None else loss * item(weight, t)[:, None]
    return _over_rows(np.sum(loss, axis=1) / x.shape[1], target.ndim > 0, reduction)


def _over_rows(loss: Any, many: bool, reduction: str) -> Any:
    if reduction != "none":
        return np.mean(loss) if reduction == "mean" else np.sum(loss)
    return loss if many else loss[0]


_MULTI_MARGIN = Op("multi_margin_loss", _multi_margin, "MultiMarginLossBackward0")


@reducing()
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean over classes of max(0, margin - input[target] + input[class])**p, but the target's own."""
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    return _MULTI_MARGIN(input, target, weight, p, margin, reduction)


def _multilabel_margin(input: Any, target: Any, reduction: str) -> Any:
    if target.shape != input.shape or input.ndim not in (1, 2):
        raise RuntimeError(
            f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}"
        )
    x, t = np.reshape(input, (-1, input.shape[-1])), target.reshape(-1, input.shape[-1])
    listed = np.cumprod(t >= 0, axis=1).astype(bool)  # the classes before the first -1
    t = np.where(listed, t, 0)
    is_target = np.zeros(t.shape, bool)
    np.logical_or.at(is_target, (np.arange(len(t))[:, None], t), listed)
    gap = np.maximum(1 - np.take_along_axis(x, t, 1)[:, :, None] + x[:, None, :], 0)
    counted = listed[:, :, None] & ~is_target[:, None, :]
    loss = np.sum(np.where(counted, gap, x.dtype.type(0)), axis=(1, 2)) / x.shape[1]
    return _over_rows(loss, input.ndim == 2, reduction)


_MULTILABEL_MARGIN = Op("multilabel_margin_loss", _multilabel_margin, "MultilabelMarginLossBackward0")


@reducing()
def multilabel_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """The mean over classes of max(0, 1 - input[target] + input[class]), for all targets and all other
    classes.

    `target` (N, C) lists the classes of each row; what follows a -1 does not count.
    """
    value = np.asarray(plain(target))
    if value.size and value.max() >= value.shape[-1]:
        raise RuntimeError("target is out of range")
    return _MULTILABEL_MARGIN(input, target, reduction)


@reducing()
def multilabel_soft_margin_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """The mean over classes (the last axis) of binary cross-entropies, from logits."""
    loss = (logsigmoid(input).mul(target) + logsigmoid(input.neg()).mul(target.rsub(1))).neg()
    loss = loss if weight is None else loss * weight
    return reduced(loss.sum(-1) / input.size(-1), reduction)
