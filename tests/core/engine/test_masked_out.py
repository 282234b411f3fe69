"""What a program leaves out raises no floating-point errors, in a pull or where `where=` leaves it out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from funcgrad import grad, jvp, vmap


def energy(position: Any) -> Any:
    """The inverse distances of bodies, as programs write them."""
    distance = np.sqrt((position[:, None] - position[None]) ** 2)
    inverse = distance.copy()
    inverse[inverse > 0] = 1.0 / inverse[inverse > 0]
    return np.sum(np.triu(inverse, 1))


def assigned(x: Any) -> Any:
    y = x**0.5 * 3
    y[x == 0] = 0
    return y


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "energy": energy,
    "where": lambda x: np.sum(np.where(x > 0, np.sqrt(np.abs(x)), 0.0)),
    "power": lambda x: np.sum((x**0.5)[x > 0]),
    "cbrt": lambda x: np.sum(np.cbrt(x)[1:]),
    "divide": lambda x: np.sum(np.divide(1.0, x, out=np.zeros_like(x), where=x != 0)),
    "log": lambda x: np.sum(np.log(x, out=np.zeros_like(x), where=x > 0)),
    "reciprocal": lambda x: np.sum(np.reciprocal(x, where=x > 0, out=np.zeros_like(x))),
    "norms": lambda x: np.sum(np.linalg.norm(x[:, None], axis=1)),
    "clip": lambda x: np.sum(np.sqrt(np.clip(x, 1e-12, None))),
    "std": lambda x: np.std(x * 0 + 1.0),
    "float_power": lambda x: np.sum(np.where(x > 0, np.float_power(x, 0.5), 0)),
    "power of an array": lambda x: np.sum(np.where(x > 0, x ** np.array([0.5, 0.5, 2.0]), 0)),
    "power of an element": lambda x: np.sum(np.where(x > 0, x[0] ** 0.5, 1)[:1]),
    "arctan2": lambda x: np.sum(np.where(x > 0, np.arctan2(x, 0 * x), 0)),
    "assigned": lambda x: np.sum(assigned(x)),
}
x = np.array([0.0, 1.0, 3.0])


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_gradient_raises_only_where_the_function_does(name: str) -> None:
    f = PROGRAMS[name]
    with np.errstate(divide="raise", over="raise", invalid="raise"):
        f(x)
        gradient = grad(f)(x)
        assert np.isfinite(gradient).all()
        assert jvp(f, (x,), (x + 1,))[1] == pytest.approx(gradient @ (x + 1))
        assert jvp(vmap(f), (x[None],), (x[None] + 1,))[1] == pytest.approx(gradient @ (x + 1))


def test_what_is_taken_still_warns() -> None:
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        grad(lambda x: np.sum(np.divide(1.0, x, out=np.zeros_like(x), where=x >= 0)))(x)
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        grad(lambda x: np.sum(np.log(x, out=np.zeros_like(x), where=x >= 0)))(x)
