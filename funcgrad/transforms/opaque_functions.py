"""extend.opaque: functions of one's own that are one step for the engine, whatever they take and return.

`OpaqueFunction` is the function. A `FunctionCall` is one call of it: its arguments (those by keyword behind
the others) as flat operands, the numbers among the leaves of its output as flat outputs. Under vmap it runs on
the whole batch if it is NumPy code, else the examples run one by one (`ExampleCalls`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from types import MethodType
from typing import Any, NamedTuple

import numpy as np

from funcgrad import tree
from funcgrad.core.arrays.zeros import lasting_spec, zeros
from funcgrad.core.engine.batch import BatchTrace, stacked
from funcgrad.core.engine.primitive import Call
from funcgrad.core.engine.trace import Trace, Tracer, bind, innermost
from funcgrad.errors import OutputError, RuleError
from funcgrad.transforms.custom_calls import (
    NO_TREES,
    ArgumentLayout,
    CustomCall,
    checked,
    described,
    is_inexact,
    is_number,
    leaves_like,
)
from funcgrad.transforms.opaque import (
    BatchedPull,
    BatchedPush,
    OpaqueCall,
    Outputs,
    PullCall,
    PushCall,
    flat_call,
    stripped,
    stripped_leaf,
)
from funcgrad.transforms.wrapping import name_of
from funcgrad.typed import override

Rule = Callable[..., Any]
Key = int | str  # an argument: its position, or its name if it was given by keyword


class Called(NamedTuple):
    """What a rule of `extend.opaque` is told of a call: its arguments, its output, and what is differentiated.

    `wanted` are the arguments that take part: positions, and the names of those given by keyword.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    out: Any
    wanted: tuple[Key, ...]


class OpaqueFunction:
    """See `extend.opaque`."""

    call_type: type[FunctionCall]

    def __init__(
        self, function: Callable[..., Any], pull: Rule | None, push: Rule | None, batch: Any
    ) -> None:
        functools.update_wrapper(self, function, updated=())
        self.function, self.pull, self.push, self.batch = function, pull, push, batch
        self.name = name_of(function)
        self.title = f"extend.opaque {self.name}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values = (*args, *kwargs.values()) if kwargs else args
        for x in values:
            if type(x) not in NO_TREES and holds_tracer(x):
                break
        else:
            return self.function(*args, **kwargs)
        plain = tuple([i for i, x in enumerate(values) if not holds_tracer(x)])
        arguments, leaves = ArgumentLayout.of(values, plain)
        call = self.call_type(self, arguments, (*kwargs,))
        return call.rebuilt(bind(call, flat_call(leaves)))

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """In a class it is a method."""
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<{self.title}>"

    def missing(self, wanted: Sequence[Key]) -> Exception:
        """What is raised where a derivative is asked for, and there is no rule."""
        return RuleError(
            f"{self.title}: its derivative in the argument {', '.join(map(repr, wanted))} was asked for, but it has no "
            "rule. Give it one: pull=lambda ct, call: ..., or push=lambda t, call: ..."
        )


def holds_tracer(x: Any) -> bool:
    """Is `x`, or a leaf of it, a tracer?"""
    if isinstance(x, Tracer):
        return True
    return type(x) not in NO_TREES and any(isinstance(leaf, Tracer) for leaf in tree.leaves(x))


