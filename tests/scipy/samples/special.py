"""Samples of the functions of scipy.special that are no ufuncs."""

import numpy as np

from funcgrad.scipy import special as ours
from tests.rules.samples import A, C, S
from tests.scipy.samples import Present

special = Present(ours)

X, P = A(3, 4), A(3, low=0.5, high=3)
SPHERICAL = [getattr(special, f"spherical_{kind}") for kind in ("jn", "yn", "in", "kn")]


def of(label, function, *args):
    return S(function, *args).but(label=label)


SAMPLES = [
    S(special.logsumexp, X), S(special.logsumexp, X, axis=1, keepdims=True), S(special.logsumexp, C(3, 4), axis=0),
    S(special.logsumexp, X, 0, abs(A(3, 4)) + 0.5).but(wrt=(0, 2)),
    of("of a weight of 0", lambda x, b: special.logsumexp(x, b=b), A(3), np.array([1.0, 0.0, 2.0])).but(order=1),
    of("of differences", lambda x, b: special.logsumexp(x, b=b, return_sign=True), X, A(3, 4) - 2),
    S(special.softmax, X, axis=1), S(special.log_softmax, X), S(special.softplus, X),
    S(special.multigammaln, 2 + P, 3).but(wrt=(0,)), S(special.factorial, P), S(special.comb, 3 + P, P), S(special.perm, 3 + P, P),
    S(special.polygamma, 1, P), S(special.zeta, 1.5 + P, P), S(special.lambertw, P), S(special.diric, P, 3).but(wrt=(0,)),
    *[S(f, 2, P) for f in SPHERICAL], *[S(f, 0, P) for f in SPHERICAL], *[S(f, 1, P, True) for f in SPHERICAL],
    *[S(getattr(special, name), 1, P, 2).but(wrt=(1,)) for name in ("jvp", "yvp", "ivp", "kvp")],
    S(special.h1vp, 1, P), S(special.assoc_laguerre, P, 3, 0.5 + P),
    S(special.legendre_p, 3, A(3)).but(wrt=(1,)), S(special.sph_legendre_p, 3, -1, P).but(wrt=(2,)),
    of("two derivatives", lambda x: special.assoc_legendre_p(3, 2, x, norm=True, diff_n=2), 0.9 * A(3)),
    of("all", lambda x: special.sph_legendre_p_all(2, 1, x), P), of("all of degree 3", lambda x: special.legendre_p_all(3, x), A(2)),
    of("harmonics", lambda t, p: special.sph_harm_y(3, 2, t, p), P, P[::-1].copy()),
    S(special.ellip_normal, 1.3, 3.1, 1, 2).but(wrt=(0, 1)),
]  # fmt: skip
