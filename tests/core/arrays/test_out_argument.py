"""out= a tracer, by name and by position."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from funcgrad import grad, jvp, vmap
from funcgrad.errors import TracerWriteError

X = np.array([0.5, 2.0, -1.0, 3.0])
WEIGHTS = np.arange(1.0, 5.0)


def table(x: Any) -> Any:
    return x[:, None] * x


# What is called with x, and with the array for the result in the place that NumPy's signature gives it.
BY_POSITION: dict[str, Callable[[Any, Any], Any]] = {
    "a ufunc": np.sin,
    "a ufunc of two": lambda x, y: np.multiply(x, x, y),
    "cumsum": lambda x, y: np.cumsum(x, 0, None, y),
    "a method": lambda x, y: x.cumsum(0, None, y),
    "clip": lambda x, y: np.clip(x, 0, 2, y),
    "take, with what follows": lambda x, y: np.take(x, [0, 5, 2, 1], 0, y, "clip"),
    "sum": lambda x, y: np.sum(table(x), 0, None, y),
    "sum, with what follows": lambda x, y: np.sum(table(x), 0, None, y[None], True),
    "max": lambda x, y: np.max(table(x), 1, y),
    "var, with what follows": lambda x, y: np.var(table(x), 0, None, y, 1),
    "reduce": lambda x, y: np.add.reduce(table(x), 0, None, y),
    "dot": lambda x, y: np.dot(table(x), x, y),
    "dot, a method": lambda x, y: table(x).dot(x, y),
    "concatenate": lambda x, y: np.concatenate([x[:3] * x[0], x[3:]], 0, y),
    "stack": lambda x, y: np.stack([x[:2], x[2:] * x[0]], 1, y.reshape(2, 2)),
    "compress": lambda x, y: np.compress([True] * 4, x * x, 0, y),
    "compress, a method": lambda x, y: (x * x).compress([True] * 4, 0, y),
    "choose": lambda x, y: np.choose(np.array([0, 1, 1, 0]), (x, x * x), y),
    "median": lambda x, y: np.median(table(x), 0, y),
    "nancumsum": lambda x, y: np.nancumsum(x, 0, None, y),
}


def filled(call: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """The array that `call` writes."""

    def function(x: Any) -> Any:
        y = np.empty_like(x)
        call(x, y)
        return y

    return function


@pytest.mark.parametrize("call", BY_POSITION.values(), ids=BY_POSITION)
def test_out_is_found_where_it_is_given_by_position(call: Callable[[Any, Any], Any]) -> None:
    function = filled(call)
    value, tangent = jvp(function, (X,), (WEIGHTS,))
    np.testing.assert_allclose(value, function(X), rtol=1e-14)
    differences = (function(X + 1e-6 * WEIGHTS) - function(X - 1e-6 * WEIGHTS)) / 2e-6
    np.testing.assert_allclose(tangent, differences, rtol=1e-6, atol=1e-8)
    gradient = grad(lambda x: np.sum(function(x) * WEIGHTS))(X)
    np.testing.assert_allclose(gradient @ WEIGHTS, tangent @ WEIGHTS, rtol=1e-12)
    np.testing.assert_allclose(
        vmap(function)(np.stack([X, X + 1])), [function(X), function(X + 1)], rtol=1e-14
    )


def test_a_plain_array_by_position_is_refused() -> None:
    def function(x: Any) -> Any:
        return np.cumsum(x, 0, None, np.zeros(4))[0]

    with pytest.raises(TracerWriteError, match=r"np\.cumsum\(\.\.\., out=a\)"):
        grad(function)(X)


@pytest.mark.parametrize(
    "call",
    [
        lambda y: np.concatenate([y[1:], y[:1]], out=y),
        lambda y: np.concatenate([y[1:], y[:1]], 0, y),
        lambda y: np.stack([y[:2], y[2:]], axis=1, out=y.reshape(2, 2)),
    ],
)
def test_what_is_joined_into_its_own_memory_is_refused(call: Callable[[Any], Any]) -> None:
    def function(x: Any) -> Any:
        y = x * 1
        call(y)
        return y[0]

    with pytest.raises(TracerWriteError, match="has just overwritten"):
        grad(function)(X)


def test_what_is_joined_into_itself_stays() -> None:
    def function(x: Any) -> Any:
        y = np.stack([x, 2 * x])
        np.concatenate([y], out=y)
        return np.sum(y @ WEIGHTS)

    np.testing.assert_array_equal(grad(function)(X), 3 * WEIGHTS)


def test_two_results_in_memory_that_overlaps_are_refused() -> None:
    def function(x: Any) -> Any:
        y = x * 1
        np.modf(x, out=(y, y[::-1]))
        return y[0]

    with pytest.raises(TracerWriteError, match=r"np\.modf .* names two arrays that overlap"):
        grad(function)(X)
