"""Windows as columns, declared to the engine: taking them and adding them up are mutual transposes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.core.engine.batch import one_by_one
from funcgrad.core.engine.declare import linear
from funcgrad.core.engine.primitive import Call, Primitive
from funcgrad.nn.kernels.convolution import Geometry, channels_first, padded_last, windows


def columns(x: Any, geometry: Geometry) -> Any:
    """The windows of x (N, C, *size) as columns: (N, C*kernel, out)."""
    rows = windows(padded_last(x, geometry), geometry)
    rank = len(geometry.size)
    axes = (0, 2 * rank + 1, *range(rank + 1, 2 * rank + 1), *range(1, rank + 1))
    return rows.transpose(axes).reshape(
        len(x), x.shape[1] * math.prod(geometry.kernel), math.prod(geometry.out)
    )


def added_columns(y: Any, geometry: Geometry) -> Any:
    """x (N, C, *size), the sum of all columns in their places: the transpose of `columns`."""
    split = y.reshape(len(y), -1, *geometry.kernel, *geometry.out)
    x = np.zeros((len(y), *geometry.padded, split.shape[1]), y.dtype)
    for k, where in geometry.positions:
        x[where] += np.moveaxis(split[(slice(None), slice(None), *k)], 1, -1)
    return channels_first(x[geometry.inside])


def _examples(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    """One operand (N, ...): a batch is more examples."""
    if not size:
        return one_by_one(primitive, call, batched, size)
    x = call.operands[0]
    out = primitive(x.reshape(-1, *x.shape[2:]), **call.params)
    return out.reshape(size, -1, *out.shape[1:])


COLUMNS = linear(columns, lambda ct, geometry: ADDED_COLUMNS(ct, geometry), batch=_examples, name="im2col")
ADDED_COLUMNS = linear(
    added_columns, lambda ct, geometry: COLUMNS(ct, geometry), batch=_examples, name="col2im"
)
