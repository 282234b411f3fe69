"""Steps of training: the same model, data and initial weights in funcgrad.torch and in PyTorch.

Each problem is written once, for either namespace: data as arrays, a model, and the loss of the model on the
data.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import funcgrad.torch
from benchmarks.peers import Peer, Run
from benchmarks.problem import Race

Data = tuple[np.ndarray, ...]


# ---- images ----------------------------------------------------------------------------------------------------------
def images(rng: np.random.Generator) -> Data:
    """Batches of 32 images of 8 x 8 pixels, as those of scikit-learn's digits, with labels."""
    return rng.random((32, 1, 8, 8)), rng.integers(10, size=32)


def convolutional(torch: Any) -> Any:
    """The network of examples/digits_cnn.py, without dropout."""
    nn = torch.nn
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(512, 10),
    )


def loss_of_labels(torch: Any, model: Any, x: Any, label: Any) -> Any:
    """Cross-entropy."""
    return torch.nn.functional.cross_entropy(model(x), label)


# ---- sequences -------------------------------------------------------------------------------------------------------
def pairs(rng: np.random.Generator) -> Data:
    """A batch of 64 sequences of 100 pairs with their sums, as in examples/adding_problem.py."""
    x = rng.random((64, 100, 2))
    return x, x[:, :, 0].sum(axis=1, keepdims=True) / 50


def recurrent(torch: Any) -> Any:
    """An LSTM of 64 units, and a number read from its last state."""

    class Adder(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = torch.nn.LSTM(2, 64, batch_first=True)
            self.answer = torch.nn.Linear(64, 1)

        def forward(self, x: Any) -> Any:
            return self.answer(self.lstm(x)[0][:, -1])

    return Adder()


def loss_of_numbers(torch: Any, model: Any, x: Any, target: Any) -> Any:
    """Mean squared error."""
    return torch.nn.functional.mse_loss(model(x), target)


# ---- attention -------------------------------------------------------------------------------------------------------
def digits(rng: np.random.Generator) -> Data:
    """A batch of 64 sequences of 16 digits, and the same backwards, as in examples/reversing.py."""
    x = rng.integers(10, size=(64, 16))
    return x, x[:, ::-1].copy()


def attentive(torch: Any) -> Any:
    """Two layers of a Transformer encoder, 64 wide."""
    nn = torch.nn

    class Reverser(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.digit = nn.Embedding(10, 64)
            self.place = nn.Parameter(torch.randn(16, 64) / 2)
            layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
            self.encoder = nn.TransformerEncoder(layer, 2)
            self.scores = nn.Linear(64, 10)

        def forward(self, x: Any) -> Any:
            return self.scores(self.encoder(self.digit(x) + self.place)).flatten(0, 1)

    return Reverser()


def loss_of_places(torch: Any, model: Any, x: Any, label: Any) -> Any:
    """Cross-entropy of all places."""
    return torch.nn.functional.cross_entropy(model(x), label.flatten())


# ---- training --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Problem:
    """What is trained: arrays of data, a model, and its loss, the latter two as functions of a namespace."""

    data: Callable[[np.random.Generator], Data]
    model: Callable[[Any], Any]
    loss: Callable[..., Any]


PROBLEMS = {
    "CNN": Problem(images, convolutional, loss_of_labels),
    "LSTM": Problem(pairs, recurrent, loss_of_numbers),
    "Transformer": Problem(digits, attentive, loss_of_places),
}
SEED = 0


def initial_weights(problem: Problem) -> dict[str, np.ndarray]:
    """The weights that both libraries start from, by name."""
    torch = funcgrad.torch
    torch.manual_seed(SEED)
    return {name: x.detach().numpy().copy() for name, x in problem.model(torch).state_dict().items()}


def training(
    torch: Any,
    problem: Problem,
    optimizer: str,
    dtype: str = "float32",
    examples: int | None = None,
    **settings: Any,
) -> Run:
    """A run that makes one step on the same batch; it gives the loss before and a weight after."""
    model = problem.model(torch)
    model.load_state_dict({name: torch.tensor(x) for name, x in initial_weights(problem).items()})
    model.to(getattr(torch, dtype))
    arrays = [x[:examples] for x in problem.data(np.random.default_rng(SEED))]
    data = [torch.tensor(x.astype(dtype) if x.dtype.kind == "f" else x) for x in arrays]
    stepper = getattr(torch.optim, optimizer)(model.parameters(), **settings)
    weight = next(model.parameters())

    def run() -> Any:
        stepper.zero_grad()
        loss = problem.loss(torch, model, *data)
        loss.backward()
        stepper.step()
        return loss.detach(), weight.detach()

    return run


def race(name: str, target: float, optimizer: str, **settings: Any) -> Race:
    """Our step against PyTorch's."""

    def runs(peers: Sequence[Peer]) -> dict[str, Run]:
        found = {}
        if any(peer.name == "torch" for peer in peers):
            found["torch"] = training(importlib.import_module("torch"), PROBLEMS[name], optimizer, **settings)
        return {**found, "funcgrad": training(funcgrad.torch, PROBLEMS[name], optimizer, **settings)}

    return Race(f"training: {name}, {optimizer}", target, runs, reference="torch")


LINES = (
    race("CNN", 3.0, "Adam", lr=1e-3),
    race("LSTM", 2.0, "Adam", lr=1e-3),
    race("Transformer", 2.0, "AdamW", lr=1e-3),
)
