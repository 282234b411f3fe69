"""Determinants of regular and singular matrices, to third order, against the polynomial written out."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from funcgrad import grad, hessian, jacfwd, jacrev, jvp, vmap
from funcgrad.rules.determinants import adjugate
from funcgrad.testing import check_grads

det, slogdet = np.linalg.det, np.linalg.slogdet
RNG = np.random.default_rng(3)


def of_rank(n: int, rank: int, *stack: int, dtype: Any = float) -> Any:
    """Random matrices of this rank."""
    left, right = (RNG.normal(size=(*stack, *shape)) for shape in ((n, rank), (rank, n)))
    if dtype is complex:
        left, right = (x + 1j * RNG.normal(size=x.shape) for x in (left, right))
    return left @ right


def written_out(a: Any) -> Any:
    """The determinant as the sum over permutations that defines it."""
    n = a.shape[-1]
    total = 0
    for order in permutations(range(n)):
        sign = (-1) ** sum(order[i] > order[j] for j in range(n) for i in range(j))
        term = sign * a[0, order[0]]
        for row in range(1, n):
            term = term * a[row, order[row]]
        total = total + term
    return total


def cofactors(a: Any) -> Any:
    """By minors."""
    n = len(a)
    minor = lambda i, j: det(np.delete(np.delete(a, i, 0), j, 1))
    return np.array([[(-1) ** (i + j) * minor(i, j) for j in range(n)] for i in range(n)])


RANKS = [(n, rank) for n in range(1, 6) for rank in range(n + 1)]


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize(("n", "rank"), RANKS)
def test_the_gradient_is_made_of_cofactors(n: int, rank: int, dtype: Any) -> None:
    a = of_rank(n, rank, dtype=dtype)
    expected = cofactors(a)
    gradient = grad(det, holomorphic=dtype is complex)(a)
    np.testing.assert_allclose(gradient, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(jacfwd(det, holomorphic=dtype is complex)(a), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(adjugate(a, det(a)), expected.T, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("n", "rank"), [(2, 1), (3, 0), (3, 1), (4, 0), (4, 1), (4, 2), (4, 3), (4, 4)])
def test_second_and_third_derivatives_are_those_of_the_polynomial(n: int, rank: int) -> None:
    a = of_rank(n, rank)
    np.testing.assert_allclose(hessian(det)(a), hessian(written_out)(a), rtol=1e-8, atol=1e-9)
    directions = RNG.normal(size=(3, n, n))

    def third(f: Any) -> Any:
        along = lambda g, v: lambda a: jvp(g, (a,), (v,))[1]
        return along(along(along(f, directions[0]), directions[1]), directions[2])(a)

    np.testing.assert_allclose(third(det), third(written_out), rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(jacrev(jacrev(det))(a), hessian(written_out)(a), rtol=1e-8, atol=1e-9)


def test_a_stack_may_mix_ranks_and_be_batched() -> None:
    stack = np.stack([of_rank(5, rank) for rank in (5, 4, 3, 0, 5)])
    expected = np.stack([cofactors(a) for a in stack])
    np.testing.assert_allclose(grad(lambda a: np.sum(det(a)))(stack), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(vmap(grad(det))(stack), expected, rtol=1e-9, atol=1e-12)
    second = np.stack([hessian(det)(a) for a in stack])
    np.testing.assert_allclose(vmap(hessian(det))(stack), second, rtol=1e-8, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from([0.0, 1e-150, 1e-9, 1e-3, 1.0, 1e6, 1e120]), min_size=2, max_size=6))
def test_diagonal_matrices_of_any_scale(values: Any) -> None:
    """(NumPy's determinant, too, multiplies a few numbers first, and must not underflow on the way.)"""
    some = [v for v in values if v]
    with np.errstate(over="ignore", under="ignore"):
        products = [np.prod(chosen) for n in range(1, len(some) + 1) for chosen in combinations(some, n)]
        if not all(1e-280 < x < 1e280 for x in products):
            return
        others = [np.prod(np.delete(values, i)) for i in range(len(values))]
        gradient = grad(det)(np.diag(values))
    np.testing.assert_allclose(gradient, np.diag(others), rtol=1e-9, atol=1e-290)


def test_the_second_derivative_along_a_line_through_zero() -> None:
    a = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert grad(grad(lambda s: det(s * a)))(0.0) == pytest.approx(2 * det(a))


def test_the_checker_passes_at_a_singular_matrix() -> None:
    check_grads(det, (np.array([[1.0, 2.0], [2.0, 4.0]]),), order=3)
    check_grads(det, (of_rank(4, 2),), order=2)


def test_shapes_and_dtypes() -> None:
    assert grad(det)(np.zeros((0, 0))).shape == (0, 0)
    assert grad(lambda a: np.sum(det(a)))(np.zeros((0, 4, 4))).shape == (0, 4, 4)
    for n in (2, 3, 4):
        for a in (np.eye(n, dtype=np.float32), np.zeros((n, n), np.float32)):
            assert grad(det)(a).dtype == np.float32


# ---- slogdet ---------------------------------------------------------------------------------------------------------


def test_the_logarithm_has_the_inverse_for_a_gradient() -> None:
    a = of_rank(4, 4)
    np.testing.assert_allclose(grad(lambda a: slogdet(a).logabsdet)(a), np.linalg.inv(a).T, rtol=1e-9)
    np.testing.assert_array_equal(grad(lambda a: slogdet(a).sign)(a), 0)


def test_the_sign_of_a_complex_determinant_turns() -> None:
    a, t = of_rank(3, 3, dtype=complex), of_rank(3, 3, dtype=complex)
    (sign, logarithm), (moved_sign, moved_logarithm) = jvp(slogdet, (a,), (t,))
    expected = np.trace(np.linalg.solve(a, t))  # of the logarithm of the determinant
    np.testing.assert_allclose(moved_logarithm, expected.real, rtol=1e-9)
    np.testing.assert_allclose(moved_sign, 1j * sign * expected.imag, rtol=1e-9, atol=1e-12)
    rebuilt = lambda a: slogdet(a).sign * np.exp(slogdet(a).logabsdet)
    np.testing.assert_allclose(grad(rebuilt, holomorphic=True)(a), cofactors(a), rtol=1e-9)
    assert np.isfinite(logarithm)


def test_a_large_determinant_keeps_its_logarithm() -> None:
    a = 1e200 * np.eye(4)
    np.testing.assert_allclose(grad(lambda a: slogdet(a)[1])(a), 1e-200 * np.eye(4))


def test_a_singular_matrix_has_no_logarithm_but_the_others_do() -> None:
    stack = np.stack([np.ones((2, 2)), 2 * np.eye(2)])
    logarithms = lambda a: slogdet(a).logabsdet
    gradient = grad(lambda a: np.sum(logarithms(a)))(stack)
    assert np.isnan(gradient[0]).all()
    np.testing.assert_array_equal(gradient[1], np.eye(2) / 2)
    np.testing.assert_array_equal(grad(lambda a: logarithms(a)[1])(stack), [np.zeros((2, 2)), np.eye(2) / 2])
    second = hessian(lambda a: np.sum(logarithms(a)))(stack)
    assert np.isnan(second[0, :, :, 0]).all()
    np.testing.assert_allclose(second[1, :, :, 1], hessian(logarithms)(stack[1]))


@pytest.mark.parametrize("scale", [1e70, 1e-70])
def test_elements_whose_products_leave_the_range(scale: float) -> None:
    a = of_rank(4, 4)
    t = a[::-1]
    np.testing.assert_allclose(grad(det)(scale * a), grad(det)(a) * scale**3, rtol=1e-12)
    along = lambda a: np.sum(grad(det)(a) * (scale * t))
    truth = grad(lambda a: np.sum(grad(det)(a) * t))(a)
    np.testing.assert_allclose(grad(along)(scale * a), truth * scale**3, rtol=1e-11)
    np.testing.assert_allclose(
        jvp(lambda a: jvp(det, (a,), (scale * t,))[1], (scale * a,), (scale * t,))[1],
        np.sum(truth * t) * scale**4,
        rtol=1e-11,
    )
    assert np.isinf(jvp(det, (1e150 * a,), (1e150 * a,))[1])  # 4e600 det(a)
