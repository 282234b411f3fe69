"""Even powers of roots, taken directly: abs(z) ** 2, np.sqrt(x) ** 4, np.linalg.norm(x) ** 2, np.std(x) ** 2.

A root has a kink or an infinite slope at 0; its square is smooth. A chain through the root would give 0 * inf
there. So a trace that is to record a square looks whether the operand is the output of a root. It then
records the square of the root as one function of the root's own operands (`squared`): exact to every order.
Its fourth power is the square of that, and so on.
So is the product of two roots that are the same: norm(x) * norm(x).
In reverse mode the node of the operand tells. In forward mode the tracer does (`_root`), as long as it holds
that very output.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from funcgrad.core.engine.kinds import Elementwise, Plan
from funcgrad.core.engine.sweep import Node
from funcgrad.core.engine.trace import Tracer

if TYPE_CHECKING:
    from funcgrad.core.engine.primitive import Call, Primitive

_MANY = 2**31
_NUMBERS = frozenset([int, float, np.float64, np.float32, np.int64])
_OPTIONS = _NUMBERS | {bool, str, slice, complex, np.complex128}
POWERS: set[Any] = {np.power, np.float_power}
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


def squares_in(function: Any, operands: Any, traced: Any, same: Callable[[Any, Any], bool]) -> int:
    """Which power of the square of its first operand is this call (1, the square itself; 0, none)?

    `traced` are the operands that have a derivative, `same(x, y)` tells whether two of them are the same.
    """
    if function is np.multiply or function is np.vdot and not np.shape(operands[0]):
        return int(len(traced) == 2 and same(*traced))
    return int(function is np.square) or (halved(operands[1]) if function in POWERS else 0)


def are_same(a: Any, b: Any, depth: int = 8) -> bool:
    """Are two nodes of the same call of the same operands, as those of norm(x) * norm(x) are?"""
    if a is b:
        return True
    if a.plan is None or a.plan is not b.plan or not depth or not _has_saved(a.plan, a.saved, b.saved):
        return False
    pairs = zip(a.parents, b.parents)
    return len(a.parents) == len(b.parents) and all(are_same(x, y, depth - 1) for x, y in pairs)


def are_same_roots(a: Root, b: Root) -> bool:
    """The same, of roots in forward mode."""
    if a.primitive is not b.primitive or a.tangents.keys() != b.tangents.keys():
        return False
    mine, others = ((*x.call.operands, x.call.params, *x.tangents.values()) for x in (a, b))
    return len(mine) == len(others) and all(map(_is_like, mine, others))


def _has_saved(plan: Any, mine: Any, others: Any) -> bool:
    """Have two calls saved the same, beside what follows from their traced operands?"""
    if type(mine) is tuple and len(mine) == len(plan.keeps):
        mine, others = dict(zip(plan.keeps, mine)), dict(zip(plan.keeps, others))
    if type(mine) is not dict:
        return _is_like(mine, others)
    names = getattr(plan.primitive, "operand_names", ())
    known = {"out", *[names[i] for i in plan.slots if i < len(names)]}
    return mine.keys() == others.keys() and all(_is_like(mine[k], others[k]) for k in mine.keys() - known)


def _is_like(x: Any, y: Any) -> bool:
    """Is it the same object, or an equal number, array or option? Of tracers, with equal derivatives."""
    if x is y:
        return True
    if type(x) is not type(y):
        return False
    if type(x) in (tuple, list):
        return len(x) == len(y) and all(map(_is_like, x, y))
    if type(x) is dict:
        return x.keys() == y.keys() and all(_is_like(x[k], y[k]) for k in x)
    if type(x) is Node:
        return are_same(x, y)
    if isinstance(x, Tracer):
        return x._trace is y._trace and _is_like(x._value, y._value) and _is_like(x._node, y._node)
    if type(x) is np.ndarray:
        kind = x.dtype.kind
        return kind in "biufc" and np.array_equal(x, y, equal_nan=kind in "fc")
    return type(x) in _OPTIONS and bool(x == y or x != x and y != y)  # NaN


def halved(n: Any) -> int:
    """Half of an even exponent; 0 for any other."""
    return int(n) // 2 if type(n) in _NUMBERS and 0 < n < _MANY and n % 2 == 0 else 0


def resaved(plan: Plan, saved: Any, square: Plan, out: Any) -> Any:
    """What `plan`, of a root, has saved, as the plan of its square has it."""
    named = {**(saved if type(saved) is dict else dict(zip(plan.keeps, saved))), "out": out}
    if isinstance(square.primitive.rule, Elementwise):
        return tuple(named[name] for name in square.keeps)
    return {name: named[name] for name in square.keeps if name in named}
