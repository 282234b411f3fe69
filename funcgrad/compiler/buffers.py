"""Memory for large intermediate results: allotted once, used again as soon as nobody needs what is in it.

A buffer belongs to one call at a time: each call borrows a set of them, and gives it back. Results are never
in one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.compiler.liveness import Families, Later
from funcgrad.compiler.passes.rules import own
from funcgrad.compiler.steps import Hole, Spec, Step
from funcgrad.rules import slopes
from funcgrad.transforms.programs import Ref

TANH_SLOPE = own(slopes.tanh_slope)


class Buffers:
    """Which value is in which buffer, as a program is written."""

    def __init__(self, families: Families) -> None:
        self.families = families
        self.kinds: list[tuple[tuple[int, ...], np.dtype[Any]]] = []
        self.vacant: list[int] = []
        self.of: dict[Ref, int] = {}

    @property
    def parameters(self) -> list[str]:
        """The parameters that the program has beside its arguments."""
        return [f"b{k}" for k in range(len(self.kinds))]

    def state(self) -> Any:
        """What is where, to come back to."""
        return list(self.vacant), dict(self.of)

    def restore(self, state: Any) -> None:
        """Come back to a state."""
        self.vacant, self.of = list(state[0]), dict(state[1])

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

    def extra(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> str:
        """The name of one more buffer, for a loop alone."""
        self.kinds.append((shape, dtype))
        return f"b{len(self.kinds) - 1}"

    def _vacant(self, spec: Spec) -> int:
        kind = (spec.shape, spec.dtype)
        for at in range(len(self.vacant) - 1, -1, -1):
            if self.kinds[self.vacant[at]] == kind:
                return self.vacant.pop(at)
        self.kinds.append(kind)
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
                    self.vacant.append(self.of.pop(root))

    def free(self, step: Step, live: Later) -> None:
        """Note that what a step has read for the last time is not needed any more."""
        for ref in {self.families.of(r) for r in [*step.refs(), *step.outs]}:
            if ref in self.of and not any(m in live for m in self.families.members.get(ref, [ref])):
                self.vacant.append(self.of.pop(ref))

    def holds(self, root: Ref) -> bool:
        """Is this value in a buffer?"""
        return root in self.of

    def handed_on(self, before: Ref, after: Ref) -> None:
        """The buffer of `before` was written into: it is that of `after` now."""
        if before in self.of:
            self.of[after] = self.of.pop(before)

    def made(self) -> list[np.ndarray]:
        """A set of buffers."""
        return [np.empty(shape, dtype) for shape, dtype in self.kinds]
