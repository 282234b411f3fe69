"""The network of digits_cnn.py as pure functions: plain NumPy, `value_and_grad` and a pytree of parameters.

python examples/functional_digits_cnn.py [--short] [--seed N]
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tqdm import tqdm

from funcgrad import optim, value_and_grad


def digits() -> list[Any]:
    """1,797 images (n, 8, 8, 1) with their labels, three quarters to learn from: x, x_test, label, label_test."""
    images, labels = load_digits(return_X_y=True)
    images = (images / 16).astype(np.float32).reshape(-1, 8, 8, 1)
    return train_test_split(images, labels, test_size=0.25, random_state=0, stratify=labels)


def start(rng: np.random.Generator) -> dict[str, Any]:
    """Random weights, scaled to the number of inputs of each unit, and biases of 0."""

    def layer(*shape: int) -> dict[str, Any]:
        inputs = np.prod(shape[:-1])
        weights = rng.normal(size=shape) * np.sqrt(2 / inputs)
        return {"w": weights.astype(np.float32), "b": np.zeros(shape[-1], np.float32)}

    return {"first": layer(3, 3, 1, 16), "second": layer(3, 3, 16, 32), "scores": layer(512, 10)}


def convolution(layer: dict[str, Any], x: Any) -> Any:
    """Images (n, h, w, channels) -> (n, h, w, units): each unit sees 3 x 3 pixels, and zeros beyond the edge."""
    n, h, w, _ = x.shape
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    seen = np.concatenate([padded[:, i : i + h, j : j + w] for i in range(3) for j in range(3)], axis=3)
    weights = layer["w"].reshape(seen.shape[3], -1)
    return (seen.reshape(-1, len(weights)) @ weights + layer["b"]).reshape(n, h, w, -1)


def halved(x: Any) -> Any:
    """The largest of each 2 x 2 pixels."""
    n, h, w, channels = x.shape
    return x.reshape(n, h // 2, 2, w // 2, 2, channels).max(axis=(2, 4))


def scores(params: dict[str, Any], x: Any) -> Any:
    """Ten scores for each image."""
    x = np.maximum(convolution(params["first"], x), 0)
    x = halved(np.maximum(convolution(params["second"], x), 0))
    return x.reshape(len(x), -1) @ params["scores"]["w"] + params["scores"]["b"]


def cross_entropy(params: dict[str, Any], x: Any, label: Any) -> Any:
    """The mean of -log(probability of the right label)."""
    z = scores(params, x)
    z = z - np.max(z, axis=1, keepdims=True)
    return np.mean(np.log(np.sum(np.exp(z), axis=1)) - z[np.arange(len(label)), label])


def main(arguments: list[str] | None = None) -> float:
    """Train, and print the accuracy on the images that were held back; returns it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="train for a moment only")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    rng = np.random.default_rng(options.seed)
    x, x_test, label, label_test = digits()
    epochs, steps = 2 if options.short else 25, len(x) // 32
    optimizer = optim.Adam(lr=lambda step: 2e-3 * (1 - step / (epochs * steps)))
    params = start(rng)
    state, step, losses = optimizer.init(params), value_and_grad(cross_entropy), []
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
    print(f"loss {losses[0]:.4f} -> {losses[-1]:.4f}; accuracy on {len(x_test)} digits never seen: {found:.2%}")
    return found


if __name__ == "__main__":
    main()
