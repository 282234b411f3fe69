"""Samples of statistics.py."""

import numpy as np

from tests.rules.samples import A, C, S

VALUES = np.array([0.3, -0.8, 1.2, 0.1, -0.2, 1.9])
PLANE = np.stack([VALUES, np.roll(VALUES, 2)], axis=1)
counts = lambda *args, **kwargs: np.histogram(*args, **kwargs)[0]

SAMPLES = [
    S(np.cov, A(3, 4)),
    S(np.cov, A(4)),
    S(np.cov, A(4, 3), rowvar=False, bias=True),
    S(np.cov, A(2, 4), A(4), ddof=0),
    S(np.cov, C(2, 4)),
    S(np.cov, A(2, 4), fweights=np.array([1, 2, 1, 3])),
    S(np.cov, A(2, 4), None, True, False, None, np.array([1, 2, 1, 3]), A(4, low=0.5, high=1)),
    S(np.cov, A(2, 4), aweights=A(4, low=0.5, high=1), ddof=0).but(wrt=(0, "aweights")),
    S(np.corrcoef, A(3, 5)),
    S(np.corrcoef, A(5), A(5)),
    S(np.corrcoef, A(5, 2), rowvar=False),
    S(np.corrcoef, C(2, 5)),
    S(np.corrcoef, A(4)),
    S(np.bincount, np.array([0, 2, 2, 4]), A(4)),
    S(np.bincount, np.array([0, 2, 2, 4]), A(4), minlength=7),
    S(np.bincount, np.array([3, 0, 1]), weights=A(3)).but(wrt=("weights",), vmap_also=(0,)),
    S(np.histogram, A(6), 4),
    S(np.histogram, A(6), 4, density=True),
    S(np.histogram, VALUES, 3, None, True, A(6, low=0.5, high=1)).but(wrt=(4,)),
    S(np.histogram, VALUES, 3, (-1.0, 1.5), False, A(6)).but(wrt=(4,)),
    S(np.histogram, VALUES, np.array([-1.0, 0.0, 0.6, 2.0]), density=True).but(wrt=(1,)),
    S(np.histogram, A(8), "sturges").but(vmap=False),
    S(counts, VALUES, 3, weights=C(6)).but(wrt=("weights",), covers=np.histogram, label="complex"),
    S(np.histogram_bin_edges, A(6), 4),
    S(np.histogram2d, A(6), A(6), [2, 3], None, True),
    S(np.histogram2d, *PLANE.T, 2, None, None, A(6)).but(wrt=(5,)),
    S(np.histogramdd, A(6, 2), (2, 3), density=True),
    S(np.histogramdd, PLANE, 2, [(-1.0, 1.0), (-0.5, 2.0)], True, A(6, low=0.5, high=1)).but(wrt=(4,)),
]
