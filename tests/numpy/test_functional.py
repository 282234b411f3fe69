"""Functions of the user's functions, which may close over tracers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad.numpy as fnp
from funcgrad import grad, hessian, jacfwd, jacrev, vmap
from funcgrad.core.engine.trace import Tracer

X = np.array([1.0, 2.0, 3.0])
W = np.linspace(0, 1, 4)

FUNCTIONS = {
    "piecewise": lambda x: fnp.piecewise(
        W, [W < 0.5, W >= 0.5], [lambda w: w * x[0], lambda w: x[1] ** 2 + w]
    ),
    "piecewise of numbers": lambda x: fnp.piecewise(W, [W < 0.5], [x[0] ** 2, x[1]]),
    "piecewise of tracers": lambda x: fnp.piecewise(x, [x > 1.5], [lambda v: v**2, lambda v: -v]),
    "apply_along_axis": lambda x: fnp.apply_along_axis(lambda row: row[0] * x, 1, np.ones((2, 2))),
    "apply_over_axes": lambda x: fnp.apply_over_axes(
        lambda a, axis: np.sum(a * x[0], axis), np.ones((2, 2)), [0, 1]
    ),
    "fromfunction": lambda x: fnp.fromfunction(lambda i, j: i * x[0] + j * x[1] ** 2, (2, 3)),
    "fromiter": lambda x: fnp.fromiter((v * x[0] for v in x), float),
    "vectorize": lambda x: fnp.vectorize(lambda a, b: a * b + a)(x, x[0]),
    "vectorize over a closure": lambda x: fnp.vectorize(lambda i: x[i] ** 2)(np.array([[0, 2], [1, 0]])),
    "vectorize to two": lambda x: sum(fnp.vectorize(lambda a: (a, a * a))(x)),
    "vectorize by keyword": lambda x: fnp.vectorize(lambda a, b: a * b)(x, b=x[1]),
    "vectorize, excluded": lambda x: fnp.vectorize(lambda a, c: a * c[0], excluded=["c", 1])(x, [x[1], 0.0]),
    "vectorize by rows": lambda x: fnp.vectorize(lambda a, b: a @ b, signature="(n),(n)->()")(
        fnp.stack([x, x**2]), x
    ),
    "vectorize to rows": lambda x: fnp.vectorize(lambda a: fnp.outer(a, x), signature="(n)->(n,m)")(
        fnp.stack([x, X])
    ),
    "vectorize, float": lambda x: fnp.vectorize(lambda a: a * 2, otypes=[float])(x),
    "frompyfunc": lambda x: fnp.frompyfunc(lambda a, b: a * b + x[0], 2, 1)(x, 2.0),
    "frompyfunc to two": lambda x: sum(fnp.frompyfunc(lambda a: (a, a * a), 1, 2)(x)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_and_batches(name: str) -> None:
    f = FUNCTIONS[name]
    direction, eps = np.array([0.3, -0.2, 0.5]), 1e-6
    apart = np.asarray(f(X + eps * direction), float) - np.asarray(f(X - eps * direction), float)
    jacobian = jacrev(f)(X)
    np.testing.assert_allclose(jacobian @ direction, apart / (2 * eps), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(jacfwd(f)(X), jacobian, rtol=1e-12)
    np.testing.assert_allclose(jacfwd(f, 0)(X), jacobian)
    total = hessian(lambda x: fnp.sum(f(x)))(X)
    np.testing.assert_allclose(total, total.T, atol=1e-12)
    if name != "piecewise of tracers":  # whose parts differ in size
        batch = np.stack([X, X + 0.25])
        np.testing.assert_allclose(vmap(f)(batch), np.stack([np.asarray(f(x), float) for x in batch]))


def inside(make: Any) -> Any:
    """What `make` gives while a transform runs."""
    seen: list[Any] = []
    grad(lambda t: (seen.append(make()), t)[1])(1.0)
    return seen[0]


CALLS = {
    "numbers": lambda np_: np_.vectorize(lambda a, b: a + b)([1, 2], [[3], [4]]),
    "a number": lambda np_: np_.vectorize(lambda a: a + 1.5)(2),
    "two results": lambda np_: np_.vectorize(lambda a: (a, a > 1))([1.0, 2.0]),
    "otypes": lambda np_: np_.vectorize(lambda a: a, otypes="f")([1, 2]),
    "the first one's dtype": lambda np_: np_.vectorize(lambda a: a if a > 1 else 0)([0.5, 1.5]),
    "rows": lambda np_: np_.vectorize(np.convolve, signature="(n),(m)->(k)")(np.eye(3), [1, 2]),
    "nothing": lambda np_: np_.vectorize(lambda a: a, otypes=[float])(np.ones((0, 2))),
    "no rows": lambda np_: np_.vectorize(lambda a: a, otypes=[float], signature="(n)->(n)")(np.ones((0, 2))),
    "text": lambda np_: np_.vectorize(lambda a: f"<{a}>")([1, 2]),
    "as a decorator": lambda np_: np_.vectorize(otypes=[float])(lambda a: a + 1)([1, 2]),
    "objects": lambda np_: np_.frompyfunc(lambda a, b: (a, b), 2, 1)([1, 2], 3),
    "an object": lambda np_: np_.frompyfunc(lambda a: str(a), 1, 1)(3),
    "no objects": lambda np_: np_.frompyfunc(lambda a: str(a), 1, 1)(np.ones((2, 0))),
    "a method": lambda np_: np_.frompyfunc(lambda a, b: a + b, 2, 1).reduce([1, 2, 3]),
    "iterator": lambda np_: np_.fromiter(iter(range(5)), int, 3),
}


@pytest.mark.parametrize("name", CALLS)
def test_without_tracers_the_result_is_numpys(name: str) -> None:
    ours, numpys = inside(lambda: CALLS[name](fnp)), CALLS[name](np)
    assert isinstance(ours, tuple) == isinstance(numpys, tuple)
    for a, b in zip(ours, numpys, strict=True) if isinstance(ours, tuple) else [(ours, numpys)]:
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: fnp.vectorize(lambda a: a)([]), ValueError, "size 0 inputs unless"),
        (lambda: fnp.vectorize(lambda a: a, signature="(n)->()")(1.0), ValueError, "enough dimensions"),
        (lambda: fnp.vectorize(lambda a: a, signature="(n)->()")([1.0]), ValueError, "a result has 1 axes"),
        (
            lambda: fnp.vectorize(lambda a, b: 0, signature="(n),(n)->()")([1, 2], [1]),
            ValueError,
            "inconsistent size",
        ),
        (lambda: fnp.vectorize(lambda a: a, signature="(n)->()")([1.0], 2), TypeError, "wrong number"),
        (lambda: fnp.fromiter(iter([1.0]), float, 2), ValueError, "too short"),
        (lambda: fnp.frompyfunc(lambda a: a, 1, 1)(1, 2, 3), (TypeError, ValueError), "arg"),
    ],
)
def test_errors_are_numpys(make: Any, error: Any, match: str) -> None:
    with pytest.raises(error, match=match):
        inside(make)


def test_results_can_be_written_into() -> None:
    def f(t: Any) -> Any:
        for y in (
            fnp.vectorize(lambda a: a + 0.5)([1, 2]),
            fnp.fromfunction(lambda i: i, (2,)),
            fnp.kaiser(2, 1.0),
        ):
            y[0] = t
            assert isinstance(y, Tracer)
        return y[0]

    assert grad(f)(2.0) == 1
