"""A Transformer encoder learns to write sequences backwards: each place must attend to the one opposite.

python examples/reversing.py [--short] [--seed N]
"""

from __future__ import annotations

import argparse

import numpy as np
from tqdm import tqdm

import funcgrad.torch as torch
from funcgrad.torch import nn
from funcgrad.torch.nn import functional as F


class Reverser(nn.Module):
    """Digits with learnt positions -> two layers of attention -> scores for each place."""

    def __init__(self, digits: int, length: int, width: int) -> None:
        super().__init__()
        self.digit = nn.Embedding(digits, width)
        self.place = nn.Parameter(torch.randn(length, width) * 0.5)
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2)
        self.scores = nn.Linear(width, digits)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Scores (n, length, digits) of digits (n, length)."""
        return self.scores(self.encoder(self.digit(x) + self.place))


def main(arguments: list[str] | None = None) -> float:
    """Train, print, and return the share of 2,000 new sequences that come out right in every place."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--short", action="store_true", help="sequences of 5 digits instead of 16")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    length, rounds, width = (5, 120, 32) if options.short else (16, 800, 64)
    torch.manual_seed(options.seed)
    rng = np.random.default_rng(options.seed)
    model = Reverser(10, length, width)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=rounds)
    bar = tqdm(range(rounds), desc="reversing", unit="batch", disable=None)
    for _ in bar:
        x = torch.tensor(rng.integers(10, size=(64, length)))
        loss = F.cross_entropy(model(x).flatten(0, 1), x.flip(1).flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        bar.set_postfix(loss=f"{loss.item():.4f}")
    model.eval()
    x = torch.tensor(np.random.default_rng(10_000).integers(10, size=(2000, length)))
    with torch.no_grad():
        found = model(x).argmax(dim=-1)
    exact = (found == x.flip(1)).all(dim=1).float().mean().item()
    print(f"{x[0].tolist()} -> {found[0].tolist()}")
    print(f"new sequences of {length} digits reversed without an error: {exact:.2%}")
    return exact


if __name__ == "__main__":
    main()
