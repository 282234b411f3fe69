"""One walk over a program that rewrites it: repeated steps, constants, identities, scalars, broadcasts.

A value stands for what it was computed to be: another value, a constant, `Scaled` (a number times a value:
factors wait until somebody needs the product), or `Spread` (a smaller value, repeated). `settled` makes a
plain value of it. The rules are in rules.py; what has none is taken as it is, unless it was computed before,
or has constants for all its operands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad.compiler.constants import Constant
from funcgrad.compiler.paths import Block
from funcgrad.compiler.steps import Hole, Spec, Step, itself
from funcgrad.transforms.programs import Ref


class Scaled:
    """`factor` times `base`."""

    __slots__ = ("base", "factor")

    def __init__(self, factor: float, base: Ref) -> None:
        self.factor, self.base = factor, base


class Spread:
    """`base`, repeated to `spec`."""

    __slots__ = ("base", "spec")

    def __init__(self, base: Any, spec: Spec) -> None:
        self.base, self.spec = base, spec


Rule = Callable[["Rewriter", Step, list[Any]], Any]
RULES: dict[Any, Rule] = {}


class Rewriter:
    """Rewrites a tree of blocks in place."""

    def __init__(self, root: Block, inputs: Sequence[tuple[Ref, Spec]]) -> None:
        self.specs: dict[Ref, Spec] = dict(inputs)
        self.uses: Counter[Ref] = Counter()
        self.counter = max((int(ref) for ref, _ in inputs), default=0)
        for block in root.blocks():
            self.uses.update(block.needs())
            for step in block.steps:
                self.uses.update(step.refs())
                self.counter = max(self.counter, *map(int, step.outs))
        self.values: dict[Ref, Any] = {}
        self.known: dict[Any, Any] = {}
        self.steps: list[Step] = []
        self.made: dict[Ref, Step] = {}  # the step that gives a value
        self.held: list[Any] = []  # ids in keys are not used again
        self._walk(root)

    # ---- walking -----------------------------------------------------------------------------------------------------
    def _walk(self, root: Block) -> None:
        todo: list[tuple[Block, Any]] = [(root, None)]
        while todo:
            block, state = todo.pop()
            if state is not None:
                self.values, self.known, self.specs = dict(state[0]), dict(state[1]), dict(state[2])
            while True:
                self._rewrite(block)
                following = list(block.branches.items())
                if len(following) != 1:
                    break
                self._learn(block, following[0][0])
                block = following[0][1]
            state = (self.values, self.known, self.specs)
            todo += [(b, state) for _, b in following]

    def _learn(self, block: Block, outcome: Any) -> None:
        """What a guard has told of a shape."""
        if block.guard is not None and block.guard.kind == "spec" and type(outcome) is tuple:
            ref = block.guard.ref
            old = self.specs[ref]
            self.specs[ref] = Spec.of(outcome[0], outcome[1], is_array=old.is_array)

    def _rewrite(self, block: Block) -> None:
        self.steps = []
        for step in block.steps:
            self.specs.update(zip(step.outs, step.specs))
            self._visit(step)
        if block.guard is not None:
            block.guard = type(block.guard)(block.guard.kind, self.asked(block.guard.ref), block.guard.line)
        if block.returned is not None:
            leaves = [self.returned(x) if type(x) is Ref else x for x in block.returned.leaves]
            block.returned = type(block.returned)(leaves, block.returned.structure)
        block.steps = self.steps

    def _visit(self, step: Step) -> None:
        operands = [self.values.get(x, x) if type(x) is Ref else x for x in step.operands]
        rule = RULES.get(step.function)
        if rule is not None and step.many is None:
            value = rule(self, step, operands)
            if value is not None:
                self.values[step.outs[0]] = value
                return
        self._take(step.replaced([self.settled(x) for x in operands]))

    def _take(self, step: Step) -> None:
        """The step itself; or what is known of it."""
        if not step.refs() and not step.varies:
            values = self._folded(step)
            if values is not None:
                self.values.update(zip(step.outs, values))
                return
        key = self._key(step)
        known = None if key is None else self.known.get(key)
        if known is not None:
            self.values.update(zip(step.outs, known))
            return
        if key is not None:
            self.known[key] = step.outs
        self.steps.append(step)
        self.made.update(dict.fromkeys(step.outs, step))

    def _folded(self, step: Step) -> list[Any] | None:
        """The results of a step whose operands are constants."""
        if any(isinstance(x, Constant) and x.lives_outside for x in step.operands):
            return None
        if any(spec.size > max(1024, *(operand_size(x) for x in step.operands)) for spec in step.specs):
            return None
        with np.errstate(all="ignore"):
            out = step.run([x.value if isinstance(x, Constant) else x for x in step.operands])
        return [Constant(o) if isinstance(o, np.ndarray) else o for o in (out if step.many else (out,))]

    # ---- values ------------------------------------------------------------------------------------------------------
    def settled(self, x: Any) -> Any:
        """`x` as a plain operand."""
        if type(x) is Scaled:
            spec = self.specs[x.base]
            if x.factor == -1:
                return self.emit(np.negative, [x.base], spec.computed())
            return self.emit(np.multiply, [x.base, x.factor], spec.computed())
        if type(x) is Spread:
            made = Step(np.broadcast_to, [self.settled(x.base)], (Hole(0),), {"shape": x.spec.shape})
            return self._emitted(made, x.spec)
        return x

    def asked(self, ref: Ref) -> Any:
        """What a guard asks about: a Ref, in any case."""
        value = self.settled(self.values.get(ref, ref))
        return value if type(value) is Ref else self._held_constant(value, ref)

    def returned(self, ref: Ref) -> Any:
        """What is returned: a Ref or a constant of the kind that the function returns."""
        value = self.settled(self.values.get(ref, ref))
        if type(value) is Ref and not self.specs[value].is_like(self.specs[ref]):
            return self._held_constant(value, ref)
        return value if isinstance(value, (Ref, Constant)) else self._held_constant(value, ref)

    def _held_constant(self, value: Any, ref: Ref) -> Ref:
        """A step that gives a constant."""
        return self._emitted(Step(itself, [value], (Hole(0),)), self.specs[ref])

    def emit(self, function: Any, operands: Sequence[Any], spec: Spec) -> Any:
        """A new step function(*operands); its result, or that of the same step before."""
        made = Step(function, operands, tuple(map(Hole, range(len(operands)))))
        return self._emitted(made, spec)

    def _emitted(self, step: Step, spec: Spec) -> Any:
        self.counter += 1
        ref = Ref(self.counter)
        step.outs, step.specs = [ref], [spec]
        self.specs[ref] = spec
        self._take(step)
        return self.values.get(ref, ref)

    def is_used_once(self, step: Step, x: Any) -> bool:
        """Is the operand that has become `x` needed for this step alone?"""
        return all(self.uses[ref] == 1 for ref in step.refs() if self.values.get(ref, ref) is x)

    def spec_of(self, x: Any) -> Spec:
        """The shape and dtype of an operand."""
        if type(x) is Ref:
            return self.specs[x]
        if type(x) is Scaled:
            return self.specs[x.base]
        if type(x) is Spread:
            return x.spec
        return Spec(x.value if isinstance(x, Constant) else x)

    # ---- keys --------------------------------------------------------------------------------------------------------
    def _key(self, step: Step) -> Any:
        """What two equal steps have in common; None, if it can't be told."""
        try:
            key = (
                step.function, tuple(map(self._operand_key, step.operands)), self._frozen(tuple(step.args)),
                self._frozen(step.kwargs), step.errstate is None,
            )  # fmt: skip
            hash(key)
        except TypeError:
            return None
        return key

    def _operand_key(self, x: Any) -> Any:
        if type(x) is Ref:
            return "ref", int(x)
        if isinstance(x, Constant):
            if x.lives_outside or not isinstance(x.content, np.ndarray):
                self.held.append(x.array)
                return "array", id(x.array)
            content = x.content
            return (
                content.dtype.str,
                content.shape,
                content.tobytes() if content.size <= 64 else self._held(content),
            )
        return type(x), repr(x)

    def _held(self, x: Any) -> int:
        self.held.append(x)
        return id(x)

    def _frozen(self, x: Any) -> Any:
        kind = type(x)
        if kind in (tuple, list):
            return kind.__name__, *map(self._frozen, x)
        if kind is dict:
            return tuple((k, self._frozen(v)) for k, v in x.items())
        if kind is slice:
            return "slice", self._frozen(x.start), self._frozen(x.stop), self._frozen(x.step)
        if isinstance(x, np.ndarray):
            return x.dtype.str, x.shape, x.tobytes() if x.nbytes <= 1024 else self._held(x)
        if kind in (float, complex, int, bool):
            return kind, repr(x)
        return kind, x


def operand_size(x: Any) -> int:
    """How many elements an operand has."""
    return x.array.size if isinstance(x, Constant) else 1
