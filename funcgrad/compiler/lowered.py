"""What a program costs, before and after it is optimised: steps, operations, bytes, buffers."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from funcgrad.compiler.passes.blocks import Loop
from funcgrad.compiler.paths import Block
from funcgrad.compiler.program import CompiledProgram
from funcgrad.compiler.steps import Spec, Step
from funcgrad.transforms.programs import Ref


@dataclass(frozen=True)
class Cost:
    """The cost of a program: all its paths together."""

    steps: int
    flops: int
    bytes: int


@dataclass(frozen=True)
class Lowered:
    """What `jit(f).lower(*args)` gives; as text, a table of the steps.

    `before` and `after` are the costs of what was recorded and of the optimised program: steps,
    floating-point operations (a function of one element counts as one), and bytes that are read and written.
    `buffers` are (shape, dtype) of the memory that a call borrows, `source` is the program as it is run.
    """

    name: str
    before: Cost
    after: Cost
    paths: int
    buffers: tuple[tuple[tuple[int, ...], Any], ...]
    source: str
    table: tuple[str, ...]

    @property
    def buffer_bytes(self) -> int:
        """How much memory the buffers take."""
        return sum(prod(shape) * np.dtype(dtype).itemsize for shape, dtype in self.buffers)

    def __str__(self) -> str:
        def row(name: str, cost: Cost) -> str:
            return f"  {name:<10}{cost.steps:>8} steps{cost.flops:>14,} flops{cost.bytes:>14,} bytes"

        memory = f"{len(self.buffers)} buffers, {self.buffer_bytes:,} bytes"
        head = f"jit of {self.name}: {self.paths} path{'s' * (self.paths != 1)}, {memory}"
        return "\n".join([head, row("recorded", self.before), row("optimised", self.after), *self.table])


def lowered(program: CompiledProgram, recorded: Block) -> Lowered:
    """The description of a program."""
    buffers = tuple((shape, dtype) for shape, dtype in program.buffers.kinds)
    before, _ = _cost(recorded, dict(program.inputs))
    after, table = _cost(program.root, dict(program.inputs))
    return Lowered(program.name, before, after, recorded.paths(), buffers, program.text, tuple(table))


def _cost(root: Block, specs: dict[Ref, Spec]) -> tuple[Cost, list[str]]:
    steps = flops = moved = 0
    table = []
    for block in root.blocks():
        for outer in block.steps:
            specs.update(zip(outer.outs, outer.specs))
            for step in outer.inner if isinstance(outer, Loop) else (outer,):
                specs.update(zip(step.outs, step.specs))
                operations = flops_of(step, specs)
                steps, flops = steps + 1, flops + operations
                table.append(f"  {step!r}{f'  {operations:,} flops' if operations else ''}")
            moved += _bytes_of(outer, specs)
        if block.guard is not None:
            table.append(f"  guard {block.guard!r}: {', '.join(map(str, block.branches))}"[:120])
    return Cost(steps, flops, moved), table


def flops_of(step: Step, specs: dict[Ref, Spec]) -> int:
    """How many floating-point operations a step takes, about."""
    operands = [specs[x] for x in step.refs()]
    if not step.specs or step.specs[0].is_view:
        return 0
    if step.name in ("matmul", "dot", "tensordot", "inner", "vdot") and operands and operands[0].shape:
        contracted = operands[0].size if step.name == "vdot" else operands[0].shape[-1]
        return 2 * step.specs[0].size * contracted
    if isinstance(step.function, np.ufunc):
        return step.specs[0].size
    return (
        max([spec.size for spec in [*operands, *step.specs]], default=0)
        if step.specs[0].dtype.kind in "fc"
        else 0
    )


def _bytes_of(step: Step, specs: dict[Ref, Spec]) -> int:
    """How many bytes a step reads and writes."""
    if step.specs and all(spec.is_view for spec in step.specs):
        return 0
    return sum(specs[x].nbytes for x in step.refs()) + sum(spec.nbytes for spec in step.specs)
