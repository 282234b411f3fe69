"""Arguments that share memory: a function that writes into one of them writes into the others."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np


def overlap(values: Sequence[Any], positions: Iterable[int]) -> bool:
    """Does an array at one of `positions` share memory with another one?"""
    arrays = [(i, x) for i, x in enumerate(values) if isinstance(x, np.ndarray)]
    return any(i != k and np.may_share_memory(values[i], y) for i in positions for k, y in arrays)


def lie_within(values: Sequence[Any], positions: Iterable[int], others: Sequence[np.ndarray]) -> bool:
    """Does an array at one of `positions` share memory with one of `others`?"""
    return any(np.may_share_memory(values[i], y) for i in positions for y in others)


def own_copies(values: Sequence[Any]) -> list[Any]:
    """The values with arrays of their own, which share memory among themselves as those before did."""
    made = list(values)
    spans = [(*np.lib.array_utils.byte_bounds(x), i) for i, x in enumerate(values) if type(x) is np.ndarray]
    group: list[int] = []
    end = -1
    for low, high, i in sorted(spans):
        if group and low >= end:
            _copy(made, group)
            group = []
        group.append(i)
        end = max(end, high)
    _copy(made, group)
    return made


def _copy(values: list[Any], group: Sequence[int]) -> None:
    """Replace the values of a group, whose memory hangs together."""
    if len(group) == 1:
        values[group[0]] = values[group[0]].copy("K")
        return
    bounds = [np.lib.array_utils.byte_bounds(values[i]) for i in group]
    low, high = min(low for low, _ in bounds), max(high for _, high in bounds)
    memory = bytearray(ctypes.string_at(low, high - low))
    for i in group:
        x = values[i]
        values[i] = np.ndarray(x.shape, x.dtype, memory, x.ctypes.data - low, x.strides)
