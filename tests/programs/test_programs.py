"""Programs that assign: NumPy's values, right derivatives in all modes, arguments left alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from funcgrad import grad, hvp, jacrev, jvp, tree, vjp, vmap
from funcgrad.testing import check_grads
from tests.programs import algebra, physics, sequences

RNG = np.random.default_rng(0)


def drawn(*shape: int, low: float = -1.0, high: float = 1.0) -> Any:
    """Numbers in this range."""
    return RNG.uniform(low, high, shape)


class Case(NamedTuple):
    """A program, its arguments, and whether vmap can run it (not if a branch depends on the numbers)."""

    program: Callable[..., Any]
    args: tuple[Any, ...]
    has_branches: bool = False


SPD = (lambda m: m @ m.T + 3 * np.eye(3))(drawn(3, 3))
CASES = [
    Case(physics.heat, (drawn(5), np.float64(0.2))),
    Case(physics.oscillator, (drawn(2), np.float64(1.3))),
    Case(physics.particles, (drawn(3, 2), drawn(3, 2))),
    Case(physics.life, (drawn(3, 4, low=0.1),)),
    Case(physics.advection, (drawn(5), np.float64(0.3))),
    Case(algebra.gauss, (drawn(3, 3), drawn(3)), has_branches=True),
    Case(algebra.gram_schmidt, (drawn(3, 4),)),
    Case(algebra.lu, (drawn(3, 3) + 3 * np.eye(3),)),
    Case(algebra.cholesky, (SPD,)),
    Case(algebra.thomas, (drawn(3), drawn(4, low=3, high=4), drawn(3), drawn(4))),
    Case(sequences.soft_edit_distance, (drawn(3, 2, low=0.0), np.float64(0.7))),
    Case(sequences.kalman, (drawn(5), np.float64(0.3), np.float64(0.6))),
    Case(sequences.moving_mean, (drawn(5),)),
    Case(sequences.fourier, (drawn(8) + 1j * drawn(8),)),
    Case(sequences.bubble_sort, (drawn(5),), has_branches=True),
    Case(sequences.histogram, (drawn(6, low=0.1, high=3.9), drawn(6))),
]
of_each = pytest.mark.parametrize("case", CASES, ids=lambda case: case.program.__name__)


def copies(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """New arrays with the same elements, for a program to use up."""
    return tuple(np.copy(x) if np.ndim(x) else x for x in args)


def sparing(program: Callable[..., Any]) -> Callable[..., Any]:
    """The program on copies of its arguments."""
    return lambda *args: program(*(x.copy() for x in args))


def same(found: Any, expected: Any) -> None:
    """The same structure, and the same numbers to the last bit."""
    assert tree.structure(found) == tree.structure(expected)
    for x, y in zip(tree.leaves(found), tree.leaves(expected), strict=True):
        np.testing.assert_array_equal(x, y)


def close(found: Any, expected: Any) -> None:
    """The same numbers, up to rounding."""
    for x, y in zip(tree.leaves(found), tree.leaves(expected), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-11)


@of_each
def test_values_are_those_of_numpy_and_arguments_stay(case: Case) -> None:
    expected = case.program(*copies(case.args))
    args = copies(case.args)
    same(vjp(case.program, *args)[0], expected)
    same(jvp(case.program, args, args)[0], expected)
    same(args, case.args)


@of_each
def test_derivatives_to_second_order(case: Case) -> None:
    check_grads(sparing(case.program), case.args, order=2)


@of_each
def test_a_program_that_uses_up_its_arguments_has_the_gradient_of_one_that_copies_them(case: Case) -> None:
    out, pull = vjp(case.program, *copies(case.args))
    cts = tree.map(np.ones_like, out)
    close(pull(cts), vjp(sparing(case.program), *case.args)[1](cts))


@of_each
def test_batches(case: Case) -> None:
    if case.has_branches:
        pytest.skip("the branches that it takes depend on the numbers")
    batch = tuple(np.stack([x, 1.1 * x, 0.9 * x]) for x in case.args)
    examples = [tuple(x[k] for x in batch) for k in range(3)]

    def loss(*args: Any) -> Any:
        return sum(np.sum(np.abs(x) ** 2) for x in tree.leaves(case.program(*args)))

    close(
        vmap(case.program)(*copies(batch)),
        tree.map(lambda *xs: np.stack(xs), *(case.program(*copies(e)) for e in examples)),
    )
    gradient = grad(loss, argnums=tuple(range(len(batch))))
    close(
        vmap(gradient)(*copies(batch)),
        tree.map(lambda *xs: np.stack(xs), *(gradient(*copies(e)) for e in examples)),
    )


# ---- what mathematics says -------------------------------------------------------------------------------------------


def pulled(case_of: Callable[..., Any], ct: Any, *args: Any) -> Any:
    """The cotangents of the arguments for the cotangent `ct` of the output."""
    return vjp(case_of, *copies(args))[1](ct)


def test_heat_is_a_power_of_a_matrix() -> None:
    rate, ct = 0.2, drawn(5, 5)
    step = np.eye(5)
    for i in range(1, 4):
        step[i, i - 1 : i + 2] += rate * np.array([1, -2, 1])
    expected = sum(np.linalg.matrix_power(step.T, n) @ ct[n] for n in range(5))
    close(pulled(physics.heat, ct, drawn(5), np.float64(rate))[0], expected)


def test_the_method_of_runge_and_kutta_is_a_polynomial_in_the_step() -> None:
    stiffness, h, ct = 1.3, 0.3, drawn(4, 2)
    a = h * np.array([[0, 1], [-stiffness, 0]])
    step = np.eye(2) + a + a @ a / 2 + a @ a @ a / 6 + a @ a @ a @ a / 24
    expected = sum(np.linalg.matrix_power(step.T, n) @ ct[n] for n in range(4))
    close(pulled(physics.oscillator, ct, drawn(2), np.float64(stiffness))[0], expected)


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 0, 2, 1]])
def test_elimination_solves_a_system(order: list[int]) -> None:
    a, b, ct = (drawn(4, 4) + 4 * np.eye(4))[order], drawn(4), drawn(4)
    ct_b = np.linalg.solve(a.T, ct)
    close(pulled(algebra.gauss, ct, a, b), (-np.outer(ct_b, np.linalg.solve(a, b)), ct_b))


def test_a_tridiagonal_system() -> None:
    below, on, above, right, ct = drawn(4), drawn(5, low=3, high=4), drawn(4), drawn(5), drawn(5)
    a = np.diag(below, -1) + np.diag(on) + np.diag(above, 1)
    ct_right = np.linalg.solve(a.T, ct)
    ct_a = -np.outer(ct_right, np.linalg.solve(a, right))
    expected = (np.diag(ct_a, -1), np.diag(ct_a), np.diag(ct_a, 1), ct_right)
    close(pulled(algebra.thomas, ct, below, on, above, right), expected)


def test_the_logarithm_of_a_determinant() -> None:
    a = drawn(4, 4) + 4 * np.eye(4)
    close(grad(lambda a: np.sum(np.log(np.diag(algebra.lu(a)))))(np.copy(a)), np.linalg.inv(a).T)
    inverse = np.linalg.inv(SPD)
    found = grad(lambda a: 2 * np.sum(np.log(np.diag(algebra.cholesky(a)))))(SPD)
    close(found, 2 * np.tril(inverse) - np.diag(np.diag(inverse)))
    hessian = jacrev(grad(lambda a: np.sum(np.log(np.diag(algebra.lu(a))))))(np.copy(a))
    inverse = np.linalg.inv(a)
    close(hessian, -np.einsum("jk,li->ijkl", inverse, inverse))


def test_orthonormal_rows_are_those_of_qr() -> None:
    rows, ct = drawn(3, 4), drawn(3, 4)

    def by_qr(rows: Any) -> Any:
        q, r = np.linalg.qr(rows.T)
        return (q * np.sign(np.diag(r))).T

    close(pulled(algebra.gram_schmidt, ct, rows), vjp(by_qr, rows)[1](ct))


def test_means_and_transforms_are_linear() -> None:
    ct = drawn(5)
    close(
        pulled(sequences.moving_mean, ct, drawn(5))[0],
        np.tril(np.ones((5, 5)) / np.arange(1, 6)[:, None]).T @ ct,
    )
    ct = drawn(8) + 1j * drawn(8)
    # the matrix is symmetric
    close(pulled(sequences.fourier, ct, drawn(8) + 1j * drawn(8))[0], np.fft.fft(ct))


def test_sorting_moves_cotangents_back_to_where_the_elements_were() -> None:
    x, ct = drawn(6), drawn(6)
    close(pulled(sequences.bubble_sort, ct, x)[0], ct[np.argsort(np.argsort(x))])
    close(hvp(lambda x: np.sum(sequences.bubble_sort(x) ** 3), (x,), (ct,)), 6 * x * ct)


def test_weights_that_are_shared_out() -> None:
    x, weights, ct = drawn(9, low=0.1, high=3.9), drawn(9), drawn(5)
    left = np.floor(x).astype(int)
    rise = ct[left + 1] - ct[left]
    close(pulled(sequences.histogram, ct, x, weights), (weights * rise, ct[left] + (x - left) * rise))


def test_the_ways_of_a_soft_edit_distance_are_probabilities() -> None:
    costs = drawn(3, 4, low=0.0)
    to_costs, to_gap = pulled(
        sequences.soft_edit_distance, np.eye(20)[-1].reshape(4, 5), costs, np.float64(0.7)
    )
    # Each pair that is matched, with the probability that a way matches it, takes the place of two gaps.
    close(to_gap, 3 + 4 - 2 * np.sum(to_costs))
    assert np.all((to_costs > 0) & (to_costs < 1))
