"""Several values that go to one place: scatter, scatter_add, scatter_reduce, index_add, index_reduce."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from funcgrad.core.engine.trace import Tracer, innermost
from funcgrad.core.memory.indexing import ADD_AT
from funcgrad.core.memory.plain import positions
from funcgrad.core.memory.reads import add_at
from funcgrad.torch.functions.registry import declare
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.values import cell, constant, item

_WIDE = 16  # elements of a row, from which on rows are added faster than elements


def along(index: Any, dim: int, ndim: int) -> tuple[Any, ...]:
    """The full index that `index` along `dim` stands for."""
    index = constant(index)
    dim %= max(ndim, 1)
    if not index.ndim and ndim == 1:
        return (index,)
    grids = list(np.indices(index.shape, sparse=True))
    grids[dim] = index
    return tuple(grids)


def _scattered(input: Any, dim: int, index: Any, src: Any, reduce: str | None = None) -> Any:
    where = along(index, dim, input.ndim)
    if hasattr(src, "dtype") and src.ndim:
        src = src[tuple(slice(n) for n in index.shape)]
    if reduce == "add":
        return at_add(input, where, src)
    out = cell(input, index, src)
    out[where] = dtypes.cast(src, input.dtype) if not reduce else item(out, where) * src
    return out


def _added(out: np.ndarray, index: Any, v: np.ndarray) -> np.ndarray:
    """`out` with v added at index, in place: whole rows one after the other, single elements by NumPy's loop."""
    lead, *rest = index if type(index) is tuple else (index,)
    if isinstance(lead, np.ndarray) and lead.ndim == out.ndim and not any(lead.strides[1:]):
        lead = lead[(slice(None), *[slice(1)] * (lead.ndim - 1))]  # an index that was expanded
    rows = isinstance(lead, np.ndarray) and lead.size == lead.shape[0] and lead.dtype.kind in "iu"
    if (
        not rows
        or out.ndim < 2
        or out[0].size < _WIDE
        or v.shape != (lead.size, *out.shape[1:])
        or not _allalong(rest, out)
    ):
        return add_at(out, index, v)
    out += _sums_of_rows(lead.reshape(-1), v.reshape(lead.size, -1), len(out)).reshape(out.shape)
    return out


def _sums_of_rows(index: np.ndarray, v: np.ndarray, count: int) -> np.ndarray:
    """A row for each number below `count`: the sum of the rows of v that have this index."""
    index = np.where(index < 0, index + count, index)
    if index.size and not 0 <= index.min() <= index.max() < count:
        raise IndexError(f"index out of range: rows are numbered from 0 to {count - 1}")
    if v.dtype.kind == "f" and v.dtype.itemsize > 2:
        with suppress(ImportError):
            from scipy.sparse import csc_array

            where = csc_array(
                (np.ones(len(index), v.dtype), index, np.arange(len(index) + 1)), shape=(count, len(index))
            )
            return where @ v
    permutation = np.argsort(index, kind="stable")
    ordered = index[permutation]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])[: len(ordered)])
    sums = np.zeros((count, v.shape[1]), v.dtype)
    if len(starts):
        sums[ordered[starts]] = np.add.reduceat(v[permutation], starts, axis=0)
    return sums


def _allalong(rest: list[Any], out: np.ndarray) -> bool:
    """Do these indices name every place of the other dims, in order?"""
    if not rest:
        return True
    grids = np.indices(out.shape, sparse=True)[1:]
    return len(rest) == out.ndim - 1 and all(
        isinstance(i, np.ndarray) and i.shape == g.shape and np.array_equal(i, g)
        for i, g in zip(rest, grids, strict=True)
    )


def at_add(x: Any, index: Any, v: Any) -> Any:
    """x with v added at index; repeated indices add up."""
    if innermost((x, v, *index)) is None:
        return _added(np.array(x), index, np.asarray(v))
    v = np.broadcast_to(dtypes.cast(v, x.dtype), item(constant(x), index).shape)
    return ADD_AT(x, v, index)


def _scatter(
    input: Any, dim: int, index: Any, src: Any = None, *, value: Any = None, reduce: str | None = None
) -> Any:
    """`input` with `src` written where `index` points along `dim`."""
    return _scattered(input, dim, index, src if value is None else value, reduce)


declare("scatter", _scatter, where="fmi")
declare("scatter_add", lambda input, dim, index, src: _scattered(input, dim, index, src, "add"), where="fmi")


def slices_at(dim: int, index: Any, ndim: int) -> tuple[Any, ...]:
    """The index of slices along one dim."""
    return (*[slice(None)] * (dim % ndim), constant(index))


declare(
    "index_add",
    lambda input, dim, index, source, *, alpha=1: at_add(
        input, slices_at(dim, index, input.ndim), source * alpha if alpha != 1 else source
    ),
    where="fmi",
)


# ---- reductions ------------------------------------------------------------------------------------------------------


_COMBINED = {"prod": (np.multiply, np.prod), "amax": (np.maximum, np.max), "amin": (np.minimum, np.min)}


