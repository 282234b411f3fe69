"""Primitives, and how their arguments are bound.

A primitive is a function that the engine treats as one step. Its arguments are bound once, here, by NumPy's
own signature: the arrays among them become the `operands` of a `Call`, the rest its `params`, with axes
normalised.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.core.arrays.arguments import (
    ABSENT,
    TAKEN,
    as_operand,
    holds_tracer,
    out_refused,
)
from funcgrad.core.arrays.foreign import check_has
from funcgrad.core.arrays.methods import BY_METHOD
from funcgrad.core.arrays.signatures import Signed
from funcgrad.core.engine.catalogue import Function, Out
from funcgrad.core.engine.trace import Tracer, bind, is_foreign
from funcgrad.core.memory.orders import example
from funcgrad.core.memory.views import ViewStep, note_view
from funcgrad.typed import override

if TYPE_CHECKING:
    from funcgrad.core.engine.kinds import Rule

Layout = tuple[tuple[str, int | None], ...]


class Call:
    """A call split in two: `operands` (arrays that a trace may care for, flat) and `params` (by name).

    `layout` names the operands: `("x", None)` is one operand, `("arrays", 3)` a list of three.
    """

    __slots__ = ("layout", "operands", "params")

    def __init__(self, operands: Sequence[Any], layout: Layout, params: dict[str, Any]) -> None:
        self.operands, self.layout, self.params = operands, layout, params

    def with_operands(self, operands: Sequence[Any]) -> Call:
        """The same call on other operands."""
        return Call(operands, self.layout, self.params)

    def named(self, values: Sequence[Any]) -> dict[str, Any]:
        """`values`, one for each operand, by the operands' names (lists gathered)."""
        named: dict[str, Any] = {}
        at = 0
        for name, length in self.layout:
            if length is None:
                named[name] = values[at]
                at += 1
            else:
                named[name] = list(values[at : at + length])
                at += length
        return named

    def slots(self, name: str) -> range:
        """The positions of the operands called `name`."""
        at = 0
        for other, length in self.layout:
            width = 1 if length is None else length
            if other == name:
                return range(at, at + width)
            at += width
        return range(0)


