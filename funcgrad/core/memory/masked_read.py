"""y[mask] under vmap, examples taking different elements: half of `y[mask] *= v` or `y[mask] = x[mask]`.

Python reads y[mask], changes that, and writes it to y[mask]. Between the two stands a MaskedRead, which keeps
the whole array: what is written in the end is a choice. By itself it is no array, since it has no shape:
every other use is refused.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from funcgrad.core.engine.trace import Tracer, concrete, snapshot
from funcgrad.errors import BatchedControlFlowError


class MaskedRead:
    """The elements of `values` where `mask` holds; `error` says why they are no array."""

    __slots__ = ("error", "mask", "values")

    def __init__(self, values: Any, mask: Any, error: BatchedControlFlowError) -> None:
        self.values, self.mask, self.error = values, mask, error

    def placed_in(self, x: Tracer, index: Any) -> Any:
        """`x` with these elements at x[index]."""
        return np.where(index, self.whole(x, index), x)

    def whole(self, x: Any, mask: Any) -> Any:
        """The whole array, if `mask` takes the same elements of it, and `x` has its shape."""
        if not isinstance(mask, Tracer) or x.shape != self.values.shape:
            raise self.error
        if not np.array_equal(concrete(mask), concrete(self.mask)):
            raise self.error
        return self.values

    def __getattr__(self, name: str) -> NoReturn:
        raise self.error

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.__slots__:  # such as x[mask].flat = v
            raise self.error
        object.__setattr__(self, name, value)


def selected(x: Any, index: Any, error: BatchedControlFlowError) -> MaskedRead:
    """x[index] for a mask of the whole array, where the usual way failed with this error; else raise that."""
    if (
        not isinstance(x, Tracer)
        or not isinstance(index, Tracer)
        or index.dtype != bool
        or index.shape != x.shape
    ):
        raise error
    return MaskedRead(snapshot(x), snapshot(index), error)


def _inplace(operate: Callable[[Any, Any], Any]) -> Callable[[MaskedRead, Any], MaskedRead]:
    def method(self: MaskedRead, y: Any) -> MaskedRead:
        if type(y) is MaskedRead:
            y = y.whole(self.values, self.mask)
        elif np.ndim(y):  # as many numbers as there are elements, of which each example has others
            raise self.error
        with np.errstate(all="ignore"):  # what is not selected may be anything
            return MaskedRead(operate(np.copy(self.values), y), self.mask, self.error)

    return method


def _refused(self: MaskedRead, *args: Any, **kwargs: Any) -> NoReturn:
    raise self.error


for _name in ("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow"):
    setattr(MaskedRead, f"__{_name}__", _inplace(getattr(operator, f"__{_name}__")))
for _name in (
    "add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv", "rfloordiv", "mod", "rmod", "pow", "rpow",
    "matmul", "rmatmul", "imatmul", "neg", "pos", "abs", "lt", "le", "gt", "ge", "eq", "ne", "len", "iter", "getitem", "setitem",
    "bool", "float", "int", "complex", "index", "contains", "array", "array_ufunc", "array_function",
):  # fmt: skip
    setattr(MaskedRead, f"__{_name}__", _refused)
