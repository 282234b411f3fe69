"""Piecewise constant functions (their results are constants) and queries (answered from shapes and dtypes)."""

from __future__ import annotations

import numpy as np

from funcgrad.core.declare import piecewise_constant, query

piecewise_constant(
    np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal,
    np.logical_and, np.logical_or, np.logical_xor, np.logical_not,
    np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift, np.right_shift, np.bitwise_count,
    np.gcd, np.lcm, np.floor_divide, np.floor, np.ceil, np.trunc, np.rint, np.spacing,
    np.signbit, np.isnan, np.isinf, np.isfinite, np.isnat,
)  # fmt: skip
piecewise_constant(np.round, np.around, np.fix, np.iscomplex, np.isreal, np.isposinf, np.isneginf, batch="aligned")
piecewise_constant(np.isclose, operands="a b", batch="aligned")
piecewise_constant(np.allclose, np.array_equal, operands="a b")
piecewise_constant(np.array_equiv, operands="a1 a2")
piecewise_constant(np.argmax, np.argmin, np.argsort, batch="axis", flattens=True)
piecewise_constant(np.all, np.any, operands="a where", batch="axis")
piecewise_constant(np.count_nonzero, batch="axis")
piecewise_constant(np.nonzero, np.flatnonzero, np.argwhere, np.nanargmax, np.nanargmin)
piecewise_constant(np.searchsorted, operands="a v")
piecewise_constant(np.digitize, operands="x bins")
query(np.shape, np.ndim, np.size, np.result_type, np.can_cast, np.iscomplexobj, np.isrealobj, np.common_type, np.min_scalar_type)
