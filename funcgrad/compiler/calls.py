"""From the engine's view of a call (a primitive and its operands) to a function of NumPy with its arguments."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from funcgrad.compiler.steps import Hole
from funcgrad.compiler.vocabulary import add_at, extreme_at
from funcgrad.core.arrays.ufunc import Ufunc
from funcgrad.core.engine.primitive import Call, Primitive
from funcgrad.core.memory import indexing
from funcgrad.core.memory.indexing import AddAt, GetItem
from funcgrad.rules.at import ExtremeAt
from funcgrad.rules.shapes import Reshape

# The ufuncs that Python has operators for: of Python's numbers they make Python's numbers.
OPERATORS: dict[Any, Any] = {
    np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul, np.divide: operator.truediv,
    np.floor_divide: operator.floordiv, np.remainder: operator.mod, np.power: operator.pow,
    np.negative: operator.neg, np.positive: operator.pos, np.absolute: operator.abs,
}  # fmt: skip
COMPARISONS: dict[Any, Any] = {
    np.less: operator.lt, np.less_equal: operator.le, np.greater: operator.gt, np.greater_equal: operator.ge,
    np.equal: operator.eq, np.not_equal: operator.ne,
}  # fmt: skip


class Itself:
    """A primitive that is run in its own way, which is no function of NumPy."""

    def __init__(self, primitive: Primitive, call: Call) -> None:
        self.primitive, self.layout, self.params = primitive, call.layout, call.params
        self.__name__ = primitive.name

    def __call__(self, *operands: Any) -> Any:
        return self.primitive.run(Call(operands, self.layout, self.params))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Itself) and self.primitive is other.primitive

    def __hash__(self) -> int:
        return hash(self.primitive.name)


def as_function(primitive: Primitive, call: Call) -> tuple[Any, Any, dict[str, Any]]:
    """(function, args, kwargs), with holes for the operands: what `primitive.run(call)` calls."""
    if isinstance(primitive, GetItem):
        return operator.getitem, (Hole(0), index_template(call, 1)), {}
    if type(primitive) is AddAt:
        return add_at, (Hole(0), Hole(1), index_template(call, 2)), {}
    if isinstance(primitive, ExtremeAt):
        return extreme_at, (primitive.function, Hole(0), Hole(1), index_template(call, 2)), {}
    if type(primitive).run not in _PLAIN:
        return Itself(primitive, call), tuple(map(Hole, range(len(call.operands)))), {}
    args, kwargs = primitive.arguments(call, [Hole(i) for i in range(len(call.operands))])
    return primitive.function, args, kwargs


_PLAIN = (Primitive.run, Ufunc.run, Reshape.run)


def index_template(call: Call, lead: int) -> Any:
    """The index among the params of a call, whose operands from `lead` on belong to it."""
    index = call.params["index"]
    if len(call.operands) == lead:
        return index
    return tuple(Hole(lead + i) if type(i) is indexing.IndexOperand else i for i in index)
