"""Minima: the gradient vanishes there, and the Hessian tells how the minimum moves.

Bounds and constraints: what is active stays active. With the active constraints c(x) = 0 and their
multipliers m, the solution is that of grad f - m grad c = 0, c = 0 (Fiacco, "Introduction to Sensitivity and
Stability Analysis in Nonlinear Programming", 1983). A constraint that is active with a multiplier of 0 has
derivatives of two sides, which differ: it is refused by name.

SciPy finds the minimum, with exact derivatives where the method takes them (filled.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.optimize as so

from funcgrad.core.arrays.arguments import as_operand
from funcgrad.core.engine.trace import Tracer
from funcgrad.errors import NonDifferentiableError
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.mirror import ALWAYS
from funcgrad.scipy.optimize.calls import (
    as_args,
    given_plainly,
    is_running,
    plainly,
    solved,
    start,
    values,
    with_fields,
)
from funcgrad.scipy.optimize.filled import for_minimize, gradient, number, objective, slopes
from funcgrad.transforms.derivatives import grad, vjp
from funcgrad.transforms.matrices import jacobian

optimize = Chapter("optimize")
Function = Callable[..., Any]


# ---- conditions at a minimum ---------------------------------------------------------------------------------------------


class Active:
    """One side of a constraint that holds with equality: `c(x, *args)` is a vector that vanishes."""

    def __init__(self, c: Function, size: int) -> None:
        self.c, self.size = c, size


def _bounds_of(bounds: Any, n: int) -> tuple[Any, Any]:
    """Lower and upper bounds as lists of n numbers or tracers."""
    if bounds is None:
        return [-np.inf] * n, [np.inf] * n
    if isinstance(bounds, so.Bounds):
        lower, upper = (np.broadcast_to(as_operand(b), (n,)) for b in (bounds.lb, bounds.ub))
        return [lower[i] for i in range(n)], [upper[i] for i in range(n)]
    pairs = [tuple(pair) for pair in bounds]
    return [-np.inf if a is None else a for a, _ in pairs], [np.inf if b is None else b for _, b in pairs]


def _at(x: float, bound: float) -> bool:
    return bool(np.isfinite(bound) and abs(x - bound) <= 1e-8 * max(1.0, abs(bound)))


def constrained(
    gradient: Function, x: Any, args: tuple[Any, ...], bounds: Any = None, constraints: Any = ()
) -> Any:
    """The minimum x with its derivatives; `gradient(x, *args)` is the gradient of what is minimised."""
    n = x.size
    lower, upper = _bounds_of(bounds, n)
    low, high = values(lower), values(upper)
    active = list(_active(constraints, x, values(args)))
    fixed = np.array([_at(a, b) or _at(a, c) for a, b, c in zip(x, low, high)])
    slope = np.asarray(values(gradient(x, *values(args))))
    if not active and not fixed.any():
        return solved(gradient, x, args)
    at_bounds = [lower[i] if _at(x[i], low[i]) else upper[i] for i in np.flatnonzero(fixed)]
    if not active:
        _check_multipliers(slope[fixed], slope, "a bound")
    return _kkt(gradient, x, args, fixed, at_bounds, active, slope)


def _check_multipliers(multipliers: Any, scale: Any, what: str) -> None:
    if (abs(multipliers) <= 1e-7 * max(1.0, np.max(abs(scale), initial=0.0))).any():
        raise NonDifferentiableError(
            f"scipy.optimize: at the minimum {what} is active with a multiplier of 0. The minimum has derivatives from two sides "
            "there, which differ. Leave the bound away if it is not needed, or move it."
        )


def _kkt(
    gradient: Any, x: Any, args: Any, fixed: Any, at_bounds: Any, active: list[Active], slope: Any
) -> Any:
    free, n = np.flatnonzero(~fixed), x.size
    count = sum(a.size for a in active)

    def whole(free_x: Any, bounds: Any) -> Any:
        """All unknowns from the free ones and the bounds."""
        parts, k, b = [], 0, iter(bounds)
        for i in range(n):
            if fixed[i]:
                parts.append(as_operand(next(b)))
            else:
                parts.append(free_x[k])
                k += 1
        return np.stack([p if isinstance(p, Tracer) else np.asarray(p, dtype=float) for p in parts])

    def lagrangian(u: Any, bounds: Any, *args: Any) -> Any:
        full = whole(u[: free.size], bounds)
        parts, at, total = [], free.size, gradient(full, *args)
        for a in active:
            value, pull = vjp(lambda x, a=a: as_operand(a.c(x, *args)).reshape(-1), full)
            total = total - pull(u[at : at + a.size])[0]
            parts.append(value)
            at += a.size
        return np.concatenate([total[free], *parts])

    multipliers = np.zeros(count)
    if count:
        of_all = lambda x: np.concatenate([as_operand(a.c(x, *values(args))).reshape(-1) for a in active])
        slopes = np.asarray(values(jacobian(of_all)(x)))
        multipliers = np.linalg.lstsq(slopes[:, free].T, slope[free], rcond=None)[0]
        _check_multipliers(multipliers, slope, "a constraint")
    u = solved(lagrangian, np.concatenate([x[free], multipliers]), (list(at_bounds), *args))
    return whole(u[: free.size], at_bounds)


def _active(constraints: Any, x: Any, args: tuple[Any, ...]) -> Any:
    """The sides of the constraints that hold with equality at x."""
    if isinstance(constraints, (dict, so.LinearConstraint, so.NonlinearConstraint)):
        constraints = [constraints]
    for c in constraints:
        if isinstance(c, dict):
            given = c.get("args", ())
            function = lambda x, *_, c=c, given=given: np.atleast_1d(as_operand(c["fun"](x, *given)))
            value = np.atleast_1d(np.asarray(values(function(x))))
            rows = np.arange(value.size) if c["type"] == "eq" else np.flatnonzero(abs(value) <= 1e-6)
            if rows.size:
                yield Active(lambda x, *_, f=function, rows=rows: f(x)[rows], rows.size)
            continue
        if isinstance(c, so.LinearConstraint):
            function = lambda x, *_, c=c: as_operand(c.A) @ x
        else:
            function = lambda x, *_, c=c: np.atleast_1d(as_operand(c.fun(x)))
        value = np.atleast_1d(np.asarray(values(function(x))))
        for bound in (c.lb, c.ub):
            side = np.broadcast_to(as_operand(bound), value.shape)
            plain_side = np.asarray(values(side))
            size = np.where(np.isfinite(plain_side), abs(plain_side), 0)
            rows = np.flatnonzero(abs(value - plain_side) <= 1e-6 * np.maximum(1, size))
            if rows.size:
                yield Active(lambda x, *_, f=function, b=side, rows=rows: f(x)[rows] - b[rows], rows.size)
            if np.array_equal(
                np.broadcast_to(values(c.lb), value.shape), np.broadcast_to(values(c.ub), value.shape)
            ):
                break


def plain_constraints(constraints: Any, x0: Any = None) -> Any:
    """Constraints for SciPy, whose functions return plain numbers; with exact slopes, if `x0` is given."""
    if isinstance(constraints, (list, tuple)):
        return [plain_constraints(c, x0) for c in constraints]
    exact = lambda fun, jac, *args: plainly(jac) if x0 is None else slopes(fun, jac, x0, *args)
    if isinstance(constraints, dict):
        given = {**constraints, "fun": plainly(constraints["fun"])}
        jac = exact(constraints["fun"], given.get("jac"), *given.get("args", ()))
        if jac is not None:
            given["jac"] = jac
        return given | ({"args": values(given["args"])} if "args" in given else {})
    if isinstance(constraints, so.LinearConstraint):
        return so.LinearConstraint(values(constraints.A), values(constraints.lb), values(constraints.ub))
    if isinstance(constraints, so.NonlinearConstraint):
        jac = exact(constraints.fun, None if constraints.jac == "2-point" else constraints.jac)
        return so.NonlinearConstraint(
            plainly(constraints.fun), values(constraints.lb), values(constraints.ub), jac or "2-point",
            plainly(constraints.hess), constraints.keep_feasible, constraints.finite_diff_rel_step,
            constraints.finite_diff_jac_sparsity,
        )  # fmt: skip
    return constraints


def plain_bounds(bounds: Any) -> Any:
    """Bounds of plain numbers."""
    return (
        so.Bounds(values(bounds.lb), values(bounds.ub)) if isinstance(bounds, so.Bounds) else values(bounds)
    )


# ---- the public functions ------------------------------------------------------------------------------------------------


@optimize.functional("minimize")
def minimize(
    fun, x0, args=(), method=None, jac=None, hess=None, hessp=None, bounds=None, constraints=(), **options
):
    args = as_args(args)
    limited = bounds is not None or constraints
    chosen = method or ("SLSQP" if constraints else "L-BFGS-B") if limited else method  # as SciPy chooses
    plain_fun, *slopes_of_fun = for_minimize(fun, x0, args, chosen, jac, hess, hessp)
    found = so.minimize(
        plain_fun, start(x0) if is_running() else x0, values(args), method, *slopes_of_fun,
        plain_bounds(bounds), plain_constraints(constraints, x0), **values(options),
    )  # fmt: skip
    if not is_running():
        return found
    value = (lambda *given: fun(*given)[0]) if jac is True else fun
    x = constrained(grad(objective(value)), np.asarray(found.x, dtype=float), args, bounds, constraints)
    return with_fields(found, x=x, fun=number(value(x, *args)))


def _old(name: str, own: str = "") -> None:
    """fmin and its kin: the minimum, and more if full_output is set."""
    theirs = getattr(so, name)

    @optimize.functional(name)
    def body(**given):
        first = "func" if "func" in given else "f"
        fun, args = given[first], as_args(given.get("args", ()))
        plain = {key: given_plainly(v) for key, v in given.items() if key != "callback"}
        if "callback" in given:
            plain["callback"] = given["callback"]
        plain.update(_filled(name, fun, given, args))
        if not is_running():
            return theirs(**plain)
        plain["x0"] = start(given["x0"])
        found = theirs(**plain)
        several = isinstance(found, tuple)
        value = (
            (lambda *z: fun(*z)[0])
            if own == "pair" and given.get("fprime") is None and not given.get("approx_grad")
            else fun
        )
        x = constrained(
            grad(objective(value)), np.asarray(found[0] if several else found), args, given.get("bounds")
        )
        if not several:
            return x
        has_value = name not in ("fmin_tnc",)
        return (x, number(value(x, *args)), *found[2:]) if has_value else (x, *found[1:])


def _filled(name: str, fun: Function, given: dict[str, Any], args: tuple[Any, ...]) -> dict[str, Any]:
    """Exact derivatives as the older functions take them, where the user gave none."""
    if name == "fmin_ncg" and given.get("fhess_p") is None and given.get("fhess") is None:
        *_, product = for_minimize(fun, given["x0"], args, "newton-cg", given["fprime"], None, None)
        return {"fhess_p": product}
    by_pair = name in ("fmin_l_bfgs_b", "fmin_tnc")
    if name not in ("fmin_bfgs", "fmin_cg") and not (by_pair and given.get("approx_grad")):
        return {}
    exact = gradient(fun, given.get("fprime"), given["x0"], args)
    return {} if exact is None else {"fprime": exact, **({"approx_grad": False} if by_pair else {})}


for _name in ("fmin", "fmin_bfgs", "fmin_cg", "fmin_ncg", "fmin_powell"):
    _old(_name)
for _name in ("fmin_l_bfgs_b", "fmin_tnc"):
    _old(_name, "pair")


def _global(name: str) -> None:
    """A global search: its result is a minimum like any other."""
    theirs = getattr(so, name)

    @optimize.functional(name)
    def body(func, args=(), **given):
        apart = ("callback", "bounds", "constraints")
        options = {key: given_plainly(v) for key, v in given.items() if key not in apart}
        if "bounds" in given:
            options["bounds"] = plain_bounds(given["bounds"])
        if given.get("constraints") is not None and "constraints" in given:
            options["constraints"] = plain_constraints(given["constraints"])
        if "callback" in given:
            options["callback"] = given["callback"]
        inner = args if name != "basinhopping" else (given.get("minimizer_kwargs") or {}).get("args", ())
        inner = as_args(inner)
        if name != "basinhopping":
            options["args"] = values(inner)
        found = theirs(plainly(func), **options)
        gradient = grad(objective(func))
        x = constrained(
            gradient,
            np.asarray(found.x, dtype=float),
            inner,
            given.get("bounds"),
            given.get("constraints") or (),
        )
        return with_fields(found, x=x, fun=number(func(x, *inner)))


for _name in ("basinhopping", "differential_evolution", "shgo", "dual_annealing", "direct"):
    _global(_name)


@optimize.functional("brute")
def brute(func, ranges, args=(), full_output=0, finish=so.fmin, **options):
    args = as_args(args)
    found = so.brute(
        plainly(func), values(ranges), values(args), full_output=full_output, finish=finish, **options
    )
    x = np.asarray(found[0] if full_output else found, dtype=float)
    if finish is not None:
        x = solved(grad(objective(func)), x, args)
    return (x, number(func(x, *args)), *found[2:]) if full_output else x


# ---- functions of a number -----------------------------------------------------------------------------------------------


def _slope(fun: Function) -> Function:
    return grad(objective(fun))


def _least(fun: Function, x: Any, args: tuple[Any, ...], bounds: Any = None) -> Any:
    x = np.asarray(x, dtype=float)
    if bounds is not None:
        low, high = values(bounds)
        slope = float(values(_slope(fun)(x[()], *values(args))))
        # the method keeps within
        if min(x - low, high - x) <= 1e-5 * max(1.0, abs(high - low)) and abs(slope) > 1e-4:
            return as_operand(bounds[0] if x - low < high - x else bounds[1]) + (
                x - (low if x - low < high - x else high)
            )
    return solved(_slope(fun), x[()] if x.ndim == 0 else x, args)


@optimize.functional("minimize_scalar")
def minimize_scalar(fun, bracket=None, bounds=None, args=(), **options):
    args = as_args(args)
    found = so.minimize_scalar(plainly(fun), values(bracket), values(bounds), values(args), **values(options))
    x = _least(fun, found.x, args, bounds)
    return with_fields(found, x=x, fun=number(fun(x, *args)))


def _search(name: str) -> None:
    theirs = getattr(so, name)

    @optimize.functional(name)
    def body(func, args=(), full_output=0, **options):
        args = as_args(args)
        found = theirs(plainly(func), args=values(args), full_output=full_output, **values(options))
        bounds = (options["x1"], options["x2"]) if name == "fminbound" else None
        x = _least(func, found[0] if full_output else found, args, bounds)
        return (x, number(func(x, *args)), *found[2:]) if full_output else x


for _name in ("brent", "golden", "fminbound"):
    _search(_name)

ALWAYS.update({so.minimize, so.fmin_bfgs, so.fmin_cg, so.fmin_ncg, so.fmin_l_bfgs_b, so.fmin_tnc})
