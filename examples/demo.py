"""What funcgrad does, in under a minute: derivatives of plain NumPy code, and two models fitted to real data.

make demo        or        python examples/demo.py [--quick] [--picture PATH]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from scipy.optimize import minimize
from sklearn.datasets import load_digits, load_iris
from sklearn.model_selection import train_test_split
from tqdm import tqdm

from funcgrad import grad, tree, value_and_grad, vmap

mpl.use("Agg")
from matplotlib import pyplot as plt

NAMES = ("f", "f'", "f''", "f'''", "f''''")


# ---- 1. derivatives of any order -------------------------------------------------------------------------------------
def wave(x: Any) -> Any:
    """A damped wave, in plain NumPy."""
    return np.exp(-x / 2) * np.sin(2 * x)


def exact(order: int, x: Any) -> Any:
    """Its derivative of order n: the wave is the imaginary part of exp(c x), so that of c^n exp(c x)."""
    c = complex(-0.5, 2)
    return (c**order * np.exp(c * x)).imag


def derivatives(x: float = 0.7) -> list[Any]:
    """f and its first four derivatives as functions; prints them at `x` beside the exact ones."""
    functions: list[Any] = [wave]
    for _ in range(4):
        functions.append(grad(functions[-1]))
    print(f"1. f(x) = exp(-x/2) sin(2x) at x = {x}: grad, and grad of grad, and so on\n")
    print(f"   {'':<7}{'funcgrad':>20}{'exact':>20}{'difference':>14}")
    for order, (name, function) in enumerate(zip(NAMES, functions, strict=True)):
        found, expected = function(x), exact(order, x)
        print(f"   {name:<7}{found:>20.15f}{expected:>20.15f}{abs(found - expected):>14.1e}")
    return functions


# ---- 2. a classifier -------------------------------------------------------------------------------------------------
def scores(params: Any, x: Any) -> Any:
    """A network with one hidden layer: ten scores for each image."""
    h = np.tanh(x @ params["hidden"]["w"] + params["hidden"]["b"])
    return h @ params["out"]["w"] + params["out"]["b"]


def cross_entropy(params: Any, x: Any, label: Any) -> Any:
    """The mean of -log(probability of the right label)."""
    z = scores(params, x)
    z = z - np.max(z, axis=1, keepdims=True)
    return np.mean(np.log(np.sum(np.exp(z), axis=1)) - z[np.arange(len(label)), label])


def digits() -> list[Any]:
    """scikit-learn's 1,797 handwritten digits as (train images, test images, train labels, test labels)."""
    images, labels = load_digits(return_X_y=True)
    return train_test_split(images / 16, labels, test_size=0.25, random_state=0, stratify=labels)


def train(epochs: int, seed: int = 0) -> tuple[list[float], float]:
    """Gradient descent with momentum on the digits: (loss after each epoch, accuracy on unseen images)."""
    x, x_test, label, label_test = digits()
    rng = np.random.default_rng(seed)
    params: Any = {
        "hidden": {"w": rng.normal(size=(64, 64)) / 8, "b": np.zeros(64)},
        "out": {"w": rng.normal(size=(64, 10)) / 8, "b": np.zeros(10)},
    }
    print(f"\n2. A network written in NumPy learns to read {len(x)} handwritten digits\n")
    velocity = tree.map(np.zeros_like, params)
    step = value_and_grad(cross_entropy)
    losses = []
    bar = tqdm(range(epochs), desc="   training", unit="epoch", ncols=88, file=sys.stdout)
    for _ in bar:
        total = 0.0
        for batch in np.array_split(rng.permutation(len(x)), len(x) // 32):
            loss, gradient = step(params, x[batch], label[batch])
            velocity = tree.map(lambda v, ct: 0.9 * v - 0.05 * ct, velocity, gradient)
            params = tree.map(np.add, params, velocity)
            total += loss * len(batch)
        losses.append(total / len(x))
        bar.set_postfix(loss=f"{losses[-1]:.4f}")
    accuracy = float(np.mean(np.argmax(scores(params, x_test), axis=1) == label_test))
    print(f"   accuracy on the {len(x_test)} digits that it has not seen: {accuracy:.1%}")
    return losses, accuracy


# ---- 3. a curve, by scipy.optimize -----------------------------------------------------------------------------------
def growth(params: Any, x: Any) -> Any:
    """The logistic curve that levels off at params[0]."""
    height, slope, middle = params
    return height / (1 + np.exp(-slope * (x - middle)))


def fit() -> tuple[Any, Any, Any, Any]:
    """A growth curve through R. A. Fisher's 150 irises: (petal length, petal width, species, parameters)."""
    iris = load_iris()
    length, width = iris.data[:, 2], iris.data[:, 3]

    def squares(params: Any) -> Any:
        return np.sum((growth(params, length) - width) ** 2)

    start = np.array([2.0, 1.0, 4.0])
    found = minimize(value_and_grad(squares), start, jac=True, method="BFGS")
    line = np.sum((np.polyval(np.polyfit(length, width, 1), length) - width) ** 2)
    height, slope, middle = found.x
    print(
        "\n3. Irises, petal width from length: scipy.optimize.minimize(value_and_grad(squares), start, jac=True)\n"
    )
    print(
        f"   width = {height:.3f} / (1 + exp(-{slope:.3f} (length - {middle:.3f}))), after {found.nfev} evaluations"
    )
    print(f"   sum of squares: {found.fun:.3f} (a straight line has {line:.3f})")
    return length, width, iris.target, found.x


# ---- the picture -----------------------------------------------------------------------------------------------------
def draw(path: Path, functions: list[Any], losses: list[float], flowers: tuple[Any, Any, Any, Any]) -> None:
    """The curves, the loss and the fit, side by side."""
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(14, 4), layout="constrained")
    x = np.linspace(0, 6, 400)
    for name, function in zip(NAMES, functions, strict=True):
        left.plot(x, vmap(function)(x), label=name)
    left.set(title="exp(-x/2) sin(2x) and four derivatives", xlabel="x")
    left.legend()
    middle.semilogy(range(1, len(losses) + 1), losses)
    middle.set(title="handwritten digits", xlabel="epoch", ylabel="training loss")
    length, width, species, params = flowers
    right.scatter(length, width, c=species, s=12)
    grid = np.linspace(length.min(), length.max(), 200)
    right.plot(grid, growth(params, grid), color="black")
    right.set(title="irises", xlabel="petal length (cm)", ylabel="petal width (cm)")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)
    print(f"\nThe picture: {path.resolve()}")


NEXT = """
Where to go next
   docs/getting_started.md   the first ten minutes          docs/tour.md          how one call of grad works
   docs/conventions.md       kinks, complex numbers, ...    docs/errors.md        what each error wants to tell you
   make docs                 all of it as a web site        make bench            the speed, beside other libraries
"""


def main(arguments: list[str] | None = None) -> float:
    """Run the three parts; the accuracy of the classifier."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="train for a moment only")
    parser.add_argument(
        "--picture", type=Path, default=Path("build/demo.png"), help="where to write the picture"
    )
    options = parser.parse_args(arguments)
    functions = derivatives()
    losses, accuracy = train(epochs=4 if options.quick else 40)
    draw(options.picture, functions, losses, fit())
    print(NEXT)
    return accuracy


if __name__ == "__main__":
    main()
