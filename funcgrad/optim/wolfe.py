"""A step length that satisfies the strong Wolfe conditions: bracket it, then zoom in by cubic interpolation.

Nocedal and Wright, Numerical Optimization, 2nd edition, algorithms 3.5 and 3.6, and equation 3.59 for the
cubic. The safeguards (how far to reach out, when a trial is too close to the end of the bracket) are those of
Schmidt's minFunc, which PyTorch has too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

DECREASE, CURVATURE = 1e-4, 0.9
MAX_TRIALS = 25


class Trial(NamedTuple):
    """What is known at a step length: the value, the gradient, the slope along the direction."""

    length: float
    value: float
    gradient: Any
    slope: float


def search(
    at: Callable[[float], Trial],
    start: Trial,
    length: float,
    direction_size: float,
    most: int = MAX_TRIALS,
    tolerance: float = 1e-9,
) -> tuple[Trial, int]:
    """The chosen trial, and how many were made. `start` is the trial of length 0, `length` the first to try.

    After the first there are at most `most` others.

    `direction_size` is the largest element of the direction: the search ends when the bracket moves no
    element by more than `tolerance`.
    """
    bracket, count = _bracketed(at, start, length, most)
    return (
        (bracket[0], count)
        if len(bracket) == 1
        else _zoomed(at, start, bracket, count, most, direction_size / tolerance)
    )


def _too_high(trial: Trial, start: Trial) -> bool:
    return trial.value > start.value + DECREASE * trial.length * start.slope


def _flat(trial: Trial, start: Trial) -> bool:
    return abs(trial.slope) <= -CURVATURE * start.slope


def _bracketed(
    at: Callable[[float], Trial], start: Trial, length: float, most: int
) -> tuple[list[Trial], int]:
    """One trial that is good already, or two that have a good one between them."""
    before, now = start, at(length)
    for count in range(1, most + 1):
        if _too_high(now, start) or (count > 2 and now.value >= before.value):
            return [before, now], count
        if _flat(now, start):
            return [now], count
        if now.slope >= 0:
            return [before, now], count
        nearest, farthest = now.length + 0.01 * (now.length - before.length), now.length * 10
        before, now = now, at(cubic_minimum(before, now, nearest, farthest))
    return [start, now], most + 1


def _zoomed(
    at: Callable[[float], Trial], start: Trial, bracket: list[Trial], count: int, most: int, scale: float
) -> tuple[Trial, int]:
    """The best trial, after shrinking the bracket around it, while its length times `scale` is at least 1."""
    low, high = sorted(bracket, key=_value)
    stalled = False
    while count <= most and abs(high.length - low.length) * scale >= 1:
        first, last = sorted((low.length, high.length))
        length, stalled = _safeguarded(cubic_minimum(low, high, first, last), first, last, stalled)
        now = at(length)
        count += 1
        if _too_high(now, start) or now.value >= low.value:
            low, high = sorted((low, now), key=_value)
        elif _flat(now, start):
            return now, count
        else:
            high = low if now.slope * (high.length - low.length) >= 0 else high
            low = now
    return low, count


def _value(trial: Trial) -> float:
    return trial.value


def _safeguarded(length: float, first: float, last: float, stalled: bool) -> tuple[float, bool]:
    """A trial very near to an end of the bracket is allowed once; the second time it is moved inwards."""
    margin = 0.1 * (last - first)
    if min(last - length, length - first) >= margin:
        return length, False
    if not stalled and first < length < last:
        return length, True
    return (last - margin if abs(length - last) < abs(length - first) else first + margin), False


def cubic_minimum(one: Trial, other: Trial, lowest: float, highest: float) -> float:
    """Where the cubic with these values and slopes is least in [lowest, highest]; the middle if nowhere."""
    x, y = sorted((one, other), key=lambda trial: trial.length)
    if x.length == y.length:
        return (lowest + highest) / 2
    mean = x.slope + y.slope - 3 * (x.value - y.value) / (x.length - y.length)
    square = mean**2 - x.slope * y.slope
    scale = y.slope - x.slope + 2 * np.sqrt(square) if square >= 0 else 0
    if not scale:
        return (lowest + highest) / 2
    minimum = y.length - (y.length - x.length) * (y.slope + np.sqrt(square) - mean) / scale
    return float(min(max(minimum, lowest), highest))
