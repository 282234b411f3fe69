"""A compiled program: the function that was printed, its buffers, and what it makes of the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from funcgrad.compiler.fast import FastWriter
from funcgrad.compiler.liveness import without_dead
from funcgrad.compiler.passes import optimised
from funcgrad.compiler.paths import Block, Paths


class Program:
    """The compiled form of a tree of paths: of those branches that were recorded twice."""

    def __init__(self, paths: Paths) -> None:
        assert paths.root is not None
        self.inputs, self.name = paths.inputs, paths.name
        root = certain(paths.root)
        without_dead(root)
        self.root = optimised(root, paths.inputs)
        writer = FastWriter(self.root, paths.inputs)
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
            run = self.make(*self.buffers.made())
        out = run(*values)
        self.pool.append(run)
        return out


def certain(root: Block) -> Block:
    """A copy of the tree without what was recorded only once."""
    made = _copy(root)
    todo = [(root, made)]
    while todo:
        block, copy = todo.pop()
        for outcome, following in block.branches.items():
            if following.seen > 1:
                copy.branches[outcome] = _copy(following)
                todo.append((following, copy.branches[outcome]))
    return made


def _copy(block: Block) -> Block:
    made = Block(list(block.steps), block.guard, block.returned)
    made.seen = block.seen
    return made
