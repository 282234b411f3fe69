"""Functions of our own in their shortest form: for sources that people read, and for other engines.

The originals (rules/slopes.py) give the same numbers, but take the usual case by a shorter way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.rules import slopes


def tanh_slope(x, y):
    """The slope of y = tanh(x): 1 - y*y, and where that loses digits 1 / cosh(x)**2."""
    out = 1 - y * y
    e = np.exp(np.where(x.real < 0, 2, -2) * x)
    return np.where(abs(out) < 1e-3, 4 * e / ((1 + e) * (1 + e)), out)


def logistic(x):
    """1 / (1 + exp(-x)), from the smaller of two exponentials."""
    e = np.exp(-abs(x))
    return np.where(x < 0, e, 1) / (1 + e)


def gap(x, y):
    """x - y, and 0 between equal infinities."""
    return np.where(x == y, 0, x - y)


def repaired(out, bad, formula, *operands):
    """`out`, with formula(*operands) in the places `bad`."""
    with np.errstate(all="ignore"):
        return np.where(bad, formula(*operands), out)


PORTABLE: dict[Any, Any] = {
    vars(slopes)["_tanh_slope"]: tanh_slope,
    slopes.tanh_slope: tanh_slope,
    vars(slopes)["_logistic"]: logistic,
    vars(slopes)["_gap"]: gap,
    slopes.repaired: repaired,
}
