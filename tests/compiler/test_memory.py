"""A compiled program takes no more memory than the eager sweep: neither at its peak, nor between the calls.

But for the blocks of its loops, whose size does not depend on that of the arrays.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from funcgrad import grad, jit
from funcgrad.compiler.buffers import LARGE
from tests.compiler.agreement import only

SIDE = 300  # an array takes five times as much as a large buffer


def sines(x: Any) -> Any:
    for _ in range(12):
        x = np.sin(x.reshape(-1)).reshape(SIDE, SIDE)
    return x.sum()


def moves(x: Any) -> Any:
    for _ in range(6):
        x = (x.reshape(2, -1) * 0.9).reshape(SIDE, SIDE).T
        x = x * 1.1 - x.sum() / x.size
    return x.sum()


def rectified(x: Any) -> Any:
    h = x
    for _ in range(4):
        h = np.maximum(h @ x, 0)
    return np.mean((h - 1) ** 2)


def branching(x: Any) -> Any:
    h = np.cosh(x)
    return np.sum(h @ x) if h[0, 0] > 1.5 else np.sum(np.cos(h) @ h)


def _peak(run: Callable[[], Any]) -> int:
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak - before


@pytest.mark.parametrize("fun", [sines, moves, rectified, branching])
def test_the_peak_is_that_of_the_eager_sweep_at_most(fun: Any) -> None:
    gradient = grad(fun)
    compiled = jit(gradient)
    for k in range(8):  # both branches
        x = np.random.default_rng(k).normal(size=(SIDE, SIDE)) / 20
        x[0, 0] = k % 2
        np.testing.assert_allclose(compiled(x), gradient(x), rtol=1e-9, atol=1e-12)
        if k > 5:
            program = only(compiled).program
            program.pool.clear()  # its buffers are made anew, and counted
            lasting = sum(b.nbytes for b in program.buffers.made())  # of any size of arrays: blocks of loops
            assert lasting < 4 * LARGE
            assert _peak(lambda x=x: compiled(x)) <= 1.02 * _peak(lambda x=x: gradient(x)) + lasting
