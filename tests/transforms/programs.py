"""Ways to differentiate a function of two arrays, for functions that have a plain twin to be compared with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad import grad, hessian, jacfwd, jacrev, jvp, tree, vmap

Function = Callable[[Any, Any], Any]
X, Y = np.array([0.3, 0.7]), np.array([2.0, -1.0])
ROWS = np.array([[0.3, 0.7], [1.0, 2.0], [0.1, 0.2]])


def over_rows(f: Function) -> Function:
    return lambda rows, y: np.sum(vmap(f, (0, None))(rows, y) ** 2)


def twice(f: Function) -> Function:
    return lambda x, y: np.sum(f(x, y * x) ** 2)


# Each takes the function and gives a pytree of numbers.
MODES: dict[str, Callable[[Function], Any]] = {
    "value": lambda f: f(X, Y),
    "grad": lambda f: grad(lambda x, y: np.sum(f(x, y)), argnums=(0, 1))(X, Y),
    "grad of one": lambda f: grad(lambda x: np.sum(f(x, Y)))(X),
    "jvp": lambda f: jvp(f, (X, Y), (np.ones(2), X)),
    "jvp of one": lambda f: jvp(lambda x: f(x, Y), (X,), (np.ones(2),)),
    "forward over reverse": lambda f: hessian(twice(f), argnums=(0, 1))(X, Y),
    "reverse over reverse": lambda f: jacrev(jacrev(twice(f)))(X, Y),
    "reverse over forward": lambda f: jacrev(jacfwd(twice(f)))(X, Y),
    "forward over forward": lambda f: jacfwd(jacfwd(twice(f)))(X, Y),
    "third order": lambda f: grad(lambda x: np.sum(hessian(twice(f))(x, Y) ** 2))(X),
    "vmap": lambda f: vmap(f, (0, None))(ROWS, Y),
    "vmap of grad": lambda f: vmap(grad(lambda x, y: np.sum(f(x, y)), argnums=(0, 1)), (0, None))(ROWS, Y),
    "grad of vmap": lambda f: grad(over_rows(f), argnums=(0, 1))(ROWS, Y),
    "grad of vmap, in what is shared": lambda f: grad(lambda y: over_rows(f)(ROWS, y))(Y),
    "grad of vmap with a closure": lambda f: grad(
        lambda y: np.sum(vmap(lambda x: f(x, y * np.sum(x)))(ROWS) ** 2),
    )(Y),
    "jvp of vmap": lambda f: jvp(lambda rows, y: vmap(f, (0, None))(rows, y), (ROWS, Y), (ROWS, Y)),
    "vmap of vmap": lambda f: grad(
        over_rows(lambda x, y: vmap(f, (None, 0))(x, np.stack([y, 2 * y]))), argnums=(0, 1)
    )(ROWS, Y),
    "hessian of vmap": lambda f: hessian(lambda y: over_rows(f)(ROWS, y * y))(Y),
    "vmap of hessian": lambda f: vmap(hessian(twice(f)), (0, None))(ROWS, Y),
}


def agree(mode: str, function: Function, plain: Function) -> None:
    """Both functions have the same value and derivatives."""
    found, expected = (tree.leaves(MODES[mode](f)) for f in (function, plain))
    assert len(found) == len(expected)
    for x, y in zip(found, expected, strict=True):
        assert np.shape(x) == np.shape(y)
        np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-12)
