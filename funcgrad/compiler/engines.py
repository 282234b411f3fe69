"""What runs a program: NumPy (on how many threads), or XLA."""

from __future__ import annotations

from typing import Any, NamedTuple

from funcgrad.compiler.paths import Paths
from funcgrad.compiler.program import CompiledProgram


class Engine(NamedTuple):
    """An engine by its name; `threads` share the blocks of elementwise work."""

    name: str = "numpy"
    threads: int = 1

    def program(self, paths: Paths) -> Any:
        """The program for all that is known of a function."""
        if self.name == "numpy":
            return CompiledProgram(paths, self.threads)
        from funcgrad.compiler.xla import XlaProgram  # JAX takes its time

        return XlaProgram(paths)
