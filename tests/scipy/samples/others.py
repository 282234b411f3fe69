"""Samples of scipy.cluster, scipy.differentiate and scipy.constants."""

import numpy as np

from funcgrad.scipy import cluster, constants, differentiate
from tests.rules.samples import A, S

vq, hierarchy = cluster.vq, cluster.hierarchy
POINTS = np.array([[0.0, 0.2], [0.3, -0.1], [3.0, 2.8], [3.3, 3.1], [6.0, 0.4], [6.5, 0.1]]) + 0.05 * A(6, 2)
GUESS = np.array([[0.0, 0.0], [3.0, 3.0], [6.0, 0.0]])


def of(label, function, *args, order=2, tol=1e-6):
    return S(function, *args).but(label=label, order=order, tol=tol, vmap=False, float32=False)


SAMPLES = [
    S(vq.whiten, POINTS), of("vq", lambda x, c: vq.vq(x, c)[1], POINTS, GUESS + 0.1), of("kmeans2", lambda x: vq.kmeans2(x, GUESS, minit="matrix")[0], POINTS),
    of("kmeans", lambda x: vq.kmeans(x, GUESS), POINTS),
    *[of(f"linkage by {name}", lambda x, name=name: hierarchy.linkage(x, name)[:, 2], POINTS) for name in ("single", "complete", "average", "weighted", "centroid", "median", "ward")],
    of("cophenet", lambda x: hierarchy.cophenet(hierarchy.linkage(x, "average")), POINTS),
    of("derivative", lambda x, a: differentiate.derivative(lambda x, a: np.exp(a * x), x, args=(a,)).df, A(2), 0.7, tol=1e-5),
    of("jacobian", lambda x: differentiate.jacobian(lambda x: x[::-1] * x**2, x).df, A(2), tol=1e-5),
    of("hessian", lambda x: differentiate.hessian(lambda x: x[0] ** 2 * np.sin(x[1]), x).ddf, A(2), order=1, tol=1e-4),
    S(constants.convert_temperature, A(3) + 300, "Kelvin", "Fahrenheit"), S(constants.lambda2nu, A(3) + 2), S(constants.nu2lambda, A(3) + 2),
]  # fmt: skip
