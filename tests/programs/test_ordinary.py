"""Ordinary programs, which nobody wrote to be differentiated, have right derivatives by `adapt`, unedited; by
`import funcgrad.numpy as np`; and with plain NumPy, or they are refused by name. docs/adapt.md has the table
of what is what.
"""

from __future__ import annotations

import inspect
import re
import sys
import types
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from funcgrad import adapt, jvp, value_and_grad
from funcgrad.errors import FuncgradError
from tests.programs.ordinary import estimation, fluids, learning, mechanics, science

RNG = np.random.default_rng(0)
ARGUMENTS: dict[Callable[..., Any], Any] = {
    fluids.lattice_boltzmann: 0.1,
    fluids.finite_volume: 1.0,
    fluids.spectral_navier_stokes: 0.05,
    fluids.smoothed_particles: np.array([0.0, 0.21, 0.39, 0.63]),
    fluids.particle_in_cell: 0.3,
    mechanics.n_bodies: np.array([1.0, 0.5, 0.8, 0.3]),
    mechanics.double_pendulum: 1.1,
    mechanics.robot_arm: np.array([0.5, 0.6, 0.4]),
    mechanics.molecular_dynamics: 3.7,
    mechanics.topology: RNG.uniform(0.3, 0.9, 8),
    mechanics.riccati: np.array([1.0, 0.5, 2.0, 0.7, 0.3]),
    estimation.extended_kalman: np.array([0.1, 0.2]),
    estimation.hidden_markov: RNG.normal(size=(3, 6)),
    estimation.random_field: RNG.normal(size=(7, 3)),
    estimation.gaussian_process: np.array([0.1, -0.3, -1.5]),
    estimation.spline: np.array([0.0, 0.5, -0.2, 0.3, 0.1]),
    estimation.bundle_adjustment: np.concatenate(
        [np.tile([0.1, -0.2, 0.3, 0.1, 0.0, 0.2], 2), 2 + RNG.random(9)]
    ),
    learning.tsne: RNG.normal(size=10),
    learning.factorisation: RNG.uniform(0.2, 1.0, 12),
    learning.transformer: 0.5 * RNG.normal(size=64),
    learning.convolution: RNG.normal(size=9),
    learning.recurrent: 0.5 * RNG.normal(size=32),
    learning.training: -1.3,
    learning.mixture: np.array([-0.9, 1.1, 0.1]),
    science.ray_tracing: 0.8,
    science.option_tree: np.array([1.0, 0.05, 0.3]),
    science.stochastic_volatility: np.array([1.5, 0.05, 0.3]),
    science.bond: 0.06,
    science.hartree_fock: 1.4,
    science.kinetics: np.array([0.04, 1.0, 30.0]),
    science.tunnelling: 2.0,
    science.bilateral: np.array([0.8, 0.4]),
    science.epidemic: np.array([0.7, 0.2]),
    science.wavelets: np.array([0.3, -1.1, 0.7, 0.2, 1.5, -0.4, 0.1, 0.9]),
}
OURS = {
    "numpy as np": "funcgrad.numpy as np",
    "math": "funcgrad.math as math",
    "cmath": "funcgrad.cmath as cmath",
}
WAYS = ("import numpy", "import funcgrad.numpy", "adapt")
PAGE = (Path(__file__).parents[2] / "docs" / "adapt.md").read_text(encoding="utf-8")


@cache
def edited(module: types.ModuleType) -> dict[str, Any]:
    """The module with other imports."""
    source = inspect.getsource(module)
    for theirs, ours in OURS.items():
        source = re.sub(rf"^import {theirs}$", f"import {ours}", source, flags=re.MULTILINE)
    made = types.ModuleType(f"{module.__name__}_edited")
    sys.modules[made.__name__] = made  # where dataclasses look for it
    exec(compile(source, module.__file__ or "", "exec"), made.__dict__)
    return made.__dict__


def by(way: str, program: Callable[..., Any]) -> Callable[..., Any]:
    """The program, run in one of the ways."""
    if way == "adapt":
        return adapt(program)
    module = inspect.getmodule(program)
    assert module is not None
    return edited(module)[program.__name__] if way == "import funcgrad.numpy" else program


@cache
def truth(program: Callable[..., Any]) -> tuple[Any, float]:
    """The direction in which the program is differentiated, and its derivative there, by finite differences."""
    x = ARGUMENTS[program]
    t = np.random.default_rng(1).normal(size=np.shape(x))

    def difference(h: float) -> float:
        return (
            program(x - 2 * h * t) - 8 * program(x - h * t) + 8 * program(x + h * t) - program(x + 2 * h * t)
        ) / (12 * h)

    return t, min((difference(h) for h in (1e-4, 1e-3)), key=lambda d: abs(d - difference(3e-4)))


@cache
def outcome(way: str, program: Callable[..., Any]) -> str:
    """What comes of differentiating it: "right", or the name of the refusal."""
    f, x = by(way, program), ARGUMENTS[program]
    t, expected = truth(program)
    try:
        value, gradient = value_and_grad(f)(np.copy(x) if np.ndim(x) else x)
        pushed = jvp(f, (x,), (t,))
    except FuncgradError as error:
        return type(error).__name__
    assert value == pytest.approx(program(x), rel=1e-13)
    assert pushed[0] == pytest.approx(program(x), rel=1e-13)
    scale = max(1e-3, float(np.sum(np.abs(gradient * t))))
    assert np.sum(gradient * t) == pytest.approx(expected, rel=1e-6, abs=1e-7 * scale)
    assert pushed[1] == pytest.approx(np.sum(gradient * t), rel=1e-9, abs=1e-12 * scale)
    return "right"


def test_all_programs_are_run() -> None:
    modules = [estimation, fluids, learning, mechanics, science]
    functions = [
        f for m in modules for f in vars(m).values() if inspect.isfunction(f) and f.__module__ == m.__name__
    ]
    documented = {f for f in functions if f.__doc__}
    assert documented == set(ARGUMENTS)


@pytest.mark.parametrize("program", ARGUMENTS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("way", WAYS)
def test_derivatives(way: str, program: Callable[..., Any]) -> None:
    assert way != "adapt" or outcome(way, program) == "right"
    assert f"| {row(program)} |" in PAGE


def row(program: Callable[..., Any]) -> str:
    """The line of the table in docs/adapt.md."""
    what = " ".join((program.__doc__ or "").split()).rstrip(".").replace("|", "")
    marks = ["yes" if outcome(way, program) == "right" else "refused" for way in WAYS]
    return " | ".join([f"`{program.__name__}`", what, *marks])


def test_the_table_is_the_whole() -> None:
    lines = [line for line in PAGE.splitlines() if re.match(r"\| `\w+` \| .* \| (yes|refused) \|$", line)]
    assert len(lines) == len(ARGUMENTS)


if __name__ == "__main__":
    for each in ARGUMENTS:
        sys.stdout.write(f"| {row(each)} |\n")
