"""In-place operators, and what else changes an array: each leaves a new content in the same tracer."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Number
from typing import Any

import numpy as np

from funcgrad.core.arrays.foreign import OwnOperation
from funcgrad.core.arrays.methods import RUNNERS
from funcgrad.core.arrays.methods import astype as cast_to
from funcgrad.core.arrays.spec import spec
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.engine.trace import Tracer
from funcgrad.core.memory.loops import assign, assign_kept
from funcgrad.core.memory.views import FILLED, IndexStep, check_writeable, is_scalar
from funcgrad.core.messages.conversions import conversion_error
from funcgrad.errors import UnsupportedFunctionError, user_line


def adopt(x: Tracer, result: Any, name: str) -> Tracer:
    """`x` with the content of `result`, as an in-place operator leaves it: NumPy's shape and dtype rules."""
    check_writeable(x, as_a_whole=True)
    if not hasattr(result, "dtype") and not isinstance(result, Number):
        raise OwnOperation(result)  # an object that holds an array
    result_spec, dtype = spec(result), x.dtype
    if result_spec.shape != x.shape:
        raise ValueError(
            f"non-broadcastable output operand with shape {x.shape} doesn't match the broadcast shape "
            f"{result_spec.shape} (in {name})"
        )
    if result_spec.dtype is not dtype and not np.can_cast(result_spec.dtype, dtype, "same_kind"):
        raise TypeError(
            f"Cannot cast ufunc '{name}' output from {result_spec.dtype!r} to {dtype!r} with casting rule 'same_kind'"
        )
    return _written(x, result)


def _written(x: Tracer, result: Any) -> Tracer:
    check_writeable(x, as_a_whole=True)
    alias = x._alias
    # `y[i] += v`: straight into y
    if alias is not None and len(alias.steps) == 1 and alias.steps[0].index is not None:
        step = alias.steps[0]
        (assign_kept if type(step) is IndexStep else assign)(alias.root, step.index, result)
    else:
        assign(x, ..., result)
    return x


def _inplace(ufunc: Any) -> Callable[[Tracer, Any], Any]:
    def operate(x: Tracer, y: Any) -> Any:
        result = RUNNERS[ufunc](x, y)
        value = x._value
        if type(value) is np.float64 or not x.shape and is_scalar(x):
            return result
        if type(value) is np.ndarray and isinstance(result, Tracer) and result._trace is x._trace:
            new = result._value
            if type(new) is np.ndarray and new.dtype is value.dtype and new.shape == value.shape:
                del value, new  # they would look like holders of the buffers
                return _written(x, result)
        return adopt(x, result, ufunc.__name__)

    return operate


iadd, isub, imul, itruediv = map(_inplace, (np.add, np.subtract, np.multiply, np.divide))
ifloordiv, imod, ipow, imatmul = map(_inplace, (np.floor_divide, np.remainder, np.power, np.matmul))


def copy(self: Tracer, order: Any = "C") -> Any:
    """A copy; a scalar, which can't change, is its own."""
    return self if not self.shape and is_scalar(self) else CATALOGUE[np.copy](self, order)


def take_shape(x: Any, shape: Any) -> None:
    """x.shape = shape."""
    if x._alias is not None and x._alias is not FILLED:
        raise UnsupportedFunctionError(
            f"x.shape = {shape} at {user_line()} reshapes an array that is a view, or has some, which a tracer can't do. "
            f"Write x = x.reshape({shape})."
        )
    out = x._trace.wrap(x._value, x._node).reshape(shape)
    x._value, x._node = (out._value, out._node) if isinstance(out, Tracer) else (out, None)


def astype(
    self: Any, dtype: Any, order: str = "K", casting: Any = "unsafe", subok: bool = True, copy: bool = True
) -> Any:
    """x.astype(dtype). An array without axes (which can change) gives a new one, a scalar gives a scalar."""
    to = np.dtype(dtype)
    if not np.can_cast(self.dtype, to, casting=casting):
        raise TypeError(
            f"Cannot cast array data from {self.dtype!r} to {to!r} according to the rule {casting!r}"
        )
    if to.kind == "O":
        raise conversion_error(
            self, "x.astype(object)", "Keep the dtype, or use a list of traced elements: x.tolist()."
        )
    if not copy and self.dtype == to and order == "K":
        return self
    out = CATALOGUE[cast_to](self, to)
    out = out if order == "K" else out.copy(order)
    if isinstance(out, Tracer) and not out.shape and out._alias is None and not is_scalar(self):
        out._alias = FILLED
    return out
