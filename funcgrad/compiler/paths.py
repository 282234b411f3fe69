"""The ways that a function has taken, as a tree: they part at guards.

Each recording is one way from the root to a leaf. Where it runs along one that is known, the two are
compared, step by step: the same questions had the same answers, so the steps must be the same, down to the
constants. What differs came from something that the trace can't see. A branch is compiled when it was
recorded twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.compiler.constants import Constant, same
from funcgrad.compiler.steps import Guard, Spec, Step
from funcgrad.errors import ImpureFunctionError, short_name
from funcgrad.transforms.programs import Ref

Entry = Step | Guard


class Returned:
    """What a function returned at the end of a path: a Ref for each leaf that depends on the arguments."""

    def __init__(self, leaves: Sequence[Any], structure: tree.Structure) -> None:
        self.leaves, self.structure = list(leaves), structure


class Recording:
    """One run of the function, written down."""

    def __init__(self, tape: Sequence[Entry], outcomes: Sequence[Any], returned: Returned) -> None:
        self.tape, self.outcomes, self.returned = tape, outcomes, returned


class Block:
    """Steps, then a guard with a block for each outcome, or the end. `seen` counts its recordings."""

    __slots__ = ("branches", "guard", "returned", "seen", "steps")

    def __init__(
        self, steps: list[Step], guard: Guard | None = None, returned: Returned | None = None
    ) -> None:
        self.steps, self.guard, self.returned = steps, guard, returned
        self.branches: dict[Any, Block] = {}
        self.seen = 1

    def blocks(self) -> Iterator[Block]:
        """This block and all that follow."""
        todo: list[Block] = [self]
        while todo:
            block = todo.pop()
            yield block
            todo += [*block.branches.values()]

    def paths(self) -> int:
        """How many ends there are."""
        return sum(block.returned is not None for block in self.blocks())

    def needs(self) -> Iterator[Ref]:
        """What the end of this block needs."""
        if self.guard is not None:
            yield self.guard.ref
        elif self.returned is not None:
            yield from (x for x in self.returned.leaves if type(x) is Ref)


class Paths:
    """The tree of all recordings of one signature; `name` is that of the function, for messages."""

    def __init__(self, name: str, inputs: Sequence[tuple[Ref, Spec]]) -> None:
        self.name, self.inputs = name, inputs
        self.root: Block | None = None

    def count(self) -> int:
        """How many ways are known."""
        return 0 if self.root is None else self.root.paths()

    def add(self, recording: Recording) -> bool:
        """Put one more recording in: is its way now certain, and was not before?

        ImpureFunctionError, if it differs from an earlier one without a reason to be seen.
        """
        blocks = _split(recording)
        if self.root is None:
            self.root = _chained(blocks, recording.outcomes)
            return False
        block = self.root
        for i, new in enumerate(blocks):
            self._compare(block, new)
            block.seen += 1
            if new.guard is None:
                return block.seen == 2
            outcome = recording.outcomes[i]
            known = block.branches.get(outcome)
            if known is None:
                block.branches[outcome] = _chained(blocks[i + 1 :], recording.outcomes[i + 1 :])
                return False
            block = known
        return False

    def _compare(self, old: Block, new: Block) -> None:
        for a, b in zip(old.steps, new.steps):
            self._compare_steps(a, b)
        if len(old.steps) != len(new.steps):
            longer = max(old.steps, new.steps, key=len)
            raise self._other_way(longer[min(len(old.steps), len(new.steps))].line)
        if (old.guard is None) != (new.guard is None) or (
            old.guard is not None and not old.guard.is_like(new.guard)
        ):
            raise self._other_way((old.guard or new.guard or old.steps[-1]).line)
        if old.returned is not None and new.returned is not None:
            self._compare_returned(old.returned, new.returned)

    def _compare_steps(self, a: Step, b: Step) -> None:
        if a.function is not b.function and a.function != b.function or len(a.operands) != len(b.operands):
            raise self._other_way(a.line)
        for x, y in zip(a.operands, b.operands):
            if isinstance(x, Constant) and isinstance(y, Constant) and x.is_same_place(y):
                x.lives_outside = True
            elif not same(x, y):
                raise self._differs(a, x, y)
        if not same(list(a.args), list(b.args)) or not same(a.kwargs, b.kwargs):
            raise self._differs(a, a.args, b.args)
        if a.specs != b.specs and not a.varies:
            raise self._differs(a, a.specs, b.specs)

    def _compare_returned(self, a: Returned, b: Returned) -> None:
        if a.structure != b.structure:
            raise ImpureFunctionError(
                f"jit: {self.name} returned {a.structure} at its first call, and now {b.structure}, although it took "
                f"the same way. {_INSTEAD}"
            )
        for x, y in zip(a.leaves, b.leaves):
            if isinstance(x, Constant) and isinstance(y, Constant) and x.is_same_place(y):
                x.lives_outside = True
            elif not same(x, y):
                raise ImpureFunctionError(
                    f"jit: {self.name} returned {_shown(x)} at an earlier call, and now {_shown(y)}, which does not come "
                    f"from its arguments. {_INSTEAD}"
                )

    def _differs(self, step: Step, x: Any, y: Any) -> ImpureFunctionError:
        if type(x) is Ref and type(y) is Ref:
            return self._other_way(step.line)
        return ImpureFunctionError(
            f"jit: {self.name} computes with {_shown(x)} in {step.name} at {where(step.line)}, and with {_shown(y)} "
            f"when it is called again: the value does not come from its arguments. {_INSTEAD}"
        )

    def _other_way(self, line: Any) -> ImpureFunctionError:
        return ImpureFunctionError(
            f"jit: {self.name} took another way at {where(line)} when it was called again, and not for a value that comes from "
            f"its arguments. {_INSTEAD}"
        )


_INSTEAD = (
    "A compiled program would go on with the old value. Pass it as an argument (random numbers, or a key for them; the time; a "
    "counter; a global that changes), or name it in static_argnums if it decides what is computed."
)


def where(line: tuple[str, int, str]) -> str:
    """A line of the user's code, for messages."""
    return f"{short_name(line[0])}, line {line[1]}, in {line[2]}" if line[0] else "an unknown line"


def _shown(x: Any) -> str:
    if isinstance(x, Constant):
        with np.printoptions(threshold=6, precision=6):
            return str(x.value) if x.value.size < 4 else f"an array of shape {x.value.shape}"
    text = repr(x)
    return text if len(text) < 60 else text[:57] + "..."


def _split(recording: Recording) -> list[Block]:
    """The recording as a chain of blocks, not linked yet."""
    blocks: list[Block] = []
    steps: list[Step] = []
    for entry in recording.tape:
        if isinstance(entry, Step):
            steps.append(entry)
        else:
            blocks.append(Block(steps, entry))
            steps = []
    return [*blocks, Block(steps, returned=recording.returned)]


def _chained(blocks: Sequence[Block], outcomes: Sequence[Any]) -> Block:
    for block, outcome, following in zip(blocks, outcomes, blocks[1:]):
        block.branches[outcome] = following
    return blocks[0]
