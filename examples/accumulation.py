"""Gradient accumulation: four small batches give the gradient of the whole one; and gradients are clipped.

    python examples/accumulation.py [--short] [--seed N]

Losses that are means are divided by the number of batches: then the gradients that `backward` adds up are
those of the mean over all, and each step of the optimizer is the same up to rounding, while memory is needed
for one small batch only.
"""

from __future__ import annotations

import argparse
import copy

from tqdm import tqdm

import funcgrad.torch as torch
from funcgrad.torch import nn
from funcgrad.torch.nn import functional as F


def gradients(model: nn.Module) -> torch.Tensor:
    """All gradients, as one vector."""
    return torch.cat([p.grad.flatten() for p in model.parameters()])


def accumulate(model: nn.Module, x: torch.Tensor, y: torch.Tensor, parts: int) -> float:
    """Add up the gradients of equal parts of a batch; the loss of the whole."""
    total = 0.0
    for x_part, y_part in zip(x.chunk(parts), y.chunk(parts), strict=True):
        loss = F.mse_loss(model(x_part), y_part) / parts
        loss.backward()
        total += loss.item()
    return total


def main(arguments: list[str] | None = None) -> dict[str, float]:
    """Train one model by whole batches, its copy by parts, side by side; the largest differences seen."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--short", action="store_true", help="some steps only")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    torch.manual_seed(options.seed)
    x = torch.randn(256, 10, dtype=torch.float64)
    y = torch.sin(x.sum(dim=1, keepdim=True))
    whole = nn.Sequential(nn.Linear(10, 64), nn.Tanh(), nn.Linear(64, 1)).double()
    parts = copy.deepcopy(whole)
    steppers = [torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9) for model in (whole, parts)]
    found = {"gradient": 0.0, "norm after clipping": 0.0, "first loss": 0.0, "last loss": 0.0}
    bar = tqdm(range(20 if options.short else 300), desc="adding up", unit="step", disable=None)
    for step in bar:
        for stepper in steppers:
            stepper.zero_grad()
        losses = accumulate(whole, x, y, parts=1), accumulate(parts, x, y, parts=4)
        difference = (gradients(whole) - gradients(parts)).abs().max().item()
        for model in (whole, parts):
            nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.5)
        found["gradient"] = max(found["gradient"], difference)
        found["norm after clipping"] = max(found["norm after clipping"], gradients(parts).norm().item())
        found["first loss" if step == 0 else "last loss"] = losses[1]
        for stepper in steppers:
            stepper.step()
    found["weights"] = max(
        (p - q).abs().max().item() for p, q in zip(whole.parameters(), parts.parameters(), strict=True)
    )
    print(f"loss {found['first loss']:.4f} -> {found['last loss']:.4f}")
    print(
        f"largest difference of a gradient {found['gradient']:.1e}, of a weight at the end {found['weights']:.1e}"
    )
    print(f"largest norm of the gradients after clipping to 0.5: {found['norm after clipping']:.6f}")
    return found


if __name__ == "__main__":
    main()
