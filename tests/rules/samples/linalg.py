"""Samples of linalg.py, determinants.py, norms.py and decompositions.py.

Vectors of complex matrices, and the last ones of a full basis, are tested through what does not depend on
their gauge.
"""

import numpy as np

from tests.rules.samples import A, C, S, hpd, spd

linalg = np.linalg
inf = np.inf


def free(function):
    """Products of vectors with themselves, free of phases. (`function` returns vectors as columns.)"""

    def of_products(*args):
        products = []
        for v in function(*args):
            weights = np.arange(1.0, 1 + v.shape[-1], dtype=v.real.dtype)
            products.append((v * weights) @ np.swapaxes(v, -1, -2).conj())
        return products

    return of_products


def of_full_svd(a):
    u, _, vh = linalg.svd(a)
    k, v = min(a.shape[-2:]), np.swapaxes(vh, -1, -2).conj()
    return (
        u[..., :k] @ vh[..., :k, :],
        v[..., k:] @ vh[..., k:, :],
        u[..., k:] @ np.swapaxes(u[..., k:], -1, -2).conj(),
    )


def of_complete_qr(a):
    q, r = linalg.qr(a, "complete")
    k = min(a.shape[-2:])
    return q[..., :k], r, q[..., k:] @ np.swapaxes(q[..., k:], -1, -2).conj()


def apart(*shape):
    """Matrices with real eigenvalues, well apart."""
    return np.diag(np.arange(1.0, 1 + shape[-1])) + 0.2 * A(*shape)


TALL, WIDE, SQUARE = A(4, 2) + np.eye(4, 2), A(2, 4) + np.eye(2, 4), spd(3) + 0.3 * A(3, 3)
CTALL, CWIDE, CSQUARE = TALL + 0.5j * A(4, 2), WIDE + 0.5j * A(2, 4), SQUARE + 0.5j * A(3, 3)

