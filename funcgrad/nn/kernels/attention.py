"""Attention, declared to the engine: softmax(scale * q k^T + mask) v is one call, pulled by hand.

The products read queries, keys and values where they lie (heads are views of what a projection gave), and
write where the next layer wants them: nothing is copied. `attend_packed` does the same for the three parts of
one projection.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.core.engine.batch import align
from funcgrad.core.engine.declare import custom
from funcgrad.core.engine.primitive import Call, Primitive
from funcgrad.core.engine.trace import Tracer, bind


def weights_of(q: Any, k: Any, mask: Any, scale: float, safe: bool) -> Any:
    """softmax(scale * q k^T + mask) along the last axis; `safe`: fully masked rows are zeros, not NaN."""
    weights = q @ k.swapaxes(-1, -2)
    weights *= weights.dtype.type(scale)
    if mask is not None:
        fits = np.broadcast_shapes(weights.shape, mask.shape) == weights.shape
        weights = np.add(weights, mask, out=weights if fits else None, casting="same_kind")
    largest = weights.max(axis=-1, keepdims=True)
    if safe and mask is not None:
        largest = np.where(largest == -np.inf, 0, largest)
    weights -= largest
    np.exp(weights, out=weights)
    total = weights.sum(axis=-1, keepdims=True)
    if safe and mask is not None:
        total[total == 0] = 1
    weights /= total
    return weights


def attend(q: Any, k: Any, v: Any, mask: Any = None, keep: Any = None, *, scale: float, safe: bool) -> Any:
    """The means of values v (..., S, D), weighted by softmax(scale * q k^T + mask) (..., L, S); the weights.

    `keep` multiplies the weights afterwards (dropout).
    """
    weights = weights_of(q, k, mask, scale, safe)
    return (weights if keep is None else weights * keep) @ v, weights


def _slopes(ct_weights: Any, weights: Any, keep: Any, through: Any) -> Any:
    """The cotangent of scale * q k^T + mask; `through` is what came through the product with v."""
    if keep is not None:
        through = through * keep
    if ct_weights is not None:
        through = through + ct_weights
    product = through * weights
    return product - weights * product.sum(axis=-1, keepdims=True)


def _attend_pulls(
    ct: Any, q: Any, k: Any, v: Any, scale: float, out: Any, wanted: Any, mask: Any = None, keep: Any = None
) -> Sequence[Any]:
    ct_out, ct_weights = ct
    weights = out[1]
    kept = weights if keep is None else weights * keep
    if ct_out is None:
        ct_out = np.zeros(out[0].shape, out[0].dtype)
    to_v = kept.swapaxes(-1, -2) @ ct_out if "v" in wanted else None
    slopes = _slopes(ct_weights, weights, keep, ct_out @ v.swapaxes(-1, -2))
    scaled = slopes * weights.dtype.type(scale)
    to_q = scaled @ k if "q" in wanted else None
    to_k = scaled.swapaxes(-1, -2) @ q if "k" in wanted else None
    return to_q, to_k, to_v, slopes if "mask" in wanted else None, None


def _batched(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    """vmap: the batch is one more leading axis, of the queries in any case, so that the weights have it too."""
    operands = align(call.operands, batched)
    if not batched[0]:
        q, rank = operands[0], max(x.ndim - b for x, b in zip(call.operands, batched, strict=True))
        operands[0] = np.broadcast_to(q, (size, *(1,) * (rank - q.ndim), *q.shape))
    return bind(primitive, call.with_operands(operands))


ATTEND = custom(attend, joint=_attend_pulls, operands="q k v mask keep", batch=_batched, name="attend")

# ---- queries, keys and values from one projection --------------------------------------------------------------------


def heads_of(x: Any, heads: int, batch_axis: int) -> Any:
    """(N, L, E) or (L, N, E), where `batch_axis` is that of N, as (N, heads, L, E/heads): a view."""
    split = x.reshape(*x.shape[:2], heads, x.shape[2] // heads)
    return split.transpose(batch_axis, 2, 1 - batch_axis, 3)


def merged(x: Any, batch_axis: int) -> Any:
    """The inverse of `heads_of`."""
    axes = (0, 2, 1, 3) if batch_axis == 0 else (2, 0, 1, 3)
    split = x.transpose(axes)
    return split.reshape(*split.shape[:2], split.shape[2] * split.shape[3])


def thirds(packed: Any, heads: int, batch_axis: int) -> list[Any]:
    """Queries, keys and values of heads, from their projections (N, L, 3*E) or (L, N, 3*E): views."""
    width = packed.shape[-1] // 3
    return [heads_of(packed[..., k * width : (k + 1) * width], heads, batch_axis) for k in range(3)]


def attend_packed(
    packed: Any, mask: Any = None, keep: Any = None, *, heads: int, batch_axis: int, scale: float, safe: bool
) -> Any:
    """`attend` among the elements of one sequence: (N, L, E) or (L, N, E), and the weights (N, heads, L, L)."""
    q, k, v = thirds(packed, heads, batch_axis)
    weights = weights_of(q, k, mask, scale, safe)
    out = np.empty((*packed.shape[:2], packed.shape[2] // 3), packed.dtype)
    np.matmul(weights if keep is None else weights * keep, v, out=heads_of(out, heads, batch_axis))
    return out, weights


def _packed_pulls(
    ct: Any,
    packed: Any,
    heads: int,
    batch_axis: int,
    scale: float,
    safe: bool,
    out: Any,
    wanted: Any,
    mask: Any = None,
    keep: Any = None,
) -> Sequence[Any]:
    ct_out, ct_weights = ct
    if any(isinstance(x, Tracer) for x in (ct_out, ct_weights, packed, mask, keep)):
        return _packed_pulls_traced(ct, packed, heads, batch_axis, scale, out, wanted, mask, keep)
    weights = out[1]
    ct_out = np.zeros_like(out[0]) if ct_out is None else np.ascontiguousarray(ct_out)
    pulled = heads_of(ct_out, heads, batch_axis)
    q, k, v = thirds(packed, heads, batch_axis)
    packed_ct = np.empty_like(packed)
    to_q, to_k, to_v = thirds(packed_ct, heads, batch_axis)
    np.matmul((weights if keep is None else weights * keep).swapaxes(-1, -2), pulled, out=to_v)
    slopes = _slopes(ct_weights, weights, keep, pulled @ v.swapaxes(-1, -2))
    to_mask = slopes.copy() if "mask" in wanted else None
    slopes *= weights.dtype.type(scale)
    np.matmul(slopes, k, out=to_q)
    np.matmul(slopes.swapaxes(-1, -2), q, out=to_k)
    return packed_ct, to_mask, None


def _packed_pulls_traced(
    ct: Any,
    packed: Any,
    heads: int,
    batch_axis: int,
    scale: float,
    out: Any,
    wanted: Any,
    mask: Any,
    keep: Any,
) -> Sequence[Any]:
    """The same in calls that the engine knows."""
    q, k, v = thirds(packed, heads, batch_axis)
    out_ct = None if ct[0] is None else heads_of(ct[0], heads, batch_axis)
    outs = heads_of(out[0], heads, batch_axis), out[1]
    *parts, to_mask, _ = _attend_pulls(
        [out_ct, ct[1]], q, k, v, scale, outs, ("q", "k", "v", *wanted), mask, keep
    )
    return np.concatenate([merged(part, batch_axis) for part in parts], axis=-1), to_mask, None


ATTEND_PACKED = custom(attend_packed, joint=_packed_pulls, operands="packed mask keep", name="attend_packed")
