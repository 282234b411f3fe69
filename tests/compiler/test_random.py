"""Random programs: with assignment and views (the fuzzer's), and with branches whose paths grow call by call."""

from __future__ import annotations

import warnings
from random import Random
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
import funcgrad.numpy as fnp
from funcgrad import jit
from funcgrad.compiler.compiling import MOST_PATHS
from tests.compiler.agreement import assert_same, only
from tests.fuzz.assignment import written
from tests.fuzz.modes import Case

STEPS = (0.0, 0.0, 0.0, 0.1, -0.15, 0.1)


@pytest.mark.parametrize("seed", range(0, 80, 20))
def test_programs_that_assign(seed: int) -> None:
    compiled = 0
    for k in range(seed, seed + 20):
        program = written(k)
        run, found = program.run_with(fnp), jit(program.run_with(fnp))
        for h in STEPS:
            try:
                expected = run(*program.arguments(h))
            except (ValueError, IndexError, TypeError):  # no program for these arguments
                continue
            assert_same(found(*program.arguments(h)), expected, 1e-12)
        compiled += only(found).program is not None
    assert compiled > 16


@pytest.mark.parametrize("seed", range(0, 20, 10))
def test_their_gradients(seed: int) -> None:
    for k in range(seed, seed + 10):
        program = written(k)
        case, run = Case(program), program.run_with(fnp)
        gradient = fg.value_and_grad(lambda x, y, case=case, run=run: case.weighted(run(x, y)[0]), (0, 1))
        found = jit(gradient)
        for h in STEPS[:4]:
            try:
                expected = gradient(*program.arguments(h))
            except (ValueError, IndexError, TypeError, fg.errors.FuncgradError):
                continue
            assert_same(found(*program.arguments(h)), expected, 1e-9)


# ---- branches --------------------------------------------------------------------------------------------------------
def branching(rng: Random, depth: int = 3) -> list[str]:
    """The lines of a function body, that computes with x and n and goes ways that depend on both."""
    value = rng.choice(
        ["x.sum()", "x[0]", "np.max(x)", "x[1] * n", "np.abs(x).mean() - 0.7", "float(np.round(x[2]))"]
    )
    lines = [
        rng.choice(
            ["x = np.sin(x) + 0.1 * n", "x = x * 1.5 - x[::-1]", "x = np.where(x > 0, x, 0.5 * x) - 0.2"]
        )
    ]
    if depth == 0:
        return lines
    kind = rng.choice(["if", "if", "while", "for", "index", "mask"])
    inner = [f"    {line}" for line in branching(rng, depth - 1)]
    if kind == "if":
        other = [f"    {line}" for line in branching(rng, depth - 1)]
        return [*lines, f"if {value} > {rng.uniform(-1, 1):.2f}:", *inner, "else:", *other]
    if kind == "while":
        turns = f"turns{depth}"
        head = f"while {value} < 0.5 and {turns} < 3:"
        return [*lines, f"{turns} = 0", head, *inner, f"    x, {turns} = x + 0.3, {turns} + 1"]
    if kind == "for":
        return [*lines, "for _ in range(n):", *inner]
    if kind == "index":
        return [*lines, "k = int(np.argmax(x))", "x[k] = x[k] * 0.5", *branching(rng, depth - 1)]
    return [*lines, "some = x[x > 0.3]", "x = x + some.sum() / (1 + len(some))", *branching(rng, depth - 1)]


def function_of(seed: int) -> Any:
    body = "\n".join(f"    {line}" for line in branching(Random(seed)))
    space: dict[str, Any] = {"np": np}
    exec(f"def program(x, n):\n    x = x * 1.0\n{body}\n    return x, x.sum()\n", space)
    return space["program"]


@pytest.mark.parametrize("seed", range(0, 24, 12))
def test_programs_with_branches(seed: int) -> None:
    paths = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k in range(seed, seed + 12):
            fun, rng = function_of(k), np.random.default_rng(k)
            loss = fg.value_and_grad(lambda x, n, fun=fun: fun(x, n)[1])
            compiled, slope = jit(fun), jit(loss)
            for _ in range(8):
                x, n = rng.normal(size=4), int(rng.integers(3))
                assert_same(compiled(x, n), fun(x, n), 1e-9)
                assert_same(slope(x, n)[0], fun(x, n)[1], 1e-9)
                assert_same(slope(x, n), loss(x, n), 1e-9)
            known = only(compiled)
            paths = max(paths, 0 if known.paths is None else known.paths.count())
            assert paths <= MOST_PATHS + 1
    assert paths > 2
