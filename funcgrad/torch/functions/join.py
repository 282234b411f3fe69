"""Joining tensors: cat, stack, and their relatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.torch.functions.registry import declare, function
from funcgrad.torch.tensors.dtypes import aligned
from funcgrad.torch.tensors.tensor import Tensor


def _cat(tensors: Any, dim: int = 0) -> Any:
    """The tensors one after the other along `dim`."""
    return np.concatenate(aligned(x for x in tensors if x.shape != (0,) or len(tensors) == 1), axis=dim)


cat = declare("cat", _cat, where="f", aliases="concat concatenate")
stack = declare("stack", lambda tensors, dim=0: np.stack(aligned(tensors), axis=dim), where="f")
declare("hstack", lambda tensors: np.hstack(aligned(tensors)), "CatBackward0", where="f")
declare("vstack", lambda tensors: np.vstack(aligned(tensors)), "CatBackward0", where="f", aliases="row_stack")
declare("dstack", lambda tensors: np.dstack(aligned(tensors)), "CatBackward0", where="f")
declare("column_stack", lambda tensors: np.column_stack(aligned(tensors)), "CatBackward0", where="f")


@function()
def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """The tensors, expanded to one shape."""
    shape = np.broadcast_shapes(*[t.value.shape for t in tensors])
    return tuple(t.expand(*shape) for t in tensors)


@function()
def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """A grid of coordinates."""
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    return _meshgrid(list(given), indexing)


_meshgrid = declare(
    "meshgrid_", lambda tensors, indexing: tuple(np.meshgrid(*tensors, indexing=indexing)), where=""
)


@function()
def block_diag(*tensors: Tensor) -> Tensor:
    """The matrices along the diagonal of one."""
    return _block_diag(list(tensors))


def _blocks(tensors: Any) -> Any:
    parts = [np.atleast_2d(x) for x in aligned(tensors)]
    widths = [p.shape[1] for p in parts]
    rows = [
        np.concatenate(
            [p if j == i else np.zeros((p.shape[0], w), p.dtype) for j, w in enumerate(widths)], axis=1
        )
        for i, p in enumerate(parts)
    ]
    return np.concatenate(rows)


_block_diag = declare("block_diag_", _blocks, "BlockDiagBackward0", where="")
declare(
    "cartesian_prod_",
    lambda tensors: np.stack([np.reshape(x, -1) for x in np.meshgrid(*tensors, indexing="ij")], -1),
    where="",
)
