"""How the arguments of a call are bound: by NumPy's own signature, once, in one place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from funcgrad import grad, jvp, vjp, vmap
from funcgrad.core.arrays.arguments import array_of, as_operand, holds_tracer
from funcgrad.core.arrays.spec import Spec, spec
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.engine.declare import custom, elementwise, linear, multilinear
from funcgrad.core.engine.kinds import names_in
from funcgrad.core.engine.reverse import ReverseTrace, ReverseTracer
from funcgrad.errors import NonDifferentiableError, TracerWriteError
from funcgrad.testing import check_grads

X = np.arange(6.0).reshape(2, 3)


def of(f: Any) -> Any:
    """The gradient of the sum of f, at X."""
    return grad(lambda x: np.sum(f(x)))(X)


# ---- binding ---------------------------------------------------------------------------------------------------------


def test_positional_and_keyword_arguments_are_the_same() -> None:
    expected = of(lambda x: np.sum(x, 1) ** 2)
    for f in (
        lambda x: np.sum(a=x, axis=1) ** 2,
        lambda x: np.sum(x, axis=1) ** 2,
        lambda x: np.sum(axis=1, a=x) ** 2,
        lambda x: x.sum(1) ** 2,
        lambda x: x.sum(axis=1) ** 2,
        lambda x: np.add.reduce(x, axis=1) ** 2,
        lambda x: np.add.reduce(x, 1) ** 2,
    ):
        np.testing.assert_array_equal(of(f), expected)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.sum(x, axes=0),
        lambda x: np.reshape(x, -1, shapes=3),
        lambda x: np.transpose(x, 1, 0, 2),
        lambda x: np.sin(x, keep=True),
        lambda x: np.sin(),
        lambda x: np.add(x),
        lambda x: np.add(x, x, x, x),
        lambda x: x.sum(along=0),
        lambda x: x.reshape(2, 3, shape=1),
        lambda x: np.concatenate([x, x], axes=0),
        lambda x: np.linalg.norm(x, order=2),
    ],
)
def test_wrong_arguments_are_type_errors_as_in_numpy(call: Any) -> None:
    with pytest.raises(TypeError):
        call(X)
    for transform in (lambda f: grad(lambda x: np.sum(f(x))), vmap, lambda f: lambda x: jvp(f, (x,), (x,))):
        with pytest.raises(TypeError):
            transform(call)(X)


def test_the_error_of_an_unknown_keyword_names_it() -> None:
    with pytest.raises(TypeError, match=r"cumsum\(\).*'axes'"):
        grad(lambda x: CATALOGUE[np.cumsum](x, axes=0))(X)


# ---- axes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "counted"),
    [(-1, 1), (1, 1), (np.int64(-2), 0), ((0, -1), (0, 1)), ([0, 1], (0, 1)), ((), ()), (None, None)],
    ids=str,
)
def test_axes_are_counted_from_the_front_once(given: Any, counted: Any) -> None:
    call = CATALOGUE[np.sum].split((X,), {"axis": tuple(given) if isinstance(given, list) else given})  # type: ignore[attr-defined]
    assert call.params.get("axis") == counted


def test_axes_of_the_output_may_be_new() -> None:
    call = CATALOGUE[np.stack].split(([X, X],), {"axis": -1})  # type: ignore[attr-defined]
    assert call.params["axis"] == 2
    call = CATALOGUE[np.expand_dims].split((X, (-1, 0)), {})  # type: ignore[attr-defined]
    assert call.params["axis"] == (3, 0)


@pytest.mark.parametrize("axis", [2, -3, (0, 2), (0, 0), (1, -1)], ids=str)
def test_an_axis_that_is_not_there_is_numpys_error(axis: Any) -> None:
    expected = pytest.raises((np.exceptions.AxisError, ValueError))
    with expected:
        np.sum(X, axis=axis)
    with pytest.raises((np.exceptions.AxisError, ValueError)):
        of(lambda x: np.sum(x, axis=axis))


def test_an_axis_must_be_an_integer() -> None:
    with pytest.raises(TypeError):
        of(lambda x: np.sum(x, axis=1.0))


# ---- operands --------------------------------------------------------------------------------------------------------


def test_absent_parameters_are_absent() -> None:
    call = CATALOGUE[np.sum].split((X,), {"keepdims": np._NoValue, "where": True})  # type: ignore[attr-defined]
    assert "keepdims" not in call.params
    assert "initial" not in call.named(call.operands)


def test_operands_are_named_and_lists_are_gathered() -> None:
    call = CATALOGUE[np.concatenate].split(([X, X, X],), {})  # type: ignore[attr-defined]
    assert all(x is X for x in call.operands)
    assert call.layout == (("arrays", 3),)
    assert len(call.named("abc")["arrays"]) == 3
    assert call.slots("arrays") == range(3)
    assert call.slots("nobody") == range(0)
    assert call.with_operands([1, 2, 3]).layout is call.layout


def test_traced_keyword_arguments_count() -> None:
    came = grad(lambda x, c: np.sum(x, initial=c) ** 2, (0, 1))(X, 2.0)
    np.testing.assert_allclose(came[0], 2 * 17)
    np.testing.assert_allclose(came[1], 2 * 17)
    low = grad(lambda x, c: np.sum(np.clip(x, a_min=c, a_max=10.0)), (0, 1))(X, 1.5)
    np.testing.assert_array_equal(low[0], [[0, 0, 1], [1, 1, 1]])
    assert low[1] == 2.0


def test_traced_masks_are_concrete() -> None:
    np.testing.assert_array_equal(of(lambda x: np.sum(x, where=x > 2)), X > 2)


def test_a_list_that_holds_tracers_is_an_array() -> None:
    def f(x: Any) -> Any:
        assert isinstance(array_of([x, 2 * x]), ReverseTracer)
        joined = np.concatenate([x, [3 * x[0], x[1]], (1.0, 2.0)])
        return np.sum(joined * np.arange(6.0)) + np.sum(x * [x[0], 1.0])

    np.testing.assert_allclose(grad(f)(np.array([1.0, 2.0])), [0 + 3 * 2 + 2, 1 + 3 + 1])


def test_lists_without_tracers_stay_plain() -> None:
    assert type(as_operand([[1.0, 2.0], [3.0, 4.0]])) is np.ndarray
    assert as_operand(3.0) == 3.0
    assert not holds_tracer([1, [2, (3,)]])
    with ReverseTrace() as trace:
        x = trace.leaf(np.float64(1.0))
        assert holds_tracer([1, [2, (x,)]])
        assert not holds_tracer(np.ones(3))


def test_specs() -> None:
    assert spec(1.0) == Spec((), np.dtype(float))
    assert spec(X) == Spec((2, 3), np.dtype(float))
    assert spec(X).ndim == 2
    assert spec(X).size == 6
    assert spec(np.float32(1)).dtype == np.float32


# ---- out=, where=, dtype= --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.sum(x, axis=0, out=np.zeros(3)),
        lambda x: np.sin(x, out=np.zeros((2, 3))),
        lambda x: np.add(x, x, np.zeros((2, 3))),
        lambda x: np.multiply(2, x, out=np.zeros((2, 3))),
        lambda x: x.sum(axis=0, out=np.zeros(3)),
        lambda x: np.add.reduce(x, out=np.zeros(3)),
        lambda x: np.cumsum(x, out=np.zeros(6)),
    ],
)
def test_out_beside_a_tracer_is_refused_with_the_line(call: Any) -> None:
    with pytest.raises(
        TracerWriteError, match=r"out=a\).*at test_primitive\.py, line \d+.*a = np\..*zeros_like"
    ):
        of(call)


def test_where_of_a_ufunc_leaves_the_rest_of_out() -> None:
    mask = X > 2
    f = lambda x: np.sqrt(x, where=mask, out=np.zeros_like(x))
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(of(f), np.where(mask, 0.5 / np.sqrt(np.maximum(X, 1)), 0))
        value, _ = vjp(f, X)
    np.testing.assert_allclose(value, np.where(mask, np.sqrt(X), 0))


def test_dtype_of_a_ufunc() -> None:
    x = np.array([1.0, 2.0], np.float32)
    out, pull = vjp(lambda x: np.multiply(x, x, dtype=np.float64), x)
    assert out.dtype == np.float64
    (ct,) = pull(np.ones(2))
    assert ct.dtype == np.float32
    np.testing.assert_array_equal(ct, 2 * x)


def test_ufunc_methods() -> None:
    np.testing.assert_allclose(of(lambda x: np.multiply.reduce(x, axis=1)), of(lambda x: np.prod(x, axis=1)))
    np.testing.assert_allclose(of(lambda x: np.maximum.reduce(x, axis=None)), of(np.max))
    np.testing.assert_allclose(of(lambda x: np.add.accumulate(x, axis=1)), of(lambda x: np.cumsum(x, axis=1)))
    np.testing.assert_allclose(of(lambda x: np.multiply.outer(x, X) * X), X * 0 + np.sum(X * X))
    np.testing.assert_allclose(of(lambda x: np.subtract.outer(X, x)), -np.full((2, 3), 6.0))
    np.testing.assert_allclose(
        of(lambda x: np.multiply.outer(x, [2.0, 5.0], where=[True, False])), np.full((2, 3), 2.0)
    )


def test_axes_of_a_ufunc_of_matrices() -> None:
    f = lambda x: np.matmul(x[None], X[:, None], axes=[(1, 2), (2, 0), (0, 1)])
    check_grads(f, (X,))
    np.testing.assert_array_equal(vjp(f, X)[0], f(X))
    check_grads(lambda x: np.vecdot(x, X, axis=0) if hasattr(np, "vecdot") else np.sum(x * X, axis=0), (X,))


def test_ufunc_at_writes_into_a_tracer() -> None:
    def f(x: Any) -> Any:
        y = np.zeros_like(x)
        np.add.at(y, (0, [1, 1]), x[1, :2])
        return np.sum(y * X)

    np.testing.assert_array_equal(grad(f)(X), [[0, 0, 0], [1, 1, 0]])
    with pytest.raises(TracerWriteError, match=r"add\.at at test_primitive\.py.*plain array.*funcgrad\.at"):
        of(lambda x: np.add.at(np.zeros(2), 0, x))


# ---- declaring -------------------------------------------------------------------------------------------------------


def test_the_names_of_a_formula() -> None:
    assert names_in(lambda ct, x, axis=None: ct) == ("x", "axis")
    assert names_in(lambda t, out: t) == ("out",)
    assert names_in(lambda x, y: x) == ("x", "y")


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (lambda: custom(lambda x, axis=None: x, lambda ct, axe: ct), r"unknown names.*'axe'"),
        (lambda: custom(lambda x: x, {"w": lambda ct: ct}, operands="x"), r"'w'"),
        (lambda: elementwise(lambda x: x, lambda w: w), r"elementwise partial"),
    ],
)
def test_a_rule_that_names_what_is_not_there_is_refused_at_its_first_use(declare: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        grad(declare())(1.0)


def test_an_operand_without_a_derivative_is_named() -> None:
    f = custom(lambda x, n: x * n, {"x": lambda ct, n: ct * n, "n": None}, operands="x n")
    assert grad(lambda x: f(x, 3.0))(1.0) == 3.0
    with pytest.raises(
        NonDifferentiableError, match=r"no known derivative with respect to 'n'.*stop_gradient"
    ):
        grad(lambda n: f(2.0, n))(1.0)


def test_a_declared_function_binds_keywords_and_defaults() -> None:
    scale = linear(lambda x, *, by=2.0, axis=None: x * by, lambda ct, x, by=2.0: ct * by)
    np.testing.assert_array_equal(of(lambda x: scale(x)), 2.0)
    np.testing.assert_array_equal(of(lambda x: scale(x, by=5.0)), 5.0)
    np.testing.assert_array_equal(scale(X, by=5.0), 5 * X)
    with pytest.raises(TypeError, match="factor"):
        of(lambda x: scale(x, factor=5.0))


def test_a_linear_formula_sees_shapes_and_no_values() -> None:
    seen: list[Any] = []
    f = linear(
        lambda x, n: np.tile(x, n), {"x": lambda ct, x, n: (seen.append(x), ct.reshape(-1, x.size).sum(0))[1]}
    )
    np.testing.assert_array_equal(grad(lambda x: np.sum(f(x, 3)))(np.ones(2)), 3)
    assert seen == [Spec((2,), np.dtype(float))]


def test_a_multilinear_formula_sees_the_other_operands_values() -> None:
    f = multilinear(lambda x, y: x * y, lambda ct, y: ct * y, lambda ct, x: ct * x, operands="x y")
    np.testing.assert_array_equal(of(lambda x: f(x, 3.0)), 3.0)
    np.testing.assert_array_equal(of(lambda x: f(x, x)), 2 * X)
    np.testing.assert_array_equal(jvp(lambda x: f(x, x), (X,), (X,))[1], 2 * X * X)
