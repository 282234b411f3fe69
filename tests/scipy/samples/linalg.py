"""Samples of scipy.linalg. What depends on a sign, a phase or a rotation is tested through what does not."""

import numpy as np

from funcgrad.scipy import linalg
from tests.rules.samples import A, C, S, hpd, spd

I3, I4 = np.eye(3), np.eye(4)
SQUARE, OTHER = spd(3) + 0.3 * A(3, 3), spd(3) + 0.3 * A(3, 3)
COMPLEX = SQUARE + 0.5j * A(3, 3)
TALL, WIDE = A(4, 3) + np.eye(4, 3), A(3, 4) + np.eye(3, 4)
APART = np.diag([1.0, 2.5, 4.0]) + 0.2 * A(3, 3)
# has a complex pair of eigenvalues
TURNING = np.array([[1.0, 2.0, 0.3], [-1.5, 0.7, 0.2], [0.1, 0.4, 3.0]]) + 0.1 * A(3, 3)
LOWER = np.tril(A(3, 3)) + 2 * I3
BAND = A(3, 5) + np.array([[0.0], [4.0], [0.0]])
HALF = np.stack([A(5), 4 + A(5)])


def sym(f):
    return lambda a, *rest, **named: f((a + a.swapaxes(-1, -2).conj()) / 2, *rest, **named)


def squares(f, *which):
    def of_squares(*args, **named):
        out = f(*args, **named)
        return tuple(abs(o) ** 2 if k in which else o for k, o in enumerate(out))

    return of_squares


_seen: dict[str, list[int]] = {}


def of(name, function, *args):
    """A sample of the function of that name through another one."""
    _seen.setdefault(name, []).append(0)
    return S(function, *args).but(covers=getattr(linalg, name), label=str(len(_seen[name])))


INDEFINITE = np.array([[0.0, 1.0, 2.0], [1.0, 0.1, 3.0], [2.0, 3.0, 0.5]])

