"""Norms: at zero, at ties, for tiny and huge numbers; every order, axis and form, against their definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from funcgrad import grad, hessian, jacfwd, jvp, value_and_grad, vjp, vmap
from funcgrad.errors import NonDifferentiableError
from funcgrad.testing import check_grads

norm, inf, nan = np.linalg.norm, np.inf, np.nan
VECTOR_ORDERS = (None, 1, 2, 3, 2.5, inf)
MATRIX_ORDERS = (None, "fro", "nuc", 1, 2, inf)
LEAST_ORDERS = (-1, -2, -inf)

# ---- at zero ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ord", VECTOR_ORDERS)
@pytest.mark.parametrize("dtype", [float, complex, np.float32])
def test_the_first_derivative_at_zero_is_zero(ord: Any, dtype: Any) -> None:
    zero = np.zeros(3, dtype)
    gradient = grad(lambda v: norm(v, ord))(zero)
    np.testing.assert_array_equal(gradient, zero)
    assert gradient.dtype == dtype
    assert jvp(lambda v: norm(v, ord), (zero,), (np.ones(3, dtype),))[1] == 0


@pytest.mark.parametrize("ord", MATRIX_ORDERS)
def test_the_first_derivative_at_the_zero_matrix_is_zero(ord: Any) -> None:
    for zero in (np.zeros((2, 3)), np.zeros((3, 3), complex)):
        np.testing.assert_array_equal(grad(lambda m: norm(m, ord))(zero), zero)


@pytest.mark.parametrize(
    "function", [norm, lambda v: norm(v) * norm(v) * norm(v), lambda v: norm(v, 3), lambda v: v[0] * norm(v)]
)
def test_there_is_no_second_derivative_at_zero(function: Any) -> None:
    for second in (hessian(function), jacfwd(jacfwd(function)), jacfwd(grad(function))):
        assert np.isnan(second(np.zeros(2))).all()


def test_what_does_not_need_the_norm_at_zero_survives() -> None:
    np.testing.assert_array_equal(grad(lambda v: v[0] / (1 + norm(v)))(np.zeros(2)), [1, 0])
    np.testing.assert_array_equal(grad(lambda v: norm(v) ** 2)(np.zeros(3)), np.zeros(3))
    np.testing.assert_array_equal(grad(lambda z: norm(z) ** 2)(np.zeros(2, complex)), np.zeros(2))


@pytest.mark.parametrize("ord", [None, 3])
def test_a_zero_row_leaves_the_others_alone(ord: Any) -> None:
    m = np.array([[3.0, 4.0], [0.0, 0.0], [1.0, 2.0]])
    rows = lambda m: norm(m, ord, axis=1)
    alone = np.stack([grad(lambda v: norm(v, ord))(row) for row in m])
    np.testing.assert_allclose(grad(lambda m: np.sum(rows(m)))(m), alone)
    second = hessian(lambda m: np.sum(rows(m)))(m)
    np.testing.assert_allclose(second[0, :, 0], hessian(lambda v: norm(v, ord))(m[0]))
    assert np.isnan(second[1, :, 1]).all()
    np.testing.assert_array_equal(second[0, :, 1:], 0)
    np.testing.assert_allclose(vmap(grad(lambda v: norm(v, ord)))(m), alone)


def test_a_zero_matrix_leaves_the_others_of_a_stack_alone() -> None:
    stack = np.stack([np.zeros((2, 2)), np.eye(2) * [[2], [1]]])
    for ord in MATRIX_ORDERS:
        gradient = grad(lambda a, ord=ord: np.sum(np.linalg.matrix_norm(a, ord=ord or "fro")))(stack)
        np.testing.assert_array_equal(gradient[0], 0)
        np.testing.assert_allclose(gradient[1], grad(lambda m, ord=ord: norm(m, ord or "fro"))(stack[1]))


# ---- values that are known -------------------------------------------------------------------------------------------

KNOWN = [
    (lambda v: norm(v), [3.0, 4.0], [0.6, 0.8]),
    (lambda v: norm(v, inf), [1.0, -2.0], [0, -1]),
    (lambda v: norm(v, inf), [2.0, -2.0], [0.5, -0.5]),
    (lambda v: norm(v, -inf), [1.0, -2.0], [1, 0]),
    (lambda v: norm(v, 0), [1.0, 0.0, 2.0], [0, 0, 0]),
    (lambda v: norm(v, 1), [1.0, 0.0, -2.0], [1, 0, -1]),
    (lambda v: norm(v, 4), [0.0, -2.0], [0, -1]),
    (lambda m: norm(m, 1), [[1.0, -2.0], [3.0, 4.0]], [[0, -1], [0, 1]]),
    (lambda m: norm(m, -1), [[1.0, -2.0], [3.0, 4.0]], [[1, 0], [1, 0]]),
    (lambda m: norm(m, inf), [[1.0, -2.0], [3.0, 4.0]], [[0, 0], [1, 1]]),
    (lambda m: norm(m, -inf), [[1.0, -2.0], [3.0, 4.0]], [[1, -1], [0, 0]]),
    (lambda m: norm(m, 2), [[2.0, 0.0], [0.0, -3.0]], [[0, 0], [0, -1]]),
    (lambda m: norm(m, -2), [[2.0, 0.0], [0.0, -3.0]], [[1, 0], [0, 0]]),
    (lambda m: norm(m, 2), [[1.0, 0.0], [0.0, 1.0]], [[0.5, 0], [0, 0.5]]),
    (lambda m: norm(m, "nuc"), [[2.0, 0.0], [0.0, -3.0]], [[1, 0], [0, -1]]),
    (lambda m: norm(m, "nuc"), [[3.0, 0.0], [4.0, 0.0]], [[0.6, 0], [0.8, 0]]),
    (lambda m: norm(m, -2), [[1.0, 2.0], [2.0, 4.0]], [[0, 0], [0, 0]]),
]


@pytest.mark.parametrize(("function", "x", "expected"), KNOWN)
def test_known_gradients(function: Any, x: Any, expected: Any) -> None:
    value, gradient = value_and_grad(function)(np.array(x))
    np.testing.assert_allclose(value, function(np.array(x)), rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(gradient, expected, atol=1e-14)
    np.testing.assert_allclose(jacfwd(function)(np.array(x)), expected, atol=1e-14)


def test_the_modulus_of_complex_numbers() -> None:
    z, t = np.array([1 + 2j, 3 - 1j]), np.array([0.3 + 0.1j, -0.2 + 0.5j])
    slope = z.conj() / norm(z)
    np.testing.assert_allclose(grad(norm)(z), slope)
    pushed = jvp(norm, (z,), (t,))[1]
    assert pushed.dtype == np.float64
    np.testing.assert_allclose(pushed, np.sum(slope * t).real)


@settings(max_examples=60, deadline=None)
@given(
    hnp.arrays(float, hnp.array_shapes(min_dims=1, max_dims=3, max_side=3), elements=st.floats(0.5, 2)),
    st.sampled_from([1, 2, 3, 1.5, -1]),
    st.data(),
)
def test_the_norm_of_vectors_is_its_definition(x: Any, ord: Any, data: Any) -> None:
    axis = data.draw(st.none() | st.integers(-x.ndim, x.ndim - 1) | st.permutations(range(x.ndim)).map(tuple))
    keepdims = data.draw(st.booleans())
    by_numpy = lambda x: np.linalg.vector_norm(x, ord=ord, axis=axis, keepdims=keepdims)
    by_hand = lambda x: np.sum(np.abs(x) ** ord, axis=axis, keepdims=keepdims) ** (1 / ord)
    out, pull = vjp(by_numpy, x)
    expected_out, expected_pull = vjp(by_hand, x)
    assert np.shape(out) == np.shape(expected_out)
    np.testing.assert_allclose(out, expected_out, rtol=1e-12)
    ct = np.linspace(1, 2, np.size(out)).reshape(np.shape(out))
    np.testing.assert_allclose(pull(ct)[0], expected_pull(ct)[0], rtol=1e-10)
    np.testing.assert_allclose(jvp(by_numpy, (x,), (x,))[1], out, rtol=1e-10)  # homogeneous of degree 1


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [(0, 1), (-1, 0), (2, 1)])
@pytest.mark.parametrize("ord", [*MATRIX_ORDERS, *LEAST_ORDERS])
def test_matrix_norms_along_any_axes(ord: Any, axis: Any, keepdims: bool) -> None:
    x = np.cos(np.arange(24.0) ** 2).reshape(2, 3, 4)
    check_grads(lambda x: norm(x, ord, axis, keepdims), (x,), order=2)


# ---- tiny and huge numbers -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-100, 1e100, 1e200, 1e300])
@pytest.mark.parametrize("ord", [2, 3])
def test_the_slope_does_not_depend_on_the_scale(scale: float, ord: int) -> None:
    x = np.array([3.0, -4.0, 0.0])
    expected = grad(lambda v: norm(v, ord))(x)
    with np.errstate(over="ignore", under="ignore"):
        np.testing.assert_allclose(grad(lambda v: norm(v, ord))(x * scale), expected, rtol=1e-12)
        rows = np.stack([x * scale, x, 0 * x])
        gradient = grad(lambda m: np.sum(norm(m, ord, axis=-1)))(rows)
    np.testing.assert_allclose(gradient, [expected, expected, 0 * x], rtol=1e-12)


def test_the_slope_of_single_precision_does_not_depend_on_the_scale() -> None:
    x = np.array([3, -4], np.float32)
    for scale in (1e-30, 1e30):
        with np.errstate(over="ignore", under="ignore"):
            gradient = grad(norm)(x * np.float32(scale))
        assert gradient.dtype == np.float32
        np.testing.assert_allclose(gradient, [0.6, -0.8], rtol=1e-6)


def test_nan_and_infinity_are_not_hidden() -> None:
    assert np.isnan(grad(norm)(np.array([nan, 1.0]))).all()
    with np.errstate(invalid="ignore"):
        assert np.isnan(grad(norm)(np.array([inf, 1.0]))[0])


# ---- empty, and refusals ---------------------------------------------------------------------------------------------


def test_norms_of_nothing() -> None:
    for ord in (None, 1, 2, inf):
        value, gradient = value_and_grad(lambda v, ord=ord: norm(v, ord))(np.zeros(0))
        assert value == 0
        assert gradient.shape == (0,)
    for ord in MATRIX_ORDERS:
        value, gradient = value_and_grad(lambda m, ord=ord: norm(m, ord))(np.zeros((0, 3)))
        assert value == 0
        assert gradient.shape == (0, 3)


REFUSED = [
    (lambda x: norm(x, "fro", axis=0), ValueError, "for vectors"),
    (lambda x: norm(x, 3), ValueError, "Invalid norm order for matrices"),
    (lambda x: norm(x[None], 2), ValueError, "dimensions"),
    (lambda x: norm(x, axis=(0, 0)), ValueError, "repeated"),
    (lambda x: norm(x, axis=2), np.exceptions.AxisError, "axis 2"),
    (lambda x: norm(x, order=2), TypeError, "order"),
    (lambda x: norm(x[0], x[0, 0]), NonDifferentiableError, "with respect to ord"),
]


@pytest.mark.parametrize(("call", "error", "text"), REFUSED)
def test_refused(call: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        vjp(call, np.eye(2))


@pytest.mark.parametrize(("dtype", "tiny"), [(complex, 5e-324), (np.complex64, 1.4e-45)])
def test_the_direction_of_subnormal_complex_numbers(dtype: Any, tiny: float) -> None:
    z = np.array([300 * tiny + 400j * tiny, 0], dtype)
    np.testing.assert_allclose(grad(np.linalg.norm)(z), [0.6 - 0.8j, 0], rtol=0.01)
    np.testing.assert_allclose(grad(lambda z: np.sum(np.abs(z)))(z), [0.6 - 0.8j, 0], rtol=0.01)
    np.testing.assert_allclose(jvp(np.linalg.norm, (z,), (np.ones_like(z),))[1], 0.6, rtol=0.01)
