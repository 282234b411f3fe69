"""An LSTM learns to continue Alice's Adventures in Wonderland, character by character.

    python examples/characters.py [--short] [--seed N]

The last twentieth of the book is held back. On it the mean number of bits for the next character is printed,
beside that of guessing from frequencies alone; then the model writes a few lines of its own.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
from tqdm import tqdm

import funcgrad.torch as torch
from funcgrad.torch import nn
from funcgrad.torch.nn import functional as F

BOOK = Path(__file__).parent / "data" / "alice.txt"


class Writer(nn.Module):
    """Characters -> scores for the next ones, in the light of all before."""

    def __init__(self, characters: int, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(characters, width // 2)
        self.lstm = nn.LSTM(width // 2, width, batch_first=True)
        self.scores = nn.Linear(width, characters)

    def forward(
        self, x: torch.Tensor, state: tuple[torch.Tensor, torch.Tensor] | None = None
    ) -> tuple[torch.Tensor, tuple]:
        """Scores (n, steps, characters) and the state after the last step, of characters (n, steps)."""
        out, state = self.lstm(self.embedding(x), state)
        return self.scores(out), state


def as_rows(text: np.ndarray, rows: int) -> torch.Tensor:
    """The text in parallel rows of equal length: each is read from left to right."""
    return torch.tensor(text[: len(text) // rows * rows].reshape(rows, -1))


def bits(model: Writer, rows: torch.Tensor, steps: int) -> float:
    """The mean number of bits that the model needs for the next character."""
    total = count = 0
    state = None
    with torch.no_grad():
        for start in range(0, rows.shape[1] - 1, steps):
            target = rows[:, start + 1 : start + steps + 1]
            scores, state = model(rows[:, start : start + target.shape[1]], state)
            total += F.cross_entropy(scores.flatten(0, 1), target.flatten(), reduction="sum").item()
            count += target.numel()
    return total / count / math.log(2)


def train(model: Writer, rows: torch.Tensor, epochs: int, steps: int) -> None:
    """Truncated backpropagation through time: the state goes on to the next stretch, its gradient does not."""
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    stretches = range(0, rows.shape[1] - steps, steps)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 8e-3, total_steps=epochs * len(stretches))
    bar = tqdm(total=epochs * len(stretches), desc="reading", unit="stretch", disable=None)
    for _ in range(epochs):
        state = None
        for start in stretches:
            x, target = rows[:, start : start + steps], rows[:, start + 1 : start + steps + 1]
            scores, state = model(x, state)
            state = tuple(part.detach() for part in state)
            loss = F.cross_entropy(scores.flatten(0, 1), target.flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            bar.update()
            bar.set_postfix(bits=f"{loss.item() / math.log(2):.3f}")
    bar.close()


def write(model: Writer, alphabet: list[str], start: str, length: int, temperature: float = 0.6) -> str:
    """Let the model go on after `start`."""
    text, state = start, None
    given = torch.tensor([[alphabet.index(c) for c in start]])
    with torch.no_grad():
        for _ in range(length):
            scores, state = model(given, state)
            given = torch.multinomial(F.softmax(scores[:, -1] / temperature, dim=-1), 1)
            text += alphabet[int(given.item())]
    return text


def main(arguments: list[str] | None = None) -> float:
    """Train, print, and return the bits for a character never seen."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--short", action="store_true", help="read the beginning only, with a small model")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    torch.manual_seed(options.seed)
    book = BOOK.read_text(encoding="utf-8")
    if options.short:
        book = book[:12_000]
    alphabet = sorted(set(book))
    text = np.array([alphabet.index(c) for c in book])
    frequency = np.bincount(text) / len(text)
    guessing = -np.sum(frequency * np.log2(frequency))
    model = Writer(len(alphabet), 48 if options.short else 128)
    seen, unseen = np.split(text, [len(text) * 19 // 20])
    train(
        model,
        as_rows(seen, 16 if options.short else 32),
        4 if options.short else 20,
        32 if options.short else 64,
    )
    found = bits(model, as_rows(unseen, 1), 100)
    print(f"bits for a character never seen: {found:.3f} (from frequencies alone: {guessing:.3f})")
    print(write(model, alphabet, "Alice was ", 80 if options.short else 500))
    return found


if __name__ == "__main__":
    main()
