"""What `import funcgrad.numpy as np` costs where nothing is traced: calls on arrays of three elements."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter_ns
from typing import Any

import numpy

import funcgrad.numpy
from benchmarks.problem import Figure

_CALLS = """
zeros(3)  ones(3)  empty(3)  full(3, 1.0)  zeros_like(x)  ones_like(x)  array([1.0, 2.0])  array(x)  arange(3)  linspace(0, 1, 5)
eye(3)  float64(2.0)  shape(x)  ndim(x)  sum(x)  mean(x)  max(x)  dot(x, x)  matmul(a, x)  where(x > 0, x, x)  concatenate([x, x])
stack([x, x])  clip(x, 0, 1)  copy(x)  reshape(a, 9)  transpose(a)  outer(x, x)  diag(x)  cumsum(x)  cross(x, x)  argmax(x)
any(x)  isclose(x, x)  squeeze(x)  append(x, 1.0)  roll(x, 1)  sort(x)  linalg.norm(x)  linalg.solve(a, x)  fft.fft(x)  exp(x)
random.rand(3)  random.normal(size=3)
"""
CALLS = tuple(call for line in _CALLS.splitlines() for call in line.split("  ") if call)
N, ROUNDS = 100, 100


def _loop(call: str, np: Any) -> Callable[[], int]:
    """A function that gives the time of `N` calls, as a program writes them."""
    x = numpy.ones(3)
    space: dict[str, Any] = {
        "np": np,
        "x": x,
        "a": numpy.eye(3) + 0.1,
        "clock": perf_counter_ns,
        "n": range(N),
    }
    exec(f"def run():\n start = clock()\n for _ in n: {call}\n return clock() - start", space)
    return space["run"]


def cost(call: str) -> float:
    """How much longer a call of funcgrad.numpy takes than NumPy's: the fastest of many turns of each."""
    runs = [_loop(text, np) for np in (numpy, funcgrad.numpy) for text in (f"np.{call}", "pass")]
    best = [min(times) for times in zip(*[[run() for run in runs] for _ in range(ROUNDS)])]
    return (best[2] - best[3]) / (best[0] - best[1])


def costs() -> list[float]:
    """That of each of these calls."""
    return [cost(call) for call in CALLS]


LINES = (
    Figure(
        f"{len(CALLS)} calls of funcgrad.numpy, nothing traced: median", 1.3, lambda: median(costs()), "numpy"
    ),
    Figure("  and the dearest of them", 1.5, lambda: max(costs()), "numpy"),
)
