"""An affine map, the rows of a table, and dropout: what stands between other layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.core.engine.trace import Tracer
from funcgrad.errors import ArgumentError
from funcgrad.nn.kernels.basic import AFFINE
from funcgrad.nn.kernels.embedding import ROWS_AT
from funcgrad.nn.operands import array, floats, integers


def linear(x: Any, kernel: Any, bias: Any = None) -> Any:
    """x @ kernel + bias: x (..., in), kernel (in, out), bias (out,); the result is (..., out).

    Raises ArgumentError for shapes that do not fit.

    >>> import numpy as np
    >>> from funcgrad import nn
    >>> nn.linear(np.ones((2, 3)), np.ones((3, 1)), [0.5])
    array([[3.5],
           [3.5]])
    """
    x, kernel, bias = floats("funcgrad.nn.linear", x, kernel, bias, kinds="fc")
    if not x.ndim or kernel.ndim != 2 or x.shape[-1] != kernel.shape[0]:
        raise ArgumentError(
            f"funcgrad.nn.linear: x {x.shape} for kernel {kernel.shape}: give x (..., in) and kernel (in, out)"
        )
    if bias is not None and bias.shape != kernel.shape[1:]:
        raise ArgumentError(
            f"funcgrad.nn.linear: bias {bias.shape} for kernel {kernel.shape}: give ({kernel.shape[1]},)"
        )
    return x @ kernel if bias is None else AFFINE(bias, x, kernel.T)


def embedding(indices: Any, table: Any) -> Any:
    """The rows of `table` (rows, ...) at integers (...): np.take(table, indices, axis=0), with checks.

    Raises ArgumentError for an index out of range (also a negative one), and for indices that are no
    integers.

    >>> import numpy as np
    >>> from funcgrad import grad, nn
    >>> table = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> nn.embedding([1, 0, 1], table)
    array([[3., 4.],
           [1., 2.],
           [3., 4.]])
    >>> grad(lambda t: np.sum(nn.embedding([1, 0, 1], t)))(table)
    array([[1., 1.],
           [2., 2.]])
    """
    who = "funcgrad.nn.embedding"
    indices, table = integers(who, "indices", indices), floats(who, table, kinds="fc")[0]
    if not table.ndim:
        raise ArgumentError(f"{who}: `table` is one number: give an array of rows")
    _check_range(who, indices, table.shape[0])
    flat = np.reshape(table, (table.shape[0], -1))
    return np.reshape(ROWS_AT(flat, indices), (*indices.shape, *table.shape[1:]))


def _check_range(who: str, indices: Any, rows: int) -> None:
    if isinstance(indices, Tracer) or not indices.size or 0 <= indices.min() <= indices.max() < rows:
        return
    worst = indices.min() if indices.min() < 0 else indices.max()
    raise ArgumentError(
        f"{who}: index {worst}, where the table has {rows} rows: give integers from 0 to {rows - 1}"
    )


def dropout(x: Any, rate: float, rng: np.random.Generator, *, axis: int | Sequence[int] | None = None) -> Any:
    """Elements become 0 with probability `rate`, the others are divided by 1 - rate: like x.

    With `axis`, what is dropped is drawn along these axes only and is the same along all others: axis=(0, 1)
    drops whole channels. The derivative goes through the elements that are kept. For evaluation, don't call
    it. Under vmap there is one draw for all examples, and `checkpoint` would draw anew as it runs again: draw
    the keys outside.

    Raises ArgumentError for a rate outside of [0, 1] and for what is no Generator.

    >>> import numpy as np
    >>> from funcgrad import nn
    >>> nn.dropout(np.ones(6), 0.5, np.random.default_rng(0))
    array([2., 0., 0., 0., 2., 2.])
    """
    who = "funcgrad.nn.dropout"
    if not 0 <= rate <= 1:
        raise ArgumentError(f"{who} with rate={rate}: give a probability, from 0 to 1")
    if not isinstance(rng, np.random.Generator):
        raise ArgumentError(f"{who}: `rng` is of type {type(rng).__name__}: give np.random.default_rng(seed)")
    x = floats(who, x, kinds="fc")[0]
    shape = x.shape
    if axis is not None:
        drawn = {a % x.ndim for a in ((axis,) if isinstance(axis, int) else axis)}
        shape = tuple(n if k in drawn else 1 for k, n in enumerate(shape))
    kept = rng.random(shape) >= rate
    scale = kept * (0.0 if rate == 1 else 1 / (1 - rate))
    return x * array(scale).astype(x.dtype)
