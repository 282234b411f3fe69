"""The program as it is run: the same steps as the readable one, printed for speed.

Results go into buffers, by position. Buffers are variables of an enclosing function, `make`, which is called
once for each set of them; views of buffers are taken there, too. Numbers beside arrays are arrays without
axes, which NumPy reads in half the time.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad.compiler.buffers import TANH_SLOPE, Buffers
from funcgrad.compiler.liveness import Later
from funcgrad.compiler.loops import BlockWriter
from funcgrad.compiler.names import index_text
from funcgrad.compiler.passes.blocks import Loop
from funcgrad.compiler.paths import Block
from funcgrad.compiler.sharing import shared_out
from funcgrad.compiler.steps import Hole, Spec, Step
from funcgrad.compiler.writer import Writer
from funcgrad.transforms.programs import Ref

LOSES = {"d": 1e-4, "f": 1e-3}  # below, the rounding of y*y is a large part of 1 - y*y
_COMPARE = frozenset([np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal])
# The ufuncs that take a number in the dtype of the array beside it.
_ALIKE = _COMPARE | frozenset([
    np.add, np.subtract, np.multiply, np.divide, np.power, np.maximum, np.minimum, np.fmax, np.fmin, np.logaddexp, np.hypot,
    np.arctan2, np.copysign, np.remainder, np.floor_divide, np.logaddexp2,
])  # fmt: skip
_FEW = 1 << 12  # numbers, whose sum BLAS rounds about as well as pairwise summation does
_MANY = 1 << 11  # elements, from which on a product with a mask is faster than a choice
_VIEWS = frozenset([operator.getitem, np.transpose, np.reshape, np.swapaxes, np.moveaxis])


class FastWriter(Writer):
    """Writes one program for speed."""

    def __init__(self, root: Block, inputs: Sequence[tuple[Ref, Spec]], threads: int = 1) -> None:
        self.threads = threads
        self.buffers: Buffers | None = None
        self.prelude: list[str] = []
        self.hoisted: set[str] = set()  # texts that are variables of `make`
        super().__init__(root, inputs)

    def source(self, name: str = "program") -> str:
        """make(b0, b1, ...), which gives the program with these buffers."""
        assert self.buffers is not None
        head = f"def make({', '.join(self.buffers.parameters)}):"
        prelude = [f"    {line}" for line in self.prelude]
        program = [f"    def {name}({', '.join(self.parameters)}):", *(f"    {line}" for line in self.lines)]
        return self._with_globals("\n".join([head, *prelude, *program, f"    return {name}", ""]))

    def _with_globals(self, text: str) -> str:
        """`text` with functions of NumPy as globals: their attributes are looked up once."""

        def bound(match: re.Match[str]) -> str:
            path = match[1]
            name = "np_" + path.replace(".", "_")
            self.names.space[name] = operator.attrgetter(path)(np)
            return f"{name}("

        return re.sub(r"\bnp\.([\w.]+)\(", bound, text)

    # ---- buffers -----------------------------------------------------------------------------------------------------
    def _write(self, block: Block) -> None:
        if self.buffers is None:
            self.buffers = Buffers(self.families)
        super()._write(block)

    def _state(self) -> Any:
        assert self.buffers is not None
        return super()._state(), self.buffers.state()

    def _restore(self, state: Any) -> None:
        assert self.buffers is not None
        super()._restore(state[0])
        self.buffers.restore(state[1])

    def _note_dead(self, step: Step, live: Later) -> None:
        assert self.buffers is not None
        dropped = dict.fromkeys(self.texts[ref] for ref in self.buffers.free(step, live) if ref in self.texts)
        if dropped:
            self._line(f"{' = '.join(dropped)} = None")

    def _make_buffers(self) -> None:
        """Lines that make the large buffers which have just been taken."""
        assert self.buffers is not None
        for name, shape, dtype in self.buffers.made_here():
            self._line(f"{name} = np.empty({shape}, {self.names.text(dtype)})")

    def _note_handed_on(self, before: Ref, after: Ref) -> None:
        assert self.buffers is not None
        self.buffers.handed_on(before, after)

    def _output(self, ref: Ref, given: set[Ref]) -> str:
        assert self.buffers is not None
        if self.buffers.holds(self.families.of(ref)):
            given.add(self.families.of(ref))
            return f'{self._operand(ref)}.copy("K")'
        return super()._output(ref, given)

    # ---- steps -------------------------------------------------------------------------------------------------------
    def _write_one(self, step: Step, live: Later) -> None:
        assert self.buffers is not None
        (ref,) = step.outs
        lines = self._lines_for(step)
        out = self.buffers.take(step, live, returned=self.returned_refs, goes_into=lines is not None)
        self._make_buffers()
        if out is not None and lines is not None:
            for line in lines(step, out):
                self._line(line)
            self._put(ref, out)
        elif out is not None:
            self._line(self._call_into(step, out))
            self._put(ref, out)
        elif (product := self._by_blas(step)) is not None:
            self._line(f"{self._name(ref)} = np.dot({', '.join(product)})")
        elif self._is_view_of_buffer(step):
            name = f"w{len(self.prelude)}"
            self.prelude.append(f"{name} = {self.expressions.of(step, self._operand)}")
            self.texts[ref] = name
            self.hoisted.add(name)
        elif isinstance(step.function, np.ufunc) and step.function in _ALIKE and step.specs[0].is_array:
            self._line(f"{self._name(ref)} = {self._plain_call(step)}")
        else:
            super()._write_one(step, live)

    def _put(self, ref: Ref, buffer: str) -> None:
        """Note that a value is in a buffer."""
        assert self.buffers is not None
        self.texts[ref] = buffer
        if not self.buffers.is_large(ref):
            self.hoisted.add(buffer)

    def _is_view_of_buffer(self, step: Step) -> bool:
        return (
            step.function in _VIEWS
            and len(step.operands) == 1
            and step.specs[0].is_view
            and type(step.operands[0]) is Ref
            and self.texts[step.operands[0]] in self.hoisted
        )

    def _plain_call(self, step: Step) -> str:
        texts = [self._beside(step, x) for x in self._in_order(step)]
        return f"{self.names.function(step.function)}({', '.join(texts)})"

    def _call_into(self, step: Step, out: str) -> str:
        """The call of a step that puts its result into the buffer `out`."""
        product = self._by_blas(step)
        if product is not None:
            return f"np.dot({', '.join([*product, out])})"
        if step.function is np.sum:
            x = self._operand(step.operands[0])
            axis, keepdims = step.kwargs.get("axis"), step.kwargs.get("keepdims", False)
            axis = axis[0] if type(axis) is tuple and len(axis) == 1 else axis
            return f"np.add.reduce({x}, {axis!r}, None, {out}{', True' if keepdims else ''})"
        texts = [self._beside(step, x) for x in self._in_order(step)]
        # by position, NumPy refuses it there
        into = f"out={out}" if step.function in (np.maximum, np.minimum) else out
        return f"{self.names.function(step.function)}({', '.join([*texts, into])})"

    def _lines_for(self, step: Step) -> Callable[[Step, str], list[str]] | None:
        """What writes the lines of a step that takes several, to put its result into a buffer."""
        spec = step.specs[0]
        if spec.dtype.char not in "fd" or not spec.is_array or not spec.shape or spec.order != "C":
            return None
        if step.function is TANH_SLOPE and spec.size and all(type(x) is Ref for x in step.operands):
            return self._tanh_slope
        return self._masked if step.function is np.where and self._is_masked(step, spec) else None

    def _is_masked(self, step: Step, spec: Spec) -> bool:
        """Is this np.where(mask, x, 0) of a large x?"""
        *given, zero = self._in_order(step)
        if len(given) != 2 or type(zero) not in (int, float) or repr(zero) not in ("0", "0.0"):
            return False
        if spec.size < _MANY or any(type(x) is not Ref for x in given):
            return False
        mask, x = (self.specs[ref] for ref in given)
        return mask.dtype == bool and mask.shape == x.shape == spec.shape and x.dtype == spec.dtype

    def _masked(self, step: Step, out: str) -> list[str]:
        """mask * x, which takes a tenth of the time, unless x is not finite somewhere. (-0.0 + 0 is 0.)"""
        mask, x, _ = map(self._operand, self._in_order(step))
        zero, function = self.names.number(0.0, step.specs[0].dtype), self.names.function(np.where)
        return [
            "with np.errstate(invalid='ignore'):",
            f"    np.multiply({mask}, {x}, {out})",
            f"    np.add({out}, {zero}, {out})",
            f"if not np.vdot({out}, {out}) < np.inf:",
            f"    {out}[...] = {function}({mask}, {x}, 0)",
        ]

    def _tanh_slope(self, step: Step, out: str) -> list[str]:
        """1 - y*y, and another formula for the slope only where that loses digits, or something is NaN."""
        x, y = map(self._operand, step.operands)
        dtype = step.specs[0].dtype
        least, function = LOSES[dtype.char], self.names.function(step.function)
        return [
            f"np.multiply({y}, {y}, {out})",
            f"np.subtract({self.names.number(1.0, dtype)}, {out}, {out})",
            f"if not {out}.item({out}.argmin()) >= {least}:",
            f"    k = ({out} < {least}).nonzero()",
            f"    {out}[k] = {function}({x}[k], {y}[k])",
        ]

    def _by_blas(self, step: Step) -> list[str] | None:
        """The operands of np.dot that give the same result faster: a matrix product, a sum of few numbers."""
        specs = [self.specs[x] for x in step.operands if type(x) is Ref]
        dtype = step.specs[0].dtype
        if dtype.char not in "fd" or any(spec.dtype != dtype or not spec.is_array for spec in specs):
            return None
        if step.function is np.matmul and len(specs) == 2 and all(spec.ndim in (1, 2) for spec in specs):
            return [self._operand(x) for x in step.operands]
        if (
            step.function is not np.sum
            or len(step.operands) > 1
            or len(specs) != 1
            or step.kwargs.keys() - {"axis", "keepdims"}
        ):
            return None
        return self._sum_by_blas(step.operands[0], specs[0], step)

    def _sum_by_blas(self, x: Any, spec: Spec, step: Step) -> list[str] | None:
        axis = step.kwargs.get("axis")
        axis = axis[0] if type(axis) is tuple and len(axis) == 1 else axis
        if step.kwargs.get("keepdims") or spec.order != "C" or not 0 < spec.size <= _FEW:
            return None
        if spec.ndim == 1 and axis in (None, 0):
            return [self.names.ones(spec.size, spec.dtype), self._operand(x)]
        if spec.ndim == 2 and axis == 0:
            return [self.names.ones(spec.shape[0], spec.dtype), self._operand(x)]
        if spec.ndim == 2 and axis == 1:
            return [self._operand(x), self.names.ones(spec.shape[1], spec.dtype)]
        return (
            [self.names.ones(spec.size, spec.dtype), f"{self._operand(x)}.reshape(-1)"]
            if axis is None
            else None
        )

    def _in_order(self, step: Step) -> list[Any]:
        return [step.operands[a] if type(a) is Hole else a for a in step.args]

    def _beside(self, step: Step, x: Any) -> str:
        """An operand of a ufunc; a Python number as an array of the dtype that it takes beside the others."""
        if type(x) not in (int, float) or step.function not in _ALIKE:
            return self._operand(x)
        others = [self.specs[y] for y in step.operands if type(y) is Ref]
        dtypes = {spec.dtype for spec in others if spec.is_array}
        wanted = others[0].dtype if step.function in _COMPARE else step.specs[0].dtype
        if dtypes != {wanted} or wanted.kind != "f":
            return self._operand(x)
        return self.names.number(x, wanted)

    def _write_sum(self, step: Step, text: str, index: Any, write: Any) -> None:
        """y[index] += part, without the second half of what Python does for it."""
        spec = self.specs[step.outs[0]]
        part = step.operands[1] if len(step.operands) > 1 else None
        is_slice = (
            type(index) is slice
            or type(index) is tuple
            and slice in map(type, index)
            and not _has_arrays(index)
        )
        is_like = type(part) is Ref and self.specs[part].dtype == spec.dtype and self.specs[part].is_array
        if not (is_slice and is_like and _is_fixed(index)):
            super()._write_sum(step, text, index, write)
            return
        self._line(f"p = {text}[{index_text(index, write)}]")
        self._line(f"np.add(p, {self._operand(part)}, p)")

    # ---- loops -------------------------------------------------------------------------------------------------------
    def _write_loop(self, loop: Loop, live: Later) -> None:
        assert self.buffers is not None
        known = {
            **self.specs,
            **{ref: spec for step in loop.inner for ref, spec in zip(step.outs, step.specs)},
        }
        self.specs = known
        writer = BlockWriter(loop, known, self.texts, self._in_block)
        sums = {step.outs[0]: f"s{int(step.outs[0])}" for step in loop.sums}
        writer.write(sums)
        self._write_outs(loop, writer, sums, -(-writer.count // writer.size))
        self._write_blocks(writer, () if loop.flat else loop.shape[1:])
        if writer.slices:
            self._line(f"{' = '.join(writer.slices.values())} = None")
        for ref, name in sums.items():
            self._line(f"{self._name(ref)} = np.add.reduce({name})")

    def _write_blocks(self, writer: BlockWriter, row: tuple[int, ...]) -> None:
        """The blocks, one after the other, or shared out among threads; and the last one, which is smaller."""
        assert self.buffers is not None
        whole, rest = divmod(writer.count, writer.size)
        threads = max(1, min(self.threads, whole))
        found = self.buffers.extras((writer.size, *row), writer.temps * threads)
        count = len(writer.temps)
        memory = [found[k * count : (k + 1) * count] for k in range(threads)]
        names = "".join(f", t{k}" for k in range(len(writer.temps)))
        self._line(f"def block(k, i, j{names}):")
        for line in writer.lines:
            self._line(f"    {line}")
        step = f"block(k, k * {writer.size}, (k + 1) * {writer.size}"
        if threads > 1:
            self._line(f"def part(first, last{names}):")
            self._line("    for k in range(first, last):")
            self._line(f"        {step}{names})")
            shares = "".join(f"({''.join(f'{t}, ' for t in share)}), " for share in memory)
            self._line(f"{self.names.function(shared_out)}(part, {whole}, ({shares}))")
        else:
            self._line(f"for k in range({whole}):")
            self._line(f"    {step}{''.join(f', {t}' for t in memory[0])})")
        if rest:
            tails = "".join(f", {t}[:{rest}]" for t in memory[0])
            self._line(f"block({whole}, {whole * writer.size}, {writer.count}{tails})")

    def _write_outs(self, loop: Loop, writer: BlockWriter, sums: dict[Ref, str], blocks: int) -> None:
        assert self.buffers is not None
        flat = ".reshape(-1)" if loop.flat and len(loop.shape) > 1 else ""
        for step in loop.sums:
            dtype = self.names.text(step.specs[0].dtype)
            self._line(f"{sums[step.outs[0]]} = np.empty({blocks}, {dtype})")
        for ref, name in writer.slices.items():
            if ref in loop.outs:
                spec = self.specs[ref]
                if any(m in self.returned_refs for m in self.families.members.get(ref, [ref])):
                    self._line(f"{self._name(ref)} = np.empty({spec.shape}, {self.names.text(spec.dtype)})")
                else:
                    self._put(ref, self.buffers.hold(ref, spec))
                    self._make_buffers()
            self._line(f"{name} = {self.texts[ref]}{flat}")

    def _in_block(self, step: Step, texts: dict[Ref, str], out: str | None) -> list[str]:
        """The lines of a step of a loop, with these texts for its operands; or the expression for it."""
        outer, self.texts = self.texts, {**self.texts, **texts}
        try:
            if out is None:
                return [self.expressions.of(step, self._operand)]
            return (
                self._tanh_slope(step, out) if step.function is TANH_SLOPE else [self._call_into(step, out)]
            )
        finally:
            self.texts = outer


def _has_arrays(index: Any) -> bool:
    return any(isinstance(i, (list, np.ndarray, Hole)) for i in (index if type(index) is tuple else (index,)))


def _is_fixed(index: Any) -> bool:
    items = index if type(index) is tuple else (index,)
    parts = [p for i in items for p in ((i.start, i.stop, i.step) if type(i) is slice else (i,))]
    return Hole not in map(type, parts)


__all__ = ["FastWriter", "Spec"]
