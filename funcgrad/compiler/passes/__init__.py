"""What is improved in a program before it is printed. Each pass changes the tree of blocks in place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from funcgrad.compiler.liveness import without_dead
from funcgrad.compiler.passes import rules
from funcgrad.compiler.passes.blocks import Stretches
from funcgrad.compiler.passes.rewriting import Rewriter
from funcgrad.compiler.paths import Block
from funcgrad.compiler.steps import Spec
from funcgrad.transforms.programs import Ref

Pass = Callable[[Block, Sequence[tuple[Ref, Spec]]], Any]
PASSES: list[Pass] = [Rewriter, Stretches]


def optimised(root: Block, inputs: Sequence[tuple[Ref, Spec]]) -> Block:
    """The tree after all passes."""
    for improve in PASSES:
        improve(root, inputs)
        without_dead(root)
    return root


__all__ = ["optimised", "rules"]
