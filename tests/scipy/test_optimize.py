"""Exact derivatives that are filled in for SciPy's solvers, and what is left to differences."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.optimize as so

import funcgrad.numpy as fnp
from funcgrad import grad
from funcgrad.core.engine.trace import Tracer
from funcgrad.errors import NonDifferentiableError
from funcgrad.scipy import optimize

ONES = np.ones(2)
TIMES = np.linspace(0.0, 1.0, 20)
DATA = 1.3 * np.exp(-0.8 * TIMES) + 0.05 * np.sin(9 * TIMES)


def rosen(x: Any) -> Any:
    return fnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def plain_rosen(x: Any) -> Any:
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def circle(x: Any, a: float = 1.0) -> Any:
    return fnp.stack([x[0] ** 2 + x[1] ** 2 - 2 * a, x[0] - x[1] ** 3])


def decay(p: Any) -> Any:
    return p[0] * fnp.exp(-p[1] * TIMES) - DATA


def curve(t: Any, a: Any, b: Any) -> Any:
    return a * fnp.exp(-b * t)


def plain_curve(t: Any, a: Any, b: Any) -> Any:
    return a * np.exp(-b * t)


METHODS = ["CG", "BFGS", "L-BFGS-B", "TNC", "SLSQP", "trust-constr", None]


@pytest.mark.parametrize("method", METHODS)
def test_minimize_is_given_exact_gradients(method: str | None) -> None:
    x0 = np.full(6, 0.3)
    found = optimize.minimize(rosen, x0, method=method)
    theirs = so.minimize(plain_rosen, x0, method=method)
    assert type(found) is so.OptimizeResult
    assert found.nfev < theirs.nfev / 3
    if method != "TNC":  # which stops early in either case
        assert np.max(np.abs(found.x - 1)) < 1e-3


@pytest.mark.parametrize("method", ["Newton-CG", "trust-ncg", "trust-krylov", "trust-exact", "dogleg"])
def test_methods_that_need_derivatives_have_them(method: str) -> None:
    assert optimize.minimize(rosen, np.full(3, 1.1), method=method).success
    assert optimize.minimize(plain_rosen, np.full(3, 1.1), method=method).success


@pytest.mark.parametrize("function", [plain_rosen, so.rosen])
@pytest.mark.parametrize("method", ["BFGS", "SLSQP", "trust-constr"])
def test_plain_functions_are_given_exact_gradients_too(method: str, function: Callable[..., Any]) -> None:
    x0 = np.full(3, 0.3)
    found, theirs = (m.minimize(function, x0, method=method) for m in (optimize, so))
    assert found.nfev <= theirs.nfev / 2
    np.testing.assert_allclose(found.x, theirs.x, rtol=1e-3)


@pytest.mark.parametrize("given", [{"method": "Nelder-Mead"}, {"jac": "3-point"}, {"jac": so.rosen_der}])
def test_what_the_user_gives_is_kept(given: dict[str, Any]) -> None:
    found, theirs = (m.minimize(plain_rosen, np.full(3, 0.3), **given) for m in (optimize, so))
    assert found.nfev == theirs.nfev
    np.testing.assert_array_equal(found.x, theirs.x)


def is_traced(solve: Callable[[Any], Any], function: Callable[..., Any]) -> bool:
    """Does `solve` differentiate the function that it is given?"""
    seen = []

    def watched(*args: Any) -> Any:
        seen.append(args[0])
        return function(*args)

    solve(watched)
    return any(isinstance(x, Tracer) for x in seen)


SOLVERS: dict[str, tuple[Callable[..., Any], Callable[[Any, Any], Any]]] = {
    "least_squares": (decay, lambda o, f: o.least_squares(f, ONES).x),
    "least_squares by lm": (decay, lambda o, f: o.least_squares(f, ONES, method="lm").x),
    "leastsq": (decay, lambda o, f: o.leastsq(f, ONES)[0]),
    "fmin_bfgs": (rosen, lambda o, f: o.fmin_bfgs(f, ONES / 2, disp=False)),
    "fmin_cg": (rosen, lambda o, f: o.fmin_cg(f, ONES / 2, disp=False, gtol=1e-7)),
    "fmin_l_bfgs_b": (rosen, lambda o, f: o.fmin_l_bfgs_b(f, ONES / 2, approx_grad=True, pgtol=1e-9)[0]),
    "fmin_tnc": (rosen, lambda o, f: o.fmin_tnc(f, ONES / 2, approx_grad=True, disp=0, ftol=1e-14)[0]),
    "fmin_ncg": (so.rosen, lambda o, f: o.fmin_ncg(f, ONES / 2, so.rosen_der, disp=False, avextol=1e-9)),
    "root_scalar": (lambda x: fnp.cos(x) - x, lambda o, f: o.root_scalar(f, x0=0.5).root),
    "root": (circle, lambda o, f: o.root(f, 1.2 * ONES).x),
    "root by lm": (circle, lambda o, f: o.root(f, 1.2 * ONES, method="lm", args=(0.9,)).x),
    "fsolve": (circle, lambda o, f: o.fsolve(f, 1.2 * ONES, args=0.9)),
    "newton": (lambda x: fnp.cos(x) - x, lambda o, f: o.newton(f, 0.5)),
    "newton of arrays": (lambda x: fnp.cos(x) - x * np.array([1.0, 1.4]), lambda o, f: o.newton(f, ONES / 2)),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_solvers_are_given_exact_slopes(name: str) -> None:
    function, solve = SOLVERS[name]
    assert is_traced(lambda f: solve(optimize, f), function)
    assert not is_traced(lambda f: solve(so, f), function)
    np.testing.assert_allclose(solve(optimize, function), solve(so, function), rtol=2e-5)


@pytest.mark.parametrize("method", ["lm", "trf", "dogbox"])
def test_curves_are_fitted_with_exact_slopes(method: Any) -> None:
    p, cov, info, *_ = optimize.curve_fit(curve, TIMES, DATA, method=method, full_output=True)
    q, their_cov, their_info, *_ = so.curve_fit(plain_curve, TIMES, DATA, method=method, full_output=True)
    assert info["nfev"] <= their_info["nfev"]
    np.testing.assert_allclose(p, q, rtol=1e-5)
    np.testing.assert_allclose(cov, their_cov, rtol=1e-4)


def test_constraints_are_given_exact_slopes() -> None:
    calls = []

    def constraint(x: Any) -> Any:
        calls.append(x)
        return fnp.stack([x[0] + x[1] ** 2 - 1.2])

    objective = lambda x: fnp.sum((x - 0.3) ** 4)
    solutions = [
        optimize.minimize(objective, ONES, constraints={"type": "eq", "fun": constraint}).x,
        optimize.minimize(
            objective, ONES, method="trust-constr", constraints=so.NonlinearConstraint(constraint, 0.0, 0.0)
        ).x,
    ]
    for x in solutions:
        np.testing.assert_allclose(x[0] + x[1] ** 2, 1.2, atol=1e-8)
    assert any(not isinstance(x, np.ndarray) for x in calls)


def test_what_cannot_be_traced_is_left_to_differences() -> None:
    f = lambda x: math.cos(x[0]) + fnp.sum(x**2)
    found = optimize.minimize(f, ONES)
    assert found.success
    assert found.nfev >= 3 * found.njev
    assert optimize.root(lambda x: fnp.stack([math.sin(x[0]) - 0.3]), [0.2]).success


@pytest.mark.parametrize(
    "f",
    [
        lambda x: float(np.sum(x**2)),
        lambda x: np.sum(x**2) if np.max(x) > 0.1 else math.fsum(x**2),
        lambda x: sum(np.array([0.0 + v for v in x]) ** 2),
    ],
)
def test_plain_functions_that_cannot_be_traced_are_scipys(f: Callable[..., Any]) -> None:
    """At the start, or at a later point."""
    for method in ("BFGS", "L-BFGS-B", "SLSQP", "TNC"):
        assert np.max(np.abs(optimize.minimize(f, ONES, method=method).x)) < 1e-4
    assert abs(optimize.newton(lambda x: float(x) ** 2 - 2, 1.0) - 2**0.5) < 1e-9


def test_points_without_a_finite_slope_are_left_to_differences() -> None:
    f = lambda x: np.sqrt(np.sum(x**2)) * (1 + np.sum(x**2))
    assert np.isfinite(optimize.minimize(f, np.zeros(2)).x).all()
    found = optimize.least_squares(lambda x: np.sqrt(x) - 2, [0.0], bounds=(0, 9))
    np.testing.assert_allclose(found.x, 4, rtol=1e-6)


@pytest.mark.parametrize("given", [{}, {"disp": False, "full_output": True}])
def test_newton_without_a_slope_at_the_start_goes_by_secants(given: dict[str, Any]) -> None:
    """The exact slope is 0 there, or Newton's steps go to and fro."""
    for f, x0 in [(lambda x: x**2 - 2, 0.0), (lambda x: x**3 - 2 * x + 2, 0.0)]:
        found = np.ravel(np.asarray(optimize.newton(f, x0, **given), dtype=object))[0]
        assert abs(f(found)) < 1e-8
        assert found == np.ravel(np.asarray(so.newton(f, x0, **given), dtype=object))[0]


