"""Functions that join arrays, and that take them apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from funcgrad.core.declare import linear
from funcgrad.core.primitive import Call, Primitive
from funcgrad.core.trace import bind


def _batched_all(operands: Sequence[Any], batched: Sequence[bool], size: int) -> list[Any]:
    """Operands that all have the batch in front."""
    return [x if b else np.broadcast_to(x, (size, *np.shape(x))) for x, b in zip(operands, batched, strict=True)]


def batched_concatenate(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    """The axis moves by one."""
    operands = _batched_all(call.operands, batched, size)
    axis = call.params.get("axis", primitive.defaults["axis"])
    if axis is None:
        operands = [x.reshape((size, -1)) for x in operands]
    return bind(primitive, Call(operands, call.layout, {**call.params, "axis": 1 if axis is None else axis + 1}))


def _cut(ct: Any, arrays: Any, axis: Any = 0) -> list[Any]:
    """The pieces of `ct` that belong to each of `arrays`."""
    if axis is None:
        ends = list(accumulate(x.size for x in arrays))
        return [ct[end - x.size : end].reshape(x.shape) for x, end in zip(arrays, ends, strict=True)]
    before = (slice(None),) * axis
    ends = list(accumulate(x.shape[axis] for x in arrays))
    return [ct[(*before, slice(end - x.shape[axis], end))] for x, end in zip(arrays, ends, strict=True)]


def _unstacked(ct: Any, arrays: Any, axis: int = 0) -> list[Any]:
    before = (slice(None),) * axis
    return [ct[(*before, k)] for k in range(len(arrays))]


linear(
    np.concatenate, _cut, moves=True, batch=batched_concatenate,
    operands="arrays*", signature="arrays, /, axis=0, out=None, *, dtype=None, casting='same_kind'",
)  # fmt: skip
linear(np.stack, _unstacked, operands="arrays*", axis="out", moves=True, batch=batched_concatenate)
