"""Programs over sequences, as they are written with plain np.zeros(n): of all lines only the import is ours."""

from __future__ import annotations

from typing import Any

import funcgrad.numpy as np


def soft_edit_distance(costs: Any, gap: Any) -> Any:
    """The distance of two sequences, where each minimum is a smooth one: a table is filled row by row."""
    rows, columns = costs.shape
    table = np.zeros((rows + 1, columns + 1))
    for i in range(rows + 1):
        table[i, 0] = i * gap
    table[0, 1:] = gap * np.arange(1, columns + 1)
    for i in range(1, rows + 1):
        for j in range(1, columns + 1):
            ways = np.array(
                [table[i - 1, j] + gap, table[i, j - 1] + gap, table[i - 1, j - 1] + costs[i - 1, j - 1]]
            )
            table[i, j] = -np.log(np.sum(np.exp(-ways)))
    return table


def kalman(seen: Any, drift: Any, noise: Any) -> Any:
    """Filtered states and their variances, one by one."""
    n = len(seen)
    states, variances = np.empty(n), np.empty(n)
    state, variance = 0.0, 1.0
    for k in range(n):
        variance = variance + drift
        gain = variance / (variance + noise)
        state = state + gain * (seen[k] - state)
        variance = (1 - gain) * variance
        states[k], variances[k] = state, variance
    return states, variances


def moving_mean(x: Any) -> Any:
    """The mean of all elements so far."""
    out = np.zeros(len(x))
    total = 0.0
    for i in range(len(x)):
        total += x[i]
        out[i] = total / (i + 1)
    return out


def fourier(x: Any) -> Any:
    """The discrete Fourier transform of 2**k numbers: bits reversed, then butterflies in place."""
    n = len(x)
    z = np.zeros(n, dtype=complex)
    z[:] = x
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j |= bit
        if i < j:
            z[i], z[j] = z[j], z[i]
    length = 2
    while length <= n:
        for start in range(0, n, length):
            for k in range(length // 2):
                upper, lower = start + k, start + k + length // 2
                turned = z[lower] * np.exp(-2j * np.pi * k / length)
                z[lower] = z[upper] - turned
                z[upper] += turned
        length *= 2
    return z


def bubble_sort(x: Any) -> Any:
    """The argument, sorted by swaps."""
    for last in range(len(x) - 1, 0, -1):
        for i in range(last):
            if x[i] > x[i + 1]:
                x[i], x[i + 1] = x[i + 1], x[i]
    return x


def histogram(x: Any, weights: Any) -> Any:
    """Weights shared out between the two bins beside each x."""
    bins = np.zeros(5)
    left = np.floor(x).astype(int)
    share = x - left
    np.add.at(bins, left, weights * (1 - share))
    np.add.at(bins, left + 1, weights * share)
    return bins
