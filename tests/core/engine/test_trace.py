"""Who handles a call: levels, perturbation confusion, closed traces."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from funcgrad import grad, hessian, jacfwd, jacrev, jvp, stop_gradient, vjp, vmap
from funcgrad.core.engine.forward import ForwardTrace
from funcgrad.core.engine.reverse import ReverseTrace, ReverseTracer
from funcgrad.core.engine.trace import concrete, innermost
from funcgrad.errors import EscapedTracerError, FuncgradError, TracerError


def forward(f: Any) -> Any:
    """The derivative of a scalar function by forward mode."""
    return lambda x: jvp(f, (x,), (1.0,))[1]


def batched(f: Any) -> Any:
    """The derivative of a scalar function, taken on a batch of one."""
    return lambda x: vmap(grad(f), axis_size=1)(np.stack([x]))[0]


DERIVATIVES = {"grad": grad, "jvp": forward, "jacrev": jacrev, "jacfwd": jacfwd, "vmap of grad": batched}
PAIRS = list(itertools.product(DERIVATIVES, repeat=2))


# ---- levels ----------------------------------------------------------------------------------------------------------


def test_a_trace_that_starts_later_is_an_inner_one() -> None:
    with ReverseTrace() as outer, ForwardTrace() as inner:
        assert inner.level > outer.level
        x, y = outer.leaf(np.ones(3)), inner.wrap(np.ones(3), None)
        assert innermost([1.0, x, y, np.ones(3)]) is inner
        assert innermost([x]) is outer
        assert innermost([1.0, np.ones(3)]) is None


def test_the_innermost_trace_takes_off_its_own_wrapping_only() -> None:
    with ReverseTrace() as outer, ReverseTrace() as inner:
        x = outer.leaf(np.float64(2.0))
        y = inner.leaf(x)
        out = x * y
        assert out._trace is inner
        assert isinstance(out._value, ReverseTracer)
        assert out._value._trace is outer
        assert concrete(out) == 4.0


# ---- perturbation confusion ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("outer", "inner"), PAIRS)
def test_a_closure_over_the_outer_variable_is_a_constant_inside(outer: str, inner: str) -> None:
    """d/dx [x * d/dy (x + y)] = 1; an engine that takes the two perturbations for one says 2."""
    D, E = DERIVATIVES[outer], DERIVATIVES[inner]
    assert D(lambda x: x * E(lambda y: x + y)(1.0))(1.0) == pytest.approx(1.0)
    assert D(lambda x: x * E(lambda y: x * y)(2.0))(3.0) == pytest.approx(6.0)
    assert D(lambda x: E(lambda y: x**2 * y**3)(2.0))(5.0) == pytest.approx(2 * 5 * 3 * 4)


@pytest.mark.parametrize(("outer", "inner"), PAIRS)
def test_an_inner_derivative_at_the_outer_variable(outer: str, inner: str) -> None:
    """d/dx [x * d/dy (x * sin y) at y = x] = d/dx [x^2 cos x]."""
    D, E = DERIVATIVES[outer], DERIVATIVES[inner]
    x = 0.7
    came = D(lambda x: x * E(lambda y: x * np.sin(y))(x))(x)
    assert came == pytest.approx(2 * x * np.cos(x) - x**2 * np.sin(x))


@pytest.mark.parametrize(("outer", "inner"), PAIRS)
def test_an_inner_function_that_does_not_use_its_own_variable(outer: str, inner: str) -> None:
    D, E = DERIVATIVES[outer], DERIVATIVES[inner]
    assert D(lambda x: x + E(lambda y: x * x)(1.0))(3.0) == pytest.approx(1.0)


@pytest.mark.parametrize("triple", list(itertools.product(["grad", "jvp"], repeat=3)), ids="-".join)
def test_three_levels(triple: tuple[str, ...]) -> None:
    """x y^2 z^3, each variable differentiated in once, innermost z."""
    A, B, C = (DERIVATIVES[name] for name in triple)
    inner = lambda x: B(lambda y: C(lambda z: x * y**2 * z**3)(x + y))(x)
    # d/dy of 3 x y^2 (x + y)^2 at y = x: 3 x (2 y (x + y)^2 + 2 y^2 (x + y)) = 24 x^4 + 12 x^4
    assert A(inner)(1.5) == pytest.approx(4 * 36 * 1.5**3)


def test_a_derivative_operator_applied_twice() -> None:
    """The operator closes over the variable of its own derivative, and is applied to its own result."""
    f = lambda x: lambda g: lambda y: g(x + y)
    D = lambda g: forward(lambda x: f(x)(g)(0.0))
    twice = D(D(np.exp))
    assert twice(1.0) == pytest.approx(np.e)
    assert grad(twice)(1.0) == pytest.approx(np.e)


def test_a_pullback_made_outside_and_used_inside() -> None:
    out, pull = vjp(lambda x: x**3, 2.0)
    assert out == 8.0
    assert grad(lambda y: pull(y * y)[0])(5.0) == pytest.approx(12 * 2 * 5)
    assert forward(lambda y: pull(y * y)[0])(5.0) == pytest.approx(12 * 2 * 5)


def test_a_pullback_made_inside_of_an_outer_trace() -> None:
    def f(x: Any) -> Any:
        _, pull = vjp(lambda y: x * y**2, x)
        return pull(x)[0]  # 2 x^3

    assert grad(f)(3.0) == pytest.approx(6 * 9)
    assert grad(grad(f))(3.0) == pytest.approx(12 * 3)
    assert hessian(f)(3.0) == pytest.approx(12 * 3)


def test_stop_gradient_holds_at_every_level() -> None:
    f = lambda x: stop_gradient(x) * x
    assert grad(f)(3.0) == 3.0
    assert grad(grad(f))(3.0) == 0.0
    assert forward(grad(f))(3.0) == 0.0
    assert grad(lambda x: grad(lambda y: stop_gradient(x) * x * y)(1.0))(3.0) == 3.0


# ---- closed traces ---------------------------------------------------------------------------------------------------


def escapee(transform: Any) -> Any:
    kept: list[Any] = []
    transform(lambda x: (kept.append(x), x * 1.0)[1])
    return kept[0]


TRANSFORMS = {
    "reverse": lambda f: grad(f)(1.0),
    "forward": lambda f: jvp(f, (1.0,), (1.0,)),
    "vmap": lambda f: vmap(f)(np.ones(2)),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_tracer_used_after_its_transform_names_the_line(name: str) -> None:
    x = escapee(TRANSFORMS[name])
    uses = [
        lambda: np.sin(x),
        lambda: x + 1,
        lambda: 1.0 - x,
        lambda: np.add(x, x),
        lambda: np.sum(x),
        lambda: x.sum(),
        lambda: np.stack([x, x]),
        lambda: np.asarray(x),
    ]
    for use in uses:
        with pytest.raises(
            EscapedTracerError, match=r"test_trace\.py, line \d+, in <lambda> .*has already returned"
        ):
            use()


def test_an_escaped_tracer_says_which_operation_and_which_transform() -> None:
    x = escapee(TRANSFORMS["reverse"])
    with pytest.raises(
        EscapedTracerError, match=r"cumsum at test_trace\.py.*reverse-mode transform \(grad"
    ) as caught:
        np.cumsum(x)
    assert isinstance(caught.value, (TracerError, FuncgradError, TypeError))
    assert "has_aux" in str(caught.value)
    with pytest.raises(EscapedTracerError, match=r"multiply at test_trace\.py"):
        x * 2
    with pytest.raises(EscapedTracerError, match=r"tanh at test_trace\.py"):
        np.tanh(x)
    with pytest.raises(EscapedTracerError, match="forward-mode"):
        np.cumsum(escapee(TRANSFORMS["forward"]))
    with pytest.raises(EscapedTracerError, match="vmap"):
        np.sin(escapee(TRANSFORMS["vmap"]))


def test_an_escaped_tracer_beside_a_live_one() -> None:
    x = escapee(TRANSFORMS["reverse"])
    with pytest.raises(EscapedTracerError):
        grad(lambda y: y * x)(1.0)
    with pytest.raises(EscapedTracerError):
        grad(lambda y: np.sum(np.stack([y, x])))(1.0)


def test_a_trace_closes_when_the_function_raises() -> None:
    kept: list[Any] = []

    def f(x: Any) -> Any:
        kept.append(x)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        grad(f)(1.0)
    assert not kept[0]._trace.is_open
    with pytest.raises(EscapedTracerError):
        kept[0] + 1


def test_what_is_returned_as_aux_has_no_tracers() -> None:
    _, aux = grad(lambda x: (x * x, {"twice": 2 * x, "x": [x]}), has_aux=True)(3.0)
    assert aux == {"twice": 6.0, "x": [3.0]}
    assert not any(isinstance(v, ReverseTracer) for v in (aux["twice"], aux["x"][0]))


def test_a_generator_that_is_resumed_too_late() -> None:
    def f(x: Any) -> Any:
        later.append(x * k for k in range(3))
        return x

    later: list[Any] = []
    grad(f)(1.0)
    with pytest.raises(EscapedTracerError):
        next(later[0])


# ---- constants -------------------------------------------------------------------------------------------------------


def test_results_that_depend_on_no_tracer_stay_plain() -> None:
    seen: list[Any] = []
    grad(lambda x: (seen.append(np.sin(2.0)), seen.append(x > 0), seen.append(np.argmax(x)), x)[-1])(1.0)
    assert [type(s) for s in seen] == [np.float64, np.bool_, np.int64]
