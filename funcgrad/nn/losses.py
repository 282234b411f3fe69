"""Losses of numbers and of probabilities: from a prediction x and a truth y, one node in the graph.

Each is reduced to its mean, unless `reduction` says "sum", or "none": all elements. x and y broadcast.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.engine.trace import Tracer, concrete
from funcgrad.core.memory.indexing import GETITEM
from funcgrad.errors import ArgumentError
from funcgrad.nn.kernels import losses as kernels
from funcgrad.nn.kernels.ctc import ctc as ctc_kernel
from funcgrad.nn.operands import array, check_reduction, floats, integers, reduced
from funcgrad.transforms.elementwise import stop_gradient


def _loss(name: str, kernel: Callable[..., Any], x: Any, y: Any, reduction: str, setting: Any = None) -> Any:
    """A kernel of two operands, reduced."""
    who = f"funcgrad.nn.{name}"
    check_reduction(who, reduction)
    x, y = floats(who, x, y)
    if x.shape != y.shape:
        try:
            shape = np.broadcast_shapes(x.shape, y.shape)
        except ValueError:
            raise ArgumentError(
                f"{who}: x {x.shape} and y {y.shape} don't broadcast: give arrays of one shape"
            ) from None
        x, y = np.broadcast_to(x, shape), np.broadcast_to(y, shape)
    rank = 0 if reduction == "none" else x.ndim
    count = x.size or np.nan if reduction == "mean" else 1
    return kernel(x, y, rank, count, setting)


# ---- of numbers --------------------------------------------------------------------------------------------
def mse(x: Any, y: Any, *, reduction: str = "mean") -> Any:
    """(x - y)².

    >>> from funcgrad import nn
    >>> float(nn.mse([1.0, 2.0], [0.0, 0.0]))
    2.5
    """
    return _loss("mse", kernels.MSE, x, y, reduction)


def mae(x: Any, y: Any, *, reduction: str = "mean") -> Any:
    """|x - y|, with the slope 0 at 0.

    >>> from funcgrad import nn
    >>> float(nn.mae([1.0, 2.0], [0.0, 0.0]))
    1.5
    """
    return _loss("mae", kernels.L1, x, y, reduction)


def huber(x: Any, y: Any, delta: float = 1.0, *, reduction: str = "mean") -> Any:
    """(x - y)² / 2 where that is nearer than delta, delta * (|x - y| - delta / 2) elsewhere (Huber, 1964).

    Raises ArgumentError unless delta > 0.

    >>> from funcgrad import nn
    >>> nn.huber([0.5, 3.0], [0.0, 0.0], reduction="none")
    array([0.125, 2.5  ])
    """
    if not delta > 0:
        raise ArgumentError(f"funcgrad.nn.huber with delta={delta}: give a positive number")
    return _loss("huber", kernels.HUBER, x, y, reduction, float(delta))


def smooth_l1(x: Any, y: Any, beta: float = 1.0, *, reduction: str = "mean") -> Any:
    """huber(x, y, beta) / beta; for beta = 0 it is |x - y|. Raises ArgumentError for a negative beta.

    >>> from funcgrad import nn
    >>> nn.smooth_l1([0.5, 3.0], [0.0, 0.0], 2.0, reduction="none")
    array([0.0625, 2.    ])
    """
    if not beta >= 0:
        raise ArgumentError(f"funcgrad.nn.smooth_l1 with beta={beta}: give a number that is not negative")
    if beta == 0:
        return _loss("smooth_l1", kernels.L1, x, y, reduction)
    return _loss("smooth_l1", kernels.SMOOTH_L1, x, y, reduction, float(beta))


# ---- of probabilities --------------------------------------------------------------------------------------
def binary_cross_entropy(p: Any, y: Any, *, reduction: str = "mean") -> Any:
    """-y log(p) - (1 - y) log(1 - p), of probabilities p; logarithms are not less than -100.

    Raises ArgumentError for p outside of [0, 1]. From logits, `binary_cross_entropy_with_logits` is more
    accurate.

    >>> from funcgrad import nn
    >>> nn.binary_cross_entropy([0.5, 0.0], [1.0, 1.0], reduction="none")
    array([  0.69314718, 100.        ])
    """
    value = np.asarray(concrete(array(p)))
    if not np.all((value >= 0) & (value <= 1)):
        raise ArgumentError(
            "funcgrad.nn.binary_cross_entropy: p has numbers outside of [0, 1]: give probabilities"
        )
    return _loss("binary_cross_entropy", kernels.BCE, p, y, reduction)


def binary_cross_entropy_with_logits(x: Any, y: Any, *, reduction: str = "mean") -> Any:
    """binary_cross_entropy(sigmoid(x), y), without underflow.

    >>> from funcgrad import nn
    >>> nn.binary_cross_entropy_with_logits([0.0, -1000.0], [1.0, 1.0], reduction="none")
    array([6.93147181e-01, 1.00000000e+03])
    """
    return _loss("binary_cross_entropy_with_logits", kernels.BCE_WITH_LOGITS, x, y, reduction)


def soft_margin(x: Any, y: Any, *, reduction: str = "mean") -> Any:
    """log(1 + exp(-y x)), for y = 1 or -1: logistic regression.

    >>> from funcgrad import nn
    >>> float(nn.soft_margin([0.0], [1.0]))
    0.6931471805599453
    """
    return _loss("soft_margin", kernels.SOFT_MARGIN, x, y, reduction)


def hinge(x: Any, y: Any, margin: float = 1.0, *, reduction: str = "mean") -> Any:
    """max(0, margin - y x), for y = 1 or -1; the slope where it begins is 0.

    >>> from funcgrad import nn
    >>> nn.hinge([0.25, 2.0], [1.0, 1.0], reduction="none")
    array([0.75, 0.  ])
    """
    x, y = floats("funcgrad.nn.hinge", x, y)
    gap = margin - y * x
    return reduced("funcgrad.nn.hinge", np.where(gap > 0, gap, gap.dtype.type(0)), reduction)


def kl_divergence(log_q: Any, p: Any, *, log_p: bool = False, reduction: str = "mean") -> Any:
    """p (log(p) - log_q), the terms of the divergence of q from p; with `log_p` the second operand is log(p).

    The divergence itself is the sum of the terms over the last axis: reduction="none", then np.sum(...,
    axis=-1).

    >>> import numpy as np
    >>> from funcgrad import nn
    >>> float(nn.kl_divergence(np.log([0.5, 0.5]), [1.0, 0.0], reduction="sum"))
    0.6931471805599453
    """
    return _loss("kl_divergence", kernels.KL_OF_LOGS if log_p else kernels.KL, log_q, p, reduction)


def poisson_nll(x: Any, y: Any, *, log: bool = True, eps: float = 1e-8, reduction: str = "mean") -> Any:
    """rate - y log(rate), the Poisson distribution's negative log-likelihood but for log(y!); x is log(rate).

    With log=False x is the rate, and `eps` keeps its logarithm finite.

    >>> from funcgrad import nn
    >>> float(nn.poisson_nll([0.0], [3.0]))
    1.0
    """
    return _loss("poisson_nll", kernels.POISSON_OF_LOGS if log else kernels.POISSON, x, y, reduction, eps)


def gaussian_nll(
    x: Any, y: Any, var: Any, *, eps: float = 1e-6, full: bool = False, reduction: str = "mean"
) -> Any:
    """(log(var) + (x - y)² / var) / 2, the negative log-likelihood of a normal; `full` adds log(2 pi) / 2.

    `var` broadcasts against x; what is less than `eps` counts as `eps`, with the slope 1. Raises
    ArgumentError for a negative variance.

    >>> from funcgrad import nn
    >>> float(nn.gaussian_nll([1.0], [0.0], [1.0]))
    0.5
    """
    who = "funcgrad.nn.gaussian_nll"
    x, y, var = floats(who, x, y, var)
    if np.any(np.asarray(concrete(var)) < 0):
        raise ArgumentError(f"{who}: var has negative numbers: give variances")
    value = stop_gradient(var)
    var = var + np.where(value < eps, eps - value, 0).astype(value.dtype)
    loss = 0.5 * (np.log(var) + np.square(x - y) / var)
    return reduced(who, loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


# ---- of classes --------------------------------------------------------------------------------------------
def cross_entropy(
    logits: Any,
    target: Any,
    *,
    axis: int = -1,
    weights: Any = None,
    ignore: int | None = None,
    smoothing: float = 0.0,
    reduction: str = "mean",
) -> Any:
    """-log_softmax(logits) at the target.

    Args:
        logits: scores of C classes along `axis`.
        target: integers, with the shape of logits without `axis`; or probabilities, with the shape of logits.
        axis: the axis of the classes.
        weights: (C,), a factor for each class; the mean is then the weighted one.
        ignore: targets equal to it do not count.
        smoothing: the part of each target that is spread over all classes (Szegedy and others, 2015).
        reduction: "mean", "sum", or "none": one number for each target.

    Raises:
        ArgumentError: shapes that do not fit, or a class out of range.

    >>> import numpy as np
    >>> from funcgrad import nn
    >>> nn.cross_entropy(np.zeros((2, 4)), [0, 3], reduction="none")
    array([1.38629436, 1.38629436])
    """
    who = "funcgrad.nn.cross_entropy"
    x, weights, target = _classes(who, logits, target, axis, weights)
    check_reduction(who, reduction)
    if target.dtype.kind == "f":
        return of_probabilities(
            x, np.moveaxis(target.astype(x.dtype), axis, -1), weights, reduction, smoothing
        )
    _check_classes(who, x, target, ignore)
    if smoothing:
        return smoothed(x, target, weights, reduction, ignore, smoothing)
    return at_classes(kernels.CROSS_ENTROPY, x, target, weights, reduction, ignore)


def nll(
    log_probs: Any,
    target: Any,
    *,
    axis: int = -1,
    weights: Any = None,
    ignore: int | None = None,
    reduction: str = "mean",
) -> Any:
    """-log_probs at the target: `cross_entropy` of what log_softmax gave. See there for the arguments.

    Raises ArgumentError for shapes that do not fit, or a class out of range.

    >>> import numpy as np
    >>> from funcgrad import nn
    >>> float(nn.nll(np.array([[-1.0, -2.0]]), [1]))
    2.0
    """
    who = "funcgrad.nn.nll"
    x, weights, target = _classes(who, log_probs, target, axis, weights)
    check_reduction(who, reduction)
    _check_classes(who, x, integers(who, "target", target), ignore)
    return at_classes(kernels.NLL, x, target, weights, reduction, ignore)


def _classes(who: str, x: Any, target: Any, axis: int, weights: Any) -> tuple[Any, Any, Any]:
    """The scores with the classes last, the weights, and the target; checked."""
    x, weights = floats(who, x, weights)
    target = array(target)
    if not -x.ndim <= axis < x.ndim:
        raise ArgumentError(f"{who}: axis={axis} of scores {x.shape}: give the axis of the classes")
    shape = tuple(n for k, n in enumerate(x.shape) if k != axis % x.ndim)
    wanted = x.shape if target.dtype.kind == "f" else shape
    if tuple(target.shape) != tuple(wanted):
        raise ArgumentError(
            f"{who}: target {target.shape} ({target.dtype}) for scores {x.shape} with classes along axis {axis}: "
            f"give integers {shape}, or probabilities {tuple(x.shape)}"
        )
    if weights is not None and tuple(weights.shape) != (x.shape[axis],):
        raise ArgumentError(
            f"{who}: weights {weights.shape} for {x.shape[axis]} classes: give one number for each"
        )
    return np.moveaxis(x, axis, -1), weights, target


def _check_classes(who: str, x: Any, target: Any, ignore: int | None) -> None:
    if not isinstance(target, Tracer):
        outside = np.asarray((target < 0) | (target >= x.shape[-1]))
        outside = outside if ignore is None else outside & (target != ignore)
        if np.any(outside):
            raise ArgumentError(
                f"{who}: target {target[outside].flat[0]} of {x.shape[-1]} classes: count them from 0"
            )


def _scaled_target(x: Any, target: Any, weights: Any, reduction: str, ignore: int | None) -> tuple[Any, Any]:
    """The classes (0 for ignored ones), and the factor of each one's loss (one number, or one each)."""
    if ignore is not None and not isinstance(target, Tracer) and not np.any(target == ignore):
        ignore = None
    if weights is None and ignore is None and target.size and not isinstance(target, Tracer):
        return target, x.dtype.type(1 / target.size if reduction == "mean" else 1)
    valid: Any = np.ones(target.shape, bool) if ignore is None else target != ignore
    target = np.where(valid, target, 0)
    scale = (
        valid.astype(x.dtype)
        if weights is None
        else np.where(valid, GETITEM(weights, target), 0).astype(x.dtype)
    )
    if reduction == "mean":
        total = np.sum(scale)
        scale = scale / np.where(total == 0, 1, total)
    return target, scale


