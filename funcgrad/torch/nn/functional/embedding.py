"""Rows of a table as functions: looked up, and summed up in bags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.engine.declare import custom, linear, piecewise_constant
from funcgrad.core.engine.primitive import Call, Primitive
from funcgrad.core.engine.trace import concrete
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.graph.modes import no_grad
from funcgrad.torch.tensors.tensor import Tensor, make_tensor

# ---- to the engine ---------------------------------------------------------------------------------------------------


def rows_at(weight: Any, indices: Any, skipped: int | None = None, by_frequency: bool = False) -> Any:
    """The rows of `weight` at `indices`; the pull leaves out the row `skipped`, and may divide by how often a row was taken."""
    return weight.take(indices, 0)


def row_sums(y: Any, indices: Any, rows: int) -> Any:
    """Zeros (rows, D) with each row of y (..., D) added at its index."""
    made = np.zeros((rows, y.shape[-1]), y.dtype)
    total, parts = _paired(made), _paired(np.ascontiguousarray(y))
    places = indices.reshape(-1, 1) * total.shape[-1] + np.arange(total.shape[-1])
    np.add.at(total.reshape(-1), places.reshape(-1), parts.reshape(-1))  # along one axis: 4 times faster than along rows
    return made


def _paired(x: Any) -> Any:
    """Pairs of numbers along the last axis as complex ones, which are added in half as many steps."""
    paired = {"f": np.complex64, "d": np.complex128}.get(x.dtype.char)
    return x if paired is None or x.shape[-1] % 2 else x.view(paired)


def frequencies(indices: Any) -> Any:
    """How often each of the indices occurs among them."""
    _, places, counts = np.unique(indices, return_inverse=True, return_counts=True)
    return counts[places].reshape(indices.shape)


def _rows_pull(ct: Any, weight: Any, indices: Any, skipped: int | None = None, by_frequency: bool = False) -> Any:
    if skipped is not None:
        ct = np.where((indices == skipped)[..., None], np.zeros((), ct.dtype), ct)
    if by_frequency:
        ct = ct / CATALOGUE[frequencies](indices)[..., None].astype(ct.dtype)
    return ROW_SUMS(ct, indices, weight.shape[0])


def _apart(indices: Any, is_batched: bool, size: int, rows: int) -> Any:
    """The indices of each example, into the tables of all examples one after the other."""
    if not is_batched:
        indices = np.broadcast_to(indices, (size, *indices.shape))
    return indices + (np.arange(size) * rows).reshape(-1, *(1,) * (indices.ndim - 1))


def _batched_rows(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    weight, indices = call.operands
    if not batched[0]:
        return primitive(weight, indices, **call.params)
    rows = weight.shape[1]
    return ROWS_AT(weight.reshape(-1, weight.shape[-1]), _apart(indices, batched[1], size, rows))


def _batched_sums(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    y, indices = call.operands
    rows = call.params["rows"]
    if not batched[0]:
        y = np.broadcast_to(y, (size, *y.shape))
    return primitive(y, _apart(indices, batched[1], size, rows), size * rows).reshape(size, rows, -1)


piecewise_constant(frequencies)
ROWS_AT = custom(
    rows_at,
    {"weight": _rows_pull},
    push=lambda t, indices: ROWS_AT(t, indices),
    operands="weight indices",
    batch=_batched_rows,
    name="embedding",
)
ROW_SUMS = linear(
    row_sums,
    {"y": lambda ct, indices: ROWS_AT(ct, indices)},
    operands="y indices",
    batch=_batched_sums,
    name="embedding_dense_backward",
)

# ---- looking up ------------------------------------------------------------------------------------------------------


def _looked_up(input: Any, weight: Any, skipped: int | None, by_frequency: bool) -> Any:
    return ROWS_AT(weight, input, skipped, by_frequency)


_EMBEDDING = Op("embedding", _looked_up, "EmbeddingBackward0")


def _checked(who: str, input: Tensor, weight: Tensor, padding_idx: int | None) -> int | None:
    """The padding index, counted from 0, once all is known to fit."""
    if input.value.dtype.kind not in "iu":
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"{input.type()} instead (while checking arguments for {who})"
        )
    if weight.ndim != 2:
        raise RuntimeError(f"'weight' must be 2-D, but has shape {list(weight.shape)}")
    found, rows = np.asarray(concrete(input.value)), weight.shape[0]
    if found.size and not 0 <= found.min() <= found.max() < rows:
        worst = found.min() if found.min() < 0 else found.max()
        raise IndexError(f"index out of range in self: {worst}, where the weight has {rows} rows")
    if padding_idx is None:
        return None
    assert -rows <= padding_idx < rows, "Padding_idx must be within num_embeddings"
    return padding_idx % rows


def _refuse_sparse(sparse: bool) -> None:
    if sparse:
        raise NotImplementedError(
            "sparse=True asks for a sparse gradient, and there is none: leave it out, the gradient is dense"
        )


def _renormalised(weight: Tensor, input: Tensor, max_norm: float, norm_type: float) -> None:
    """Scale down, in place, the rows at `input` whose norm is larger than `max_norm`."""
    rows = np.unique(np.asarray(input.value))
    table = np.asarray(concrete(weight.value))[rows]
    norms = np.linalg.norm(table, norm_type, axis=1)
    larger = norms > max_norm
    if larger.any():
        shorter = table[larger] * (max_norm / (norms[larger, None] + 1e-7))
        with no_grad():
            weight[make_tensor(rows[larger])] = make_tensor(shorter.astype(table.dtype))  # type: ignore[index]


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The rows of `weight` (V, D) at the integers of `input` (...): (..., D).

    The row `padding_idx` gets no gradient; rows longer than `max_norm` are scaled down in place first. Raises IndexError for
    an index outside of the table, NotImplementedError for sparse=True.

    >>> import funcgrad.torch as torch
    >>> torch.nn.functional.embedding(torch.tensor([2, 0]), torch.tensor([[1.0], [2.0], [3.0]]))
    tensor([[3.],
            [1.]])
    """
    _refuse_sparse(sparse)
    skipped = _checked("embedding", input, weight, padding_idx)
    if max_norm is not None:
        _renormalised(weight, input, max_norm, norm_type)
    return _EMBEDDING(input, weight, skipped, scale_grad_by_freq)


