"""Samples of reductions.py."""

import numpy as np

from tests.rules.samples import A, C, S

MASK = np.array([[True, False, True], [False, True, True]])

SAMPLES = [
    *(
        sample
        for f in (np.sum, np.mean, np.var, np.std, np.max, np.min)
        for sample in (
            S(f, A(2, 3)),
            S(f, A(2, 3), axis=-1),
            S(f, A(2, 3, 2), axis=(-1, 0), keepdims=True),
            S(f, A(2, 3), axis=()) if f not in (np.std, np.var) else S(f, A(3, 2), axis=(0,)),
            S(f, C(2, 3), axis=0) if f not in (np.max, np.min) else S(f, A(4), keepdims=True),
        )
    ),
    S(np.sum, A()),
    S(np.sum, A(0, 3), axis=0),
    S(np.sum, A(2, 3), axis=1, where=MASK),
    S(np.sum, A(2, 3), 1, initial=A()).but(wrt=(0, "initial")),
    S(np.sum, A(2, 3), axis=0, initial=0.5).but(wrt=(0, "initial")),
    S(np.sum, A(3), dtype=np.complex128),
    S(np.add.reduce, A(2, 3), axis=1).but(covers=np.sum),
    S(np.mean, A()),
    S(np.mean, A(2, 3), axis=1, keepdims=True, where=MASK),
    S(np.mean, A(3), dtype=np.float32).but(float32=False, tol=1e-2, modes=("rev",), order=1),
    S(np.max, A()),
    S(np.max, A(2, 3), axis=1, where=MASK, initial=-2.0),
    S(np.max, A(3), initial=A(low=2, high=3)).but(wrt=(0, "initial")),
    S(np.max, A(2, 3), 0, initial=A(low=-0.01, high=0.01)).but(wrt=(0, "initial")),
    S(np.min, A(2, 3), axis=(0, 1), where=MASK, initial=2.0),
    S(np.min, A(0, 3), axis=0, initial=2.0),
    S(np.maximum.reduce, A(2, 3), axis=1).but(covers=np.max),
    S(np.var, A(2, 3), axis=1, ddof=1),
    S(np.var, A(4), correction=1.5),
    S(np.var, A(2, 3), axis=0, where=np.array([[True, True, False], [True, True, True]])),
    S(np.var, A(2, 3), axis=1, mean=A(2, 1)).but(wrt=(0, "mean")),
    S(np.std, A(2, 3), axis=1, ddof=1, keepdims=True),
    S(np.std, A(2, 3), axis=1, where=MASK, ddof=0.5),
    S(np.std, A(2, 3), mean=A(1, 1), where=MASK).but(wrt=(0, "mean")),
    S(np.cumsum, A(2, 3)),
    S(np.cumsum, A(2, 3), axis=-2),
    S(np.cumsum, C(3)),
    S(np.cumsum, A()),
    S(np.cumsum, A(0)),
    S(np.add.accumulate, A(2, 3), axis=1).but(covers=np.cumsum),
    S(np.amax, A(2, 3), axis=1),
    S(np.amin, A(2, 3), axis=1),
    S(np.ptp, A(2, 3)),
    S(np.ptp, A(2, 3), axis=-1, keepdims=True),
    S(np.average, A(2, 3)),
    S(np.average, A(2, 3), axis=-1, returned=True),
    S(np.average, A(2, 3), -1, A(3, low=0.5, high=1)),
    S(np.average, A(2, 3), (0, 1), A(2, 3, low=0.5, high=1), returned=True),
    S(np.average, A(2, 3, 4), axis=(2, 0), weights=A(4, 2, low=0.5, high=1), keepdims=True).but(
        wrt=(0, "weights")
    ),
]
if hasattr(np, "cumulative_sum"):
    SAMPLES += [
        S(np.cumulative_sum, A(3)),
        S(np.cumulative_sum, A(2, 3), axis=-1, include_initial=True),
        S(np.cumulative_sum, A(), include_initial=True),
    ]
