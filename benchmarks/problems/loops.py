"""Loops over single elements, reading and writing: how people write when they are not yet thinking in arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import funcgrad
from benchmarks.measure import ratio, seconds_per_call
from benchmarks.peers import Peer, Run
from benchmarks.problem import Figure, Gradients, Race

N = 2_000
WRITES = 10_000


def walk(xp: Any, x: Any) -> Any:
    """The sum of squares, one element after the other."""
    total = 0.0
    for i in range(len(x)):
        total = total + x[i] ** 2
    return total


def walk_by_hand(x: np.ndarray) -> Any:
    """The same loop, which fills the gradient as it goes."""
    total, ct = 0.0, np.empty_like(x)
    for i in range(len(x)):
        v = x[i]
        total = total + v**2
        ct[i] = 2 * v
    return total, (ct,)


def fill(n: int, x: Any) -> Any:
    """n item assignments into an array, then its mean. The derivative is 1."""
    y = np.zeros(n, like=x)
    for i in range(n):
        y[i] = x
    return np.mean(y)


def update(n: int, x: Any) -> Any:
    """n updates in place, each a read, a sum and a write."""
    y = np.zeros(n, like=x)
    for i in range(n):
        y[i] += x
    return np.mean(y)


def fill_table(n: int, x: Any) -> Any:
    """n item assignments into a table."""
    side = int(n**0.5)
    y = np.zeros((side, side), like=x)
    for i in range(side):
        for j in range(side):
            y[i, j] = x
    return np.mean(y)


def fill_rows(n: int, x: Any) -> Any:
    """n assignments of rows of 3 elements, then the mean of the first column; `multiply_rows` gives the same."""
    y = np.zeros((n, 3), like=x)
    for i in range(n):
        y[i] = x
    return np.mean(y[:, 0])


def update_rows(n: int, x: Any) -> Any:
    """n updates of rows in place."""
    y = np.zeros((n, 3), like=x)
    for i in range(n):
        y[i] += x
    return np.mean(y[:, 0])


def multiply_rows(n: int, x: Any) -> Any:
    """n arithmetic operations on rows of 3 elements."""
    return multiply(n, x)[0]


def multiply(n: int, x: Any) -> Any:
    """n arithmetic operations, n being even. The derivative is 1."""
    for _ in range(n):
        x = x * -1.0
    return x


def growth(small: Callable[[], Any], large: Callable[[], Any]) -> float:
    """How much longer `large` takes than `small`."""
    seconds = seconds_per_call({"small": small, "large": large})
    return ratio(seconds["large"], seconds["small"])


def _walk(n: int) -> Run:
    differentiate, x = funcgrad.grad(partial(walk, np)), np.ones(n)
    return lambda: differentiate(x)


def _loop(function: Callable[[int, Any], Any], n: int, x: Any = 1.0) -> Run:
    differentiate = funcgrad.grad(partial(function, n))
    return lambda: differentiate(x)


def _against(products: Run, writes: Run) -> Callable[[Sequence[Peer]], dict[str, Run]]:
    """Beside as many products. (Peers that can assign at all copy the array, or cost as much.)"""
    return lambda peers: {"products": products, "funcgrad": writes}


_ROW = np.ones(3)
_products, _row_products = _loop(multiply, WRITES), _loop(multiply_rows, WRITES, _ROW)


# JAX without jit would take half a minute for each call.
_reads = Gradients(walk, walk_by_hand, (np.linspace(-1, 1, N),), without=("jax",))

LINES = (
    Race(f"x[i] in a loop, n = {N:,}", 25, _reads),
    Figure("  and 4 times as many", 5, lambda: growth(_walk(N), _walk(4 * N)), "n = 2,000"),
    Race(f"y[i] = x in a loop, n = {WRITES:,}", 4, _against(_products, _loop(fill, WRITES)), "products"),
    Figure(
        "  and 4 times as many", 5, lambda: growth(_loop(fill, WRITES), _loop(fill, 4 * WRITES)), "n = 10,000"
    ),
    Race("y[i, j] = x in a loop", 4, _against(_products, _loop(fill_table, WRITES)), "products"),
    Race("y[i] += x in a loop: read, add, write", 12, _against(_products, _loop(update, WRITES)), "products"),
    Race("y[i] = row of 3 in a loop", 4, _against(_row_products, _loop(fill_rows, WRITES, _ROW)), "products"),
    Race(
        "y[i] += row of 3 in a loop",
        10,
        _against(_row_products, _loop(update_rows, WRITES, _ROW)),
        "products",
    ),
)
