"""Memory for large intermediate results: allotted once, used again as soon as nobody needs what is in it.

A buffer belongs to one call at a time: each call borrows a set of them, and gives it back. Results are never
in one. A large one is made when it is needed and dropped when it is not, so that a program takes no more
memory at its peak than the eager sweep, and none between the calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from funcgrad.compiler.liveness import Families, Later
from funcgrad.compiler.passes.rules import own
from funcgrad.compiler.steps import Hole, Spec, Step
from funcgrad.rules import slopes
from funcgrad.transforms.programs import Ref

TANH_SLOPE = own(slopes.tanh_slope)
LARGE = 1 << 17  # bytes; to make such a buffer takes little of the time that it takes to fill it


class Buffers:
    """Which value is in which buffer, as a program is written."""

    def __init__(self, families: Families) -> None:
        self.families = families
        self.kinds: list[tuple[tuple[int, ...], np.dtype[Any]]] = []
        self.vacant: list[int] = []
        self.of: dict[Ref, int] = {}
        self.fresh: list[int] = []  # taken since `made_here` was asked
        self.loose: dict[int, list[Ref]] = {}  # what was in those that an operand has just left
        self.spare: list[int] = []  # those of loops
        self.dropped: list[int] = []  # large ones that are made anew when they are taken

    @property
    def parameters(self) -> list[str]:
        """The parameters that the program has beside its arguments."""
        return [f"b{k}" for k in self._lasting()]

    def state(self) -> Any:
        """What is where, to come back to."""
        return list(self.vacant), dict(self.of), list(self.dropped)

    def restore(self, state: Any) -> None:
        """Come back to a state."""
        self.vacant, self.of, self.dropped = list(state[0]), dict(state[1]), list(state[2])

    def take(self, step: Step, live: Later, returned: set[Ref], *, goes_into: bool = False) -> str | None:
        """The name of the buffer into which a step may put its result, if it is worth one.

        `goes_into`: there are lines that put it anywhere.
        """
        (ref,), (spec,) = step.outs, step.specs
        if not (goes_into or self._fits(step, spec)) or any(
            m in returned for m in self.families.members.get(ref, [ref])
        ):
            return None
        if isinstance(step.function, np.ufunc) and step.function.signature is None:
            self._free_operands(step, live, spec)
        number = self._vacant(spec)
        self.of[ref] = number
        return f"b{number}"

    def _fits(self, step: Step, spec: Spec) -> bool:
        """Can the result be put where one likes, in the order of memory that it has?"""
        function: Any = step.function
        if not spec.is_array or not spec.shape or not spec.size or spec.order != "C" or spec.is_view:
            return False
        if function is np.sum:
            is_floating = spec.dtype.kind in "fc" and len(step.operands) == 1
            return is_floating and len(step.args) == 1 and step.kwargs.keys() <= {"axis", "keepdims"}
        if not isinstance(function, np.ufunc) or step.kwargs or function.nout != 1:
            return False
        return all(type(a) in (Hole, int, float) for a in step.args)

    def hold(self, ref: Ref, spec: Spec) -> str:
        """The name of a buffer that now belongs to `ref`."""
        self.of[ref] = number = self._vacant(spec)
        return f"b{number}"

    def extras(self, shape: tuple[int, ...], dtypes: Sequence[np.dtype[Any]]) -> list[str]:
        """The names of more buffers, for a loop alone: the next one may have them, too."""
        used: dict[int, None] = {}
        for dtype in dtypes:
            fit = (k for k in self.spare if k not in used and self.kinds[k] == (shape, dtype))
            number = next(fit, None)
            if number is None:
                number = len(self.kinds)
                self.kinds.append((shape, dtype))
                self.spare.append(number)
            used[number] = None
        return [f"b{k}" for k in used]

    def made_here(self) -> list[tuple[str, tuple[int, ...], np.dtype[Any]]]:
        """The large buffers that were taken since this was asked: they have to be made."""
        found = [k for k in self.fresh if _is_large(self.kinds[k])]
        self.fresh.clear()
        return [(f"b{k}", *self.kinds[k]) for k in found]

    def is_large(self, root: Ref) -> bool:
        """Is this value in a large buffer?"""
        return root in self.of and _is_large(self.kinds[self.of[root]])

    def _vacant(self, spec: Spec) -> int:
        kind = (spec.shape, spec.dtype)
        for at in range(len(self.vacant) - 1, -1, -1):
            if self.kinds[self.vacant[at]] == kind:
                return self.vacant.pop(at)
        if _is_large(kind):
            for number in self.dropped:
                if self.kinds[number] == kind:
                    self.dropped.remove(number)
                    self.fresh.append(number)
                    return number
        self.kinds.append(kind)
        self.fresh.append(len(self.kinds) - 1)
        return len(self.kinds) - 1

    def _free_operands(self, step: Step, live: Later, spec: Spec) -> None:
        """An elementwise function may overwrite an operand of its own shape."""
        for ref in step.refs():
            root = self.families.of(ref)
            number = self.of.get(root)
            if root == ref and number is not None and self.kinds[number] == (spec.shape, spec.dtype):
                members = self.families.members.get(root, [root])
                others = [m for m in members if m != ref]
                if not any(m in live for m in members) and not any(m in step.refs() for m in others):
                    number = self.of.pop(root)
                    self.vacant.append(number)
                    self.loose[number] = members

    def free(self, step: Step, live: Later) -> list[Ref]:
        """Note that what a step has read for the last time is not needed any more; what to drop, with its views."""
        found: list[Ref] = []
        for ref in {self.families.of(r) for r in [*step.refs(), *step.outs]}:
            members = self.families.members.get(ref, [ref])
            if ref in self.of and not any(m in live for m in members):
                number = self.of.pop(ref)
                is_large = _is_large(self.kinds[number])
                (self.dropped if is_large else self.vacant).append(number)
                found += members if is_large else ()
        for number in [k for k in self.vacant if _is_large(self.kinds[k])]:  # of operands; not taken again
            self.vacant.remove(number)
            self.dropped.append(number)
            found += self.loose.pop(number)
        return found

    def holds(self, root: Ref) -> bool:
        """Is this value in a buffer?"""
        return root in self.of

    def handed_on(self, before: Ref, after: Ref) -> None:
        """The buffer of `before` was written into: it is that of `after` now."""
        if before in self.of:
            self.of[after] = self.of.pop(before)

    def made(self) -> list[np.ndarray]:
        """A set of buffers."""
        return [np.empty(*self.kinds[k]) for k in self._lasting()]

    def _lasting(self) -> list[int]:
        return [k for k, kind in enumerate(self.kinds) if k in self.spare or not _is_large(kind)]


def _is_large(kind: tuple[tuple[int, ...], np.dtype[Any]]) -> bool:
    return prod(kind[0]) * kind[1].itemsize >= LARGE
