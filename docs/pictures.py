"""Makes the pictures in docs/images, by funcgrad or matplotlib: `python docs/pictures.py [NAMES]`."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import funcgrad as fg

IMAGES = Path(__file__).parent / "images"
FIGURES = Path(__file__).parent / "figures.md"
SCALING = Path(__file__).parent / "scaling.md"
INK, MUTED, BLUE, RED, GREEN = "#0f172a", "#475569", "#2a6fbb", "#c23b5a", "#2e9e6b"


# ---- drawn by draw() ---------------------------------------------------------------------------------------------------------
def layer(w: Any, b: Any, x: Any, y: Any) -> Any:
    """A layer of a network, and its loss."""
    h = np.tanh(x @ w + b)
    return np.mean((h - y) ** 2)


def last_state(w: Any, u: Any, xs: Any) -> Any:
    """A recurrent network."""
    h = np.zeros(4)
    for t in range(20):
        h = np.tanh(w @ h + u @ xs[t])
    return np.sum(h)


def descent(x: Any) -> Any:
    """Four steps downhill, with a gradient inside."""

    def energy(x: Any) -> Any:
        return np.sum(np.cos(x) + x**4)

    for _ in range(4):
        x = x - 0.1 * fg.grad(energy)(x)
    return x


def loss(w: Any, x: Any, y: Any) -> Any:
    """The logistic loss of one example."""
    return np.log1p(np.exp(-y * (x @ w)))


def drawn() -> None:
    """The pictures of docs/drawing.md, and of the README."""
    args = np.ones((4, 8)), np.zeros(8), np.ones((32, 4)), np.ones((32, 8))
    layer.__name__ = "loss"
    fg.draw(layer)(*args).save(IMAGES / "draw_layer.svg")
    fg.draw(layer, backward=True)(*args).save(IMAGES / "draw_backward.svg")
    fg.draw(last_state)(np.ones((4, 4)), np.ones((4, 3)), np.ones((20, 3))).save(IMAGES / "draw_folded.svg")
    fg.draw(descent)(np.ones(3)).save(IMAGES / "draw_nested.svg")
    fg.draw(loss)(np.zeros(2), np.ones(2), 1.0).save(IMAGES / "readme.svg")


def standardized(x: Any) -> Any:
    """Rows of mean 0 and variance 1."""
    return (x - np.mean(x, axis=1, keepdims=True)) / np.sqrt(np.var(x, axis=1, keepdims=True) + 1e-5)


def mixed(w: Any, b: Any, x: Any) -> Any:
    """A layer, standardized."""
    return np.tanh(standardized(x @ w + b))


def network(layers: Any, x: Any) -> Any:
    """Some layers, and what is to be small."""
    for w, b in layers:
        x = mixed(w, b, x)
    return np.sum(x**2)


def live() -> dict[str, str]:
    """The live pictures of docs/drawing.md."""
    rng = np.random.default_rng(0)
    layers = [(rng.normal(size=(64, 64)), np.zeros(64)) for _ in range(4)]
    state = fg.draw(last_state)(rng.normal(size=(4, 4)), rng.normal(size=(4, 3)), rng.normal(size=(20, 3)))
    return {
        "draw_live": state.to_html(),
        "trace_live": fg.trace(network)(layers, rng.normal(size=(256, 64))).to_html(),
    }


# ---- the picture of docs/concepts.md -----------------------------------------------------------------------------------------
PLACES = {"x": (70, 40), "a": (130, 120), "out": (70, 200)}
STEPS = (("x", "a", "sin"), ("x", "out", ""), ("a", "out", "multiply"))


def disc(x: float, y: float, text: str, below: str, colour: str) -> str:
    """A value: its name, and what it is."""
    return (
        f'<circle cx="{x}" cy="{y}" r="24" fill="#ffffff" stroke="{colour}" stroke-width="1.6"/>'
        f'<text x="{x}" y="{y - 2}" font-weight="600" fill="{INK}">{text}</text>'
        f'<text x="{x}" y="{y + 12}" font-size="10" fill="{MUTED}">{below}</text>'
    )


def line(begin: tuple[float, float], end: tuple[float, float], text: str, colour: str) -> str:
    """An arrow between two discs, with a word beside it."""
    (x0, y0), (x1, y1) = begin, end
    length = float(np.hypot(x1 - x0, y1 - y0))
    dx, dy = (x1 - x0) / length, (y1 - y0) / length
    x0, y0, x1, y1 = x0 + 25 * dx, y0 + 25 * dy, x1 - 27 * dx, y1 - 27 * dy
    tip = f"M{x1 + 2 * dx:.1f} {y1 + 2 * dy:.1f}l{-7 * dx - 4 * dy:.1f} {-7 * dy + 4 * dx:.1f}l{8 * dy:.1f} {-8 * dx:.1f}z"
    return (
        f'<path d="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}" stroke="{colour}" stroke-width="1.4"/><path d="{tip}" fill="{colour}"/>'
        f'<text x="{(x0 + x1) / 2 + 9:.1f}" y="{(y0 + y1) / 2 + 4:.1f}" font-size="11" text-anchor="start" '
        f'fill="{colour}">{text}</text>'
    )


def concepts() -> None:
    """Values, a push and a pull through f(x) = x sin(x), side by side."""
    x, a, cosine = 2.0, np.sin(2.0), np.cos(2.0)
    t_a, slope = cosine, a + x * cosine
    panels = [
        ("Values", BLUE, False, (f"{x:.2f}", f"{a:.2f}", f"{x * a:.2f}"), ("sin", "", "multiply")),
        (
            "push: tangents",
            GREEN,
            False,
            ("t 1.00", f"t {t_a:.2f}", f"t {slope:.2f}"),
            ("× cos x", "× a", "× x"),
        ),
        (
            "pull: cotangents",
            RED,
            True,
            (f"ct {slope:.2f}", f"ct {x:.2f}", "ct 1.00"),
            ("× cos x", "× a", "× x"),
        ),
    ]
    parts = []
    for k, (title, colour, back, values, words) in enumerate(panels):
        parts.append(f'<g transform="translate({k * 205} 30)">')
        parts.append(
            f'<text x="12" y="-8" text-anchor="start" font-weight="600" fill="{colour}">{title}</text>'
        )
        for (begin, end, _), word in zip(STEPS, words, strict=True):
            ends = (PLACES[begin], PLACES[end])
            parts.append(line(*(ends[::-1] if back else ends), word, colour))
        parts += [
            disc(*PLACES[name], name, value, colour) for name, value in zip(PLACES, values, strict=True)
        ]
        parts.append("</g>")
    head = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="600" height="275" viewBox="0 0 600 275" text-anchor="middle" '
        "font-size=\"13\" font-family=\"system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif\">"
        '<rect width="100%" height="100%" fill="#ffffff" rx="6"/>'
    )
    (IMAGES / "concepts.svg").write_text(f"{head}\n{chr(10).join(parts)}</svg>\n", encoding="utf-8")


# ---- the charts of docs/performance.md ---------------------------------------------------------------------------------------
LOOKS = {
    "funcgrad": ("D", BLUE, 8), "torch": ("o", "#e07a1f", 6), "autograd": ("s", GREEN, 5.5), "jax": ("^", "#7b5ab6", 6.5),
    "mygrad": ("v", "#5f6b76", 6.5),
}  # fmt: skip


def table() -> tuple[list[str], list[dict[str, str]]]:
    """The head and the rows of docs/figures.md."""
    lines = re.findall(r"^\| (.+) \|$", FIGURES.read_text(encoding="utf-8"), re.MULTILINE)
    cells = [[cell.strip().strip("*") for cell in line.split(" | ")] for line in lines]
    return cells[0], [dict(zip(cells[0], row, strict=True)) for row in cells[1:]]


def against_hand_written(row: dict[str, str]) -> bool:
    """Is this a time, measured against a gradient that was written by hand?"""
    return row["ratio to"] == "hand-written"


def number(text: str) -> float:
    """A figure of the table; NaN for a dash."""
    return float("nan") if text in ("-", "") else float(text)


def performance() -> None:
    """Times as ratios to hand-written gradients, for each library, on one logarithmic axis."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "funcgrad", "font.size": 10})
    from matplotlib import pyplot as plt

    head, rows = table()
    rows = [row for row in rows if against_hand_written(row)][::-1]
    names = [name for name in LOOKS if name in head]
    figure, ax = plt.subplots(figsize=(6.4, 0.4 * len(rows) + 1.3), layout="constrained")
    for y, row in enumerate(rows):
        found = [number(row[name]) for name in names]
        ax.plot([np.nanmin(found), np.nanmax(found)], [y, y], color="#cbd5e1", lw=1.2, zorder=1)
    for name in names[::-1]:
        marker, colour, size = LOOKS[name]
        ratios = [number(row[name]) for row in rows]
        ax.plot(ratios, range(len(rows)), marker, color=colour, ms=size, label=name, mec="white", mew=0.6)
    ax.axvline(1, color=INK, lw=0.9)
    ax.set_yticks(range(len(rows)), [row["problem"] for row in rows])
    ax.set(xscale="log", xlabel="ratio to a gradient written by hand")
    ticks = (1, 2, 5, 10, 20, 50, 100, 200, 500)
    ax.set_xticks(ticks, map(str, ticks))
    ax.minorticks_off()
    ax.grid(axis="x", color="#e2e8f0", lw=0.7)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], ncols=len(names), loc="outside upper center", frameon=False)
    digest = hashlib.sha256(FIGURES.read_bytes()).hexdigest()[:12]
    figure.savefig(
        IMAGES / "performance.svg", metadata={"Date": None, "Description": f"docs/figures.md {digest}"}
    )
    plt.close(figure)


