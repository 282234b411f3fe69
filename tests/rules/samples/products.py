"""Samples of products.py."""

import numpy as np

from tests.rules.samples import A, C, S

MASK = np.array([[True, False, True], [False, True, True]])
ZEROS = np.array([[1.0, 0.0, 2.0, 0.5], [3.0, -1.0, 2.0, 1.5], [0.0, 2.0, 0.0, 1.0]])

SAMPLES = [
    S(np.prod, A(2, 3)),
    S(np.prod, A(2, 3), axis=-1),
    S(np.prod, A(2, 3, 2), axis=(-1, 0), keepdims=True),
    S(np.prod, A(2, 3), axis=()),
    S(np.prod, A()),
    S(np.prod, A(0, 3), axis=0),
    S(np.prod, A(1), initial=2.0),
    S(np.prod, A(2, 3), axis=1, where=MASK),
    S(np.prod, A(2, 3), axis=0, where=MASK, initial=1.5).but(wrt=(0, "initial")),
    S(np.prod, A(3), initial=A(low=1, high=2)).but(wrt=(0, "initial")),
    S(np.prod, C(2, 3), axis=0),
    S(np.prod, A(3), dtype=np.complex128),
    S(np.prod, ZEROS),
    S(np.prod, ZEROS, axis=1),
    S(np.prod, ZEROS, axis=-2, keepdims=True),
    S(np.prod, ZEROS + 0j, axis=1),
    S(np.multiply.reduce, A(2, 3), axis=1).but(covers=np.prod),
    S(np.cumprod, A(2, 3)),
    S(np.cumprod, A(2, 3), axis=-2),
    S(np.cumprod, C(4)),
    S(np.cumprod, A()),
    S(np.cumprod, A(0)),
    S(np.cumprod, ZEROS),
    S(np.cumprod, ZEROS, axis=-1),
    S(np.cumprod, ZEROS + 0j, axis=0),
    S(np.multiply.accumulate, A(2, 3), axis=1).but(covers=np.cumprod),
]
if hasattr(np, "cumulative_prod"):
    SAMPLES += [
        S(np.cumulative_prod, A(3)),
        S(np.cumulative_prod, ZEROS, axis=-1, include_initial=True),
    ]
