"""Functions that NumPy lacks, declared to the engine like NumPy's own: one node, a derivative of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core.engine.declare import custom, elementwise, selection


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)), without overflow."""
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))


def relu(x: Any) -> Any:
    """max(x, 0), with the slope 0 at 0."""
    return np.maximum(x, 0)


SIGMOID = elementwise(sigmoid, lambda out: out * (1 - out), name="sigmoid")
RELU = selection(relu, lambda out: out > 0, operands="x", name="relu")  # what is not let through contributes nothing


def softmax(x: Any, axis: int) -> Any:
    """exp(x) / sum of exp(x) along an axis."""
    shifted = np.exp(x - np.max(x, axis, keepdims=True))
    return shifted / np.sum(shifted, axis, keepdims=True)


def _softmax_pull(ct: Any, out: Any, axis: int) -> Any:
    weighted = ct * out
    return weighted - out * weighted.sum(axis=axis, keepdims=True)


def log_softmax(x: Any, axis: int) -> Any:
    """log(softmax(x)), without underflow."""
    shifted = x - np.max(x, axis, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis, keepdims=True))


def _log_softmax_pull(ct: Any, out: Any, axis: int) -> Any:
    return ct - np.exp(out) * ct.sum(axis=axis, keepdims=True)


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
