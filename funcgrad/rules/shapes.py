"""Functions that change an array's shape, the order of its axes or elements, or repeat its elements.

A few primitives move elements; the rest is written in terms of them. (padding.py has np.pad.)
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from funcgrad.core.arrays.arguments import as_operand
from funcgrad.core.arrays.ufunc import as_array
from funcgrad.core.engine.batch import Strategy, along_axis, ndim_of, one_by_one
from funcgrad.core.engine.catalogue import register
from funcgrad.core.engine.declare import composite, linear
from funcgrad.core.engine.named import Linear
from funcgrad.core.engine.primitive import Call, Primitive
from funcgrad.core.engine.trace import Tracer, bind, is_foreign
from funcgrad.core.memory.layout import axes_of, by_strides
from funcgrad.core.memory.orders import example

# ---- how these functions meet a batch --------------------------------------------------------------------------------


def batched_reshape(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    """A function that only reshapes: NumPy says to what shape it brings one example."""
    x = call.operands[0]
    shape = primitive.run(call.with_operands([_empty_like(x.shape[1:])])).shape
    if call.params.get("order", "C") == "C":
        out = x.reshape((size, *shape))
        return out.copy() if call.params.get("copy") else out
    # In Fortran order the first axis runs fastest, so the batch has to wait as the last one.
    turned = x.transpose(*range(1, x.ndim), 0).reshape((*shape, size), order="F")
    return turned.transpose(-1, *range(len(shape)))


def _empty_like(shape: tuple[int, ...]) -> Any:
    """An array of this shape which takes no memory: NumPy's own functions tell from it what shapes they give."""
    return np.broadcast_to(np.zeros(()), shape)


