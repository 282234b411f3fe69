"""Stretches of elementwise work on large arrays become loops, whose blocks stay in the cache.

What is made on the way is never as large as the arrays. A stretch goes on over steps that have nothing to do
with it, which are moved in front of it; sums of what it computes belong to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.compiler.constants import Constant
from funcgrad.compiler.liveness import live_in
from funcgrad.compiler.passes.rules import own
from funcgrad.compiler.paths import Block
from funcgrad.compiler.steps import Spec, Step
from funcgrad.rules import slopes
from funcgrad.transforms.programs import Ref

LARGE = 1 << 15  # elements: of smaller arrays, a few fit into the cache as they are
_LONG, _CACHE = 4, 1 << 20  # a shorter stretch on arrays of fewer bytes is faster as it is
_OWN = frozenset([own(slopes.tanh_slope), np.where])


class Loop(Step):
    """Elementwise steps on arrays of one shape, run block by block; `sums` are those that add up a value.

    `flat` says that the blocks are stretches of the flattened arrays; else they are rows.
    """

    __slots__ = ("flat", "inner", "shape", "sums")

    def __init__(self, inner: Sequence[Step], shape: tuple[int, ...], flat: bool, outs: set[Ref]) -> None:
        made = {ref for step in inner for ref in step.outs}
        operands: list[Any] = []
        for step in inner:
            operands += [x for x in step.operands if type(x) is Ref and x not in made and x not in operands]
        super().__init__(_loop, operands, ())
        self.inner, self.shape, self.flat = list(inner), shape, flat
        self.sums = [step for step in inner if step.function is np.sum]
        pairs = [(ref, step.specs[0]) for step in inner for ref in step.outs if ref in outs]
        self.outs, self.specs = [ref for ref, _ in pairs], [spec for _, spec in pairs]
        states = [step.errstate for step in inner if step.errstate is not None]
        if states:
            self.errstate = {k: v for state in states for k, v in state.items() if v == "ignore"}


def _loop() -> None:
    """Stands for the function of a loop, which has none."""


class Stretches:
    """Finds the stretches in a tree of blocks."""

    def __init__(self, root: Block, inputs: Sequence[tuple[Ref, Spec]]) -> None:
        self.specs = dict(inputs)
        self.needed = live_in(root)
        for block in root.blocks():
            for step in block.steps:
                self.specs.update(zip(step.outs, step.specs))
        for block in root.blocks():
            self._rewrite(block)

    def _rewrite(self, block: Block) -> None:
        found: list[Any] = []
        group: list[Step] = []
        made: set[Ref] = set()
        sums: set[Ref] = set()
        for step in block.steps:
            needs = set(step.refs())
            if self._is_elementwise(step) and not needs & sums:
                if group and step.specs[0].shape != group[0].specs[0].shape:
                    if not needs & made and step.specs[0].size < LARGE:
                        found.append(step)
                        continue
                    found.append(group)
                    group, made, sums = [], set(), set()
                if step.specs[0].size >= LARGE:
                    group.append(step)
                    made |= set(step.outs)
                    continue
            elif group and self._is_sum_of(step, made - sums):
                group.append(step)
                made |= set(step.outs)
                sums |= set(step.outs)
                continue
            if needs & made:
                found.append(group)
                group, made, sums = [], set(), set()
            found.append(step)
        self._finish(block, [*found, group] if group else found)

    def _finish(self, block: Block, found: list[Any]) -> None:
        after = set().union(*(self.needed[id(b)] for b in block.branches.values())) | set(block.needs())
        steps: list[Step] = []
        for entry in reversed(found):
            made = [entry] if isinstance(entry, Step) else self._as_loop(entry, after)
            for step in reversed(made):
                steps.append(step)
                after.update(step.refs())
        block.steps = steps[::-1]

    def _as_loop(self, group: list[Step], after: set[Ref]) -> list[Step]:
        if len(group) < 2:
            return group
        shape = next(step.specs[0].shape for step in group if step.function is not np.sum)
        external = [spec for step in group for spec in map(self._spec, step.operands) if spec.shape]
        if len(group) < _LONG and max(spec.nbytes for spec in (*external, group[0].specs[0])) < _CACHE:
            return group
        flat = all(spec.shape == shape and spec.order == "C" for spec in external)
        if not flat and (len(shape) < 2 or shape[0] < 16):
            return group
        return [Loop(group, shape, flat, after)]

    def _spec(self, x: Any) -> Spec:
        return self.specs[x] if type(x) is Ref else Spec(x.value if isinstance(x, Constant) else x)

    def _is_elementwise(self, step: Step) -> bool:
        function: Any = step.function
        if function in _OWN:
            is_fit = not step.kwargs and len(step.args) == len(step.operands)
        else:
            is_fit = (
                isinstance(function, np.ufunc)
                and function.signature is None
                and function.nout == 1
                and not step.kwargs
            )
        return is_fit and step.many is None and bool(step.specs[0].shape) and step.specs[0].order == "C"

    def _is_sum_of(self, step: Step, made: set[Ref]) -> bool:
        is_whole = (
            step.function is np.sum and step.kwargs.get("axis") is None and not step.kwargs.keys() - {"axis"}
        )
        return (
            is_whole
            and len(step.operands) == 1
            and step.operands[0] in made
            and step.specs[0].dtype.char in "fd"
        )
