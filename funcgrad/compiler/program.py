"""A compiled program: the function that was printed, its buffers, and what it makes of the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad.compiler.constants import Constant
from funcgrad.compiler.liveness import without_dead
from funcgrad.compiler.passes import optimised
from funcgrad.compiler.paths import Block, Paths, Returned
from funcgrad.compiler.writer import Writer
from funcgrad.transforms.programs import Ref


class End:
    """How the results at one end of a program become what the function returned."""

    def __init__(self, returned: Returned) -> None:
        self.leaves, self.structure = returned.leaves, returned.structure
        self.computed = [i for i, x in enumerate(returned.leaves) if type(x) is Ref or isinstance(x, Constant)]
        self.is_plain = len(self.computed) == len(self.leaves)

    def filled(self, results: Sequence[Any]) -> Any:
        """The tree of results."""
        if self.is_plain:
            return self.structure.build(iter(results))
        leaves = list(self.leaves)
        for i, x in zip(self.computed, results):
            leaves[i] = x
        return self.structure.build(iter(leaves))


class Program:
    """The compiled form of a tree of paths: of those branches that were recorded twice."""

    def __init__(self, paths: Paths) -> None:
        assert paths.root is not None
        self.before = certain(paths.root)
        root = certain(paths.root)
        without_dead(root)
        self.root = optimised(root, paths.inputs)
        writer = Writer(self.root, paths.inputs)
        self.text, self.space = writer.source(), dict(writer.names.space)
        self.ends = [End(returned) for returned in writer.ends]
        self.buffers = writer.buffers
        exec(compile(self.text, f"<funcgrad jit of {paths.name}>", "exec"), self.space)
        self.function: Callable[..., Any] = self.space["program"]
        self.pool: list[list[np.ndarray]] = []

    def __call__(self, values: Sequence[Any]) -> Any:
        """(end, results) for these arguments; None if a guard came out as never before."""
        if not self.buffers.kinds:
            return self.function(*values)
        try:
            buffers = self.pool.pop()
        except IndexError:
            buffers = self.buffers.made()
        out = self.function(*values, *buffers)
        self.pool.append(buffers)
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
