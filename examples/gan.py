"""A Wasserstein GAN learns eight heaps of points on a circle; a gradient penalty keeps its critic smooth.

    python examples/gan.py [--short] [--seed N] [--picture PATH]

The penalty is a loss on a gradient: training the critic differentiates a derivative. How far the generated
points are from the data is measured by the sliced Wasserstein distance, which no part of the training sees.
The method is from I. Gulrajani et al., "Improved Training of Wasserstein GANs", NeurIPS 2017.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from tqdm import tqdm

import funcgrad.torch as torch
from funcgrad.torch import nn


def heaps(rng: np.random.Generator, n: int) -> np.ndarray:
    """`n` points (n, 2) around eight centres on the unit circle."""
    angle = rng.integers(8, size=n) * (np.pi / 4)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1) + 0.05 * rng.normal(size=(n, 2))


def distance(x: np.ndarray, y: np.ndarray, directions: int = 64) -> float:
    """The sliced Wasserstein distance of two sets of equal size: that of their shadows, over directions."""
    angle = np.arange(directions) * (np.pi / directions)
    shadow = np.stack([np.cos(angle), np.sin(angle)])
    return float(np.mean(np.abs(np.sort(x @ shadow, axis=0) - np.sort(y @ shadow, axis=0))))


def network(inputs: int, outputs: int, width: int) -> nn.Sequential:
    """Two hidden layers."""
    return nn.Sequential(
        nn.Linear(inputs, width),
        nn.LeakyReLU(0.1),
        nn.Linear(width, width),
        nn.LeakyReLU(0.1),
        nn.Linear(width, outputs),
    )


def penalty(critic: nn.Module, real: torch.Tensor, fake: torch.Tensor) -> torch.Tensor:
    """How far the critic's slope is from 1, at points between real and generated ones."""
    share = torch.rand(len(real), 1)
    between = (share * real + (1 - share) * fake).requires_grad_()
    (slope,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    return ((slope.norm(dim=1) - 1) ** 2).mean()


def train(generator: nn.Module, critic: nn.Module, rng: np.random.Generator, rounds: int) -> list[float]:
    """Five steps of the critic for each of the generator; the distance to the data, ten times on the way."""
    betas = (0.5, 0.9)
    of_generator = torch.optim.Adam(generator.parameters(), lr=5e-4, betas=betas)
    of_critic = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=betas)
    distances = [distance(heaps(rng, 2000), points(generator, 2000))]
    bar = tqdm(range(1, rounds + 1), desc="imitating", unit="round", disable=None)
    for number in bar:
        for _ in range(5):
            real = torch.tensor(heaps(rng, 128).astype(np.float32))
            fake = generator(torch.randn(128, 2)).detach()
            loss = critic(fake).mean() - critic(real).mean() + penalty(critic, real, fake)
            of_critic.zero_grad()
            loss.backward()
            of_critic.step()
        loss = -critic(generator(torch.randn(128, 2))).mean()
        of_generator.zero_grad()
        loss.backward()
        of_generator.step()
        if number % max(1, rounds // 10) == 0:
            distances.append(distance(heaps(rng, 2000), points(generator, 2000)))
            bar.set_postfix(distance=f"{distances[-1]:.3f}")
    return distances


def points(generator: nn.Module, n: int) -> np.ndarray:
    """`n` generated points (n, 2)."""
    with torch.no_grad():
        return generator(torch.randn(n, 2)).numpy()


def draw(path: Path, generator: nn.Module, rng: np.random.Generator) -> None:
    """Data and generated points side by side."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4), layout="constrained")
    for axes, title, cloud in zip(
        figure.subplots(1, 2), ("data", "generated"), (heaps(rng, 1000), points(generator, 1000))
    ):
        axes.scatter(*cloud.T, s=4)
        axes.set(title=title, xlim=(-1.5, 1.5), ylim=(-1.5, 1.5), aspect="equal")
    figure.savefig(path)


def main(arguments: list[str] | None = None) -> list[float]:
    """Train, print, and return the distances."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--short", action="store_true", help="a small network and few rounds")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--picture", type=Path, help="where to draw data and generated points")
    options = parser.parse_args(arguments)
    width, rounds = (32, 60) if options.short else (128, 1000)
    torch.manual_seed(options.seed)
    rng = np.random.default_rng(options.seed)
    generator, critic = network(2, 2, width), network(2, 1, width)
    distances = train(generator, critic, rng, rounds)
    chance = distance(heaps(rng, 2000), heaps(rng, 2000))
    print(
        f"distance to the data: {' '.join(f'{d:.3f}' for d in distances)} (of the data to itself: {chance:.3f})"
    )
    if options.picture:
        draw(options.picture, generator, rng)
    return distances


if __name__ == "__main__":
    main()
