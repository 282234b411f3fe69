"""Simulations that fill arrays step by step, or update them in place."""

from __future__ import annotations

from typing import Any

import numpy as np


def heat(start: Any, rate: Any) -> Any:
    """A rod's temperatures at all times, by explicit steps into a prepared array. Its ends stay fixed."""
    steps = 4
    u = np.empty((steps + 1, start.size), like=start)
    u[0] = start
    for n in range(steps):
        u[n + 1, 0], u[n + 1, -1] = u[n, 0], u[n, -1]
        u[n + 1, 1:-1] = u[n, 1:-1] + rate * (u[n, 2:] - 2 * u[n, 1:-1] + u[n, :-2])
    return u


def oscillator(start: Any, stiffness: Any) -> Any:
    """The path of a mass on a spring, by Runge and Kutta's method: position and velocity at all times."""
    n, h = 3, 0.3
    path = np.zeros((n + 1, 2), like=start)
    slopes = np.zeros((4, 2), like=start)
    path[0] = start
    for k in range(n):
        state = path[k].copy()
        for stage, reach in enumerate((0.0, h / 2, h / 2, h)):
            if stage:
                state[:] = path[k] + reach * slopes[stage - 1]
            slopes[stage, 0] = state[1]
            slopes[stage, 1] = -stiffness * state[0]
        path[k + 1] = path[k]
        path[k + 1] += h / 6 * (slopes[0] + 2 * slopes[1] + 2 * slopes[2] + slopes[3])
    return path


def particles(x: Any, v: Any) -> Any:
    """Particles that repel each other: positions and velocities are moved on in place."""
    force = np.empty_like(x)
    for _ in range(2):
        force[...] = 0
        for i in range(len(x)):
            for j in range(i):
                apart = x[i] - x[j]
                push = apart / (apart @ apart + 0.5) ** 1.5
                force[i] += push
                force[j] -= push
        v += 0.1 * force
        x += 0.1 * v
    return x, v


def life(cells: Any) -> Any:
    """A smooth game of life on a torus: neighbours are views of a padded grid with a copied rim."""
    rows, columns = cells.shape
    grid = np.zeros((rows + 2, columns + 2), like=cells)
    inside = grid[1:-1, 1:-1]
    inside[...] = cells
    for _ in range(2):
        grid[0], grid[-1] = grid[-2], grid[1]
        grid[:, 0], grid[:, -1] = grid[:, -2], grid[:, 1]
        around = np.zeros_like(cells)
        for i in range(3):
            for j in range(3):
                if (i, j) != (1, 1):
                    around += grid[i : i + rows, j : j + columns]
        inside *= np.tanh(around - 1.5)
        inside += np.exp(-((around - 3.0) ** 2))
    return inside


def advection(u: Any, speed: Any) -> Any:
    """A wave that moves round a ring: a rolled view of itself is subtracted from it, in place."""
    for _ in range(4):
        u -= speed * (u - np.roll(u, 1)) * (1 + 0.1 * u)
    return u
