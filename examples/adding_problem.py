"""The adding problem: an LSTM reads 100 pairs (a number, a mark) and adds the two marked numbers.

    python examples/adding_problem.py [--short] [--seed N]

Always answering 1, the mean sum, has a mean squared error of 1/6; to do better, a value must be kept over up
to 99 steps. The task is from S. Hochreiter and J. Schmidhuber, "Long Short-Term Memory", Neural Computation
9, 1997.
"""

from __future__ import annotations

import argparse

import numpy as np
from tqdm import tqdm

import funcgrad.torch as torch
from funcgrad.torch import nn
from funcgrad.torch.nn import functional as F


def problems(rng: np.random.Generator, n: int, steps: int) -> tuple[torch.Tensor, torch.Tensor]:
    """`n` sequences (n, steps, 2) and their answers (n,): one mark in each half."""
    numbers, marks = rng.random((n, steps)), np.zeros((n, steps))
    rows, half = np.arange(n), steps // 2
    marks[rows, rng.integers(half, size=n)] = 1
    marks[rows, half + rng.integers(steps - half, size=n)] = 1
    x = np.stack([numbers, marks], axis=2).astype(np.float32)
    return torch.tensor(x), torch.tensor(np.sum(numbers * marks, axis=1).astype(np.float32))


class Adder(nn.Module):
    """An LSTM, and a number read from its last state."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(2, width, batch_first=True)
        self.answer = nn.Linear(width, 1)
        # remember, until something else is learnt: the second quarter are the forget gates
        with torch.no_grad():
            self.lstm.bias_ih_l0[width : 2 * width].fill_(1.0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Answers (n,) of sequences (n, steps, 2)."""
        out, _ = self.lstm(x)
        return self.answer(out[:, -1]).squeeze(1)


def main(arguments: list[str] | None = None) -> float:
    """Train, print, and return the mean squared error on 1,000 new sequences."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--short", action="store_true", help="10 pairs instead of 100")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    steps, rounds = (10, 350) if options.short else (100, 2000)
    torch.manual_seed(options.seed)
    rng = np.random.default_rng(options.seed)
    model = Adder(32)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    bar = tqdm(range(rounds), desc="adding", unit="batch", disable=None)
    for _ in bar:
        x, target = problems(rng, 32, steps)
        loss = F.mse_loss(model(x), target)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        bar.set_postfix(error=f"{loss.item():.4f}")
    x, target = problems(np.random.default_rng(10_000), 1000, steps)
    with torch.no_grad():
        error = F.mse_loss(model(x), target).item()
    print(
        f"mean squared error on 1,000 new sequences of {steps} steps: {error:.5f} (always answering 1: {1 / 6:.5f})"
    )
    return error


if __name__ == "__main__":
    main()
