"""Roots and fixed points: with f(x, p) = 0, dx = -inv(df/dx) df/dp dp."""

from __future__ import annotations

import contextlib
import warnings
from typing import Any

import numpy as np
import scipy.optimize as so

from funcgrad.core.arrays.arguments import as_operand
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.implicit import solved as solved_by
from funcgrad.scipy.implicit import written
from funcgrad.scipy.mirror import ALWAYS
from funcgrad.scipy.optimize.calls import as_args, is_running, plainly, solved, start, values, with_fields
from funcgrad.scipy.optimize.filled import slope_of_number, slopes
from funcgrad.transforms.derivatives import jvp

optimize = Chapter("optimize")


def _scalar(f: Any, x: Any, args: tuple[Any, ...]) -> Any:
    """The root x of a function of a number."""
    return solved(
        lambda x, *args: as_operand(f(x, *args)), np.asarray(x, dtype=np.result_type(x, float))[()], args
    )


# ---- functions of a number -----------------------------------------------------------------------------------------------


def _bracketed(name: str) -> None:
    theirs = getattr(so, name)

    @optimize.functional(name)
    def body(f, a, b, args=(), full_output=False, **options):
        args = as_args(args)
        found = theirs(
            plainly(f), values(a), values(b), values(args), full_output=full_output, **values(options)
        )
        x = _scalar(f, found[0] if full_output else found, args)
        return (x, with_fields(found[1], root=x)) if full_output else x


for _name in ("brentq", "brenth", "bisect", "ridder", "toms748"):
    _bracketed(_name)


@optimize.functional("root_scalar")
def root_scalar(f, args=(), fprime=None, fprime2=None, **options):
    args = as_args(args)
    slope = _slope_for(f, args, fprime, fprime2, options)
    found = so.root_scalar(
        plainly(f), values(args), fprime=slope, fprime2=plainly(fprime2), **values(options)
    )
    if not is_running():
        return found
    value_only = f if callable(fprime) or not fprime else lambda *given: f(*given)[0]
    return with_fields(found, root=_scalar(value_only, found.root, args))


def _slope_for(f: Any, args: Any, fprime: Any, fprime2: Any, options: dict[str, Any]) -> Any:
    """fprime= of `root_scalar`, exact if Newton's method would take differences."""
    method, rest = options.get("method"), [options.get(name) for name in ("bracket", "x1")]
    is_newton = method == "newton" or method is None and all(v is None for v in (*rest, fprime2))
    if fprime or not is_newton or options.get("x0") is None:
        return plainly(fprime)
    return slope_of_number(f, None, options["x0"], args)


@optimize.functional("newton")
def newton(func, x0, fprime=None, args=(), fprime2=None, x1=None, full_output=False, **options):
    args = as_args(args)
    slope = fprime if x1 is not None else slope_of_number(func, fprime, x0, args)
    if not is_running():
        return _newton(
            func, x0, fprime, slope, args, fprime2=fprime2, x1=x1, full_output=full_output, **options
        )
    x0 = values(x0)
    given = [plainly(func), x0, plainly(fprime), slope, values(args)]
    found = _newton(*given, fprime2=plainly(fprime2), x1=values(x1), full_output=full_output, **options)
    several = full_output and np.size(x0) > 1
    x = np.asarray(found[0] if full_output else found)
    out = elementwise_roots(func, x, args) if x.ndim else _scalar(func, x[()], args)
    if not full_output:
        return out
    return (
        with_fields(found, root=out) if several and hasattr(found, "_replace") is False else (out, *found[1:])
    )