def test_large_problems_are_given_products_with_the_hessian() -> None:
    f = lambda x: np.sum((x - 1) ** 4 + (x - 1) ** 2)
    found = optimize.minimize(f, np.zeros(300), method="trust-constr")
    assert np.max(np.abs(found.x - 1)) < 1e-5


def test_derivatives_of_the_users_are_kept() -> None:
    given = lambda x: 1.0 * so.rosen_der(x)
    calls = []
    optimize.minimize(rosen, ONES / 2, jac=lambda x: calls.append(x) or given(x), method="BFGS")
    assert calls


def test_within_a_transform() -> None:
    seen = []

    def solution(a: Any) -> Any:
        found = optimize.minimize(
            lambda x: np.sum((x - a) ** 4) + np.sum(x**2), ONES, method="BFGS", tol=1e-10
        )
        seen.append(found.nfev)
        return found.x[0]

    x: Any = so.brentq(lambda x: 4 * (x - 1.3) ** 3 + 2 * x, 0, 2)
    assert grad(solution)(1.3) == pytest.approx(12 * (x - 1.3) ** 2 / (12 * (x - 1.3) ** 2 + 2), rel=1e-7)
    assert seen[0] < 20
    fit = lambda scale: optimize.curve_fit(lambda t, a, b: a * np.exp(-b * t), TIMES, DATA * scale)[0]
    assert grad(lambda scale: fit(scale)[0])(1.0) == pytest.approx(
        so.curve_fit(plain_curve, TIMES, DATA)[0][0]
    )


