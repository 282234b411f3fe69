"""grad, value_and_grad, vjp, jvp, elementwise_grad, stop_gradient."""

from __future__ import annotations

import inspect
import pickle
from collections import OrderedDict, defaultdict, namedtuple
from typing import Any

import numpy as np
import pytest

from funcgrad import (
    elementwise_grad,
    grad,
    hessian,
    hessian_diagonal,
    jacfwd,
    jacrev,
    jvp,
    stop_gradient,
    tree,
    value_and_grad,
    vjp,
)
from funcgrad.errors import ArgumentError, CotangentError, NonDifferentiableError, OutputError
from funcgrad.transforms.leaves import float0

Point = namedtuple("Point", "a b")
X = np.array([0.5, -1.0, 2.0])


def loss(params: Any, x: Any, *, scale: float = 1.0) -> Any:
    """A little loss, with a docstring."""
    return scale * np.sum((params["w"] * x + params["b"]) ** 2)


PARAMS = {"w": np.array([1.0, 2.0, 3.0]), "b": 0.5}


# ---- grad and value_and_grad -----------------------------------------------------------------------------------------


def test_value_and_gradient() -> None:
    value, gradient = value_and_grad(loss)(PARAMS, X)
    residual = PARAMS["w"] * X + PARAMS["b"]
    assert type(value) is np.float64
    assert value == pytest.approx(np.sum(residual**2))
    np.testing.assert_allclose(gradient["w"], 2 * residual * X)
    np.testing.assert_allclose(gradient["b"], 2 * residual.sum())
    assert tree.structure(gradient) == tree.structure(PARAMS)


def test_keywords_are_passed_on_and_not_differentiated() -> None:
    assert grad(loss)(PARAMS, X, scale=3.0)["b"] == pytest.approx(3 * grad(loss)(PARAMS, X)["b"])
    assert grad(lambda x, *, y: x * y)(2.0, y=5) == 5.0


@pytest.mark.parametrize("order", range(1, 6))
def test_any_order(order: int) -> None:
    f: Any = lambda x: x**4 + np.sin(2 * x)
    for _ in range(order):
        f = grad(f)
    x = 0.7
    powers = [4 * x**3, 12 * x**2, 24 * x, 24, 0]
    waves = [
        2 * np.cos(2 * x),
        -4 * np.sin(2 * x),
        -8 * np.cos(2 * x),
        16 * np.sin(2 * x),
        32 * np.cos(2 * x),
    ]
    assert f(x) == pytest.approx(powers[order - 1] + waves[order - 1])


def test_as_a_decorator() -> None:
    @grad
    def f(x: Any) -> Any:
        return x**2

    @grad(argnums=1)
    def g(x: Any, y: Any) -> Any:
        return x * y**2

    @value_and_grad(has_aux=True)
    def h(x: Any) -> Any:
        return x**3, "note"

    @grad
    @grad
    def second(x: Any) -> Any:
        return x**3

    assert f(3.0) == 6.0
    assert g(2.0, 3.0) == 12.0
    assert h(2.0) == ((8.0, "note"), 12.0)
    assert second(2.0) == 12.0


def test_on_methods() -> None:
    class Model:
        def __init__(self, w: float) -> None:
            self.w = w

        @grad(argnums=1)
        def slope(self, x: Any) -> Any:
            return self.w * x**2

    assert Model(3.0).slope(2.0) == 12.0
    assert Model.slope(Model(3.0), 2.0) == 12.0
    assert grad(lambda x: Model(x).w ** 2)(3.0) == 6.0


def test_on_callables_of_all_kinds() -> None:
    from functools import partial

    class Square:
        def __call__(self, x: Any) -> Any:
            return x * x

    assert grad(Square())(3.0) == 6.0
    assert grad(np.sin)(0.0) == 1.0
    assert grad(partial(lambda x, y: x * y, y=5.0))(1.0) == 5.0
    assert grad(np.sum)(X).tolist() == [1, 1, 1]
    assert "Square" in repr(grad(Square()))


@pytest.mark.parametrize("transform", [grad, value_and_grad, jacrev, jacfwd, hessian, elementwise_grad])
def test_identity_of_the_function_is_kept(transform: Any) -> None:
    made = transform(loss)
    assert made.__name__ == "loss"
    assert made.__doc__ == loss.__doc__
    assert made.__wrapped__ is loss
    assert made.__module__ == __name__
    assert inspect.signature(made) == inspect.signature(loss)
    assert repr(made) == f"<{transform.__name__} of loss>"


