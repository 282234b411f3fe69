"""Even powers of roots, taken directly: abs(z) ** 2, np.sqrt(x) ** 4, np.linalg.norm(x) ** 2, np.std(x) ** 2.

A root has a kink or an infinite slope at 0; its square is smooth. A chain through the root would give 0 * inf
there. So a trace that is to record a square looks whether the operand is the output of a root. It then
records the square of the root as one function of the root's own operands (`squared`): exact to every order.
Its fourth power is the square of that, and so on.
In reverse mode the node of the operand tells. In forward mode the tracer does (`_root`), as long as it holds
that very output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from funcgrad.core.engine.kinds import Elementwise, Plan

if TYPE_CHECKING:
    from funcgrad.core.engine.primitive import Call, Primitive

_MANY = 2**31
_NUMBERS = frozenset([int, float, np.float64, np.float32, np.int64])
ROOTS: dict[Plan, Primitive] = {}  # the plans of roots


class Root(NamedTuple):
    """A call of a root in forward mode, and the tangents of its operands."""

    primitive: Primitive
    call: Call
    out: Any
    tangents: dict[int, Any]


def declare_square(root: Primitive, square: Primitive) -> None:
    """Say which primitive is the square of a root: with operands and parameters of the same names."""
    root.rule.squared = square


def squares_in(function: Any, operands: Any, traced: Any) -> int:
    """Which power of the square of its first operand is this call (1, the square itself; 0, none)?

    `traced` are the operands that have a derivative.
    """
    if function is np.multiply:
        return int(len(traced) == 2 and traced[0] is traced[1])
    return int(function is np.square) or (halved(operands[1]) if function is np.power else 0)


def halved(n: Any) -> int:
    """Half of an even exponent; 0 for any other."""
    return int(n) // 2 if type(n) in _NUMBERS and 0 < n < _MANY and n % 2 == 0 else 0


def resaved(plan: Plan, saved: Any, square: Plan, out: Any) -> Any:
    """What `plan`, of a root, has saved, as the plan of its square has it."""
    named = {**(saved if type(saved) is dict else dict(zip(plan.keeps, saved))), "out": out}
    if isinstance(square.primitive.rule, Elementwise):
        return tuple(named[name] for name in square.keeps)
    return {name: named[name] for name in square.keeps if name in named}
