"""A compiled program: the function that was printed, its buffers, and what it makes of the results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any

from funcgrad.compiler.fast import FastWriter
from funcgrad.compiler.liveness import without_dead
from funcgrad.compiler.passes import optimised
from funcgrad.compiler.paths import Block, Paths, Returned
from funcgrad.compiler.steps import Guard, Step
from funcgrad.transforms.programs import Ref


class CompiledProgram:
    """The compiled form of a tree of paths: of those branches that were recorded twice."""

    def __init__(self, paths: Paths, threads: int = 1) -> None:
        assert paths.root is not None
        self.inputs, self.name = paths.inputs, paths.name
        root = certain(paths.root)
        without_dead(root)
        self.root = optimised(root, paths.inputs)
        writer = FastWriter(self.root, paths.inputs, threads)
        self.text, self.space = writer.source(), writer.names.space
        assert writer.buffers is not None
        self.buffers = writer.buffers
        exec(compile(self.text, f"<funcgrad jit of {paths.name}>", "exec"), self.space)
        self.make: Callable[..., Any] = self.space["make"]
        self.pool: list[Callable[..., Any]] = []

    def __call__(self, values: Sequence[Any]) -> Any:
        """What the function returns, in a tuple of one; None if a guard came out as never before.

        The buffers that it works with are nobody else's meanwhile: each call borrows a set of them.
        """
        try:
            run = self.pool.pop()
        except IndexError:
            run = self.fresh()
        out = run(*values)
        self.pool.append(run)
        return out

    def fresh(self) -> Callable[..., Any]:
        """The function, with buffers of its own."""
        return self.make(*self.buffers.made())


def certain(root: Block) -> Block:
    """A copy of the tree without what was recorded only once. Names are unique over all paths."""
    names = count(
        1
        + max(
            (int(ref) for block in root.blocks() for step in block.steps for ref in _all_refs(step)),
            default=0,
        )
    )
    made = _copy(root, {}, names)
    todo = [(root, made)]
    while todo:
        block, (copy, renamed) = todo.pop()
        for outcome, following in block.branches.items():
            if following.seen > 1:
                entry = _copy(following, dict(renamed), names)
                copy.branches[outcome] = entry[0]
                todo.append((following, entry))
    return made[0]


def _all_refs(step: Step) -> list[Ref]:
    return [*step.refs(), *step.outs]


def _copy(block: Block, renamed: dict[Ref, Ref], names: Iterator[int]) -> tuple[Block, dict[Ref, Ref]]:
    """A copy of the block alone, with new names for what it computes."""
    steps = []
    for step in block.steps:
        copy = step.replaced([renamed.get(x, x) if type(x) is Ref else x for x in step.operands])
        copy.outs = [Ref(next(names)) for _ in step.outs]
        renamed.update(zip(step.outs, copy.outs))
        steps.append(copy)
    guard, returned = block.guard, block.returned
    if guard is not None:
        guard = Guard(guard.kind, renamed.get(guard.ref, guard.ref), guard.line)
    if returned is not None:
        leaves = [renamed.get(x, x) if type(x) is Ref else x for x in returned.leaves]
        returned = Returned(leaves, returned.structure)
    made = Block(steps, guard, returned)
    made.seen = block.seen
    return made, renamed