class Primitive(Signed):
    """A function that the engine treats as one step, with its rule and its way of batching.

    `operands` names the parameters that are arrays ("a b", "arrays*" for a list of arrays); by default it is
    the first one. `signature` replaces NumPy's own where Python can't see it. `axis` says in what an `axis`
    parameter counts: the first operand ("x"), the output ("out"), or that it is to be left as it is ("as
    is"). `batch` is the strategy of batch.py for vmap; `flattens` says that axis=None means the flattened
    array there (as in cumsum), not all axes (as in sum). `gives_array`: the result is an array also where it
    has no axes, not a scalar ("as x": where x is one). `may_view`: may NumPy's result be a view of the first
    operand? (By default it may, if the rule only moves elements.) `out` says how it writes into out=, and
    `lane` whether a fast lane may be made for calls of one array.
    """

    status = "differentiable"
    given: tuple[Any, ...] = ()  # the formulas of a user, who may have closed over something

    def __init__(
        self,
        function: Callable[..., Any],
        rule: Rule,
        *,
        operands: str | None = None,
        signature: str | None = None,
        axis: str = "x",
        batch: Any = None,
        flattens: bool = False,
        name: str | None = None,
        note: str = "",
        gives_array: bool | str = False,
        may_view: bool | None = None,
        out: Out = Function.out,
        lane: bool = True,
    ) -> None:
        super().__init__(function, name, operands, signature)
        self.gives_array, self.out, self.has_lane = gives_array, out, lane
        self.rule, self.batch, self.note, self.axis_of, self.flattens = rule, batch, note, axis, flattens
        self.may_view = getattr(rule, "moves", False) if may_view is None else may_view
        self.kind = rule.kind
        self.plans: dict[Any, Any] = {}
        self.splits: dict[Any, Call] = {}  # calls of one tracer, by all that is beside it

    @override
    def check(self) -> None:
        """Refuse a rule whose names don't fit the function; done at the first call."""
        self.rule.check(self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        call = self.split(args, kwargs)
        if call.params.get("order") == "A":  # decided by the layout in memory, while there still is one
            call.params["order"] = "F" if example(call.operands[0]).flags.fnc else "C"
        out = bind(self, call)
        if self.may_view and isinstance(out, Tracer):
            note_view(call.operands[0], out, ViewStep(self, call))
        return out

    def split(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Call:
        """Bind arguments by the function's own signature: an unknown keyword is an error, never swallowed.

        What came of it is remembered for calls of one tracer, beside which there are only numbers and the
        like.
        """
        if not args or not isinstance(args[0], Tracer):
            return self._split(args, kwargs)
        if len(args) == 1 and not kwargs and self.is_plain:
            return Call([as_operand(args[0])], ((self.operand_names[0], None),), {})
        others = (*args[1:], *kwargs.values())
        if self.lists or not all(map(_is_static, others)):
            return self._split(args, kwargs)
        # with types, as True == 1 == 1.0
        key = (args[0].ndim, len(args), others, (*kwargs,), (*map(type, others),))
        known = self.splits.get(key)
        if known is not None:
            return Call([as_operand(args[0])], known.layout, dict(known.params))
        call = self._split(args, kwargs)
        if call.layout == ((next(iter(self.signature.parameters)), None),) and len(self.splits) < _MANY:
            self.splits[key] = Call((), call.layout, dict(call.params))
        return call

    def _split(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Call:
        arguments = self.bind_arguments(*args, **kwargs)
        if arguments.pop("out", None) is not None:
            raise out_refused(self.name)
        operands: list[Any] = []
        layout: list[tuple[str, int | None]] = []
        for name in self.operand_names:
            value: Any = arguments.pop(name)
            if value is ABSENT or (value is None and self.defaults.get(name, ABSENT) is None):
                continue
            if name == "where" and (
                value is None or isinstance(value, (list, tuple)) and not holds_tracer(value)
            ):
                value = np.asarray(value, bool)  # as NumPy has it; an array is not cast
            if name in self.lists:
                if not hasattr(value, "__len__"):  # NumPy has already gone through a generator
                    raise TypeError(
                        f"np.{self.name}: {name} must be a list or a tuple of arrays, not a {type(value).__name__}"
                    )
                items = [as_operand(v) for v in value]  # pyright: ignore[reportOptionalIterable]
                layout.append((name, len(items)))
                operands += items
            else:
                layout.append((name, None))
                operands.append(as_operand(value))
        params = {k: v for k, v in arguments.items() if v is not self.defaults.get(k, ABSENT)}
        if "axis" in arguments and arguments["axis"] is not None and self.axis_of != "as is":
            ndim = operands[0].ndim if hasattr(operands[0], "ndim") else np.ndim(operands[0])
            params["axis"] = self.axis.normalised(arguments["axis"], ndim)
        return Call(operands, tuple(layout), params)

    def run(self, call: Call) -> Any:
        """Call the NumPy function itself."""
        for x in call.operands:
            if type(x) not in TAKEN and is_foreign(x):
                if self.function in BY_METHOD:
                    return BY_METHOD[self.function](*call.operands, **call.params)
                check_has(x, self.function, self.title)
        args, kwargs = self.arguments(call, call.operands)
        return self.function(*args, **kwargs)

    def arguments(self, call: Call, operands: Sequence[Any]) -> tuple[Sequence[Any], dict[str, Any]]:
        """What the function is called with: by position what is positional-only, all else by keyword."""
        layout = call.layout
        if 0 < len(layout) <= self.leading and layout[-1][0] == self.operand_names[len(layout) - 1]:
            return operands, call.params
        named = {**call.named(operands), **call.params}
        args: list[Any] = []
        if self.lists and layout[0][0] == next(iter(self.signature.parameters)):
            args.append(named.pop(layout[0][0]))  # other libraries give it another name
        for parameter in self.signature.parameters.values():
            if parameter.name not in named:
                continue
            if parameter.kind is parameter.POSITIONAL_ONLY:
                args.append(named.pop(parameter.name))
            elif parameter.kind is parameter.VAR_POSITIONAL:
                args += named.pop(parameter.name)
        return args, named


_STATIC = frozenset([int, bool, float, str, type, type(None)])
_MANY = 256  # ways to call one function that are remembered


def _is_static(x: Any) -> bool:
    """May a call be remembered by this argument?"""
    return type(x) in _STATIC or type(x) is tuple and all(type(i) is int for i in x)


class Opaque(Function):
    """A call that the engine does not look into: it says itself what it means on each kind of trace.

    Custom rules, checkpoints and implicit functions are of this kind (transforms/opaque.py). Operands and
    outputs are flat lists; an operand may be anything.
    """

    status = "opaque"

    def run(self, call: Call) -> list[Any]:
        """The outputs, for operands without tracers."""
        raise NotImplementedError

    def on_reverse(
        self, trace: Any, call: Call, slots: tuple[int, ...], parents: tuple[Any, ...]
    ) -> list[Any]:
        """The outputs on a reverse trace: `call` is lowered, `parents` are its operands' nodes at `slots`."""
        raise NotImplementedError

    def on_forward(self, trace: Any, call: Call, tangents: dict[int, Any]) -> list[Any]:
        """The outputs on a forward trace: `call` is lowered, `tangents` belong to some of its operands."""
        raise NotImplementedError

    def on_batch(self, trace: Any, call: Call, batched: Sequence[bool]) -> list[Any]:
        """The outputs on a batch trace: `call` is lowered, and some of its operands are batched along axis 0."""
        raise NotImplementedError
