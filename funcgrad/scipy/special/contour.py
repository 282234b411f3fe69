"""Derivatives of an analytic function from its values on a circle, by Cauchy's formula.

Where a recurrence between derivatives cancels, this does not: the values on a circle whose radius is in
proportion to the distance over which the function changes have an average of the size of the derivative
itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np


def by_contour(function: Callable[[Any], Any], x: Any, radius: Any, n: int, points: int = 40) -> Any:
    """The n-th derivative at x of an analytic function, from its values at `points` places around x.

    The trapezoidal rule errs by the Taylor coefficient of order n + points, which for a function whose
    derivatives grow like those of 1/x, and a radius of |x|/3, is 3**-points of the result.
    """
    total: Any = 0.0
    for k in range(points):
        turn = np.exp(2j * math.pi * k / points)
        total = total + function(x + radius * turn) / turn**n
    return math.factorial(n) / radius**n * total / points
