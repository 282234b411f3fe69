"""Which values are needed when: what nobody reads is not computed, what is used up may be overwritten."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from funcgrad.compiler.constants import Constant
from funcgrad.compiler.paths import Block
from funcgrad.compiler.steps import Spec, Step
from funcgrad.transforms.programs import Ref

_TELLS = frozenset(["raise", "call"])  # what np.errstate may ask for that the function can notice


class Families:
    """Values that may share memory: a view and what it looks into. The root of a family is its first."""

    def __init__(self, root: Block, inputs: Sequence[tuple[Ref, Spec]]) -> None:
        self.roots: dict[Ref, Ref] = {}
        self.own: set[Ref] = set()  # the roots whose memory belongs to the program
        self.members: dict[Ref, list[Ref]] = {ref: [ref] for ref, _ in inputs}
        for block in root.blocks():
            for step in block.steps:
                self._note(step)

    def _note(self, step: Step) -> None:
        for ref, spec in zip(step.outs, step.specs):
            arrays = (
                [x for x in step.operands if type(x) is Ref or isinstance(x, (Constant, np.ndarray))]
                if spec.is_view
                else []
            )
            bases = [x for x in arrays if type(x) is Ref]
            if not arrays:
                self.own.add(ref)
            if bases:  # of several, all have to be taken for one
                first = self.of(bases[0])
                for other in bases[1:]:
                    self._join(first, self.of(other))
                self.roots[ref] = first
                self.members.setdefault(first, [first]).append(ref)
                if len(bases) < len(arrays):
                    self.own.discard(first)
            else:
                self.members.setdefault(ref, [ref])

    def _join(self, first: Ref, other: Ref) -> None:
        if first == other:
            return
        for ref in self.members.pop(other, [other]):
            self.roots[ref] = first
            self.members.setdefault(first, [first]).append(ref)
        if other not in self.own:
            self.own.discard(first)
        self.own.discard(other)

    def of(self, ref: Ref) -> Ref:
        """The root of the family of `ref`."""
        return self.roots.get(ref, ref)

    def belongs(self, ref: Ref) -> bool:
        """Does the memory of `ref` belong to the program?"""
        return self.of(ref) in self.own


def without_dead(root: Block) -> set[Ref]:
    """Take the steps out of the blocks whose results nobody needs; what the tree needs from outside.

    A step stays for the sake of an error, if the function has asked for errors there by np.errstate.
    """
    blocks = list(root.blocks())
    needed: dict[int, set[Ref]] = {}
    for block in reversed(blocks):
        live = set().union(*(needed[id(b)] for b in block.branches.values())) | set(block.needs())
        kept = []
        for step in reversed(block.steps):
            if not live.isdisjoint(step.outs) or _may_raise(step):
                kept.append(step)
                live.difference_update(step.outs)
                live.update(step.refs())
        block.steps = kept[::-1]
        needed[id(block)] = live
    return needed[id(root)]


def _may_raise(step: Step) -> bool:
    return step.errstate is not None and not _TELLS.isdisjoint(step.errstate.values())


def live_in(root: Block) -> dict[int, set[Ref]]:
    """For each block, by its id: what is needed of all that was computed before."""
    needed: dict[int, set[Ref]] = {}
    for block in reversed(list(root.blocks())):
        live = set().union(*(needed[id(b)] for b in block.branches.values())) | set(block.needs())
        for step in reversed(block.steps):
            live.difference_update(step.outs)
            live.update(step.refs())
        needed[id(block)] = live
    return needed


class Later:
    """What is needed after a step: `ref in later`. One table serves all steps of a block."""

    __slots__ = ("at", "last")

    def __init__(self, at: int, last: dict[Ref, int]) -> None:
        self.at, self.last = at, last

    def __contains__(self, ref: Ref) -> bool:
        return self.last.get(ref, -1) > self.at


def later(block: Block, end: set[Ref]) -> list[Later]:
    """For each step of a block what is needed after it; `end` is needed after all of them."""
    last = {ref: at for at, step in enumerate(block.steps) for ref in step.refs()}
    last.update(dict.fromkeys(end, len(block.steps)))
    return [Later(at, last) for at in range(len(block.steps))]