@pytest.mark.parametrize("transform", [grad, value_and_grad, jacrev, jacfwd, hessian, elementwise_grad])
def test_transforms_can_be_pickled(transform: Any) -> None:
    made = pickle.loads(pickle.dumps(transform(loss, argnums=0)))
    assert made.__wrapped__ is loss
    if transform in (grad, value_and_grad):
        came, expected = made(PARAMS, X), transform(loss)(PARAMS, X)
        np.testing.assert_allclose(tree.leaves(came)[-1], tree.leaves(expected)[-1])
    again = pickle.loads(pickle.dumps(grad(grad(np.sin), argnums=0)))
    assert again(0.5) == pytest.approx(-np.sin(0.5))


@grad
def module_level(x: Any) -> Any:
    return x**2


def test_a_decorated_function_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(module_level))(3.0) == 6.0


def test_the_users_own_error_comes_through() -> None:
    with pytest.raises(KeyError, match="missing"):
        grad(lambda x: x * {}["missing"])(1.0)
    with pytest.raises(ZeroDivisionError):
        jvp(lambda x: 1 / 0, (1.0,), (1.0,))


def test_an_output_that_ignores_its_input() -> None:
    assert grad(lambda x: 3.0)(2.0) == 0.0
    np.testing.assert_array_equal(grad(lambda x: np.float64(3.0))(X), 0)
    out, pull = vjp(lambda x: np.ones(2), X)
    np.testing.assert_array_equal(pull(out)[0], 0)
    np.testing.assert_array_equal(jvp(lambda x: np.ones(2), (X,), (X,))[1], 0)


def test_an_input_that_is_returned_as_it_is() -> None:
    assert grad(lambda x: x)(2.0) == 1.0
    out, pull = vjp(lambda x: x, X)
    np.testing.assert_array_equal(pull(X)[0], X)
    np.testing.assert_array_equal(out, X)


# ---- results ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype", [np.float16, np.float32, np.float64, np.complex64, np.complex128, np.longdouble]
)
def test_a_gradient_has_the_shape_and_dtype_of_its_input(dtype: Any) -> None:
    for x in (np.ones((2, 3), dtype), np.ones((0, 2), dtype), np.ones((), dtype), dtype(1)):
        gradient = grad(lambda x: np.sum(np.float64(2.0) * (x * x).real))(x)
        assert (np.shape(gradient), gradient.dtype) == (np.shape(x), np.dtype(dtype))
        tangent = jvp(lambda x: x * x, (x,), (x,))[1]
        assert (np.shape(tangent), tangent.dtype) == (np.shape(x), np.dtype(dtype))


def test_python_numbers_are_scalars() -> None:
    assert type(grad(lambda x: x**2)(3)) is np.float64
    assert grad(lambda x: x**2)(3) == 6.0
    assert grad(lambda z: (z * z).real)(1 + 2j) == 2 + 4j
    assert type(grad(lambda z: (z * z).real)(1 + 2j)) is np.complex128


def test_a_gradient_belongs_to_the_caller() -> None:
    x = np.ones(3)
    c = np.ones(3)
    for f in (lambda x: np.sum(x), lambda x: x @ c, lambda x: x[0] + 0 * x[1], lambda x: np.sum(x * x)):
        gradient = grad(f)(x)
        gradient += 5
        assert gradient.flags.writeable
    np.testing.assert_array_equal(x, 1)
    np.testing.assert_array_equal(c, 1)


# ---- argnums ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argnums", "expected"),
    [
        (0, 9.0),
        (1, 12.0),
        (-1, 12.0),
        (-2, 9.0),
        ((0, 1), (9.0, 12.0)),
        ((-1, 0), (12.0, 9.0)),
        ([1], (12.0,)),
        (np.int64(1), 12.0),
        ((np.int8(0),), (9.0,)),
    ],
    ids=str,
)
def test_argnums(argnums: Any, expected: Any) -> None:
    f = lambda x, y: x * y**2
    assert grad(f, argnums)(2.0, 3.0) == expected
    assert value_and_grad(f, argnums=argnums)(2.0, 3.0) == (18.0, expected)
    assert jacrev(f, argnums)(2.0, 3.0) == expected
    assert jacfwd(f, argnums)(2.0, 3.0) == expected
    assert elementwise_grad(f, argnums)(2.0, 3.0) == expected


