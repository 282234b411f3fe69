"""Elementwise functions: many calls on a small array, and few calls on a large one."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.problem import Gradients, Race

STEPS = 50


def chain(xp: Any, x: Any) -> Any:
    """150 operations, each on three numbers."""
    for _ in range(STEPS):
        x = xp.sin(x) * 1.1 + 0.2
    return xp.sum(x)


def chain_by_hand(x: np.ndarray) -> Any:
    """The chain rule, last step first."""
    xs = []
    for _ in range(STEPS):
        xs.append(x)
        x = np.sin(x) * 1.1 + 0.2
    value = np.sum(x)
    ct = np.ones(x.shape)
    for x in reversed(xs):
        ct = ct * 1.1 * np.cos(x)
    return value, (ct,)


def wave(xp: Any, x: Any) -> Any:
    """sum(tanh(2x + 1) exp(-x**2))."""
    return xp.sum(xp.tanh(2 * x + 1) * xp.exp(-x * x))


def wave_by_hand(x: np.ndarray) -> Any:
    """With t = tanh(2x + 1) and e = exp(-x**2) the gradient is 2 e (1 - t (t + x)); three buffers are enough."""
    t = 2 * x
    t += 1
    np.tanh(t, out=t)
    e = x * x
    np.negative(e, out=e)
    np.exp(e, out=e)
    ct = t * e
    value = np.sum(ct)
    np.add(t, x, out=ct)
    ct *= t
    np.subtract(1, ct, out=ct)
    ct *= e
    ct *= 2
    return value, (ct,)


def rosenbrock(xp: Any, x: Any) -> Any:
    """The chained Rosenbrock function."""
    return xp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def rosenbrock_by_hand(x: np.ndarray) -> Any:
    """Both terms touch x[:-1]; the first touches x[1:] too."""
    head, tail = x[:-1], x[1:]
    d, e = tail - head**2, 1 - head
    value = np.sum(100 * d**2 + e**2)
    ct = np.empty_like(x)
    ct[-1] = 0
    ct[:-1] = -400 * d * head - 2 * e
    ct[1:] += 200 * d
    return value, (ct,)


_rng = np.random.default_rng(0)

LINES = (
    Race("150 operations on 3 elements", 2.5, Gradients(chain, chain_by_hand, (_rng.normal(size=3),))),
    Race(
        "tanh(2x+1) exp(-x²), 1e6 elements",
        1.5,
        Gradients(wave, wave_by_hand, (_rng.normal(size=1_000_000),)),
    ),
    Race("Rosenbrock, 100 variables", 5, Gradients(rosenbrock, rosenbrock_by_hand, (_rng.normal(size=100),))),
)
