"""Normalization, declared to the engine: one node from the input to the scaled and shifted output.

Mean and variance are outputs of the node too: they are there for its pull, which can itself be differentiated, and for running
statistics. Axes count from the last, so that a batch axis in front changes nothing.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from funcgrad.core.declare import custom


def normalize(x: Any, weight: Any = None, bias: Any = None, *, eps: float, axes: tuple[int, ...], centered: bool) -> Any:
    """(x - mean) / sqrt(var + eps) * weight + bias, the mean and the variance; centered=False takes 0 for the mean."""
    if centered:
        mean = np.mean(x, axis=axes, keepdims=True)
        gap = out = x - mean
        var = np.mean(np.square(gap), axis=axes, keepdims=True)
        out *= 1 / np.sqrt(var + x.dtype.type(eps))
    else:
        var = np.mean(np.square(x), axis=axes, keepdims=True)
        mean = np.zeros_like(var)
        out = x * (1 / np.sqrt(var + x.dtype.type(eps)))
    if weight is not None:
        out *= weight
    if bias is not None:
        out += bias
    return out, mean, var


def _summed_like(x: Any, like: Any) -> Any:
    """The sum of x over the axes along which `like` was broadcast."""
    gap = x.ndim - like.ndim
    axes = tuple(i for i in range(x.ndim) if i < gap or like.shape[i - gap] == 1 != x.shape[i])
    return np.reshape(np.sum(x, axis=axes), like.shape) if axes else x


def _pulls(
    ct: Any,
    x: Any,
    out: Any,
    eps: float,
    axes: tuple[int, ...],
    centered: bool,
    wanted: tuple[str, ...],
    weight: Any = None,
    bias: Any = None,
) -> tuple[Any, ...]:
    (ct, ct_mean, ct_var), (_, mean, var) = ct, out
    gap = x - mean if centered else x
    size = math.prod(x.shape[i] for i in axes)
    of_x = of_weight = of_bias = None
    if ct is not None:
        rstd = 1 / np.sqrt(var + eps)
        scaled = gap * rstd
        of_weight = _summed_like(ct * scaled, weight) if "weight" in wanted else None
        of_bias = _summed_like(ct, bias) if "bias" in wanted else None
        if "x" in wanted:
            along = ct if weight is None else ct * weight
            rest = scaled * np.mean(along * scaled, axis=axes, keepdims=True)
            of_x = (along - (rest + np.mean(along, axis=axes, keepdims=True) if centered else rest)) * rstd
    if "x" in wanted and ct_var is not None:
        part = gap * (ct_var * (2 / size))
        of_x = part if of_x is None else of_x + part
    if "x" in wanted and ct_mean is not None and centered:
        part = np.broadcast_to(ct_mean / size, x.shape)
        of_x = part if of_x is None else of_x + part
    return of_x, of_weight, of_bias


NORMALIZE = custom(normalize, joint=_pulls, operands="x weight bias", batch="leading", name="normalize")