SAMPLES = [
    *(S(sym(lambda a, lower=lower: linalg.ldl(a, lower)[:2]), INDEFINITE).but(covers=linalg.ldl, label=f"ldl {lower}") for lower in (True, False)),
    S(linalg.funm, APART, np.sin).but(wrt=(0,)), S(linalg.funm, TURNING, np.exp).but(wrt=(0,)),
    S(lambda a, c: linalg.funm(a, lambda z: np.exp(c * z)), APART, 0.7).but(covers=linalg.funm, label="funm"),
    # systems of equations
    S(linalg.solve, SQUARE, A(3)),
    S(linalg.solve, COMPLEX, C(3, 2)),
    S(linalg.solve, SQUARE, A(3, 2), transposed=True),
    of("solve", sym(lambda a, b: linalg.solve(a, b, assume_a="pos", lower=True)), SQUARE, A(3, 2)),
    of("solve", sym(lambda a, b: linalg.solve(a, b, assume_a="her")), COMPLEX, C(3)),
    of("solve", lambda a, b: linalg.solve(a + a.T, b, assume_a="sym"), COMPLEX, C(3)),
    S(linalg.solve, SQUARE, A(3), assume_a="upper triangular"),
    S(linalg.solve, spd(3, 2), A(2, 3, 1)),
    S(linalg.inv, SQUARE),
    S(linalg.solve_triangular, LOWER, A(3), lower=True),
    S(linalg.solve_triangular, LOWER.T, A(3, 2), trans=1),
    S(linalg.solve_triangular, LOWER + 0.3j * LOWER, C(3), trans=2, lower=True),
    S(linalg.solve_triangular, LOWER, A(3), lower=True, unit_diagonal=True),
    of("lu_solve", lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b), SQUARE[::-1], A(3)),
    of("lu_solve", lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b, trans=1), SQUARE[::-1], A(3, 2)),
    of("lu_solve", lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b, trans=2), COMPLEX, C(3)),
    of("cho_solve", sym(lambda a, b: linalg.cho_solve(linalg.cho_factor(a), b)), SQUARE, A(3)),
    of("cho_solve", sym(lambda a, b: linalg.cho_solve(linalg.cho_factor(a, lower=True), b)), COMPLEX, C(3, 2)),
    S(linalg.lstsq, TALL, A(4)).but(label="vector"),
    S(linalg.lstsq, TALL, A(4, 2)),
    S(linalg.lstsq, WIDE, A(3)).but(label="wide"),
    S(linalg.pinv, TALL),
    S(linalg.pinv, TALL, atol=0.01),
    of("pinvh", sym(linalg.pinvh), SQUARE),
    # structured
    S(linalg.solve_banded, (1, 1), BAND, A(5)),
    S(linalg.solve_banded, (2, 0), BAND[::-1] + np.array([[4.0], [0], [0]]), A(5, 2)).but(wrt=(1, 2)),
    S(linalg.solve_banded, (1, 1), BAND + 0.3j * BAND, C(5)),
    S(linalg.solveh_banded, HALF, A(5)),
    S(linalg.solveh_banded, HALF[::-1], A(5, 2), lower=True),
    S(linalg.solveh_banded, HALF + 0.3j * np.stack([A(5), np.zeros(5)]), C(5)).but(wrt=(1,)),
    S(linalg.cholesky_banded, HALF).but(order=1),
    S(linalg.cholesky_banded, HALF[::-1], lower=True),
    of("cho_solve_banded", lambda c, b: linalg.cho_solve_banded((c, True), b), HALF[::-1], A(5)),
    of("cho_solve_banded", lambda c, b: linalg.cho_solve_banded((c, False), b), HALF, A(5, 2)),
    of("solve_toeplitz", lambda c, r, b: linalg.solve_toeplitz((c, r), b), A(4) + 4 * I4[0], A(4) + 4 * I4[0], A(4)),
    S(linalg.solve_toeplitz, A(3) + 4 * I3[0], A(3, 2)),
    of("matmul_toeplitz", lambda c, r, x: linalg.matmul_toeplitz((c, r), x), A(3), A(4), A(4, 2)),
    S(linalg.solve_circulant, A(4) + 4 * I4[0], A(4)),
    S(linalg.solve_circulant, A(3) + 4 * I3[0], A(3, 2)),
    S(linalg.solve_circulant, A(2, 3) + 4 * I3[0], A(3, 2)),
    S(linalg.toeplitz, A(3)), S(linalg.toeplitz, A(3), A(4)), S(linalg.toeplitz, C(3)),
    S(linalg.hankel, A(3)), S(linalg.hankel, A(3), A(4)), S(linalg.circulant, A(4)),
    S(linalg.companion, np.array([2.0, 1.0, 3.0])), S(linalg.fiedler_companion, np.array([2.0, 1.0, 3.0, 4.0])),
    S(linalg.fiedler, A(4)), S(linalg.leslie, A(3), A(2)), S(linalg.block_diag, A(2, 2), A(3), A(1, 2)),
    S(linalg.convolution_matrix, A(3), 4, mode="valid"), S(linalg.khatri_rao, A(2, 3), A(3, 3)), S(linalg.diagsvd, A(3), 3, 4),
    # factorisations
    S(linalg.lu, SQUARE[::-1]), S(linalg.lu, TALL, p_indices=True), S(linalg.lu, WIDE, permute_l=True), S(linalg.lu, COMPLEX),
    S(linalg.lu_factor, SQUARE[::-1]), S(linalg.lu_factor, COMPLEX),
    of("cholesky", sym(linalg.cholesky), SQUARE),
    of("cholesky", sym(lambda a: linalg.cholesky(a, lower=True)), COMPLEX),
    of("cholesky", sym(linalg.cholesky), spd(3, 2)),
    of("cho_factor", sym(lambda a: linalg.cho_factor(a)[0]), SQUARE),
    of("ldl", sym(lambda a: linalg.ldl(a)[:2]), SQUARE),
    of("ldl", sym(lambda a: linalg.ldl(a, lower=False)[:2]), COMPLEX),
    S(linalg.qr, SQUARE), S(linalg.qr, TALL, mode="economic"), S(linalg.qr, WIDE, mode="r"), S(linalg.qr, COMPLEX),
    S(linalg.qr, TALL, mode="economic", pivoting=True).but(vmap=False),
    S(linalg.rq, SQUARE), S(linalg.rq, WIDE, mode="economic"), S(linalg.rq, COMPLEX, mode="r"),
    S(linalg.qr_multiply, SQUARE, A(2, 3)), S(linalg.qr_multiply, TALL, A(3), mode="left"),
    of("qr_update", lambda a, u, v: linalg.qr_update(*linalg.qr(a), u, v), SQUARE, A(3), A(3)),
    of("qr_insert", lambda a, u: linalg.qr_insert(*linalg.qr(a), u, 1)[1], SQUARE, A(3)),
    of("qr_insert", lambda a, u: linalg.qr_insert(*linalg.qr(a), u, 1, which="col")[1][:, :3], SQUARE, A(3)),
    of("qr_delete", lambda a: linalg.qr_delete(*linalg.qr(a), 1, which="col")[1], SQUARE),
    S(linalg.polar, SQUARE), S(linalg.polar, TALL), S(linalg.polar, WIDE, side="left"), S(linalg.polar, COMPLEX),
    S(linalg.orthogonal_procrustes, TALL, A(4, 3)), S(linalg.orthogonal_procrustes, COMPLEX, C(3, 3)),
    S(linalg.schur, APART), S(linalg.schur, TURNING).but(float32=False),
    of("schur", lambda a: (lambda t, z: abs(t[1, 2]) + abs(z) ** 2)(*linalg.schur(a, output="complex")), COMPLEX),
    of("rsf2csf", lambda a: abs(np.triu(linalg.rsf2csf(*linalg.schur(a))[0])), TURNING),
    S(linalg.hessenberg, A(4, 4), calc_q=True), S(linalg.hessenberg, COMPLEX),
    # eigenvalues, singular values
    of("eigh", sym(lambda a: squares(linalg.eigh, 1)(a)), SQUARE),
    of("eigh", sym(lambda a: squares(linalg.eigh, 1)(a, lower=False, subset_by_index=[1, 2])), COMPLEX),
    of("eigh", lambda a, b: squares(linalg.eigh, 1)(a + a.T, b + b.T), SQUARE, OTHER),
    of("eigh", lambda a, b: squares(linalg.eigh, 1)(a + a.T, b + b.T, type=2), SQUARE, OTHER),
    of("eigh", lambda a, b: squares(linalg.eigh, 1)(a + a.T, b + b.T, type=3), SQUARE, OTHER),
    of("eigvalsh", lambda a, b: linalg.eigvalsh(a + a.T, b + b.T, subset_by_value=(0.1, 100)), SQUARE, OTHER).but(vmap=False),
    S(squares(linalg.eigh_tridiagonal, 1), A(4), 1 + A(3)).but(covers=linalg.eigh_tridiagonal),
    S(linalg.eigvalsh_tridiagonal, A(4), 1 + A(3), select="i", select_range=(1, 2)),
    of("eig_banded", squares(linalg.eig_banded, 1), HALF + np.array([[0.0], [1.0]]) * np.arange(5)),
    S(linalg.eigvals_banded, HALF[::-1] + np.array([[1.0], [0.0]]) * np.arange(5), lower=True),
    of("eig", lambda a: squares(linalg.eig, 1, 2)(a, left=True), APART),
    of("eig", lambda a, b: squares(linalg.eig, 1)(a, b), APART, OTHER),
    S(linalg.eigvals, APART), S(linalg.eigvals, TURNING), S(linalg.eigvals, COMPLEX),
    of("cdf2rdf", lambda a: linalg.cdf2rdf(*linalg.eig(a))[0], TURNING),
    S(linalg.svd, TALL, full_matrices=False), S(linalg.svdvals, WIDE), S(linalg.svd, SQUARE, compute_uv=False),
    of("null_space", lambda a: (lambda n: n @ n.T)(linalg.null_space(a)), WIDE),
    of("orth", lambda a: (lambda n: n @ n.T)(linalg.orth(a)), TALL),
    S(linalg.subspace_angles, A(4, 2), A(4, 2)),
    S(linalg.norm, TALL), S(linalg.norm, TALL, 1), S(linalg.norm, A(3), 3), S(linalg.norm, TALL, 2, axis=(0, 1), keepdims=True),
    S(linalg.det, SQUARE), S(linalg.det, COMPLEX), S(linalg.det, spd(2, 2)),
    of("cossin", lambda a: linalg.cossin(linalg.qr(a)[0], p=2, q=2)[1], spd(4) + A(4, 4)),
    of("matrix_balance", lambda a: linalg.matrix_balance(a * np.array([[1.0, 50], [0.02, 1]]), permute=False)[0], A(2, 2)),
    # functions of matrices
    S(linalg.expm, A(3, 3)), S(linalg.expm, C(2, 2)), S(linalg.expm, A(2, 2, 2)),
    S(linalg.expm_frechet, A(2, 2), A(2, 2)), S(linalg.expm_frechet, A(2, 2), A(2, 2), compute_expm=False),
    S(linalg.logm, SQUARE), S(linalg.logm, COMPLEX), S(linalg.sqrtm, SQUARE), S(linalg.sqrtm, COMPLEX),
    S(linalg.sinm, A(2, 2)), S(linalg.cosm, A(2, 2)), S(linalg.tanm, A(2, 2)), S(linalg.sinhm, A(2, 2)),
    S(linalg.coshm, A(2, 2)), S(linalg.tanhm, A(2, 2)), S(linalg.sinm, C(2, 2)), S(linalg.cosm, C(2, 2)),
    S(linalg.signm, APART - 2 * I3), S(linalg.fractional_matrix_power, SQUARE, 0.3).but(wrt=(0,)),
    S(linalg.fractional_matrix_power, SQUARE, -2).but(wrt=(0,)),
    S(linalg.solve_sylvester, SQUARE, spd(2), A(3, 2)), S(linalg.solve_sylvester, COMPLEX, hpd(2), C(3, 2)),
    S(linalg.solve_continuous_lyapunov, SQUARE, A(3, 3)), S(linalg.solve_continuous_lyapunov, COMPLEX, C(3, 3)),
    S(linalg.solve_discrete_lyapunov, 0.3 * SQUARE, A(3, 3)),
    S(linalg.solve_discrete_lyapunov, 0.3 * COMPLEX, C(3, 3), method="bilinear"),
    of("solve_continuous_are", lambda a, b, q, r: linalg.solve_continuous_are(a, b, q @ q.T + I3, r @ r.T + np.eye(2)),
       A(3, 3), A(3, 2), A(3, 3), A(2, 2)),
    of("solve_discrete_are", lambda a, b, q, e, s: linalg.solve_discrete_are(a, b, q @ q.T + I3, np.eye(2), e + 3 * I3, 0.1 * s),
       A(3, 3), A(3, 2), A(3, 3), A(3, 3), A(3, 2)),
    S(linalg.clarkson_woodruff_transform, A(5, 2), 3, rng=3),
]  # fmt: skip
