"""Gradient descent on lists, tuples and dicts of arrays: `optimize(grad, x0, callback, num_iters, ...)`.

`grad(x, i)` is the gradient at step i, `callback(x, i, g)` sees each. (funcgrad.optim has more of them.)
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.compat.autograd.misc.flatten import flatten

Gradient = Callable[[Any, int], Any]
Callback = Callable[[Any, int, Any], Any] | None


def unflatten_optimizer(optimize: Callable[..., Any]) -> Callable[..., Any]:
    """Make an optimizer of vectors one of trees."""

    @functools.wraps(optimize)
    def of_trees(grad: Gradient, x0: Any, callback: Callback = None, *args: Any, **kwargs: Any) -> Any:
        vector, unflatten = flatten(x0)

        def flat_grad(x: Any, i: int) -> Any:
            return flatten(grad(unflatten(x), i))[0]

        def flat_callback(x: Any, i: int, g: Any) -> None:
            if callback:
                callback(unflatten(x), i, unflatten(g))

        return unflatten(optimize(flat_grad, vector, flat_callback, *args, **kwargs))

    return of_trees


@unflatten_optimizer
def sgd(
    grad: Gradient,
    x: Any,
    callback: Any = None,
    num_iters: int = 200,
    step_size: float = 0.1,
    mass: float = 0.9,
) -> Any:
    """Descent with momentum."""
    velocity = np.zeros(len(x))
    for i in range(num_iters):
        g = grad(x, i)
        callback(x, i, g)
        velocity = mass * velocity - (1.0 - mass) * g
        x = x + step_size * velocity
    return x


@unflatten_optimizer
def rmsprop(
    grad: Gradient, x: Any, callback: Any = None, num_iters: int = 100, step_size: float = 0.1, gamma: float = 0.9,
    eps: float = 1e-8,
) -> Any:  # fmt: skip
    """Descent with steps scaled by the root of the mean square of the gradients."""
    square = np.ones(len(x))
    for i in range(num_iters):
        g = grad(x, i)
        callback(x, i, g)
        square = square * gamma + g**2 * (1 - gamma)
        x = x - step_size * g / (np.sqrt(square) + eps)
    return x


@unflatten_optimizer
def adam(
    grad: Gradient, x: Any, callback: Any = None, num_iters: int = 100, step_size: float = 0.001, b1: float = 0.9,
    b2: float = 0.999, eps: float = 1e-8,
) -> Any:  # fmt: skip
    """Kingma and Ba, "Adam: a method for stochastic optimization", ICLR 2015."""
    m, v = np.zeros(len(x)), np.zeros(len(x))
    for i in range(num_iters):
        g = grad(x, i)
        callback(x, i, g)
        m = (1 - b1) * g + b1 * m
        v = (1 - b2) * g**2 + b2 * v
        x = x - step_size * (m / (1 - b1 ** (i + 1))) / (np.sqrt(v / (1 - b2 ** (i + 1))) + eps)
    return x
