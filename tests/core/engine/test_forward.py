"""Forward mode: a tangent beside each value, pushed at once."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import pytest

from funcgrad import grad, hessian, jvp, vjp
from funcgrad.core.engine.declare import custom, elementwise, linear
from funcgrad.core.engine.forward import ForwardTrace, ForwardTracer


def test_a_tracer_carries_its_tangent() -> None:
    with ForwardTrace() as trace:
        x = trace.wrap(np.array([1.0, 2.0]), np.array([1.0, 10.0]))
        out = x * x
        assert isinstance(out, ForwardTracer)
        np.testing.assert_array_equal(out._node, [2, 40])
        assert (x + 1)._node is not None
        assert np.floor(x)._node is None
        assert type(x > 0) is np.ndarray


def test_constants_have_no_tangent() -> None:
    with ForwardTrace() as trace:
        x, c = trace.wrap(np.ones(2), np.ones(2)), trace.wrap(np.ones(2), None)
        assert (c * 3)._node is None
        np.testing.assert_array_equal((c * x)._node, 1)


def test_tangents_have_the_shape_and_dtype_of_their_value() -> None:
    x, t = np.ones((2, 1), np.float32), np.ones((2, 1), np.float32)
    programs = [
        lambda x: x + np.zeros((2, 3), np.float64),
        lambda x: np.broadcast_to(x, (4, 2, 3)),
        lambda x: np.sum(x),
        lambda x: np.where(np.zeros((2, 3), bool), x, np.float64(1)),
        lambda x: np.maximum(x, np.zeros((1, 5))),
        lambda x: x * (1 + 2j),
        lambda x: (x * 1j).imag,
        lambda x: np.concatenate([x, np.ones((2, 2))], axis=1),
    ]
    for f in programs:
        out, tangent = jvp(f, (x,), (t,))
        expected = f(x)
        assert (out.shape, out.dtype) == (expected.shape, expected.dtype)
        assert (tangent.shape, tangent.dtype) == (out.shape, out.dtype)


def test_values_die_as_soon_as_nobody_names_them() -> None:
    """Forward mode keeps no tape."""
    died: list[bool] = []

    def f(x: Any) -> Any:
        y = np.exp(x)
        references = [weakref.ref(y._value), weakref.ref(y._node)]
        z = y * 2
        del y
        died.append(all(ref() is None for ref in references))
        return z

    jvp(f, (np.ones(3),), (np.ones(3),))
    assert died == [True]


# ---- a push that is derived from the pull ----------------------------------------------------------------------------


def cube(x: Any) -> Any:
    return x**3


def test_a_missing_push_is_the_pull_transposed() -> None:
    f = custom(lambda x: cube(x), lambda ct, x: ct * 3 * x**2)
    x, t = np.array([1.0, 2.0]), np.array([1.0, 10.0])
    out, tangent = jvp(f, (x,), (t,))
    np.testing.assert_allclose(out, x**3)
    np.testing.assert_allclose(tangent, 3 * x**2 * t)
    # ... to any order, in any mix
    np.testing.assert_allclose(jvp(lambda x: jvp(f, (x,), (t,))[1], (x,), (t,))[1], 6 * x * t * t)
    np.testing.assert_allclose(vjp(lambda x: jvp(f, (x,), (t,))[1], x)[1](t)[0], 6 * x * t * t)
    np.testing.assert_allclose(jvp(lambda x: vjp(f, x)[1](t)[0], (x,), (t,))[1], 6 * x * t * t)
    assert grad(grad(grad(lambda x: f(x))))(2.0) == pytest.approx(6.0)
    np.testing.assert_allclose(hessian(lambda x: np.sum(f(x)))(x), np.diag(6 * x))


def test_a_derived_push_of_several_operands() -> None:
    pulls = {"x": lambda ct, y: ct * y, "y": lambda ct, x: np.sum(ct * x)}
    f = custom(lambda x, y: x * y, pulls, operands="x y")
    x, y = np.array([1.0, 2.0]), np.float64(3.0)
    tx, ty = np.array([1.0, -1.0]), np.float64(10.0)
    np.testing.assert_allclose(jvp(f, (x, y), (tx, ty))[1], tx * y + x * ty)
    np.testing.assert_allclose(jvp(lambda x: f(x, y), (x,), (tx,))[1], tx * y)
    np.testing.assert_allclose(jvp(lambda y: f(x, y), (y,), (ty,))[1], x * ty)


def test_a_derived_push_of_several_outputs() -> None:
    def both(x: Any) -> Any:
        return x * x, np.sum(x)

    def pull(ct: Any, x: Any) -> Any:
        square, total = ct
        part = 0 * x if square is None else 2 * x * square
        return part if total is None else part + total

    f = custom(both, pull)
    x, t = np.array([1.0, 2.0]), np.array([1.0, 10.0])
    tangents = jvp(f, (x,), (t,))[1]
    np.testing.assert_allclose(tangents[0], 2 * x * t)
    np.testing.assert_allclose(tangents[1], 11)
    np.testing.assert_allclose(vjp(lambda x: f(x)[0], x)[1](t)[0], 2 * x * t)


def test_a_complex_pull_transposes_without_conjugation() -> None:
    f = custom(lambda x: x * (1 + 2j), lambda ct: ct * (1 + 2j))
    assert jvp(f, (np.complex128(1j),), (np.complex128(2.0),))[1] == 2 + 4j


def test_a_real_function_of_a_complex_operand() -> None:
    z, t = np.array([3 + 4j]), np.array([1 + 2j])
    np.testing.assert_allclose(jvp(abs, (z,), (t,))[1], (z.conj() * t).real / abs(z))
    modulus = custom(lambda x: np.hypot(x.real, x.imag), lambda ct, x, out: ct * x.conj() / out)
    np.testing.assert_allclose(vjp(modulus, z)[1](np.ones(1))[0], vjp(abs, z)[1](np.ones(1))[0])


def test_a_push_that_is_given_is_used() -> None:
    used: list[str] = []

    def push(t: Any, x: Any) -> Any:
        used.append("push")
        return 2 * x * t

    f = custom(lambda x: x * x, lambda ct, x: 2 * x * ct, push=push)
    assert jvp(f, (3.0,), (1.0,))[1] == 6.0
    assert grad(f)(3.0) == 6.0
    assert used == ["push"]


def test_a_push_of_several_operands_gets_tangents_by_name() -> None:
    seen: list[Any] = []

    def push(t: Any, x: Any, y: Any) -> Any:
        seen.append({name: value is None for name, value in t.items()})
        terms = [t["x"] * y if t["x"] is not None else 0, t["y"] * x if t["y"] is not None else 0]
        return sum(terms)

    pulls = {"x": lambda ct, y: ct * y, "y": lambda ct, x: ct * x}
    f = custom(lambda x, y: x * y, pulls, push=push, operands="x y")
    assert jvp(lambda x: f(x, 5.0), (3.0,), (1.0,))[1] == 5.0
    assert jvp(f, (3.0, 5.0), (1.0, 1.0))[1] == 8.0
    assert seen == [{"x": False, "y": True}, {"x": False, "y": False}]


def test_one_partial_serves_both_modes() -> None:
    f = elementwise(lambda x, y: x * np.exp(y), lambda y: np.exp(y), lambda out: out)
    x, y = np.array([1.0, 2.0]), 0.5
    np.testing.assert_allclose(jvp(f, (x, y), (x, 1.0))[1], 2 * x * np.exp(y))
    np.testing.assert_allclose(grad(lambda x, y: np.sum(f(x, y)), (0, 1))(x, y)[1], 3 * np.exp(y))


def test_a_linear_function_is_its_own_push() -> None:
    f = linear(lambda x: 3.0 * x[::-1], lambda ct, x: 3.0 * ct[::-1])
    t = np.array([1.0, 10.0])
    np.testing.assert_allclose(jvp(f, (np.zeros(2),), (t,))[1], [30, 3])
