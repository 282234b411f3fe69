"""The comparisons are fair: what is timed side by side computes the same."""

import dataclasses
import json

import numpy as np
import pytest

from benchmarks.peers import Funcgrad, Torch
from benchmarks.problem import HAND, Race, Result, check_agreement, leaves
from benchmarks.problems import ALL, BY_HAND, facade, lazy
from benchmarks.problems.elementwise import rosenbrock
from benchmarks.report import as_json, as_markdown, heading, row

RACES = [line for line in BY_HAND if isinstance(line, Race)]
BESIDE_PYTORCH = [
    line for line in ALL if line not in (*BY_HAND, *lazy.LINES, *facade.LINES[::2])
]  # of the facade: with backward


@pytest.mark.parametrize("race", RACES, ids=lambda race: race.name.strip())
def test_all_runs_of_a_race_give_the_same(race):
    runs = race.runs([])
    assert len(runs) > 1
    check_agreement(race.name, runs)


@pytest.mark.parametrize("race", BESIDE_PYTORCH, ids=lambda race: race.name.strip())
def test_layers_and_steps_of_training_are_as_in_pytorch(race):
    pytest.importorskip("torch")
    runs = race.runs([Torch()])
    assert list(runs) == ["torch", "funcgrad"]
    check_agreement(race.name, runs)


def test_a_wrong_gradient_is_not_timed():
    right = {HAND: lambda: np.ones(3), "funcgrad": lambda: np.ones(3)}
    check_agreement("right", right)
    with pytest.raises(AssertionError, match="funcgrad and hand-written disagree"):
        check_agreement("wrong", {**right, "funcgrad": lambda: np.ones(3) + 1e-6})


def test_a_race_without_its_reference_is_not_judged():
    race = dataclasses.replace(RACES[0], reference="absent", runs=lambda peers: {"funcgrad": lambda: 1.0})
    result = race.result([])
    assert result.passed is None
    assert "absent" in row(result, [])


def test_rows_line_up_with_the_heading():
    result = Result("name", HAND, 2.0, {"funcgrad": 1.5, "torch": 250.0}, 0.012)
    names = ["torch", "jax"]
    title = heading(names).splitlines()[0]
    line = row(result, names)
    assert len(line) == len(title)
    assert line.split() == ["name", HAND, "12", "ms", "1.50", "2", "ok", "250", "-"]
    assert Result("name", HAND, 1.0, {"funcgrad": 1.5}).passed is False


def test_figures_are_written_for_programs_and_for_the_documentation():
    result = Result("  and more", HAND, 2.0, {"funcgrad": 1.5, "torch": 2.5}, 0.012)
    (found,) = json.loads(as_json([result]))
    assert found["ratios"] == result.ratios
    assert found["passed"] is True
    lines = as_markdown([result], ["torch"], "Measured here.").splitlines()
    assert lines[2] == "| ... and more | hand-written | 12 ms | **1.50** | 2 | 2.50 |"
    assert lines[-1] == "Measured here."


def test_a_peer_is_given_the_function_in_its_own_namespace():
    x = np.linspace(0.5, 1.5, 4)
    value, (gradient,) = Funcgrad().value_and_grad(rosenbrock, (x,), ())()
    assert value == rosenbrock(np, x)
    assert [leaf.shape for leaf in leaves((value, (gradient,)))] == [(), (4,)]
