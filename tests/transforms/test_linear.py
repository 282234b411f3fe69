"""linearize and linear_transpose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from funcgrad import (
    custom_gradient,
    custom_vjp,
    grad,
    jacfwd,
    jvp,
    linear_transpose,
    linearize,
    tree,
    vjp,
    vmap,
)
from funcgrad.core.arrays.spec import Spec
from funcgrad.errors import ArgumentError, CotangentError, OutputError, RuleError
from funcgrad.transforms.leaves import float0

A = np.array([[1.0, 2.0, -1.0], [3.0, 4.0, 0.5]])
X = np.array([0.3, -1.2, 2.0])


def equal(found: Any, expected: Any) -> None:
    assert tree.structure(found) == tree.structure(expected)
    for x, y in zip(tree.leaves(found), tree.leaves(expected), strict=True):
        assert np.shape(x) == np.shape(y)
        assert np.asarray(x).dtype == np.asarray(y).dtype
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-14)


# ---- linearize -------------------------------------------------------------------------------------------------------

FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]] = {
    "elementwise": (lambda x: np.sin(x) * np.exp(x), (X,), (X + 1,)),
    "matrix": (lambda x, y: np.tanh(A @ x) * y, (X, np.ones(2)), (X + 1, np.array([0.5, 2.0]))),
    "trees": (
        lambda d, y: {"a": (d["x"] * y, d["x"].sum()), "b": [y]},
        ({"x": X}, 2.0),
        ({"x": X * X}, -1.0),
    ),
    "linalg": (lambda m: np.linalg.inv(m), (A @ A.T,), (np.ones((2, 2)),)),
    "writes": (lambda x: _filled(x), (X,), (X + 1,)),
    "single precision": (
        lambda x: np.float64(2) * x.astype(np.float64),
        (np.float32([1, 2]),),
        (np.float32([3, 4]),),
    ),
    "complex": (lambda z: np.abs(z) * np.exp(z), (X + 1j,), (X - 2j,)),
    "real to complex": (lambda x: np.fft.fft(x * x), (X,), (X + 1,)),
    "the same output twice": (lambda x: (x * 2, x * 2, x), (X,), (X,)),
}


def _filled(x: Any) -> Any:
    y = np.zeros_like(x)
    for i in range(3):
        y[i] = x[2 - i] * x[i]
    return y


@pytest.mark.parametrize("name", FUNCTIONS)
def test_linearize_agrees_with_jvp(name: str) -> None:
    fun, primals, tangents = FUNCTIONS[name]
    out, f_jvp = linearize(fun, *primals)
    expected_out, expected = jvp(fun, primals, tangents)
    equal(out, expected_out)
    equal(f_jvp(*tangents), expected)
    equal(f_jvp(*tree.map(lambda t: 2 * t, tangents)), tree.map(lambda t: 2 * t, expected))


def test_the_function_runs_once() -> None:
    runs = []

    def f(x: Any) -> Any:
        runs.append(x)
        return np.sin(x)

    _, f_jvp = linearize(f, X)
    for k in range(3):
        np.testing.assert_allclose(f_jvp(k * X), k * X * np.cos(X))
    assert len(runs) == 1


def test_outputs_without_a_derivative() -> None:
    out, f_jvp = linearize(lambda x, n: (x * n, 3.0, np.floor(x).astype(int), x), X, np.int64(2))
    assert out[1] == 3
    t = f_jvp(X, np.zeros((), float0))
    np.testing.assert_array_equal(t[0], 2 * X)
    assert t[1] == 0
    assert t[2].dtype == float0
    np.testing.assert_array_equal(t[3], X)


def test_an_infinite_derivative_stays_behind_its_mask() -> None:
    f = lambda x: np.where(x > 0, np.sqrt(x), x * x)
    x = np.array([0.0, 4.0])
    _, f_jvp = linearize(f, x)
    np.testing.assert_array_equal(f_jvp(np.ones(2)), [0, 0.25])


def test_aux() -> None:
    out, f_jvp, aux = linearize(lambda x: (x * x, {"note": "text", "x": x}), 3.0, has_aux=True)
    assert (out, f_jvp(1.0), aux["note"]) == (9, 6, "text")
    assert type(aux["x"]) is np.float64


def test_columns_of_a_jacobian_and_nesting() -> None:
    f = lambda x: np.tanh(A @ x)
    _, f_jvp = linearize(f, X)
    np.testing.assert_allclose(vmap(f_jvp, out_axes=1)(np.eye(3)), jacfwd(f)(X))
    directional = lambda x: linearize(lambda x: np.sum(x**3), x)[1](X)
    np.testing.assert_allclose(grad(directional)(X), 6 * X * X)
    np.testing.assert_allclose(jvp(directional, (X,), (X,))[1], np.sum(6 * X**3))
    rows = np.stack([X, 2 * X])
    np.testing.assert_allclose(vmap(directional)(rows), [np.sum(3 * r * r * X) for r in rows])
    hessian_times = linearize(grad(lambda x: np.sum(x**4)), X)[1]
    np.testing.assert_allclose(hessian_times(np.ones(3)), 12 * X**2)


def test_a_backward_rule_that_is_not_linear_is_refused() -> None:
    clipped = custom_gradient(lambda x: (x, lambda ct: np.clip(ct, -1, 1)))
    doubled = custom_gradient(lambda x: (x * x, lambda ct: 2 * x * ct))
    for over in (lambda f: lambda x: 5 * np.sum(f(x)), lambda f: lambda x: 5 * np.sum(vmap(f)(x))):
        with pytest.raises(
            RuleError, match="custom_gradient <lambda>, linearized: its backward rule must be linear"
        ):
            linearize(over(clipped), X)
        assert linearize(over(doubled), X)[1](np.ones(3)) == pytest.approx(10 * np.sum(X))


def test_misuse_of_linearize() -> None:
    _, f_jvp = linearize(lambda x, y: x * y, X, 2.0)
    with pytest.raises(ArgumentError, match="linearized in 2 arguments, but 1 tangents"):
        f_jvp(X)
    with pytest.raises(CotangentError, match=r"linearize: tangent 0 has shape \(2,\)"):
        f_jvp(np.ones(2), 1.0)
    with pytest.raises(CotangentError, match="linearize: tangent 1: expected a leaf"):
        f_jvp(X, (1.0,))
    with pytest.raises(OutputError, match="linearize: <lambda> returned a str"):
        linearize(lambda x: "text", 1.0)


# ---- linear_transpose ------------------------------------------------------------------------------------------------

LINEAR: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "matrix": (lambda x: A @ x, (X,)),
    "several": (lambda x, y: (2 * x + y[1:], {"s": x.sum() - y[0]}), (X, np.ones(4))),
    "trees": (lambda d: [d["x"][::-1] / 3, -d["y"]], ({"x": X, "y": 1.0},)),
    "shapes": (lambda x: np.concatenate([x.reshape(3, 1), np.ones((3, 1)) * x[0]], axis=1).T, (X,)),
    "sums": (lambda x: np.cumsum(x) + np.mean(x), (X,)),
    "einsum": (lambda x: np.einsum("ij,j->i", A, x), (X,)),
    "fourier": (lambda z: np.fft.fft(z), (X + 1j,)),
    "real to complex": (lambda x: x * (1 + 2j), (X,)),
    "real part": (lambda z: z.real + 2 * np.imag(z), (X + 1j,)),
    "solve": (lambda x: np.linalg.solve(np.diag([1.0, 2.0, 4.0]), x), (X,)),
    "where": (lambda x: np.where(np.array([True, False, True]), x, 0), (X,)),
    "written": (lambda x: _written(x), (X,)),
    "unused": (lambda x, y: 2 * x, (X, 1.0)),
    "single precision": (lambda x: 2 * x, (np.float32([1, 2]),)),
}


def _written(x: Any) -> Any:
    y = np.zeros_like(x)
    y[1:] = x[:2]
    y[0] += 3 * x[2]
    return y


@pytest.mark.parametrize("name", LINEAR)
def test_the_transpose_agrees_with_vjp(name: str) -> None:
    fun, primals = LINEAR[name]
    out, pull = vjp(fun, *primals)
    rng = np.random.default_rng(0)
    ct = tree.map(
        lambda o: (rng.normal(size=o.shape) * (1 + 1j if o.dtype.kind == "c" else 1)).astype(o.dtype), out
    )
    transpose = linear_transpose(fun, *primals)
    equal(transpose(ct), pull(ct))
    equal(transpose(ct), pull(ct))


def test_the_values_of_the_primals_do_not_matter() -> None:
    specs = (Spec((3,), np.dtype(float)),)
    for primals in (specs, (np.full(3, np.nan),), (np.empty(3),)):
        found = linear_transpose(lambda x: A @ x, *primals)(np.array([1.0, 10.0]))
        np.testing.assert_array_equal(found[0], [31, 42, 4])
    tree_of_specs = {"x": Spec((2,), np.dtype(np.float32)), "y": 1.0}
    found = linear_transpose(lambda d: d["x"] * 2, tree_of_specs)(np.float32([1, 2]))[0]
    assert found["x"].dtype == np.float32
    assert found["y"] == 0


def test_the_linear_part_of_an_affine_function() -> None:
    assert linear_transpose(lambda x: 2 * x + 5, 0.0)(3.0) == (6,)


def test_twice_transposed() -> None:
    transpose = linear_transpose(lambda x: A @ x, X)
    again = linear_transpose(lambda ct: transpose(ct)[0], np.ones(2))
    np.testing.assert_allclose(again(X)[0], A @ X)


def test_the_transpose_can_be_differentiated_in_what_stays_fixed() -> None:
    def f(a: Any) -> Any:
        return np.sum(linear_transpose(lambda x: a @ x, X)(np.array([1.0, 10.0]))[0] ** 2)

    np.testing.assert_allclose(grad(f)(A), grad(lambda a: np.sum((a.T @ np.array([1.0, 10.0])) ** 2))(A))


NONLINEAR: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a product": (lambda x: x * x, r"np\.multiply at test_linear\.py, line \d+, in <lambda>"),
    "a quotient": (lambda x: 1 / x, r"np\.divide"),
    "a function": (lambda x: np.sin(x), r"np\.sin"),
    "a function of its output": (lambda x: np.exp(x), r"np\.exp"),
    "a matrix product": (lambda x: x @ x, r"np\.matmul"),
    "a choice": (lambda x: np.maximum(x, 0), r"np\.maximum"),
    "a comparison": (lambda x: np.where(x > 0, x, 0), r"np\.greater"),
    "a branch": (lambda x: x if x[0] > 0 else -x, r"np\.greater"),
    "a conversion": (lambda x: x * int(x[0]), r"int\(x\)"),
    "rounding": (lambda x: np.floor(x), r"np\.floor"),
    "an absolute value": (lambda x: abs(x), r"np\.absolute"),
    "a remainder": (lambda x: x % 2, r"np\.remainder"),
    "a fraction": (lambda x: np.modf(x)[0], r"np\.modf"),
    "sorting": (lambda x: np.sort(x), r"np\.(arg)?sort"),
    "a matrix function": (lambda x: np.linalg.inv(np.outer(x, np.ones(3)) + np.eye(3)), r"np\.linalg\.inv"),
}


@pytest.mark.parametrize("name", NONLINEAR)
def test_nonlinear_functions_are_refused_by_the_name_of_the_operation(name: str) -> None:
    fun, operation = NONLINEAR[name]
    with pytest.raises(
        ArgumentError, match=rf"linear_transpose: \S+ must be linear, but {operation}.* is not linear"
    ):
        linear_transpose(fun, X)


def test_a_custom_rule_is_taken_at_its_word() -> None:
    double = custom_vjp(lambda x: 2 * x)
    double.defvjp(lambda x: (2 * x, None), lambda _, ct: (2 * ct,))
    assert linear_transpose(double, 1.0)(3.0) == (6,)


@pytest.mark.parametrize("transform", [linearize, linear_transpose])
def test_what_is_no_function(transform: Any) -> None:
    with pytest.raises(ArgumentError, match=rf"{transform.__name__} takes a function, not int"):
        transform(3, 1.0)


def test_misuse_of_linear_transpose() -> None:
    transpose = linear_transpose(lambda x: A @ x, X)
    with pytest.raises(CotangentError, match=r"linear_transpose: the cotangent has shape \(3,\)"):
        transpose(np.ones(3))
    with pytest.raises(CotangentError, match="linear_transpose: the cotangent: expected a leaf"):
        transpose((np.ones(2),))
    with pytest.raises(TypeError, match=r"linear_transpose: argument 0 .*int"):
        linear_transpose(lambda x: x * 2, np.arange(3))
    with pytest.raises(TypeError, match=r"linear_transpose: argument 0 .*str"):
        linear_transpose(lambda x: x, "text")


def test_none_is_zero_in_any_place() -> None:
    _, push = linearize(lambda p, z: p[0] * p[1] * z, (2.0, 3.0), 5.0)
    assert (push((None, 1.0), None), push(None, 1.0), push(None, None)) == (10.0, 6.0, 0.0)
    transpose = linear_transpose(lambda x: (2 * x, [3 * x]), 1.0)
    assert (transpose((None, [1.0])), transpose((1.0, None))) == ((3.0,), (2.0,))
