"""Least squares: non-linear, curves, linear with bounds, isotonic, by their normal equations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.optimize as so

from funcgrad.core.arrays.arguments import as_operand
from funcgrad.core.engine.trace import Tracer
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.linalg.stacks import plain
from funcgrad.scipy.mirror import ALWAYS
from funcgrad.scipy.optimize.calls import as_args, is_running, plainly, start, values, with_fields
from funcgrad.scipy.optimize.filled import slopes, slopes_of_curve, vector
from funcgrad.scipy.optimize.minima import constrained
from funcgrad.transforms.derivatives import grad
from funcgrad.transforms.matrices import jacobian

optimize = Chapter("optimize")
Function = Callable[..., Any]

# ---- non-linear ----------------------------------------------------------------------------------------------------------


def _rho(z: Any, loss: Any) -> Any:
    """The loss of squared residuals (Triggs et al., "Bundle Adjustment", 1999)."""
    if loss == "linear":
        return z
    if loss == "soft_l1":
        return 2 * (np.sqrt(1 + z) - 1)
    if loss == "huber":
        return np.where(z <= 1, z, 2 * np.sqrt(np.where(z <= 1, 1, z)) - 1)
    if loss == "cauchy":
        return np.log1p(z)
    if loss == "arctan":
        return np.arctan(z)
    raise NotImplementedError(
        "scipy.optimize.least_squares with a loss of your own has no derivative rule: name one of SciPy's"
    )


def _cost(residuals: Function, loss: Any = "linear", f_scale: float = 1.0) -> Function:
    def cost(x: Any, *args: Any) -> Any:
        f = residuals(x, *args)
        if loss == "linear":
            return 0.5 * np.sum(f * f)
        return 0.5 * f_scale**2 * np.sum(_rho((f / f_scale) ** 2, loss))

    return cost


def _pairs(bounds: Any, n: int) -> Any:
    """Bounds as least_squares takes them, as pairs."""
    if isinstance(bounds, so.Bounds):
        return bounds
    low, high = (as_operand(b) for b in bounds)
    low, high = (np.broadcast_to(b, (n,)) for b in (low, high))
    return [(low[i], high[i]) for i in range(n)]


@optimize.functional("least_squares")
def least_squares(
    fun,
    x0,
    jac="2-point",
    bounds=(-np.inf, np.inf),
    loss="linear",
    f_scale=1.0,
    args=(),
    kwargs=None,
    **options,
):
    args, named = as_args(args), kwargs or {}
    filled = isinstance(jac, str) and jac == "2-point" and options.get("jac_sparsity") is None
    exact = slopes(fun, None, x0, *args, **named) or jac if filled else plainly(jac)
    if not is_running():
        return so.least_squares(
            fun, x0, exact, bounds, loss=loss, f_scale=f_scale, args=args, kwargs=named, **options
        )
    given = bounds if isinstance(bounds, so.Bounds) else tuple(bounds)
    plain_bounds = (
        so.Bounds(values(given.lb), values(given.ub)) if isinstance(given, so.Bounds) else values(given)
    )
    residuals = vector(lambda x, *args: fun(x, *args, **named))
    found = so.least_squares(
        plainly(fun), start(x0), exact, plain_bounds, loss=loss, f_scale=f_scale, args=values(args), kwargs=values(named),
        **{key: v if key in ("callback", "jac_sparsity") else values(v) for key, v in options.items()},
    )  # fmt: skip
    cost = _cost(residuals, loss, f_scale)
    x = constrained(grad(cost), found.x, args, _pairs(given, found.x.size))
    return with_fields(found, x=x, fun=residuals(x, *args), cost=cost(x, *args))


@optimize.functional("leastsq")
def leastsq(func, x0, args=(), Dfun=None, full_output=False, **options):
    args = as_args(args)
    exact = plainly(Dfun) if options.get("col_deriv") else slopes(func, Dfun, x0, *args)
    if not is_running():
        return so.leastsq(func, x0, args, exact, full_output, **options)
    found = so.leastsq(plainly(func), start(x0), values(args), exact, full_output, **options)
    residuals = vector(func)
    x = constrained(grad(_cost(residuals)), np.asarray(found[0]), args)
    if not full_output:
        return (x, *found[1:])
    cov = None if found[1] is None else _covariance(residuals, x, args)
    return (x, cov, *found[2:])


def _covariance(residuals: Function, x: Any, args: tuple[Any, ...]) -> Any:
    j = jacobian(lambda x: residuals(x, *args))(x)
    return np.linalg.inv(j.T @ j)


def _weighted(sigma: Any, size: int) -> Function:
    if sigma is None:
        return lambda r: r
    sigma = as_operand(sigma)
    if sigma.ndim < 2:
        return lambda r: r / sigma
    from funcgrad.scipy import linalg

    factor = linalg.cholesky(sigma, lower=True)
    return lambda r: linalg.solve_triangular(factor, r, lower=True)


@optimize.functional("curve_fit")
def curve_fit(
    f, xdata, ydata, p0=None, sigma=None, absolute_sigma=False, bounds=(-np.inf, np.inf), method=None, jac=None,
    full_output=False, **options,
):  # fmt: skip
    exact = slopes_of_curve(f, jac, xdata, p0)
    if not is_running():
        return so.curve_fit(
            f, xdata, ydata, p0, sigma, absolute_sigma, bounds=bounds, method=method,
            jac=exact, full_output=full_output, **options,
        )  # fmt: skip
    plain_bounds = (
        so.Bounds(values(bounds.lb), values(bounds.ub))
        if isinstance(bounds, so.Bounds)
        else values(tuple(bounds))
    )
    found = so.curve_fit(
        plainly(f), values(xdata), values(ydata), None if p0 is None else start(p0), values(sigma), absolute_sigma,
        bounds=plain_bounds, method=method, jac=exact, full_output=full_output, **options,
    )  # fmt: skip
    y, best = as_operand(ydata), np.asarray(found[0])
    weighted = _weighted(sigma, best.size)
    residuals = vector(lambda p: weighted(as_operand(f(xdata, *[p[i] for i in range(best.size)])) - y))
    p = constrained(grad(_cost(residuals)), best, (), _pairs(bounds, best.size))
    cov = found[1]
    if np.isfinite(cov).all():
        cov = _covariance(residuals, p, ())
        if not absolute_sigma:
            r = residuals(p)
            cov = cov * (np.sum(r * r) / (r.size - best.size))
    return (p, cov, *found[2:])


ALWAYS.update({so.least_squares, so.leastsq, so.curve_fit})

# ---- linear --------------------------------------------------------------------------------------------------------------


def _on_free(a: Any, b: Any, free: Any) -> Any:
    """The least squares solution in the columns that are free."""
    return np.linalg.lstsq(a[:, free], b, rcond=None)[0] if len(free) else np.zeros(0)


def _spread(parts: dict[int, Any], n: int) -> Any:
    filled = [parts.get(i, 0.0) for i in range(n)]
    return np.stack([x if isinstance(x, Tracer) else np.asarray(x, dtype=float) for x in filled])


@optimize.composite("nnls")
def nnls(A, b, **options):
    a, b = as_operand(A), as_operand(b)
    x, _ = so.nnls(np.asarray(plain(a)), np.asarray(plain(b)), **options)
    free = np.flatnonzero(x > 0)
    inner = _on_free(a, b, free)
    out = _spread({int(i): inner[k] for k, i in enumerate(free)}, x.size)
    return out, np.linalg.norm(a @ out - b)


@optimize.composite("lsq_linear")
def lsq_linear(A, b, bounds=(-np.inf, np.inf), **options):
    a, b = as_operand(A), as_operand(b)
    n = a.shape[1]
    sides = (bounds.lb, bounds.ub) if isinstance(bounds, so.Bounds) else bounds
    lower, upper = (np.broadcast_to(np.asarray(v) if np.isscalar(v) else as_operand(v), (n,)) for v in sides)
    low, high = np.asarray(values(lower)), np.asarray(values(upper))
    found = so.lsq_linear(np.asarray(plain(a)), np.asarray(plain(b)), (low, high), **values(options))
    near_low = np.isfinite(low) & (abs(found.x - low) <= 1e-8 * np.maximum(1, abs(low)))
    near_high = np.isfinite(high) & (abs(found.x - high) <= 1e-8 * np.maximum(1, abs(high)))
    parts = {int(i): lower[i] for i in np.flatnonzero(near_low)} | {
        int(i): upper[i] for i in np.flatnonzero(near_high)
    }
    right = b
    for i, value in parts.items():
        right = right - a[:, i] * value
    free = np.flatnonzero(~(near_low | near_high))
    inner = _on_free(a, right, free)
    x = _spread(parts | {int(i): inner[k] for k, i in enumerate(free)}, n).astype(found.x.dtype)
    fun = a @ x - b
    return with_fields(
        found, x=x, fun=fun, cost=0.5 * np.sum(fun * fun), unbounded_sol=found.get("unbounded_sol")
    )


@optimize.composite("isotonic_regression")
def isotonic_regression(y, weights=None, increasing=True):
    """The blocks are SciPy's, and constant; their values are the means."""
    y = as_operand(y)
    w = None if weights is None else as_operand(weights)
    found = so.isotonic_regression(
        np.asarray(plain(y)), weights=None if w is None else np.asarray(plain(w)), increasing=increasing
    )
    edges = np.asarray(found.blocks)
    member = np.zeros((edges.size - 1, y.size))
    order = np.arange(y.size)
    for k, (i, j) in enumerate(zip(edges[:-1], edges[1:])):
        member[k, order[i:j]] = 1
    w = np.ones(y.size) if w is None else w
    means, sums = (member @ (w * y)) / (member @ w), member @ w
    return with_fields(found, x=member.T @ means, weights=sums)