@pytest.mark.parametrize("transform", [grad, value_and_grad, jacrev, jacfwd, hessian, elementwise_grad])
@pytest.mark.parametrize(
    "argnums", [(), [], True, (0, True), 1.0, "0", None, (0, None), np.bool_(True), {0}, (0, (1,))], ids=str
)
def test_argnums_of_the_wrong_kind(transform: Any, argnums: Any) -> None:
    with pytest.raises(ArgumentError, match=rf"{transform.__name__}: argnums"):
        transform(lambda x, y: x * y, argnums)


@pytest.mark.parametrize("transform", [grad, value_and_grad, jacrev, jacfwd, hessian, elementwise_grad])
@pytest.mark.parametrize("argnums", [(0, 0), (1, -1), 2, -3, (0, 5)], ids=str)
def test_argnums_that_do_not_fit_the_call(transform: Any, argnums: Any) -> None:
    with pytest.raises(ArgumentError, match=r"(grad|value_and_grad|jacrev|jacfwd|hessian): argnums="):
        transform(lambda x, y: x * y, argnums)(2.0, 3.0)


# ---- aux -------------------------------------------------------------------------------------------------------------


def test_aux_holds_plain_values() -> None:
    def f(x: Any) -> Any:
        return x**2, {"same": x, "next": [x + 1], "mask": x > 0, "text": "note", "none": None}

    for came in (grad(f, has_aux=True)(3.0), value_and_grad(f, has_aux=True)(3.0)[0][::-1]):
        aux = came[1] if came[0] == 6.0 else came[0]
        assert aux == {"same": 3.0, "next": [4.0], "mask": True, "text": "note", "none": None}
        assert all(isinstance(v, (np.generic, np.ndarray)) for v in (aux["same"], aux["next"][0]))
    assert grad(f, has_aux=True)(3.0)[0] == 6.0
    assert vjp(f, 3.0, has_aux=True)[2]["same"] == 3.0
    out, t, aux = jvp(f, (3.0,), (1.0,), has_aux=True)
    assert (out, t, aux["text"]) == (9.0, 6.0, "note")


def test_aux_of_an_inner_transform_stays_traced_outside() -> None:
    def f(x: Any) -> Any:
        slope, aux = grad(lambda y: (x * y**2, y * x), has_aux=True)(x)
        return slope + aux  # 2 x^2 + x^2

    assert grad(f)(3.0) == 18.0


@pytest.mark.parametrize("returned", [1.0, (1.0,), (1.0, 2.0, 3.0), np.ones(2), "ab", None], ids=str)
def test_has_aux_wants_a_pair(returned: Any) -> None:
    def named(x: Any) -> Any:
        return returned

    for run in (
        lambda f: grad(f, has_aux=True)(1.0),
        lambda f: value_and_grad(f, has_aux=True)(1.0),
        lambda f: vjp(f, 1.0, has_aux=True),
        lambda f: jvp(f, (1.0,), (1.0,), has_aux=True),
        lambda f: jacrev(f, has_aux=True)(1.0),
        lambda f: jacfwd(f, has_aux=True)(1.0),
    ):
        with pytest.raises(
            OutputError, match=r"has_aux=True: named must return a pair \(output, aux\), but it retu"
        ):
            run(named)


# ---- pytrees ---------------------------------------------------------------------------------------------------------

TREES = {
    "dict": {"b": 1.0, "a": np.ones(2)},
    "list": [1.0, [2.0, np.ones((2, 2))]],
    "tuple": (1.0, (2.0,)),
    "namedtuple": Point(1.0, Point(2.0, np.ones(3))),
    "OrderedDict": OrderedDict(z=1.0, a=2.0),
    "defaultdict": defaultdict(float, k=1.0),
    "None": {"w": 3.0, "b": None},
    "empty": [],
    "mixed dtypes": (np.float32(1), np.ones(2, np.complex64), 1.5),
}