# ---- bags ------------------------------------------------------------------------------------------------------------


def _bagged(
    input: Any, weight: Any, weights: Any, bags: Any, count: int, mode: str, skipped: int | None, by_frequency: bool
) -> Any:
    """The rows at `input` (n), reduced over those of the same bag (n numbers below `count`)."""
    if mode == "max":
        return _largest(input, weight, bags, count)
    rows = ROWS_AT(weight, input, None, by_frequency)
    if weights is not None:
        rows = rows * weights[:, None]
    total = ROW_SUMS(rows, bags, count)
    if mode == "sum":
        return total
    lengths = np.maximum(np.bincount(bags, minlength=count), 1)
    return total / lengths[:, None].astype(total.dtype)


def _largest(input: Any, weight: Any, bags: Any, count: int) -> Any:
    """The largest of each bag, column by column; zeros for empty bags."""
    if not len(bags):
        return np.where(np.ones((count, 1), bool), np.zeros((), weight.dtype), weight[:1])
    table = np.asarray(concrete(weight))[input]
    first = np.zeros((count, table.shape[1]), np.int64)
    starts = np.flatnonzero(np.diff(bags, prepend=-1))
    for start, stop in zip(starts, [*starts[1:], len(bags)], strict=True):
        first[bags[start]] = start + np.argmax(table[start:stop], axis=0)
    found = np.take_along_axis(weight, input[first], 0)
    empty = np.bincount(bags, minlength=count) == 0
    return np.where(empty[:, None], np.zeros((), weight.dtype), found) if empty.any() else found


_BAG = Op("embedding_bag", _bagged, "EmbeddingBagBackward0")


def _bags(input: Any, offsets: Any, include_last_offset: bool) -> tuple[Any, int]:
    """The bag of each index, and how many bags there are."""
    if input.ndim == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences. "
                f"However, found offsets of type {type(offsets)}"
            )
        return np.repeat(np.arange(input.shape[0]), input.shape[1]), input.shape[0]
    if input.ndim != 1:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}")
    if offsets is None or offsets.ndim != 1:
        raise ValueError(f"offsets has to be a 1D Tensor but got {None if offsets is None else f'{offsets.ndim}D'}")
    starts = np.asarray(concrete(offsets.value))
    if starts.size and starts[0] != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got "
            f"{starts[0]}"
        )
    if starts.size and starts[-1] > input.shape[0]:
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length {input.shape[0]} but got offsets[-1] of {starts[-1]}"
        )
    count = len(starts) - include_last_offset
    return np.searchsorted(starts[:count], np.arange(input.shape[0]), side="right") - 1, count


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """The rows of `weight` (V, D) at `input`, as their sum, mean or largest in each bag: (B, D).

    A bag is a row of `input` (B, n), or what lies between two `offsets` (B) of `input` (n). Indices equal to `padding_idx` do not
    count. Raises ValueError or RuntimeError for bags that do not fit, NotImplementedError for sparse=True.
    """
    _refuse_sparse(sparse)
    skipped = _checked("embedding_bag", input, weight, padding_idx)
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if per_sample_weights is not None:
        _check_weights(input, per_sample_weights, mode)
    bags, count = _bags(input, offsets, include_last_offset)
    if max_norm is not None:
        _renormalised(weight, input, max_norm, norm_type)
    flat, weights = input.reshape(-1), None if per_sample_weights is None else per_sample_weights.reshape(-1)
    if skipped is not None:
        kept = np.flatnonzero(np.asarray(concrete(flat.value)) != skipped)
        flat, weights, bags = flat[make_tensor(kept)], None if weights is None else weights[make_tensor(kept)], bags[kept]
    return _BAG(flat, weight, weights, make_tensor(bags), count, mode, skipped, scale_grad_by_freq)


def _check_weights(input: Tensor, weights: Tensor, mode: str) -> None:
    if mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' "
            f"(got mode='{mode}'): multiply the rows by them yourself"
        )
    if input.shape != weights.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({tuple(weights.shape)}) is not None, then it must have the same shape as the "
            f"input ({tuple(input.shape)})"
        )
