"""Memory at its peak, in arrays of the input's size, and the time to import."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import funcgrad
from benchmarks.measure import import_seconds, peak_bytes, ratio
from benchmarks.problem import Figure, Gradients
from benchmarks.problems.elementwise import wave, wave_by_hand
from benchmarks.problems.models import SEED, classifier_problem, large_mlp, recurrent

SIDE, STEPS = 500, 50


def moves(x: Any) -> Any:
    """50 linear operations: nothing has to be kept for the backward sweep."""
    for _ in range(STEPS // 5):
        x = (x.reshape(2, -1) * 0.9).reshape(SIDE, SIDE).T
        x = x * 1.1 - x.sum() / x.size
    return x.sum()


def sines(x: Any) -> Any:
    """50 sines: one array has to be kept for each."""
    for _ in range(STEPS):
        x = np.sin(x.reshape(-1)).reshape(SIDE, SIDE)
    return x.sum()


def arrays_at_peak(function: Callable[[Any], Any]) -> float:
    """The memory that the gradient of `function` takes at its peak, in arrays of the input's size."""
    x = np.ones((SIDE, SIDE))
    return peak_bytes(lambda: funcgrad.grad(function)(x)) / x.nbytes


def compiled_to_eager(function: Callable[..., Any], params: tuple[Any, ...], data: tuple[Any, ...]) -> float:
    """The memory of a compiled gradient at its peak, buffers included, by that of the eager one."""
    gradient = funcgrad.value_and_grad(partial(function, np), tuple(range(len(params))))
    compiled = funcgrad.jit(gradient)
    for _ in range(3):
        compiled(*params, *data)
    (known,) = compiled.compiled.values()

    def run() -> Any:
        known.program.pool.clear()
        return compiled(*params, *data)

    return peak_bytes(run) / peak_bytes(lambda: gradient(*params, *data))


def _of(problem: Gradients) -> Callable[[], float]:
    return lambda: compiled_to_eager(problem.function, problem.params, problem.data)


def import_ratio() -> float:
    """The time of `import funcgrad` by that of `import numpy`, which is part of it."""
    seconds = import_seconds(("numpy", "funcgrad"))
    return ratio(seconds["funcgrad"], seconds["numpy"])


LINES = (
    Figure("memory of 50 linear operations", 4, lambda: arrays_at_peak(moves), "arrays"),
    Figure("memory of 50 sines between reshapes", 55, lambda: arrays_at_peak(sines), "arrays"),
    *(
        Figure(f"memory of jit: {name}", 1, _of(problem), "eager")
        for name, problem in {
            "1e6 elements": Gradients(wave, wave_by_hand, (np.ones(1_000_000),)),
            "MLP (tanh)": large_mlp(np.random.default_rng(SEED)),
            "MLP (relu)": classifier_problem(np.random.default_rng(SEED)),
            "RNN": recurrent(np.random.default_rng(SEED)),
        }.items()
    ),
    Figure("import funcgrad", 1.4, import_ratio, "import numpy"),
)