@pytest.mark.parametrize("name", TREES)
def test_gradients_have_the_structure_of_the_argument(name: str) -> None:
    given = TREES[name]
    f = lambda p: sum((np.sum(abs(leaf) ** 2) for leaf in tree.leaves(p)), 0.0)
    gradient = grad(f)(given)
    assert type(gradient) is type(given)
    assert tree.structure(gradient) == tree.structure(given)
    for g, x in zip(tree.leaves(gradient), tree.leaves(given), strict=True):
        np.testing.assert_allclose(g, 2 * np.conj(x), rtol=1e-6)
        assert g.dtype == np.asarray(x).dtype
    _, pull = vjp(lambda p: p, given)
    assert tree.structure(pull(given)[0]) == tree.structure(given)
    out, t = jvp(lambda p: p, (given,), (given,))
    assert tree.structure(out) == tree.structure(t) == tree.structure(given)


def test_a_registered_class() -> None:
    class Box:
        def __init__(self, v: Any) -> None:
            self.v = v

    tree.register_node(Box, lambda box: ((box.v,), None), lambda _, children: Box(*children))
    gradient = grad(lambda box: box.v**2)(Box(3.0))
    assert type(gradient) is Box
    assert gradient.v == 6.0


def test_integers_among_the_leaves_are_refused_with_their_place() -> None:
    with pytest.raises(
        NonDifferentiableError, match=r"grad: argument 1 at \['n'\]\[0\] is of integer dtype int64.*allow_int"
    ):
        grad(lambda x, p: x, argnums=1)(1.0, {"n": [np.arange(3)]})
    came = grad(lambda p: p["w"] * 2.0, allow_int=True)({"w": 1.0, "n": np.arange(3)})
    assert came["w"] == 2.0
    assert (came["n"].dtype, came["n"].shape) == (float0, (3,))


WITHOUT_DERIVATIVE = [np.array([1, 2]), np.array([True]), "text", ..., np.array(["a"]), np.array([None])]


@pytest.mark.parametrize("bad", WITHOUT_DERIVATIVE, ids=repr)
def test_what_has_no_derivative_is_refused(bad: Any) -> None:
    for transform in (grad, value_and_grad, jacrev, jacfwd):
        with pytest.raises(NonDifferentiableError, match=rf"{transform.__name__}: argument 0 is"):
            transform(lambda x: 1.0)(bad)


def test_integers_are_allowed_on_request() -> None:
    gradient = grad(lambda x: np.sum(x * 0.5), allow_int=True)(np.array([1, 2]))
    assert (gradient.shape, gradient.dtype) == ((2,), float0)
    _, pull = vjp(lambda x, n: x * n, 2.0, np.array([1, 2]))
    x, n = pull(np.ones(2))
    assert x == 3.0
    assert n.dtype == float0
    assert grad(lambda x, n: x * n, (0, 1), allow_int=True)(2.0, np.int64(3))[0] == 3.0


# ---- outputs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: x * 2, r"must return a scalar, but its output has shape \(3,\).*np\.sum\(out\)"),
        (lambda x: x[:1], r"shape \(1,\)"),
        (lambda x: None, r"returned None \(is a `return` missing\?\)"),
        (lambda x: (x[0], x[1]), r"returned a tuple.*jacrev, vjp or has_aux=True"),
        (lambda x: "text", "returned a str"),
        (lambda x: x[0] > 0, "bool"),
        (lambda x: np.argmax(x), "int64, which has no derivative"),
        (lambda x: x[0] * 1j, r"complex number.*out\.real.*holomorphic=True"),
        (lambda x: np.array([x[0]], dtype=object), r"object|shape \(1,\)|plain data"),
        (lambda x: np.array(None), r"object"),
    ],
)
def test_outputs_that_are_no_number(f: Any, message: str) -> None:
    for transform in (grad, value_and_grad):
        with pytest.raises((OutputError, TypeError), match=message):
            transform(f)(X)


def test_a_tracer_hidden_in_an_object_array_is_found() -> None:
    def f(x: Any) -> Any:
        hidden = np.empty((), dtype=object)
        hidden[()] = x
        return hidden

    for run in (lambda: grad(f)(1.0), lambda: vjp(f, 1.0), lambda: jvp(f, (1.0,), (1.0,))):
        with pytest.raises(OutputError, match=r"object array that holds tracers"):
            run()


