"""Normalization, declared to the engine: one node from the input to the scaled and shifted output.

Mean and variance are outputs of the node too: they are there for its pull, which can itself be
differentiated, and for running statistics. Axes count from the last, so that a batch axis in front changes
nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.core.engine.batch import align
from funcgrad.core.engine.declare import custom
from funcgrad.core.engine.primitive import Primitive
from funcgrad.core.engine.trace import bind


def normalize(
    x: Any, weight: Any = None, bias: Any = None, *, eps: float, axes: tuple[int, ...], centered: bool
) -> Any:
    """(x - mean) / sqrt(var + eps) * weight + bias, mean and variance; centered=False: mean 0."""
    if centered and axes == (-1,) and type(x) is np.ndarray and x.size > _LARGE and x.flags.c_contiguous:
        return _normalize_rows(x, weight, bias, eps)
    if centered:
        mean = _mean(x, axes)
        gap = out = x - mean
    else:
        gap = x
    var = _mean_square(gap, axes)
    rstd = 1 / np.sqrt(var + x.dtype.type(eps))
    if centered:
        out *= rstd
    else:
        mean, out = np.zeros_like(var), x * rstd
    if weight is not None:
        out *= weight
    if bias is not None:
        out += bias
    return out, mean, var


_LARGE = 1 << 16  # elements, whose intermediate results do not stay in the cache


def _normalize_rows(x: np.ndarray, weight: Any, bias: Any, eps: float) -> tuple[Any, Any, Any]:
    """The same along the last axis, for some rows after the other."""
    rows, out = x.reshape(-1, x.shape[-1]), np.empty(x.shape, x.dtype)
    n, step, to = x.dtype.type(x.shape[-1]), max(_LARGE // x.shape[-1], 1), out.reshape(-1, x.shape[-1])
    mean, var = (np.empty((len(rows), 1), x.dtype) for _ in range(2))
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        gap, m, v = to[part], mean[part], var[part]
        np.add.reduce(rows[part], axis=-1, keepdims=True, out=m)
        m /= n
        np.subtract(rows[part], m, gap)
        np.einsum("...i,...i->...", gap, gap, out=v[:, 0])
        v /= n
        gap *= 1 / np.sqrt(v + x.dtype.type(eps))
        if weight is not None:
            gap *= weight
        if bias is not None:
            gap += bias
    shape = (*x.shape[:-1], 1)
    return out, mean.reshape(shape), var.reshape(shape)


def _mean(x: Any, axes: tuple[int, ...]) -> Any:
    return np.add.reduce(x, axis=axes, keepdims=True) / x.dtype.type(math.prod(x.shape[i] for i in axes))


def _mean_square(x: Any, axes: tuple[int, ...]) -> Any:
    if axes != (-1,):
        return _mean(np.square(x), axes)
    return np.einsum("...i,...i->...", x, x)[..., None] / x.dtype.type(
        x.shape[-1]
    )  # no array for the squares


def _summed_like(x: Any, like: Any) -> Any:
    """The sum of x over the axes along which `like` was broadcast."""
    gap = x.ndim - like.ndim
    axes = tuple(i for i in range(x.ndim) if i < gap or like.shape[i - gap] == 1 != x.shape[i])
    return np.reshape(np.sum(x, axis=axes), like.shape) if axes else x


def _into(function: Any, x: Any, y: Any) -> Any:
    """function(x, y): between arrays in the memory of x, which is ours (fresh memory costs page faults)."""
    return function(x, y, out=x) if type(x) is np.ndarray and type(y) is np.ndarray else function(x, y)


def _weighted_mean(x: Any, weight: Any, axes: tuple[int, ...]) -> Any:
    """The mean of x * weight over the axes."""
    if weight is None:
        return np.mean(x, axis=axes, keepdims=True)
    if axes == (-1,) and weight.ndim == 1:
        return np.matmul(x, weight)[..., None] / x.shape[-1]
    if all(-i > weight.ndim or weight.shape[i] == 1 for i in axes):  # one weight for all that the mean is of
        return np.mean(x, axis=axes, keepdims=True) * weight
    return np.mean(x * weight, axis=axes, keepdims=True)


def _are_rows(ct: Any, x: Any, mean: Any, var: Any, weight: Any, bias: Any) -> bool:
    """Are these arrays of many rows, with a weight and a bias, if any, for a row?"""
    affine = [a for a in (weight, bias) if a is not None]
    return (
        all(type(a) is np.ndarray and a.dtype == x.dtype for a in (ct, x, mean, var, *affine))
        and x.size > _LARGE
        and ct.shape == x.shape
        and all(a.shape == x.shape[-1:] for a in affine)
    )


def _pulls_of_rows(
    ct: Any, x: Any, mean: Any, var: Any, eps: float, weight: Any, bias: Any
) -> tuple[Any, Any, Any]:
    """`_pulls` along the last axis, for some rows after the other and without fresh memory for each step."""
    ct, rows, mean, var = (a.reshape(-1, a.shape[-1]) for a in (ct, x, mean, var))
    of_x, step = np.empty(rows.shape, x.dtype), max(_LARGE // x.shape[-1], 1)
    of_weight, of_bias = (None if a is None else np.zeros_like(a) for a in (weight, bias))
    buffer = np.empty_like(of_x[:step])
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        c, to, scaled = ct[part], of_x[part], buffer[: len(ct[part])]
        rstd = 1 / np.sqrt(var[part] + x.dtype.type(eps))
        np.subtract(rows[part], mean[part], scaled)
        scaled *= rstd
        product = np.multiply(c, scaled, to)
        if of_weight is not None:
            of_weight += np.add.reduce(product, axis=0)
        if of_bias is not None:
            of_bias += np.add.reduce(c, axis=0)
        scaled *= _weighted_mean(product, weight, (-1,))
        np.subtract(c if weight is None else np.multiply(c, weight, to), scaled, to)
        to -= _weighted_mean(c, weight, (-1,))
        to *= rstd
    return of_x.reshape(x.shape), of_weight, of_bias


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
    plain = "x" in wanted and centered and axes == (-1,) and ct_mean is ct_var is None
    if plain and _are_rows(ct, x, mean, var, weight, bias):
        cotangents = _pulls_of_rows(ct, x, mean, var, eps, weight, bias)
        return tuple(
            part if name in wanted else None
            for name, part in zip(("x", "weight", "bias"), cotangents, strict=True)
        )
    gap = x - mean if centered else x
    of_x = of_weight = of_bias = None
    if ct is not None:
        rstd = 1 / np.sqrt(var + eps)
        scaled = gap * rstd
        product = ct * scaled
        of_weight = _summed_like(product, weight) if "weight" in wanted else None
        of_bias = _summed_like(ct, bias) if "bias" in wanted else None
        if "x" in wanted:
            scaled = _into(np.multiply, scaled, _weighted_mean(product, weight, axes))
            of_x = ct - scaled if weight is None else _into(np.subtract, ct * weight, scaled)
            if centered:
                of_x = _into(np.subtract, of_x, _weighted_mean(ct, weight, axes))
            of_x = _into(np.multiply, of_x, rstd)
    size = math.prod(x.shape[i] for i in axes)
    if "x" in wanted and ct_var is not None:
        part = gap * (ct_var * (2 / size))
        of_x = part if of_x is None else of_x + part
    if "x" in wanted and ct_mean is not None and centered:
        part = np.broadcast_to(ct_mean / size, x.shape)
        of_x = part if of_x is None else of_x + part
    return of_x, of_weight, of_bias


def _batched(primitive: Primitive, call: Any, batched: Sequence[bool], size: int) -> Any:
    """vmap: x gets the batch axis also where only the weights have it, so that mean and variance have it too."""
    operands = align(call.operands, batched)
    if not batched[0]:
        operands[0] = np.broadcast_to(operands[0], (size, *call.operands[0].shape))
    return bind(primitive, call.with_operands(operands))


NORMALIZE = custom(normalize, joint=_pulls, operands="x weight bias", batch=_batched, name="normalize")
