"""Differences, the trapezoid rule and numerical gradients, against their definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from funcgrad import grad, jacfwd, jacrev, vjp, vmap

M = np.array([[1.0, 4.0, 9.0], [2.0, 8.0, 5.0]])


def test_differences_down_any_axis() -> None:
    for axis in (0, -2):
        assert grad(lambda m, axis=axis: np.sum(np.diff(m, axis=axis) * [1.0, 2.0, 3.0]))(M).tolist() == [
            [-1, -2, -3],
            [1, 2, 3],
        ]
    second = jacrev(lambda v: np.diff(v, 2))(np.ones(4))
    np.testing.assert_array_equal(second, [[1, -2, 1, 0], [0, 1, -2, 1]])
    np.testing.assert_array_equal(jacfwd(lambda v: np.diff(v, 2))(np.ones(4)), second)
    assert grad(lambda v: np.sum(np.diff(v, n=0)))(np.ones(3)).tolist() == [1.0] * 3
    np.testing.assert_array_equal(vmap(lambda v: np.diff(v, prepend=0.0))(M), np.diff(M, prepend=0.0))


def test_what_is_put_in_front_and_behind() -> None:
    f = lambda v, start, stop: np.diff(v, prepend=start, append=stop) @ np.array([1.0, 10.0, 100.0])
    parts = grad(f, argnums=(0, 1, 2))(np.array([1.0, 2.0]), 3.0, 4.0)
    assert (parts[0].tolist(), parts[1], parts[2]) == ([-9.0, -90.0], -1.0, 100.0)
    assert grad(lambda v: np.sum(np.diff(v, append=v[:1])))(np.ones(3)).tolist() == [0.0, 0.0, 0.0]


def test_flattened_differences() -> None:
    assert grad(lambda v: np.sum(np.ediff1d(np.cumsum(v)) * [1.0, 2.0]))(np.ones(3)).tolist() == [
        0.0,
        1.0,
        2.0,
    ]
    f = lambda v, end: np.sum(np.ediff1d(v, to_end=end, to_begin=[end, 7.0]) ** 2)
    parts = grad(f, argnums=(0, 1))(M, 3.0)
    np.testing.assert_array_equal(parts[0].ravel(), -2 * np.diff(np.ediff1d(M, 0.0, 0.0)))
    assert parts[1] == 12.0


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda t: np.diff(t), ValueError), (lambda t: np.diff(t * np.ones(3), -1), ValueError),
        (lambda t: np.diff(t * np.ones(3), axis=1), ValueError),
        (lambda t: np.gradient(t * np.ones(1)), ValueError),
        (lambda t: np.gradient(t * np.ones(3), 1.0, 2.0), TypeError),
        (lambda t: np.gradient(t * np.ones(3), np.ones(4)), ValueError),
        (lambda t: np.gradient(t * np.ones(3), edge_order=3), ValueError),
        (lambda t: np.gradient(t * np.ones(2), edge_order=2), ValueError),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused_as_by_numpy(call: Any, error: type[Exception]) -> None:
    for run in (call, grad(call)):
        with pytest.raises(error):
            run(np.float64(1.0))


# ---- trapezoid -------------------------------------------------------------------------------------------------------


def test_trapezoid_in_heights_points_and_step() -> None:
    y, x = np.array([1.0, 2.0, 4.0]), np.array([0.0, 1.0, 3.0])
    np.testing.assert_array_equal(grad(lambda y: np.trapezoid(y, x))(y), [0.5, 1.5, 1.0])
    np.testing.assert_array_equal(grad(lambda x: np.trapezoid(y, x))(x), [-1.5, -1.5, 3.0])
    np.testing.assert_array_equal(grad(lambda x: np.trapezoid([1, 2, 4], x))(x), [-1.5, -1.5, 3.0])
    assert grad(lambda h: np.trapezoid(y, dx=h))(0.5) == 4.5
    f = lambda m: np.sum(np.trapezoid(m, dx=0.5, axis=0) * [1.0, 2.0, 3.0])
    assert grad(f)(M).tolist() == [[0.25, 0.5, 0.75]] * 2
    weights = grad(lambda m: np.sum(np.trapezoid(m, M**2, axis=-1)))(M)
    np.testing.assert_array_equal(weights[0], grad(lambda y: np.trapezoid(y, M[0] ** 2))(M[0]))


# ---- gradient --------------------------------------------------------------------------------------------------------

POINTS = np.array([0.0, 1.0, 3.0, 4.5, 5.0])


def test_gradient_is_linear_in_the_values() -> None:
    assert grad(lambda v: np.sum(np.gradient(v) * [1.0, 2.0, 3.0]))(np.ones(3)).tolist() == [-2.0, -2.0, 4.0]
    for arguments in [(), (0.5,), (POINTS,)]:
        for edge_order in (1, 2):
            f = lambda v, a=arguments, e=edge_order: np.gradient(v, *a, edge_order=e)
            np.testing.assert_allclose(jacrev(f)(POINTS**2).T, [f(row) for row in np.eye(5)], atol=1e-14)
            np.testing.assert_allclose(vmap(f)(np.eye(5)), [f(row) for row in np.eye(5)], atol=1e-14)


def test_gradient_in_its_spacing() -> None:
    assert grad(lambda h: np.sum(np.gradient(np.array([1.0, 4.0, 9.0]), h)))(2.0) == -3.0
    assert grad(lambda h: np.sum(np.gradient([1, 4, 9], h)))(2.0) == -3.0
    # A parabola's slope is exact at every point, whatever the points are, so that it moves as 2 x does.
    f = lambda x: np.gradient(x**2, x, edge_order=2)
    np.testing.assert_allclose(jacrev(f)(POINTS), 2 * np.eye(5), atol=1e-13)
    np.testing.assert_allclose(jacfwd(f)(POINTS), 2 * np.eye(5), atol=1e-13)
    # Traced points that happen to be equally far apart are still each their own.
    np.testing.assert_allclose(jacrev(f)(np.arange(4.0)), 2 * np.eye(4), atol=1e-13)


def test_gradient_along_several_axes() -> None:
    m = np.sin(np.arange(12.0)).reshape(3, 4)
    outs, pull = vjp(lambda m: np.gradient(m, 0.5, [0.0, 1.0, 3.0, 4.0]), m)
    assert isinstance(outs, tuple)
    cts = (np.ones((3, 4)), np.zeros((3, 4)))
    down = vjp(lambda m: np.gradient(m, 0.5, axis=0), m)[1](cts[0])[0]
    np.testing.assert_allclose(pull(cts)[0], down, atol=1e-15)
    swapped = np.gradient(m, [0.0, 1.0, 3.0, 4.0], 0.5, axis=(-1, 0))
    came = vjp(lambda m: np.gradient(m, [0.0, 1.0, 3.0, 4.0], 0.5, axis=(-1, 0)), m)[0]
    np.testing.assert_allclose(came[0], swapped[0])
    np.testing.assert_allclose(came[1], swapped[1])
    assert vjp(lambda m: np.gradient(m, axis=()), m)[0] == ()


def test_gradient_does_not_look_at_the_middle() -> None:
    x = np.array([1.0, np.inf, 9.0])
    np.testing.assert_array_equal(vjp(np.gradient, x)[0], np.gradient(x))
    assert vjp(np.gradient, x.astype(np.float32))[0].dtype == np.float32