def _newton(func: Any, x0: Any, given: Any, exact: Any, args: Any, **options: Any) -> Any:
    """By Newton's method with the exact slope; by secants, as SciPy would, where that does not converge."""
    if exact is None or given is not None:
        return so.newton(func, x0, given, args, **options)
    with (
        contextlib.suppress(RuntimeError, RuntimeWarning),
        np.errstate(all="ignore"),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error", RuntimeWarning)
        found = so.newton(func, x0, exact, args, **options)
        if not options["full_output"] or np.all(found[1].converged if np.ndim(x0) == 0 else found[1]):
            return found
    return so.newton(func, x0, None, args, **options)


def elementwise_roots(f: Any, x: Any, args: tuple[Any, ...]) -> Any:
    """The roots of independent equations."""
    given, call = written(lambda x, *args: as_operand(f(x, *args)), [x], args)

    def divided(x: Any, given: Any, rhs: Any) -> Any:
        return rhs / jvp(lambda x: call([x], given), (x,), (np.ones_like(x),))[1]

    return solved_by("root", x, given, lambda x, *given: call([x], given), divided, divided)


# ---- systems -------------------------------------------------------------------------------------------------------------


def _system(fun: Any, x: Any, args: tuple[Any, ...]) -> Any:
    return solved(lambda x, *args: as_operand(fun(x, *args)), x, args)


@optimize.functional("root")
def root(fun, x0, args=(), method="hybr", jac=None, callback=None, **options):
    args = as_args(args)
    exact = slopes(fun, jac, x0, *args) if method in ("hybr", "lm") else plainly(jac)
    if not is_running():
        return so.root(fun, x0, args, method, exact, callback=callback, **options)
    found = so.root(
        plainly(fun), start(x0), values(args), method, exact, callback=callback, **values(options)
    )
    value_only = (lambda *given: fun(*given)[0]) if jac is True else fun
    x = _system(value_only, found.x, args)
    return with_fields(found, x=x, fun=as_operand(value_only(x, *args)))


@optimize.functional("fsolve")
def fsolve(func, x0, args=(), fprime=None, full_output=0, **options):
    args = as_args(args)
    apart = options.get("col_deriv") or options.get("band") is not None
    exact = plainly(fprime) if apart else slopes(func, fprime, x0, *args)
    if not is_running():
        return so.fsolve(func, x0, args, exact, full_output, **options)
    found = so.fsolve(plainly(func), start(x0), values(args), exact, full_output, **values(options))
    x = _system(func, found[0] if full_output else found, args)
    return (x, *found[1:]) if full_output else x


ALWAYS.update({so.newton, so.root_scalar, so.root, so.fsolve})


@optimize.functional("fixed_point")
def fixed_point(func, x0, args=(), **options):
    args = as_args(args)
    found = np.asarray(so.fixed_point(plainly(func), start(x0), values(args), **values(options)))
    return _system(lambda x, *args: as_operand(func(x, *args)) - x, found[()], args)


def _nonlinear(name: str) -> None:
    theirs = getattr(so, name, None)
    if theirs is None:
        return

    @optimize.functional(name)
    def body(F, xin, **options):
        return _system(F, np.asarray(theirs(plainly(F), start(xin), **values(options))), ())


for _name in (
    "broyden1",
    "broyden2",
    "anderson",
    "linearmixing",
    "diagbroyden",
    "excitingmixing",
    "newton_krylov",
):
    _nonlinear(_name)


# ---- elementwise ---------------------------------------------------------------------------------------------------------


def _declare_elementwise() -> None:
    from scipy.optimize import elementwise as theirs

    chapter = Chapter("optimize.elementwise")

    @chapter.functional("find_root")
    def find_root(f, init, args=(), **options):
        args = as_args(args)
        found = theirs.find_root(plainly(f), values(init), args=values(args), **options)
        x = elementwise_roots(f, np.asarray(found.x), args)
        return with_fields(found, x=x, f_x=as_operand(f(x, *args)))

    @chapter.functional("find_minimum")
    def find_minimum(f, init, args=(), **options):
        args = as_args(args)
        found = theirs.find_minimum(plainly(f), values(init), args=values(args), **options)
        slope = lambda x, *args: jvp(lambda x: as_operand(f(x, *args)), (x,), (np.ones_like(x),))[1]
        x = elementwise_roots(slope, np.asarray(found.x), args)
        return with_fields(found, x=x, f_x=as_operand(f(x, *args)))


with contextlib.suppress(ImportError):  # an older SciPy
    _declare_elementwise()
