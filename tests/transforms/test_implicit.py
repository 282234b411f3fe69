"""fixed_point and root: derivatives of solutions, whatever it took to find them."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.optimize

from funcgrad import checkpoint, fixed_point, grad, hessian, jacfwd, jacrev, jvp, linearize, root, vmap
from funcgrad.errors import ArgumentError, ConvergenceError
from funcgrad.testing import check_grads

W, B = np.array([[0.2, -0.3], [0.1, 0.25]]), np.array([0.5, -1.0])

SOLVERS: dict[str, Callable[[Any, Any], Any]] = {
    "fixed_point": lambda w, b: fixed_point(lambda x, w, b: np.tanh(w @ x + b), np.zeros(2), w, b),
    "fixed_point, closure": lambda w, b: fixed_point(lambda x: np.tanh(w @ x + b), np.zeros(2)),
    "root": lambda w, b: root(lambda x, w, b: x - np.tanh(w @ x + b), np.zeros(2), w, b),
    "root, closure": lambda w, b: root(lambda x: x - np.tanh(w @ x + b), np.zeros(2)),
}


def unrolled(w: Any, b: Any) -> Any:
    """The same, differentiated through the iteration."""
    x = np.zeros(2)
    for _ in range(60):
        x = np.tanh(w @ x + b)
    return x


def squared(f: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda w, b: np.sum(f(w, b) ** 2)


@pytest.mark.parametrize("name", SOLVERS)
def test_derivatives_are_those_of_the_unrolled_iteration(name: str) -> None:
    solver = SOLVERS[name]
    np.testing.assert_allclose(solver(W, B), unrolled(W, B), atol=1e-11)
    check_grads(solver, (W, B), order=2)
    for transform in (jacrev, jacfwd, lambda f, argnums: hessian(squared(f), argnums)):
        for argnums in (0, 1):
            found, expected = (transform(f, argnums=argnums)(W, B) for f in (solver, unrolled))
            np.testing.assert_allclose(found, expected, atol=1e-9)
    third = [grad(lambda b, f=f: np.sum(hessian(squared(f), 1)(W, b) ** 2))(B) for f in (solver, unrolled)]
    np.testing.assert_allclose(third[0], third[1], rtol=1e-7)


@pytest.mark.parametrize("name", SOLVERS)
def test_vmap(name: str) -> None:
    solver = SOLVERS[name]
    rows = np.stack([B, 2 * B, B + 1])
    shared = (None, 0)
    np.testing.assert_allclose(vmap(solver, shared)(W, rows), vmap(unrolled, shared)(W, rows), atol=1e-10)
    for order in (grad, hessian):
        found, expected = (vmap(order(squared(f), 1), shared)(W, rows) for f in (solver, unrolled))
        np.testing.assert_allclose(found, expected, atol=1e-9)
        found, expected = (
            order(lambda w, f=f: np.sum(vmap(squared(f), shared)(w, rows)))(W) for f in (solver, unrolled)
        )
        np.testing.assert_allclose(found, expected, atol=1e-9)
    tangents = [jvp(lambda w, f=f: vmap(f, shared)(w, rows), (W,), (W,))[1] for f in (solver, unrolled)]
    np.testing.assert_allclose(tangents[0], tangents[1], atol=1e-9)


def test_a_batch_of_starts() -> None:
    starts = np.stack([B, 0 * B, -B])

    def total(w: Any) -> Any:
        return np.sum(vmap(lambda x0: fixed_point(lambda x: np.tanh(w @ x + B), x0))(starts))

    np.testing.assert_allclose(grad(total)(W), 3 * grad(lambda w: np.sum(unrolled(w, B)))(W), atol=1e-10)


def test_a_batch_that_the_solution_does_not_depend_on() -> None:
    found = vmap(lambda b: fixed_point(lambda x: np.cos(x) * W[0, 0], 0.0) + b[0])(np.stack([B, B]))
    assert found[0] == found[1]


def test_the_start_has_no_derivative() -> None:
    assert grad(lambda x0: fixed_point(lambda x: np.cos(x), x0))(0.5) == 0
    assert grad(lambda x0: root(lambda x: x - np.cos(x), x0))(0.5) == 0


def test_beside_other_transforms() -> None:
    loss = squared(SOLVERS["fixed_point, closure"])
    expected = grad(squared(unrolled), 1)(W, B)
    np.testing.assert_allclose(grad(checkpoint(loss), 1)(W, B), expected, atol=1e-9)
    np.testing.assert_allclose(linearize(lambda b: loss(W, b), B)[1](np.ones(2)), expected.sum(), atol=1e-9)


def test_trees() -> None:
    def solve(a: Any) -> Any:
        start = {"p": 0, "q": (np.zeros(2), 0.0)}
        return fixed_point(
            lambda s, k: {
                "p": np.cos(s["q"][1] * a) / 2,
                "q": (s["p"] * np.ones(2) * k["a"] / 2, s["p"] * k["a"] / 2),
            },
            start,
            {"a": a, "note": "text"},
        )

    solution = solve(1.3)
    assert solution["p"] == pytest.approx(np.cos(solution["p"] * 1.3 / 2 * 1.3) / 2)
    check_grads(solve, (1.3,), order=2)


def test_numbers_stay_numbers_and_precision_stays() -> None:
    half = fixed_point(lambda x, a: (x + a / x) / 2, 1, 2.0)
    assert type(half) is np.float64
    assert half == pytest.approx(np.sqrt(2), rel=1e-12)
    single = lambda a: fixed_point(lambda x, a: (x + a / x) / 2, np.float32(1), a)
    assert single(np.float32(2)).dtype == np.float32
    assert grad(single)(np.float32(2)).dtype == np.float32


def test_complex_fixed_points() -> None:
    solve = lambda a: fixed_point(lambda x, a: a * np.exp(-x), 0j, a)
    a = 0.5 + 0.2j
    x = solve(a)
    assert grad(solve, holomorphic=True)(a) == pytest.approx(np.exp(-x) / (1 + a * np.exp(-x)))
    check_grads(solve, (a,), order=2)


def test_branches_are_those_at_the_solution() -> None:
    check_grads(
        lambda a: fixed_point(lambda x: 0.3 * np.where(x > 0, a * x, 5 * x) + a, -1.0), (0.7,), order=2
    )
    check_grads(lambda a: fixed_point(lambda x: 0.3 * a * x + a if x > 0 else x + 2.0, -1.0), (0.7,), order=2)


def test_no_derivative_runs_through_the_iteration() -> None:
    big = np.linspace(0.1, 0.5, 10_000)

    def memory(steps: int) -> int:
        slow = lambda a: np.sum(fixed_point(lambda x: x + (a - x) / steps, np.zeros(10_000), atol=1e-3))
        grad(slow)(big)
        tracemalloc.start()
        grad(slow)(big)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    assert memory(40) < 1.3 * memory(2)


# ---- solvers ---------------------------------------------------------------------------------------------------------


def test_a_solver_of_another_library() -> None:
    def cube_root(a: Any) -> Any:
        return root(
            lambda x, a: x**3 - a,
            1.0,
            a,
            solver=lambda g, _: scipy.optimize.brentq(lambda x: float(g(x)), 0, 10),
        )

    assert cube_root(8.0) == pytest.approx(2)
    check_grads(cube_root, (8.0,), order=3)

    def equilibrium(b: Any) -> Any:
        solver = lambda g, x0: scipy.optimize.fixed_point(g, x0, xtol=1e-14)
        return fixed_point(lambda x: np.tanh(W @ x + b), np.zeros(2), solver=solver)

    np.testing.assert_allclose(jacrev(equilibrium)(B), jacrev(unrolled, 1)(W, B), atol=1e-9)


def test_newtons_steps_are_halved_where_they_overshoot() -> None:
    assert root(np.arctan, 20.0) == pytest.approx(0, abs=1e-12)
    circle = root(lambda x: np.stack([x @ x - 1, x[0] - x[1]]), np.array([1.0, 0.5]))
    np.testing.assert_allclose(circle, [np.sqrt(0.5)] * 2)


def test_the_equations_of_root_may_have_another_structure() -> None:
    found = root(lambda s: (s["x"] + s["y"] - 3, [s["x"] - s["y"] - 1]), {"x": 0.0, "y": 0.0})
    assert (found["x"], found["y"]) == (pytest.approx(2), pytest.approx(1))


# ---- misuse ----------------------------------------------------------------------------------------------------------

WRONG: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "no contraction": (
        lambda: fixed_point(lambda x: 2 * x + 1, 1.0),
        ConvergenceError,
        "fixed_point did not converge",
    ),
    "too slow": (
        lambda: fixed_point(lambda x: 0.999 * x + 1, 1.0, max_steps=50),
        ConvergenceError,
        "after 50 steps it still changed by 0.95",
    ),
    "NaN": (lambda: fixed_point(lambda x: np.log(x - 5), 1.0), ConvergenceError, "became NaN or inf"),
    "no root": (lambda: root(lambda x: x**2 + 1, 1.0), ConvergenceError, "root did not converge"),
    "a root where nothing changes": (
        lambda: root(lambda x: 0 * x + 1, 1.0),
        ConvergenceError,
        "Jacobian became singular",
    ),
    "the derivative does not converge": (
        lambda: grad(lambda a: fixed_point(lambda x: x * a, 0.0))(2.0),
        ConvergenceError,
        "fixed_point did not converge",
    ),
    "another shape": (
        lambda: fixed_point(lambda x: np.ones(3), np.ones(2)),
        ArgumentError,
        r"returned shape \(3,\) for x of shape \(2,\)",
    ),
    "another structure": (
        lambda: fixed_point(lambda x: (x,), 1.0),
        ArgumentError,
        "expected a leaf, found .* look like x0",
    ),
    "no numbers": (lambda: fixed_point(lambda x: "text", 1.0), ArgumentError, "must return numbers, not str"),
    "a start of text": (
        lambda: fixed_point(lambda x: x, "text"),
        ArgumentError,
        "x0 must hold numbers, not str",
    ),
    "too many equations": (
        lambda: root(lambda x: np.ones(3), np.ones(2)),
        ArgumentError,
        "returned 3 numbers for 2 unknowns",
    ),
    "no function": (lambda: fixed_point(3, 1.0), ArgumentError, "fixed_point takes a function, not int"),  # type: ignore[arg-type]
    "no solver": (
        lambda: root(lambda x: x, 1.0, solver=3),
        ArgumentError,
        "root: solver= takes a function, not int",
    ),  # type: ignore[arg-type]
    "no steps": (
        lambda: fixed_point(np.cos, 1.0, max_steps=0),
        ArgumentError,
        "max_steps must be an int of at least 1, not 0",
    ),
    "half a step": (lambda: root(np.cos, 1.0, max_steps=2.5), ArgumentError, "max_steps must be an int"),  # type: ignore[arg-type]
    "a tolerance below 0": (
        lambda: fixed_point(np.cos, 1.0, rtol=-1.0),
        ArgumentError,
        "rtol must be at least 0",
    ),
    "complex roots": (lambda: root(lambda x: x * x + 1, 1j), ArgumentError, "x0 is complex"),
}


@pytest.mark.parametrize("name", WRONG)
def test_misuse(name: str) -> None:
    run, error, message = WRONG[name]
    with np.errstate(all="ignore"), pytest.raises(error, match=message):
        run()
