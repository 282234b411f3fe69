"""A compiled function beneath other transforms: the same numbers, from compiled programs."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad import jit
from funcgrad.compiler.compiling import Jit
from funcgrad.compiler.halves import Half
from funcgrad.errors import ImpureFunctionError
from tests.compiler.agreement import assert_same

X, Y = np.array([0.1, -0.2, 0.3]), np.array([0.5, 0.6, 0.7])


def straight(x: Any, y: Any) -> Any:
    return np.sum(np.sin(x.reshape(3, 1)) @ np.tanh(y).reshape(1, 3) * x)


def branching(x: Any, y: Any) -> Any:
    if x[0] > 0.25:
        return np.sum(x * y**2)
    z = x * 1.0
    z[1:] *= y[1:]
    return straight(z, y)


def inside(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that calls `f` among other things."""
    return lambda x, y: f(x * 2, np.exp(y)) ** 2 + np.sum(x)


TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "value_and_grad": lambda f: fg.value_and_grad(f, (0, 1)),
    "hessian": lambda f: fg.hessian(f, (0, 1)),
    "jacrev": fg.jacrev,
    "jacfwd": fg.jacfwd,
    "grad of grad": lambda f: fg.grad(lambda x, y: np.sum(fg.grad(f)(x, y) ** 2)),
    "jvp": lambda f: lambda x, y: fg.jvp(f, (x, y), (y, x)),
    "vjp": lambda f: lambda x, y: fg.vjp(f, x, y)[1](2.0),
    "hvp": lambda f: lambda x, y: fg.hvp(f, (x, y), (y, x)),
    "linearize": lambda f: lambda x, y: fg.linearize(f, x, y)[1](y, x),
    "checkpoint": lambda f: fg.grad(fg.checkpoint(f)),
    "jit": lambda f: jit(fg.grad(f)),
    "jit inside": lambda f: fg.grad(jit(lambda x, y: f(x, y) * 2)),
}
BATCHED: dict[str, Callable[[Any], Any]] = {
    "vmap": lambda f: lambda x, y: fg.vmap(f, in_axes=(0, None))(np.stack([x, y]), y),
    "vmap of grad": lambda f: lambda x, y: fg.vmap(fg.grad(f))(np.stack([x, y]), np.stack([y, x])),
    "grad of vmap": lambda f: fg.grad(
        lambda x, y: np.sum(fg.vmap(lambda a: f(a, y))(np.stack([x, 2 * x, x])))
    ),
    "hessian of vmap": lambda f: fg.hessian(
        lambda x, y: np.sum(fg.vmap(lambda a: f(a, y))(np.stack([x, np.square(x)])))
    ),
}
ALL = [(n, t, f) for n, t in TRANSFORMS.items() for f in (straight, branching)]
ALL += [(n, t, straight) for n, t in BATCHED.items()]


@pytest.mark.parametrize("around", [inside, lambda f: f], ids=["inside", "directly"])
@pytest.mark.parametrize(
    ("transform", "fun"), [a[1:] for a in ALL], ids=[f"{a[0]}-{a[2].__name__}" for a in ALL]
)
def test_transforms(transform: Any, fun: Any, around: Any) -> None:
    plain, compiled = transform(around(fun)), transform(around(jit(fun)))
    for k in range(8):
        x = X + (k % 4) * 0.04
        assert_same(compiled(x, Y), plain(x, Y))


def test_a_transform_of_a_compiled_function_is_compiled() -> None:
    compiled = jit(straight)
    for made in (fg.grad(compiled), fg.hessian(compiled), fg.vmap(compiled), fg.jacfwd(fg.grad(compiled))):
        assert isinstance(made, Jit)
    assert fg.grad(compiled) is fg.grad(compiled)
    assert fg.grad(compiled, 1) is not fg.grad(compiled)


def halves_of(compiled: Jit) -> list[Half]:
    """The backward programs that were made."""
    (family,) = compiled.families.values()
    (found,) = family.forward((0, 1)).compiled.values()
    ends = [block.returned for block in found.program.root.blocks() if block.returned is not None]
    return [x for end in ends for x in end.leaves if isinstance(x, Half) and x.program is not None]


def test_both_halves_are_compiled() -> None:
    ran: list[int] = []

    def fun(x: Any, y: Any) -> Any:
        ran.append(1)
        return branching(x, y)

    compiled = jit(fun)
    gradient = fg.value_and_grad(lambda x, y: inside(compiled)(x, y), (0, 1))
    for x in (X, X, X, X + 1, X + 1, X + 1):
        gradient(x, Y)
    ran.clear()
    assert_same(gradient(X, Y), fg.value_and_grad(inside(branching), (0, 1))(X, Y))
    assert ran == []
    assert len(halves_of(compiled)) == 2


