"""Random programs with branches, eagerly and compiled: `python -m tests.fuzz.compiled 1000 --seed 0`.

A program computes with an array x and an integer n, and with what it closes over: an array and a number, which
change between the calls. It goes ways that depend on all of these; with each call it may meet a new one. Its
value, its gradient and its gradient inside a larger function have to agree with the eager ones, bit for bit up
to rounding, call after call. What is printed: each program that disagrees, and counts.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import numpy as np

import funcgrad as fg
from funcgrad import jit, tree
from funcgrad.errors import FuncgradError

CALLS = 10
VALUES = [
    "x.sum()", "x[0]", "np.max(x)", "x[1] * n", "np.abs(x).mean() - 0.7", "float(np.round(x[2]))", "held[0] * x[-1]",
    "scale - x[1]", "len(x[x > 0]) - 2.5", "(x @ held) / 4", "np.median(x)", "x.reshape(2, 2)[1, 0]", "int(x[0] * 3)",
]  # fmt: skip
STATEMENTS = [
    "x = np.sin(x) + 0.1 * n", "x = x * 1.5 - x[::-1]", "x = np.where(x > 0, x, 0.5 * x) - 0.2", "x = np.tanh(x * held)",
    "x = x + scale", "x[0] = x[1] * 2", "x[1:] += x[:-1] * 0.5", "x[::2] *= scale", "v = x[1:3];v += 0.25",
    "v = x.reshape(2, 2);v[0] = v[1] - 0.1;x = v.T.reshape(-1)", "x = np.concatenate([x[2:], x[:2] * n])",
    "x[x > 0.3] -= 0.2", "x = x - np.mean(x)", "x = np.maximum(x, held * 0.3)", "x = np.sqrt(np.abs(x) + 0.1)",
    "y = np.zeros_like(x);y[n] = x[0];x = x + y", "x = np.cumsum(x) * 0.4", "x = x / (1 + np.abs(x).max())",
    "x = np.exp(-x * x) + x", "x = np.clip(x, -0.8, 0.9)", "x = x[np.argsort(x)]", "x = sum([x * k for k in range(n)], x)",
    "rows = [x * 0.5, x + 1.0];x = np.stack(rows)[n % 2]", "x = np.outer(x, x)[n % 4]", "x = helped(x, n)",
    "x = x * (1 if n > 1 else -1)", "x = np.multiply(x, 2.0, out=np.zeros_like(x)) * 0.5", "x = x.astype(np.float64) * 0.9",
    "x = np.add.reduce(np.array([x[::-1], x * 2]) if False else [x[::-1], x * 2]) * 0.3",
]  # fmt: skip
HEAD = """
held, scale = np.array([0.5, -1.0, 2.0, 0.25]), 1.5
def helped(x, n):
    if x[-1] > scale:
        return x - held
    return x * 0.8 + held.sum() * 0.01
def change(seed):
    global scale
    rng = np.random.default_rng(seed)
    if seed % 3 == 0:
        held[rng.integers(4)] = rng.normal()
    if seed % 4 == 3:
        scale = float(np.round(rng.normal(), 2))
