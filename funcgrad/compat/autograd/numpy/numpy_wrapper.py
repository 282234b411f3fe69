"""How autograd puts its namespaces together; here NumPy's functions are the ones to call, as they are."""

from __future__ import annotations

from typing import Any

import numpy as _np

from funcgrad.compat.autograd.primitives import notrace_primitive, primitive

nograd_functions = [
    _np.floor, _np.ceil, _np.round, _np.rint, _np.around, _np.fix, _np.trunc, _np.all, _np.any, _np.argmax, _np.argmin,
    _np.argpartition, _np.argsort, _np.argwhere, _np.nonzero, _np.flatnonzero, _np.count_nonzero, _np.searchsorted, _np.sign,
    _np.ndim, _np.shape, _np.floor_divide, _np.logical_and, _np.logical_or, _np.logical_not, _np.logical_xor, _np.isfinite,
    _np.isinf, _np.isnan, _np.isneginf, _np.isposinf, _np.allclose, _np.isclose, _np.array_equal, _np.array_equiv,
    _np.greater, _np.greater_equal, _np.less, _np.less_equal, _np.equal, _np.not_equal, _np.iscomplexobj, _np.iscomplex,
    _np.size, _np.isscalar, _np.isreal, _np.zeros_like, _np.ones_like, _np.result_type,
]  # fmt: skip


def wrap_namespace(old: dict[str, Any], new: dict[str, Any]) -> None:
    """Enter the functions of one namespace into another, as primitives; types and numbers as they are."""
    for name, thing in old.items():
        if isinstance(thing, type) or not callable(thing):
            new[name] = thing
        else:
            new[name] = (notrace_primitive if any(thing is f for f in nograd_functions) else primitive)(thing)
