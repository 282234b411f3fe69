"""Contractions: sums of products. (einsum.py has np.einsum, vector_products.py vdot, outer, kron and cross.)

Each is linear in each operand, so its transpose in one operand is a contraction of the cotangent with the
other operand. No cotangent is conjugated for its own sake; where the function itself conjugates an operand
(vecdot, vecmat), so does the transpose. A stack of matrices that meets one matrix or vector is contracted
over the whole stack in one product.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from funcgrad.core.arrays.arguments import as_operand, out_refused
from funcgrad.core.arrays.ufunc import as_array
from funcgrad.core.engine.batch import ndim_of, one_by_one
from funcgrad.core.engine.declare import composite, multilinear
from funcgrad.core.engine.primitive import Call, Primitive
from funcgrad.core.engine.roots import declare_product
from funcgrad.core.engine.trace import bind
from funcgrad.core.lanes.batch import at_once
from funcgrad.rules.matrices import conj, mT

# ---- matmul, matvec, vecmat, vecdot ----------------------------------------------------------------------------------


def _all_but(x: Any, axis: int) -> tuple[int, ...]:
    """The axes of `x` without this negative one."""
    return (*range(x.ndim + axis), *range(x.ndim + axis + 1, x.ndim))


def _matmul_x(ct, x, y):
    if y.ndim == 2:
        return ct @ y.T
    if y.ndim == 1:
        return ct[..., None] * y
    if x.ndim == 1:
        return np.tensordot(y, ct, (_all_but(y, -2), range(ct.ndim)))
    if x.ndim == 2:
        return np.tensordot(ct, y, (_all_but(ct, -2), _all_but(y, -2)))
    return ct @ mT(y)


def _matmul_y(ct, x, y):
    if x.ndim == 2 and y.ndim < 3:
        return x.T @ ct
    if x.ndim == 1:
        return outer(x, ct) if y.ndim > 1 else x * ct
    if y.ndim < 3:
        return np.tensordot(x, ct, (_all_but(x, -1), range(x.ndim - 1)))
    return mT(x) @ ct


class OverStacks:
    """The strategy of a function of the last `cores` axes of its operands that broadcasts over the others."""

    def __init__(self, *cores: int) -> None:
        self.cores = cores

    def __call__(self, primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
        stacks = [
            ndim_of(x) - b - core for x, b, core in zip(call.operands, batched, self.cores, strict=True)
        ]
        if min(stacks) < 0:  # what one example is too small for
            return one_by_one(primitive, call, batched, size)
        operands = [
            x.reshape((size,) + (1,) * (max(stacks) - stack) + x.shape[1:])
            if b and stack < max(stacks)
            else x
            for x, b, stack in zip(call.operands, batched, stacks, strict=True)
        ]
        return bind(primitive, call.with_operands(operands))


def _batched_matmul(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    (x, y), (x_batched, y_batched) = call.operands, batched
    x_rank, y_rank = ndim_of(x) - x_batched, ndim_of(y) - y_batched
    if not x_rank or not y_rank:
        return one_by_one(primitive, call, batched, size)
    if x_rank == 1 and x_batched and y_rank <= 2 and not y_batched:
        return x @ y
    if y_rank == 1 and y_batched and x_rank <= 2 and not x_batched:
        return y @ (x.T if x_rank == 2 else x)
    if x_rank == 1:
        x = x[..., None, :]
    if y_rank == 1:
        y = y[..., None]
    out = OverStacks(2, 2)(primitive, call.with_operands([x, y]), batched, size)
    if y_rank == 1:
        out = out[..., 0]
    return out[..., 0, :] if x_rank == 1 and y_rank > 1 else out[..., 0] if x_rank == 1 else out


declare_product(
    multilinear(np.matmul, _matmul_x, _matmul_y, batch=_batched_matmul),
    lambda square: square.sum() if square.ndim == 1 else None,
)


def _outer(x: Any, y: Any) -> Any:
    # On each row of the result np.einsum spends less, which counts where there are many short ones. (Like a
    # matrix product it adds to 0; that of complex numbers is slow.)
    if (
        x.size >= _MANY
        and 1 < y.shape[-1] <= _SHORT
        and type(x) is np.ndarray
        and x.dtype.char in "fd"
        and y.dtype is x.dtype
    ):
        return np.einsum("...i,...j->...ij", x, y)
    return x[..., :, None] * y[..., None, :]


_MANY, _SHORT = 512, 128


# Outer products along the last axes in one step: each weight of a network needs one per example.
OUTER = multilinear(
    _outer,
    lambda ct, x, y: (ct @ y[..., None])[..., 0],
    lambda ct, x, y: (x[..., None, :] @ ct)[..., 0, :],
    operands="x y",
    name="outer",
    batch=OverStacks(1, 1),
)


def outer(x: Any, y: Any) -> Any:
    """The outer products, as the rules ask for them."""
    out = _outer_at_once(x, y)
    return OUTER(x, y) if out is None else out


_outer_at_once = at_once(OUTER)

declare_product(
    multilinear(
        np.vecdot,
        lambda ct, x, y: conj(ct[..., None] * y),
        lambda ct, x, y: ct[..., None] * conj(x),
        batch=OverStacks(1, 1),
    ),
    lambda square: square.sum(-1),
)
if hasattr(np, "matvec"):  # NumPy 2.2
    multilinear(
        np.matvec,
        lambda ct, x, y: ct[..., None] * y[..., None, :],
        lambda ct, x, y: np.matvec(mT(x), ct),
        batch=OverStacks(2, 1),
    )
    multilinear(
        np.vecmat,
        lambda ct, x, y: conj(np.matvec(y, ct)),
        lambda ct, x, y: conj(x)[..., None] * ct[..., None, :],
        batch=OverStacks(1, 2),
    )


# ---- tensordot, dot, inner -------------------------------------------------------------------------------------------
Pairs = tuple[tuple[int, ...], tuple[int, ...]]


def _tensordot_pairs(a: Any, b: Any, axes: Any = 2) -> Pairs:
    """The axes of `a` and those of `b` that np.tensordot sums over, in pairs."""
    if not isinstance(axes, (tuple, list, np.ndarray)):
        n = operator.index(axes)
        return tuple(range(ndim_of(a) - n, ndim_of(a))), tuple(range(n))
    of_a, of_b = axes
    return normalize_axis_tuple(of_a, ndim_of(a)), normalize_axis_tuple(of_b, ndim_of(b))


def _free(x: Any, summed: Sequence[int]) -> list[int]:
    return [i for i in range(ndim_of(x)) if i not in summed]


def _arranged(part: Any, axes: Sequence[int]) -> Any:
    """`part`, whose axes are now in this order, with its axes in order."""
    return part if list(axes) == sorted(axes) else part.transpose([axes.index(i) for i in range(len(axes))])


def _by_partner(axes: Sequence[int], partners: Sequence[int]) -> list[int]:
    """`axes` in the order in which their partners stand in the other operand."""
    return [axis for _, axis in sorted(zip(partners, axes, strict=True))]


def _pair_a(ct: Any, a: Any, b: Any, pairs: Pairs) -> Any:
    """The transpose in `a` of the sum over these pairs of axes of `a` and `b`."""
    free = _free(a, pairs[0])
    part = np.tensordot(ct, b, (range(len(free), ct.ndim), _free(b, pairs[1])))
    return _arranged(part, [*free, *_by_partner(*pairs)])


def _pair_b(ct: Any, a: Any, b: Any, pairs: Pairs) -> Any:
    """The transpose in `b` of the sum over these pairs of axes of `a` and `b`."""
    free = _free(a, pairs[0])
    part = np.tensordot(a, ct, (free, range(len(free))))
    return _arranged(part, [*_by_partner(pairs[1], pairs[0]), *_free(b, pairs[1])])


class _Example:
    """Stands for one example of a batch where only its rank counts."""

    def __init__(self, ndim: int) -> None:
        self.ndim = ndim


def _batched_tensordot(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    """One product for all examples."""
    a, b = call.operands
    examples = [
        _Example(ndim_of(x) - is_batched) for x, is_batched in zip(call.operands, batched, strict=True)
    ]
    pairs = _tensordot_pairs(*examples, **call.params)
    free_a, free_b = (_free(x, dims) for x, dims in zip(examples, pairs))
    of_a, of_b = ([i + is_batched for i in dims] for dims, is_batched in zip(pairs, batched))
    if not all(batched):
        out = np.tensordot(a, b, (of_a, of_b))
        return out if batched[0] else np.ascontiguousarray(np.moveaxis(out, len(free_a), 0), like=out)
    a = a.transpose(0, *(i + 1 for i in free_a), *of_a)
    b = b.transpose(0, *of_b, *(i + 1 for i in free_b))
    if a.shape[1 + len(free_a) :] != b.shape[1 : 1 + len(of_b)]:
        raise ValueError(
            f"np.tensordot: axes of {a.shape[1 + len(free_a) :]} and of {b.shape[1 : 1 + len(of_b)]} are paired"
        )
    kept_a, summed, kept_b = (
        a.shape[1 : 1 + len(free_a)],
        b.shape[1 : 1 + len(of_b)],
        b.shape[1 + len(of_b) :],
    )
    product = a.reshape(size, prod(kept_a), prod(summed)) @ b.reshape(size, prod(summed), prod(kept_b))
    return product.reshape((size, *kept_a, *kept_b))


def _sum_over_all(square: Any, axes: Any = 2) -> Any:
    of_a, of_b = _tensordot_pairs(square, square, axes)
    return square.sum() if of_a == of_b and len(of_a) == square.ndim else None


declare_product(
    multilinear(
        np.tensordot,
        lambda ct, a, b, axes=2: _pair_a(ct, a, b, _tensordot_pairs(a, b, axes)),
        lambda ct, a, b, axes=2: _pair_b(ct, a, b, _tensordot_pairs(a, b, axes)),
        operands="a b",
        batch=_batched_tensordot,
        gives_array=True,
    ),
    _sum_over_all,
)


def _dot(a: Any, b: Any, out: Any = None) -> Any:
    if out is not None:
        raise out_refused("dot")
    return _product_of(as_array(a), as_array(b), -2)


def _product_of(a: Any, b: Any, axis: int) -> Any:
    """The sum over the last axis of `a` and this one of `b`, or its only one, by the shortest way."""
    if not a.ndim or not b.ndim:
        return a * b
    if b.ndim == 1:
        return a @ b
    if a.ndim <= 2 and b.ndim == 2:
        return a @ (b.T if axis == -1 else b)
    return np.tensordot(a, b, ((-1,), (axis,)))


composite(np.dot, _dot)
composite(np.inner, lambda a, b, /: _product_of(as_array(a), as_array(b), -1))


# ---- the names in np.linalg ------------------------------------------------------------------------------------------


def _linalg_cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    x1, x2 = as_operand(x1), as_operand(x2)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, "
            f"but they are {x1.shape[axis]} and {x2.shape[axis]} dimensional instead."
        )
    return np.cross(x1, x2, axis=axis)


def _linalg_outer(x1: Any, x2: Any, /) -> Any:
    x1, x2 = as_operand(x1), as_operand(x2)
    if ndim_of(x1) != 1 or ndim_of(x2) != 1:
        raise ValueError(
            f"np.linalg.outer takes vectors, but the operands have {ndim_of(x1)} and {ndim_of(x2)} axes"
        )
    return np.outer(x1, x2)


def _linalg_tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    return np.tensordot(x1, x2, axes=axes)


def _linalg_vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    return np.vecdot(np.moveaxis(as_operand(x1), axis, -1), np.moveaxis(as_operand(x2), axis, -1))


def _multi_dot(arrays: Sequence[Any], *, out: Any = None) -> Any:
    if out is not None:
        raise out_refused("linalg.multi_dot")
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    factors = [as_operand(x) for x in arrays]
    if any(x.ndim != 2 for x in factors[1:-1]) or not {factors[0].ndim, factors[-1].ndim} <= {1, 2}:
        raise np.linalg.LinAlgError(
            "multi_dot takes matrices; only the first and the last array may be vectors"
        )
    rows = 1 if factors[0].ndim == 1 else factors[0].shape[0]
    columns = 1 if factors[-1].ndim == 1 else factors[-1].shape[1]
    sizes = [rows, *(x.shape[0] for x in factors[1:]), columns]
    cuts = _cheapest_cuts(sizes)

    def product(i: int, j: int) -> Any:
        if i == j:
            return factors[i]
        return np.dot(product(i, cuts[i, j]), product(cuts[i, j] + 1, j))

    return product(0, len(factors) - 1)


def _cheapest_cuts(sizes: Sequence[int]) -> dict[tuple[int, int], int]:
    """Where to cut a chain of matrices, sizes[i] by sizes[i + 1], so that the fewest numbers are multiplied.

    The product of the matrices i to j is that of i to cuts[i, j] times that of the others (Cormen et al.,
    Introduction to Algorithms, 15.2).
    """
    cuts: dict[tuple[int, int], int] = {}
    cost = {(i, i): 0 for i in range(len(sizes) - 1)}
    for length in range(1, len(sizes) - 1):
        for i in range(len(sizes) - 1 - length):
            j = i + length
            costs = {
                k: cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1] for k in range(i, j)
            }
            cuts[i, j] = min(costs, key=costs.__getitem__)
            cost[i, j] = costs[cuts[i, j]]
    return cuts


composite(np.linalg.multi_dot, _multi_dot)
composite(np.linalg.matmul, lambda x1, x2, /: np.matmul(x1, x2))
composite(np.linalg.outer, _linalg_outer)
composite(np.linalg.tensordot, _linalg_tensordot)
composite(np.linalg.vecdot, _linalg_vecdot)
composite(np.linalg.cross, _linalg_cross)
composite(np.linalg.trace, lambda x, /, *, offset=0, dtype=None: np.trace(x, offset, -2, -1, dtype))
composite(np.linalg.diagonal, lambda x, /, *, offset=0: np.diagonal(x, offset, -2, -1))
composite(np.linalg.matrix_transpose, lambda x, /: np.matrix_transpose(x))
