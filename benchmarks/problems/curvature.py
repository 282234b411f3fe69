"""Transforms of transforms: gradients of every example, and matrices of second derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

import funcgrad
from benchmarks.peers import Funcgrad, Peer, Run
from benchmarks.problem import HAND, Race
from benchmarks.problems.elementwise import rosenbrock
from benchmarks.problems.models import layers, mlp, normal

BATCH, VARIABLES = 256, 100


def per_example_by_hand(w1: Any, b1: Any, w2: Any, b2: Any, w3: Any, b3: Any, x: Any, y: Any) -> Any:
    """Backpropagation for all examples at once; a weight's gradient is an outer product for each."""
    h1 = np.tanh(x @ w1 + b1)
    h2 = np.tanh(h1 @ w2 + b2)
    db3 = 2 * (h2 @ w3 + b3 - y) / np.float32(y.shape[1])
    db2 = (db3 @ w3.T) * (1 - h2 * h2)
    db1 = (db2 @ w2.T) * (1 - h1 * h1)
    outer = (
        x[:, :, None] * db1[:, None, :],
        h1[:, :, None] * db2[:, None, :],
        h2[:, :, None] * db3[:, None, :],
    )
    return outer[0], db1, outer[1], db2, outer[2], db3


def hessian_by_hand(x: np.ndarray) -> np.ndarray:
    """The Hessian of the chained Rosenbrock function, which has three diagonals."""
    diagonal = np.zeros_like(x)
    diagonal[:-1] = 1200 * x[:-1] ** 2 - 400 * x[1:] + 2
    diagonal[1:] += 200
    side = -400 * x[:-1]
    return np.diag(diagonal) + np.diag(side, 1) + np.diag(side, -1)


_rng = np.random.default_rng(2)
_params, _x, _y = layers(_rng, 10, 32, 32, 1), normal(_rng, BATCH, 10), normal(_rng, BATCH, 1)
_point = _rng.normal(size=VARIABLES)


def _vectorised(peers: Sequence[Peer]) -> dict[str, Run]:
    runs: dict[str, Run] = {HAND: lambda: per_example_by_hand(*_params, _x, _y)}
    for peer in (Funcgrad(), *peers):
        run = peer.per_example(mlp, _params, (_x, _y))
        if run is not None:
            runs[peer.name] = run
    return runs


def _against_loop(peers: Sequence[Peer]) -> dict[str, Run]:
    differentiate = funcgrad.grad(partial(mlp, np), tuple(range(len(_params))))

    def loop() -> Any:
        gradients = [differentiate(*_params, x, y) for x, y in zip(_x, _y, strict=True)]
        return tuple(np.stack(parts) for parts in zip(*gradients, strict=True))

    return {"loop of grad": loop, "funcgrad": _vectorised(())["funcgrad"]}


def _hessians(peers: Sequence[Peer]) -> dict[str, Run]:
    runs: dict[str, Run] = {HAND: lambda: hessian_by_hand(_point)}
    for peer in (Funcgrad(), *peers):
        run = peer.hessian(rosenbrock, _point)
        if run is not None:
            runs[peer.name] = run
    return runs


LINES = (
    Race(f"vmap(grad(MLP)), {BATCH} examples", 2, _vectorised),
    Race("  and against a Python loop", 1 / 20, _against_loop, "loop of grad"),
    Race(f"hessian of Rosenbrock, {VARIABLES} variables", 0.5, _hessians, "torch"),
)
