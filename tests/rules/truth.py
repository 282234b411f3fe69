"""True derivatives: central differences in numbers of 600 digits, where even tiny steps lose nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from mpmath import binomial, mpf, workdps

DIGITS = 600


def derivative(
    function: Callable[..., Any], point: Sequence[float], orders: Sequence[int], digits: int = DIGITS
) -> Any:
    """The mixed derivative of `function` (of mpmath numbers) at `point`, of these orders per argument."""
    with workdps(digits):
        center = [mpf(x) for x in point]
        steps = [mpf(10) ** -25 * (abs(x) or 1) for x in center]
        total = mpf(0)
        for corner in product(*(range(n + 1) for n in orders)):
            sign = (-1) ** (sum(orders) - sum(corner))
            weight = sign * mpf(1)
            for n, i in zip(orders, corner):
                weight *= binomial(n, i)
            moved = [x + (i - mpf(n) / 2) * h for x, i, n, h in zip(center, corner, orders, steps)]
            total += weight * function(*moved)
        for n, h in zip(orders, steps):
            total /= h**n
        return +total


def relative_error(came: Any, truth: Any) -> float:
    """How far `came` is from the truth, relative to the truth."""
    with workdps(DIGITS):
        return float(abs(mpf(float(came)) - truth) / abs(truth)) if truth else float(abs(came))
