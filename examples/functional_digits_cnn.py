"""The network of digits_cnn.py as pure functions: `funcgrad.nn`, `value_and_grad` and a pytree of parameters.

python examples/functional_digits_cnn.py [--short] [--seed N]
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tqdm import tqdm

from funcgrad import nn, optim, value_and_grad


def digits() -> list[Any]:
    """1,797 labelled images (n, 1, 8, 8), three quarters to learn from: x, x_test, label, label_test."""
    images, labels = load_digits(return_X_y=True)
    images = (images / 16).astype(np.float32).reshape(-1, 1, 8, 8)
    return train_test_split(images, labels, test_size=0.25, random_state=0, stratify=labels)


def start(rng: np.random.Generator) -> dict[str, Any]:
    """Random kernels, scaled to the number of inputs of each unit, and biases of 0."""

    def layer(inputs: int, units: int, *shape: int) -> dict[str, Any]:
        kernel = rng.normal(size=shape) * np.sqrt(2 / inputs)
        return {"kernel": kernel.astype(np.float32), "bias": np.zeros(units, np.float32)}

    return {
        "first": layer(9, 16, 16, 1, 3, 3),
        "second": layer(16 * 9, 32, 32, 16, 3, 3),
        "scores": layer(512, 10, 512, 10),
    }


def scores(params: dict[str, Any], x: Any) -> Any:
    """Ten scores for each image."""
    x = nn.relu(nn.conv(x, **params["first"], padding="same"))
    x = nn.relu(nn.conv(x, **params["second"], padding="same"))
    x = nn.max_pool(x, (2, 2))
    return nn.linear(x.reshape(len(x), -1), **params["scores"])


def loss_of(params: dict[str, Any], x: Any, label: Any) -> Any:
    """The mean of -log(probability of the right label)."""
    return nn.cross_entropy(scores(params, x), label)


def main(arguments: list[str] | None = None) -> float:
    """Train, and print the accuracy on the images that were held back; returns it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--short", action="store_true", help="train for a moment only")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    rng = np.random.default_rng(options.seed)
    x, x_test, label, label_test = digits()
    epochs, steps = 2 if options.short else 25, len(x) // 32
    optimizer = optim.Adam(lr=lambda step: 2e-3 * (1 - step / (epochs * steps)))
    params = start(rng)
    state, step, losses = optimizer.init(params), value_and_grad(loss_of), []
    bar = tqdm(range(epochs), desc="training", unit="epoch", disable=None)
    for _ in bar:
        total = 0.0
        for batch in np.array_split(rng.permutation(len(x)), steps):
            loss, gradients = step(params, x[batch], label[batch])
            params, state = optimizer.update(gradients, state, params)
            total += float(loss) * len(batch)
        losses.append(total / len(x))
        bar.set_postfix(loss=f"{losses[-1]:.4f}")
    found = float(np.mean(np.argmax(scores(params, x_test), axis=1) == label_test))
    print(
        f"loss {losses[0]:.4f} -> {losses[-1]:.4f}; accuracy on {len(x_test)} digits never seen: {found:.2%}"
    )
    return found


if __name__ == "__main__":
    main()