def _or_nan(loss: Any, scale: Any, reduction: str) -> Any:
    """The loss; NaN as the mean of nothing, whose gradient is 0."""
    if reduction != "mean" or not np.ndim(scale):
        return loss
    empty = np.sum(scale) == 0
    return (
        loss
        if not isinstance(empty, Tracer) and not empty
        else loss + np.where(empty, np.nan, 0).astype(loss.dtype)
    )


def at_classes(kernel: Any, x: Any, target: Any, weights: Any, reduction: str, ignore: int | None) -> Any:
    """A kernel of scores x (..., C) at classes (...)."""
    target, scale = _scaled_target(x, target, weights, reduction, ignore)
    out = kernel(x, target, scale, 0 if reduction == "none" else target.ndim)
    return _or_nan(out[0] if isinstance(out, (tuple, list)) else out, scale, reduction)


def smoothed(x: Any, target: Any, weights: Any, reduction: str, ignore: int | None, smoothing: float) -> Any:
    """The part 1 - smoothing of each target at its class, the rest on all classes."""
    target, scale = _scaled_target(x, target, weights, reduction, ignore)
    scale = np.broadcast_to(scale, target.shape)
    valid = scale
    if weights is not None:
        valid = np.where(
            scale == 0, x.dtype.type(0), scale / np.where(scale == 0, 1, GETITEM(weights, target))
        )
    at_class = (np.arange(x.shape[-1]) == target[..., None]) * (scale * (1 - smoothing))[..., None]
    spread = (valid * (smoothing / x.shape[-1]))[..., None]
    q = at_class + (spread if weights is None else spread * weights)
    out = kernels.SOFT_CROSS_ENTROPY(x, q.astype(x.dtype), 0 if reduction == "none" else target.ndim)
    return _or_nan(out, scale, reduction)