def test_outputs_of_vjp_are_arrays() -> None:
    out, pull = vjp(lambda x: {"a": x, "b": (1.0, 2)}, X)
    assert out["b"] == (1.0, 2)
    assert isinstance(out["b"][0], np.float64)
    np.testing.assert_array_equal(pull({"a": X, "b": (1.0, 5.0)})[0], X)
    with pytest.raises(OutputError, match=r"returned a str among its outputs.*has_aux"):
        vjp(lambda x: (x, "text"), X)
    with pytest.raises(OutputError, match=r"jvp.*returned a object"):
        jvp(lambda x: object(), (X,), (X,))


# ---- vjp and jvp -----------------------------------------------------------------------------------------------------


def test_a_pullback_may_be_called_many_times() -> None:
    _, pull = vjp(lambda x, y: np.sin(x) * y, X, 2.0)
    for k in range(3):
        x, y = pull(np.full(3, float(k)))
        np.testing.assert_allclose(x, k * np.cos(X) * 2)
        np.testing.assert_allclose(y, k * np.sin(X).sum())


def test_what_the_user_changes_after_vjp_does_not_count() -> None:
    x, c = X.copy(), np.full(3, 2.0)
    _, pull = vjp(lambda x: np.sin(x) * c, x)
    x[:] = 0
    c[:] = 100
    np.testing.assert_allclose(pull(np.ones(3))[0], np.cos(X) * 2)


@pytest.mark.parametrize(
    ("ct", "message"),
    [
        ({"a": np.ones(2), "b": 1.0}, r"a cotangent has shape \(2,\), but its value has shape \(3,\)"),
        ({"a": np.ones((1, 3)), "b": 1.0}, r"shape \(1, 3\)"),
        ({"a": X}, r"the cotangent.*structure of the function's output"),
        ([X, 1.0], r"the cotangent: expected"),
        ({"a": X * 1j, "b": 1.0}, r"dtype complex128, but its value is real.*real part"),
        ({"a": X, "b": "text"}, "dtype"),
    ],
)
def test_cotangents_that_do_not_match(ct: Any, message: str) -> None:
    _, pull = vjp(lambda x: {"a": x * 2, "b": x[0]}, X)
    with pytest.raises(CotangentError, match=message):
        pull(ct)


def test_cotangents_are_converted_to_the_precision_of_the_output() -> None:
    _, pull = vjp(lambda x: x * 2, np.float32(1.0))
    (ct,) = pull(np.float64(1.0))
    assert (ct, ct.dtype) == (2.0, np.float32)
    _, pull = vjp(lambda x: x * 2, X)
    np.testing.assert_array_equal(pull(np.array([1, 2, 3]))[0], [2, 4, 6])