def test_what_is_closed_over_may_change_between_the_halves() -> None:
    for size in (3, 3000):
        a, x = np.arange(1.0, size + 1), np.ones(size)
        compiled = jit(lambda x, a=a: np.sum(np.sin(x) * a))
        for k in range(5):
            a[0] = k + 2
            _, pull = fg.vjp(lambda x, f=compiled: f(x) * 2, x)
            expected = 2 * np.cos(x) * a
            if a.flags.writeable:
                a[0] = 100
            assert_same(pull(1.0), (expected,))


def test_zeros_by_structure() -> None:
    root = jit(np.sqrt)
    slope = fg.grad(lambda x: np.sum(np.where(x > 0, root(x), 0)))
    both = jit(lambda x: (np.sqrt(x), x * 2))
    for _ in range(4):
        assert_same(slope(np.array([0.0, 4.0])), np.array([0.0, 0.25]))
        assert_same(fg.grad(lambda x: np.sum(both(x)[1]))(np.array([0.0, 4.0])), np.array([2.0, 2.0]))


def test_results_that_are_no_arrays() -> None:
    def fun(p: Any, n: int, how: str) -> Any:
        p["w"][0] = 0.0  # which the caller does not see
        return {"out": p["w"] * n, "how": how, "none": None, "n": n, "ints": np.arange(n)}

    compiled = jit(fun)

    def loss(p: Any) -> Any:
        out = compiled(p, 2, "sum")
        assert (out["how"], out["none"], out["n"], out["ints"].tolist()) == ("sum", None, 2, [0, 1])
        return np.sum(out["out"] ** 2) + np.sum(p["w"])

    for k in range(4):
        w = X + k
        assert_same(fg.grad(loss)({"w": w}), {"w": 1 + np.where(np.arange(3), 8 * w, 0)})


def test_a_closed_over_tracer_runs_the_function() -> None:
    def outer(w: Any) -> Any:
        scaled = jit(lambda x: np.sum(np.sin(x) * w))
        return sum(scaled(w * k) for k in range(4))

    expected = fg.grad(lambda w: sum(np.sum(np.sin(w * k) * w) for k in range(4)))(X)
    assert_same(fg.grad(outer)(X), expected)
    scale: Any = 1.5
    assert_same(fg.grad(fg.grad(lambda s: outer(X * s)))(scale), fg.hessian(lambda s: outer(X * s))(scale))


def test_impure_functions_are_caught_beneath_a_transform() -> None:
    rng = np.random.default_rng(0)
    compiled = jit(lambda x: np.sum(x) * rng.normal())
    slope = fg.grad(lambda x: compiled(x) * 2)
    slope(X)
    with pytest.raises(ImpureFunctionError, match="Pass it as an argument"):
        slope(X)


def test_a_sweep_that_asks_for_values_is_run_as_a_whole() -> None:
    @fg.custom_vjp
    def clipped(x: Any) -> Any:
        return np.sin(x)

    clipped.defvjp(lambda x: (np.sin(x), x), lambda x, ct: (ct * 2 if ct.sum() > 3 else ct * np.cos(x),))
    for fun in (lambda x: np.sum(clipped(x)), lambda x: np.sum(clipped(x) * 5)):
        compiled = jit(fun)
        for k in range(4):
            assert_same(
                fg.grad(lambda x, f=compiled: f(x) * 0.5)(X + k), fg.grad(lambda x, f=fun: f(x) * 0.5)(X + k)
            )


def test_threads() -> None:
    compiled = jit(branching)
    gradient, plain = fg.grad(inside(compiled)), fg.grad(inside(branching))
    given = [X + k % 3 * 0.1 for k in range(60)]
    with ThreadPoolExecutor(4) as pool:
        for x, out in zip(given, pool.map(lambda x: gradient(x, Y), given), strict=True):
            assert_same(out, plain(x, Y))


@pytest.mark.parametrize("result", [None, "text", True, ()])
def test_results_without_arrays(result: Any) -> None:
    compiled = jit(lambda x: result)

    def fun(x):
        assert compiled(x) == result
        return np.sum(x**3)

    for _ in range(3):
        assert_same(fg.grad(fun)(X), 3 * X**2)
        assert_same(fg.hessian(fun)(X), np.diag(6 * X))
        assert_same(fg.jvp(fun, (X,), (Y,))[1], np.sum(3 * X**2 * Y))
        assert_same(fg.vmap(fg.grad(fun))(np.stack([X, Y])), 3 * np.stack([X, Y]) ** 2)
