"""SciPy's functions: a value and its gradient, beside the plain call of SciPy's alone."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.measure import ratio, seconds_per_call
from benchmarks.problem import Figure
from funcgrad import value_and_grad

scipy: Any = import_module("scipy") if find_spec("scipy") else None  # loads its modules when they are used

DIRECT, EQUATIONS = 3.0, 4.0
N, GRID = 500, 316


def _against(function: Callable[[Any, Any], Any], x: Any, target: float, name: str) -> Figure:
    """value_and_grad of function(x, library) with funcgrad.scipy, and the function with SciPy."""

    def measure() -> float:
        from funcgrad import scipy as ours

        theirs: Any = SimpleNamespace(
            linalg=scipy.linalg, sparse=scipy.sparse, integrate=scipy.integrate, signal=scipy.signal
        )
        differentiate = value_and_grad(lambda x: function(x, ours))
        seconds = seconds_per_call({"scipy": lambda: function(x, theirs), "ours": lambda: differentiate(x)})
        return ratio(seconds["ours"], seconds["scipy"])

    return Figure(name, target, measure, "the call of SciPy's")


_rng = np.random.default_rng(5)
_matrix, _right = _rng.normal(size=(N, N)) + 60 * np.eye(N), _rng.normal(size=N)
_points, _values = _rng.normal(size=(N, 3)), _rng.normal(size=N)
_distances = ((_points[:, None] - _points) ** 2).sum(axis=-1)
_signal = _rng.normal(size=102_001)
_rates = np.array([0.04, 3e3, 1e4, 0.5, 0.3, 0.2, 0.7, 0.1, 0.9, 0.4])


def likelihood(theta: Any, library: Any) -> Any:
    """That of a Gaussian process, with two scales and noise."""
    k = np.exp(theta[0]) * np.exp(-0.5 * _distances * np.exp(-2 * theta[1])) + np.exp(theta[2]) * np.eye(N)
    factor = library.linalg.cho_factor(k)
    return 0.5 * _values @ library.linalg.cho_solve(factor, _values) + np.sum(np.log(np.diagonal(factor[0])))


def reactions(t: float, y: Any, k: Any) -> list[Any]:
    """Robertson's reactions and two more: stiff."""
    slow, back, fast = k[0] * y[0], k[2] * y[1] * y[2], k[1] * y[1] ** 2
    aside, return_ = k[3] * y[0], k[4] * y[3]
    return [
        back - slow - aside + return_,
        slow - back - fast,
        fast - k[5] * y[2],
        aside - return_ - k[6] * y[3] + k[7] * y[4],
        k[6] * y[3] - k[7] * y[4] * k[8] + k[5] * y[2] * k[9],
    ]


def kinetics(k: Any, library: Any) -> Any:
    """The sum of all concentrations at some times."""
    start, times = np.array([1.0, 0.0, 0.0, 0.2, 0.1]), np.linspace(0.0, 40.0, 9)
    solve = library.integrate.solve_ivp
    return np.sum(
        solve(reactions, (0.0, 40.0), start, "Radau", t_eval=times, args=(k,), rtol=1e-6, atol=1e-9).y
    )


def _poisson() -> Any:
    line = scipy.sparse.diags_array(
        [-np.ones(GRID - 1), 2 * np.ones(GRID), -np.ones(GRID - 1)], offsets=[-1, 0, 1]
    )
    eye = scipy.sparse.eye_array(GRID)
    return (scipy.sparse.kron(line, eye) + scipy.sparse.kron(eye, line)).tocsc()


def _diffusion() -> list[Figure]:
    matrix, ones = _poisson(), np.ones(GRID * GRID)

    def flow(data: Any, library: Any) -> Any:
        made = library.sparse.csc_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
        return np.sum(library.sparse.linalg.spsolve(made, ones))

    return [_against(flow, matrix.data, DIRECT, "scipy: sparse solve, 1e5 unknowns, in the entries")]


def _figures() -> list[Figure]:
    """All of them, where SciPy is installed."""
    if scipy is None:
        return []
    return [
        _against(lambda a, s: np.sum(s.linalg.solve(a, _right)), _matrix, DIRECT, "scipy: linear solve 500"),
        _against(lambda a, s: np.sum(s.linalg.expm(a)), _matrix[:100, :100] / 60, DIRECT, "scipy: expm 100"),
        _against(likelihood, np.array([0.1, 0.2, -1.0]), DIRECT, "scipy: Gaussian process, cho_factor 500"),
        _against(kinetics, _rates, EQUATIONS, "scipy: stiff solve_ivp, 10 parameters"),
        *_diffusion(),
        _against(
            lambda x, s: np.sum(s.signal.convolve(x[:-2001], x[-2001:]) ** 2),
            _signal,
            DIRECT,
            "scipy: convolve 1e5, in both",
        ),
    ]


LINES = _figures()
