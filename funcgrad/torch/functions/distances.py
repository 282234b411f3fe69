"""Distances between rows, and norms of slices."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.nn.kernels.distances import CDIST
from funcgrad.torch.functions.registry import declare
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.values import constant


def _renorm(input: Any, p: Any, dim: int, maxnorm: Any) -> Any:
    """Slices along `dim` scaled down to a p-norm of at most maxnorm."""
    axes = tuple(a for a in range(input.ndim) if a != dim % input.ndim)
    norms = np.linalg.vector_norm(input, axis=axes, ord=p, keepdims=True)
    return np.where(constant(norms) > maxnorm, input * (maxnorm / (norms + 1e-7)), input)


declare("renorm", _renorm, where="fmi")


def _cdist(x1: Any, x2: Any, p: Any = 2.0) -> Any:
    """The p-distance of each row of x1 from each row of x2."""
    if p == 2:
        return CDIST(*dtypes.aligned((x1, x2)))
    if p == 1 and all(type(x) is np.ndarray and x.ndim == 2 and x.dtype.kind == "f" for x in (x1, x2)):
        return _sums_of_gaps(*dtypes.aligned((x1, x2)))
    return np.linalg.vector_norm(x1[..., :, None, :] - x2[..., None, :, :], axis=-1, ord=p)


_BLOCK = 1 << 14  # elements of the result, which stay in the cache


def _sums_of_gaps(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """sum(|x[i] - y[j]|), (n, d) and (m, d) to (n, m): a column after the other, without an array of (n, m, d)."""
    if x.shape[1] != y.shape[1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x.shape[1]} X2: {y.shape[1]}"
        )
    out, columns = np.zeros((len(x), len(y)), x.dtype), np.ascontiguousarray(y.T)
    step = max(_BLOCK // max(len(y), 1), 1)
    buffer = np.empty_like(out[:step])
    for start in range(0, len(x), step):
        rows, to = x[start : start + step], out[start : start + step]
        gap = buffer[: len(rows)]
        for k, column in enumerate(columns):
            np.subtract(rows[:, k, None], column, gap)
            np.abs(gap, gap)
            to += gap
    return out


declare("cdist", lambda x1, x2, p=2.0, **_: _cdist(x1, x2, p), where="f")


def _pdist(input: Any, p: Any = 2.0) -> Any:
    """The p-distances of all pairs of rows."""
    rows, columns = np.triu_indices(input.shape[0], 1)
    return np.linalg.vector_norm(input[rows] - input[columns], axis=-1, ord=p)


declare("pdist", _pdist, where="f")


def _norm_except_dim(v: Any, pow: Any = 2, dim: int = 0) -> Any:
    """The norms of the slices along one dim."""
    others = tuple(a for a in range(v.ndim) if a != dim % v.ndim)
    return np.linalg.vector_norm(v, ord=pow, axis=others, keepdims=True)


declare("norm_except_dim", _norm_except_dim, "LinalgVectorNormBackward0", where="f")
