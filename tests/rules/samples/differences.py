"""Samples of differences.py."""

import numpy as np

from tests.rules.samples import A, C, S

POINTS = np.array([0.0, 1.0, 2.5, 3.0, 4.5])

SAMPLES = [
    S(np.diff, A(4)),
    S(np.diff, A(2, 4), n=2),
    S(np.diff, A(4, 2), axis=-2, prepend=0.5, append=A(1, 2)).but(wrt=(0, "append")),
    S(np.diff, A(3), 1, -1, A(), A(2)),
    S(np.diff, C(3)),
    S(np.diff, A(3), n=0),
    S(np.diff, A(1)),
    S(np.ediff1d, A(2, 3)),
    S(np.ediff1d, A(3), A(2), 1.5),
    S(np.ediff1d, A(3), to_begin=A()).but(wrt=(0, "to_begin")),
    S(np.trapezoid, A(4)),
    S(np.trapezoid, A(2, 4), dx=0.5),
    S(np.trapezoid, A(4, 2), dx=A(), axis=0).but(wrt=(0, "dx")),
    S(np.trapezoid, A(2, 4), A(4)),
    S(np.trapezoid, A(4, 2), x=A(4, 2), axis=0).but(wrt=(0, "x")),
    S(np.trapezoid, C(3), A(3)),
    S(np.gradient, A(4)),
    S(np.gradient, A(4), 0.5),
    S(np.gradient, A(4), edge_order=2),
    S(np.gradient, A(3, 4), 0.5, 2.0, edge_order=2),
    S(np.gradient, A(3, 4), axis=-1),
    S(np.gradient, A(3, 4), A(low=1, high=2), axis=(1, 0)),
    S(np.gradient, A(5), POINTS).but(vmap=False),
    S(np.gradient, A(5), POINTS, edge_order=2).but(vmap=False),
    S(np.gradient, A(3, 5), 0.5, POINTS, edge_order=2).but(vmap=False),
    S(np.gradient, C(4), 0.5),
    S(np.gradient, [1, 4, 9, 2], A(low=1, high=2)),
]
