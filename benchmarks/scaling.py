"""How compiled functions scale: `python -m benchmarks.scaling [--json PATH]`.

Against the length of the program: how long it takes to record it, to compile it, and to call it, eagerly and
compiled. Against the size of the arrays: one call. Against the number of paths: one call that takes the last
of them. All are seconds of processor time, the least of several.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import funcgrad as fg
from funcgrad.compiler.compiling import Compiled, Jit

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
        start = process_time()
        compiled(x)
        recorded = process_time() - start
        start = process_time()
        compiled(x)
        made = process_time() - start - recorded
        compiled(x)
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
    parser.add_argument("--json", type=Path, metavar="PATH", help="also write the figures to this file")
    options = parser.parse_args()
    found = {"length": by_length(), "size": by_size(), "paths": by_paths()}
    for name, rows in found.items():
        print(f"\n{name:>10}" + "".join(f"{key:>12}" for key in list(rows[0])[1:]))
        for row in rows:
            first, *others = row.values()
            print(f"{first:>10,}" + "".join(f"{value * 1e6:>10,.1f}us" for value in others))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