"""


def lines_of(rng: Random, depth: int = 3) -> list[str]:
    """The lines of a function body."""
    value = rng.choice(VALUES)
    lines = [part for _ in range(rng.randint(1, 2)) for part in rng.choice(STATEMENTS).split(";")]
    if depth == 0:
        return lines
    kind = rng.choice(["if", "if", "while", "for", "index", "mask", "try", "and"])
    inner = [f"    {line}" for line in lines_of(rng, depth - 1)]
    if kind in ("if", "and"):
        other = [f"    {line}" for line in lines_of(rng, depth - 1)]
        more = f" and {rng.choice(VALUES)} < {rng.uniform(0, 2):.2f}" if kind == "and" else ""
        return [*lines, f"if {value} > {rng.uniform(-1, 1):.2f}{more}:", *inner, "else:", *other]
    if kind == "while":
        turns = f"turns{depth}"
        head = f"while {value} < 0.5 and {turns} < 3:"
        return [*lines, f"{turns} = 0", head, *inner, f"    x, {turns} = x + 0.3, {turns} + 1"]
    if kind == "for":
        return [*lines, "for _ in range(n):", *inner]
    rest = lines_of(rng, depth - 1)
    if kind == "index":
        return [*lines, "k = int(np.argmax(x))", "x[k] = x[k] * 0.5", *rest]
    if kind == "try":
        return [
            *lines,
            "try:",
            f"    x = x / (1 if {value} > 0 else [][0])",
            "except IndexError:",
            "    x = x + 0.1",
            *rest,
        ]
    return [*lines, "some = x[x > 0.3]", "x = x + some.sum() / (1 + len(some))", *rest]


def text_of(seed: int) -> str:
    """The random program of this seed, and what it closes over, as source."""
    body = "\n".join(f"    {line}" for line in lines_of(Random(seed)))
    return f"{HEAD}\ndef program(x, n):\n    x = x * 1.0\n{body}\n    return x, x.sum()\n"


def space_of(seed: int) -> dict[str, Any]:
    """The names that the program of this seed defines: `program`, `change`, ..."""
    space: dict[str, Any] = {"np": np}
    exec(compile(text_of(seed), f"<program {seed}>", "exec"), space)
    return space


def forms_of(fun: Callable[..., Any]) -> dict[str, tuple[Callable[..., Any], Callable[..., Any]]]:
    """(eager, compiled) functions that are to agree."""

    def loss(f: Any) -> Any:
        return lambda x, n: f(x, n)[1]

    def around(f: Any) -> Any:
        return fg.value_and_grad(lambda x, n: np.sum(f(x * 1.1, n)[0] ** 2) + x[0])

    slope = fg.value_and_grad(loss(fun))
    return {
        "value": (fun, jit(fun)),
        "gradient": (slope, jit(slope)),
        "inside": (around(fun), around(jit(fun))),
        "push": (
            lambda x, n: fg.jvp(lambda x: fun(x, n)[0], (x,), (np.cos(x),)),
            jit(lambda x, n: fg.jvp(lambda x: fun(x, n)[0], (x,), (np.cos(x),))),
        ),
    }


def disagreements(seed: int, calls: int = CALLS) -> Iterator[str]:
    """Where the compiled forms of a program differ from the eager ones."""
    space = space_of(seed)
    rng = np.random.default_rng(seed)
    forms = forms_of(space["program"])
    for call in range(calls):
        x, n = np.round(rng.normal(size=4), 2), int(rng.integers(3))
        for times in range(3 if call % 2 else 1):
            for name, (eager, compiled) in forms.items():
                with np.errstate(all="ignore"):
                    wanted, found = _outcome(eager, x, n), _outcome(compiled, x, n)
                text = difference(found, wanted)
                if text:
                    yield f"{name}, call {call}.{times}, x={x!r}, n={n}: {text}"
        space["change"](seed + call)


def _outcome(fun: Callable[..., Any], x: Any, n: int) -> Any:
    try:
        return fun(x.copy(), n)
    except (FuncgradError, ValueError, IndexError, TypeError, ZeroDivisionError) as error:
        return error


def difference(found: Any, wanted: Any) -> str:
    """How two results differ; nothing, if they agree."""
    if isinstance(wanted, Exception) or isinstance(found, Exception):
        if type(wanted) is type(found):
            return ""
        return f"{found!r} in the place of {wanted!r}"[:500]
    for a, b in zip(tree.leaves(found), tree.leaves(wanted), strict=True):
        if np.shape(a) != np.shape(b) or np.asarray(a).dtype != np.asarray(b).dtype:
            return f"{a!r} in the place of {b!r}"
        if not np.allclose(a, b, rtol=1e-9, atol=1e-9, equal_nan=True):
            return f"{a!r} in the place of {b!r}"
    return ""


def main() -> int:
    """Run as many programs as the command says; 1, if one of them disagrees."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.compiled", description=__doc__)
    parser.add_argument("programs", type=int, nargs="?", default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(options.seed, options.seed + options.programs):
            found = [*disagreements(seed)]
            counts["disagree" if found else "agree"] += 1
            if found:
                print(text_of(seed), *found[:4], sep="\n", flush=True)
            if not counts.total() % 100:
                print(dict(counts), flush=True)
    print(dict(counts))
    return int(counts["disagree"] > 0)


if __name__ == "__main__":
    sys.exit(main())
