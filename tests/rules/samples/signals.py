"""Samples of signals.py."""

import numpy as np

from tests.rules.samples import A, C, S

GRID, HEIGHTS = np.array([0.0, 1.0, 2.5, 3.0]), np.array([1.0, -1.0, 4.0, 2.0])
POINTS = np.array([[-1.0, 0.3, 2.7], [1.4, 2.9, 4.0]])

SAMPLES = [
    *(
        S(f, A(n), A(m), mode)
        for f in (np.convolve, np.correlate)
        for n, m, mode in [
            (5, 3, "full"),
            (5, 2, "same"),
            (2, 5, "same"),
            (3, 4, "same"),
            (2, 5, "valid"),
            (4, 4, "valid"),
        ]
    ),
    S(np.convolve, C(3), C(2)),
    S(np.convolve, A(), A(3)),
    S(np.correlate, C(4), C(2)),
    S(np.interp, POINTS, GRID, HEIGHTS).but(wrt=(0,)),
    S(np.interp, POINTS, GRID, HEIGHTS, left=A(), right=A()).but(wrt=(0, 2, "left", "right")),
    S(np.interp, POINTS, GRID, HEIGHTS).but(vmap=False),
    S(np.interp, POINTS, GRID, HEIGHTS * (1 + 1j)).but(wrt=(0, 2)),
    S(np.interp, POINTS, GRID * 1.1 + 5, HEIGHTS, period=4.31).but(wrt=(0, 1, 2, "period"), vmap=False),
    S(np.interp, POINTS, GRID[:1] + 0.1, HEIGHTS[:1]),
    S(np.unwrap, A(2, 5, low=0, high=12)),
    S(np.unwrap, A(5, 2, low=0, high=12), axis=0, discont=4.0),
    S(np.unwrap, A(6, low=0, high=12), period=3.0).but(wrt=(0, "period"), vmap=False),
]
