"""Products of vectors: vdot, outer, kron, cross. (contractions.py has dot, inner and the others.)"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad.core.arrays.ufunc import as_array
from funcgrad.core.engine.batch import Strategy, ndim_of, one_by_one
from funcgrad.core.engine.catalogue import Out
from funcgrad.core.engine.cotangent import dense, fit_shape
from funcgrad.core.engine.declare import composite, multilinear
from funcgrad.core.engine.primitive import Call, Primitive
from funcgrad.core.engine.roots import declare_product
from funcgrad.rules.contractions import OverStacks
from funcgrad.rules.matrices import conj

# ---- products of flattened operands ----------------------------------------------------------------------------------


def _flat(x: Any) -> Any:
    return x.reshape(-1) if ndim_of(x) else np.reshape(x, (1,))


def _batched_flat(function: Callable[[Any, Any], Any]) -> Strategy:
    """The strategy of a function that flattens its operands: `function` of vectors with the batch in front."""

    def strategy(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
        if size == 0:
            return one_by_one(primitive, call, batched, size)
        return function(
            *(x.reshape(size, -1) if b else _flat(x) for x, b in zip(call.operands, batched, strict=True))
        )

    return strategy


declare_product(
    multilinear(
        np.vdot,
        lambda ct, a, b: conj(ct * _flat(b)).reshape(a.shape),
        lambda ct, a, b: (ct * conj(_flat(a))).reshape(b.shape),
        operands="a b",
        signature="a, b, /",
        batch=_batched_flat(np.vecdot),
    ),
    lambda square: square.sum(),
)
multilinear(
    np.outer,
    lambda ct, a, b: (ct @ _flat(b)).reshape(a.shape),
    lambda ct, a, b: (_flat(a) @ ct).reshape(b.shape),
    operands="a b",
    batch=_batched_flat(lambda a, b: a[..., None] * b[..., None, :]),
    out=Out(repeats=True),
)


def _kron(a: Any, b: Any) -> Any:
    a, b = as_array(a), as_array(b)
    rank = max(a.ndim, b.ndim)
    shape_a, shape_b = ((1,) * (rank - x.ndim) + x.shape for x in (a, b))
    product = a.reshape([n for size in shape_a for n in (size, 1)]) * b.reshape(
        [n for size in shape_b for n in (1, size)]
    )
    return product.reshape([m * n for m, n in zip(shape_a, shape_b)])


composite(np.kron, _kron)


# ---- cross -----------------------------------------------------------------------------------------------------------


def _vectors(x: Any, axis: int) -> Any:
    """`x` with its vectors along the last axis, those of length 2 filled up with a 0."""
    x = np.moveaxis(x, axis, -1)
    return x if x.shape[-1] == 3 else np.concatenate([x, np.zeros_like(x[..., :1])], axis=-1)


def _cross_pull(sign: int, ct: Any, x: Any, y: Any, axes: tuple[int, int, int]) -> Any:
    """The cotangent of `x`, along axes[0], in a product with `y`, along axes[1], into axes[2]."""
    if ct.ndim < max(x.ndim, y.ndim):  # of vectors in the plane: the third component
        ct = ct[..., None] * np.array([0, 0, 1], np.finfo(ct.dtype).dtype)
    else:
        ct = np.moveaxis(ct, axes[2], -1)
    axis = axes[0] % x.ndim
    part = sign * np.cross(_vectors(y, axes[1]), ct)[..., : x.shape[axis]]
    return np.moveaxis(
        dense(fit_shape(part, (*x.shape[:axis], *x.shape[axis + 1 :], x.shape[axis]))), -1, axis
    )


def _cross_a(ct, a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    return _cross_pull(1, ct, a, b, (axisa, axisb, axisc) if axis is None else (axis,) * 3)


def _cross_b(ct, a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    return _cross_pull(-1, ct, b, a, (axisb, axisa, axisc) if axis is None else (axis,) * 3)


def _batched_cross(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    """All axes are moved to the end, so that the batch can stay in front."""
    axis = call.params.get("axis")
    of_a, of_b, of_out = (
        call.params.get(name, -1) if axis is None else axis for name in ("axisa", "axisb", "axisc")
    )
    if any(i < b - ndim_of(x) for x, i, b in zip(call.operands, (of_a, of_b), batched, strict=True)):
        return one_by_one(primitive, call, batched, size)
    moved = [
        np.moveaxis(x, i + (is_batched and i >= 0), -1)
        for x, i, is_batched in zip(call.operands, (of_a, of_b), batched, strict=True)
    ]
    out = OverStacks(1, 1)(primitive, Call(moved, call.layout, {}), batched, size)
    return (
        out if moved[0].shape[-1] == moved[1].shape[-1] == 2 else np.moveaxis(out, -1, of_out + (of_out >= 0))
    )


multilinear(np.cross, _cross_a, _cross_b, operands="a b", axis="as is", batch=_batched_cross)
