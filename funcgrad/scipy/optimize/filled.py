"""Exact derivatives for SciPy's methods, where they take them and the user gave none.

What can't be traced, at the start or at some later point, is left to differences, and so is a point where the
derivative is not finite: a program that SciPy runs, runs here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.optimize as so

from funcgrad.core.arrays.arguments import as_operand
from funcgrad.core.engine.trace import Tracer
from funcgrad.scipy.optimize.calls import in_numbers, plainly, traceable, uses_lazy, values
from funcgrad.transforms.derivatives import grad, jvp, value_and_grad
from funcgrad.transforms.matrices import hessian, is_finite, jacobian

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


def where_traced(derivative: Function, otherwise: Function, *start: Any, **kwargs: Any) -> Function | None:
    """`derivative`, on plain values; None if it can't be taken where a solver starts.

    `otherwise` serves at later points where it can't be taken, or is not finite.
    """
    derivative = plainly(derivative)
    try:
        with np.errstate(all="ignore"):
            derivative(*start, **kwargs)
    except Exception:  # noqa: BLE001 (what is wrong with the function itself, SciPy will meet as well)
        return None

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            with np.errstate(all="ignore"):
                found = derivative(*args, **kwargs)
        except Exception:  # noqa: BLE001 (as above)
            return otherwise(*args, **kwargs)
        return found if is_finite(found) else otherwise(*args, **kwargs)

    return call


def slopes(fun: Any, given: Any, x0: Any, *args: Any, **kwargs: Any) -> Any:
    """What a method takes as the Jacobian of `fun`: `given`, unless nothing is."""
    x0 = np.asarray(values(x0))
    if given is not None and given is not False or not callable(fun) or x0.dtype.kind == "c":
        return plainly(given)
    chunk = max(1, _CHUNK // max(1, x0.size))
    derivative = jacobian(vector(fun), chunk_size=chunk)
    exact = where_traced(derivative, differences(fun), x0.astype(float), *values(args), **values(kwargs))
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
    return where_traced(slope, otherwise, x0.astype(float)[()], *values(args))


def gradient(fun: Any, given: Any, x0: Any, args: tuple[Any, ...]) -> Any:
    """What a method takes as the gradient of `fun`: `given`, unless nothing is."""
    if given is not None and given is not False:
        return plainly(given)
    x0 = np.asarray(values(x0), dtype=float).reshape(-1)
    return where_traced(grad(objective(fun)), differences(objective(fun)), x0, *values(args))


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
    elif jac is None and name in _NEED_GRADIENT:
        jac = plainly(slope)
    elif jac is None and name in _TAKE_GRADIENT:
        jac = gradient(fun, None, x0, args)
    if hess is not None or hessp is not None or name not in _TAKE_HESSIAN:
        return plainly(fun), plainly(jac), plainly(hess), plainly(hessp)
    if name in _BY_PRODUCTS or name == "trust-constr" and x0.size > _LARGE:
        along = in_numbers(lambda x, p, *args: jvp(lambda x: slope(x, *args), (x,), (p,))[1])
        hessp = plainly(along) if name in _NEED_HESSIAN else where_traced(along, along, x0, x0, *values(args))
    else:
        hess = hessian(value)
        hess = plainly(hess) if name in _NEED_HESSIAN else where_traced(hess, hess, x0, *values(args))
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
    return where_traced(of_all, otherwise, values(xdata), *start)
