"""Random programs in random stacks of transforms, with closures over outer variables: all agree, and with the truth.

A program is an expression in the variables of the transforms around it. A derivative inside it makes a variable of its
own, so inner functions close over outer variables in every way that there is. The truth comes from mpmath, which
differentiates the same expression numerically with many digits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from funcgrad import grad, hvp, jacfwd, jacrev, jvp, value_and_grad, vjp, vmap

Expr = tuple[Any, ...]

# ---- expressions -----------------------------------------------------------------------------------------------------

# The derivative of a scalar function at a point, by each way that there is.
DERIVATIVES: dict[str, Callable[[Any, Any], Any]] = {
    "grad": lambda f, x: grad(f)(x),
    "value_and_grad": lambda f, x: value_and_grad(f)(x)[1],
    "jvp": lambda f, x: jvp(f, (x,), (1.0,))[1],
    "vjp": lambda f, x: vjp(f, x)[1](1.0)[0],
    "jacrev": lambda f, x: jacrev(f)(x),
    "jacfwd": lambda f, x: jacfwd(f)(x),
    "vmap of grad": lambda f, x: vmap(grad(f))(np.stack([x, x + 1.0]))[0],
    "vmap of jvp": lambda f, x: vmap(lambda t: jvp(f, (x,), (t,))[1])(np.array([1.0, 2.0]))[1] / 2,
    "grad of vmap": lambda f, x: np.sum(
        grad(lambda xs: np.sum(vmap(f)(xs)))(np.stack([x, x])) * np.array([0.25, 0.75])
    ),
}
FUNCTIONS: dict[str, tuple[Any, Any]] = {
    "sin": (np.sin, mpmath.sin),
    "tanh": (np.tanh, mpmath.tanh),
    "neg": (lambda x: -x, lambda x: -x),
    "square": (lambda x: x**2 / 2, lambda x: x**2 / 2),
    "cauchy": (lambda x: 1.0 / (1.0 + x * x), lambda x: 1 / (1 + x * x)),
    "expm1": (lambda x: np.expm1(np.tanh(x)), lambda x: mpmath.expm1(mpmath.tanh(x))),
}


@st.composite
def expressions(draw: st.DrawFn, variables: int, depth: int) -> Expr:
    """An expression in this many variables; the innermost one is the likeliest to be used."""
    inner, body = expressions(variables, depth - 1), expressions(variables + 1, depth - 1)
    kinds = ["apply", "add", "mul", "dot", "derivative", "derivative", "vmap"] if depth else []
    match draw(st.sampled_from(["leaf", *kinds])):
        case "apply":
            return ("apply", draw(st.sampled_from(sorted(FUNCTIONS))), draw(inner))
        case "add" | "mul" as kind:
            return (kind, draw(inner), draw(inner))
        case "dot":
            return ("dot", draw(inner), draw(inner), draw(inner))
        case "derivative":
            return ("derivative", draw(st.sampled_from(sorted(DERIVATIVES))), draw(body), draw(inner))
        case "vmap":
            return ("vmap", draw(body), draw(inner), draw(inner))
    leaves = [("var", k) for k in range(variables)] + [("var", variables - 1), ("const", 0.5), ("const", -1.25)]
    return draw(st.sampled_from(leaves))


def orders(e: Any) -> int:
    """How many derivatives are nested at most."""
    if not isinstance(e, tuple):
        return 0
    return max((orders(part) for part in e), default=0) + (e[0] == "derivative")


def evaluated(e: Expr, env: tuple[Any, ...], derivative: Any) -> Any:
    """The expression in NumPy and funcgrad."""
    run = lambda part, *more: evaluated(part, (*env, *more), derivative)
    match e:
        case ("var", k):
            return env[k]
        case ("const", c):
            return c
        case ("apply", name, x):
            return FUNCTIONS[name][0](run(x))
        case ("add", x, y):
            return run(x) + run(y)
        case ("mul", x, y):
            return run(x) * run(y)
        case ("dot", x, y, z):
            v = np.stack([run(x), run(y), run(z)])
            return v[::-1] @ v[1:].repeat(2)[:3]
        case ("derivative", name, body, at):
            return derivative(name)(lambda v: run(body, v), run(at))
        case ("vmap", body, x, y):
            return np.sum(vmap(lambda v: run(body, v))(np.stack([run(x), run(y)])))
    raise AssertionError(e)


def exact(e: Expr, env: tuple[Any, ...]) -> Any:
    """The expression in mpmath."""
    run = lambda part, *more: exact(part, (*env, *more))
    match e:
        case ("var", k):
            return env[k]
        case ("const", c):
            return mpmath.mpf(c)
        case ("apply", name, x):
            return FUNCTIONS[name][1](run(x))
        case ("add", x, y):
            return run(x) + run(y)
        case ("mul", x, y):
            return run(x) * run(y)
        case ("dot", x, y, z):
            a, b, c = run(x), run(y), run(z)
            return c * b + b * b + a * c
        case ("derivative", _, body, at):
            return mpmath.diff(lambda v: run(body, v), run(at))
        case ("vmap", body, x, y):
            return run(body, run(x)) + run(body, run(y))
    raise AssertionError(e)


# ---- properties ------------------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(expressions(1, 4).filter(lambda e: 1 <= orders(e) <= 3), st.sampled_from(sorted(DERIVATIVES)))
def test_any_stack_of_transforms_gives_the_derivative(e: Expr, outermost: str) -> None:
    x = 0.3
    with mpmath.workdps(30):
        truth = float(mpmath.diff(lambda v: exact(e, (v,)), mpmath.mpf(x)))
    came = DERIVATIVES[outermost](lambda v: evaluated(e, (v,), DERIVATIVES.__getitem__), x)
    assert came == pytest.approx(truth, rel=1e-8, abs=1e-8)


@settings(max_examples=60, deadline=None)
@given(expressions(1, 4).filter(lambda e: orders(e) == 2), st.sampled_from(sorted(DERIVATIVES)))
def test_each_way_to_differentiate_gives_the_same(e: Expr, way: str) -> None:
    """The same program with one way throughout, three derivatives deep."""
    f = lambda d: d(lambda v: evaluated(e, (v,), lambda _: d), 0.3)
    assert f(DERIVATIVES[way]) == pytest.approx(f(DERIVATIVES["grad"]), rel=1e-9, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(expressions(2, 3), st.lists(st.floats(-1, 1), min_size=2, max_size=2))
def test_mixed_partial_derivatives_commute(e: Expr, point: list[float]) -> None:
    f = lambda x, y: evaluated(e, (x, y), DERIVATIVES.__getitem__) * np.sin(x * y)
    ab = grad(grad(f, 0), 1)(*point)
    ba = jvp(lambda y: jvp(lambda x: f(x, y), (point[0],), (1.0,))[1], (point[1],), (1.0,))[1]
    mixed = grad(lambda y: jvp(lambda x: f(x, y), (point[0],), (1.0,))[1])(point[1])
    by_vector = hvp(lambda v: f(v[0], v[1]), (np.array(point),), (np.array([1.0, 0.0]),))[1]
    assert [ba, mixed, by_vector] == pytest.approx([ab] * 3, rel=1e-9, abs=1e-9)


# ---- functions of vectors --------------------------------------------------------------------------------------------

MATRIX = np.array([[1.0, -0.5, 0.2], [0.3, 0.8, -1.0], [-0.7, 0.1, 0.6]])
STEPS: list[Callable[[Any], Any]] = [
    np.sin,
    np.tanh,
    lambda x: MATRIX @ x,
    lambda x: x @ MATRIX * x,
    lambda x: x[::-1],
    lambda x: np.roll(x, 1) * x[0],
    lambda x: np.cumsum(x) / 2,
    lambda x: x - np.mean(x),
    lambda x: np.where(x > 0.1, x**2, 0.2 * x),
    lambda x: np.stack([x[1], x[0] * x[2], np.sum(x**2)]),
    lambda x: np.concatenate([x[1:], x[:1] * np.prod(x)]),
    lambda x: np.einsum("i,j,ij->j", x, x, MATRIX),
    lambda x: vmap(lambda v: np.sin(v) * v)(x) + grad(lambda y: np.sum(np.sin(x * y)))(x),
]
POINT = np.array([0.35, -0.6, 0.9])


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.sampled_from(STEPS), min_size=1, max_size=4),
    st.lists(st.sampled_from([jacrev, jacfwd]), min_size=2, max_size=2),
)
def test_jacobians_of_jacobians(steps: list[Any], stack: tuple[Any, Any]) -> None:
    def f(x: Any) -> Any:
        for step in steps:
            x = step(x)
        return x

    inner, outer = stack
    h = 1e-5
    columns = [(inner(f)(POINT + h * e) - inner(f)(POINT - h * e)) / (2 * h) for e in np.eye(3)]
    came = outer(inner(f))(POINT)
    np.testing.assert_allclose(came, np.stack(columns, axis=-1), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(came, jacfwd(jacfwd(f))(POINT), rtol=1e-9, atol=1e-9)
    batch = np.stack([POINT, POINT[::-1] + 0.05])
    np.testing.assert_allclose(vmap(outer(inner(f)))(batch)[0], came, rtol=1e-9, atol=1e-9)