class FunctionCall(CustomCall, PullCall):
    """One call of an opaque function."""

    is_linear = False
    function: OpaqueFunction

    def __init__(self, function: OpaqueFunction, arguments: ArgumentLayout, names: tuple[str, ...]) -> None:
        super().__init__(function, arguments)
        self.names = names
        self.others: dict[int, Any] = {}  # leaves of the output that are no numbers, by position

    # ---- arguments and outputs -----------------------------------------------------------------------------------
    def sorted_arguments(self, operands: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments by position, and those by keyword."""
        values = self.arguments.rebuilt(operands)
        count = len(values) - len(self.names)
        return tuple(values[:count]), dict(zip(self.names, values[count:], strict=True))

    def key(self, i: int) -> Key:
        """How rules call argument `i`."""
        count = len(self.arguments.structures) - len(self.names)
        return i if i < count else self.names[i - count]

    def wanted(self, slots: Any) -> tuple[Key, ...]:
        """The arguments that the operands in `slots` belong to."""
        if self.arguments.is_flat:
            return tuple([self.key(i) for i in slots])
        owners = [i for i, s in enumerate(self.arguments.structures) for _ in range(s.num_leaves)]
        return tuple(dict.fromkeys(self.key(owners[i]) for i in slots))

    @override
    def flat(self, out: Any) -> list[Any]:
        """The numbers among the leaves of an output; the structure, and the other leaves, are remembered."""
        if isinstance(out, (np.ndarray, np.generic, Tracer)) and out.dtype.kind in "fciub":
            self.structure, self.outs = tree.LEAF, [lasting_spec(out)]
            return [out]
        leaves, self.structure = tree.flatten(out)
        self.others = {k: x for k, x in enumerate(leaves) if not is_number(x)}
        outs = [
            x if hasattr(x, "dtype") else np.asarray(x)[()]
            for k, x in enumerate(leaves)
            if k not in self.others
        ]
        self.outs = [lasting_spec(o) for o in outs]
        return outs

    def rebuilt(self, outs: Sequence[Any], others: Mapping[int, Any] | None = None) -> Any:
        """The output, from its numbers."""
        if self.structure is tree.LEAF and not self.others:
            return outs[0]
        numbers, others = iter(outs), self.others if others is None else others
        leaves = [
            others[k] if k in self.others else next(numbers) for k in range(len(outs) + len(self.others))
        ]
        return tree.unflatten(self.structure, leaves)

    @override
    def filled(self, cts: Sequence[Any]) -> Any:
        """The cotangent of the output as rules get it: zeros where nothing came, None for what is no number."""
        dense = [zeros(to) if ct is None else ct for ct, to in zip(cts, self.outs, strict=True)]
        return self.rebuilt(dense, dict.fromkeys(self.others))

    # ---- the function and its rules ------------------------------------------------------------------------------
    @override
    def run(self, call: Call) -> list[Any]:
        args, kwargs = self.sorted_arguments(call.operands)
        return self.flat(self.function.function(*args, **kwargs))

    @override
    def fwd(self, operands: Sequence[Any], slots: Sequence[int], trace: Trace) -> Outputs:
        if self.function.pull is None:
            if self.function.push is None:
                raise self.function.missing(self.wanted(slots))
            return PushCall.fwd(self, operands, slots, trace)  # type: ignore[arg-type]
        args, kwargs = self.sorted_arguments(operands)
        is_plain = not any(isinstance(x, Tracer) for x in operands)
        out = (self.function.function if is_plain else self.function)(*args, **kwargs)
        arguments = [*args, *kwargs.values()]
        if self.arguments.is_flat:  # what is no tracer has none in it
            return self.flat(out), (stripped(trace, out), [stripped_leaf(trace, x) for x in arguments])
        return self.flat(out), stripped(trace, (out, arguments))

    @override
    def bwd(self, residuals: Any, cts: Sequence[Any], slots: Sequence[int]) -> Sequence[Any]:
        if self.function.pull is None:
            return residuals.pull(cts)
        wanted = self.wanted(slots)
        count = len(residuals[1]) - len(self.names)

        def pull(ct: Any, out: Any, values: list[Any]) -> list[Any]:
            kwargs = dict(zip(self.names, values[count:], strict=True))
            result = self.function.pull(ct, Called(tuple(values[:count]), kwargs, out, wanted))
            return self.pulled(result, slots)

        return self._by_example(pull, self.filled(cts), *residuals)

    def _by_example(self, rule: Callable[..., list[Any]], *arguments: Any) -> list[Any]:
        """What the rule returns; of a batch, unless it is NumPy code, one example after the other."""
        if self.function.batch == "traced":
            return rule(*arguments)
        leaves, structure = tree.flatten(arguments)
        trace = innermost(leaves)
        if not isinstance(trace, BatchTrace):
            return rule(*arguments)
        mine = [isinstance(x, Tracer) and x._trace is trace for x in leaves]
        rows = []
        for k in range(trace.size) or [None]:  # without examples, one of ones gives the shapes
            example = [
                (np.ones(x.shape, x.dtype) if k is None else x._value[k]) if m else x
                for x, m in zip(leaves, mine, strict=True)
            ]
            rows.append(self._by_example(rule, *tree.unflatten(structure, example)))
        parts = [_rows(row) for row in zip(*rows, strict=True)]
        return [None if p is None else trace.wrap(p[: trace.size], None) for p in parts]

    def pulled(self, result: Any, slots: Sequence[int]) -> list[Any]:
        """One cotangent for each operand in `slots`, from what the rule returned."""
        if isinstance(result, Mapping):
            by_key: Mapping[Any, Any] = result
        else:
            by_key = dict(enumerate(self._one_for_each(result)))
        if self.arguments.is_flat:  # a leaf is checked by what it is, without words for what it is not
            parts = [by_key.get(self.key(i)) for i in slots]
            if all(type(part) in NO_TREES for part in parts):
                return [self._part(part, i, "pull") for part, i in zip(parts, slots, strict=True)]
        cts: list[Any] = []
        for i, structure in enumerate(self.arguments.structures):
            what = f"{self.function.title}: the cotangent that its pull returned for argument {self.key(i)!r}"
            cts += leaves_like(structure, by_key.get(self.key(i)), what)
        return [self._part(cts[i], i, "pull") for i in slots]

    def _one_for_each(self, result: Any) -> Sequence[Any]:
        count = len(self.arguments.structures) - len(self.names)
        if not isinstance(result, (tuple, list)) or len(result) != count:
            raise RuleError(
                f"{self.function.title}: its pull must return a tuple with one cotangent for each argument that was given by "
                f"position ({count}), or a dict by position and keyword, but it returned {described(result)}. Write (ct,) "
                "for one argument, None for a zero."
            )
        return result

    @override
    def jvp(self, operands: Sequence[Any], tangents: dict[int, Any], trace: Trace) -> Outputs:
        if self.function.push is None:
            if self.function.pull is None:
                raise self.function.missing(self.wanted(tangents))
            return PullCall.jvp(self, operands, tangents, trace)
        args, kwargs = self.sorted_arguments(operands)
        out = self.function(*args, **kwargs)
        outs, wanted = self.flat(out), self.wanted(tangents)
        specs = self.arguments.specs
        directions = [
            tangents[i] if i in tangents else None if to is None else zeros(to) for i, to in enumerate(specs)
        ]
        parts = self.arguments.split(directions)
        by_key = {
            self.key(i): tree.unflatten(self.arguments.structures[i], part)
            for i, part in enumerate(parts)
            if self.key(i) in wanted
        }

        def push(ts: list[Any], *called: Any) -> list[Any]:
            t = dict(zip(by_key, ts, strict=True))
            return self.pushed(self.function.push(t, Called(*called, wanted)))  # type: ignore[misc]

        return outs, self._by_example(push, [*by_key.values()], args, kwargs, out)

    def pushed(self, t: Any) -> list[Any]:
        """The tangent of each output, from what the rule returned."""
        what = f"{self.function.title}: the tangent that its push returned"
        leaves = leaves_like(self.structure, t, what)
        ts = [x for k, x in enumerate(leaves) if k not in self.others]
        return [self._tangent(x, to, what) for x, to in zip(ts, self.outs, strict=True)]

    def _tangent(self, t: Any, to: Any, what: str) -> Any:
        return None if t is None or not is_inexact(to) else checked(t, to, what, "its output")

    @override
    def batched(self, trace: BatchTrace, flags: Sequence[bool]) -> OpaqueCall:
        if self.function.batch == "traced":
            by_push = self.function.pull is None and self.function.push is not None
            return (BatchedPush if by_push else BatchedPull)(self, trace, flags)
        return ExampleCalls(self, trace.size, flags)

    def another(self) -> FunctionCall:
        """The same call, for another example."""
        return copy(self)

    def agrees(self, other: Any) -> bool:
        """Are the outputs alike, in all but the numbers?"""
        return self.structure == other.structure and _same(self.others, other.others)


OpaqueFunction.call_type = FunctionCall


class ExampleCalls(PullCall):
    """A call for a whole batch: one call for each example."""

    is_linear = False

    def __init__(self, inner: FunctionCall | ExampleCalls, size: int, flags: Sequence[bool]) -> None:
        super().__init__(inner.name)
        self.inner, self.size, self.flags, self.follows = inner, size, tuple(flags), inner.follows
        # The first example is the call itself, whose structure the caller asks for.
        self.calls = [inner, *(inner.another() for _ in range(size - 1))] if size else []

    def another(self) -> ExampleCalls:
        """The same call, for another example of an outer batch."""
        return ExampleCalls(self.inner.another(), self.size, self.flags)

    def agrees(self, other: Any) -> bool:
        """Are the outputs alike, in all but the numbers?"""
        return self.inner.agrees(other.inner)

    def _example(self, operands: Sequence[Any], k: int) -> list[Any]:
        return [x[k] if f else x for x, f in zip(operands, self.flags, strict=True)]

    def _stacked(self, outs: Sequence[list[Any]]) -> list[Any]:
        """The outputs of all examples, which must agree in all that is no number."""
        if not all(self.inner.agrees(call) for call in self.calls[1:]):
            raise OutputError(
                f"{self.name}, run under vmap for each example, gave outputs that differ in their structure, or in what is "
                "no number. Return numbers and arrays, or loop over the examples."
            )
        return [stacked(parts) for parts in zip(*outs, strict=True)]

    def _none_at_all(self, operands: Sequence[Any]) -> list[Any]:
        ones = [np.ones(x.shape[1:], x.dtype) if f else x for x, f in zip(operands, self.flags, strict=True)]
        return [np.zeros((0, *o.shape), o.dtype) for o in self.inner.run(flat_call(ones))]

    @override
    def run(self, call: Call) -> list[Any]:
        if not self.size:
            return self._none_at_all(call.operands)
        examples = [call.with_operands(self._example(call.operands, k)) for k in range(self.size)]
        return self._stacked([one.run(example) for one, example in zip(self.calls, examples, strict=True)])

    @override
    def fwd(self, operands: Sequence[Any], slots: Sequence[int], trace: Trace) -> Outputs:
        if not self.size:
            return self._none_at_all(operands), []
        pairs = [call.fwd(self._example(operands, k), slots, trace) for k, call in enumerate(self.calls)]
        return self._stacked([outs for outs, _ in pairs]), [residuals for _, residuals in pairs]

    @override
    def bwd(self, residuals: Any, cts: Sequence[Any], slots: Sequence[int]) -> Sequence[Any]:
        rows = []
        for k, (call, kept) in enumerate(zip(self.calls, residuals, strict=True)):
            rows.append(call.bwd(kept, [None if ct is None else ct[k] for ct in cts], slots))
        if not rows:
            return [None] * len(slots)
        parts = zip(*rows, strict=True)
        return [_rows(p) if self.flags[i] else _sum(p) for i, p in zip(slots, parts, strict=True)]

    @override
    def jvp(self, operands: Sequence[Any], tangents: dict[int, Any], trace: Trace) -> Outputs:
        if not self.size:
            outs = self._none_at_all(operands)
            return outs, [None] * len(outs)
        pairs = []
        for k, call in enumerate(self.calls):
            ts = {i: t[k] if self.flags[i] else t for i, t in tangents.items()}
            pairs.append(call.jvp(self._example(operands, k), ts, trace))
        outs = self._stacked([outs for outs, _ in pairs])
        return outs, [_rows(ts) for ts in zip(*(ts for _, ts in pairs), strict=True)]

    @override
    def batched(self, trace: BatchTrace, flags: Sequence[bool]) -> OpaqueCall:
        return ExampleCalls(self, trace.size, flags)


def _rows(parts: Sequence[Any]) -> Any:
    """The cotangents or tangents of all examples; None is a zero."""
    there = [p for p in parts if p is not None]
    return np.stack([np.zeros_like(there[0]) if p is None else p for p in parts]) if there else None


def _sum(parts: Sequence[Any]) -> Any:
    """The cotangent of what all examples share."""
    there = [p for p in parts if p is not None]
    return sum(there[1:], there[0]) if there else None


def _same(x: dict[int, Any], y: dict[int, Any]) -> bool:
    """Is what is no number equal in two outputs?"""
    return x.keys() == y.keys() and all(x[k] is y[k] or bool(x[k] == y[k]) for k in x)
