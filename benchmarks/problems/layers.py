"""Layers of neural networks, forward and backward: the same weights in funcgrad.torch and PyTorch."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import funcgrad.torch
from benchmarks.peers import Peer, Run
from benchmarks.problem import Race

Layer = Callable[[Any], Any]
SEED = 0


def network(nn: Any) -> Any:
    """Two convolutions with pooling, for images of 8 x 8 pixels, and a linear layer."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(128, 10),
    )


def encoder_layer(nn: Any) -> Any:
    """A layer of a transformer."""
    return nn.TransformerEncoderLayer(64, 4, 256, dropout=0.0, batch_first=True)


def forward_and_backward(
    torch: Any, layer: Layer, x: np.ndarray, weights: Sequence[np.ndarray] | None
) -> tuple[Run, Any]:
    """A run that gives the gradients of a weighted mean of the layer's output, in `x` and its weights."""
    torch.manual_seed(SEED)
    model = layer(torch.nn)
    parameters = list(model.parameters())
    if weights is not None:
        with torch.no_grad():
            for p, w in zip(parameters, weights, strict=True):
                p.copy_(torch.tensor(w))
    given = torch.tensor(x, requires_grad=x.dtype.kind == "f")
    wanted = [*parameters, given] if given.requires_grad else parameters

    def outputs() -> Any:
        out = model(given)
        return out[0] if isinstance(out, tuple) else out

    factors = torch.tensor(images(*outputs().shape))

    def run() -> Any:
        for p in wanted:
            p.grad = None
        (outputs() * factors).mean().backward()
        return [p.grad for p in wanted]

    return run, [p.detach().numpy().copy() for p in parameters]


def race(name: str, target: float, layer: Layer, x: np.ndarray) -> Race:
    """Ours against PyTorch's."""

    def runs(peers: Sequence[Peer]) -> dict[str, Run]:
        ours, weights = forward_and_backward(funcgrad.torch, layer, x, None)
        if not any(peer.name == "torch" for peer in peers):
            return {"funcgrad": ours}
        theirs, _ = forward_and_backward(importlib.import_module("torch"), layer, x, weights)
        return {"torch": theirs, "funcgrad": ours}

    return Race(f"layer: {name}", target, runs, reference="torch")


def images(*shape: int) -> np.ndarray:
    """Random numbers in single precision."""
    return np.random.default_rng(SEED).normal(size=shape).astype(np.float32)


LINES = (
    race("CNN, 8 x 8, batch 64", 3.0, network, images(64, 1, 8, 8)),
    race(
        "conv 16-32, 32 x 32, batch 8", 3.0, lambda nn: nn.Conv2d(16, 32, 3, padding=1), images(8, 16, 32, 32)
    ),
    race(
        "depthwise conv 64, 16 x 16", 3.0, lambda nn: nn.Conv2d(64, 64, 3, groups=64), images(8, 64, 16, 16)
    ),
    race("LSTM 64, 50 steps, batch 32", 2.0, lambda nn: nn.LSTM(64, 64), images(50, 32, 64)),
    race("GRU 64, 50 steps, batch 32", 2.0, lambda nn: nn.GRU(64, 64), images(50, 32, 64)),
    race("transformer 64, 16 places", 2.0, encoder_layer, images(64, 16, 64)),
    race(
        "embedding 5,000 x 64",
        2.0,
        lambda nn: nn.Embedding(5000, 64),
        np.random.default_rng(SEED).integers(5000, size=(32, 50)),
    ),
)