def _neutral(reduce: str, dtype: Any) -> Any:
    """What changes nothing in this reduction."""
    if reduce not in ("amax", "amin"):
        return dtype.type(reduce == "prod")
    if dtype.kind == "f":
        return dtype.type(-np.inf if reduce == "amax" else np.inf)
    limits = (False, True) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return dtype.type(limits[reduce == "amin"])


def _scatter_reduce(
    input: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True
) -> Any:
    """Values of `src` that go to one place are reduced: sum, prod, mean, amax, amin."""
    if reduce not in ("sum", "mean", *_COMBINED):
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}.")
    if not input.ndim:
        flat = _scatter_reduce(
            *(np.reshape(input, 1), 0, np.reshape(index, -1), np.reshape(src, -1), reduce),
            include_self=include_self,
        )
        return np.reshape(flat, ())
    src, index = dtypes.cast(src[tuple(slice(n) for n in index.shape)], input.dtype), constant(index)
    where = along(index, dim, input.ndim)
    if reduce in ("sum", "mean"):
        return _summed(input, where, src, reduce, include_self)
    if isinstance(index, Tracer):
        return _reduced_densely(input, dim % input.ndim, index, src, reduce, include_self)
    places = positions(where, input.shape).reshape(-1)
    if innermost((input, src)) is not None:
        return _reduced_by_groups(input, places, src, reduce, include_self)
    out = np.array(input)
    if not include_self:
        out.reshape(-1)[places] = _neutral(reduce, input.dtype)
    _COMBINED[reduce][0].at(out.reshape(-1), places, np.reshape(src, -1))
    return out


def _summed(input: Any, where: tuple[Any, ...], src: Any, reduce: str, include_self: bool) -> Any:
    if reduce == "sum" and include_self:
        return at_add(input, where, src)
    hit = cell(np.zeros(input.shape, bool), *where)
    hit[where] = True
    total = at_add(input if include_self else np.where(hit, input.dtype.type(0), input), where, src)
    if reduce == "sum":
        return total
    counts = at_add(np.full(input.shape, int(include_self)), where, np.ones(src.shape, int))
    counts = np.maximum(np.where(hit, counts, 1), 1)
    return total // counts if input.dtype.kind in "iu" else total / counts.astype(input.dtype)


def _reduced_by_groups(input: Any, places: Any, src: Any, reduce: str, include_self: bool) -> Any:
    """By rules that are there: the values that go to one place become a row. Rows of about one length make a
    matrix, which is reduced along its rows.
    """
    size, neutral = input.size, _neutral(reduce, input.dtype)
    own = np.arange(size) if include_self else np.setdiff1d(np.arange(size), places)
    values = np.concatenate([np.reshape(input, -1), np.reshape(src, -1), np.full(1, neutral)])
    groups = np.concatenate([own, places])
    permutation = np.argsort(groups, kind="stable")
    numbers = np.append(np.concatenate([own, size + np.arange(len(places))])[permutation], len(values) - 1)
    counts = np.bincount(groups, minlength=size)
    starts = np.cumsum(counts) - counts
    classes = np.ceil(np.log2(counts)).astype(int)
    found, cells = [], []
    for each in np.unique(classes):
        chosen = np.flatnonzero(classes == each)
        steps = np.arange(counts[chosen].max())
        inside = steps < counts[chosen, None]
        rows = numbers[np.where(inside, starts[chosen, None] + steps, len(numbers) - 1)]
        found.append(_COMBINED[reduce][1](values[rows], axis=1))
        cells.append(chosen)
    return np.reshape(np.concatenate(found)[np.argsort(np.concatenate(cells))], input.shape)


def _reduced_densely(input: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool) -> Any:
    """Where the index is a batch: every place looks at every value that might come to it."""
    box = tuple(slice(None) if d == dim else slice(n) for d, n in enumerate(index.shape))
    own, index, src = (np.moveaxis(x, dim, -1) for x in (input[box], index, src))
    neutral = _neutral(reduce, input.dtype)
    comes = index[..., None, :] == np.arange(own.shape[-1])[:, None]
    values = np.where(comes, src[..., None, :], neutral)
    if not include_self:
        own = np.where(np.any(comes, -1), neutral, own)
    out = _COMBINED[reduce][1](np.concatenate([own[..., None], values], -1), axis=-1)
    made = cell(input, out)
    made[box] = np.moveaxis(out, -1, dim)
    return made


declare("scatter_reduce", _scatter_reduce, where="fmi")


def _index_reduce(
    input: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True
) -> Any:
    """`source` combined with the elements of `input` that `index` names: prod, mean, amax, amin."""
    if not input.ndim:
        return _scatter_reduce(input, 0, index, source, reduce, include_self=include_self)
    dim %= input.ndim
    index = np.reshape(constant(index), (-1, *[1] * (input.ndim - dim - 1)))
    index = np.broadcast_to(index, source.shape)
    return _scatter_reduce(input, dim, index, source, reduce, include_self=include_self)


declare("index_reduce", _index_reduce, where="fmi")
