"""Functions of matrices, for stacks of matrices."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.arrays.arguments import as_operand
from funcgrad.core.engine.batch import is_batched
from funcgrad.core.engine.trace import Tracer, concrete


def matrix(x: Any) -> Any:
    """`x` as an array of floats or complex numbers, as SciPy takes it."""
    x = as_operand(x)
    x = x if isinstance(x, Tracer) else np.asarray(x)
    return x if x.dtype.kind in "fc" else x.astype(float)


def over_stacks(**cores: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A function of matrices for stacks: `cores` are an operand's axes for one call (-1: one or two)."""

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(**named: Any) -> Any:
            given = {k: matrix(named[k]) for k in cores if named.get(k) is not None}
            for k, x in given.items():
                if cores[k] == 2 and not x.ndim:  # SciPy refuses most, and its sqrtm(4.0) is not 2
                    raise ValueError(f"{k} is a number where a matrix is needed. Write {k}[None, None]")
            core = {k: min(x.ndim, 2) if cores[k] < 0 else cores[k] for k, x in given.items()}
            shapes = [x.shape[: x.ndim - core[k]] for k, x in given.items()]
            stack = np.broadcast_shapes(*(s for s in shapes))
            rest = {k: v for k, v in named.items() if k not in given}
            if not stack:
                return function(**given, **rest)
            full = {k: np.broadcast_to(x, stack + x.shape[x.ndim - core[k] :]) for k, x in given.items()}
            outs = [
                function(**{k: x[index] for k, x in full.items()}, **rest) for index in np.ndindex(*stack)
            ]
            return _gathered(outs, stack)

        return call

    return decorated


def _gathered(outs: list[Any], stack: tuple[int, ...]) -> Any:
    if isinstance(outs[0], tuple):
        return tuple(_gathered([out[k] for out in outs], stack) for k in range(len(outs[0])))
    whole = np.stack(outs)
    return whole.reshape(stack + whole.shape[1:])


def plain(x: Any) -> Any:
    """A constant's plain value; under vmap, where there are many, examples run one by one."""
    if is_batched(x):
        bool(x.sum() == 0)  # raises
    return concrete(x)


def squared(x: Any) -> Any:
    """abs(x)**2, which is smooth at 0."""
    return (x * x.conj()).real if x.dtype.kind == "c" else x * x


def column(b: Any) -> Any:
    """A vector as a matrix of one column."""
    return b[:, None] if b.ndim == 1 else b


def like_vector(x: Any, b: Any) -> Any:
    """The column as a vector again, if b was one."""
    return x[..., 0] if b.ndim == 1 else x
