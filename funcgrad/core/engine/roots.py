"""Even powers of roots, taken directly: abs(z) ** 2, np.sqrt(x) ** 4, np.linalg.norm(x) ** 2, np.std(x) ** 2.

A root has a kink or an infinite slope at 0; its square is smooth. A chain through the root would give 0 * inf
there. So a trace that is to record a square looks whether the operand is the output of a root. It then
records the square of the root as one function of the root's own operands (`squared`): exact to every order.
Its fourth power is the square of that, and so on.
So is the product of two roots that are the same, or multiples of the same: norm(x) * norm(x), k * r * r. And
their contraction, y @ y with y = np.abs(x), which sums the square (`declare_product`).
So is the square of a multiple of a root, and of its elements in another order: (norm(x) / l) ** 2. Of what
stands between (`STEPS`) it is known that f(x, y)² = f(x², y²): the same f takes the squares of its operands.
In reverse mode the node of the operand tells. In forward mode the tracer does (`_root`), as long as it holds
that very output. It holds no more than a tuple (`Memo`), so that a root costs no more than any function; what
can be squared is found out when a square is asked for (`settled`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from funcgrad.core.engine.kinds import Elementwise, Plan
from funcgrad.core.engine.primitive import Call
from funcgrad.core.engine.sweep import Node
from funcgrad.core.engine.trace import Tracer, concrete
from funcgrad.core.memory.plain import ndarray

if TYPE_CHECKING:
    from funcgrad.core.engine.primitive import Primitive

_MANY = 2**31
_NUMBERS = frozenset([int, float, np.float64, np.float32, np.int64])
_OPTIONS = _NUMBERS | {bool, str, slice, complex, np.complex128}
POWERS: set[Any] = {np.power, np.float_power}
ROOTS: dict[Plan, Primitive] = {}  # the plans of roots
# The plans of what may stand between a root and its square. Is what they have saved to be squared?
STEPS: dict[Any, bool] = {}
LEADING: set[Any] = set()  # both
FACTORS: set[Any] = {np.multiply, np.divide}
SIGNS: set[Any] = {np.negative, np.positive}
# Their results are elements of the operand: some, in any order, any number of times.
MOVES: set[Any] = {
    operator.getitem, np.reshape, np.squeeze, np.expand_dims, np.transpose, np.swapaxes, np.moveaxis,
    np.broadcast_to, np.copy, np.flip, np.roll, np.diagonal, np.diag, np.tril, np.triu, np.rot90,
}  # fmt: skip
# Their results are elements of several operands, which all have to be roots.
JOINS: set[Any] = {np.concatenate, np.stack, np.where}
_DEPTH = 8  # so many steps are looked through
_CALLS = 32  # so many calls are remembered in forward mode, so that a loop of them is forgotten on its way

# What the output of a root, or of a step, remembers in forward mode: the primitive, its operands (or the call, if
# it has parameters), the output, the tangents of the operands, their memos (None, if there is none); and how many
# calls this goes back to.
Memo = tuple["Primitive", Any, Any, Any, Any, int]


class Root(NamedTuple):
    """A call of a root in forward mode, and the tangents of its operands."""

    primitive: Primitive
    call: Call
    out: Any
    tangents: dict[int, Any]
    roots: dict[int, Root]  # of a step: which of its operands are roots, or lead to one


def memo_of(x: Any) -> Memo | None:
    """What a tracer of forward mode remembers, if it still holds that output."""
    memo = getattr(x, "_root", None)
    return memo if memo is not None and memo[2] is x._value else None


def remembered(primitive: Primitive, call: Any, out: Any, tangents: Any, memos: Any) -> Memo | None:
    """The memo of a root or a step, whose operands have `tangents` and `memos`: one for each, or None."""
    operands = call if type(call) is tuple else call.operands
    calls = 1
    for x, memo in zip(operands, memos):
        if memo is not None:
            calls += memo[5] if memo[2] is x else _CALLS  # if it was written since
    if calls > _CALLS:
        if primitive.rule.squared is None:
            return None
        memos, calls = (), 1
    for x, t in zip(operands, tangents):
        if t is None and type(x) is ndarray:
            call = _held(call, tangents)
            break
    return primitive, call, out, tangents, memos, calls


def _held(call: Any, tangents: Any) -> Any:
    """The operands (or the call) with copies of the plain arrays, which may change later."""
    is_call = isinstance(call, Call)
    operands = call.operands if is_call else call
    held = tuple(x.copy() if t is None and type(x) is ndarray else x for x, t in zip(operands, tangents))
    return call.with_operands(held) if is_call else held


def settled(memo: Memo) -> Root | None:
    """The root that a memo is of; None if what stands between can't be squared."""
    primitive, call, out, tangents, memos, _ = memo
    if type(call) is tuple:
        call = Call(call, tuple((name, None) for name in primitive.operand_names[: len(call)]), {})
    tangents = {i: t for i, t in enumerate(tangents) if t is not None}
    square = primitive.rule.squared
    if square is not None and square.rule.of_square is None:
        memos = ()
    looked = {i: settled(memo) for i, memo in enumerate(memos) if memo is not None}
    roots = {i: root for i, root in looked.items() if root is not None}
    if square is not None:
        roots = {i: root for i, root in roots.items() if root.out.dtype.kind == "f"}
    elif (
        not roots
        or not is_step(primitive, roots, tangents)
        or not can_be_squared(primitive, call.operands, out)
    ):
        return None
    return Root(primitive, call, out, tangents, roots)


