"""Python's operators on tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.torch.functions.elementwise import _add, _mul, _rsub, abs, add, div, mul, neg, pow, rsub, sub
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.graph.lanes import reflected_lane
from funcgrad.torch.tensors.tensor import Tensor

# ---- Python's operators ----------------------------------------------------------------------------------------------
_recip = Tensor.reciprocal


def _rdiv(self: Tensor, other: Any) -> Tensor:
    return mul(_recip(self), other) if isinstance(other, (int, float, complex)) else div(other, self)


def _flipped(op: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: op(other, self)


def _operator(op: Callable[..., Any]) -> Callable[..., Any]:
    """A method that leaves operands it does not know to the other side."""

    def method(self: Tensor, other: Any) -> Any:
        return op(self, other) if _known(other) else NotImplemented

    return method


def _known(other: Any) -> bool:
    return isinstance(other, (Tensor, int, float, complex, np.ndarray, np.generic)) or hasattr(
        other, "__array_ufunc__"
    )


_F = Tensor.__dict__
OPERATORS = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "truediv": div,
    "pow": pow,
    "mod": _F["remainder"],
    "floordiv": _F["floor_divide"],
    "and": _F["bitwise_and"],
    "or": _F["bitwise_or"],
    "xor": _F["bitwise_xor"],
    "lshift": _F["bitwise_left_shift"],
    "rshift": _F["bitwise_right_shift"],
}
for _name, _op in OPERATORS.items():
    setattr(
        Tensor, f"__{_name}__", _op if _name in ("add", "sub", "mul", "truediv", "pow") else _operator(_op)
    )
    setattr(Tensor, f"__r{_name}__", _operator(_flipped(_op)))
for _name, _op in (("lt", _F["lt"]), ("le", _F["le"]), ("gt", _F["gt"]), ("ge", _F["ge"])):
    setattr(Tensor, f"__{_name}__", _operator(_op))
for _name, _reflected in (
    ("radd", reflected_lane(np.add, Op("add", _add, "AddBackward0"), add)),
    ("rmul", reflected_lane(np.multiply, Op("mul", _mul, "MulBackward0"), mul)),
    ("rsub", reflected_lane(np.subtract, Op("rsub", _rsub, "RsubBackward1"), rsub)),
    ("rtruediv", _rdiv),
):
    setattr(Tensor, f"__{_name}__", _reflected)
Tensor.__neg__, Tensor.__pos__, Tensor.__abs__ = neg, (lambda self: self), abs
Tensor.__invert__ = _F["bitwise_not"]
_eq, _ne = _F["eq"], _F["ne"]
Tensor.__eq__ = lambda self, other: _eq(self, other) if _known(other) else NotImplemented
Tensor.__ne__ = lambda self, other: _ne(self, other) if _known(other) else NotImplemented
Tensor.__hash__ = lambda self: id(self)
_IN_PLACE = (
    "add add_, sub sub_, mul mul_, truediv div_, pow pow_, mod remainder_, floordiv floor_divide_, and bitwise_and_, "
    "or bitwise_or_, xor bitwise_xor_"
)
for _name, _method in map(str.split, _IN_PLACE.split(", ")):
    setattr(Tensor, f"__i{_name}__", _F[_method])
