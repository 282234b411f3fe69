"""The rules of rewriting: for a function, what a step with these operands stands for, or None.

They keep results equal to rounding. Factors are merged where they are finite and of moderate size, so that no
product of them overflows that did not before.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad.compiler.constants import Constant
from funcgrad.compiler.passes.rewriting import RULES, Rewriter, Rule, Scaled, Spread
from funcgrad.compiler.steps import Hole, Spec, Step
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.engine.primitive import Primitive
from funcgrad.rules import slopes
from funcgrad.transforms.programs import Ref

_FAR = {8: 1e60, 4: 1e10}  # by the bytes of a number: factors up to here, and down to the inverse, are merged


def rule(*functions: Any) -> Callable[[Rule], Rule]:
    """Enter a rule for these functions."""

    def enter(made: Rule) -> Rule:
        RULES.update(dict.fromkeys(functions, made))
        return made

    return enter


def own(function: Callable[..., Any]) -> Any:
    """What steps call for a function of our own (which is declared under its body)."""
    name = function.__name__.strip("_")
    return next(f for f, made in CATALOGUE.items() if isinstance(made, Primitive) and made.name == name)


# ---- numbers and factors ---------------------------------------------------------------------------------------------
def number(x: Any) -> float | None:
    """The one number that a constant holds, if it is real and finite."""
    if isinstance(x, Constant):
        if x.lives_outside or not isinstance(x.content, np.ndarray) or not x.content.size:
            return None
        first = x.content.reshape(-1)[:1]
        if any(x.content.strides) and not bool((x.content == first).all()):
            return None
        x = first[0]
    if type(x) is Spread:
        return number(x.base)
    if isinstance(x, (int, float, np.floating, np.integer)) and not isinstance(x, (bool, Ref)):
        value = float(x)
        return value if np.isfinite(value) else None
    return None


def is_real(spec: Spec) -> bool:
    """Floating, and no Python number?"""
    return spec.dtype.kind == "f" and spec.dtype.itemsize in _FAR and not spec.is_python


def scaled(self: Rewriter, factor: float, x: Any) -> Any:
    """`factor` times the operand `x`."""
    if type(x) is Scaled:
        factor, x = factor * x.factor, x.base
    if factor == 1:
        return x
    limit = _FAR[self.spec_of(x).dtype.itemsize]
    return Scaled(factor, x) if 1 / limit < abs(factor) < limit else None


def scaled_spread(self: Rewriter, factor: float, x: Spread) -> Spread | None:
    """`factor` times a value that is repeated: that of the smaller one."""
    if type(x.base) is not Ref or not factor or not is_real(self.specs[x.base]):
        return None
    made = scaled(self, factor, x.base) if self.specs[x.base].dtype == x.spec.dtype else None
    return None if made is None else Spread(self.settled(made), x.spec)


def taken_apart(x: Any) -> tuple[float, Any]:
    """(factor, base) of an operand."""
    return (x.factor, x.base) if type(x) is Scaled else (1.0, x)


def kept_apart(self: Rewriter, step: Step, operands: Sequence[Any]) -> list[Any]:
    """The operands, with those products settled that others need, too."""

    def is_shared(x: Any) -> bool:
        return type(x) is Scaled and x.factor != -1 and not self.is_used_once(step, x)

    return [self.settled(x) if is_shared(x) else x for x in operands]


def narrowed(self: Rewriter, operands: Sequence[Any], spec: Spec) -> list[Any]:
    """Operands of an elementwise function: a repeated one need not be, where another has the full shape."""
    found = [_narrow(x) for x in operands]
    shapes = [
        () if number(x) is not None and not isinstance(x, (Constant, Ref)) else self.spec_of(x).shape
        for x in found
    ]
    if np.broadcast_shapes(*shapes) != spec.shape:
        return [self.settled(x) for x in operands]
    return [self.settled(x) for x in found]


def _narrow(x: Any) -> Any:
    if type(x) is Spread:
        return x.base
    if isinstance(x, Constant) and x.array.size > 1 and x.array.dtype.kind == "f":
        value = number(x)
        return x if value is None else Constant(np.array(value, x.array.dtype))
    return x


# ---- arithmetic ------------------------------------------------------------------------------------------------------
@rule(np.multiply)
def _multiply(self: Rewriter, step: Step, operands: list[Any]) -> Any:
    spec = step.specs[0]
    if not is_real(spec):
        return None
    x, y = kept_apart(self, step, operands)
    for value, other in ((number(x), y), (number(y), x)):
        if value is not None and self.spec_of(other).is_like(spec) and type(other) in (Ref, Scaled):
            return scaled(self, value, other) if value else None
        if value is not None and type(other) is Spread and self.spec_of(other).is_like(spec):
            return scaled_spread(self, value, other)
    (s, a), (t, b) = taken_apart(x), taken_apart(y)
    if (
        s * t != 1
        and type(a) is type(b) is Ref
        and min(self.spec_of(a).size, self.spec_of(b).size) < spec.size
    ):
        a, b, s, t = self.settled(x), self.settled(y), 1, 1  # the product of the smaller one costs less
    if a is b or type(a) is type(b) is Ref and a == b:
        out = self.emit(np.square, [self.settled(a)], spec)
    else:
        out = self.emit(np.multiply, narrowed(self, [a, b], spec), spec)
    return scaled(self, s * t, out) if type(out) is Ref else None


@rule(np.negative)
def _negative(self: Rewriter, step: Step, operands: list[Any]) -> Any:
    (x,) = operands
    if type(x) is Spread and is_real(step.specs[0]):
        return scaled_spread(self, -1.0, x)
    return scaled(self, -1.0, x) if is_real(step.specs[0]) and type(x) in (Ref, Scaled) else None


@rule(np.divide)
def _divide(self: Rewriter, step: Step, operands: list[Any]) -> Any:
    spec = step.specs[0]
    if not is_real(spec):
        return None
    x, y = kept_apart(self, step, operands)
    value = number(y)
    if value and self.spec_of(x).is_like(spec) and type(x) in (Ref, Scaled) and np.isfinite(1 / value):
        return scaled(self, 1 / value, x)
    x, y = self.settled(x) if type(x) is Scaled else x, self.settled(y) if type(y) is Scaled else y
    return self.emit(np.divide, narrowed(self, [x, y], spec), spec)


def _sum_of(self: Rewriter, step: Step, operands: list[Any], sign: int) -> Any:
    spec = step.specs[0]
    if not is_real(spec):
        return None
    x, y = kept_apart(self, step, operands)
    (s, a), (t, b) = taken_apart(x), taken_apart(y)
    t *= sign
    if type(a) is type(b) is Ref and a == b and self.spec_of(a).is_like(spec):
        return scaled(self, s + t, a) if s + t else None
    shapes_fit = all(type(v) is Ref and self.spec_of(v).is_like(spec) for v in (a, b))
    if abs(s) == abs(t) and (s != 1 or t != 1) and shapes_fit and (s != 1 or t != -1):
        out = self.emit(np.add if s == t else np.subtract, [a, b], spec)
        return scaled(self, s, out)
    function = np.add if sign == 1 else np.subtract
    if s == 1 and t == -1:
        return self.emit(np.subtract, narrowed(self, [a, b], spec), spec)
    if s == -1 and t == 1:
        return self.emit(np.subtract, narrowed(self, [b, a], spec), spec)
    if t == 1 and sign == -1:  # x - (-y)
        return self.emit(np.add, narrowed(self, [self.settled(x), b], spec), spec)
    plain = [self.settled(v) if type(v) is Scaled else v for v in (x, y)]
    return self.emit(function, narrowed(self, plain, spec), spec)


@rule(np.add)
def _add(self: Rewriter, step: Step, operands: list[Any]) -> Any:
    return _sum_of(self, step, operands, 1)


@rule(np.subtract)
def _subtract(self: Rewriter, step: Step, operands: list[Any]) -> Any:
    return _sum_of(self, step, operands, -1)


@rule(np.power)
def _power(self: Rewriter, step: Step, operands: list[Any]) -> Any:
    x, n = operands
    spec = step.specs[0]
    if not is_real(spec) or type(n) not in (int, float) or not self.spec_of(x).is_like(spec):
        return None
    x = self.settled(x)
    if n == 1:
        return x
    square = self.emit(np.square, [x], spec) if n in (2, 3, 4) else None
    if n == 2:
        return square
    if n == 3:
        return self.emit(np.multiply, [square, x], spec)
    return self.emit(np.square, [square], spec) if n == 4 else None


# ---- linear functions of one operand ---------------------------------------------------------------------------------
@rule(np.sum)
def _sum(self: Rewriter, step: Step, operands: list[Any]) -> Any:
    """The sum of all products is one call of BLAS."""
    x, spec = operands[0], step.specs[0]
    factor, base = taken_apart(x)
    made = self.made.get(base) if type(base) is Ref and self.is_used_once(step, x) else None
    is_whole = len(operands) == 1 and not spec.shape and not step.kwargs.get("keepdims") and is_real(spec)
    if (
        made is None
        or not is_whole
        or made.function not in (np.square, np.multiply)
        or made.specs[0].size > _FEW
    ):
        return _linear(self, step, operands)
    a, b = made.operands if len(made.operands) == 2 else made.operands * 2
    if (
        not all(type(v) is Ref and self.specs[v].is_like(made.specs[0]) for v in (a, b))
        or made.specs[0].dtype != spec.dtype
    ):
        return _linear(self, step, operands)
    return scaled(self, factor, self.emit(np.vdot, [a, b], spec))


_FEW = 1 << 14  # products, whose sum BLAS rounds about as well as pairwise summation does


@rule(np.reshape, np.transpose, np.swapaxes, np.squeeze, np.expand_dims, operator.getitem, np.moveaxis)
def _linear(self: Rewriter, step: Step, operands: list[Any]) -> Any:
    x, spec = operands[0], step.specs[0]
    if type(x) is Ref and step.function is not np.sum and _is_same(self, x, spec, step):
        return x
    if type(x) is not Scaled or len(operands) > 1 or not is_real(spec) or not self.is_used_once(step, x):
        return None
    return scaled(self, x.factor, self._emitted(step.replaced([x.base]), spec))


def _is_same(self: Rewriter, x: Ref, spec: Spec, step: Step) -> bool:
    """Is the result of a function that moves elements just its operand?"""
    old = self.specs[x]
    return (
        step.function is np.reshape and old.is_like(spec) and old.order == spec.order == "C" and spec.is_array
    )


@rule(np.positive, np.copy)
def _copy(self: Rewriter, step: Step, operands: list[Any]) -> Any:
    x, spec = operands[0], step.specs[0]
    if (
        len(operands) == 1
        and type(x) is Ref
        and self.specs[x].is_like(spec)
        and self.specs[x].order == spec.order
    ):
        return x
    return None


@rule(np.mean)
def _mean(self: Rewriter, step: Step, operands: list[Any]) -> Any:
    x, spec = operands[0], step.specs[0]
    old = self.spec_of(x)
    if (
        len(operands) > 1
        or not is_real(spec)
        or not old.size
        or old.dtype != spec.dtype
        or step.kwargs.keys() - {"axis", "keepdims"}
    ):
        return None
    made = Step(np.sum, step.operands, (Hole(0),), step.kwargs)
    made.specs = [spec.computed()]
    total = _sum(self, made, [x])
    if total is None:
        total = self._emitted(made.replaced([self.settled(x)]), made.specs[0])
    return scaled(self, spec.size / old.size, total) if type(total) in (Ref, Scaled) else None


@rule(np.matmul)
def _matmul(self: Rewriter, step: Step, operands: list[Any]) -> Any:
    spec = step.specs[0]
    if not is_real(spec) or Scaled not in map(type, operands):
        return None
    x, y = kept_apart(self, step, operands)
    (s, a), (t, b) = taken_apart(x), taken_apart(y)
    if s * t == 1 or min(self.spec_of(v).size for v in (a, b)) < spec.size:
        return None
    return scaled(self, s * t, self.emit(np.matmul, [self.settled(a), self.settled(b)], spec))


# ---- repetition ------------------------------------------------------------------------------------------------------
@rule(np.broadcast_to)
def _broadcast(self: Rewriter, step: Step, operands: list[Any]) -> Any:
    x, spec = operands[0], step.specs[0]
    if len(operands) > 1 or not spec.is_array:
        return None
    if type(x) is Ref and self.specs[x].is_like(spec):
        return x
    return Spread(self.settled(x), spec)


@rule(np.where)
def _where(self: Rewriter, step: Step, operands: list[Any]) -> Any:
    if len(operands) != 3 or Spread not in map(type, operands):
        return None
    found = narrowed(self, operands, step.specs[0])
    return self._emitted(step.replaced(found), step.specs[0])


def _elementwise(self: Rewriter, step: Step, operands: list[Any]) -> Any:
    """Any other elementwise function of several operands."""
    if Spread not in map(type, operands) or step.kwargs:
        return None
    return self._emitted(step.replaced(narrowed(self, operands, step.specs[0])), step.specs[0])


for _name in (
    "maximum", "minimum", "fmax", "fmin", "arctan2", "hypot", "logaddexp", "less", "less_equal", "greater", "greater_equal",
    "equal", "not_equal", "logical_and", "logical_or",
):  # fmt: skip
    rule(getattr(np, _name))(_elementwise)


# ---- functions of our own --------------------------------------------------------------------------------------------
@rule(own(slopes.gap))
def _gap(self: Rewriter, step: Step, operands: list[Any]) -> Any:
    """x - y, where y is finite."""
    x, y = operands
    value, spec = number(y), step.specs[0]
    if value is None or not is_real(spec) or not self.spec_of(x).is_like(spec):
        return None
    return self.settled(x) if value == 0 else self.emit(np.subtract, [self.settled(x), y], spec)


@rule(own(slopes.logistic))
def _logistic(self: Rewriter, step: Step, operands: list[Any]) -> Any:
    """1 / (1 + exp(-x)), step by step."""
    spec = step.specs[0]
    if not is_real(spec) or not spec.is_array:
        return None
    x = self.settled(scaled(self, -1.0, operands[0]) if type(operands[0]) in (Ref, Scaled) else operands[0])
    made = Step(np.exp, [x], (Hole(0),))
    made.errstate = {"over": "ignore"}
    e = self._emitted(made, spec)
    return self.emit(np.divide, [1.0, self.emit(np.add, [e, 1.0], spec)], spec)


__all__ = ["RULES", "Sequence"]
