"""Derivatives against finite differences, in random directions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any

from funcgrad.compat.autograd.core import make_jvp, make_vjp
from funcgrad.compat.autograd.spaces import vspace
from funcgrad.compat.autograd.wrap_util import get_name, unary_to_nary

TOL, RTOL, EPS = 1e-6, 1e-6, 1e-6


def scalar_close(a: Any, b: Any) -> bool:
    """Are two numbers equal, but for what finite differences are off?"""
    return bool(abs(a - b) < TOL or abs(a - b) / abs(a + b) < RTOL)


def make_numerical_jvp(f: Callable[[Any], Any], x: Any) -> Callable[[Any], Any]:
    """The derivative of `f` along a direction, by a central difference."""
    space, outs = vspace(x), vspace(f(x))

    def jvp(v: Any) -> Any:
        above, below = (f(space.add(x, space.scalar_mul(v, sign * EPS / 2))) for sign in (1, -1))
        return outs.scalar_mul(outs.add(above, outs.scalar_mul(below, -1.0)), 1.0 / EPS)

    return jvp


def check_vjp(f: Callable[[Any], Any], x: Any) -> None:
    """Check what is pulled, with a random direction and a random cotangent."""
    pull, value = make_vjp(f, x)
    space, outs = vspace(x), vspace(value)
    v, g = space.randn(), outs.randn()
    pulled = space.covector(pull(outs.covector(g)))
    assert vspace(pulled) == space, (
        f"the gradient of {get_name(f)} lies in {vspace(pulled)}, its argument in {space}"
    )
    exact, numeric = space.inner_prod(v, pulled), outs.inner_prod(g, make_numerical_jvp(f, x)(v))
    assert scalar_close(numeric, exact), (
        f"Derivative (VJP) check of {get_name(f)} failed with arg {x}: analytic {exact}, numeric {numeric}"
    )


def check_jvp(f: Callable[[Any], Any], x: Any) -> None:
    """Check what is pushed, with a random direction."""
    v = vspace(x).randn()
    check_equivalent(make_jvp(f, x)(v)[1], make_numerical_jvp(f, x)(v))


def check_equivalent(x: Any, y: Any) -> None:
    """Check that two values lie in one space, and agree along a random direction."""
    space = vspace(x)
    assert space == vspace(y), f"VSpace mismatch: {space} and {vspace(y)}"
    v = space.randn()
    assert scalar_close(space.inner_prod(x, v), space.inner_prod(y, v)), f"Value mismatch: {x} and {y}"


@unary_to_nary
def check_grads(
    f: Callable[[Any], Any], x: Any, modes: Sequence[str] = ("fwd", "rev"), order: int = 2
) -> None:
    """`check_grads(f, argnum=0, modes=["fwd", "rev"], order=2)(*args)`: derivatives up to an order."""
    assert all(m in ("fwd", "rev") for m in modes), f"modes are 'fwd' and 'rev', not {modes}"
    for mode, check in (("fwd", check_jvp), ("rev", check_vjp)):
        if mode not in modes:
            continue
        check(f, x)
        if order > 1:
            direct = _pushed if mode == "fwd" else _pulled
            derivative = direct(f)
            v = vspace(x if mode == "fwd" else f(x)).randn()
            check_grads(derivative, (0, 1), modes, order=order - 1)(x, v)


def _pushed(f: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    def jvp(x: Any, v: Any) -> Any:
        return make_jvp(f, x)(v)[1]

    jvp.__name__ = f"jvp_{get_name(f)}"
    return jvp


def _pulled(f: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    def vjp(x: Any, v: Any) -> Any:
        return make_vjp(f, x)[0](v)

    vjp.__name__ = f"vjp_{get_name(f)}"
    return vjp


def combo_check(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., None]:
    """check_grads, for every combination of the arguments and keywords that are then given as lists."""
    check = check_grads(fun, *args, **kwargs)

    def of_all(*lists: Any, **keywords: Any) -> None:
        pairs = [[(name, x) for x in values] for name, values in keywords.items()]
        for chosen in product(*lists):
            for named in product(*pairs):
                check(*chosen, **dict(named))

    return of_all


deprecation_msg = "quick_grad_check is deprecated; use autograd.test_util.check_grads"


def quick_grad_check(
    fun: Callable[..., Any],
    arg0: Any,
    extra_args: Iterable[Any] = (),
    kwargs: Any = None,
    verbose: bool = True,
    eps: float = 1e-4,
    rtol: float = 1e-4,
    atol: float = 1e-6,
    rs: Any = None,
) -> None:
    """Check the gradient in the first argument, as `check_grads(modes=["rev"], order=1)` does; the settings
    that follow `kwargs` have no effect any more.
    """
    warnings.warn(deprecation_msg, DeprecationWarning, stacklevel=2)
    check_grads(lambda x: fun(x, *extra_args, **(kwargs or {})), modes=["rev"], order=1)(arg0)