def declare_square(root: Primitive, square: Primitive) -> None:
    """Say which primitive is the square of a root: with operands and parameters of the same names."""
    root.rule.squared = square


def declare_product(product: Primitive, of_square: Callable[..., Any]) -> None:
    """Say what a product or contraction of two operands is, given their elementwise product and the parameters.

    `of_square` returns None where other elements meet, too, as in a product of matrices.
    """
    product.rule.of_square = of_square


def halves_in(function: Any, operands: Any) -> int:
    """Which power of the square of its operand is this call (1, the square itself; 0, none)?"""
    return int(function is np.square) or (halved(operands[1]) if function in POWERS else 0)


def is_multiple(primitive: Primitive) -> bool:
    """Does it multiply its operand, by a factor or by -1?"""
    return primitive.function in FACTORS or primitive.function in SIGNS


def is_copy(primitive: Primitive, shape: Any) -> bool:
    """Is the result of a step, with this shape, its operand as it is? So is a vector's y.T."""
    return primitive.function is np.copy or primitive.function is np.transpose and len(shape) < 2


def are_same(a: Any, b: Any, depth: int = 8) -> bool:
    """Are two nodes of the same call of the same operands, as those of norm(x) * norm(x) are?"""
    if a is b:
        return True
    if a.plan is None or a.plan is not b.plan or a.shape != b.shape or not depth:
        return False
    if not _has_saved(a.plan, a.saved, b.saved):
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


def note_plan(plan: Plan, primitive: Primitive) -> None:
    """Note a new plan, if it is that of a root or a step."""
    if primitive.rule.squared is not None:
        ROOTS[plan] = primitive.rule.squared
        LEADING.add(plan)
    elif is_step(primitive, plan.slots):
        note_step(plan)


def note_step(plan: Any) -> None:
    """Note the plan of a step."""
    STEPS[plan] = plan.primitive.function in FACTORS
    LEADING.add(plan)


def is_step(primitive: Primitive, slots: Any, traced: Any = ()) -> bool:
    """Is the square of this function that of the squares of its operands? (What divides by a root is none.)

    `slots` are the operands that are roots, of those that are `traced`.
    """
    function = primitive.function
    if function in JOINS:
        return all(i in slots for i in traced)
    if function is np.divide:
        return 0 in slots
    return function is np.multiply or function in SIGNS or function in MOVES


def is_root(node: Any, depth: int = _DEPTH) -> bool:
    """Is it the node of a root, or of steps from one whose factors can be squared?"""
    plan = node.plan
    if plan in ROOTS:
        return True
    if plan not in STEPS or depth <= 0:
        return False
    origin = node.origin
    if plan.primitive.function in JOINS:
        leads = all(is_root(x, depth - 1) for x in node.parents)
    elif type(origin) is tuple:
        leads = is_root(origin[0], depth - 1) or _is_root_beside(plan, origin[1], depth)
    else:
        leads = origin.plan in LEADING and is_root(origin, depth - 1)
    if not leads:
        return False
    return can_be_squared(plan.primitive, node.saved, node)


def _is_root_beside(plan: Any, node: Any, depth: int) -> bool:
    """Is the second operand of a product a root? (Not as far: each step would double what is asked.)"""
    return plan.primitive.function is np.multiply and is_root(node, depth - 4)


def can_be_squared(primitive: Primitive, factors: Any, like: Any) -> bool:
    """Are the squares of the factors of a step numbers that the dtype of `like` has?"""
    return primitive.function not in FACTORS or all(_squares_well(x, like.dtype) for x in factors)


def _squares_well(x: Any, dtype: Any) -> bool:
    """Is the square of a factor neither too large for `dtype` nor too small?"""
    x = concrete(x)
    if isinstance(x, Tracer):  # of a program that jit records, which has no values yet
        return True
    if type(x) not in _NUMBERS and type(x) is not ndarray and not isinstance(x, np.generic | complex):
        return False
    size, limits = np.abs(x), np.finfo(dtype)
    fits = (size > np.sqrt(limits.tiny)) & (size < np.sqrt(limits.max))
    return bool(np.all(fits | (size == 0)))


def squared(x: Any) -> Any:
    """The square of a factor: of integers as floats, whose square always has a place."""
    return x * x if type(x) is int or np.result_type(x).kind in "fcb" else np.square(x * 1.0)


def halved(n: Any) -> int:
    """Half of an even exponent; 0 for any other."""
    return int(n) // 2 if type(n) in _NUMBERS and 0 < n < _MANY and n % 2 == 0 else 0


def resaved(plan: Plan, saved: Any, square: Plan, out: Any) -> Any:
    """What `plan`, of a root, has saved, as the plan of its square has it. `out` is None if it is not known."""
    named = dict(saved if type(saved) is dict else zip(plan.keeps, saved))
    if out is not None:
        named["out"] = out
    elif "out" in square.keeps:
        named["out"] = squared(named["out"])
    if isinstance(square.primitive.rule, Elementwise):
        return tuple(named[name] for name in square.keeps)
    return {name: named[name] for name in square.keeps if name in named}
