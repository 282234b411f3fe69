"""Memory at its peak, in arrays of the input's size, and the time to import."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import funcgrad
from benchmarks.measure import import_seconds, peak_bytes, ratio
from benchmarks.problem import Figure

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


def import_ratio() -> float:
    """The time of `import funcgrad` by that of `import numpy`, which is part of it."""
    seconds = import_seconds(("numpy", "funcgrad"))
    return ratio(seconds["funcgrad"], seconds["numpy"])


LINES = (
    Figure("memory of 50 linear operations", 4, lambda: arrays_at_peak(moves), "arrays"),
    Figure("memory of 50 sines between reshapes", 55, lambda: arrays_at_peak(sines), "arrays"),
    Figure("import funcgrad", 1.4, import_ratio, "import numpy"),
)
