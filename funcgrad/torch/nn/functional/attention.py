"""Attention as functions."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from funcgrad.nn.attention import added_mask, causal_mask
from funcgrad.nn.kernels.attention import ATTEND, ATTEND_PACKED, heads_of, merged
from funcgrad.nn.kernels.basic import AFFINE
from funcgrad.nn.kernels.recurrent import is_nested
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.nn.functional.dropout import dropout
from funcgrad.torch.tensors.tensor import Tensor, make_tensor


def kept(shape: tuple[int, ...], p: float, dtype: Any) -> Tensor | None:
    """What dropout multiplies by: 1/(1-p), and 0 with probability p. None, if p is 0."""
    return None if p == 0 else dropout(make_tensor(np.ones(shape, dtype)), p, True)


# ---- one head at a time, or many as leading axes ---------------------------------------------------------------------


def _attention(
    query: Any, key: Any, value: Any, mask: Any, keep: Any, is_causal: bool, scale: float, groups: int
) -> Any:
    if groups != 1:
        key, value = np.repeat(key, groups, axis=-3), np.repeat(value, groups, axis=-3)
    if is_causal:
        mask = causal_mask(query.shape[-2], key.shape[-2], query.dtype)
    elif mask is not None and mask.dtype == bool:
        mask = added_mask(mask, query.dtype)
    return ATTEND(query, key, value, mask, keep, scale=scale, safe=True)[0]


_ATTENTION = Op("scaled_dot_product_attention", _attention, "ScaledDotProductFlashAttentionForCpuBackward0")


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """softmax(scale * query key^T + mask) value, for query (..., L, E), key (..., S, E), value (..., S, D):
    (..., L, D).

    `attn_mask` is added (numbers), or says what takes part (booleans); `scale` is 1/sqrt(E) by default. With
    `enable_gqa` several heads of the query share one of key and value. A row that may look at nothing gives
    zeros. Raises RuntimeError for shapes and dtypes that do not fit.
    """
    dtypes = {t.dtype for t in (query, key, value)}
    if len(dtypes) > 1:
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{query.dtype} key.dtype: {key.dtype} and value.dtype: {value.dtype} instead."
        )
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be at least 2 dimensional, but got query.dim: "
            f"{query.ndim}, key.dim: {key.ndim} and value.dim: {value.ndim} instead."
        )
    if attn_mask is not None and is_causal:
        raise RuntimeError(
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
        )
    if attn_mask is not None and attn_mask.value.dtype not in (bool, query.value.dtype):
        raise RuntimeError(
            f"Expected attn_mask dtype to be bool or to match query dtype, but got attn_mask.dtype: {attn_mask.dtype} and "
            f"query.dtype: {query.dtype} instead."
        )
    groups = _groups(query, key, value) if enable_gqa else 1
    lead = np.broadcast_shapes(
        query.shape[:-2], (*key.shape[:-3], key.shape[-3] * groups) if groups > 1 else key.shape[:-2]
    )
    keep = kept((*lead, query.shape[-2], key.shape[-2]), dropout_p, query.value.dtype)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    return _ATTENTION(query, key, value, attn_mask, keep, is_causal, scale, groups)


def _groups(query: Tensor, key: Tensor, value: Tensor) -> int:
    """How many heads of the query share one of key and value."""
    many, few = query.shape[-3], key.shape[-3]
    if few == 0 or many % few or value.shape[-3] != few:
        raise RuntimeError(
            "Expected the number of heads in key and value to divide the number of heads in query, but got "
            f"{few} and {value.shape[-3]} for {many}"
        )
    return many // few


# ---- with the projections of a module --------------------------------------------------------------------------------


class Heads(NamedTuple):
    """The settings of multi-head attention: the batch's axis, the number of heads, and the rest."""

    count: int
    batch_axis: int
    add_zero: bool
    need_weights: bool


def _projected(x: Any, weight: Any, bias: Any) -> Any:
    return x @ weight.T if bias is None else AFFINE(bias, x, weight)


def _multi_head(
    query: Any,
    key: Any,
    value: Any,
    weights: Any,
    bias: Any,
    more: Any,
    end: Any,
    mask: Any,
    keep: Any,
    heads: Heads,
) -> Any:
    """The projections, attention, and the projection of the result.

    `weights` is one matrix (3E, E) or three, `bias` (3E) or None, `more` what is put behind keys and values
    (or None twice), `end` the last projection. `key` and `value` are None where all three are the same.
    """
    width = end[0].shape[0]
    scale = 1 / math.sqrt(width // heads.count)
    safe = not heads.need_weights
    whole = len(weights) == 1 and key is None
    if whole and more[0] is None and not heads.add_zero and not is_nested((query, *weights, bias, mask)):
        packed = _projected(query, weights[0], bias)
        out, found = ATTEND_PACKED(
            packed, mask, keep, heads=heads.count, batch_axis=heads.batch_axis, scale=scale, safe=safe
        )
    else:
        q, k, v = _parts(query, key, value, weights, bias, width)
        k, v = (_extended(x, extra, heads) for x, extra in ((k, more[0]), (v, more[1])))
        q, k, v = (heads_of(x, heads.count, heads.batch_axis) for x in (q, k, v))
        out, found = ATTEND(q, k, v, mask, keep, scale=scale, safe=safe)
        out = merged(out, heads.batch_axis)
    out = _projected(out, *end)
    return (out, found) if heads.need_weights else out


def _parts(query: Any, key: Any, value: Any, weights: Any, bias: Any, width: int) -> list[Any]:
    """Queries, keys and values."""
    if len(weights) == 1:
        weights = [weights[0][k * width : (k + 1) * width] for k in range(3)]
    biases = [None] * 3 if bias is None else [bias[k * width : (k + 1) * width] for k in range(3)]
    key, value = (query, query) if key is None else (key, value)
    return [_projected(x, w, b) for x, w, b in zip((query, key, value), weights, biases, strict=True)]


def _extended(x: Any, extra: Any, heads: Heads) -> Any:
    """Keys (or values) with one more behind them, and perhaps a zero."""
    axis = 1 - heads.batch_axis
    shape = [1, 1, x.shape[-1]]
    shape[heads.batch_axis] = x.shape[heads.batch_axis]
    if extra is not None:
        x = np.concatenate([x, np.broadcast_to(extra, shape)], axis=axis)
    return np.concatenate([x, np.zeros(shape, x.dtype)], axis=axis) if heads.add_zero else x


MULTI_HEAD = Op("multi_head_attention", _multi_head, "ViewBackward0")
