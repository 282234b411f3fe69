"""The two halves of a derivative that is pulled back: a forward program, and a backward program.

The function and the sweep are recorded as one. What was recorded until the sweep began is the forward half:
it gives the results, and what the other half needs of its values. Views are taken again, not kept. Closed-over
arrays are kept as the tape of the eager engine keeps them: a change between the halves is not seen.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.compiler.compiling import returned_leaf
from funcgrad.compiler.constants import Constant
from funcgrad.compiler.engines import Engine
from funcgrad.compiler.flat import Layout, is_array, taped
from funcgrad.compiler.paths import Paths, Recording, Returned
from funcgrad.compiler.recorder import JitTrace, JitTracer
from funcgrad.compiler.steps import Spec, Step
from funcgrad.core.engine.cotangent import Masked, dense
from funcgrad.core.engine.reverse import ReverseTrace
from funcgrad.core.engine.sweep import sweep
from funcgrad.core.engine.trace import lower
from funcgrad.transforms.programs import Ref
from funcgrad.transforms.transposition import node_of


class Forward:
    """The first half: what a flat function gives, what is kept for the other half, and that `Half`.

    There is none (None) where the sweep asks for values: then the function is run again to pull back.
    """

    def __init__(self, fun: Callable[..., Any], slots: tuple[int, ...], engine: Engine) -> None:
        self.fun, self.slots, self.engine = fun, slots, engine

    def __call__(self, *values: Any) -> tuple[list[Any], list[Any], Half | None, Layout]:
        recorder = next((x._trace for x in values if type(x) is JitTracer), None)
        if recorder is None:
            outs, layout = self.fun(*values)
            return outs, [], None, layout
        recorder.values = {}
        with ReverseTrace() as trace:
            nodes, outs, layout = taped(trace, self.fun, list(values), self.slots)
        half = _Parting(recorder, self.engine)
        seeds, kinds = [], []
        for o in filter(is_array, outs):
            is_pulled = o.dtype.kind in "fc"
            kinds.append(int(is_pulled))
            if is_pulled:
                ct = half.cotangent(o)
                seeds += [(node, ct)] if (node := node_of(trace, o)) is not None else []
        found = sweep(seeds, release=True)
        made, kept = half.made([found.get(node) for node in nodes], tuple(kinds))
        return [lower(trace, o) for o in outs], kept, made, layout


class _Parting:
    """A recording that is being parted: from here on, it is the second half."""

    def __init__(self, recorder: JitTrace, engine: Engine) -> None:
        self.recorder, self.engine = recorder, engine
        self.begin, self.asked = len(recorder.tape), len(recorder.outcomes)
        self.cts: list[tuple[Ref, Spec]] = []

    def cotangent(self, o: Any) -> Any:
        """A tracer for the cotangent of a result."""
        ref, value = self.recorder.ref(), np.ones(o.shape, o.dtype)[()]
        self.cts.append((ref, Spec(value)))
        return self.recorder.wrap(value, ref)

    def made(self, parts: list[Any], kinds: tuple[int, ...]) -> tuple[Half | None, list[Any]]:
        """The second half, for these parts that it gives; what is kept for it."""
        recorder = self.recorder
        tape, values = recorder.tape[self.begin :], recorder.values
        recorder.values = None
        del recorder.tape[self.begin :], recorder.outcomes[self.asked :]
        steps = [step for step in tape if isinstance(step, Step)]
        if len(steps) < len(tape) or values is None:
            return None, []
        leaves, structure = tree.flatten(parts)
        returned = Returned([returned_leaf(recorder, x) for x in leaves], structure)
        views, inputs, kept = self._needs(steps, [x for x in returned.leaves if type(x) is Ref])
        half = Half(self.engine, [*views, *steps], returned, kinds)
        half.gets(dict(recorder.inputs), inputs, [(ref, Spec(values[ref])) for ref in kept], self.cts)
        return half, [recorder.wrap(values[ref], ref) for ref in kept]

    def _needs(self, steps: list[Step], ends: list[Ref]) -> tuple[list[Step], list[int], list[Ref]]:
        """What the second half needs: views to take again, inputs by position, values of the first half."""
        made_by = {ref: (k, step) for k, step in enumerate(self.recorder.tape) if isinstance(step, Step)
                   for ref in step.outs}  # fmt: skip
        inputs = {ref: i for i, (ref, _) in enumerate(self.recorder.inputs)}
        known = {ref for ref, _ in self.cts} | {ref for step in steps for ref in step.outs}
        todo = [*(ref for step in steps for ref in step.refs()), *ends]
        views: dict[int, Step] = {}
        used: set[int] = set()
        kept: dict[Ref, None] = {}
        while todo:
            ref = todo.pop()
            if ref in known:
                continue
            known.add(ref)
            if ref in inputs:
                used.add(inputs[ref])
                continue
            k, step = made_by[ref]
            if all(spec.is_view for spec in step.specs):
                views[k] = step
                known.update(step.outs)
                todo += step.refs()
            else:
                kept[ref] = None
        return [views[k] for k in sorted(views)], sorted(used), sorted(kept)


class Half:
    """The second half: a program of inputs of the first one, of what that has kept, and of cotangents.

    It is a leaf of what the first half returns, and equal to that of another recording which does the same.
    It is compiled when it was met twice.
    """

    def __init__(
        self, engine: Engine, steps: Sequence[Step], returned: Returned, kinds: tuple[int, ...]
    ) -> None:
        self.engine, self.kinds, self.program = engine, kinds, None
        self.lock = threading.Lock()
        self.constants: list[Constant] = []
        renamed: dict[int, Ref] = {}
        tape = [step.replaced([self._moved(x, renamed) for x in step.operands]) for step in steps]
        for new, step in zip(tape, steps):
            new.outs = step.outs
        self.recording = Recording(tape, [], returned)
        self.into: Half | None = None

    def _moved(self, x: Any, renamed: dict[int, Ref]) -> Any:
        """A Ref in the place of a constant, which becomes an input."""
        if not isinstance(x, Constant):
            return x
        if id(x.array) not in renamed:
            self.constants.append(x)
            renamed[id(x.array)] = Ref(-len(self.constants))
        return renamed[id(x.array)]

    def gets(self, given: dict[Ref, Spec], inputs: list[int], kept: list[Any], cts: list[Any]) -> None:
        """Say what the program is given: inputs by their positions, values kept, cotangents."""
        self.inputs, self.cts = inputs, [spec for _, spec in cts]
        outside = [(Ref(-k - 1), Spec(x.array)) for k, x in enumerate(self.constants)]
        pairs = [*given.items()]
        self.paths = Paths("a backward half", [*(pairs[i] for i in inputs), *kept, *outside, *cts])
        self.paths.add(self.recording)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Half):
            return False
        if other is self or other.into is self:
            return True
        if self.paths.inputs != other.paths.inputs or self.kinds != other.kinds:
            return False
        for x, y in zip(self.constants, other.constants, strict=True):
            if x.is_same_place(y):
                x.lives_outside = True
            elif not x.equals(y):
                return False
        self.paths.add(other.recording)
        other.into = self
        return True

    __hash__ = object.__hash__

    def outside(self, trace: ReverseTrace) -> list[Any]:
        """The arrays that the first half has closed over, safe from later changes."""

        def kept(x: Constant) -> Any:
            is_own = not x.lives_outside and isinstance(x.content, np.ndarray)
            return x.content if is_own else trace.guard.keep(x.array)

        return [kept(x) for x in self.constants]

    def dense(self, cts: Sequence[Any]) -> tuple[list[Any], bool]:
        """A plain cotangent for each result that has one; were all of them there, and plain?"""
        is_exact = True
        found: list[Any] = []
        for ct, spec in zip((ct for ct, kind in zip(cts, self.kinds) if kind), self.cts, strict=True):
            if ct is None:
                ct, is_exact = np.zeros(spec.shape, spec.dtype), False
            elif type(ct) is Masked:
                ct, is_exact = dense(ct), False
            found.append(ct)
        return found, is_exact

    def run(self, operands: Sequence[Any], kept: Sequence[Any], cts: Sequence[Any]) -> Any:
        """The cotangents of the operands."""
        given = [_like(ct, spec) for ct, spec in zip(cts, self.cts, strict=True)]
        given = [*(operands[i] for i in self.inputs), *kept, *given]
        program = self.into.program if self.into is not None else self.program
        if program is None:
            program = self._compiled()
        return self._interpreted(given) if program is None else program(given)[0]

    def _compiled(self) -> Any:
        """The program, if there have been two recordings."""
        with self.lock:
            assert self.paths.root is not None
            if self.program is None and self.paths.root.seen > 1:
                self.program = self.engine.program(self.paths)
        return self.program

    def _interpreted(self, given: Sequence[Any]) -> Any:
        """The same, step by step, as it was recorded."""
        known = {ref: x for (ref, _), x in zip(self.paths.inputs, given, strict=True)}
        for step in self.recording.tape:
            assert isinstance(step, Step)
            with np.errstate(**(step.errstate or {})):  # pyright: ignore[reportArgumentType]
                out = step.run([known[x] if type(x) is Ref else x for x in step.operands])
            known.update(zip(step.outs, out if step.many is not None else (out,)))
        returned = self.recording.returned
        leaves = [known[x] if type(x) is Ref else x for x in returned.leaves]
        leaves = [x.value.copy() if isinstance(x, Constant) else x for x in leaves]
        return tree.unflatten(returned.structure, leaves)


def _like(ct: Any, spec: Spec) -> Any:
    """A cotangent in the form that the program was made for."""
    if not spec.is_array:
        return ct[()]
    return (
        ct
        if type(ct) is np.ndarray and ct.flags.c_contiguous
        else np.ascontiguousarray(ct).reshape(spec.shape)
    )
