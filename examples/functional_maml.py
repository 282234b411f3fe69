"""maml.py as pure functions: the inner step is `grad`, tasks are a `vmap`, the outer step differentiates.

python examples/functional_maml.py [--short] [--seed N]
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from tqdm import tqdm

from funcgrad import grad, nn, optim, tree, value_and_grad, vmap

SHOTS = 10  # points from which a task is learnt
RATE = 0.02  # of the inner step

Params = list[tuple[Any, Any]]


def tasks(rng: np.random.Generator, n: int) -> tuple[Any, Any, Any, Any]:
    """Points of `n` random sines: ten to adapt to, ten to judge by, (n, 10, 1) each."""
    amplitude, phase = rng.uniform(0.1, 5, size=(n, 1, 1)), rng.uniform(0, np.pi, size=(n, 1, 1))
    x = rng.uniform(-5, 5, size=(n, 2 * SHOTS, 1))
    x, y = x.astype(np.float32), (amplitude * np.sin(x - phase)).astype(np.float32)
    return x[:, :SHOTS], y[:, :SHOTS], x[:, SHOTS:], y[:, SHOTS:]


def start(rng: np.random.Generator, *sizes: int) -> Params:
    """Random weights and biases of a network with these layers."""

    def uniform(inputs: int, *shape: int) -> Any:
        return (rng.uniform(-1, 1, size=shape) / np.sqrt(inputs)).astype(np.float32)

    return [(uniform(n, n, m), uniform(n, m)) for n, m in zip(sizes, sizes[1:])]


def network(params: Params, x: Any) -> Any:
    """Points (n, 1) -> values (n, 1)."""
    *hidden, (w, b) = params
    for w_hidden, b_hidden in hidden:
        x = nn.relu(nn.linear(x, w_hidden, b_hidden))
    return nn.linear(x, w, b)


def loss(params: Params, x: Any, y: Any) -> Any:
    """The mean squared error."""
    return nn.mse(network(params, x), y)


def adapted(params: Params, x: Any, y: Any) -> Params:
    """The parameters after one step of gradient descent on (x, y)."""
    return tree.map(lambda p, ct: p - RATE * ct, params, grad(loss)(params, x, y))


def loss_after(params: Params, x: Any, y: Any, x_new: Any, y_new: Any) -> Any:
    """The loss on new points of a task, once adapted to it."""
    return loss(adapted(params, x, y), x_new, y_new)


def over_tasks(params: Params, *batch: Any) -> Any:
    """The mean of that over a batch of tasks."""
    return np.mean(vmap(loss_after, in_axes=(None, 0, 0, 0, 0))(params, *batch))


def main(arguments: list[str] | None = None) -> tuple[float, float]:
    """Train, print, and return the loss on new tasks before and after the inner step."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--short", action="store_true", help="some rounds only")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    rng = np.random.default_rng(options.seed)
    params = start(rng, 1, 40, 40, 1)
    optimizer = optim.Adam(lr=5e-3 if options.short else 2e-3)
    state, step = optimizer.init(params), value_and_grad(over_tasks)
    bar = tqdm(range(150 if options.short else 5_000), desc="learning to learn", unit="round", disable=None)
    for number in bar:
        value, gradients = step(params, *tasks(rng, 25))
        params, state = optimizer.update(gradients, state, params)
        if number % 20 == 0:
            bar.set_postfix(loss=f"{float(value):.3f}")
    x, y, x_new, y_new = tasks(np.random.default_rng(10_000), 500)
    before = float(np.mean(vmap(loss, in_axes=(None, 0, 0))(params, x_new, y_new)))
    after = float(over_tasks(params, x, y, x_new, y_new))
    print(
        f"mean squared error on new sines: {before:.3f} as learnt, {after:.3f} after one step on {SHOTS} points"
    )
    return before, after


if __name__ == "__main__":
    main()
