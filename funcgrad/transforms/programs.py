"""What a function called, written down as it ran: a program to run again, on operands of the same values.

`write_down` runs a function on values without derivatives. Tracers that the function closes over (of any
trace that was there before) are found as they meet the program, and become operands of it, beside the inputs.
What was decided by values (branches, masks, random numbers) is part of the program, so it must not be run at
other values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from funcgrad.core.engine.batch import BatchTrace
from funcgrad.core.engine.primitive import Call, Opaque, Primitive
from funcgrad.core.engine.reverse import ReverseTrace
from funcgrad.core.engine.trace import Trace, Tracer, bind, innermost, rebuilt, snapshot
from funcgrad.core.memory.guard import SavedArrays, SavedCopies
from funcgrad.core.memory.mutation import Place, overwrite, put
from funcgrad.errors import RuleError, UnsupportedFunctionError, user_line
from funcgrad.typed import override

Keep = Callable[[str], bool]


class Ref(int):
    """Stands for an operand, or for the output of an earlier step, in a program."""


class ProgramStep:
    """One call of a program; operands are Refs or constants, `outs` has a Ref for each dependent output."""

    __slots__ = ("call", "dead", "outs", "primitive")

    def __init__(self, primitive: Any, call: Call, outs: Sequence[Any]) -> None:
        self.primitive, self.call, self.outs = primitive, call, outs
        self.dead: list[Ref] = []  # what nobody needs after this step

    def refs(self) -> list[Ref]:
        """What this step needs."""
        return [x for x in self.call.operands if type(x) is Ref]

    def run(self, operands: list[Any]) -> Any:
        """The step on these operands."""
        return bind(self.primitive, self.call.with_operands(operands))


class ProgramWrite(ProgramStep):
    """x[index] = v: the array before and the value are the operands, the array after is the output."""

    __slots__ = ("place",)

    def __init__(self, place: Place, operands: Sequence[Any], out: Ref) -> None:
        super().__init__(None, Call(operands, (("before", None), ("v", None)), {}), [out])
        self.place = place

    @override
    def run(self, operands: list[Any]) -> Any:
        before, v = operands
        operands.clear()  # the buffer is written in place if nobody else holds it
        buffer = snapshot(before) if isinstance(before, Tracer) else np.array(before)
        del before
        return put(buffer, self.place, v)


class Program:
    """The steps that the results need, and the function's return: a Ref per result, constants for the rest.

    Its outputs are the results (each once), and then what is kept.
    """

    def __init__(
        self,
        steps: Sequence[ProgramStep],
        inputs: Sequence[Ref],
        returned: Sequence[Any],
        kept: Iterable[Ref],
    ) -> None:
        self.returned = returned
        self.results = list(dict.fromkeys(ref for ref in returned if type(ref) is Ref))
        needed = set(self.results)
        self.steps: list[ProgramStep] = []
        for step in reversed(steps):
            if not needed.isdisjoint(step.outs):
                self.steps.append(step)
                needed.update(step.refs())
        self.steps.reverse()
        self.inputs = [ref for ref in inputs if ref in needed]
        self.kept = [ref for ref in kept if ref in needed]
        self.outs = [*self.results, *self.kept]
        self._find_dead()

    def _find_dead(self) -> None:
        alive = set(self.outs)
        for step in reversed(self.steps):
            refs = step.refs()
            step.dead = [ref for ref in {*refs, *step.outs} if ref is not None and ref not in alive]
            alive.update(refs)

    def __call__(self, operands: Iterable[Any], kept: Sequence[Any] = ()) -> list[Any]:
        """The outputs for these operands, one per input. `kept` are results that need no recomputing."""
        values = dict(zip(self.inputs, operands, strict=True))
        known = dict(zip(self.kept, kept, strict=False))
        for step in self.steps:
            inputs = [values[x] if type(x) is Ref else x for x in step.call.operands]
            for ref in step.dead:
                values.pop(ref, None)
            if step.outs[0] in known:
                out = noted(step.primitive, step.call.with_operands(inputs), known[step.outs[0]])
            else:
                out = step.run(inputs)
            inputs.clear()
            for ref, value in zip(step.outs, out if isinstance(out, (tuple, list)) else [out], strict=True):
                if ref is not None and ref not in step.dead:
                    values[ref] = value
        return [values[ref] for ref in self.outs]

    def filled(self, outs: Sequence[Any]) -> list[Any]:
        """What the function returned, with these outputs for its results."""
        by_name = dict(zip(self.outs, outs, strict=True))
        return [by_name[ref] if type(ref) is Ref else ref for ref in self.returned]


def noted(primitive: Any, call: Call, out: Any) -> Any:
    """`out` is known to be what `call` gives: only put it on the tape."""
    trace = innermost(call.operands)
    if isinstance(trace, ReverseTrace):
        lowered, slots, parents = trace.lowered(call, primitive.rule.ignores)
        if slots:
            return trace.record(primitive, lowered, out, slots, parents)
    return out


class ProgramTracer(Tracer):
    """A tracer of a program trace: `_node` is its Ref."""

    __slots__ = ()
    _trace: ProgramTrace


class ProgramTrace(Trace):
    """Writes down each call as a step. Its tracers hold values without derivatives (but vmap's batches)."""

    __slots__ = ("counter", "foreign", "guard", "inputs", "keep", "kept", "steps")
    transform = "recording of a program (checkpoint, fixed_point, root, ...)"
    tracer_type = ProgramTracer

    def __init__(self, guard: SavedArrays | None = None, keep: Keep | None = None) -> None:
        super().__init__()
        self.guard, self.keep = guard or SavedCopies(), keep
        self.counter = 0
        self.steps: list[ProgramStep] = []
        self.inputs: list[tuple[Ref, Any]] = []
        self.foreign: dict[tuple[int, int], Ref] = {}
        self.kept: dict[Ref, Any] = {}

    def ref(self) -> Ref:
        """A name that was not used before."""
        self.counter += 1
        return Ref(self.counter)

    def input(self, x: Any) -> ProgramTracer:
        """A tracer for an operand of the program."""
        ref = self.ref()
        self.inputs.append((ref, x))
        return self.wrap(without_derivatives(x), ref)

    def ref_of(self, x: Any) -> Any:
        """What stands for `x` in a step; another trace's tracer that is closed over is a new input."""
        if not isinstance(x, Tracer):
            return self.guard.keep(x) if type(x) is np.ndarray else x
        if x._trace is self:
            return self.ref_of(x._value) if x._node is None else x._node
        key = (id(x._value), id(x._node))
        if key not in self.foreign:
            ref = self.foreign[key] = self.ref()
            self.inputs.append((ref, snapshot(x)))  # which also keeps the two ids from being used again
        return self.foreign[key]

    @override
    def apply(self, primitive: Primitive | Opaque, call: Call) -> Any:
        refs = [self.ref_of(x) for x in call.operands]
        out = bind(primitive, call.with_operands([without_derivatives(x, self) for x in call.operands]))
        outs = out if isinstance(out, (tuple, list)) else [out]
        if any(isinstance(o, ProgramTracer) and o._trace is self for o in outs):
            raise RuleError(
                f"{primitive.name} at {user_line()} closes over a value that was computed in the function around it, "
                "which is checkpointed (or solved). Make that value an argument."
            )
        if not any(type(ref) is Ref for ref in refs):
            return self.constant(out)
        names = [self.ref() if getattr(o, "dtype", _OBJECT).kind in "fc" else None for o in outs]
        if not any(names):
            return self.constant(out)
        self.steps.append(ProgramStep(primitive, call.with_operands(refs), names))
        if self.keep is not None and not isinstance(out, (tuple, list)):
            self.note_kept(primitive, call, names[0], out)
        tracers = [
            self.constant(o) if ref is None else self.wrap(o, ref) for o, ref in zip(outs, names, strict=True)
        ]
        return rebuilt(out, tracers) if isinstance(out, (tuple, list)) else tracers[0]

    def note_kept(self, primitive: Any, call: Call, ref: Any, out: Any) -> None:
        """Keep `out` if the policy wants this function's result; a tagged value stays where it was made."""
        assert self.keep is not None
        if self.keep(primitive.name) and not isinstance(primitive, Opaque):
            self.kept[ref] = out
        elif primitive.name == "checkpoint_name" and self.keep(call.params["name"]):
            source = self.ref_of(call.operands[0])
            maker = next((step for step in reversed(self.steps) if source in step.outs), None)
            if maker is not None and len(maker.outs) == 1 and isinstance(maker.primitive, Primitive):
                self.kept[source] = out

    @override
    def write(self, x: Any, place: Place, v: Any) -> None:
        indices = place.index if isinstance(place.index, tuple) else (place.index,)
        if any(isinstance(i, Tracer) for i in indices):
            raise UnsupportedFunctionError(
                f"x[index] = v at {user_line()}: under vmap, an index that differs between the examples can't be assigned "
                "at in a checkpointed (or solved) function. Write x = funcgrad.at(x)[index].set(v)."
            )
        before = self.ref_of(x)
        if type(before) is np.ndarray:
            before = before.copy()
        written = self.ref_of(v)
        overwrite(x, "_value", place, without_derivatives(v, self))
        if type(before) is Ref or type(written) is Ref:
            x._node = self.ref()
            self.steps.append(ProgramWrite(place, [before, written], x._node))


_OBJECT = np.dtype(object)


def without_derivatives(x: Any, trace: Trace | None = None) -> Any:
    """The value of `x` without what transforms remember of it; batches of vmap stay.

    Tracers of `trace`, which is writing a program down, have such values.
    """
    if not isinstance(x, Tracer):
        return x
    if x._trace is trace:
        return x._value
    if x._is_recorded:  # it has no derivatives
        return snapshot(x)
    value = without_derivatives(x._value)
    return x._trace.wrap(value, None) if isinstance(x._trace, BatchTrace) else value


class Transcript:
    """A program, with the operands that it was written down with and the outputs that it had."""

    def __init__(self, trace: ProgramTrace, outs: Sequence[Any]) -> None:
        returned = [trace.ref_of(o) for o in outs]
        self.program = Program(trace.steps, [ref for ref, _ in trace.inputs], returned, trace.kept)
        operands = dict(trace.inputs)
        self.operands = [operands[ref] for ref in self.program.inputs]
        values = {
            r: without_derivatives(o, trace) for r, o in zip(returned, outs, strict=True) if type(r) is Ref
        }
        values.update(trace.kept)
        self.values = [values[ref] for ref in self.program.outs]


def write_down(
    fun: Callable[[list[Any]], Sequence[Any]], leaves: Sequence[Any], keep: Keep | None = None
) -> Transcript:
    """Run `fun`, a function from a flat list to a flat list, and write down what it calls.

    Tracers and floating arrays among `leaves` become inputs of the program.
    """
    with ProgramTrace(guard_of(leaves), keep) as trace:
        inputs = [trace.input(x) if is_input(x) else x for x in leaves]
        names = [x._node for x in inputs if isinstance(x, ProgramTracer)]
        outs = fun(inputs)
        if names != [x._node for x in inputs if isinstance(x, ProgramTracer)]:
            raise RuleError(
                "a checkpointed (or solved) function assigned into one of its arguments, which the caller would not "
                "see. Begin with a copy of it (x = x.copy()), and return what is new."
            )
        return Transcript(trace, outs)


def guard_of(leaves: Sequence[Any]) -> SavedArrays | None:
    """The guard of the first reverse trace that is found among these values."""
    for x in leaves:
        while isinstance(x, Tracer):
            if isinstance(x._trace, ReverseTrace):
                return x._trace.guard
            x = x._value
    return None


def is_input(x: Any) -> bool:
    """Does this leaf vary? Numbers and integers stay as they are: they decide, and don't flow."""
    return isinstance(x, (Tracer, np.ndarray)) and x.dtype.kind in "fc"
