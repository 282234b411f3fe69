"""MAML: a network learns from where one step of gradient descent leads to any of a family of sines.

    python examples/maml.py [--short] [--seed N]

The loss after the inner step is differentiated through that step: second derivatives, by create_graph. The
method and its task are from C. Finn et al., "Model-Agnostic Meta-Learning", ICML 2017.
"""

from __future__ import annotations

import argparse

import numpy as np
from tqdm import tqdm

import funcgrad.torch as torch
from funcgrad.torch import nn
from funcgrad.torch.func import functional_call
from funcgrad.torch.nn import functional as F

SHOTS = 10  # points from which a task is learnt


def task(rng: np.random.Generator) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Points of one sine of random amplitude and phase: ten to adapt to, ten to judge by, (10, 1) each."""
    amplitude, phase = rng.uniform(0.1, 5), rng.uniform(0, np.pi)
    x = rng.uniform(-5, 5, size=(2 * SHOTS, 1))
    x, y = (
        torch.tensor(x.astype(np.float32)),
        torch.tensor((amplitude * np.sin(x - phase)).astype(np.float32)),
    )
    return x[:SHOTS], y[:SHOTS], x[SHOTS:], y[SHOTS:]


def network(width: int) -> nn.Sequential:
    """Two hidden layers."""
    return nn.Sequential(
        nn.Linear(1, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1)
    )


def adapted(
    model: nn.Module, x: torch.Tensor, y: torch.Tensor, rate: float, *, create_graph: bool
) -> dict[str, torch.Tensor]:
    """The parameters after one step of gradient descent on (x, y)."""
    params = dict(model.named_parameters())
    loss = F.mse_loss(functional_call(model, params, (x,)), y)
    gradients = torch.autograd.grad(loss, list(params.values()), create_graph=create_graph)
    return {name: p - rate * gradient for (name, p), gradient in zip(params.items(), gradients, strict=True)}


def judged(model: nn.Module, rng: np.random.Generator, tasks: int, rate: float) -> tuple[float, float]:
    """The mean loss on new tasks, before and after the inner step."""
    before = after = 0.0
    for _ in range(tasks):
        x, y, x_new, y_new = task(rng)
        params = adapted(model, x, y, rate, create_graph=False)
        with torch.no_grad():
            before += F.mse_loss(model(x_new), y_new).item() / tasks
            after += F.mse_loss(functional_call(model, params, (x_new,)), y_new).item() / tasks
    return before, after


def main(arguments: list[str] | None = None) -> tuple[float, float]:
    """Train, print, and return the loss on new tasks before and after the inner step."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--short", action="store_true", help="some rounds only")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    rounds, tasks, rate = (50 if options.short else 2000), 10, 0.02
    torch.manual_seed(options.seed)
    rng = np.random.default_rng(options.seed)
    model = network(40)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2 if options.short else 2e-3)
    bar = tqdm(range(rounds), desc="learning to learn", unit="round", disable=None)
    for _ in bar:
        optimizer.zero_grad()
        total = 0.0
        for _ in range(tasks):
            x, y, x_new, y_new = task(rng)
            params = adapted(model, x, y, rate, create_graph=True)
            loss = F.mse_loss(functional_call(model, params, (x_new,)), y_new) / tasks
            loss.backward()
            total += loss.item()
        optimizer.step()
        bar.set_postfix(loss=f"{total:.3f}")
    before, after = judged(model, np.random.default_rng(10_000), 200, rate)
    print(
        f"mean squared error on new sines: {before:.3f} as learnt, {after:.3f} after one step on {SHOTS} points"
    )
    return before, after


if __name__ == "__main__":
    main()
