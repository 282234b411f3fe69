"""What a function's body asks of operands but computing: values for indices, memory to write to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from funcgrad.core.engine.batch import BatchTracer, is_batched
from funcgrad.core.engine.trace import Tracer, concrete, innermost
from funcgrad.core.memory.indexing import GETITEM, holds_tracer_index
from funcgrad.core.memory.mutation import for_each
from funcgrad.errors import BatchedControlFlowError


def constant(x: Any) -> Any:
    """`x` without derivatives: an array, or a batch of them under vmap, for indices and masks."""
    if not isinstance(x, Tracer):
        return x
    inner = constant(x._value)
    return x._trace.wrap(inner, None) if isinstance(x, BatchTracer) else inner


def looked_at(x: Any, who: str) -> Any:
    """The plain array beneath `x`, for a function whose result has a shape that depends on it.

    Raises RuntimeError under vmap, where the examples would have results of different shapes.
    """
    if is_batched(x):
        raise RuntimeError(
            f"vmap: the shape of what {who} gives depends on the values, which differ between the examples. Call {who} outside "
            "of vmap, or write torch.where(mask, x, 0) instead of picking elements."
        )
    return np.asarray(concrete(x))


@contextmanager
def branches_refused() -> Iterator[None]:
    """PyTorch's RuntimeError, where the function under vmap asks for one value of a batch."""
    try:
        yield
    except BatchedControlFlowError as error:
        text = str(error)
        asked = (
            "calling .item() on a Tensor"
            if "x.item()" in text
            else "attempting to use a Tensor in some data-dependent control flow"
        )
        instead = text.replace("np.where", "torch.where").replace("np.take_along_axis", "torch.gather")
        raise RuntimeError(f"vmap: It looks like you're {asked}. {instead}") from error


def as_array(x: Any) -> Any:
    """A NumPy scalar as an array; a tracer stays."""
    return x if isinstance(x, Tracer) else np.asarray(x)


def item(x: Any, index: Any) -> Any:
    """x[index], where the index may hold a batch of indices and `x` be an array."""
    return x[index] if isinstance(x, Tracer) or not holds_tracer_index(index) else GETITEM(x, index)


def cell(x: Any, *written: Any) -> Any:
    """A copy of `x` that these may be written into: a tracer, if one of them is."""
    trace = innermost(written)
    if trace is None or isinstance(x, Tracer):
        return np.copy(x)
    return trace.wrap(for_each(trace, np.array(x)), None)
