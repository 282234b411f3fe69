"""Random programs under random stacks of transforms: all ways to a derivative give the same numbers.

A program maps a vector of three to another; so does each transform of it here, so that they can be stacked in
any order. Parts of a program may be wrapped in what must not change its derivatives (checkpoints, custom
rules that are true), and close over values of the program around them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from funcgrad import (
    checkpoint,
    custom_jvp,
    custom_vjp,
    fixed_point,
    grad,
    jvp,
    linearize,
    stop_gradient,
    vjp,
    vmap,
)

Vector = Callable[[Any], Any]
X, V, C = np.array([0.3, -0.8, 1.2]), np.array([1.0, 0.5, -0.7]), np.array([-0.4, 1.0, 0.9])
M = np.array([[0.2, 0.5, -0.1], [0.7, -0.3, 0.4], [-0.2, 0.1, 0.6]])

# ---- parts of programs: functions of the running value h and the program's input x, which they may close over ----------

PARTS: dict[str, Callable[[Any, Any], Any]] = {
    "sin": lambda h, x: np.sin(h),
    "product": lambda h, x: h * x,
    "ratio": lambda h, x: h / (1 + x * x),
    "matrix": lambda h, x: M @ h,
    "power": lambda h, x: h**2 - 0.5 * h,
    "sum": lambda h, x: h + np.sum(h * x),
    "reverse": lambda h, x: h[::-1] * 0.7,
    "exp": lambda h, x: np.exp(-h * h) + x[0],
    "where": lambda h, x: np.where(x > 0, h, np.sin(h) * x),
    "filled": lambda h, x: filled(h, x),
    "stopped": lambda h, x: h * stop_gradient(np.cos(x)),
    "stacked": lambda h, x: np.stack([h[1], h[2] * x[0], h[0]]),
}


def filled(h: Any, x: Any) -> Any:
    out = np.zeros_like(h)
    for i in range(3):
        out[i] = h[2 - i] * 0.8
    out[1] += x[1] * h[0]
    return out


# ---- wrappings: what takes the part's place ----------------------------------------------------------------------------


def by_vjp(part: Any, h: Any, x: Any) -> Any:
    f = custom_vjp(part)
    f.defvjp(lambda h, x: (f(h, x), (h, x)), lambda s, ct: vjp(part, *s)[1](ct))
    return f(h, x)


def by_jvp(part: Any, h: Any, x: Any) -> Any:
    f = custom_jvp(part)
    f.defjvp(lambda primals, tangents: (f(*primals), jvp(part, primals, tangents)[1]))
    return f(h, x)


WRAPPINGS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "plain": lambda part, h, x: part(h, x),
    "checkpoint": lambda part, h, x: checkpoint(part)(h, x),
    "checkpoint of a closure": lambda part, h, x: checkpoint(lambda h: part(h, x))(h),
    "policy": lambda part, h, x: checkpoint(part, policy=["sin", "multiply", "matmul"])(h, x),
    "nested checkpoints": lambda part, h, x: checkpoint(lambda h: checkpoint(part)(h, x) * 1.0)(h),
    "custom_vjp": by_vjp,
    "custom_jvp": by_jvp,
    "vmap": lambda part, h, x: vmap(lambda h: part(h, x))(np.stack([h, h]))[1],
    "solution": lambda part, h, x: fixed_point(lambda y, h, x: 0.5 * y + 0.5 * part(h, x), np.zeros(3), h, x),
}

# ---- transforms of a vector function into another ----------------------------------------------------------------------

STACK: dict[str, Callable[[Vector], Vector]] = {
    "pull": lambda f: lambda x: vjp(f, x)[1](C)[0],
    "push": lambda f: lambda x: jvp(f, (x,), (V,))[1],
    "gradient": lambda f: grad(lambda x: np.sum(C * f(x))),
    "linearize": lambda f: lambda x: linearize(f, x)[1](V),
    "vmap": lambda f: lambda x: np.sum(vmap(f)(np.stack([x, 0.5 * x])), axis=0),
    "closure": lambda f: lambda x: f(x) * x + x,
    "inner": lambda f: lambda x: jvp(lambda t: f(x + t * V), (0.0,), (1.0,))[1],
}
# What may replace what, without a change of the result.
SAME = {"pull": "gradient", "gradient": "pull", "push": "linearize", "linearize": "inner", "inner": "push"}


def program(parts: Sequence[tuple[str, str]], *, wrapped: bool) -> Vector:
    def run(x: Any) -> Any:
        h = x
        for name, wrapping in parts:
            h = WRAPPINGS[wrapping if wrapped else "plain"](PARTS[name], h, x)
        return h

    return run


def stacked(stack: Sequence[str], f: Vector) -> Vector:
    for name in stack:
        f = STACK[name](f)
    return f


@st.composite
def cases(draw: Any) -> tuple[list[tuple[str, str]], list[str]]:
    part = st.tuples(st.sampled_from(sorted(PARTS)), st.sampled_from(sorted(WRAPPINGS)))
    parts = draw(st.lists(part, min_size=1, max_size=4))
    # Each solution multiplies the work by its iterations: one is enough, and not under a third derivative.
    solutions = [k for k, (_, wrapping) in enumerate(parts) if wrapping == "solution"]
    parts = [(n, "plain" if k in solutions[1:] else w) for k, (n, w) in enumerate(parts)]
    return parts, draw(st.lists(st.sampled_from(sorted(STACK)), min_size=1, max_size=2 if solutions else 3))


@settings(max_examples=80, deadline=None)
@given(cases())
def test_wrappings_change_no_derivative(case: Any) -> None:
    parts, stack = case
    found = stacked(stack, program(parts, wrapped=True))(X)
    expected = stacked(stack, program(parts, wrapped=False))(X)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8 * (1 + np.max(np.abs(expected))))


@settings(max_examples=60, deadline=None)
@given(cases())
def test_forward_and_reverse_mode_agree_at_every_order(case: Any) -> None:
    parts, stack = case
    f = program(parts, wrapped=True)
    found, expected = stacked(stack, f)(X), stacked([SAME.get(name, name) for name in stack], f)(X)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8 * (1 + np.max(np.abs(expected))))


@settings(max_examples=60, deadline=None)
@given(cases())
def test_derivatives_agree_with_finite_differences(case: Any) -> None:
    parts, stack = case
    smooth = [(name, wrapping) for name, wrapping in parts if name != "stopped"]
    f = stacked(stack[:2], program(smooth, wrapped=True))
    h = 1e-4  # with the five-point formula, whose error is of order h^4
    near = [f(X + k * h * V) for k in (-2, -1, 1, 2)]
    expected = (near[0] - 8 * near[1] + 8 * near[2] - near[3]) / (12 * h)
    found = jvp(f, (X,), (V,))[1]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * (1 + np.max(np.abs(expected))))
