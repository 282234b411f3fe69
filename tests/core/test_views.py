"""Views of traced arrays see what is written into the array, at every order of differentiation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from funcgrad import grad, hessian, jacfwd, jacrev
from funcgrad.testing import check_grads


def written_after_the_view(y: Any) -> Any:
    z = y * y
    view = z[::-1]
    z[0] = 3 * y[1]
    return np.sum(view**2)


def filled_before_the_view(y: Any) -> Any:
    z = np.zeros_like(y)
    z[0], z[1] = y[1] * y[0], np.sin(y[0])
    view = z[::-1]
    z[0] = 3 * y[1]
    return np.sum(z * view)


def two_views(y: Any) -> Any:
    z = np.sin(y)
    first = z[1:]
    z[0] = 3 * y[1]
    second = z[::-1]
    z[1] += y[1] * y[0]
    return np.sum(second**2) + np.sum(first**3)


def a_row(y: Any) -> Any:
    z = np.stack([y, y * y])
    row = z[1]
    z[1, 0] = 3 * y[1]
    return np.sum(row**2)


def written_through_a_transpose(y: Any) -> Any:
    z = np.stack([y, y * y])
    z.T[0] = np.sin(y)
    return np.sum(z[0] * z[1])


@pytest.mark.parametrize(
    "program",
    [written_after_the_view, filled_before_the_view, two_views, a_row, written_through_a_transpose],
    ids=lambda program: program.__name__,
)
def test_second_order(program: Callable[[Any], Any]) -> None:
    y = np.array([0.3, 0.7])
    check_grads(program, (y,), order=2)
    expected = jacfwd(jacfwd(program))(y)
    for derivative in (hessian(program), jacrev(jacrev(program)), jacrev(jacfwd(program)), jacrev(grad(program))):
        np.testing.assert_allclose(derivative(y), expected, atol=1e-12)