def of_probabilities(x: Any, q: Any, weights: Any, reduction: str, smoothing: float) -> Any:
    """Scores x (..., C) and probabilities q (..., C)."""
    if smoothing:
        q = q * (1 - smoothing) + smoothing / x.shape[-1]
    if weights is not None:
        q = q * weights
    if reduction == "mean":
        q = q / int(np.prod(x.shape[:-1], dtype=int)) if x.size else q * np.nan
    return kernels.SOFT_CROSS_ENTROPY(x, q, 0 if reduction == "none" else x.ndim - 1)


# ---- of sequences ------------------------------------------------------------------------------------------
def ctc(
    log_probs: Any,
    labels: Any,
    input_lengths: Any,
    label_lengths: Any,
    *,
    blank: int = 0,
    reduction: str = "mean",
) -> Any:
    """-log of the probability of labels, with blanks and repetitions between them (Graves and others, 2006).

    Args:
        log_probs: (T, N, C), as log_softmax gives them.
        labels: integers (N, S).
        input_lengths, label_lengths: integers (N,): how much of each sequence counts.
        blank: the class that stands for no label.
        reduction: "mean" (of each loss divided by the length of its labels), "sum", or "none": (N,).

    Returns:
        The loss; inf for labels that do not fit into their sequence.

    Raises:
        ArgumentError: shapes that do not fit, or lengths that are out of range.

    >>> import numpy as np
    >>> from funcgrad import nn
    >>> float(nn.ctc(np.log(np.full((2, 1, 2), 0.5)), [[1]], [2], [1]))  # -log(3/4)
    0.2876820724517809
    """
    who = "funcgrad.nn.ctc"
    check_reduction(who, reduction)
    log_probs = floats(who, log_probs)[0]
    labels, inputs, lengths = (
        np.asarray(concrete(integers(who, name, x)), np.int64)
        for name, x in (
            ("labels", labels),
            ("input_lengths", input_lengths),
            ("label_lengths", label_lengths),
        )
    )
    if (
        log_probs.ndim != 3
        or labels.ndim != 2
        or not len(labels) == log_probs.shape[1] == inputs.size == lengths.size
    ):
        raise ArgumentError(
            f"{who}: log_probs {log_probs.shape}, labels {labels.shape} and lengths {inputs.shape} and "
            f"{lengths.shape}: give (T, N, C), (N, S), (N,) and (N,)"
        )
    if inputs.max(initial=0) > log_probs.shape[0] or lengths.max(initial=0) > labels.shape[1]:
        raise ArgumentError(
            f"{who}: a length is larger than {log_probs.shape[0]} inputs or {labels.shape[1]} labels"
        )
    loss = ctc_kernel(log_probs, labels, inputs, lengths, blank)
    return reduced(
        who, loss / np.maximum(lengths, 1).astype(loss.dtype) if reduction == "mean" else loss, reduction
    )
