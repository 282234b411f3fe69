"""Sets, combinations, and indices that are found or counted."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from funcgrad.torch.functions.join import meshgrid, stack
from funcgrad.torch.functions.registry import function
from funcgrad.torch.graph.dead_ends import without_derivative
from funcgrad.torch.tensors.tensor import Tensor, make_tensor
from funcgrad.torch.tensors.values import constant, looked_at


@function("fm")
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: Any = None,
) -> Any:
    """The different elements, in order."""
    found = np.unique(looked_at(input.value, "unique"), return_inverse=True, return_counts=True, axis=dim)
    values, inverse, counts = (
        without_derivative(found[0], input, "torch.unique"),
        *map(make_tensor, found[1:]),
    )
    out = (values, *([inverse] if return_inverse else []), *([counts] if return_counts else []))
    return out if len(out) > 1 else values


@function(out=True)
def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False) -> Tensor:
    """Which elements are (`invert`: are not) among others? `assume_unique`: both have each value once, a hint."""
    both = [constant(x.value) if isinstance(x, Tensor) else x for x in (elements, test_elements)]
    return make_tensor(np.isin(*both, invert=invert))


@function()
def tril_indices(row: int, col: int, offset: int = 0, **_: Any) -> Tensor:
    """The indices of the lower triangle."""
    return make_tensor(np.stack(np.tril_indices(row, offset, col)))


@function()
def triu_indices(row: int, col: int, offset: int = 0, **_: Any) -> Tensor:
    """The indices of the upper triangle."""
    return make_tensor(np.stack(np.triu_indices(row, offset, col)))


@function()
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All pairs (triples, ...) of elements."""
    return stack([t.reshape(-1) for t in meshgrid(*tensors)], -1) if len(tensors) > 1 else tensors[0]  # type: ignore[attr-defined]


@function()
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All combinations of r elements."""
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    index = np.array(list(choose(range(input.numel()), r)), int).reshape(-1, r)
    return input[make_tensor(index)]


@function("fm")
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """The elements (or slices along `dim`) without those that equal the one before."""
    x = looked_at(input.value, "unique_consecutive")
    rows = x.reshape(-1) if dim is None else np.moveaxis(x, dim, 0)
    changed = np.ones(len(rows), bool)
    changed[1:] = (rows[1:] != rows[:-1]).reshape(len(rows) - 1, -1).any(1) if len(rows) > 1 else changed[1:]
    inverse = np.cumsum(changed) - 1
    values = rows[changed] if dim is None else np.moveaxis(rows[changed], 0, dim)
    found = (values, inverse.reshape(x.shape) if dim is None else inverse, np.bincount(inverse))
    wanted = zip(found[1:], (return_inverse, return_counts), strict=True)
    out = [
        without_derivative(values, input, "torch.unique_consecutive"),
        *(make_tensor(a) for a, asked in wanted if asked),
    ]
    return tuple(out) if len(out) > 1 else out[0]


@function("fm")
def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """The first `size` indices of elements that are not 0, filled up with `fill_value`."""
    found = np.argwhere(looked_at(input.value, "nonzero_static"))[:size]
    filling = np.full((size - len(found), found.shape[1]), fill_value)
    return make_tensor(np.concatenate([found, filling]))
