"""Functions along the last axis of a lazy array, that need all of it at once: sorting, taking, order statistics.

What holds the elements takes them by an index of several arrays (indexing.py); a lazy array is given a function of
NumPy's to run on its rows, chunk by chunk, once an axis is in one chunk. Nothing is computed before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from funcgrad.core.engine.declare import linear, piecewise_constant
from funcgrad.core.engine.primitive import Call, Primitive
from funcgrad.core.engine.trace import bind, memory_of
from funcgrad.core.memory.chunks import by_rows


def is_lazy(x: Any) -> bool:
    """Is `x`, or what it is a tracer of, an array that computes nothing before it is told to?"""
    return by_rows(memory_of(x)) is not None


def _at_once(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    """A batch is one more axis before the rows."""
    return bind(primitive, call)


def sorting_rows(x: Any, function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """np.argsort or np.argpartition along the last axis of a lazy `x`."""
    run: Any = by_rows(x)
    return run(partial(function, **options), "(n)->(n)", x, output_dtypes=np.intp, allow_rechunk=True)


def _in_step(x: Any, indices: Any) -> tuple[Any, Any]:
    """Both with the same axes before the last: one of them may have those of a batch."""
    lead = np.broadcast_shapes(x.shape[:-1], indices.shape[:-1])
    return np.broadcast_to(x, (*lead, x.shape[-1])), np.broadcast_to(indices, (*lead, indices.shape[-1]))


def _taken(x: Any, indices: Any) -> Any:
    return np.take_along_axis(*_in_step(x, indices), -1)


def _put(part: Any, indices: Any, size: int) -> Any:
    """`part` added at `indices` of rows of this size."""
    part, indices = _in_step(part, indices)
    shape = part.shape
    out = np.zeros((*shape[:-1], size), part.dtype)
    lead = [
        np.arange(n).reshape([-1 if k == i else 1 for k in range(len(shape))]) for i, n in enumerate(shape)
    ]
    np.add.at(out, (*lead[:-1], indices), part)
    return out


def _take_rows(x: Any, indices: Any) -> Any:
    run: Any = by_rows(x) or by_rows(indices)  # tangents may be plain rows of the identity
    return run(_taken, "(n),(k)->(k)", x, indices, output_dtypes=x.dtype, allow_rechunk=True)


def _taken_back(ct: Any, x: Any, indices: Any) -> Any:
    return put_rows(ct, indices, x.shape[-1])


def _put_lazily(part: Any, indices: Any, size: int) -> Any:
    run: Any = by_rows(part) or by_rows(indices)
    return run(
        partial(_put, size=size), "(k),(k)->(n)", part, indices,
        output_dtypes=part.dtype, output_sizes={"n": size}, allow_rechunk=True,
    )  # fmt: skip


# x[..., indices] along the last axis of a lazy array, and its transpose.
take_rows = linear(
    _take_rows, {"x": _taken_back}, operands="x indices", axis="as is", moves=True, batch=_at_once
)
put_rows = linear(
    _put_lazily,
    {"part": lambda ct, part, indices: take_rows(ct, indices)},
    operands="part indices",
    axis="as is",
    moves=True,
    batch=_at_once,
)


def places(values: Any, find: Callable[..., Any], count: int) -> Any:
    """What `find` tells of each row: `count` triples of two positions and a share, along two new last axes."""
    run: Any = by_rows(values)
    sizes = {"k": count, "m": 3}
    return run(find, "(n)->(k,m)", values, output_dtypes=float, output_sizes=sizes, allow_rechunk=True)


piecewise_constant(sorting_rows, places, batch=_at_once)
