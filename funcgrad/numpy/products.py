"""matmul and dot, also of sparse matrices with SciPy's methods (differentiated in the other operand)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.engine.declare import linear
from funcgrad.core.engine.trace import Tracer
from funcgrad.numpy.dispatch import HOME, looking, named_like, running


def times(x: Any, matrix: Any) -> Any:
    """matrix @ x, for x of shape (n,) or (n, k)."""
    return matrix @ x


def _batched_times(primitive: Any, call: Any, batched: Any, size: int) -> Any:
    """All examples are columns of one array."""
    x, matrix = call.operands[0], call.params["matrix"]
    columns = np.moveaxis(x, 0, -1)
    out = primitive(columns.reshape(columns.shape[0], -1), matrix=matrix)
    return np.moveaxis(out.reshape(out.shape[:1] + columns.shape[1:]), -1, 0)


sparse_times = linear(
    times, lambda ct, x, matrix: sparse_times(ct, matrix=matrix.T), operands="x", batch=_batched_times
)


def is_sparse(x: Any) -> bool:
    """Is this a sparse matrix or array? (SciPy may not even be there.)"""
    return hasattr(x, "tocsr") and hasattr(x, "nnz")


def product(function: Callable[..., Any]) -> Any:
    """`function`, matmul or dot, where one operand may be sparse and the other a tracer."""
    dense = looking(function, HOME)

    # A star before the keywords would cost some more, where nothing is traced.
    def multiply(a: Any, b: Any, out: Any = None, **kwargs: Any) -> Any:
        if out is not None:
            kwargs["out"] = out
        if type(a) is np.ndarray and type(b) is np.ndarray:
            if running() is not None:
                return dense(a, b, **kwargs)
            return function(a, b, **kwargs) if kwargs else function(a, b)
        if is_sparse(a) and isinstance(b, Tracer):
            return sparse_times(b, matrix=a)
        if is_sparse(b) and isinstance(a, Tracer):
            return sparse_times(a.T, matrix=b.T).T
        return a @ b if is_sparse(a) or is_sparse(b) else dense(a, b, **kwargs)

    return named_like(multiply, function, HOME)


matmul, dot = product(np.matmul), product(np.dot)
