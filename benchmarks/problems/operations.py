"""Single operations of funcgrad.torch, on the same data as in PyTorch, which is the reference."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import funcgrad.torch
from benchmarks.peers import Peer, Run
from benchmarks.problem import Race


def race(name: str, target: float, make: Callable[[Any, np.random.Generator], Callable[[], Any]]) -> Race:
    """Our operation against PyTorch's: make(torch, rng) is a function without arguments that gives a tensor."""

    def run(torch: Any) -> Run:
        operation = make(torch, np.random.default_rng(0))
        return lambda: operation().detach().numpy()

    def runs(peers: Sequence[Peer]) -> dict[str, Run]:
        found = (
            {"torch": run(importlib.import_module("torch"))}
            if any(peer.name == "torch" for peer in peers)
            else {}
        )
        return {**found, "funcgrad": run(funcgrad.torch)}

    return Race(f"operation: {name}", target, runs, reference="torch")


def drawn(torch: Any, rng: np.random.Generator, *shape: int, requires_grad: bool = False) -> Any:
    """A float32 tensor of normal numbers."""
    return torch.tensor(rng.standard_normal(shape).astype(np.float32)).requires_grad_(requires_grad)


def elementwise(function: Callable[[Any, Any], Any], *shape: int) -> Any:
    """An operation on one tensor."""

    def make(torch: Any, rng: np.random.Generator) -> Callable[[], Any]:
        x = drawn(torch, rng, *shape)
        return lambda: function(torch, x)

    return make


def seeded(function: Callable[[Any], Any]) -> Any:
    """Random numbers, the same for both."""

    def make(torch: Any, rng: np.random.Generator) -> Callable[[], Any]:
        def draw() -> Any:
            torch.manual_seed(0)
            return function(torch)

        return draw

    return make


def gradient(function: Callable[[Any, Any], Any], *shape: int) -> Any:
    """autograd.grad of the sum of an operation."""

    def make(torch: Any, rng: np.random.Generator) -> Callable[[], Any]:
        x = drawn(torch, rng, *shape, requires_grad=True)
        return lambda: torch.autograd.grad(function(torch, x).sum(), [x])[0]

    return make


def rosenbrock(torch: Any, x: Any) -> Any:
    """Rosenbrock's function, element by element."""
    total = 0.0
    for i in range(len(x) - 1):
        total = total + 100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
    return total


def read_all(torch: Any, x: Any) -> Any:
    """Each element, read in a loop."""
    return torch.stack([x[i] for i in range(len(x))])


def cdist(torch: Any, rng: np.random.Generator) -> Callable[[], Any]:
    """The distances of 500 points from 500."""
    x, y = drawn(torch, rng, 500, 64), drawn(torch, rng, 500, 64)
    return lambda: torch.cdist(x, y)


def added_rows(torch: Any, rng: np.random.Generator) -> Callable[[], Any]:
    """2,000 rows, added to 1,000."""
    x, index = drawn(torch, rng, 2000, 64), torch.tensor(rng.integers(1000, size=2000))
    return lambda: torch.zeros(1000, 64).index_add(0, index, x)


def attention_scores(torch: Any, rng: np.random.Generator) -> Callable[[], Any]:
    """Products of queries and keys, for each head."""
    q, k = drawn(torch, rng, 8, 64, 4, 16), drawn(torch, rng, 8, 64, 4, 16)
    return lambda: torch.einsum("bqhd,bkhd->bhqk", q, k)


def loaded(torch: Any, rng: np.random.Generator) -> Callable[[], Any]:
    """A pass over 2,000 rows in batches of 32."""
    data = torch.utils.data.TensorDataset(drawn(torch, rng, 2000, 10), drawn(torch, rng, 2000))
    loader = torch.utils.data.DataLoader(data, batch_size=32)
    return lambda: sum(x.sum() + y.sum() for x, y in loader)


def clipped(torch: Any, rng: np.random.Generator) -> Callable[[], Any]:
    """The gradients of 20 matrices, clipped by their norm."""
    parameters = [torch.nn.Parameter(drawn(torch, rng, 100, 100)) for _ in range(20)]
    for p in parameters:
        p.grad = torch.ones(100, 100)
    return lambda: torch.nn.utils.clip_grad_norm_(parameters, 1e3)


LINES = (
    race("GELU of 1e6", 3.0, elementwise(lambda torch, x: torch.nn.functional.gelu(x), 1_000_000)),
    race("erf of 1e6", 3.0, elementwise(lambda torch, x: torch.erf(x), 1_000_000)),
    race("softmax of 1000 x 1000", 2.0, elementwise(lambda torch, x: torch.softmax(x, -1), 1000, 1000)),
    race(
        "LayerNorm of 2000 x 500",
        2.0,
        elementwise(lambda torch, x: torch.nn.functional.layer_norm(x, (500,)), 2000, 500),
    ),
    race("topk of 1000 x 1000", 2.0, elementwise(lambda torch, x: x.topk(5).values, 1000, 1000)),
    race("randperm of 1e5", 2.0, seeded(lambda torch: torch.randperm(100_000))),
    race("randn of 1e6", 2.0, seeded(lambda torch: torch.randn(1_000_000))),
    race("cdist", 2.0, cdist),
    race("index_add of rows", 2.0, added_rows),
    race("einsum of attention", 2.0, attention_scores),
    race("DataLoader", 2.0, loaded),
    race("clip_grad_norm_", 2.0, clipped),
    race("x[i] in a loop", 2.0, elementwise(read_all, 100)),
    race("Rosenbrock, element by element", 1.0, gradient(rosenbrock, 50)),
)
