"""Functions that apply the user's function along axes."""

from __future__ import annotations

import numpy as np
import pytest

from funcgrad import grad, jacrev, jvp, vjp, vmap

M = np.array([[1.0, 2.0], [3.0, 4.0]])


def test_apply_along_axis() -> None:
    f = lambda m: np.sum(np.apply_along_axis(lambda r: r * r.sum(), 1, m))
    assert grad(f)(M).tolist() == [[6.0, 6.0], [14.0, 14.0]]
    assert jvp(f, (M,), (np.ones((2, 2)),))[1] == 40.0
    assert vmap(f)(np.stack([M, 2 * M])).tolist() == [58.0, 232.0]
    cube = np.sin(np.arange(24.0)).reshape(2, 3, 4)
    for axis in (0, 1, -1):
        for function in (np.sum, np.cumsum, lambda r: np.outer(r, r)[:2]):
            g = lambda a, axis=axis, function=function: np.apply_along_axis(function, axis, a)
            np.testing.assert_allclose(vjp(g, cube)[0], g(cube))
    with_arguments = grad(
        lambda m: np.sum(np.apply_along_axis(lambda r, k, power=1: k * r**power, 0, m, 3.0, power=2))
    )(M)
    np.testing.assert_array_equal(with_arguments, 6 * M)


def test_apply_along_an_axis_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing to apply to"):
        grad(lambda m: np.sum(np.apply_along_axis(np.sum, 0, m)))(np.zeros((2, 0)))


def test_apply_over_axes() -> None:
    cube = np.sin(np.arange(24.0)).reshape(2, 3, 4)
    for axes in (0, [0, -1], (2, 1)):
        g = lambda a, axes=axes: np.apply_over_axes(np.sum, a, axes)
        np.testing.assert_allclose(vjp(g, cube)[0], g(cube))
    jacobian = jacrev(lambda m: np.apply_over_axes(np.max, m, [0, 1]))(M)
    assert jacobian.tolist() == [[[[0.0, 0.0], [0.0, 1.0]]]]
    with pytest.raises(ValueError, match="one at most"):
        grad(lambda a: np.sum(np.apply_over_axes(lambda a, axis: a.sum(), a, 0)))(cube)
