"""Attention: means of values, weighted by how well their keys meet the queries."""

from __future__ import annotations

import math
from typing import Any, Literal, overload

import numpy as np

from funcgrad.errors import ArgumentError
from funcgrad.nn.kernels.attention import ATTEND
from funcgrad.nn.operands import array, floats


@overload
def attention(
    q: Any,
    k: Any,
    v: Any,
    mask: Any = ...,
    *,
    causal: bool = ...,
    scale: float | None = ...,
    weights: Literal[False] = ...,
) -> Any: ...
@overload
def attention(
    q: Any,
    k: Any,
    v: Any,
    mask: Any = ...,
    *,
    causal: bool = ...,
    scale: float | None = ...,
    weights: Literal[True],
) -> tuple[Any, Any]: ...
def attention(
    q: Any,
    k: Any,
    v: Any,
    mask: Any = None,
    *,
    causal: bool = False,
    scale: float | None = None,
    weights: bool = False,
) -> Any:
    """softmax(scale * q k^T + mask) v (Vaswani and others, 2017).

    Args:
        q: queries (..., L, E).
        k: keys (..., S, E). v: values (..., S, D). Axes in front broadcast: heads and batches stand there.
        mask: what broadcasts to (..., L, S): booleans say what takes part, numbers are added.
        causal: each query sees the keys up to its own place only.
        scale: 1/sqrt(E) by default.
        weights: return the weights (..., L, S) too.

    Returns:
        (..., L, D); with `weights` a tuple. A query that sees no key gets zeros.

    Raises:
        ArgumentError: shapes that do not fit, or a mask that is also to be causal.

    >>> import numpy as np
    >>> from funcgrad import nn
    >>> nn.attention(np.ones((2, 3)), np.ones((2, 3)), np.array([[1.0], [3.0]]), causal=True)
    array([[1.],
           [2.]])
    """
    who = "funcgrad.nn.attention"
    q, k, v = floats(who, q, k, v)
    if min(q.ndim, k.ndim, v.ndim) < 2 or q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ArgumentError(
            f"{who}: q {q.shape}, k {k.shape} and v {v.shape}: give (..., L, E), (..., S, E) and (..., S, D)"
        )
    if causal and mask is not None:
        raise ArgumentError(
            f"{who}: a mask and causal=True: put np.tri(L, S, dtype=bool) into the mask yourself"
        )
    allowed = (
        causal_mask(q.shape[-2], k.shape[-2], q.dtype)
        if causal
        else None
        if mask is None
        else added_mask(mask, q.dtype)
    )
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    out = ATTEND(q, k, v, allowed, None, scale=scale, safe=True)
    return tuple(out) if weights else out[0]


def added_mask(mask: Any, dtype: Any) -> Any:
    """A mask as numbers to be added: 0 where something takes part, -inf elsewhere."""
    mask = array(mask)
    return (
        np.where(mask, np.zeros((), dtype), -np.inf).astype(dtype)
        if mask.dtype == bool
        else mask.astype(dtype)
    )


def causal_mask(rows: int, columns: int, dtype: Any) -> np.ndarray:
    """0 where an element may look (at itself and before), -inf behind."""
    return np.triu(np.full((rows, columns), -np.inf, dtype), 1)
