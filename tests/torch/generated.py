"""Random programs for torch: lines of code over a few variables, some of them wrong on purpose."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

UNARY = [
    "exp()",
    "sin()",
    "cos()",
    "tanh()",
    "sigmoid()",
    "relu()",
    "abs()",
    "neg()",
    "sqrt()",
    "square()",
    "clone()",
    "floor()",
]
UNARY += [
    "sign()",
    "reciprocal()",
    "exp2()",
    "log1p()",
    "softmax(-1)",
    "log_softmax(0)",
    "cumsum(0)",
    "erf()",
    "atan()",
    "round()",
]
UNARY += [
    "detach()",
    "contiguous()",
    "float()",
    "double()",
    "int()",
    "bool()",
    "isfinite()",
    "clamp(-0.5, 0.5)",
    "clamp(min=0.1)",
]
UNARY += [
    "pow(2)",
    "pow(0.5)",
    "flip(0)",
    "sort(-1)[0]",
    "sort(0).indices",
    "tril()",
    "triu(1)",
    "logsumexp(0)",
    "std()",
    "var(0)",
]
REDUCTIONS = [
    "sum()",
    "mean()",
    "prod()",
    "max()",
    "min()",
    "amax(0)",
    "argmax()",
    "norm()",
    "sum(0)",
    "mean(-1)",
    "std(-1)",
    "any()",
]
REDUCTIONS += [
    "sum(1, keepdim=True)",
    "max(0).values",
    "min(-1)[1]",
    "all()",
    "median()",
    "cumprod(-1)",
    "numel()",
    "count_nonzero()",
]
SHAPES = [
    "reshape(-1)",
    "T",
    "t()",
    "transpose(0, 1)",
    "unsqueeze(0)",
    "unsqueeze(-1)",
    "squeeze()",
    "flatten()",
    "view(-1)",
    "mT",
]
SHAPES += [
    "view(2, -1)",
    "reshape(4, 3)",
    "permute(1, 0)",
    "expand(2, 3, 4)",
    "repeat(2, 1)",
    "chunk(2)[0]",
    "split(2)[1]",
    "ravel()",
]
SHAPES += [
    "unbind(0)[1]",
    "narrow(0, 1, 2)",
    "select(0, 1)",
    "diagonal()",
    "swapaxes(0, 1)",
    "movedim(0, 1)",
    "unfold(0, 2, 1)",
]
INDICES = [
    "0",
    "-1",
    ":1",
    "..., 0",
    "None",
    ":, 1:",
    "::2",
    "[0, 1]",
    "[True, False, True]",
    "1:2, 0",
    ":, None",
    "..., None, 1",
]
INDICES += ["torch.tensor([0, 2])", "7", "::-1", "torch.tensor([0.5])", "torch.tensor([[1, 0]])"]
BINARY = ["+", "-", "*", "/", "@", "**", "==", "<", ">=", "&", "|"]
CALLS = [
    "torch.maximum({x}, {y})",
    "torch.where({x} > 0, {x}, {y})",
    "torch.cat([{x}, {y}])",
    "torch.stack([{x}, {y}])",
]
CALLS += [
    "torch.matmul({x}, {y})",
    "torch.atan2({x}, {y})",
    "torch.add({x}, {y}, alpha=2)",
    "torch.hypot({x}, {y})",
]
CALLS += [
    "torch.einsum('ij,ij->i', {x}, {y})",
    "torch.outer({x}, {y})",
    "torch.dot({x}, {y})",
    "torch.cat([{x}, {y}], 1)",
]
CALLS += [
    "{x}.masked_fill({y} > 0, 2.0)",
    "{x}.expand_as({y})",
    "{x}.view_as({y})",
    "torch.allclose({x}, {y})",
    "torch.minimum({x}, {y})",
]
NUMBERS = ["2", "0.5", "-1", "3.0", "True"]
INPLACE = [
    "{x}.add_({n})",
    "{x}.mul_({y})",
    "{x}.mul_({n})",
    "{x}.copy_({y})",
    "{x}.zero_()",
    "{x}.fill_({n})",
    "{x}.exp_()",
]
INPLACE += [
    "{x} += {y}",
    "{x} *= {n}",
    "{x}[{i}] = {n}",
    "{x}[{i}] = {y}",
    "{x}[{i}] += {n}",
    "{x}.clamp_(-1, 1)",
    "{x}.sub_({y})",
]
INPLACE += ["{x}.masked_fill_({y} > 0, {n})", "{x}.requires_grad_()", "{x}.sqrt_()"]

WATCHED = ["{x}.register_hook(lambda g: g * 2)", "{x}.register_hook(lambda g: None)", "{x}.retain_grad()"]
SLOPES = ["{new} = torch.autograd.grad({x}.sum(), {leaf}, create_graph=True)[0]"]
SLOPES += ["{new} = torch.autograd.grad(({x} * {x}).sum(), {leaf}, create_graph=True, allow_unused=True)[0]"]
SLOPES += [
    "{x}.sum().backward(retain_graph=True)",
    "{new} = torch.autograd.grad({x}.sum(), {leaf}, retain_graph=True)[0]",
]


def line(rng: np.random.Generator, names: list[str], new: str, slopes: bool = False) -> str:
    """A line that makes the variable `new` of others, or changes one; `slopes`: with hooks, derivatives."""

    def pick(options: Any) -> Any:
        return options[rng.integers(len(options))]

    x, y, n, i = pick(names), pick(names), pick(NUMBERS), pick(INDICES)
    kind = rng.random() if not slopes else 0.85 + 0.15 * rng.random()
    if slopes and rng.random() < 0.7:
        return pick([*WATCHED, *SLOPES]).format(x=x, new=new, leaf=pick(["a", "b"]))
    if kind < 0.22:
        return f"{new} = {x}.{pick(UNARY)}"
    if kind < 0.32:
        return f"{new} = {x}.{pick(REDUCTIONS)}"
    if kind < 0.47:
        return f"{new} = {x}.{pick(SHAPES)}"
    if kind < 0.57:
        return f"{new} = {x}[{i}]"
    if kind < 0.70:
        return f"{new} = {x} {pick(BINARY)} {pick([y, y, n])}"
    if kind < 0.74:
        return f"{new} = {n} {pick(BINARY)} {x}"
    if kind < 0.84:
        return f"{new} = {pick(CALLS).format(x=x, y=y)}"
    if kind < 0.97:
        return pick(INPLACE).format(x=x, y=y, n=n, i=i)
    return f"with torch.no_grad(): {new} = {x} * {n}"


def program(rng: np.random.Generator, length: int = 8, slopes: bool = False) -> list[str]:
    """The lines of a program of variables a, b (leaves) and c; `slopes`: a third has hooks or derivatives."""
    names, lines = ["a", "b", "c"], []
    for k in range(length):
        lines.append(line(rng, names, f"v{k}", slopes and k % 3 == 2))
        names.append(f"v{k}")
    return lines


def leaves(torch: Any, rng: np.random.Generator) -> dict[str, Any]:
    """The variables that a program begins with."""
    dtype = [torch.float64, torch.float32][rng.integers(2)]
    shapes = [((3, 4), (3, 4), (4,)), ((3, 3), (3, 1), (3,)), ((4,), (4,), ()), ((2, 3, 4), (3, 4), (4,))][
        rng.integers(4)
    ]
    made = [torch.tensor(np.round(rng.normal(size=shape) * 2, 2)).to(dtype) for shape in shapes]
    return {"torch": torch, "a": made[0].requires_grad_(), "b": made[1].requires_grad_(), "c": made[2]}


def run(torch: Any, lines: list[str], seed: int) -> tuple[list[Any], dict[str, Any]]:
    """The outcome of each line (None, or the kind and the beginning of its error), and the variables."""
    space, outcomes = leaves(torch, np.random.default_rng(seed)), []
    for text in lines:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                exec(text, space)
                outcomes.append(None)
            except Exception as error:  # noqa: BLE001 (the error is part of what is compared)
                outcomes.append((type(error).__name__, str(error)[:60]))
    return outcomes, space
