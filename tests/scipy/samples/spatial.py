"""Samples of scipy.spatial."""

import numpy as np

from funcgrad.scipy import spatial
from tests.rules.samples import A, S
from tests.scipy.samples import since

distance, transform = spatial.distance, spatial.transform
Rotation = transform.Rotation
U, V, W = A(4, low=0.5, high=2), A(4, low=0.5, high=2), np.array([0.5, 1.0, 2.0, 0.7])
X, Y = A(3, 4, low=0.5, high=2), A(2, 4, low=0.5, high=2)
VI = np.diag(W) + 0.1
TURNS = A(3, 3)
R, Q = A(3, low=0.2, high=1), A(4, low=0.3, high=1)
POINTS = np.array([[0.0, 0.1], [2.0, 0.0], [2.2, 1.9], [0.1, 2.0], [1.0, 1.1], [0.4, 0.7]]) + 0.05 * A(6, 2)


def of(label, function, *args):
    return S(function, *args).but(label=label)


def turned(label, function, *args):
    return since("1.17", of(label, function, *args).but(tol=3e-6))


T, F = np.array([1.0, 0.0, 1.0, 1.0, 0.0]), np.array([1.0, 1.0, 0.0, 1.0, 0.0])

SAMPLES = [
    *(
        S(getattr(distance, name), A(5, low=0.2, high=0.8), A(5, low=0.2, high=0.8)[::-1], A(5, low=0.5, high=1))
        for name in ("dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
    ),
    *(
        S(getattr(distance, name), T, F, A(5, low=0.5, high=1)).but(wrt=(2,), float32=False)
        for name in ("hamming", "jaccard", "dice", "yule")
    ),
    *[S(getattr(distance, name), U, V) for name in ["euclidean", "sqeuclidean", "cityblock", "chebyshev", "canberra", "braycurtis"]],
    *[S(getattr(distance, name), U, V, w=W) for name in ["euclidean", "cosine", "correlation", "minkowski", "canberra"]],
    S(distance.cosine, U, V), S(distance.correlation, U, V), S(distance.minkowski, U, V, 3).but(wrt=(0, 1)),
    S(distance.seuclidean, U, V, W), S(distance.mahalanobis, U, V, VI), S(distance.jensenshannon, U, V),
    S(distance.jensenshannon, X, X[::-1] ** 2, 2.0, axis=1).but(wrt=(0, 1)),
    *[S(distance.cdist, X, Y, name) for name in ["euclidean", "canberra", "correlation", "jensenshannon", "mahalanobis", "seuclidean"]
      if name != "mahalanobis"],
    S(distance.cdist, A(6, 2), A(3, 2), "mahalanobis"), S(distance.cdist, X, Y, "minkowski", p=1.5), S(distance.cdist, X, Y, VI=VI, metric="mahalanobis"),
    S(distance.pdist, X), S(distance.pdist, A(6, 2), "mahalanobis"), S(distance.pdist, X, "chebyshev"),
    S(distance.squareform, A(6)), S(distance.squareform, A(4, 4), checks=False),
    S(distance.directed_hausdorff, X, Y).but(vmap=False),
    S(spatial.distance_matrix, X, Y), S(spatial.minkowski_distance, X, X[::-1] + 1, 3).but(wrt=(0, 1)), S(spatial.minkowski_distance_p, X, 2 * X),
    S(spatial.procrustes, A(5, 2), A(5, 2)).but(tol=3e-6),
    S(lambda a, b, t: spatial.geometric_slerp(a / (a @ a) ** 0.5, b / (b @ b) ** 0.5, t), A(3), A(3), np.array([0.2, 0.7])).but(label="slerp", vmap=False, float32=False),
    of("KDTree.query", lambda x, q: spatial.KDTree(x).query(q, k=2)[0], POINTS, A(3, 2)).but(vmap=False),
    of("hull volume", lambda x: spatial.ConvexHull(x).volume, POINTS).but(vmap=False),
    of("hull area", lambda x: spatial.ConvexHull(x).area, POINTS).but(vmap=False),
    turned("from_quat", lambda q: Rotation.from_quat(q).as_matrix(), Q),
    turned("as_quat", lambda q: Rotation.from_quat(q).as_quat(canonical=True), Q),
    turned("from_matrix", lambda r: Rotation.from_matrix(Rotation.from_rotvec(r).as_matrix()).as_rotvec(), R),
    turned("from_euler", lambda r: Rotation.from_euler("xyz", r, degrees=False).as_matrix(), R),
    turned("as_euler", lambda r: Rotation.from_rotvec(r).as_euler("ZXZ"), R),
    turned("apply", lambda r, x: Rotation.from_rotvec(r).apply(x), R, A(4, 3)),
    turned("apply a plain one", lambda x: Rotation.from_rotvec(np.array([0.1, 0.4, 0.3])).apply(x, inverse=True), A(3)),
    turned("product", lambda r, s: (Rotation.from_rotvec(r) * Rotation.from_mrp(s)).inv().as_mrp(), R, A(3, low=0.1, high=0.3)),
    turned("power", lambda r: (Rotation.from_rotvec(r) ** 0.3).magnitude(), R),
    turned("mean", lambda r: Rotation.from_rotvec(r).mean().as_matrix(), A(4, 3)),
    turned("align_vectors", lambda a, b: Rotation.align_vectors(a, b)[0].as_matrix(), A(4, 3), A(4, 3)),
    turned("small angles", lambda r: Rotation.from_rotvec(r).as_rotvec(), 1e-5 * A(3)),
    turned(
        "RotationSpline of plain rotations",
        lambda t: transform.RotationSpline([0, 1, 2.5], Rotation.from_rotvec(TURNS))(t).as_matrix(),
        np.array([0.3, 1.4]),
    ).but(vmap=False),
    turned("Slerp", lambda r, t: transform.Slerp([0, 1, 2], Rotation.from_rotvec(r))(t).as_rotvec(), A(3, 3), np.array([0.3, 1.4])).but(vmap=False),
]  # fmt: skip