@pytest.mark.parametrize(
    ("primals", "tangents", "error", "message"),
    [
        (X, (X,), ArgumentError, r"jvp: primals must be a tuple or list"),
        ((X,), X, ArgumentError, r"jvp: tangents must be a tuple or list"),
        ((X, X), (X,), ArgumentError, r"2 primals but 1 tangents"),
        ((X,), (X[:2],), CotangentError, r"tangent 0 has shape \(2,\)"),
        ((X,), (X * 1j,), CotangentError, r"real part"),
        (({"w": X},), ({"v": X},), CotangentError, r"jvp: tangent 0"),
        ((X,), ("text",), CotangentError, "dtype"),
    ],
)
def test_tangents_that_do_not_match(primals: Any, tangents: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        jvp(lambda *args: args[0], primals, tangents)


def test_a_tangent_of_none_is_zero() -> None:
    out, t = jvp(lambda x, y: x * y, (2.0, 3.0), (None, 1.0))
    assert (out, t) == (6.0, 2.0)
    out, t = jvp(lambda p: p["x"] * p["y"], ({"x": 2.0, "y": 3.0},), ({"x": 1.0, "y": 0},))
    assert (out, t) == (6.0, 3.0)


def test_integers_in_jvp_have_no_tangent() -> None:
    out, t = jvp(lambda x, n: (x * n, n), (2.0, 3), (1.0, None))
    assert out == (6.0, 3.0)
    assert t[0] == 3.0
    assert jvp(lambda x, n: x[n], (X, np.array([0, 0])), (X, None))[1].tolist() == [0.5, 0.5]
    assert jvp(lambda x: np.argmax(x), (X,), (X,))[1].dtype == float0


def test_elementwise_grad() -> None:
    np.testing.assert_allclose(elementwise_grad(np.tanh)(X), 1 / np.cosh(X) ** 2)
    np.testing.assert_allclose(elementwise_grad(elementwise_grad(lambda v: v**3))(X), 6 * X)
    np.testing.assert_allclose(elementwise_grad(lambda x, y: x * y, 1)(X, 2.0), X.sum())
    with pytest.raises(OutputError, match="complex"):
        elementwise_grad(lambda x: x * 1j)(X)


# ---- complex numbers -------------------------------------------------------------------------------------------------


def test_the_gradient_of_a_real_function_is_not_conjugated() -> None:
    z = 1 + 2j
    assert grad(lambda z: abs(z) ** 2)(z) == pytest.approx(2 - 4j)  # df/dx - i df/dy
    assert grad(lambda z: (np.conj(z) * (3 + 1j)).real)(z) == 3 - 1j
    assert grad(lambda z: z.imag)(z) == -1j
    assert grad(lambda t: abs(np.exp(1j * t) + 1) ** 2)(0.5) == pytest.approx(-2 * np.sin(0.5))


def test_holomorphic_functions() -> None:
    for f, slope in [(np.sin, np.cos), (np.exp, np.exp), (lambda z: z**3, lambda z: 3 * z**2)]:
        z = 0.5 + 0.25j
        assert grad(f, holomorphic=True)(z) == pytest.approx(slope(z))
        assert value_and_grad(f, holomorphic=True)(z)[0] == f(z)
    assert grad(grad(np.sin, holomorphic=True), holomorphic=True)(0.5j) == pytest.approx(-np.sin(0.5j))


def test_holomorphic_wants_complex_numbers() -> None:
    with pytest.raises(NonDifferentiableError, match=r"holomorphic=True needs complex inputs.*x \+ 0j"):
        grad(lambda x: x * 1j, holomorphic=True)(1.0)
    with pytest.raises(OutputError, match=r"must return a complex number, not float64"):
        grad(abs, holomorphic=True)(1j)


# ---- stop_gradient ---------------------------------------------------------------------------------------------------


def test_stop_gradient() -> None:
    assert grad(lambda x: x * stop_gradient(x))(3.0) == 3.0
    f = lambda p: stop_gradient({"a": p[0] * p[1]})["a"] * p[0]
    assert grad(f)((2.0, 3.0)) == (6.0, 0.0)
    assert jvp(lambda x: x * stop_gradient(x), (3.0,), (1.0,))[1] == 3.0
    np.testing.assert_array_equal(stop_gradient([X, "text"])[0], X)
    assert grad(lambda x: stop_gradient(x))(3.0) == 0.0


# ---- wrong calls -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("transform", [grad, value_and_grad, jacrev, jacfwd, hessian, elementwise_grad])
@pytest.mark.parametrize("wrong", [3, X, "text", [np.sin]], ids=repr)
def test_what_is_no_function(transform: Any, wrong: Any) -> None:
    with pytest.raises(
        ArgumentError, match=rf"{transform.__name__} takes a function, not (int|ndarray|str|list)"
    ):
        transform(wrong)


def test_what_is_no_function_and_too_many_cotangents() -> None:
    for call in (lambda: vjp(3, 1.0), lambda: jvp(3, (1.0,), (1.0,))):
        with pytest.raises(ArgumentError, match="takes a function, not int"):
            call()
    with pytest.raises(
        CotangentError, match=r"takes one cotangent \(a tuple, for an output that is one\), not 2"
    ):
        vjp(lambda x: (x, x), 1.0)[1](1.0, 1.0)


def test_none_is_zero_in_any_place_of_a_tangent_or_cotangent() -> None:
    out, t = jvp(
        lambda p: p["a"][0] * p["a"][1] * p["b"],
        ({"a": (2.0, 3.0), "b": 5.0},),
        ({"a": (None, 1.0), "b": None},),
    )
    assert (out, t) == (30.0, 10.0)
    _, pull = vjp(lambda x: {"a": (2 * x, 3 * x), "b": x}, 1.0)
    assert pull({"a": None, "b": np.float64(1.0)}) == (1.0,)
    assert pull({"a": (None, np.float64(1.0)), "b": None}) == (3.0,)
    assert pull(None) == (0.0,)
    assert vjp(lambda x: (x, None), 1.0)[1]((None, None)) == (0.0,)
    with pytest.raises(CotangentError, match=r"the cotangent has an array where .* has a container"):
        pull({"a": np.float64(1.0), "b": None})


def test_integers_have_no_tangent_but_zero() -> None:
    n = np.array([1, 2])
    for zero in (None, np.zeros(2), np.zeros(2, float0)):
        np.testing.assert_array_equal(jvp(lambda x, n: x * n, (X[:2], n), (np.ones(2), zero))[1], [1.0, 2.0])
    for primal, t in ((n, np.ones(2)), (np.int64(2), 1.0)):
        with pytest.raises(
            NonDifferentiableError, match=r"jvp: tangent 0 is not zero, but its primal is of dtype int64"
        ):
            jvp(lambda n: n * 2.0, (primal,), (t,))
    with pytest.raises(
        NonDifferentiableError, match="elementwise_grad: argument 0 is of integer dtype int64"
    ):
        elementwise_grad(np.sin)(n)


# ---- arguments by keyword, and by name -------------------------------------------------------------------------------

TRANSFORMS = {
    "grad": (grad, lambda x, y: (2 * x * y, x**2)),
    "value_and_grad": (value_and_grad, lambda x, y: (2 * x * y, x**2)),
    "elementwise_grad": (elementwise_grad, lambda x, y: (2 * x * y, x**2)),
    "jacrev": (jacrev, lambda x, y: (2 * x * y, x**2)),
    "jacfwd": (jacfwd, lambda x, y: (2 * x * y, x**2)),
    "hessian": (hessian, lambda x, y: ((2 * y, 2 * x), (2 * x, 0))),
    "hessian_diagonal": (hessian_diagonal, lambda x, y: (2 * y, 0)),
}


def _product(x: Any, y: Any = 2.0, *, power: Any = 1.0) -> Any:
    return x**2 * y * power


@pytest.mark.parametrize("name", TRANSFORMS)
def test_arguments_by_keyword_and_by_name(name: str) -> None:
    transform, expected = TRANSFORMS[name]
    derivative: Any = lambda found: found[1] if name == "value_and_grad" else found
    of_x, of_y = expected(3.0, 5.0)
    first = of_x[0] if name == "hessian" else of_x  # with one argument, the entry of that argument
    second = of_y[1] if name == "hessian" else of_y
    for found in (
        transform(_product)(x=3.0, y=5.0),
        transform(_product, argnames="x")(3.0, 5.0),
        transform(_product, argnames="x")(3.0, y=5.0),
    ):
        np.testing.assert_allclose(derivative(found), first)
        assert type(tree.leaves(derivative(found))[0]) is np.float64
    for found in (transform(_product, 1)(3.0, y=5.0), transform(_product, argnames="y")(y=5.0, x=3.0)):
        np.testing.assert_allclose(derivative(found), second)
    both = derivative(transform(_product, argnames=("y", "x"))(3.0, y=5.0))
    flipped = tuple(row[::-1] for row in (of_y, of_x)) if name == "hessian" else (of_y, of_x)
    assert isinstance(both, tuple)
    np.testing.assert_allclose(both, flipped)


def test_a_keyword_only_argument_is_differentiated_by_its_name() -> None:
    assert grad(_product, argnames="power")(3.0, power=2.0) == 18.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: grad(_product, argnames="z")(1.0),
            r"grad: argnames='z' asks for the argument 'z', but _product was called",
        ),
        (
            lambda: grad(_product, 1, argnames="x"),
            r"grad was given argnums=1 and argnames='x'; give one of them",
        ),
        (
            lambda: jacrev(_product, argnames=("x", "x")),
            r"jacrev: argnames=\('x', 'x'\) names an argument twice",
        ),
        (
            lambda: hessian(_product, argnames=0),
            r"hessian: argnames must be a name or a tuple of names, not 0 \(int\)",
        ),
        (
            lambda: grad(_product)(),
            r"asks for positional argument 0, but _product was called with 0 positional arguments",
        ),
        (lambda: grad(np.sin, 1)(1.0), r"pass what is differentiated, or name it by argnames="),
    ],
)
def test_names_that_cannot_be(call: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        call()
