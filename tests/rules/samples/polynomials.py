"""Samples of polynomials.py."""

import numpy as np

from tests.rules.samples import A, C, S, spd

POINTS = np.array([0.0, 1.0, 2.5, 3.0, 4.5])

SAMPLES = [
    S(np.polyval, A(4), A(2, 3)),
    S(np.polyval, [1.0, 2.0, 3.0], A()).but(wrt=(1,)),
    S(np.polyval, C(3), C(2)),
    S(np.polyval, np.poly1d([1.0, -2.0, 0.5]), A(3)).but(wrt=(1,)),
    S(np.vander, A(3)),
    S(np.vander, A(3), 4, increasing=True),
    S(np.vander, A(3), N=1),
    S(np.polyadd, A(2), A(4)),
    S(np.polysub, A(4), A(2)),
    S(np.polymul, A(2), A(4)),
    S(np.polymul, [0.0, 0.0, 2.0], A(3)).but(wrt=(1,)),
    S(np.polydiv, A(5), A(2, low=1, high=2)).but(float32=False),  # rounding decides how long the rest is
    S(np.polydiv, A(2), A(3)),
    S(np.polyder, A(5)),
    S(np.polyder, A(5), 2),
    S(np.polyint, A(3)),
    S(np.polyint, A(3), 2, k=A(2)).but(wrt=(0, "k")),
    S(np.polyint, A(3), 2, k=A()).but(wrt=(0, "k")),
    S(np.poly, A(4)),
    S(np.poly, C(3)),
    S(np.poly, spd(3)).but(tol=1e-5, vmap=False),
    S(np.roots, np.array([1.0, -6.0, 11.0, -6.2])).but(float32=False, vmap=False),
    S(lambda p: np.sort(np.roots(p)), np.array([1.0, 0.3, 1.0, 0.4])).but(
        covers=np.roots, label="complex", float32=False, vmap=False
    ),
    S(np.polyfit, POINTS, A(5), 2).but(float32=False, vmap=False),
    S(np.polyfit, POINTS, A(5, 2), 1, w=A(5, low=0.5, high=1)).but(
        wrt=(0, 1, "w"), float32=False, vmap=False
    ),
    S(np.polyfit, POINTS, A(5), 1, cov=True).but(float32=False, vmap=False),
    S(np.polyfit, POINTS, A(5), 1, cov="unscaled").but(float32=False, vmap=False),
]
