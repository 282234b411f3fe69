"""Random programs: with assignment and views (the fuzzer's), and with branches whose paths grow call by call."""

from __future__ import annotations

import warnings

import pytest

import funcgrad as fg
import funcgrad.numpy as fnp
from funcgrad import jit
from funcgrad.compiler.environment import Environment
from tests.compiler.agreement import assert_same, only
from tests.fuzz.assignment import written
from tests.fuzz.compiled import disagreements, text_of
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


# ---- branches ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(0, 16, 8))
def test_programs_with_branches(seed: int) -> None:  # more: python -m tests.fuzz.compiled 1000
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k in range(seed, seed + 8):
            assert [*disagreements(k)] == [], text_of(k)


def test_a_stale_program_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Environment, "change", lambda self: None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert any(difference for k in range(8) for difference in disagreements(k))
