"""Samples of scipy.sparse: constant matrices beside tracers, traced entries; dense only to compare."""

import numpy as np
import scipy.sparse as ss

from funcgrad.scipy import sparse
from tests.rules.samples import A, C, S, spd

linalg, graph = sparse.linalg, sparse.csgraph
WIDE = np.where(np.arange(20).reshape(4, 5) % 3 == 1, 0.0, A(4, 5))
SQUARE = np.diag([4.0, 5, 4.5, 5.5]) + np.where((np.arange(16) * 5 % 7 < 4).reshape(4, 4), A(4, 4), 0.0) * (
    1 - np.eye(4)
)
PLACES = ss.csc_array(SQUARE)
ENTRIES = PLACES.data.copy()
X, B = A(5), A(4)
ROWS, COLS = np.array([0, 2, 1, 0]), np.array([1, 1, 0, 1])
POSITIVE = spd(4)


def of(label, function, *args, order=2, tol=1e-6, vmap=False):
    return S(function, *args).but(label=label, order=order, tol=tol, vmap=vmap, float32=False)


def csc(d):
    return sparse.csc_array((d, PLACES.indices, PLACES.indptr), shape=(4, 4))


def coo(d):
    return sparse.coo_array((d, (ROWS, COLS)), shape=(3, 3))


