"""Exact derivatives for SciPy's methods, where they take them and the user gave none.

What can't be traced, at the start or at some later point, is left to differences, and so is a point where the
derivative is not finite: a program that SciPy runs, runs here. That also holds for a function that keeps what
it has computed: the tracers in it are let go, and where it answers a trace from its memory (or catches the
error of a trace), its derivative does not agree with its values, which is looked at where the solver starts.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.optimize as so

from funcgrad.core.arrays.arguments import as_operand
from funcgrad.core.engine.let_go import letting_go
from funcgrad.core.engine.trace import Tracer
from funcgrad.errors import NonDifferentiableError
from funcgrad.scipy.optimize.calls import in_numbers, plainly, traceable, uses_lazy, values
from funcgrad.transforms.derivatives import grad, jvp, value_and_grad
from funcgrad.transforms.matrices import hessian, is_finite, jacobian
from funcgrad.transforms.wrapping import name_of

Function = Callable[..., Any]

# Methods of `minimize` by what they take.
_NEED_HESSIAN = frozenset(["dogleg", "trust-ncg", "trust-krylov", "trust-exact"])
_TAKE_HESSIAN = _NEED_HESSIAN | {"newton-cg", "trust-constr"}
_NEED_GRADIENT = _NEED_HESSIAN | {"newton-cg"}
_TAKE_GRADIENT = _TAKE_HESSIAN | {"cg", "bfgs", "l-bfgs-b", "tnc", "slsqp"}
_BY_PRODUCTS = frozenset(["newton-cg", "trust-ncg", "trust-krylov"])
# Beyond so many unknowns trust-constr is given products with the Hessian instead of the matrix.
_LARGE = 200
# Elements of what a Jacobian is computed in at a time.
_CHUNK = 1 << 22
# Steps in numbers (the larger one for values in single precision), and by what part of itself a change may
# differ from that which a derivative tells.
_STEPS, _DISAGREEMENT = (1e-6, 1e-3), 0.1


def number(x: Any) -> Any:
    """The value of an objective, which may come as an array of one element."""
    x = as_operand(x)
    return x.reshape(()) if isinstance(x, (Tracer, np.ndarray)) else np.asarray(x)


def objective(fun: Function) -> Function:
    """`fun`, whose values are numbers."""
    fun = traceable(fun)
    return lambda x, *args: number(fun(x, *args))


def vector(fun: Function) -> Function:
    """`fun`, whose values are arrays with an axis."""
    fun = traceable(fun)
    return lambda x, *args, **kwargs: np.atleast_1d(as_operand(fun(x, *args, **kwargs)))


def differences(fun: Function) -> Function:
    """The derivative of `fun` by SciPy's differences."""
    fun = plainly(fun)
    return lambda x, *args, **kwargs: so.approx_fprime(x, lambda x: fun(x, *args, **kwargs))


class Agreement:
    """Does a derivative agree with the values of `fun` around the point x?"""

    def __init__(self, fun: Function, x: Any) -> None:
        self.fun, self.x = plainly(fun), x
        fun(x)  # what it keeps of this call, the trace that comes next will meet

    def __call__(self, derivative: Any) -> bool:
        """Is the change along one direction, in numbers, that of `derivative`? What is no number can't tell."""
        return any(self._agrees(derivative, step) for step in _STEPS)

    def _agrees(self, derivative: Any, size: float) -> bool:
        x = np.asarray(self.x)
        step = size * np.maximum(1.0, abs(x)) * np.linspace(0.6, 1.0, x.size).reshape(x.shape)
        high, low = (np.asarray(self.fun((x + s)[()]), dtype=float) for s in (step, -step))
        change, noise = (high - low) / 2, 1e-12 * max(_largest(high), _largest(low))
        told = np.asarray(derivative) * step if np.ndim(derivative) == x.ndim == 0 else derivative @ step
        if not is_finite((change, told)):
            return True
        return _largest(change - told) <= _DISAGREEMENT * max(_largest(change), _largest(told)) + noise


def _largest(x: Any) -> float:
    return float(np.max(np.abs(x), initial=0.0))


def where_traced(
    derivative: Function,
    otherwise: Function,
    *start: Any,
    near: Callable[[], Agreement] | None = None,
    **kwargs: Any,
) -> Function | None:
    """`derivative`, on plain values; None if it can't be taken where a solver starts, or is not `near` the truth.

    `otherwise` serves at later points where it can't be taken, is not finite, or tells of no dependence.
    """
    derivative = letting_go(plainly(derivative))
    try:
        with np.errstate(all="ignore"):
            agrees = near and near()
            found = derivative(*start, **kwargs)
            if agrees and not agrees(found):
                return None
    except Exception:  # noqa: BLE001 (what is wrong with the function itself, SciPy will meet as well)
        return None

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            with np.errstate(all="ignore"):
                found = derivative(*args, **kwargs)
        except Exception:  # noqa: BLE001 (as above)
            return otherwise(*args, **kwargs)
        vanishes = near is not None and np.ndim(found) > 0 and not np.any(found)
        return found if is_finite(found) and not vanishes else otherwise(*args, **kwargs)

    return call


