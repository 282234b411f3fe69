"""Functions that change an array's shape or the order of its elements: NumPy's chapter on array manipulation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from funcgrad.core.batch import Strategy
from funcgrad.core.declare import linear
from funcgrad.core.primitive import Call, Primitive
from funcgrad.core.trace import bind

# ---- how these functions meet a batch --------------------------------------------------------------------------------


def batched_reshape(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    """A function that only reshapes: NumPy says to what shape it brings one example."""
    x = call.operands[0]
    example = np.broadcast_to(np.zeros((), x.dtype), x.shape[1:])
    shape = primitive.run(call.with_operands([example])).shape
    if call.params.get("order", "C") == "C":
        return x.reshape((size, *shape))
    # In Fortran order the first axis runs fastest, so the batch has to wait as the last one.
    turned = x.transpose(*range(1, x.ndim), 0).reshape((*shape, size), order="F")
    return turned.transpose(-1, *range(len(shape)))


def shifted(*names: str) -> Strategy:
    """The strategy of a function whose parameters `names` count axes from the front: each moves by one."""

    def strategy(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
        params = dict(call.params)
        for name in names:
            axes = params.get(name, primitive.defaults.get(name))
            params[name] = tuple(map(_behind, axes)) if isinstance(axes, (tuple, list)) else _behind(axes)
        return bind(primitive, Call(call.operands, call.layout, params))

    return strategy


def _behind(axis: int) -> int:
    """`axis` when there is one more axis in front."""
    return axis + 1 if axis >= 0 else axis


def batched_transpose(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    """The batch stays in front."""
    x = call.operands[0]
    axes = call.params.get("axes") or range(x.ndim - 2, -1, -1)
    return x.transpose(0, *map(_behind, axes))


# ---- shapes ----------------------------------------------------------------------------------------------------------


def _reshaped_back(ct: Any, a: Any, order: Any = "C") -> Any:
    return ct.reshape(a.shape, order=order)


linear(np.reshape, _reshaped_back, moves=True, batch=batched_reshape)
linear(np.ravel, _reshaped_back, moves=True, batch=batched_reshape)
linear(np.squeeze, lambda ct, a: ct.reshape(a.shape), moves=True, batch=batched_reshape)
linear(np.expand_dims, lambda ct, a: ct.reshape(a.shape), axis="out", moves=True, batch=batched_reshape)


# ---- orders of axes --------------------------------------------------------------------------------------------------


def _transposed_back(ct: Any, a: Any, axes: Any = None) -> Any:
    if axes is None:
        return ct.transpose()
    axes = normalize_axis_tuple(axes, a.ndim)
    return ct.transpose(*(axes.index(i) for i in range(a.ndim)))


linear(np.transpose, _transposed_back, moves=True, batch=batched_transpose)
linear(np.matrix_transpose, lambda ct, x: ct.swapaxes(-1, -2), moves=True, batch="leading")
linear(np.swapaxes, lambda ct, a, axis1, axis2: ct.swapaxes(axis1, axis2), moves=True, batch=shifted("axis1", "axis2"))
linear(
    np.moveaxis, lambda ct, a, source, destination: np.moveaxis(ct, destination, source), moves=True,
    batch=shifted("source", "destination"),
)  # fmt: skip


# ---- repetition ------------------------------------------------------------------------------------------------------


def batched_broadcast(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    """The batch stays in front of the new axes."""
    x = call.operands[0]
    shape = np.broadcast_to(np.zeros(()), call.params["shape"]).shape
    x = x.reshape((size,) + (1,) * (len(shape) + 1 - x.ndim) + x.shape[1:])
    return bind(primitive, Call([x], call.layout, {**call.params, "shape": (size, *shape)}))


linear(np.broadcast_to, lambda ct, array: ct, moves=True, batch=batched_broadcast)