SAMPLES = [
    # inverses and systems of equations
    S(linalg.inv, spd(3)),
    S(linalg.inv, CSQUARE),
    S(linalg.inv, spd(2, 2)),
    S(linalg.inv, A(0, 0)),
    S(linalg.pinv, TALL),
    S(linalg.pinv, WIDE),
    S(linalg.pinv, CTALL),
    S(linalg.pinv, spd(2, 2)),
    S(lambda a: linalg.pinv(a + a.T, hermitian=True), SQUARE).but(covers=linalg.pinv, label="hermitian"),
    S(linalg.tensorinv, spd(4).reshape(2, 2, 4), ind=2),
    S(linalg.tensorinv, spd(4).reshape(4, 2, 2), ind=1),
    S(linalg.solve, spd(3), A(3)),
    S(linalg.solve, spd(3), A(3, 2)),
    S(linalg.solve, spd(2, 3), A(2)),
    S(linalg.solve, spd(2, 3), A(2, 2)),
    S(linalg.solve, spd(2), A(3, 2, 1)),
    S(linalg.solve, spd(2, 3, 1), A(2, 2, 2)),
    S(linalg.solve, CSQUARE, A(3)),
    S(linalg.solve, SQUARE, C(3, 2)),
    S(linalg.tensorsolve, spd(4).reshape(2, 2, 4), A(2, 2)),
    S(linalg.tensorsolve, spd(4).reshape(4, 2, 2), A(2, 2), axes=(0,)),
    S(linalg.lstsq, TALL, A(4)),
    S(linalg.lstsq, TALL, A(4, 3)),
    S(linalg.lstsq, WIDE, A(2)),
    S(linalg.lstsq, CTALL, C(4), rcond=1e-10),
    # determinants
    S(linalg.det, A(1, 1)),
    S(linalg.det, A(2, 2)),
    S(linalg.det, SQUARE),
    S(linalg.det, spd(4)),
    S(linalg.det, CSQUARE),
    S(linalg.det, A(2, 5, 5)),
    S(linalg.det, A(0, 0)),
    S(linalg.slogdet, spd(3)),
    S(linalg.slogdet, spd(4, 2)),
    S(linalg.slogdet, CSQUARE),
    # powers and condition
    S(linalg.matrix_power, A(2, 3, 3), 3),
    S(linalg.matrix_power, SQUARE, 5),
    S(linalg.matrix_power, CSQUARE, -2),
    S(linalg.cond, SQUARE),
    S(linalg.cond, TALL, -2),
    S(linalg.cond, spd(3, 2), 1),
    S(linalg.cond, CSQUARE, "fro").but(since="2.3"),  # complex, before
    S(linalg.cond, CTALL),
    # norms
    S(linalg.norm, A(3)),
    S(linalg.norm, A(2, 3, 2)),
    S(linalg.norm, C(2, 3)),
    S(linalg.norm, A(2, 3), axis=-1),
    S(linalg.norm, A(2, 3), keepdims=True),
    S(linalg.norm, C(3, 2), 1, axis=0, keepdims=True),
    S(linalg.norm, A(4), 3),
    S(linalg.norm, C(4), ord=2.5),
    S(linalg.norm, A(2, 4), axis=-1, ord=inf),
    S(linalg.norm, C(2, 4), axis=0, ord=-inf),
    S(linalg.norm, A(3), 0),
    S(linalg.norm, A(3), -1),
    *[S(linalg.norm, TALL, ord=ord) for ord in ("fro", "nuc", 1, -1, 2, -2, inf, -inf)],
    *[S(linalg.norm, CWIDE, ord=ord, keepdims=True) for ord in ("nuc", 1, 2, -2, inf)],
    S(linalg.norm, A(2, 3, 4), "nuc", axis=(-1, 0), keepdims=True),
    S(linalg.norm, A(2, 3, 4), ord=inf, axis=(2, 0)),
    S(linalg.vector_norm, A(2, 3, 2)),
    S(linalg.vector_norm, A(2, 3, 2), axis=(0, -1), ord=3),
    S(linalg.vector_norm, C(2, 3, 2), axis=(0, 1, 2), keepdims=True),
    S(linalg.vector_norm, A(2, 3), axis=-1, ord=1),
    S(linalg.matrix_norm, A(2, 3, 2)),
    S(linalg.matrix_norm, A(2, 3, 2), ord="nuc", keepdims=True),
    # factors
    S(linalg.qr, SQUARE),
    S(linalg.qr, TALL),
    S(linalg.qr, WIDE),
    S(linalg.qr, CTALL, "reduced"),
    S(linalg.qr, A(2, 3, 2), "r"),
    S(of_complete_qr, TALL).but(covers=linalg.qr, label="complete"),
    S(of_complete_qr, CTALL).but(covers=linalg.qr, label="complete-complex"),
    *[
        S(lambda a, upper=upper: linalg.cholesky(a + np.swapaxes(a, -1, -2).conj(), upper=upper), a).but(
            covers=linalg.cholesky, label=f"{a.dtype}{a.ndim}-{upper}", rolls=False
        )
        for a in (spd(3), hpd(3), spd(2, 2))
        for upper in (False, True)
    ],
    # eigenvalues
    *[
        S(lambda a, triangle=triangle: linalg.eigh((a + a.T) / 2, triangle), spd(3)).but(
            covers=linalg.eigh, label=f"vectors-{triangle}", rolls=False
        )
        for triangle in "LU"
    ],
    S(free(lambda a: [linalg.eigh(a + a.conj().T)[1]]), hpd(3)).but(
        covers=linalg.eigh, label="complex", rolls=False
    ),
    S(lambda a: linalg.eigvalsh(a + np.swapaxes(a, -1, -2).conj()), hpd(2, 2)).but(
        covers=linalg.eigvalsh, rolls=False
    ),
    S(linalg.eig, apart(3, 3)).but(rolls=False),
    S(free(lambda a: [linalg.eig(a)[1]]), np.array([[1.0, 2.0], [-3.0, 0.5]])).but(
        covers=linalg.eig, label="rotation", rolls=False
    ),
    S(free(lambda a: [linalg.eig(a)[1]]), CSQUARE).but(covers=linalg.eig, label="complex", rolls=False),
    S(linalg.eigvals, apart(2, 3, 3)).but(rolls=False),
    S(linalg.eigvals, CSQUARE).but(rolls=False),
    # singular values
    S(linalg.svd, SQUARE).but(rolls=False),
    S(linalg.svd, TALL, full_matrices=False).but(rolls=False),
    S(linalg.svd, WIDE, full_matrices=False).but(rolls=False),
    S(linalg.svd, C(2, 3, 2), compute_uv=False).but(rolls=False),
    S(of_full_svd, TALL).but(covers=linalg.svd, label="full-tall", rolls=False),
    S(of_full_svd, CWIDE).but(covers=linalg.svd, label="full-wide", rolls=False),
    S(lambda a: linalg.svd((a + a.T) / 2, hermitian=True), SQUARE - 2 * np.eye(3)).but(
        covers=linalg.svd, label="hermitian", rolls=False
    ),
    S(linalg.svdvals, TALL),
    S(linalg.svdvals, C(2, 2, 3)),
]
