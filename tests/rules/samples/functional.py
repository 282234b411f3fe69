"""Samples of functional.py."""

import numpy as np

from tests.rules.samples import A, S

SAMPLES = [
    S(np.apply_along_axis, lambda row: row * row.sum(), 1, A(2, 3)),
    S(np.apply_along_axis, lambda row: np.sum(row**2), -1, A(2, 3)),
    S(np.apply_along_axis, lambda row, factor: np.outer(row, row) * factor, 0, A(2, 3), 2.0).but(wrt=(2,)),
    S(np.apply_over_axes, np.sum, A(2, 3, 2), [0, -1]),
    S(np.apply_over_axes, lambda a, axis: np.cumsum(a, axis) ** 2, A(2, 3), 1),
]