def shifted(*names: str) -> Strategy:
    """The strategy of a function whose parameters `names` count axes: each moves by one."""

    def strategy(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
        params = dict(call.params)
        rank = ndim_of(call.operands[0]) - batched[0]
        for name in names:
            axes: Any = params.get(name, primitive.defaults.get(name))
            # one that an example does not have, and which is not the batch
            if np.min(axes, initial=0) < -rank:
                return one_by_one(primitive, call, batched, size)
            params[name] = tuple(map(_behind, axes)) if np.ndim(axes) else _behind(axes)
        return bind(primitive, Call(call.operands, call.layout, params))

    return strategy


def _behind(axis: Any) -> int:
    """`axis` when there is one more axis in front."""
    axis = operator.index(axis)
    return axis + 1 if axis >= 0 else axis


def batched_transpose(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    """The batch stays in front."""
    x = call.operands[0]
    axes = call.params.get("axes", range(x.ndim - 2, -1, -1))
    return x.transpose(0, *map(_behind, (axes,) if isinstance(axes, int) else axes))


def batched_broadcast(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    """The batch stays in front of the new axes."""
    x = call.operands[0]
    shape = np.broadcast_to(0, call.params["shape"]).shape
    x = x.reshape((size,) + (1,) * (len(shape) + 1 - x.ndim) + x.shape[1:])
    return bind(primitive, Call([x], call.layout, {**call.params, "shape": (size, *shape)}))


def batched_roll(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    """One shift for all examples, unless the shift itself differs between them."""
    x = call.operands[0]
    if batched[1]:
        return one_by_one(primitive, call, batched, size)
    if call.params.get("axis") is None:
        return along_axis(primitive, call, batched, size).reshape(x.shape)
    return shifted("axis")(primitive, call, batched, size)


# ---- shapes ----------------------------------------------------------------------------------------------------------


class Reshape(Primitive):
    """np.reshape, by the method of arrays that is for it, which is faster."""

    def run(self, call: Call) -> Any:
        params = dict(call.params)
        shape = params.pop("shape")
        x = call.operands[0]
        if params.get("order", "C") != "C" and is_foreign(x):
            return _reshaped(x, shape)
        return x.reshape(shape, **params) if "copy" not in params else np.reshape(x, shape, **params)

    def arguments(self, call: Call, operands: Sequence[Any]) -> tuple[Sequence[Any], dict[str, Any]]:
        params = dict(call.params)
        return (*operands, params.pop("shape")), params  # whose name depends on NumPy's version


def _reshaped(x: Any, shape: Any) -> Any:
    """`x` reshaped in Fortran order, which not all libraries know: with the axes the other way round."""
    turned = (shape,) if isinstance(shape, int) else tuple(shape)[::-1]
    return x.transpose().reshape(turned).transpose()


def _reshaped_back(ct: Any, a: Any, order: Any = "C") -> Any:
    if order != "C" and is_foreign(ct):
        return _reshaped(ct, a.shape)
    return ct.reshape(a.shape) if order == "C" else ct.reshape(a.shape, order=order)


register(
    np.reshape,
    Reshape(
        np.reshape,
        Linear({"a": _reshaped_back}, moves=True),
        signature="a, /, shape, order='C', *, copy=None",
        batch=batched_reshape,
    ),
)
linear(np.squeeze, lambda ct, a: ct.reshape(a.shape), moves=True, batch=batched_reshape)
linear(np.expand_dims, lambda ct, a: ct.reshape(a.shape), axis="out", moves=True, batch=batched_reshape)


def batched_copy(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    """Each example is laid out as a copy of it alone would be."""
    x = call.operands[0]
    alone = example(x)[0] if size else np.empty(x.shape[1:])
    axes = axes_of(np.empty_like(alone, bool, order=call.params.get("order", "K")))
    copied = bind(primitive, Call([x.transpose(0, *map(_behind, axes))], call.layout, {"order": "C"}))
    return copied.transpose(0, *map(_behind, map(axes.index, range(len(axes)))))


linear(np.copy, lambda ct, a: ct, moves=True, batch=batched_copy, gives_array=True)


def _ravel(a: Any, order: Any = "C") -> Any:
    a = as_operand(a)
    x = example(a)
    axes = tuple(range(a.ndim))
    if order == "K":
        axes = by_strides(x)
    elif order == "F" or order == "A" and x.flags.fnc:
        axes = axes[::-1]
    if axes != tuple(range(a.ndim)):
        a, x = a.transpose(*axes), x.transpose(axes)
    # Where this steps through memory, or backwards, np.reshape still gives a view, np.ravel a copy.
    return a.reshape(-1) if x.flags.c_contiguous else np.copy(a.reshape(-1))


def _atleast(function: Any) -> Any:
    """np.atleast_1d and its siblings: NumPy says to what shape they bring each array."""

    def body(*arys: Any) -> Any:
        operands = [as_operand(x) for x in arys]
        outs = [
            np.reshape(x, function(_empty_like(x.shape)).shape) if isinstance(x, Tracer) else function(x)
            for x in operands
        ]
        return outs[0] if len(outs) == 1 else tuple(outs)

    return body


composite(np.ravel, _ravel)
for _function in (np.atleast_1d, np.atleast_2d, np.atleast_3d):
    composite(_function, _atleast(_function))


# ---- the order of axes -----------------------------------------------------------------------------------------------


def _transposed_back(ct: Any, a: Any, axes: Any = None) -> Any:
    if axes is None:
        return ct.transpose()
    axes = normalize_axis_tuple(axes, a.ndim)
    return ct.transpose(*map(axes.index, range(a.ndim)))


def _rollaxis(a: Any, axis: Any, start: int = 0) -> Any:
    a = as_operand(a)
    axis = normalize_axis_index(axis, a.ndim)
    start = normalize_axis_index(start, a.ndim + 1) if start >= 0 else normalize_axis_index(start, a.ndim)
    return np.moveaxis(a, axis, start - 1 if axis < start else start)


linear(np.transpose, _transposed_back, moves=True, batch=batched_transpose)
linear(np.matrix_transpose, lambda ct, x: ct.swapaxes(-1, -2), moves=True, batch="leading")
linear(
    np.swapaxes,
    lambda ct, a, axis1, axis2: ct.swapaxes(axis1, axis2),
    moves=True,
    batch=shifted("axis1", "axis2"),
)
linear(
    np.moveaxis,
    lambda ct, a, source, destination: np.moveaxis(ct, destination, source),
    moves=True,
    batch=shifted("source", "destination"),
)
composite(np.rollaxis, _rollaxis)


# ---- the order of elements -------------------------------------------------------------------------------------------


def _back(shift: Any) -> Any:
    return np.negative(shift if isinstance(shift, Tracer) else np.asarray(shift).astype(int))


linear(np.flip, lambda ct, m, axis=None: np.flip(ct, axis), moves=True, batch="axis")
linear(
    np.roll,
    {"a": lambda ct, a, shift, axis=None: np.roll(ct, _back(shift), axis)},
    operands="a shift",
    axis="as is",  # axes may come twice: the shifts add up
    moves=True,
    flattens=True,
    batch=batched_roll,
    gives_array=True,
)
linear(
    np.rot90,
    lambda ct, m, k=1, axes=(0, 1): np.rot90(ct, -k, axes),
    moves=True,
    batch=shifted("axes"),
)
composite(np.fliplr, lambda m: np.flip(as_operand(m), 1))
composite(np.flipud, lambda m: np.flip(as_operand(m), 0))


# ---- repetition ------------------------------------------------------------------------------------------------------


def _broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Any, ...]:
    operands = [as_array(x) for x in args]
    shape = np.broadcast_shapes(*map(np.shape, operands))
    if all(np.shape(x) == shape for x in operands):
        return tuple(operands)  # as NumPy does: these can be written into
    return tuple(np.broadcast_to(x, shape) for x in operands)


def _tile(A: Any, reps: Any) -> Any:
    x = as_operand(A)
    counts = tuple(map(operator.index, reps)) if np.ndim(reps) else (operator.index(reps),)
    rank = max(np.ndim(x), len(counts))
    counts = (1,) * (rank - len(counts)) + counts
    shape = (1,) * (rank - np.ndim(x)) + np.shape(x)
    if set(counts) <= {1} and isinstance(A, (np.ndarray, Tracer)):
        return np.copy(x)[(None,) * (rank - np.ndim(x))]  # in the order of memory that `A` has
    return _repeated(x, shape, counts, in_front=True)


def _repeated(x: Any, shape: Sequence[int], counts: Sequence[int], *, in_front: bool) -> Any:
    """`x`, of this shape, each axis repeated: as a whole (`in_front`) or element by element."""
    pairs = list(zip(counts, shape)) if in_front else list(zip(shape, counts))
    apart = [n for k, size in zip(counts, shape) for n in ((1, size) if in_front else (size, 1))]
    stretched = np.broadcast_to(np.reshape(x, apart), [n for pair in pairs for n in pair])
    # NumPy copies, also where a view would do.
    return np.copy(stretched, order="C").reshape([k * size for k, size in pairs])


def _repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    a = as_operand(a)
    if axis is None or not np.ndim(a) and axis in (0, -1):  # a number counts as an array of one axis
        a, axis = np.reshape(a, -1), 0
    axis = normalize_axis_index(axis, a.ndim)
    if isinstance(repeats, Tracer):
        repeats = operator.index(repeats)
    if np.size(repeats) == 1:
        count = np.repeat(0, repeats).size
        return _repeated(a, a.shape, [count if i == axis else 1 for i in range(a.ndim)], in_front=False)
    return np.take(a, np.repeat(np.arange(a.shape[axis]), repeats), axis)


def _resize(a: Any, new_shape: Any) -> Any:
    flat = np.reshape(as_operand(a), -1)
    shape = np.broadcast_to(0, new_shape).shape
    if not flat.size:
        return np.zeros_like(flat, shape=shape)  # as NumPy
    return np.tile(flat, -(-math.prod(shape) // flat.size))[: math.prod(shape)].reshape(shape)


linear(np.broadcast_to, lambda ct, array: ct, moves=True, batch=batched_broadcast)
composite(np.broadcast_arrays, _broadcast_arrays)
composite(np.tile, _tile)
composite(np.repeat, _repeat)
composite(np.resize, _resize)
