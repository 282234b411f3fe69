"""Elementwise functions are right over their whole domain: orders 1 to 3, both modes, against mpmath's digits.

The truths were written by `generate.py`. A derivative may be off by the tolerance and by what one rounding of
its operand does to it: next to a zero of the derivative no formula in double precision keeps more.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from funcgrad import grad, jvp
from tests.grouping import in_groups
from tests.rules.domain.functions import FUNCTIONS

TRUTHS = json.loads(Path(__file__).with_name("truths.json").read_text())
TOLERANCES = {1: 1e-12, 2: 1e-11, 3: 1e-10}
SMALLEST = 1e-307  # below it doubles lose digits
EPS = np.finfo(float).eps

# What is known to be off, and at how many derivatives: overflow on the way, or SciPy's own value.
# A count that shrinks fails, too, so that this list stays true.
STILL_OFF = {
    "reverse hypot(x, 1e-160)": 6,  # -inf for 1e180 and its like, subnormal x, third order
    "reverse zeta": 6,  # NaN for 0 beyond 1e150
    "forward zeta": 6,
    "reverse beta(x, 2)": 2,  # 2e-10 at 1e5: differences of logarithms of gamma
    "forward beta(x, 2)": 2,
    "reverse ellipe": 1,  # 0 for 2.5e-226 at -1e150
    "forward ellipe": 1,
    "reverse elliprc(x, 1)": 2,  # -inf for 1e161 at subnormal x
    "forward elliprc(x, 1)": 2,
}


def reverse(f: Callable[..., Any]) -> Callable[..., Any]:
    return grad(lambda x: np.sum(f(x)))


def forward(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: jvp(f, (x,), (np.ones_like(x),))[1]


def wrong_points(name: str, mode: Callable[..., Any]) -> tuple[list[str], int]:
    """The points where a derivative is off, and how many were asked."""
    rows = np.array(TRUTHS[name], dtype=float)  # x and four derivatives; NaN where there is no truth
    points, out, asked, f = rows[:, 0], [], 0, FUNCTIONS[name].run
    for n, tolerance in TOLERANCES.items():
        f = mode(f)
        exact, with_next = rows[:, n], np.nan_to_num(abs(rows[:, n + 1] * points))
        room = tolerance * abs(exact) + 8 * EPS * with_next + SMALLEST
        with np.errstate(all="ignore"):
            came = f(points)
            off = ~np.isnan(exact) & ~(abs(came - exact) <= room)
        asked += int(np.sum(~np.isnan(exact)))
        out += [
            f"order {n} at {x!r}: {y!r} is not {z!r}" for x, y, z in zip(points[off], came[off], exact[off])
        ]
    return out, asked


@in_groups({f"{mode.__name__} {name}": (name, mode) for name, mode in product(TRUTHS, (reverse, forward))})
def test_derivatives_are_right_over_the_whole_domain(case: tuple[str, Callable[..., Any]]) -> None:
    wrong, asked = wrong_points(*case)
    assert asked
    if len(wrong) != STILL_OFF.get(f"{case[1].__name__} {case[0]}", 0):
        pytest.fail("\n".join(wrong))
