"""The in-place operators: x += y makes x anew, or writes into what x is a view of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.batch import BatchTracer
from funcgrad.core.methods import LANES, ArrayMethods
from funcgrad.core.mutation import assign, make_stale
from funcgrad.core.primitive import spec
from funcgrad.core.trace import Tracer, concrete


def adopt(x: Tracer, result: Any, name: str) -> Tracer:
    """`x` with the content of `result`, as an in-place operator leaves it: NumPy's rules for shape and dtype hold."""
    result_spec = spec(result)
    if result_spec.shape != x.shape:
        raise ValueError(
            f"non-broadcastable output operand with shape {x.shape} doesn't match the broadcast shape "
            f"{result_spec.shape} (in {name})"
        )
    if not np.can_cast(result_spec.dtype, x.dtype, "same_kind"):
        raise TypeError(
            f"Cannot cast ufunc '{name}' output from {result_spec.dtype!r} to {x.dtype!r} with casting rule 'same_kind'"
        )
    alias = x.alias
    if alias is not None and alias.root is not None or result_spec.dtype != x.dtype or not isinstance(result, Tracer):
        assign(x, ..., result)
        return x
    make_stale(x)
    x.trace, x.value, x.node = result.trace, result.value, result.node
    x.__class__ = result.trace.tracer_type
    return x


def is_scalar(x: Tracer) -> bool:
    """Does `x` stand for a NumPy scalar? Those are immutable: `s += 1` makes a new one."""
    return not x.shape and (isinstance(x, BatchTracer) or not isinstance(concrete(x), np.ndarray))


INPLACE = {
    "iadd": np.add, "isub": np.subtract, "imul": np.multiply, "itruediv": np.divide, "ifloordiv": np.floor_divide,
    "imod": np.remainder, "ipow": np.power, "imatmul": np.matmul,
}  # fmt: skip


def _inplace(ufunc: Any) -> Callable[[Tracer, Any], Any]:
    def operator(x: Tracer, y: Any) -> Any:
        result = LANES[ufunc](x, y)
        return result if is_scalar(x) else adopt(x, result, ufunc.__name__)

    return operator


def install_inplace() -> None:
    """Give tracers the in-place operators (the rules must be declared)."""
    for name, ufunc in INPLACE.items():
        setattr(ArrayMethods, f"__{name}__", _inplace(ufunc))