def scaling() -> None:
    """Compiled functions against the length of the program and the size of the arrays."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "funcgrad", "font.size": 10})
    from matplotlib import pyplot as plt

    text = SCALING.read_text(encoding="utf-8")
    figure, axes = plt.subplots(1, 2, figsize=(8.2, 3.4), layout="constrained", sharey=True)
    looks = {"eager": ("o", MUTED), "record": ("s", GREEN), "compile": ("^", RED), "call": ("D", BLUE)}
    for ax, lines, label in zip(axes, text.split("\n\n"), ("steps in the program", "elements of the arrays")):
        head, _, *rows = [line.strip("| ").split(" | ") for line in lines.strip().splitlines()]
        columns = [*zip(*[[float(cell.replace(",", "")) for cell in row] for row in rows])]
        for name, times in zip(head[1:], columns[1:], strict=True):
            marker, colour = looks[name.removesuffix(", us")]
            ax.plot(
                columns[0], times, marker, ls="-", color=colour, lw=1, ms=5, label=name.removesuffix(", us")
            )
        ax.set(xscale="log", yscale="log", xlabel=label)
        ax.grid(color="#e2e8f0", lw=0.7)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("microseconds")
    axes[0].legend(frameon=False)
    figure.savefig(IMAGES / "scaling.svg", metadata={"Date": None})
    plt.close(figure)


def home() -> None:
    """The pictures of the home page."""
    import pictures_home

    pictures_home.home(table()[1], LOOKS)


MAKERS: dict[str, Callable[[], None]] = {
    "drawn": drawn, "concepts": concepts, "performance": performance, "scaling": scaling, "home": home,
}  # fmt: skip

if __name__ == "__main__":
    for name in sys.argv[1:] or MAKERS:
        MAKERS[name]()
