"""Distances and norms of vectors, as functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core.engine.trace import concrete
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.functions.reduce import norm
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.inplace import kind_name
from funcgrad.torch.tensors.tensor import Tensor


def _length(x: Any, dim: int, eps: float) -> Any:
    """The norm along `dim`; where it is less than eps, the constant eps."""
    squares = np.sum(x * x, axis=dim, keepdims=True)
    small = concrete(squares) < eps * eps
    return np.where(small, x.dtype.type(eps), np.sqrt(np.where(small, x.dtype.type(1), squares)))


def _cosine_similarity(x1: Any, x2: Any, dim: int, eps: float) -> Any:
    x, y = dtypes.aligned((x1, x2))
    if x.dtype.kind not in "fc":
        raise RuntimeError(
            f"expected common dtype to be floating point, yet common dtype is {kind_name(x.dtype)}"
        )
    if x.shape != y.shape:
        shape = np.broadcast_shapes(x.shape, y.shape)
        x, y = np.broadcast_to(x, shape), np.broadcast_to(y, shape)
    return np.sum((x / _length(x, dim, eps)) * (y / _length(y, dim, eps)), axis=dim)


_COSINE = Op("cosine_similarity", _cosine_similarity, "SumBackward1")


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along `dim`; lengths are at least eps.

    >>> import funcgrad.torch as torch
    >>> torch.nn.functional.cosine_similarity(torch.tensor([1.0, 0.0]), torch.tensor([1.0, 1.0]), dim=0)
    tensor(0.7071)
    """
    return _COSINE(x1, x2, dim, eps)


def _gap(x1: Any, x2: Any, p: float, eps: float, keepdim: bool) -> Any:
    x, y = dtypes.aligned((x1, x2), floating=True)
    return np.linalg.vector_norm(x - y + eps, ord=p, axis=-1, keepdims=keepdim)


_GAP = Op("pairwise_distance", _gap, "NormBackward1")


def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last axis."""
    return _GAP(x1, x2, p, eps, keepdim)


def normalize(
    input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None
) -> Tensor:
    """Vectors along `dim`, divided by their p-norm (by eps, if that is larger)."""
    length = norm(input, p, dim, True).clamp_min(eps).expand_as(input)
    return input.div(length) if out is None else input.div(length, out=out)


def _pdist(input: Any, p: float) -> Any:
    if input.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.ndim}D")
    first, second = np.triu_indices(input.shape[0], 1)
    return np.linalg.norm(input[first] - input[second], p, axis=-1)


_PDIST = Op("pdist", _pdist, "PdistBackward0")


def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-norms of the differences of all pairs of rows: (N, M) gives (N * (N - 1) / 2,)."""
    return _PDIST(input, p)
