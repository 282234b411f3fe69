"""Rows of a table as functions: looked up, and summed up in bags."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core.engine.trace import concrete
from funcgrad.nn.kernels.embedding import ROW_SUMS, ROWS_AT
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.graph.modes import no_grad
from funcgrad.torch.tensors.tensor import Tensor, make_tensor
from funcgrad.torch.tensors.values import as_array

# ---- looking up ------------------------------------------------------------------------------------------------------


def _looked_up(input: Any, weight: Any, skipped: int | None, by_frequency: bool, sparse: bool) -> Any:
    return ROWS_AT(weight, input, skipped, by_frequency, sparse)


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
    found, rows = as_array(concrete(input.value)), weight.shape[0]
    if found.size and not 0 <= found.min() <= found.max() < rows:
        worst = found.min() if found.min() < 0 else found.max()
        raise IndexError(f"index out of range in self: {worst}, where the weight has {rows} rows")
    if padding_idx is None:
        return None
    assert -rows <= padding_idx < rows, "Padding_idx must be within num_embeddings"
    return padding_idx % rows


def _renormalised(weight: Tensor, input: Tensor, max_norm: float, norm_type: float) -> None:
    """Scale down, in place, the rows at `input` whose norm is larger than `max_norm`."""
    rows = np.unique(np.asarray(input.value))
    table = np.asarray(concrete(weight.value))[rows]
    norms = np.linalg.norm(table, norm_type, axis=1)
    larger = norms > max_norm
    if larger.any():
        shorter = table[larger] * (max_norm / (norms[larger, None] + 1e-7))
        with no_grad():
            weight[make_tensor(rows[larger])] = make_tensor(shorter.astype(table.dtype))


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

    The row `padding_idx` gets no gradient; rows longer than `max_norm` are scaled down in place first. Raises
    IndexError for an index outside of the table. With sparse=True the gradient of a leaf is a
    sparse tensor with one value for each lookup (dense where the graph of the gradient is wanted, too).

    >>> import funcgrad.torch as torch
    >>> torch.nn.functional.embedding(torch.tensor([2, 0]), torch.tensor([[1.0], [2.0], [3.0]]))
    tensor([[3.],
            [1.]])
    """
    skipped = _checked("embedding", input, weight, padding_idx)
    if max_norm is not None:
        _renormalised(weight, input, max_norm, norm_type)
    return _EMBEDDING(input, weight, skipped, scale_grad_by_freq, sparse)


# ---- bags ------------------------------------------------------------------------------------------------------------


def _bagged(
    input: Any,
    weight: Any,
    weights: Any,
    bags: Any,
    count: int,
    mode: str,
    skipped: int | None,
    by_frequency: bool,
    sparse: bool,
) -> Any:
    """The rows at `input` (n), reduced over those of the same bag (n numbers below `count`)."""
    if mode == "max":
        return _largest(input, weight, bags, count)
    rows = ROWS_AT(weight, input, None, by_frequency, sparse)
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
        raise ValueError(
            f"offsets has to be a 1D Tensor but got {None if offsets is None else f'{offsets.ndim}D'}"
        )
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

    A bag is a row of `input` (B, n), or what lies between two `offsets` (B) of `input` (n). Indices equal to
    `padding_idx` do not count. Raises ValueError or RuntimeError for bags that do not fit.
    """
    skipped = _checked("embedding_bag", input, weight, padding_idx)
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if sparse and mode == "max":
        raise ValueError("max mode does not support sparse weights")
    if per_sample_weights is not None:
        _check_weights(input, per_sample_weights, mode)
    bags, count = _bags(input, offsets, include_last_offset)
    if max_norm is not None:
        _renormalised(weight, input, max_norm, norm_type)
    flat, weights = input.reshape(-1), None if per_sample_weights is None else per_sample_weights.reshape(-1)
    if skipped is not None:
        kept = np.flatnonzero(np.asarray(concrete(flat.value)) != skipped)
        flat, weights, bags = (
            flat[make_tensor(kept)],
            None if weights is None else weights[make_tensor(kept)],
            bags[kept],
        )
    return _BAG(flat, weight, weights, make_tensor(bags), count, mode, skipped, scale_grad_by_freq, sparse)


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
