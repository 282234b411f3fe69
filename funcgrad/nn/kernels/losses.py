"""Losses, declared to the engine: one node from prediction to reduced loss, with its own pull.

A kernel adds up over the last `rank` axes (0: nothing is added up) and divides by `count`; further axes in
front are batches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad.core.engine.declare import custom
from funcgrad.core.engine.primitive import Primitive
from funcgrad.core.engine.trace import bind
from funcgrad.nn.kernels.basic import LOG_SOFTMAX, SIGMOID, SOFTMAX
from funcgrad.nn.kernels.blocks import BLOCK


def _summed(loss: Any, rank: int) -> Any:
    return np.sum(loss, axis=tuple(range(-rank, 0))) if rank else loss


def _spread(ct: Any, rank: int) -> Any:
    """A cotangent of the sum, for what was summed."""
    return np.reshape(ct, (*ct.shape, *(1,) * rank)) if rank else ct


def batch_in_front(primitive: Primitive, call: Any, batched: Sequence[bool], size: int) -> Any:
    """vmap of a kernel on its last axes: operands shared by all examples get a batch axis of length 1."""
    shown = [
        x if own else np.broadcast_to(x, (size, *np.shape(x)))
        for x, own in zip(call.operands, batched, strict=True)
    ]
    return bind(primitive, call.with_operands(shown))


def classes_in_front(primitive: Primitive, call: Any, batched: Sequence[bool], size: int) -> Any:
    """The same for a loss of classes: one scale for all of an example is shown beside its targets."""
    x, target, scale = call.operands
    rank = np.ndim(target) - batched[1]
    if np.ndim(scale) - batched[2] == 0:
        scale = np.reshape(scale, (size, *(1,) * rank)) if batched[2] else scale
    elif not batched[2]:
        scale = np.broadcast_to(scale, (size, *scale.shape))
    shown = [
        v if own else np.broadcast_to(v, (size, *v.shape))
        for v, own in ((x, batched[0]), (target, batched[1]))
    ]
    return bind(primitive, call.with_operands([*shown, scale]))


# ---- of classes ------------------------------------------------------------------------------------------------------
def _picked(x: Any, target: Any) -> Any:
    """x[..., target]: the element of each row that the target names."""
    if target.shape != x.shape[:-1]:
        target = np.broadcast_to(target, x.shape[:-1])
    rows = x.reshape(-1, x.shape[-1])
    return rows[np.arange(len(rows)), target.reshape(-1)].reshape(target.shape)


def _is_target(x: Any, target: Any) -> Any:
    """True at the element of each row that the target names."""
    return np.arange(x.shape[-1]) == target[..., None]


def _scaled(loss: Any, scale: Any) -> Any:
    """loss * scale; a scale of 0 takes infinite losses out."""
    return np.where(scale == 0, loss.dtype.type(0), loss * scale) if scale.ndim else loss * scale


def cross_entropy(x: Any, target: Any, scale: Any, rank: int) -> tuple[Any, Any]:
    """-scale * log_softmax(x)[target], and log(sum(exp(x))): x (..., C), target (...), scale (...) or ()."""
    top = np.max(x, axis=-1, keepdims=True)
    shifted = x - top
    picked = _picked(shifted, target)
    logs = np.log(np.sum(np.exp(shifted, out=shifted), axis=-1))
    return _summed(_scaled(logs - picked, scale), rank), logs + top[..., 0]


def _cross_entropy_pull(ct: Any, x: Any, target: Any, scale: Any, rank: int, out: Any) -> Any:
    (ct_loss, ct_logs), (_, logs) = ct, out
    probabilities = np.exp(x - logs[..., None])
    if ct_loss is None:
        return probabilities * ct_logs[..., None]
    factor = scale * _spread(ct_loss, rank)
    part = probabilities * (factor if ct_logs is None else factor + ct_logs)[..., None]
    if type(part) is not np.ndarray or type(target) is not np.ndarray:
        return part - _is_target(x, target) * factor[..., None]
    rows = part.reshape(-1, part.shape[-1])  # for arrays, without an array of zeros and ones
    at, factor = (np.broadcast_to(a, part.shape[:-1]).reshape(-1) for a in (target, factor))
    rows[np.arange(len(rows)), at] -= factor
    return rows.reshape(part.shape)


CROSS_ENTROPY = custom(
    cross_entropy,
    {"x": _cross_entropy_pull, "target": None, "scale": None},
    operands="x target scale",
    batch=classes_in_front,
    name="cross_entropy",
)


def soft_cross_entropy(x: Any, q: Any, rank: int) -> Any:
    """-sum of q * log_softmax(x) over the last axis: logits x and weights q, both (..., C)."""
    return _summed(-np.sum(LOG_SOFTMAX.function(x, -1) * q, axis=-1), rank)


def _soft_cross_entropy_pulls(ct: Any, x: Any, q: Any, rank: int, wanted: tuple[str, ...]) -> tuple[Any, ...]:
    ct = _spread(ct, rank)[..., None]
    return (
        (SOFTMAX(x, axis=-1) * np.sum(q, axis=-1, keepdims=True) - q) * ct if "x" in wanted else None,
        -LOG_SOFTMAX(x, axis=-1) * ct if "q" in wanted else None,
    )


SOFT_CROSS_ENTROPY = custom(
    soft_cross_entropy,
    joint=_soft_cross_entropy_pulls,
    operands="x q",
    batch=batch_in_front,
    name="cross_entropy",
)


def nll(x: Any, target: Any, scale: Any, rank: int) -> Any:
    """-scale * x[target]: log-probabilities x (..., C), classes target (...), scale (...) or ()."""
    return _summed(_scaled(-_picked(x, target), scale), rank)


def _nll_pull(ct: Any, x: Any, target: Any, scale: Any, rank: int) -> Any:
    return np.where(_is_target(x, target), (-scale * _spread(ct, rank))[..., None], x.dtype.type(0))


NLL = custom(
    nll,
    {"x": _nll_pull, "target": None, "scale": None},
    operands="x target scale",
    batch=classes_in_front,
    name="nll_loss",
)


# ---- elementwise -----------------------------------------------------------------------------------------------------
def _are_large(x: Any, y: Any) -> bool:
    return (
        type(x) is type(y) is np.ndarray
        and (x.shape, x.dtype) == (y.shape, y.dtype)
        and x.size >= 2 * BLOCK
        and x.flags.c_contiguous
        and y.flags.c_contiguous
    )


def _summed_by_blocks(value: Callable[..., Any], x: np.ndarray, y: np.ndarray, setting: Any) -> Any:
    """The sum of value(x, y, setting), for a block of x and y after the other."""
    x, y, whole = x.reshape(-1), y.reshape(-1), x.size // BLOCK * BLOCK
    parts = [slice(start, start + BLOCK) for start in range(0, whole, BLOCK)]
    # NumPy's minimum takes a third of the time between arrays.
    shown = np.full(BLOCK, setting, x.dtype) if type(setting) is float and x.dtype.kind == "f" else setting
    sums = [np.add.reduce(value(x[part], y[part], shown)) for part in parts]
    if whole < x.size:
        sums.append(np.add.reduce(value(x[whole:], y[whole:], setting)))
    return np.sum(np.array(sums))


def _elementwise(
    name: str, value: Callable[..., Any], slope: Callable[..., Any], slope_y: Callable[..., Any] | None = None
) -> Primitive:
    """A loss of x, y and a setting, elementwise and then added up; without `slope_y` one of x - y."""
    opposite = slope_y or (lambda x, y, setting: -slope(x, y, setting))

    def function(x: Any, y: Any, rank: int, count: float, setting: Any) -> Any:
        by_blocks = rank and rank == x.ndim and _are_large(x, y)
        total = _summed_by_blocks(value, x, y, setting) if by_blocks else _summed(value(x, y, setting), rank)
        return total if count == 1 else total / count

    def pulls(
        ct: Any, x: Any, y: Any, rank: int, count: float, setting: Any, wanted: tuple[str, ...]
    ) -> tuple[Any, ...]:
        ct = _spread(ct if count == 1 else ct / count, rank)
        return (
            slope(x, y, setting) * ct if "x" in wanted else None,
            opposite(x, y, setting) * ct if "y" in wanted else None,
        )

    def push(t: Any, x: Any, y: Any, rank: int, count: float, setting: Any) -> Any:
        terms = [f(x, y, setting) * t[n] for n, f in (("x", slope), ("y", opposite)) if t[n] is not None]
        return _summed(terms[0] if len(terms) == 1 else terms[0] + terms[1], rank) / count

    return custom(function, joint=pulls, push=push, operands="x y", batch=batch_in_front, name=name)


def _weighted(loss: Any, weight: Any) -> Any:
    """loss * weight; a weight of 0 takes infinite losses out."""
    return np.where(weight == 0, weight.dtype.type(0), loss * weight)


def _log_or_minus_100(x: Any) -> Any:
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(x), -100)


def _huber(x: Any, y: Any, delta: float) -> Any:
    gap = x - y
    ours = type(gap) is np.ndarray and gap.dtype.kind == "f"  # memory that no one else sees
    gap = np.abs(gap, gap) if ours else np.abs(gap)
    least = np.minimum(gap, delta)
    if ours and type(least) is np.ndarray:
        gap -= 0.5 * least
        return np.multiply(least, gap, least)
    return least * (gap - 0.5 * least)  # one formula for both pieces


def _smooth_l1(x: Any, y: Any, beta: float) -> Any:
    return _huber(x, y, beta) / beta


MSE = _elementwise("mse_loss", lambda x, y, _: np.square(x - y), lambda x, y, _: 2 * (x - y))
L1 = _elementwise("l1_loss", lambda x, y, _: np.abs(x - y), lambda x, y, _: np.sign(x - y))
HUBER = _elementwise("huber_loss", _huber, lambda x, y, delta: np.clip(x - y, -delta, delta))
SMOOTH_L1 = _elementwise("smooth_l1_loss", _smooth_l1, lambda x, y, beta: np.clip((x - y) / beta, -1, 1))
BCE = _elementwise(
    "binary_cross_entropy",
    lambda x, y, _: -(y * _log_or_minus_100(x) + (1 - y) * _log_or_minus_100(1 - x)),
    lambda x, y, _: (x - y) / np.maximum(x * (1 - x), 1e-12),
    lambda x, y, _: np.log(1 - x) - np.log(x),
)
BCE_WITH_LOGITS = _elementwise(
    "binary_cross_entropy_with_logits",
    lambda x, y, _: _weighted(np.abs(x), np.where(x > 0, 1 - y, y)) + np.log1p(np.exp(-np.abs(x))),
    lambda x, y, _: SIGMOID(x) - y,
    lambda x, y, _: -x,
)
SOFT_MARGIN = _elementwise(
    "soft_margin_loss",
    lambda x, y, _: np.maximum(-x * y, 0) + np.log1p(np.exp(-np.abs(x * y))),
    lambda x, y, _: -y * SIGMOID(-x * y),
    lambda x, y, _: -x * SIGMOID(-x * y),
)


def _y_log_y(y: Any) -> Any:
    return y * np.log(np.where(y == 0, y.dtype.type(1), y))


KL = _elementwise(
    "kl_div", lambda x, y, _: _y_log_y(y) - y * x, lambda x, y, _: -y, lambda x, y, _: np.log(y) + 1 - x
)
KL_OF_LOGS = _elementwise(
    "kl_div",
    lambda x, y, _: np.exp(y) * (y - x),
    lambda x, y, _: -np.exp(y),
    lambda x, y, _: np.exp(y) * (y - x + 1),
)
POISSON = _elementwise(
    "poisson_nll_loss",
    lambda x, y, eps: x - y * np.log(x + eps),
    lambda x, y, eps: 1 - y / (x + eps),
    lambda x, y, eps: -np.log(x + eps),
)
POISSON_OF_LOGS = _elementwise(
    "poisson_nll_loss", lambda x, y, _: np.exp(x) - y * x, lambda x, y, _: np.exp(x) - y, lambda x, y, _: -x
)