A, B = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 1.0]]), np.array([1.0, -2.0, 0.3])
LEAST: Any = np.linalg.lstsq(A, B, rcond=None)[0]


class Remembering:
    """A problem that computes its residuals once for each point."""

    def __init__(self) -> None:
        self.x: Any = None

    def residuals(self, x: Any) -> Any:
        if self.x is None or not np.array_equal(x, self.x):
            self.x, self.r = x.copy(), A @ x - B
        return self.r

    def loss(self, x: Any) -> Any:
        return self.residuals(x) @ self.residuals(x) + 0.0 * np.sum(x)

    def number(self, x: Any) -> float:
        return float(self.loss(x))


class Best:
    """A loss that remembers its best value, and all of them."""

    def __init__(self) -> None:
        self.value, self.x, self.all = np.inf, None, []

    def __call__(self, x: Any) -> Any:
        value = np.sum((A @ x - B) ** 2)
        self.all.append(value)
        if value < self.value:
            self.value, self.x = value, x.copy()
        assert float(self.value) == np.min(np.array([float(v) for v in self.all[:-1]] + [self.value]))
        return value


def failing(x: Any) -> Any:
    try:
        filled = np.zeros(3)
        filled[:] = A @ x - B
        return np.sum(filled**2)
    except Exception:  # noqa: BLE001 (as users write)
        return 1e10


@pytest.mark.parametrize("method", ["CG", "BFGS", "L-BFGS-B", "SLSQP", "trust-constr"])
@pytest.mark.parametrize(
    "make", [lambda: Remembering().loss, lambda: Remembering().number, Best, lambda: failing]
)
def test_functions_that_remember_or_catch_errors_are_minimised(method: str, make: Callable[[], Any]) -> None:
    function = make()
    found = optimize.minimize(function, np.zeros(2), method=method)
    np.testing.assert_allclose(found.x, LEAST, atol=1e-5)
    np.testing.assert_allclose(function(found.x), np.sum((A @ LEAST - B) ** 2), rtol=1e-8)


def test_residuals_that_are_remembered_are_fitted() -> None:
    for solve in (
        lambda f: optimize.least_squares(f, np.zeros(2)).x,
        lambda f: optimize.leastsq(f, np.zeros(2))[0],
    ):
        np.testing.assert_allclose(solve(Remembering().residuals), LEAST, atol=1e-6)


@pytest.mark.parametrize("method", ["Newton-CG", "trust-ncg", "trust-exact"])
def test_methods_without_differences_name_a_gradient_that_is_not_that_of_the_values(method: str) -> None:
    with pytest.raises(NonDifferentiableError, match=r"gradient of loss.*does not agree.*Give jac="):
        optimize.minimize(Remembering().loss, np.zeros(2), method=method)


def is_filled(f: Callable[..., Any], x0: Any) -> bool:
    """Has the exact slope been taken, on top of a look at the values?"""
    seen = []
    optimize.fmin_bfgs(lambda x: seen.append(x) or f(x), x0, maxiter=1, disp=False)
    return sum(isinstance(x, Tracer) for x in seen) > 1


def test_kinks_and_stationary_starts_keep_the_exact_slope() -> None:
    for f in (
        lambda x: np.sum(x**4 - x**2),
        lambda x: np.sum(np.abs(x)),
        lambda x: 1e6 + np.sum(np.cos(1e3 * x)),
        lambda x: np.sum((x.astype(np.float32) - 0.3) ** 2 + 1).astype(float),
    ):
        assert is_filled(f, np.array([0.0, 0.5]))
    assert not is_filled(failing, np.zeros(2))
