"""Samples of sets.py."""

import numpy as np

from tests.rules.samples import A, S

# Numbers that occur once and twice, in a shape that is differentiated as a function of few numbers.
repeated = np.array([0, 2, 1, 2, 0])
SAMPLES = [
    S(np.unique, A(4)).but(vmap=False),
    S(np.unique, A(2, 3), return_index=True, return_inverse=True, return_counts=True).but(vmap=False),
    S(np.unique, A(3, 2), axis=0).but(vmap=False),
    S(lambda x: np.unique(x[repeated]), A(3)).but(covers=np.unique, label="repeated", vmap=False),
    S(lambda x: np.unique_all(x[repeated]), A(3)).but(covers=np.unique_all, vmap=False),
    S(lambda x: np.unique_counts(x[repeated]), A(3)).but(covers=np.unique_counts, vmap=False),
    S(lambda x: np.unique_inverse(x[repeated]), A(3)).but(covers=np.unique_inverse, vmap=False),
    S(np.unique_all, A(2, 2)).but(vmap=False),
    S(lambda x: np.unique_values(x[repeated]), A(3)).but(covers=np.unique_values, vmap=False),
    S(lambda x, y: np.union1d(x, np.append(y, x[:2])), A(3), A(2, 2, low=2, high=3)).but(
        covers=np.union1d, vmap=False
    ),
    S(lambda x, y: np.setxor1d(x, np.append(y, x[:2])), A(3), A(2, low=2, high=3)).but(
        covers=np.setxor1d, vmap=False
    ),
    S(lambda x: np.intersect1d(x, x[::-2], return_indices=True), A(4)).but(covers=np.intersect1d, vmap=False),
    S(np.setdiff1d, A(4), np.array([0.1, 0.2])).but(wrt=(0,), vmap=False),
]
