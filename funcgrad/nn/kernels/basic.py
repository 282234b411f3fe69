"""Functions that NumPy lacks, declared to the engine like NumPy's own: one node, a derivative of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core.engine.declare import custom, elementwise, selection
from funcgrad.rules.slopes import logistic_slope


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)), without overflow."""
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))


def relu(x: Any) -> Any:
    """max(x, 0), with the slope 0 at 0."""
    return np.maximum(x, 0)


# Where 1 - sigmoid(x) is smaller, too few of its digits are left.
_NEAR_ONE = {np.dtype(np.float32): 1e-3, np.dtype(np.float64): 1e-6}


def sigmoid_slope(x: Any, out: Any) -> Any:
    """out * (1 - out); far right, where digits cancel, from x."""
    near = _NEAR_ONE.get(out.dtype) if type(out) is np.ndarray and type(x) is np.ndarray else None
    if near is None:
        return logistic_slope(x)
    slope = 1 - out
    (places,) = (slope < near).ravel().nonzero()
    slope *= out
    if len(places):
        slope.put(places, logistic_slope(x.take(places)))
    return slope


SIGMOID = elementwise(sigmoid, sigmoid_slope, name="sigmoid")
# what is not let through contributes nothing
RELU = selection(relu, lambda out: out != 0, operands="x", name="relu")


def softmax(x: Any, axis: int) -> Any:
    """exp(x) / sum of exp(x) along an axis."""
    shifted = x - np.max(x, axis, keepdims=True)
    if type(shifted) is not np.ndarray:
        shifted = np.exp(shifted)
        return shifted / np.sum(shifted, axis, keepdims=True)
    np.exp(shifted, shifted)
    shifted /= np.sum(shifted, axis, keepdims=True)
    return shifted


def _softmax_pull(ct: Any, out: Any, axis: int) -> Any:
    weighted = ct * out
    if type(weighted) is not np.ndarray:
        return weighted - out * weighted.sum(axis=axis, keepdims=True)
    weighted -= out * weighted.sum(axis=axis, keepdims=True)
    return weighted


def log_softmax(x: Any, axis: int) -> Any:
    """log(softmax(x)), without underflow."""
    shifted = x - np.max(x, axis, keepdims=True)
    logs = np.log(np.sum(np.exp(shifted), axis, keepdims=True))
    if type(shifted) is not np.ndarray:
        return shifted - logs
    shifted -= logs
    return shifted


def _log_softmax_pull(ct: Any, out: Any, axis: int) -> Any:
    return ct - np.exp(out) * ct.sum(axis=axis, keepdims=True)


def logsumexp(x: Any, axis: Any, keepdims: bool = False) -> Any:
    """log of the sum of exp along an axis (or axes, or all), without overflow."""
    top = np.max(x, axis, keepdims=True)
    safe = np.where(np.isfinite(top), top, 0)
    with np.errstate(divide="ignore", over="ignore"):
        out = np.log(np.sum(np.exp(x - safe), axis, keepdims=True)) + safe
    return out if keepdims else np.squeeze(out, axis if axis is not None else tuple(range(x.ndim)))


def _logsumexp_pull(ct: Any, x: Any, out: Any, axis: Any, keepdims: bool = False) -> Any:
    """ct times the weight of each element."""
    ct, out = (_beside(x, y, axis, keepdims) for y in (ct, out))
    return ct * _weights(x, out, axis)


def _logsumexp_push(t: Any, x: Any, out: Any, axis: Any, keepdims: bool = False) -> Any:
    return np.sum(_weights(x, _beside(x, out, axis, keepdims), axis) * t, axis, keepdims=keepdims)


def _beside(x: Any, out: Any, axis: Any, keepdims: bool) -> Any:
    """A result of a reduction, or its cotangent, with the axes of x."""
    return out if keepdims else np.expand_dims(out, axis if axis is not None else tuple(range(x.ndim)))


def _weights(x: Any, out: Any, axis: Any) -> Any:
    """What each element adds to the sum of exp; infinite ones share it, and of nothing (-inf) none has any."""
    with np.errstate(invalid="ignore"):
        if type(out) is np.ndarray and not np.isinf(out).any():
            return np.exp(x - out)
        full = x == np.inf
        share = full / np.maximum(np.sum(full, axis, keepdims=True), 1)
        return np.where(np.isinf(out), share.astype(x.dtype), np.exp(x - np.where(np.isinf(out), 0, out)))


LOGSUMEXP = custom(
    logsumexp,
    _logsumexp_pull,
    push=_logsumexp_push,
    reach=lambda ct, x, axis, keepdims=False: _beside(x, ct, axis, keepdims),
    batch="axis",
    name="logsumexp",
)
SOFTMAX = custom(softmax, _softmax_pull, batch="axis", name="softmax")
LOG_SOFTMAX = custom(log_softmax, _log_softmax_pull, batch="axis", name="log_softmax")


def affine(bias: Any, x: Any, weight: Any) -> Any:
    """x @ weight.T + bias: a layer."""
    return x @ weight.T + bias


def _affine_pulls(ct: Any, x: Any, weight: Any, wanted: tuple[str, ...]) -> tuple[Any, ...]:
    rows = ct.reshape(-1, ct.shape[-1]) if ct.ndim != 2 else ct
    inputs = x.reshape(-1, x.shape[-1]) if x.ndim != 2 else x
    return (
        rows.sum(axis=0) if "bias" in wanted else None,
        ct @ weight if "x" in wanted else None,
        rows.T @ inputs if "weight" in wanted else None,
    )


AFFINE = custom(affine, joint=_affine_pulls, operands="bias x weight", name="affine")
