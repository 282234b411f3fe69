"""Exact derivatives for SciPy's methods, where they take them and the user gave none.

That is within transforms, and for functions written with funcgrad.numpy. For others SciPy is called as it
stands, so that plain results are its own to the bit. A function that can't be traced is left to SciPy's
differences.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.arrays.arguments import as_operand
from funcgrad.core.engine.trace import Tracer
from funcgrad.scipy.optimize.calls import is_running, plainly, uses_funcgrad, values
from funcgrad.transforms.derivatives import grad, jvp
from funcgrad.transforms.matrices import hessian, jacobian

Function = Callable[..., Any]

# Methods of `minimize` by what they take.
_NEED_HESSIAN = frozenset(["dogleg", "trust-ncg", "trust-krylov", "trust-exact"])
_TAKE_HESSIAN = _NEED_HESSIAN | {"newton-cg", "trust-constr"}
_NEED_GRADIENT = _NEED_HESSIAN | {"newton-cg"}
_TAKE_GRADIENT = _TAKE_HESSIAN | {"cg", "bfgs", "l-bfgs-b", "tnc", "slsqp"}
_BY_PRODUCTS = frozenset(["newton-cg", "trust-ncg", "trust-krylov"])


def is_filled(function: Any) -> bool:
    """Are the derivatives of this function filled in?"""
    return is_running() or uses_funcgrad(function)


def is_needed(method: Any) -> bool:
    """Can this method of `minimize` not do without a gradient?"""
    return isinstance(method, str) and method.lower() in _NEED_GRADIENT


def number(x: Any) -> Any:
    """The value of an objective, which may come as an array of one element."""
    x = as_operand(x)
    return x.reshape(()) if isinstance(x, (Tracer, np.ndarray)) else np.asarray(x)


def objective(fun: Function) -> Function:
    """`fun`, whose values are numbers."""
    return lambda x, *args: number(fun(x, *args))


def vector(fun: Function) -> Function:
    """`fun`, whose values are arrays with an axis."""
    return lambda x, *args, **kwargs: np.atleast_1d(as_operand(fun(x, *args, **kwargs)))


def where_traced(derivative: Function, *args: Any, **kwargs: Any) -> Function | None:
    """`derivative`, on plain values, or None if it can't be taken at the point where a solver starts."""
    derivative = plainly(derivative)
    try:
        derivative(*args, **kwargs)
    except Exception:  # noqa: BLE001 (what is wrong with the function itself, SciPy will meet as well)
        return None
    return derivative


def slopes(fun: Any, given: Any, x0: Any, *args: Any, **kwargs: Any) -> Any:
    """What a method takes as the Jacobian of `fun`: `given`, unless nothing is."""
    if given is not None and given is not False or not callable(fun) or not is_filled(fun):
        return plainly(given)
    x0 = np.asarray(values(x0))
    if x0.dtype.kind == "c":
        return given
    derivative = where_traced(jacobian(vector(fun)), x0.astype(float), *values(args), **values(kwargs))
    return given if derivative is None else derivative


def slope_of_number(f: Any, given: Any, x0: Any, args: tuple[Any, ...]) -> Any:
    """What a method takes as the derivative of a function of a number, or of each number of an array."""
    x0 = np.asarray(values(x0))
    if given is not None or x0.dtype.kind == "c" or not is_filled(f):
        return plainly(given)
    derivative = lambda x, *args: jvp(
        lambda x: as_operand(f(x, *args)), (np.asarray(x, dtype=float)[()],), (np.ones(np.shape(x))[()],)
    )[1]
    return where_traced(derivative, x0.astype(float)[()], *values(args))


def for_minimize(
    fun: Function, x0: Any, args: tuple[Any, ...], method: Any, jac: Any, hess: Any, hessp: Any
) -> tuple[Any, Any, Any]:
    """jac=, hess= and hessp= of `minimize`: the user's, or exact ones where the method takes them."""
    name = method.lower() if isinstance(method, str) else "bfgs" if method is None else ""
    value = objective((lambda *given: fun(*given)[0]) if jac is True else fun)
    filled, x0 = is_filled(fun), np.asarray(values(x0), dtype=float).reshape(-1)
    if jac is None and name in _NEED_GRADIENT:
        jac = plainly(grad(value))
    elif jac is None and filled and name in _TAKE_GRADIENT:
        jac = where_traced(grad(value), x0, *values(args))
    if hess is not None or hessp is not None or name not in (_TAKE_HESSIAN if filled else _NEED_HESSIAN):
        return plainly(jac), plainly(hess), plainly(hessp)
    if name in _BY_PRODUCTS:
        along = lambda x, p, *args: jvp(lambda x: grad(value)(x, *args), (x,), (p,))[1]
        hessp = plainly(along) if name in _NEED_HESSIAN else where_traced(along, x0, x0, *values(args))
    else:
        hess = hessian(value)
        hess = plainly(hess) if name in _NEED_HESSIAN else where_traced(hess, x0, *values(args))
    return plainly(jac), hess, hessp


def slopes_of_curve(f: Any, given: Any, xdata: Any, p0: Any) -> Any:
    """What `curve_fit` takes as jac=: a function jac(x, *parameters)."""
    if given is not None or not is_filled(f):
        return plainly(given)
    of_all = lambda x, *p: jacobian(vector(lambda p: f(x, *[p[i] for i in range(p.size)])))(
        np.array(p, float)
    )
    try:
        count = len(inspect.signature(f).parameters) - 1
    except (TypeError, ValueError):
        return None
    return where_traced(of_all, values(xdata), *(np.ones(count) if p0 is None else np.atleast_1d(values(p0))))
