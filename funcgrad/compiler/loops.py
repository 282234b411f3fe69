"""How a loop over blocks is printed.

    def block(k, i, j, t0, t1):
        a0 = x0[i:j]
        np.multiply(a0, c0, t0)
        np.exp(t0, r0[i:j])
        s0[k] = np.add.reduce(t1)

`t0`, `t1` are as large as a block; the last block, which is smaller, gets views of them.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from funcgrad.compiler.buffers import TANH_SLOPE
from funcgrad.compiler.passes.blocks import Loop
from funcgrad.compiler.steps import Spec, Step
from funcgrad.transforms.programs import Ref

BLOCK = 1 << 14  # elements of a block: a handful of them fit into the second level of the cache


class BlockWriter:
    """Writes the body of one loop. `call` gives the lines of a step into a destination, or an expression (None)."""

    def __init__(
        self, loop: Loop, specs: dict[Ref, Spec], texts: dict[Ref, str], call: Callable[..., list[str]]
    ) -> None:
        self.loop, self.specs, self.outer, self.call = loop, specs, texts, call
        self.row = 1 if loop.flat else prod(loop.shape[1:])
        self.count = prod(loop.shape) if loop.flat else loop.shape[0]  # along the axis that is cut
        self.size = max(1, BLOCK // self.row)
        self.texts: dict[Ref, str] = {}
        self.slices: dict[Ref, str] = {}  # the whole arrays that are cut, and their names
        self.temps: list[np.dtype[Any]] = []
        self.vacant: list[int] = []
        self.held: dict[Ref, int] = {}
        self.lines: list[str] = []
        self.sums: list[tuple[Ref, str]] = []

    def write(self, sums: dict[Ref, str]) -> None:
        """Fill `lines`; `sums` names the arrays of partial sums."""
        last = self._last_uses()
        for at, step in enumerate(self.loop.inner):
            if step.function is np.sum:
                axis = "" if self.loop.flat else ", None"
                x = self._operand(step.operands[0])
                self.lines.append(f"{sums[step.outs[0]]}[k] = np.add.reduce({x}{axis})")
            else:
                self._write_step(step, at, last)
            self._free(step, at, last)

    def _last_uses(self) -> dict[Ref, int]:
        return {x: at for at, step in enumerate(self.loop.inner) for x in [*step.outs, *step.refs()]}

    def _write_step(self, step: Step, at: int, last: dict[Ref, int]) -> None:
        (ref,) = step.outs
        texts = {x: self._operand(x) for x in step.refs()}
        goes_into = isinstance(step.function, np.ufunc) or step.function is TANH_SLOPE
        if ref in self.loop.outs:
            self.lines.append(f"r{int(ref)} = {self._cut(ref)}")
            self.texts[ref] = f"r{int(ref)}"
        elif goes_into:
            if step.function is not TANH_SLOPE:  # which reads its operands once more
                self._free(step, at, last)
            self.texts[ref] = self._temp(ref, step.specs[0].dtype)
        into = self.texts.get(ref)
        lines = self.call(step, texts, into if goes_into else None)
        if goes_into:
            self.lines += lines
        elif into is None:
            self.lines.append(f"v{int(ref)} = {lines[0]}")
            self.texts[ref] = f"v{int(ref)}"
        else:
            self.lines.append(f"{into}[...] = {lines[0]}")

    def _operand(self, x: Ref) -> str:
        if x in self.texts:
            return self.texts[x]
        if not self.specs[x].shape:
            return self.outer[x]
        if not self.loop.flat and (
            len(self.specs[x].shape) < len(self.loop.shape) or self.specs[x].shape[0] == 1
        ):
            return self.outer[x]  # the same for all rows
        self.lines.append(f"a{int(x)} = {self._cut(x)}")
        self.texts[x] = f"a{int(x)}"
        return self.texts[x]

    def _cut(self, ref: Ref) -> str:
        self.slices[ref] = f"f{int(ref)}"
        return f"f{int(ref)}[i:j]"

    def _temp(self, ref: Ref, dtype: np.dtype[Any]) -> str:
        for k in reversed(self.vacant):
            if self.temps[k] == dtype:
                self.vacant.remove(k)
                break
        else:
            k = len(self.temps)
            self.temps.append(dtype)
        self.held[ref] = k
        return f"t{k}"

    def _free(self, step: Step, at: int, last: dict[Ref, int]) -> None:
        for ref in [*step.refs(), *step.outs]:
            if ref in self.held and last[ref] <= at:
                self.vacant.append(self.held.pop(ref))
