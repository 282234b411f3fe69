"""The verbs that declare rules. Each enters a function into the catalogue and returns its primitive.

    elementwise(np.hypot, lambda x, out: x / out, lambda y, out: y / out)
    linear(np.reshape, lambda ct, a: np.reshape(ct, a.shape), moves=True)
    multilinear(np.matmul, lambda ct, x, y: ..., lambda ct, x, y: ...)
    custom(np.linalg.inv, lambda ct, out: -mT(out) @ ct @ mT(out))
    piecewise_constant(np.floor, np.argmax)         query(np.shape)
    composite(np.mean, mean)                        unsupported(np.nditer, "reason", "Write ... instead.")

The names of a formula's parameters say what it needs: operands, `out`, parameters of the call. Only that is
kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.arrays.ufunc import Ufunc
from funcgrad.core.engine.catalogue import Composite, Constructor, Function, Out, Unsupported, register
from funcgrad.core.engine.kinds import Elementwise, Formula, Partial, PiecewiseConstant, Rule, Selection
from funcgrad.core.engine.named import Custom, Linear, Multilinear, Pulls
from funcgrad.core.engine.primitive import Primitive
from funcgrad.core.engine.trace import Tracer


def _primitive(function: Callable[..., Any], rule: Rule, options: dict[str, Any]) -> Primitive:
    primitive = (
        Ufunc(function, rule, **options)
        if isinstance(function, np.ufunc)
        else Primitive(function, rule, **options)
    )
    register(function, primitive)
    return primitive


def elementwise(
    function: Callable[..., Any], *partials: Partial, batch: Any = "aligned", **options: Any
) -> Primitive:
    """An elementwise function: a partial derivative for each operand (a number if constant, None if zero)."""
    return _primitive(function, Elementwise(partials), {"batch": batch, **_operands_xyz(function, options)})


def selection(
    function: Callable[..., Any], *weights: Formula | float | None, batch: Any = "aligned", **options: Any
) -> Primitive:
    """An elementwise choice: a weight for each operand; a weight of 0 contributes a zero by structure."""
    return _primitive(function, Selection(weights), {"batch": batch, **_operands_xyz(function, options)})


def _operands_xyz(function: Callable[..., Any], options: dict[str, Any]) -> dict[str, Any]:
    if isinstance(function, np.ufunc) or "operands" in options:
        return options
    code = function.__code__
    return {"operands": " ".join(code.co_varnames[: code.co_argcount]), **options}


def linear(
    function: Callable[..., Any],
    transpose: Pulls,
    *,
    moves: bool = False,
    repeats: bool = False,
    **options: Any,
) -> Primitive:
    """A linear function: its transpose, which sees the Spec of what it is differentiated in, never its value.

    `moves=True` says that it only moves, copies and adds up elements, so that zeros by structure can follow.
    A dict of transposes by operand name: linear in all of them together, and not differentiable in the
    others. `repeats=True` says that the transpose takes a cotangent by the small value that it repeats.
    """
    rule = Linear(_of_ufunc(function, transpose), moves=moves)
    rule.repeats = repeats
    return _primitive(function, rule, options)


def multilinear(function: Callable[..., Any], *transposes: Formula, **options: Any) -> Primitive:
    """A function linear in each operand: one transpose for each, which sees the Spec of its own operand."""
    names = [n.removesuffix("*") for n in options.get("operands", "x y z").split()]
    return _primitive(function, Multilinear(dict(zip(names, transposes, strict=False))), options)


def custom(
    function: Callable[..., Any],
    pull: Pulls | None = None,
    *,
    push: Formula | None = None,
    joint: Formula | None = None,
    reach: Formula | None = None,
    repeats: bool = False,
    **options: Any,
) -> Primitive:
    """Any other function: `pull` for its operand (by name, in a dict, for several); `joint` gives a tuple.

    Beside `joint`, `pull` may have formulas that serve where one operand alone is wanted, and keep less.
    Without `push`, forward mode transposes the pull. `push(t, ...)` gets the tangent of the operand; with
    several operands a dict of tangents by name, None where an operand has none. `reach(ct, ...)` says on
    which elements of the first operand an output depends (a sum along an axis reaches the same as any other
    reduction along it), so that zeros by structure can follow. `repeats` is that of `linear`.
    """
    if joint is not None:
        names = [n.removesuffix("*") for n in options["operands"].split()]
        alone = pull if isinstance(pull, dict) else {}
        return _primitive(function, Custom({**dict.fromkeys(names), **alone}, push, joint, reach), options)
    assert pull is not None
    rule = Custom(_of_ufunc(function, pull), push, reach=reach)
    rule.repeats = repeats
    return _primitive(function, rule, options)


def _of_ufunc(function: Callable[..., Any], pulls: Pulls) -> Pulls:
    """A formula for the first operand of a ufunc, by its name. (Other functions' are found at first call.)"""
    return {"x": pulls} if isinstance(function, np.ufunc) and callable(pulls) else pulls


def piecewise_constant(*functions: Callable[..., Any], **options: Any) -> None:
    """Functions without a derivative: their results are constants."""
    for function in functions:
        batch = "aligned" if isinstance(function, np.ufunc) else None
        _primitive(function, PiecewiseConstant(), {"batch": batch, **options})


def composite(
    function: Callable[..., Any], body: Callable[..., Any], note: str = "", out: Out = Function.out
) -> Function:
    """A function written in terms of others: `body` has NumPy's signature and calls NumPy."""
    return register(function, Composite(function, body, note, out))


def constructor(function: Callable[..., Any], body: Callable[..., Any], note: str = "") -> Function:
    """A function that reaches a tracer only as `like=`: `body` gets that tracer, then the other arguments."""
    return register(function, Constructor(function, body, note))


def unsupported(function: Callable[..., Any], reason: str, instead: str = "") -> Function:
    """A function that is refused: why, and what to write instead."""
    return register(function, Unsupported(function, reason, instead))


class Query(Function):
    """Answered from shapes and dtypes alone, or from values that no derivative depends on: `seen` shows them."""

    status = "query"
    kind = "query"

    def __init__(self, function: Callable[..., Any], seen: Callable[[Tracer], Any]) -> None:
        super().__init__(function)
        self.seen = seen

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(
            *[self._shown(x) for x in args], **{k: self._shown(x) for k, x in kwargs.items()}
        )

    def _shown(self, x: Any) -> Any:
        if isinstance(x, (list, tuple)):
            return type(x)(self._shown(item) for item in x)
        return self.seen(x) if isinstance(x, Tracer) else x


def stand_in(x: Any) -> Any:
    """Zeros of the shape and dtype of `x`, which take no memory."""
    return np.broadcast_to(np.zeros((), x.dtype), x.shape)


def query(*functions: Callable[..., Any], seen: Callable[[Tracer], Any] = stand_in) -> None:
    """Functions answered from shapes and dtypes, or from what else `seen` shows of a tracer."""
    for function in functions:
        register(function, Query(function, seen))
