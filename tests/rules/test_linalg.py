"""Inverses, systems, powers, rank and condition: NumPy's meaning, singular matrices, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from funcgrad import grad, hessian, jvp, value_and_grad, vjp, vmap
from funcgrad.testing import check_grads, check_vmap

linalg = np.linalg
RNG = np.random.default_rng(11)


def matrix(*shape: int, dtype: Any = float) -> Any:
    """A random matrix (or a stack of them) far from a singular one."""
    x = RNG.normal(size=shape) * 0.3 + 2 * np.eye(*shape[-2:])
    return x + 0.3j * RNG.normal(size=shape) if dtype is complex else x


def pairing(x: Any, y: Any) -> float:
    return float(np.sum(x * y).real)


# ---- systems of equations --------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 3),
    st.lists(st.integers(1, 2), max_size=2),
    st.none() | st.lists(st.integers(1, 2), max_size=2),
    st.sampled_from([float, complex]),
    st.sampled_from([float, complex]),
)
def test_solve_vectors_matrices_and_stacks(n: int, stack: Any, right: Any, first: Any, second: Any) -> None:
    """`right` is None for a vector b, else the stack of matrices b, cut so that it broadcasts."""
    a = matrix(*stack, n, n, dtype=first)
    if right is None:
        b = RNG.normal(size=n).astype(second)
    else:
        shape = [1 if m != k else m for m, k in zip(right[::-1], stack[::-1])][::-1]
        b = RNG.normal(size=(*shape, n, 2)).astype(second)
    out, pull = vjp(linalg.solve, a, b)
    np.testing.assert_array_equal(out, linalg.solve(a, b))
    ct = RNG.normal(size=out.shape).astype(out.dtype)
    t_a, t_b = RNG.normal(size=a.shape).astype(first), RNG.normal(size=b.shape).astype(second)
    # By the definition: da x + a dx = db.
    column = lambda x: x[..., None] if right is None else x
    expected = linalg.solve(a, column(t_b) - t_a @ column(out)).reshape(out.shape)
    np.testing.assert_allclose(jvp(linalg.solve, (a, b), (t_a, t_b))[1], expected, rtol=1e-9, atol=1e-12)
    ct_a, ct_b = pull(ct)
    assert (ct_a.shape, ct_a.dtype, ct_b.shape, ct_b.dtype) == (a.shape, a.dtype, b.shape, b.dtype)
    np.testing.assert_allclose(
        pairing(ct_a, t_a) + pairing(ct_b, t_b), pairing(ct, expected), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("b_shape", [(2,), (2, 1), (3, 2, 2)], ids=str)
def test_solve_batched_in_either_operand(b_shape: Any) -> None:
    a, b = matrix(3, 2, 2), RNG.normal(size=(3, *b_shape))
    for axes in ([0, 0], [0, None], [None, 0]):
        chosen = [x if axis == 0 else x[0] for x, axis in zip((a, b), axes, strict=True)]
        check_vmap(linalg.solve, chosen, axes)
        check_vmap(lambda a, b: vjp(linalg.solve, a, b)[1](np.ones(b_shape)), chosen, axes)


def test_one_right_side_of_many_matrices_collects_from_all() -> None:
    stack = np.stack([np.eye(2), 2 * np.eye(2)])
    np.testing.assert_array_equal(
        grad(lambda b: np.sum(linalg.solve(stack, b)))(np.array([1.0, 2.0])), [1.5, 1.5]
    )
    gradient = grad(lambda b: np.sum(linalg.solve(stack, b) ** 2))(np.array([[1.0, 0.0], [2.0, 3.0]]))
    np.testing.assert_array_equal(gradient, [[2.5, 0], [5, 7.5]])


def test_tensorsolve_and_tensorinv_are_solve_and_inv_reshaped() -> None:
    a, b = matrix(6, 6).reshape(2, 3, 6), RNG.normal(size=(2, 3))
    check_grads(linalg.tensorsolve, (a, b))
    np.testing.assert_allclose(
        grad(lambda a: np.sum(linalg.tensorsolve(a, b)))(a).reshape(6, 6),
        grad(lambda a: np.sum(linalg.solve(a, b.ravel())))(a.reshape(6, 6)),
    )
    moved = np.moveaxis(a, -1, 0)
    check_grads(lambda a: linalg.tensorsolve(a, b, axes=(0,)), (moved,))
    check_grads(lambda a: linalg.tensorinv(a, ind=2), (a,))
    check_grads(lambda a: linalg.tensorinv(a, ind=1), (moved,))


# ---- inverses --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [float, complex])
def test_the_inverse(dtype: Any) -> None:
    a, t = matrix(2, 3, 3, dtype=dtype), matrix(2, 3, 3, dtype=dtype)
    inverse = linalg.inv(a)
    np.testing.assert_allclose(jvp(linalg.inv, (a,), (t,))[1], -inverse @ t @ inverse)
    check_grads(linalg.inv, (a,), order=2)


def test_the_second_derivative_of_an_inverse_along_a_line() -> None:
    a = np.array([[2.0, 1.0], [1.0, 3.0]])
    second = hessian(lambda s: linalg.inv(a + s * np.eye(2)))(0.0)
    np.testing.assert_allclose(second, 2 * linalg.matrix_power(linalg.inv(a), 3))


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize(
    ("m", "n", "rank"), [(4, 3, 3), (3, 4, 3), (3, 3, 3), (4, 3, 2), (3, 4, 1), (3, 3, 2)]
)
def test_the_pseudo_inverse_at_constant_rank(m: int, n: int, rank: int, dtype: Any) -> None:
    """A perturbation that keeps the rank has the pseudo-inverse's derivative, if deficient too."""
    left, right = matrix(m, rank, dtype=dtype), matrix(rank, n, dtype=dtype)
    check_grads(lambda left, right: linalg.pinv(left @ right), (left, right), order=2)
    a, t, ct = left @ right, matrix(m, n, dtype=dtype), matrix(n, m, dtype=dtype)
    pulled, pushed = vjp(linalg.pinv, a)[1](ct)[0], jvp(linalg.pinv, (a,), (t,))[1]
    assert pairing(pulled, t) == pytest.approx(pairing(ct, pushed))


