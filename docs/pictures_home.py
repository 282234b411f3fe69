"""The small pictures of the docs' home page; `python docs/pictures.py home` makes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

import funcgrad.torch as torch
from funcgrad import adapt, elementwise_grad, grad, jacobian, vmap
from funcgrad.scipy import optimize

mpl.use("Agg")
from matplotlib import pyplot as plt

IMAGES = Path(__file__).parent / "images"
INK, BLUE, RED, GREEN, ORANGE = "#0f172a", "#2a6fbb", "#c23b5a", "#2e9e6b", "#e07a1f"
LOOK = {
    "svg.fonttype": "none", "svg.hashsalt": "funcgrad", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False,
    "axes.edgecolor": "#94a3b8", "axes.labelcolor": "#475569", "xtick.color": "#475569", "ytick.color": "#475569",
    "lines.linewidth": 1.8, "legend.frameon": False, "legend.handlelength": 1.2,
}  # fmt: skip


def save(figure: Any, name: str) -> None:
    """As SVG that is the same each time."""
    figure.savefig(IMAGES / f"home_{name}.svg", metadata={"Date": None})
    plt.close(figure)


def axes() -> Any:
    """A figure of the size of a card."""
    return plt.subplots(figsize=(3.6, 1.4), layout="constrained")


def derivatives() -> None:
    """A function and what grad makes of it, twice."""
    figure, ax = axes()
    f = lambda x: np.sin(x) ** 2 * np.exp(-x / 6)
    x = np.linspace(0.0, 9.0, 300)
    for label, colour in (("f", BLUE), ("f′", RED), ("f″", GREEN)):
        ax.plot(x, f(x), color=colour, label=label)
        f = elementwise_grad(f)
    ax.axhline(0, color="#cbd5e1", lw=0.8, zorder=0)
    ax.set(xlim=(0, 9), yticks=[-1, 0, 1])
    ax.legend(loc="lower right", ncols=3)
    save(figure, "derivatives")


@adapt
def sick(r: Any) -> Any:
    """An array that is filled step by step."""
    s = np.full(60, 0.001)
    for t in range(59):
        s[t + 1] = s[t] * (1 + r - r * s[t])
    return s


def loops() -> None:
    """The infected, and how much a higher rate would change."""
    figure, ax = axes()
    ax.plot(sick(0.25), color=BLUE, label="infected")
    ax.set(xlim=(0, 59), ylim=(0, 1.1), xlabel="day", yticks=[0, 1])
    other = ax.twinx()
    other.plot(jacobian(sick)(0.25), color=RED, label="d infected / d rate")
    other.spines["right"].set_visible(False)
    other.set(yticks=[], ylim=(0, 9.5))
    handles = [*ax.get_legend_handles_labels()[0], *other.get_legend_handles_labels()[0]]
    ax.legend(handles, [h.get_label() for h in handles], loc="upper left")
    save(figure, "loops")


def batches() -> None:
    """Where each example wants the line to go: its own gradient."""
    figure, ax = axes()
    rng = np.random.default_rng(3)
    y = np.repeat([-1.0, 1.0], 14)
    x = rng.normal(size=(28, 2)) * [1.0, 0.8] + y[:, None] * [1.0, 0.4]
    pulls = -vmap(grad(lambda w, x, y: np.log1p(np.exp(-y * (x @ w)))), (None, 0, 0))(np.zeros(2), x, y)
    for sign, colour in ((-1, ORANGE), (1, BLUE)):
        of = y == sign
        ax.plot(*x[of].T, "o", color=colour, ms=4, label=f"y = {sign:+d}")
        ax.quiver(
            *x[of].T,
            *pulls[of].T,
            color=colour,
            alpha=0.6,
            width=0.006,
            angles="xy",
            scale_units="xy",
            scale=1.2,
        )
    ax.set(xticks=[], yticks=[], xlim=(-4.6, 4.2))
    ax.legend(loc="lower right", handletextpad=0.1)
    save(figure, "batches")


def rosenbrock(x: Any) -> Any:
    """The banana."""
    return (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2


def optimizers() -> None:
    """The way of an optimizer that gets the exact Hessian, and of one that gets the gradient alone."""
    figure, ax = axes()
    gx, gy = np.meshgrid(np.linspace(-1.6, 1.4, 160), np.linspace(-0.4, 2.2, 120))
    ax.contour(gx, gy, np.log1p(rosenbrock(np.stack([gx, gy]))), 11, colors="#cbd5e1", linewidths=0.7)
    for method, colour in (("CG", ORANGE), ("trust-exact", BLUE)):
        path = [np.array([-1.2, 1.0])]
        jac = grad(rosenbrock) if method == "CG" else None  # the other one is given both
        follow = lambda x, path=path: path.append(np.copy(x))
        found = optimize.minimize(rosenbrock, path[0], method=method, jac=jac, callback=follow)
        ax.plot(
            *np.transpose(path),
            "o-",
            color=colour,
            ms=2.5,
            lw=1.1,
            label=f"{method}: {found.nit} steps, {found.nfev} calls",
        )
    ax.set(xticks=[], yticks=[], xlim=(-1.6, 1.4), ylim=(-0.4, 2.2))
    ax.legend(loc="upper center", fontsize=7.5, labelspacing=0.2)
    save(figure, "optimizers")


def tensors() -> None:
    """A network of funcgrad.torch that tells two spirals apart."""
    figure, ax = axes()
    torch.manual_seed(0)
    t = torch.linspace(0.6, 7.0, 120)
    arm = torch.stack([t * torch.cos(t), t * torch.sin(t)], 1) / 7
    x, y = torch.cat([arm, -arm]), torch.cat([torch.zeros(120), torch.ones(120)])
    model = torch.nn.Sequential(
        torch.nn.Linear(2, 32),
        torch.nn.Tanh(),
        torch.nn.Linear(32, 32),
        torch.nn.Tanh(),
        torch.nn.Linear(32, 1),
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(600):
        optimizer.zero_grad()
        torch.nn.functional.binary_cross_entropy_with_logits(model(x)[:, 0], y).backward()
        optimizer.step()
    gx, gy = np.meshgrid(np.linspace(-1.9, 1.9, 150), np.linspace(-1.05, 1.05, 90))
    points = torch.tensor(np.column_stack([gx.ravel(), gy.ravel()]), dtype=torch.float32)
    field = model(points).detach().numpy().reshape(gx.shape)
    ax.contourf(gx, gy, field, [-1e9, 0, 1e9], colors=["#fde3cc", "#d3e4f5"])
    ax.plot(*x[:120].numpy().T, "o", color=ORANGE, ms=2.5, label="one arm")
    ax.plot(*x[120:].numpy().T, "o", color=BLUE, ms=2.5, label="the other")
    ax.set(xticks=[], yticks=[], aspect="equal", xlim=(-1.9, 1.9), ylim=(-1.05, 1.05))
    ax.legend(loc="upper left", handletextpad=0.1, fontsize=8)
    save(figure, "tensors")


SHOWN = {
    "MLP 10-32-32-1, batch 32": "small network", "RNN 4-16-1, 20 steps, batch 8": "recurrent network",
    "MLP 784-512-512-10 (tanh), batch 256": "large network", "logistic regression 50,000 x 50": "regression",
}  # fmt: skip


def speed(rows: list[dict[str, str]], looks: dict[str, tuple[str, str, float]]) -> None:
    """Four rows of docs/figures.md."""
    figure, ax = axes()
    chosen = [row for name in SHOWN for row in rows if row["problem"] == name][::-1]
    for name, (_, colour, _) in [*looks.items()][3::-1]:
        place = [*looks].index(name)
        ratios = [float(row[name]) for row in chosen]
        ax.barh(np.arange(len(chosen)) + 0.3 - 0.2 * place, ratios, 0.18, color=colour, label=name)
    ax.axvline(1, color=INK, lw=0.9)
    ax.set(
        xscale="log",
        xlim=(0.8, 3000),
        yticks=range(len(chosen)),
        xticks=[1, 10, 100],
        xlabel="× the time of code written by hand",
    )
    ax.set_xticklabels(["1", "10", "100"])
    ax.set_yticklabels([SHOWN[row["problem"]] for row in chosen])
    ax.minorticks_off()
    handles, labels = ax.get_legend_handles_labels()
    ax.legend(handles[::-1], labels[::-1], loc="lower right", fontsize=7.5, labelspacing=0.2)
    save(figure, "speed")


def home(rows: list[dict[str, str]], looks: dict[str, tuple[str, str, float]]) -> None:
    """All six."""
    with mpl.rc_context(LOOK):
        for make in (derivatives, loops, batches, optimizers, tensors):
            make()
        speed(rows, looks)