def slopes(fun: Any, given: Any, x0: Any, *args: Any, **kwargs: Any) -> Any:
    """What a method takes as the Jacobian of `fun`: `given`, unless nothing is."""
    x0 = np.asarray(values(x0))
    if given is not None and given is not False or not callable(fun) or x0.dtype.kind == "c":
        return plainly(given)
    chunk = max(1, _CHUNK // max(1, x0.size))
    derivative = jacobian(vector(fun), chunk_size=chunk)
    start, rest, named = x0.astype(float), values(args), values(kwargs)
    near = lambda: Agreement(lambda x: vector(fun)(x, *rest, **named), start)
    exact = where_traced(derivative, differences(fun), start, *rest, near=near, **named)
    return given if exact is None else exact


def slope_of_number(f: Any, given: Any, x0: Any, args: tuple[Any, ...]) -> Any:
    """What a method takes as the derivative of a function of a number, or of each number of an array."""
    x0 = np.asarray(values(x0))
    if given is not None and given is not False or x0.dtype.kind == "c":
        return plainly(given)
    traced, step = traceable(f), np.finfo(float).eps ** 0.5
    slope = lambda x, *args: jvp(
        lambda x: as_operand(traced(x, *args)), (np.asarray(x, dtype=float)[()],), (np.ones(np.shape(x))[()],)
    )[1]
    otherwise = lambda x, *args: (values(f(x + step, *args)) - values(f(x, *args))) / step
    start, rest = x0.astype(float)[()], values(args)
    near = (lambda: Agreement(lambda x: as_operand(traced(x, *rest)), start)) if x0.ndim == 0 else None
    return where_traced(slope, otherwise, start, *rest, near=near)


def gradient(fun: Any, given: Any, x0: Any, args: tuple[Any, ...]) -> Any:
    """What a method takes as the gradient of `fun`: `given`, unless nothing is."""
    if given is not None and given is not False:
        return plainly(given)
    x0 = np.asarray(values(x0), dtype=float).reshape(-1)
    value, rest = objective(fun), values(args)
    near = lambda: Agreement(lambda x: value(x, *rest), x0)
    return where_traced(grad(value), differences(value), x0, *rest, near=near)


def _needed(slope: Function, fun: Any, x0: Any, args: tuple[Any, ...]) -> Function:
    """The gradient of `fun` for a method that takes no differences, which can't be taken or is not near the truth."""
    letting_go(plainly(slope))(x0, *values(args))  # raises, if it can't be taken
    raise NonDifferentiableError(
        f"scipy.optimize.minimize: the gradient of {name_of(fun)}, taken by tracing it at x0, does not agree with differences of "
        "its values. It answers a trace from what it has kept of an earlier call, catches the error of a trace, or changes "
        "by chance. Give jac=, or leave away what it keeps."
    )


def for_minimize(
    fun: Function, x0: Any, args: tuple[Any, ...], method: Any, jac: Any, hess: Any, hessp: Any
) -> tuple[Any, Any, Any, Any]:
    """fun=, jac=, hess= and hessp= of `minimize`: the user's, or exact ones where the method takes them."""
    name = method.lower() if isinstance(method, str) else "bfgs" if method is None else ""
    value = objective((lambda *given: fun(*given)[0]) if jac is True else fun)
    x0 = np.asarray(values(x0), dtype=float).reshape(-1)
    slope, both = grad(value), None
    if uses_lazy(fun, args):
        fun = in_numbers(fun)
        if jac is None and name in _TAKE_GRADIENT:
            both = value_and_grad(value)  # each on its own would be a pass over the data
            both = where_traced(both, both, x0, *values(args))
    if both:
        fun, jac = both, True
    elif jac is None and name in _TAKE_GRADIENT:
        jac = gradient(fun, None, x0, args)
        jac = _needed(slope, fun, x0, args) if jac is None and name in _NEED_GRADIENT else jac
    takes_hessian = hess is None and hessp is None and name in _TAKE_HESSIAN
    if (
        not takes_hessian
        or name not in _NEED_HESSIAN
        and not both
        and gradient(value, None, x0, args) is None
    ):
        return plainly(fun), plainly(jac), plainly(hess), plainly(hessp)
    if name in _BY_PRODUCTS or name == "trust-constr" and x0.size > _LARGE:
        along = in_numbers(lambda x, p, *args: jvp(lambda x: slope(x, *args), (x,), (p,))[1])
        hessp = (
            letting_go(plainly(along))
            if name in _NEED_HESSIAN
            else where_traced(along, along, x0, x0, *values(args))
        )
    else:
        hess = hessian(value)
        hess = (
            letting_go(plainly(hess))
            if name in _NEED_HESSIAN
            else where_traced(hess, hess, x0, *values(args))
        )
    return plainly(fun), plainly(jac), hess, hessp


def slopes_of_curve(f: Any, given: Any, xdata: Any, p0: Any) -> Any:
    """What `curve_fit` takes as jac=: a function jac(x, *parameters)."""
    if given is not None:
        return plainly(given)
    try:
        start = np.ones(len(inspect.signature(f).parameters) - 1) if p0 is None else np.atleast_1d(values(p0))
    except (TypeError, ValueError):
        return None
    along = lambda p, x: f(x, *[p[i] for i in range(p.size)])
    of_all = lambda x, *p: jacobian(vector(lambda p: along(p, x)))(np.array(p, float))
    otherwise = lambda x, *p: differences(along)(np.array(p, float), x)
    xdata = values(xdata)
    near = lambda: Agreement(lambda p: vector(along)(p, xdata), np.array(start, float))
    return where_traced(of_all, otherwise, xdata, *start, near=near)
