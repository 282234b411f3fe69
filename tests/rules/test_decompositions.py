"""Cholesky, QR, eigenvalues, singular values: triangles, closed gaps, gauges, bad matrices beside good ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from funcgrad import grad, hessian, hvp, jacfwd, jvp, value_and_grad, vjp, vmap
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.testing import check_grads

linalg = np.linalg
RNG = np.random.default_rng(23)


def matrix(*shape: int, dtype: Any = float) -> Any:
    x = RNG.normal(size=shape)
    return x + 1j * RNG.normal(size=shape) if dtype is complex else x


def adjoint(x: Any) -> Any:
    return np.swapaxes(x, -1, -2).conj()


def with_values(values: Any, dtype: Any = float) -> Any:
    """A Hermitian matrix with these eigenvalues."""
    q = linalg.qr(matrix(len(values), len(values), dtype=dtype))[0]
    return (q * np.asarray(values)) @ adjoint(q)


both = pytest.mark.parametrize("dtype", [float, complex])

# ---- triangles -------------------------------------------------------------------------------------------------------

HERMITIAN = {
    "cholesky": linalg.cholesky,
    "cholesky upper": lambda a: linalg.cholesky(a, upper=True),
    "eigh": lambda a: linalg.eigh(a).eigenvectors.real ** 2,
    "eigh U": lambda a: linalg.eigh(a, "U").eigenvalues,
    "eigvalsh": linalg.eigvalsh,
    "svd": lambda a: linalg.svd(a, hermitian=True).S,
}


@pytest.mark.parametrize("function", HERMITIAN.values(), ids=HERMITIAN)
def test_gradients_of_functions_of_symmetric_matrices_are_symmetric(function: Any) -> None:
    a, weights = with_values([1.0, 2.0, 4.0]), matrix(3, 3)
    a = (a + a.T) / 2
    loss = lambda a: np.sum(function(a) * (weights if function(a).ndim == 2 else weights[0]))
    gradient = grad(loss)(a)
    np.testing.assert_allclose(gradient, gradient.T, atol=1e-14)
    symmetric = lambda b: loss(b + b.T)
    check_grads(symmetric, (a / 2 + np.triu(matrix(3, 3), 1) * 1e-3,), order=2)
    t = matrix(3, 3)
    whole, half = (jvp(loss, (a,), (d,))[1] for d in (t, (t + t.T) / 2))
    np.testing.assert_allclose(whole, half)


def test_only_one_triangle_is_read() -> None:
    a = with_values([1.0, 2.0, 4.0])
    spoilt = a + np.triu(np.ones((3, 3)), 1)
    np.testing.assert_allclose(
        grad(lambda a: linalg.eigvalsh(a, "L")[0])(spoilt),
        grad(lambda a: linalg.eigvalsh(a)[0])(a),
        atol=1e-12,
    )
    np.testing.assert_allclose(
        grad(lambda a: linalg.cholesky(a)[1, 0])(spoilt),
        grad(lambda a: linalg.cholesky(a)[1, 0])(a),
        atol=1e-12,
    )


# ---- Cholesky --------------------------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("upper", [False, True])
def test_cholesky_of_stacks(upper: bool, dtype: Any) -> None:
    factor = lambda x: linalg.cholesky(x @ adjoint(x) + np.eye(2), upper=upper)
    check_grads(factor, (matrix(2, 2, 2, dtype=dtype),), order=2)


def test_cholesky_of_a_number_is_its_root() -> None:
    root = lambda x: linalg.cholesky(np.reshape(x, (1, 1)))[0, 0]
    assert grad(root)(4.0) == pytest.approx(0.25)
    assert grad(grad(root))(4.0) == pytest.approx(-1 / 32)


def test_a_matrix_that_is_not_positive_is_refused() -> None:
    with pytest.raises(linalg.LinAlgError, match="positive definite"):
        grad(lambda a: np.sum(linalg.cholesky(a)))(-np.eye(2))


# ---- QR --------------------------------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 2), (2, 2, 3), (1, 1)], ids=str)
def test_qr_rebuilds_the_matrix(shape: Any, dtype: Any) -> None:
    a, t = matrix(*shape, dtype=dtype), matrix(*shape, dtype=dtype)
    for mode in ("reduced", "complete"):
        (q, r), (dq, dr) = jvp(lambda a, mode=mode: linalg.qr(a, mode), (a,), (t,))
        np.testing.assert_allclose(dq @ r + q @ dr, t, atol=1e-12)
        np.testing.assert_allclose(adjoint(q) @ dq + adjoint(dq) @ q, 0 * (adjoint(q) @ q), atol=1e-12)
        np.testing.assert_allclose(np.tril(dr, -1), 0 * dr, atol=1e-12)
        rebuilt = lambda a, mode=mode: (lambda q, r: q @ r)(*linalg.qr(a, mode))
        ct = matrix(*shape, dtype=dtype)
        np.testing.assert_allclose(vjp(rebuilt, a)[1](ct)[0], ct, atol=1e-12)


def test_qr_of_columns_of_different_scales() -> None:
    """a D = q (r D), for a diagonal D."""
    a, t, scales = matrix(4, 4), matrix(4, 4), np.array([1e-8, 1e-3, 1e3, 1e8])
    scaled = jvp(linalg.qr, (a * scales,), (t * scales,))[1]
    plain = jvp(linalg.qr, (a,), (t,))[1]
    np.testing.assert_allclose(scaled[0], plain[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(scaled[1] / scales, plain[1], rtol=1e-9, atol=1e-12)
    loss = lambda a: np.sum(np.sin(linalg.qr(a)[0]))
    np.testing.assert_allclose(grad(loss)(a * scales) * scales, grad(loss)(a), rtol=1e-9, atol=1e-12)


@both
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 2)], ids=str)
def test_qr_in_all_modes(shape: Any, dtype: Any) -> None:
    a = matrix(*shape, dtype=dtype)
    check_grads(lambda a: tuple(linalg.qr(a)), (a,), order=2)
    check_grads(lambda a: linalg.qr(a, "r"), (a,))
    k = min(shape[-2:])

    def free(a: Any) -> Any:
        q, r = linalg.qr(a, "complete")
        return q[..., :k], r, q[..., k:] @ adjoint(q[..., k:])

    check_grads(free, (a,), order=2)


def test_dependent_columns_have_no_derivative_of_q() -> None:
    a = np.stack([np.array([[1.0, 2.0], [2.0, 4.0]]), np.eye(2)])
    gradient = grad(lambda a: np.sum(linalg.qr(a)[0]))(a)
    assert np.isnan(gradient[0]).all()
    assert np.isfinite(gradient[1]).all()
    np.testing.assert_array_equal(grad(lambda a: np.sum(linalg.qr(a)[0][1]))(a)[0], 0)


@pytest.mark.parametrize("mode", ["raw", "economic"])
def test_modes_without_a_derivative_are_refused(mode: str) -> None:
    with pytest.raises(UnsupportedFunctionError, match="reduced"):
        grad(lambda a: np.sum(linalg.qr(a, mode)[0]))(np.eye(2))


# ---- eigenvalues of Hermitian matrices -------------------------------------------------------------------------------


@both
def test_functions_of_a_hermitian_matrix(dtype: Any) -> None:
    """By eigenvalues and eigenvectors, against products and inverses."""
    a, ct = with_values([1.0, 2.0, 4.0], dtype), matrix(3, 3, dtype=dtype)

    def by_eigh(function: Any) -> Any:
        return lambda a: (lambda w, v: (v * function(w)) @ adjoint(v))(*linalg.eigh(a))

    for came, expected in [
        (by_eigh(lambda w: w**3), lambda a: a @ a @ a),
        (by_eigh(lambda w: 1 / w), linalg.inv),
        (by_eigh(lambda w: w), lambda a: a),
    ]:
        pulled, by_hand = vjp(came, a)[1](ct)[0], vjp(expected, a)[1](ct)[0]
        np.testing.assert_allclose(pulled, (by_hand + adjoint(by_hand)) / 2, atol=1e-10)


def test_the_sum_of_squares_of_eigenvalues() -> None:
    a = with_values([1.0, 2.0, 4.0])
    squares = lambda a: np.sum(linalg.eigvalsh(a) ** 2)
    np.testing.assert_allclose(grad(squares)(a), 2 * a)
    t = matrix(3, 3)
    np.testing.assert_allclose(hvp(squares, (a,), (t,)), t + t.T, atol=1e-10)


def test_eigenvalues_alone_need_no_gap() -> None:
    np.testing.assert_allclose(grad(lambda a: np.sum(linalg.eigvalsh(a)))(np.eye(3)), np.eye(3))
    np.testing.assert_allclose(grad(lambda a: np.max(linalg.eigvalsh(a)))(np.eye(3)), np.eye(3) / 3)
    pushed = jvp(lambda a: linalg.eigh(a)[0], (np.diag([1.0, 3.0]),), (np.array([[1.0, 2.0], [2.0, 5.0]]),))[
        1
    ]
    np.testing.assert_allclose(pushed, [1, 5])
    t = jvp(linalg.eigvalsh, (np.eye(2),), (np.diag([3.0, 3.0]),))[1]
    np.testing.assert_allclose(t, [3, 3])


CLOSED = np.diag([4.0, 1.0, 1.0])


def test_an_eigenvector_does_not_need_the_gap_of_others() -> None:
    slope = lambda a: linalg.eigh(a)[1][1, -1] / linalg.eigh(a)[1][0, -1]
    expected = np.zeros((3, 3))
    expected[0, 1] = expected[1, 0] = 1 / 6
    for gradient in (grad(slope)(CLOSED), jacfwd(slope)(CLOSED), vmap(grad(slope))(CLOSED[None])[0]):
        np.testing.assert_allclose(gradient, expected, atol=1e-14)


NEEDS_THE_GAP = {
    "a vector of it": lambda a: linalg.eigh(a)[1][1, 0],
    "the rebuilt matrix": lambda a: (lambda w, v: (v * w) @ v.T)(*linalg.eigh(a))[1, 2],
    # All cotangents of vectors are 0 here, as limits of what is not.
    "the rebuilt matrix, less 1": lambda a: (lambda w, v: (v * (w - 1)) @ v.T)(*linalg.eigh(a))[1, 2],
    "its curvature": lambda a: grad(lambda a: np.sum(linalg.eigvalsh(a) ** 2))(a)[1, 2],
}


@pytest.mark.parametrize("function", NEEDS_THE_GAP.values(), ids=NEEDS_THE_GAP)
def test_what_needs_a_closed_gap_is_nan(function: Any) -> None:
    assert np.isnan(grad(function)(CLOSED)).all()
    assert np.isnan(jvp(function, (CLOSED,), (np.ones((3, 3)),))[1])


def test_the_curvature_of_a_value_does_not_need_the_gap_of_others() -> None:
    largest = {
        "eigh": lambda a: linalg.eigh(a)[0][-1],
        "eigvalsh": lambda a: np.max(linalg.eigvalsh(a)),
        "svd": lambda a: linalg.svd(a)[1][0],
        "norm": lambda a: linalg.norm(a, 2),
    }
    shear = np.zeros((3, 3))
    shear[0, 1] = shear[1, 0] = 1
    for function in largest.values():
        second = hvp(function, (CLOSED,), (shear,))
        np.testing.assert_allclose(second + second.T, 2 / 3 * shear, atol=1e-12)  # of 4 + t * t / 3
        twice = jvp(lambda a, f=function: jvp(f, (a,), (shear,))[1], (CLOSED,), (shear,))[1]
        np.testing.assert_allclose(twice, 2 / 3)


def test_a_gap_within_rounding_is_closed() -> None:
    a = with_values([4.0, 1.0, 1.0])
    assert np.isnan(grad(lambda a: linalg.eigh(a)[1][0, 0])(a)).all()
    assert np.isfinite(grad(lambda a: linalg.eigh(a)[1][0, -1])(a)).all()
    apart = grad(lambda a: linalg.eigh(a)[1][0, 0])(np.diag([1.0, 1 + 1e-10, 4.0]))
    assert np.isfinite(apart).all()


def test_a_matrix_with_a_closed_gap_leaves_the_others_of_a_stack_alone() -> None:
    stack = np.stack([CLOSED, np.diag([1.0, 2.0, 4.0])])
    gradient = grad(lambda a: np.sum(linalg.eigh(a)[1]))(stack)
    assert np.isnan(gradient[0]).any()
    np.testing.assert_allclose(gradient[1], grad(lambda a: np.sum(linalg.eigh(a)[1]))(stack[1]))
    np.testing.assert_array_equal(grad(lambda a: np.sum(linalg.eigh(a)[1][1]))(stack)[0], 0)


# ---- eigenvalues of general matrices ---------------------------------------------------------------------------------


def test_the_exponential_by_eigenvalues() -> None:
    a = np.array([[1.0, 2.0], [0.5, 3.0]])

    def by_eig(a: Any) -> Any:
        w, v = linalg.eig(a)
        return ((v * np.exp(w)) @ linalg.inv(v)).real

    def by_series(a: Any) -> Any:
        out = term = np.eye(2)
        for k in range(1, 40):
            term = term @ a / k
            out = out + term
        return out

    ct = matrix(2, 2)
    np.testing.assert_allclose(vjp(by_eig, a)[1](ct)[0], vjp(by_series, a)[1](ct)[0], rtol=1e-9)
    np.testing.assert_allclose(
        hessian(lambda a: np.sum(by_eig(a)))(a), hessian(lambda a: np.sum(by_series(a)))(a), rtol=1e-7
    )


def test_rotations_have_complex_eigenvalues_and_real_gradients() -> None:
    a = np.array([[1.0, -2.0], [3.0, 0.5]])
    gradient = grad(lambda a: np.sum(np.abs(linalg.eigvals(a)) ** 2))(a)
    assert gradient.dtype == np.float64
    np.testing.assert_allclose(gradient, 2 * grad(linalg.det)(a))  # both have the modulus sqrt(det)


def test_eigenvectors_keep_the_length_1() -> None:
    a, t = np.diag([1.0, 2.0, 4.0]) + 0.2 * matrix(3, 3), matrix(3, 3)
    (_, v), (_, dv) = jvp(linalg.eig, (a,), (t,))
    np.testing.assert_allclose(np.sum(v * dv, axis=0), 0, atol=1e-12)
    check_grads(lambda a: tuple(linalg.eig(a)), (a,), order=2)


def test_a_matrix_that_is_not_diagonalisable_has_no_derivative() -> None:
    stack = np.stack([np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([[1.0, 1.0], [0.0, 2.0]])])
    gradient = grad(lambda a: np.sum(linalg.eigvals(a)[:, 0].real))(stack)
    assert np.isnan(gradient[0]).all()
    np.testing.assert_allclose(gradient[1], [[1, 0], [-1, 0]])
    np.testing.assert_array_equal(grad(lambda a: linalg.eigvals(a)[1, 0].real)(stack)[0], 0)


def test_general_eigenvalues_alone_need_no_gap() -> None:
    np.testing.assert_allclose(grad(lambda a: np.sum(linalg.eigvals(a)).real)(np.eye(2)), np.eye(2))
    a = np.diag([4.0, 1.0, 1.0])
    gradient = grad(lambda a: linalg.eig(a)[1][1, 0])(a)
    np.testing.assert_allclose(gradient, [[0, 0, 0], [1 / 3, 0, 0], [0, 0, 0]], atol=1e-14)
    assert np.isnan(grad(lambda a: linalg.eig(a)[1][1, 1])(a)).all()


# ---- singular values -------------------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 2)], ids=str)
def test_tangents_of_singular_vectors_rebuild_the_tangent(shape: Any, full: bool, dtype: Any) -> None:
    a, t = matrix(*shape, dtype=dtype), matrix(*shape, dtype=dtype)
    (u, s, vh), (du, ds, dvh) = jvp(lambda a: linalg.svd(a, full_matrices=full), (a,), (t,))
    assert ds.dtype == s.dtype
    k = s.shape[-1]
    first, last = u[..., :k] * s[..., None, :], s[..., None] * vh[..., :k, :]
    rebuilt = du[..., :k] @ last + (u[..., :k] * ds[..., None, :]) @ vh[..., :k, :] + first @ dvh[..., :k, :]
    np.testing.assert_allclose(rebuilt, t, atol=1e-11)
    for x, dx in ((u, du), (adjoint(vh), adjoint(dvh))):
        np.testing.assert_allclose(adjoint(x) @ dx + adjoint(dx) @ x, 0 * (adjoint(x) @ x), atol=1e-11)


@both
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4)], ids=str)
def test_functions_free_of_the_gauge(shape: Any, dtype: Any) -> None:
    k = min(shape)
    weights = np.arange(1.0, k + 1)

    def free(a: Any) -> Any:
        u, s, vh = linalg.svd(a)
        rest_u, rest_v = u[:, k:], vh[k:]
        return (u[:, :k] * weights) @ vh[:k], s, rest_u @ adjoint(rest_u), adjoint(rest_v) @ rest_v

    a = matrix(*shape, dtype=dtype)
    check_grads(free, (a,), order=2)
    outs, pull = vjp(free, a)
    ct = matrix(*shape, dtype=dtype)
    pulled = pull((ct, *(0 * x for x in outs[1:])))[0]
    assert np.isfinite(pulled).all()


def test_singular_values_alone_need_no_gap() -> None:
    for function in (lambda a: linalg.svd(a)[1], linalg.svdvals, lambda a: linalg.svd(a, compute_uv=False)):
        np.testing.assert_allclose(grad(lambda a, f=function: np.sum(f(a)))(np.eye(2)), np.eye(2))
        np.testing.assert_allclose(grad(lambda a, f=function: np.sum(f(a)))(2 * np.eye(3, 2)), np.eye(3, 2))


def test_a_singular_vector_does_not_need_the_gap_of_others() -> None:
    a = np.diag([4.0, 1.0, 1.0])
    slope = lambda a: linalg.svd(a)[0][1, 0] / linalg.svd(a)[0][0, 0]
    eigenslope = lambda a: (lambda v: v[1, -1] / v[0, -1])(linalg.eigh(a @ a.T)[1])
    np.testing.assert_allclose(grad(slope)(a), grad(eigenslope)(a), atol=1e-14)
    np.testing.assert_allclose(jacfwd(slope)(a), grad(eigenslope)(a), atol=1e-14)
    assert np.isnan(grad(lambda a: linalg.svd(a)[0][0, 1])(a)).all()
    rebuilt = lambda a: (lambda u, s, vh: (u * s) @ vh)(*linalg.svd(a))[1, 2]
    assert np.isnan(grad(rebuilt)(a)).all()


def test_a_deficient_matrix_has_some_derivatives() -> None:
    a = np.outer([3.0, 4.0, 0.0], [1.0, 0.0])
    thin = lambda a: linalg.svd(a, full_matrices=False)
    np.testing.assert_allclose(grad(lambda a: thin(a)[1][0])(a), a / 5)
    leading = grad(lambda a: thin(a)[0][0, 0] * np.sign(linalg.svd(a)[0][0, 0]))(a)
    np.testing.assert_allclose(leading, [[0.128, 0], [-0.096, 0], [0, 0]], atol=1e-14)
    assert np.isnan(grad(lambda a: thin(a)[0][0, 1])(a)).all()


def test_a_hermitian_matrix_tells_opposite_eigenvalues_apart() -> None:
    a = with_values([2.0, -2.0, 1.0])
    parts = lambda a: linalg.svd((a + a.T) / 2, hermitian=True)
    u, s, vh = vjp(parts, a)[0]
    np.testing.assert_allclose((u * s) @ vh, a, atol=1e-12)
    rebuilt = lambda a: (lambda u, s, vh: (u * s) @ vh)(*parts(a))
    ct = matrix(3, 3)
    np.testing.assert_allclose(vjp(rebuilt, a)[1](ct)[0], (ct + ct.T) / 2, atol=1e-11)
    check_grads(
        lambda a: linalg.svd((a + a.T) / 2, hermitian=True, compute_uv=False), (a + np.diag([0, 0, 0.1]),)
    )


# ---- gauges ----------------------------------------------------------------------------------------------------------

H = np.array([[2.0, 1 + 1j], [1 - 1j, 5.0]])
DEPENDS_ON_A_GAUGE = {
    "a phase of eigh": (lambda a: linalg.eigh(a)[1][1, 0].imag, H),
    "a phase of eig": (lambda a: linalg.eig(a)[1][1, 0].imag, H),
    "a phase of svd": (lambda a: linalg.svd(a)[0][1, 0].imag, H),
    "a rotation of a full u": (lambda a: linalg.svd(a)[0][0, -1], matrix(4, 2)),
    "a rotation of a full v": (lambda a: linalg.svd(a)[2][-1, 0], matrix(2, 4)),
    "a rotation of a complete q": (lambda a: linalg.qr(a, "complete")[0][0, -1], matrix(4, 2)),
}


@pytest.mark.parametrize(("function", "a"), DEPENDS_ON_A_GAUGE.values(), ids=DEPENDS_ON_A_GAUGE)
def test_what_depends_on_a_gauge_has_no_derivative(function: Any, a: Any) -> None:
    assert np.isnan(grad(function)(a)).any()


def test_one_vector_alone_has_only_a_sign() -> None:
    a = matrix(3, 2)
    check_grads(lambda a: tuple(linalg.svd(a)), (a,), order=2)
    check_grads(lambda a: tuple(linalg.qr(a, "complete")), (a,), order=2)


# ---- shared ----------------------------------------------------------------------------------------------------------


def test_the_containers_are_numpys() -> None:
    a = with_values([1.0, 2.0, 4.0])
    for function in (linalg.eigh, linalg.eig, linalg.svd, linalg.qr, linalg.slogdet):
        expected = type(function(a))
        assert type(vjp(function, a)[0]) is expected
        assert type(jvp(function, (a,), (a,))[1]) is expected
        assert type(vmap(function)(a[None])) is expected
    assert grad(lambda a: np.sum(linalg.svd(a).S) + np.sum(linalg.eigh(a).eigenvalues))(a).shape == (3, 3)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 2), max_size=2), st.integers(0, 3), st.integers(0, 3))
def test_empty_matrices_and_stacks(stack: Any, m: int, n: int) -> None:
    a = matrix(*stack, m, n)
    for function in (
        lambda a: linalg.svd(a, full_matrices=False)[1],
        linalg.svdvals,
        lambda a: linalg.qr(a, "r"),
    ):
        value, gradient = value_and_grad(lambda a, f=function: np.sum(f(a)))(a)
        assert np.ndim(value) == 0
        assert gradient.shape == a.shape
    square = a[..., : min(m, n), : min(m, n)]
    for function in (linalg.eigvalsh, lambda a: linalg.eigvals(a).real, lambda a: linalg.eigh(a)[1] ** 2):
        assert grad(lambda a, f=function: np.sum(f(a)))(square).shape == square.shape


SINGLE = {
    "cholesky": linalg.cholesky,
    "qr": lambda a: linalg.qr(a)[0],
    "eigh": lambda a: linalg.eigh(a)[1],
    "eig": lambda a: linalg.eig(a)[1].real,
    "svd": lambda a: linalg.svd(a)[0],
    "svd hermitian": lambda a: linalg.svd(a, hermitian=True)[2],
}


@pytest.mark.parametrize("function", SINGLE.values(), ids=SINGLE)
def test_single_precision_is_kept(function: Any) -> None:
    a = with_values([1.0, 2.0, 4.0]).astype(np.float32)
    assert grad(lambda a: np.sum(function(a) ** 3))(a).dtype == np.float32
    assert jvp(function, (a,), (a,))[1].dtype == function(a).dtype


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("upper", [False, True])
def test_large_triangles_are_solved_as_their_inverses_say(dtype: Any, upper: bool) -> None:
    rng = np.random.default_rng(0)
    a, weights = rng.normal(size=(2, 60, 60))
    matrix = (a @ a.T + 60 * np.eye(60)).astype(dtype)
    found = grad(lambda m: np.sum(np.linalg.cholesky(m, upper=upper) * weights.astype(dtype)))(matrix)
    t = ((a + a.T) / 2).astype(dtype)
    _, pushed = jvp(lambda m: np.linalg.cholesky(m, upper=upper), (matrix,), (t,))
    tolerance = 1e-12 if dtype is np.float64 else 1e-4
    assert found.dtype == dtype
    np.testing.assert_allclose(np.sum(found * t), np.sum(pushed * weights), rtol=tolerance)
