"""The checks find what is wrong, say where, and pass what is right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad.testing
from funcgrad import stop_gradient, vmap
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.engine.declare import custom, elementwise
from funcgrad.errors import ArgumentError, FuncgradError, GradientCheckError
from funcgrad.testing import check_grads, check_jvp, check_vjp, check_vmap

X = np.array([0.5, -1.0, 2.0])


@pytest.fixture(autouse=True)
def _declarations_of_a_test_are_forgotten() -> Any:
    known = set(CATALOGUE)
    yield
    for function in set(CATALOGUE) - known:
        del CATALOGUE[function]


def message(check: Any, *args: Any, **options: Any) -> str:
    """What the check says of a wrong derivative."""
    with pytest.raises(GradientCheckError) as caught:
        check(*args, **options)
    return str(caught.value)


# ---- what is right passes --------------------------------------------------------------------------------------------

RIGHT = {
    "array": (np.sin, (X,)),
    "python float": (lambda x: x**2, (3.0,)),
    "python float result": (lambda x: 3.0, (3.0,)),
    "several arguments": (lambda x, y: np.hypot(x, y), (3.0, X)),
    "trees": (lambda p: {"a": p["w"] @ p["x"], "b": (p["x"] ** 2,)}, ({"w": np.eye(3), "x": X},)),
    "integers beside": (lambda x, n: (x[n], n * 2, "text" if False else 5), (X, np.array([0, 0]))),
    "None beside": (lambda p: {"y": p["x"] * 2, "n": None}, ({"x": X, "n": None},)),
    "complex": (lambda z: z * np.exp(z) + z.real, (X + 1j,)),
    "real of complex": (lambda z: abs(z), (X + 1j,)),
    "complex of real": (lambda x: np.exp(1j * x), (X,)),
    "empty": (lambda x: x * 2, (np.zeros((0, 3)),)),
    "large numbers": (lambda x: x**2, (X * 1e6,)),
    "small numbers": (lambda x: np.log(x), (np.array([1e-4, 1e-2]),)),
    "steep": (lambda x: np.exp(20 * x), (X,)),
    "0-d": (np.tanh, (np.array(0.3),)),
    "near a kink": (abs, (np.array([1e-5, -1e-5]),)),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_derivatives_pass(name: str) -> None:
    f, args = RIGHT[name]
    check_grads(f, args, order=2)
    check_jvp(f, args)
    check_vjp(f, args)


def test_high_orders() -> None:
    check_grads(lambda x: np.sin(x) * x, (X,), order=3)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.float16])
def test_coarser_numbers_have_wider_limits(dtype: Any) -> None:
    x = (X + (0.5j if dtype is np.complex64 else 0)).astype(dtype)
    check_grads(lambda x: np.sin(x) * x, (x,), order=1 if dtype is np.float16 else 2)
    check_grads(lambda x: np.sum(x**2), (x,))


def test_longer_numbers_are_checked_like_doubles() -> None:
    check_grads(np.sin, (X.astype(np.longdouble),))


# ---- what is wrong is found ------------------------------------------------------------------------------------------


def half(x: Any) -> Any:
    """Its square, with half of the derivative."""
    return x * stop_gradient(x)


@pytest.mark.parametrize("mode", ["fwd", "rev"])
def test_a_wrong_derivative_says_where_and_what(mode: str) -> None:
    text = message(
        check_grads, lambda p, x: {"y": [half(p["w"][1]) * x]}, ({"w": [1.0, X]}, 2.0), modes=(mode,)
    )
    assert "<lambda>: the" in text
    assert "argument 0['w'][1]" in text
    assert f"mode '{mode}', order 1" in text
    assert "expected: " in text
    assert "came: " in text
    if mode == "fwd":
        assert "the derivative of output['y'][0]" in text


def test_the_furthest_element_of_a_wrong_cotangent() -> None:
    wrong = custom(lambda x: x**2, lambda ct, x: ct * 2 * x * (np.arange(3) != 2))
    text = message(check_vjp, lambda x: wrong(x).sum(), (X,))
    assert "furthest off at [2]: expected" in text
    assert "came 0.0" in text or "came -0.0" in text
    text = message(check_vjp, lambda z: wrong(z), (X + 1j,))
    assert "furthest off at [2]" in text


def test_a_wrong_second_derivative() -> None:
    cube = elementwise(lambda x: x**3, lambda x: 3 * x * stop_gradient(x))
    check_grads(cube, (X,))
    text = message(check_grads, cube, (X,), order=2)
    assert "order 2" in text
    assert "mode 'fwd over fwd'" in text
    assert "the tangent of output" in text
    text = message(check_grads, cube, (X,), order=2, modes=("rev",))
    assert "mode 'rev over rev'" in text


def test_the_two_modes_are_checked_by_themselves() -> None:
    f = custom(lambda x: x**2, lambda ct, x: 2 * x * ct, push=lambda t, x: 3 * x * t)
    check_vjp(f, (X,))
    assert "mode 'fwd'" in message(check_jvp, f, (X,))
    g = custom(lambda x: x**2, lambda ct, x: 3 * x * ct, push=lambda t, x: 2 * x * t)
    check_jvp(g, (X,))
    assert "mode 'rev'" in message(check_vjp, g, (X,))


def test_a_push_that_is_wrong_only_for_two_tangents_at_once() -> None:
    def push(t: Any, x: Any, y: Any) -> Any:
        if t["x"] is not None and t["y"] is not None and np.any(t["x"]) and np.any(t["y"]):
            return 2 * t["x"] * y
        return (0 if t["x"] is None else t["x"] * y) + (0 if t["y"] is None else t["y"] * x)

    f = custom(
        lambda x, y: x * y, {"x": lambda ct, y: ct * y, "y": lambda ct, x: ct * x}, push=push, operands="x y"
    )
    assert "argument 0 and argument 1" in message(check_jvp, f, (X, X + 5))


def test_a_derivative_that_is_nan_is_wrong() -> None:
    f = elementwise(lambda x: np.abs(x) ** 1.5, lambda x: 1.5 * x / np.sqrt(abs(x)))
    with np.errstate(all="ignore"):
        assert "nan" in message(check_grads, f, (np.array([0.0, 1.0]),))


def test_a_function_whose_value_changes_under_tracing() -> None:
    f = lambda x: x * (1.0 if isinstance(x, np.ndarray) else 2.0)
    text = message(check_grads, f, (X,))
    assert "the value of output under jvp is wrong" in text
    g = lambda x: x if isinstance(x, np.ndarray) else x.astype(np.float32)
    assert "expected: shape (3,), float64, as the plain result has" in message(check_grads, g, (X,))


def test_finite_differences_in_doubt_say_so() -> None:
    text = message(check_grads, lambda x: np.floor(x) + x, (np.array([1.0]),), eps=0.1)
    assert "furthest" not in text
    text = message(check_grads, lambda x: np.floor(x) + x, (np.array([1.0]),))
    assert "uncertain" in text
    assert "give eps." in text


def test_the_tolerance_is_the_users() -> None:
    nearly = elementwise(lambda x: x**2, lambda x: 2.001 * x)
    check_grads(nearly, (X,), rtol=1e-2)
    check_grads(nearly, (X,), atol=1e-1, rtol=0)
    assert "<lambda>" in message(check_grads, nearly, (X,))
    assert "<lambda>" in message(check_grads, nearly, (X.astype(np.float32),), rtol=1e-4, atol=1e-4)


def test_the_error_is_an_assertion() -> None:
    assert issubclass(GradientCheckError, AssertionError)
    assert issubclass(GradientCheckError, FuncgradError)
    assert funcgrad.testing.GradientCheckError is GradientCheckError


# ---- vmap ------------------------------------------------------------------------------------------------------------


def test_vmap_against_a_loop() -> None:
    a = np.arange(6.0).reshape(2, 3)
    check_vmap(np.sin, (a,))
    check_vmap(lambda x, y: {"s": x.sum() * y, "m": x > 1}, (a, 2.0), (0, None))
    check_vmap(lambda x, y: x * y, [a, a.T], [0, 1])
    check_vmap(lambda p: p["x"] * p["n"], ({"x": a, "n": 3},), ({"x": 1, "n": None},))
    check_vmap(lambda x: x.astype(int), (a,))


def test_a_wrong_batching_rule_is_found() -> None:
    wrong_axis = lambda primitive, call, batched, size: call.operands[0].sum(axis=0)
    total = custom(lambda x: x.sum(), lambda ct, x: ct + 0 * x, batch=wrong_axis)
    a = np.arange(9.0).reshape(3, 3)
    text = message(check_vmap, total, (a,))
    assert "vmap(" in text
    assert "in_axes=0: output is wrong" in text
    assert "(a loop over the examples)" in text
    text = message(check_vmap, total, (a[:2],))
    assert "expected: shape (2,), float64, as the loop's result has" in text
    f = lambda x: (x, x) if isinstance(x, np.ndarray) else [x, x]
    assert "output: expected" in message(check_vmap, f, (a,))


def test_vmaps_own_errors_come_through() -> None:
    with pytest.raises(ArgumentError, match="must all have one size"):
        check_vmap(np.add, (np.ones(2), np.ones(3)))
    with pytest.raises(ArgumentError, match=r"check_vmap: args must be a tuple"):
        check_vmap(np.sin, X)
    check_vmap(vmap(np.sin), (np.ones((2, 3)),))


# ---- wrong calls -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: check_grads(np.sin, X), r"args must be a tuple or list"),
        (lambda: check_grads(np.sin, 1.0), r"args must be a tuple or list"),
        (lambda: check_grads(lambda n: n, (3,)), r"holds no floating number"),
        (lambda: check_grads(lambda: 1.0, ()), r"holds no floating number"),
        (lambda: check_grads(np.sin, (X,), order=0), r"order must be an int of at least 1, not 0"),
        (lambda: check_grads(np.sin, (X,), order=1.0), r"order must be"),
        (lambda: check_grads(np.sin, (X,), order=True), r"order must be"),
        (lambda: check_grads(np.sin, (X,), modes=("forward",)), r"modes must name 'fwd', 'rev' or both"),
        (lambda: check_grads(np.sin, (X,), modes=()), r"modes must name"),
    ],
)
def test_wrong_calls(call: Any, text: str) -> None:
    with pytest.raises(ArgumentError, match=text):
        call()


def test_a_single_mode_may_be_a_string() -> None:
    check_grads(np.sin, (X,), modes="rev")


def test_checks_are_the_same_in_every_run() -> None:
    texts = {message(check_grads, half, (X,)) for _ in range(3)}
    assert len(texts) == 1


def test_nothing_to_check() -> None:
    with pytest.raises(ArgumentError, match="check_grads takes a function, not int"):
        check_grads(3, (1.0,))  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="check_vmap takes a function, not int"):
        check_vmap(3, (np.ones(2),))  # type: ignore[arg-type]
    with pytest.raises(
        ArgumentError, match="<lambda> returned no floating number, so there is nothing to check"
    ):
        check_grads(lambda x: "text", (1.0,))
