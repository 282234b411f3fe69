"""How compiled functions scale: `python -m benchmarks.scaling [--markdown PATH]`.

Against the length of the program: how long it takes to record it, to compile it, and to call it, eagerly and
compiled. Against the size of the arrays: one call. Against the number of paths: one call that takes the last
of them. All are seconds of processor time, the least of several.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import funcgrad as fg
from funcgrad.compiler.compiling import Compiled, Jit
from funcgrad.compiler.engines import Engine

LENGTHS = (10, 100, 1_000, 10_000, 100_000)
SIZES = (10, 100, 1_000, 10_000, 100_000, 1_000_000)
PATHS = (1, 2, 4, 8, 16, 31)
BUDGET = 0.2  # seconds for one figure


def least(run: Callable[[], Any]) -> float:
    """The least time of a call."""
    best, spent = float("inf"), 0.0
    while spent < BUDGET:
        start = process_time()
        run()
        taken = process_time() - start
        count = max(1, int(0.005 / max(taken, 1e-7)))
        if count > 1:  # short calls are timed together
            start = process_time()
            for _ in range(count):
                run()
            taken = (process_time() - start) / count
        best, spent = min(best, taken), spent + taken * count
    return best


def chain(steps: int) -> Callable[[Any], Any]:
    """A function whose derivative takes about so many steps: seven for each pass."""

    def fun(x: Any) -> Any:
        for _ in range(max(1, steps // 7)):
            x = x + 1e-4 * np.sin(x)
        return np.sum(x)

    return fun


def by_length() -> list[dict[str, float]]:
    """The derivative of a chain on three numbers."""
    rows = []
    x = np.array([0.1, 0.2, 0.3])
    for steps in LENGTHS:
        gradient = fg.grad(chain(steps))
        compiled = fg.jit(gradient)
        eager = least(lambda g=gradient: g(x))
        recorded = least(lambda g=gradient: fg.jit(g)(x))
        for _ in range(3):
            compiled(x)
        (known,) = compiled.compiled.values()
        made = least(lambda known=known: Engine().program(known.paths))
        rows.append({
            "steps": steps, "eager": eager, "record": recorded, "compile": made, "call": least(lambda c=compiled: c(x)),
        })  # fmt: skip
    return rows


def by_size() -> list[dict[str, float]]:
    """The gradient of ten elementwise steps on arrays of many sizes."""
    rows = []
    for size in SIZES:
        x = np.linspace(-1, 1, size)
        gradient = fg.grad(lambda x: np.sum(np.tanh(x) * np.exp(-x * x) + np.sqrt(x * x + 1)))
        compiled = fg.jit(gradient)
        for _ in range(3):
            compiled(x)
        rows.append({
            "size": size, "eager": least(lambda g=gradient, x=x: g(x)), "call": least(lambda c=compiled, x=x: c(x)),
        })  # fmt: skip
    return rows


def by_paths() -> list[dict[str, float]]:
    """A function whose number of passes depends on its argument: each number is a path."""
    rows = []

    def fun(x: Any, n: Any) -> Any:
        k = 0
        while n > k:
            k += 1
        return np.sum(np.sin(x) * k)

    x = np.ones(10)
    for paths in PATHS:
        compiled: Jit = fg.jit(fun)
        for n in range(paths):
            for _ in range(3):
                compiled(x, n)
        (known,) = compiled.compiled.values()
        assert isinstance(known, Compiled)
        assert known.paths is not None
        rows.append({
            "paths": known.paths.count(), "first": least(lambda c=compiled: c(x, 0)),
            "last": least(lambda c=compiled, n=paths - 1: c(x, n)),
        })  # fmt: skip
    return rows


def main() -> None:
    """Measure and print all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    parser.add_argument(
        "--markdown", type=Path, metavar="PATH", help="also write the tables, as docs/scaling.md has them"
    )
    options = parser.parse_args()
    tables = [as_table(rows) for rows in (by_length(), by_size(), by_paths())]
    print("\n\n".join(tables))
    if options.markdown:
        options.markdown.write_text("\n\n".join(tables) + "\n", encoding="utf-8")


def as_table(rows: list[dict[str, float]]) -> str:
    """Rows as a table in Markdown, times in microseconds."""
    first, *others = rows[0]
    lines = [f"| {first} | {' | '.join(f'{name}, us' for name in others)} |", "| ---: " * len(rows[0]) + "|"]
    for row in rows:
        count, *times = row.values()
        lines.append(
            f"| {count:,} | {' | '.join(f'{t * 1e6:,.1f}' if t < 1e-4 else f'{t * 1e6:,.0f}' for t in times)} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
