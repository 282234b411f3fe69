"""Functions without a derivative: piecewise constant ones (their results are constants), queries (answered
from shapes and dtypes, or by showing the values), and those that a tracer, which holds numbers, has no
business with.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy._core import umath

from funcgrad.core.arrays.ufunc import as_array
from funcgrad.core.engine.batch import along_axis, one_by_one
from funcgrad.core.engine.catalogue import register
from funcgrad.core.engine.declare import composite, piecewise_constant, query, unsupported
from funcgrad.core.engine.kinds import PiecewiseConstant
from funcgrad.core.engine.primitive import Primitive
from funcgrad.core.engine.trace import bind, concrete
from funcgrad.core.memory.orders import contiguous_as

# ---- elementwise -----------------------------------------------------------------------------------------------------
piecewise_constant(
    np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal,
    np.logical_and, np.logical_or, np.logical_xor, np.logical_not,
    np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift, np.right_shift, np.bitwise_count,
    np.gcd, np.lcm, np.floor_divide, np.floor, np.ceil, np.trunc, np.rint, np.spacing,
    np.signbit, np.isnan, np.isinf, np.isfinite, np.isnat, vars(umath)["_ones_like"],
)  # fmt: skip


class Round(Primitive):
    """np.round: with decimals its array is in C or Fortran order, without them it lies as the operand."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        call, rounded = self.split(args, kwargs), super().__call__(*args, **kwargs)
        return contiguous_as(rounded, call.operands[0]) if call.params.get("decimals") else rounded


for _function in (np.round, np.around):
    register(_function, Round(_function, PiecewiseConstant(), batch="aligned"))
piecewise_constant(np.fix, np.iscomplex, np.isreal, np.isposinf, np.isneginf, batch="aligned")
piecewise_constant(np.isclose, operands="a b", batch="aligned")


# ---- positions and counts --------------------------------------------------------------------------------------------
def _batched_extreme(primitive, call, batched, size):
    """Along an axis; axis=None flattens the array, and keepdims=True is then left to each example."""
    flat = call.params.get("axis") is None
    return (one_by_one if flat and "keepdims" in call.params else along_axis)(primitive, call, batched, size)


def _batched_search(primitive, call, batched, size):
    """One sorted array, searched for every element of a batch."""
    places = {"searchsorted": "v", "digitize": "x"}[primitive.name]
    slot = call.slots(places).start
    alone = batched[slot] and sum(batched) == 1
    return bind(primitive, call) if alone else one_by_one(primitive, call, batched, size)


piecewise_constant(np.argmax, np.argmin, np.nanargmax, np.nanargmin, batch=_batched_extreme, flattens=True)
piecewise_constant(np.argsort, np.argpartition, batch="axis", flattens=True)
piecewise_constant(np.all, np.any, operands="a where", batch="axis")
piecewise_constant(np.count_nonzero, batch="axis")
piecewise_constant(np.nonzero, np.flatnonzero, np.argwhere)
piecewise_constant(np.searchsorted, operands="a v sorter", batch=_batched_search)
piecewise_constant(np.digitize, operands="x bins", batch=_batched_search)

# ---- comparisons of whole arrays -------------------------------------------------------------------------------------
piecewise_constant(np.allclose, operands="a b")
piecewise_constant(np.array_equal, np.array_equiv, operands="a1 a2")

# ---- shapes and dtypes -----------------------------------------------------------------------------------------------
query(np.shape, np.ndim, np.size)
query(np.result_type, np.can_cast, np.common_type, np.min_scalar_type, np.iscomplexobj, np.isrealobj)
query(np.shares_memory, np.may_share_memory, seen=concrete)


def _real_if_close(a, tol=100):
    a = as_array(a)
    if a.dtype.kind != "c":
        return a
    limit = np.finfo(a.dtype).eps * tol if tol > 1 else tol
    return np.real(a) if np.all(abs(np.imag(a)) < limit) else a


composite(np.real_if_close, _real_if_close)

# ---- text and files --------------------------------------------------------------------------------------------------
query(np.array2string, np.array_repr, np.array_str, seen=lambda x: x._text())
for _function in (np.save, np.savez, np.savez_compressed, np.savetxt):
    unsupported(
        _function,
        "a file holds plain numbers, which have no derivative",
        "Return the array from the function (grad and its kin take has_aux=True) and save it there.",
    )

# ---- bits, dates and strings -----------------------------------------------------------------------------------------
piecewise_constant(np.packbits, signature="a, /, axis=None, bitorder='big'")
piecewise_constant(np.unpackbits, signature="a, /, axis=None, count=None, bitorder='big'")
for _function in (np.busday_count, np.busday_offset, np.is_busday, np.datetime_as_string):
    unsupported(_function, "it is about dates, and a tracer holds numbers")
# The ufuncs of np.strings have no loops for numbers.
for _function in [f for f in vars(umath).values() if isinstance(f, np.ufunc) and not f.types]:
    unsupported(_function, "it is about strings, and a tracer holds numbers")