def test_the_pseudo_inverse_of_a_hermitian_matrix_has_a_symmetric_gradient() -> None:
    left = matrix(3, 2)
    check_grads(lambda left: linalg.pinv(left @ left.T, hermitian=True), (left,), order=2)
    gradient = grad(lambda a: linalg.pinv(a, hermitian=True)[0, 1])(left @ left.T)
    np.testing.assert_allclose(gradient, gradient.T)


def test_the_cutoff_of_the_pseudo_inverse_is_respected() -> None:
    a = np.diag([1.0, 1e-3])
    np.testing.assert_allclose(grad(lambda a: linalg.pinv(a, rcond=0.01)[0, 0])(a), [[-1, 0], [0, 0]])
    np.testing.assert_allclose(
        grad(lambda a: linalg.pinv(a, rtol=1e-6)[1, 1])(a), [[0, 0], [0, -1e6]], rtol=1e-9
    )


# ---- least squares ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("b_shape", [(4,), (4, 1), (4, 3)], ids=str)
def test_least_squares(b_shape: Any, dtype: Any) -> None:
    a, b = matrix(4, 2, dtype=dtype), matrix(4, 3, dtype=dtype).ravel()[: np.prod(b_shape)].reshape(b_shape)

    def parts(a: Any, b: Any) -> Any:
        x, residuals, _, s = linalg.lstsq(a, b)
        return x, residuals, s

    check_grads(parts, (a, b), order=2)
    normal = lambda a, b: linalg.solve(a.conj().T @ a, a.conj().T @ b)
    ct = RNG.normal(size=(2, *b_shape[1:])).astype(dtype)
    came, expected = (vjp(f, a, b)[1](ct) for f in (lambda a, b: linalg.lstsq(a, b)[0], normal))
    np.testing.assert_allclose(came[0], expected[0], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(came[1], expected[1], rtol=1e-8, atol=1e-10)


def test_least_squares_of_few_equations_and_of_deficient_matrices() -> None:
    check_grads(lambda a, b: linalg.lstsq(a, b)[0], (matrix(2, 4), RNG.normal(size=2)), order=2)
    left, right, b = matrix(4, 2), matrix(2, 3), RNG.normal(size=4)
    check_grads(lambda left, right, b: linalg.lstsq(left @ right, b)[0], (left, right, b), order=2)


def test_least_squares_returns_what_numpy_does() -> None:
    a, b = matrix(4, 2), RNG.normal(size=4)
    for came, expected in zip(vjp(linalg.lstsq, a, b)[0], linalg.lstsq(a, b), strict=True):
        np.testing.assert_array_equal(came, expected)
        assert np.asarray(came).dtype == np.asarray(expected).dtype


# ---- powers, rank, condition -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [-3, -1, 0, 1, 2, 3, 7, np.int64(2)])
def test_powers_are_repeated_products(n: int) -> None:
    a = matrix(2, 2, 2)
    by_hand = lambda a: np.linalg.inv(a) if n < 0 else a
    value, gradient = value_and_grad(lambda a: np.sum(linalg.matrix_power(a, n)))(a)

    def repeated(a: Any) -> Any:
        out = 0 * a + np.eye(2)
        for _ in range(abs(n)):
            out = out @ by_hand(a)
        return np.sum(out)

    expected_value, expected = value_and_grad(repeated)(a)
    np.testing.assert_allclose(value, expected_value)
    np.testing.assert_allclose(gradient, expected, atol=1e-14)


def test_the_rank_is_constant() -> None:
    gradient = grad(lambda m: linalg.matrix_rank(m) * np.sum(m))(np.eye(2))
    np.testing.assert_array_equal(gradient, np.full((2, 2), 2.0))
    stack = np.stack([np.eye(2), np.ones((2, 2)), np.zeros((2, 2))])
    np.testing.assert_array_equal(vmap(linalg.matrix_rank)(stack), [2, 1, 0])
    np.testing.assert_array_equal(vmap(linalg.matrix_rank)(np.array([[0.0, 0], [0, 1]])), [0, 1])


def test_the_condition_of_a_singular_matrix_is_infinite_without_a_derivative() -> None:
    a = np.ones((2, 2))
    for p in (1, "fro", np.inf):
        value, gradient = value_and_grad(lambda a, p=p: linalg.cond(a, p))(a)
        assert value == np.inf
        assert np.isnan(gradient).all()
    stack = np.stack([np.diag([1.0, 2.0]), a])
    gradient = grad(lambda a: np.sum(linalg.cond(a, 1)))(stack)
    np.testing.assert_allclose(gradient[0], grad(lambda a: linalg.cond(a, 1))(stack[0]))
    with np.errstate(all="ignore"):
        assert not np.isfinite(grad(linalg.cond)(np.diag([1.0, 0.0]))).all()


def test_the_condition_by_singular_values() -> None:
    np.testing.assert_allclose(grad(linalg.cond)(np.diag([4.0, 2.0])), [[0.5, 0], [0, -1]])
    np.testing.assert_allclose(
        grad(lambda a: linalg.cond(a, -2))(np.diag([4.0, 2.0])), [[-0.125, 0], [0, 0.25]]
    )


# ---- shared ----------------------------------------------------------------------------------------------------------


def test_a_matrix_that_is_not_used_may_be_bad() -> None:
    stack = np.stack([np.diag([1.0, 2.0]), np.full((2, 2), np.nan)])
    used = np.array([True, False])
    for function in (
        linalg.inv,
        linalg.det,
        lambda a: linalg.slogdet(a)[1],
        lambda a: linalg.norm(a, axis=(1, 2)),
    ):
        taken = lambda a, f=function: np.sum(np.where(used.reshape((2,) + (1,) * (f(a).ndim - 1)), f(a), 0))
        gradient = grad(taken)(stack)
        np.testing.assert_array_equal(gradient[1], 0)
        np.testing.assert_allclose(gradient[0], grad(lambda a, f=function: np.sum(f(a)[0]))(stack)[0])


@pytest.mark.parametrize(
    "function", [linalg.inv, linalg.pinv, linalg.det, linalg.cond, lambda a: linalg.solve(a, a[0])]
)
def test_single_precision_is_kept(function: Any) -> None:
    a = matrix(3, 3).astype(np.float32)
    assert grad(lambda a: np.sum(function(a)))(a).dtype == np.float32
    assert jvp(function, (a,), (a,))[1].dtype == np.float32


REFUSED = [
    (lambda a: linalg.inv(a), np.ones((2, 2)), linalg.LinAlgError, "Singular"),
    (lambda a: linalg.inv(a), np.ones((2, 3)), linalg.LinAlgError, "square"),
    (lambda a: linalg.solve(a, np.ones(3)), np.eye(2), ValueError, "solve"),
    (lambda a: linalg.matrix_power(a, 0.5), np.eye(2), TypeError, "integer"),
    (lambda a: linalg.matrix_power(a, 2), np.ones((2, 3)), linalg.LinAlgError, "square"),
    (lambda a: linalg.tensorsolve(a, np.ones(2)), np.ones((2, 3)), linalg.LinAlgError, "tensorsolve"),
    (lambda a: linalg.tensorinv(a, ind=0), np.ones((2, 2)), ValueError, "ind"),
    (lambda a: linalg.cond(a), np.ones((0, 0)), linalg.LinAlgError, "empty"),
    (lambda a: linalg.pinv(a, cutoff=0), np.eye(2), TypeError, "cutoff"),
]


@pytest.mark.parametrize(("call", "a", "error", "text"), REFUSED)
def test_refused(call: Any, a: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        vjp(call, a)
