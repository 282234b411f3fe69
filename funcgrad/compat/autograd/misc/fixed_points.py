"""The fixed point of an iteration, differentiated by the implicit function theorem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad.compat.autograd.core import make_vjp
from funcgrad.compat.autograd.primitives import defvjp, primitive
from funcgrad.compat.autograd.spaces import vspace


@primitive
def fixed_point(
    f: Callable[[Any], Callable[[Any], Any]], a: Any, x0: Any, distance: Callable[[Any, Any], Any], tol: float
) -> Any:
    """The x with x = f(a)(x), from x0 until two iterates are no further than `tol` apart.

    >>> newton = lambda a: lambda x: 0.5 * (x + a / x)
    >>> from funcgrad.compat.autograd import grad
    >>> root = lambda a: fixed_point(newton, a, 1.0, lambda x, y: abs(x - y), 1e-12)
    >>> round(float(grad(root)(4.0)), 6)
    0.25
    """
    step = f(a)
    x, before = step(x0), x0
    while distance(x, before) > tol:
        x, before = step(x), x
    return x


def _pull(ans: Any, f: Any, a: Any, x0: Any, distance: Any, tol: float) -> Callable[[Any], Any]:
    """The cotangent w of the step solves w = g + (df/dx)^T w, which is a fixed point, too."""

    def adjoint(operands: tuple[Any, Any, Any]) -> Callable[[Any], Any]:
        a, x, g = operands
        pull_x, _ = make_vjp(f(a), x)
        return lambda w: vspace(x).add(pull_x(w), g)

    pull_a, _ = make_vjp(lambda given: f(given[0])(given[1]), (a, ans))
    zero = vspace(x0).zeros()
    return lambda g: pull_a(fixed_point(adjoint, (a, ans, g), zero, distance, tol))[0]


defvjp(fixed_point, None, _pull, None)
