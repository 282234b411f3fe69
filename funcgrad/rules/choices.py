"""Elementwise choices: where, maximum, minimum, clip, select, piecewise, choose. What is not taken contributes zeros by structure.

A choice between equal operands (a tie) splits evenly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy._core import umath

from funcgrad.core.declare import composite, elementwise, selection
from funcgrad.core.trace import Tracer


def _taken(condition: Any) -> Any:
    return condition if getattr(condition, "dtype", None) == bool else np.not_equal(condition, 0)


selection(np.where, None, _taken, lambda condition: np.logical_not(condition), operands="condition x y")


def _share(taken: Any, ties: Any) -> Any:
    """The weight of an operand: 1 where it is taken, 1/2 at a tie. Booleans, if there is no tie: they are faster."""
    if isinstance(ties, Tracer) or ties.any():
        return np.where(ties, 0.5, taken)
    return taken


# `out != y` rather than `x > y`: an operand that is NaN, and makes the result NaN, has its share in it.
for _function in (np.maximum, np.minimum):
    selection(
        _function,
        lambda x, y, out: _share(np.not_equal(out, y), np.equal(x, y)),
        lambda x, y, out: _share(np.not_equal(out, x), np.equal(x, y)),
    )
for _function in (np.fmax, np.fmin):
    selection(
        _function,
        lambda x, y, out: _share(np.equal(out, x), np.equal(x, y)),
        lambda x, y, out: _share(np.equal(out, y), np.equal(x, y)),
    )


# umath.clip is min(max(x, y), z), also where the bounds cross. ndarray.clip calls it.
def _inside(x, y, z):
    ties = np.logical_or(np.equal(x, y), np.equal(x, z))
    if isinstance(ties, Tracer) or ties.any():
        return _above(x, y) * _above(z, np.maximum(x, y))
    return np.logical_and(np.greater(x, y), np.less(x, z))


def _above(x, y):
    return _share(np.greater(x, y), np.equal(x, y))


selection(
    umath.clip,
    _inside,
    lambda x, y, z: _above(y, x) * _above(z, np.maximum(x, y)),
    lambda x, y, z: _above(np.maximum(x, y), z),
)
_ABSENT: Any = np._NoValue


def _clip(a, a_min=_ABSENT, a_max=_ABSENT, out=None, *, min=_ABSENT, max=_ABSENT, **kwargs):
    if a_min is _ABSENT and a_max is _ABSENT:
        a_min, a_max = min, max
    low, high = (None if bound is _ABSENT else bound for bound in (a_min, a_max))
    if out is not None:
        kwargs["out"] = out
    if low is None and high is None:
        return np.positive(a, **kwargs)
    if low is None:
        return np.minimum(a, high, **kwargs)
    return np.maximum(a, low, **kwargs) if high is None else umath.clip(a, low, high, **kwargs)


composite(np.clip, _clip)

elementwise(np.absolute, lambda x: np.sign(x))
elementwise(np.fabs, lambda x: np.sign(x))
elementwise(np.copysign, lambda x, y: np.sign(x) * np.copysign(1.0, y), None)
selection(np.heaviside, None, lambda x: np.equal(x, 0))


def _select(condlist, choicelist, default=0):
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    out = default
    for condition, choice in zip(condlist[::-1], choicelist[::-1]):
        out = np.where(condition, choice, out)
    return out


composite(np.select, _select)