KINDS = [
    getattr(sparse, name)
    for name in ("csr_array", "csc_matrix", "coo_array", "dia_array", "bsr_array", "lil_matrix", "dok_array")
]
METHODS = ["cg", "bicg", "bicgstab", "cgs", "gmres", "lgmres", "minres", "qmr", "gcrotmk", "tfqmr"]
SAMPLES = [
    *[of(f"{kind.__name__} @ x", lambda x, kind=kind: kind(WIDE) @ x, X, vmap=True) for kind in KINDS],
    *[of(f"x @ {kind.__name__}", lambda x, kind=kind: x @ kind(WIDE), B, vmap=True) for kind in KINDS],
    of("matrices", lambda x: sparse.csr_array(WIDE).T @ x + sparse.csc_array(WIDE).T.dot(x), A(4, 2), vmap=True),
    of("multiply", lambda x: sparse.csr_array(WIDE).multiply(x).toarray(), A(4, 5)),
    of("data", lambda d, x: csc(d) @ x + x @ csc(d), ENTRIES, B), of("data in one place", lambda d: coo(d).tocsr().toarray(), A(4)),
    of("data of a complex matrix", lambda d, x: csc(d) @ x, ENTRIES + 1j * A(*ENTRIES.shape), C(4)),
    of("diagonals", lambda d, e: sparse.diags_array([d, e], offsets=[0, -1]).toarray() @ B, A(4), A(3)),
    of("dia", lambda d: sparse.dia_array((d, np.array([0, 1])), shape=(4, 4)) @ B, A(2, 4)),
    of("bsr", lambda d: sparse.bsr_array((d, np.array([0, 1]), np.array([0, 1, 2]))) @ B, A(2, 2, 2)),
    of("products", lambda d: (csc(d) @ csc(d).T @ sparse.csr_array(SQUARE)).toarray(), ENTRIES),
    of("sums", lambda d: (csc(d) + 2 * csc(d).T - sparse.csr_array(SQUARE) / 3).toarray() + csc(d).sum(axis=0) + csc(d).mean(), ENTRIES),
    of("common", lambda d: csc(d).multiply(csc(d).T).toarray(), ENTRIES), of("parts", lambda d: csc(d)[1:, [0, 2]].toarray() * csc(d).diagonal()[0] * csc(d)[1, 1], ENTRIES),
    of("functions", lambda d: csc(d).sin().power(2).sum(axis=1) + csc(d).trace(), ENTRIES),
    of("kron", lambda a: sparse.kron(sparse.coo_array(a), sparse.csr_array(SQUARE)) @ np.ones(8), A(2, 2)),
    of("kronsum", lambda a: sparse.kronsum(sparse.coo_array(a), sparse.csr_array(SQUARE)).toarray(), A(2, 2)),
    of("blocks", lambda d: sparse.block_array([[csc(d), None], [sparse.tril(csc(d)), sparse.eye_array(4)]]).toarray(), ENTRIES),
    of("stacks", lambda d: sparse.hstack([csc(d), sparse.vstack([csc(d)])]).toarray() @ sparse.block_diag([csc(d), csc(d)]).toarray(), ENTRIES, order=1),
    of("spsolve", lambda b: linalg.spsolve(sparse.csc_array(SQUARE), b), A(4, 2), vmap=True),
    of("spsolve of data", lambda d, b: linalg.spsolve(csc(d), b), ENTRIES, B),
    of("spsolve, complex", lambda d, b: linalg.spsolve(csc(d), b), ENTRIES + 0.2j * A(*ENTRIES.shape), C(4)),
    of("factorized", lambda b: linalg.factorized(sparse.csc_array(SQUARE))(b), B, vmap=True),
    of("splu", lambda d, b: linalg.splu(csc(d)).solve(linalg.splu(csc(d)).solve(b), "T"), ENTRIES, B),
    of("spsolve_triangular", lambda d, b: linalg.spsolve_triangular(sparse.triu(csc(d)).tocsr(), b, lower=False), ENTRIES, B),
    *[of(name, lambda a, b, name=name: getattr(linalg, name)(a @ a.T + np.eye(4), b, rtol=1e-13, maxiter=500)[0], POSITIVE, B) for name in METHODS],
    of("cg of data", lambda d, b: linalg.cg(csc(d) @ csc(d).T, b, rtol=1e-13)[0], ENTRIES, B, order=1),
    of("gmres of functions", lambda a, b: linalg.gmres(linalg.LinearOperator((4, 4), matvec=lambda v: a @ v + v), b, rtol=1e-13)[0], POSITIVE, B),
    of("cg with a preconditioner", lambda b: linalg.cg(sparse.csr_array(SQUARE @ SQUARE.T), b, rtol=1e-13, M=np.diag(1 / np.diag(SQUARE) ** 2))[0], B),
    of("lsqr", lambda a, b: linalg.lsqr(a, b, atol=1e-14, btol=1e-14)[0], A(5, 3), A(5)),
    of("lsmr with damping", lambda a, b: linalg.lsmr(a, b, damp=0.3, atol=1e-14, btol=1e-14)[0], A(5, 3), A(5), order=1),
    of("expm_multiply", lambda d, b: linalg.expm_multiply(0.3 * csc(d), b), ENTRIES, B, order=1, tol=3e-6),
    of("expm_multiply in time", lambda a, b: linalg.expm_multiply(a, b, start=0.0, stop=1.0, num=3), A(3, 3), A(3, 2)),
    of("eigsh", lambda d: linalg.eigsh(csc(d) + csc(d).T, k=2, v0=np.ones(4), tol=1e-14, return_eigenvectors=False), ENTRIES),
    of("eigsh's vectors", lambda a: (lambda w, v: (w, v**2))(*linalg.eigsh(a + a.T, k=2, v0=np.ones(4), tol=1e-14)), spd(4)),
    of("eigs", lambda a: linalg.eigs(a, k=1, v0=np.ones(6), tol=1e-14, return_eigenvectors=False).real, np.diag(np.arange(1.0, 7)) + 0.1 * A(6, 6)),
    of("svds", lambda d: linalg.svds(csc(d), k=2, v0=np.ones(4), tol=1e-14, return_singular_vectors=False), ENTRIES),
    of("norm", lambda d: linalg.norm(csc(d)) + linalg.norm(csc(d), 1) + linalg.norm(csc(d), axis=0), ENTRIES), of("inv", lambda d: linalg.inv(csc(d)).toarray(), ENTRIES),
    of("matrix_power", lambda d: linalg.matrix_power(csc(d), 3).toarray(), ENTRIES, order=1),
    *[of(name, lambda a, name=name: getattr(graph, name)(a), A(4, 4, low=0.5, high=2.0)) for name in ("dijkstra", "floyd_warshall", "johnson", "shortest_path")],
    of("minimum_spanning_tree", lambda a: graph.minimum_spanning_tree(a).sum(), A(4, 4, low=0.5, high=2.0)), of("laplacian", lambda a: graph.laplacian(a, normed=True), A(4, 4, low=0.5, high=2.0)),
]  # fmt: skip
