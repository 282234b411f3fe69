"""torch.compile: the numbers of the eager module, from compiled programs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad.torch as torch
from funcgrad.errors import CompileWarning
from funcgrad.torch import nn
from funcgrad.torch.compiling import Optimized


def optimized(f: Any) -> Optimized:
    return f if isinstance(f, Optimized) else f.__dict__["_optimized"]


def is_compiled(f: Any) -> bool:
    """Are there programs, and does all run in them?"""
    found = optimized(f)
    jits = [*found.programs.values()]
    jits += [m for j in jits for family in j.families.values() for m in (family.value, *family.made.values())]
    known = [c for j in jits for c in j.compiled.values()]
    return not found.is_eager and bool(known) and any(c.program is not None for c in known)


def same(a: Any, b: Any) -> None:
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-5, atol=1e-6)


class Gated(nn.Module):
    """A module of one's own: a branch, a tensor that is no buffer, a tied weight."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(6, 6), nn.Linear(6, 6)
        self.b.weight = self.a.weight
        self.scale = torch.tensor(2.0)
        self.register_buffer("calls", torch.zeros(1))
        self.factor = 1.0

    def forward(self, x: Any, *, shift: float = 0.0) -> Any:
        self.calls += 1
        h = torch.tanh(self.a(x)) * self.scale
        if h.sum() > 0:
            h = h - x
        return self.b(h) * self.factor + shift


MODULES: dict[str, Callable[[], Any]] = {
    "mlp": lambda: nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 6)),
    "normalized": lambda: nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.GELU(), nn.LayerNorm(8)),
    "gated": Gated,
    "convolution": lambda: nn.Sequential(
        nn.Unflatten(1, (1, 6)), nn.Conv1d(1, 3, 3), nn.MaxPool1d(2), nn.Flatten()
    ),
}


def trained(model: Any, compiled: bool, steps: int = 6) -> tuple[list[Any], Any, Any]:
    torch.manual_seed(0)
    module = model()
    f = torch.compile(module) if compiled else module
    optimizer = torch.optim.SGD(f.parameters(), lr=0.05, momentum=0.9)
    outs = []
    for k in range(steps):
        x = torch.randn(5, 6)
        optimizer.zero_grad()
        loss = (f(x) ** 2).mean()
        loss.backward()
        optimizer.step()
        outs.append(loss)
        if k % 3 == 2:
            f.eval()
            with torch.no_grad():
                outs.append(f(x))
            f.train()
    return outs, module, f


@pytest.mark.parametrize("name", MODULES)
def test_training_gives_the_numbers_of_eager(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        eager, compiled = trained(MODULES[name], False), trained(MODULES[name], True)
    for a, b in zip(compiled[0], eager[0], strict=True):
        same(a, b)
    for (key, a), b in zip(compiled[1].state_dict().items(), eager[1].state_dict().values(), strict=True):
        assert key in eager[1].state_dict()
        same(a, b)
    assert is_compiled(compiled[2])


def test_what_a_module_has_is_read_anew() -> None:
    module: Any = Gated()
    f = torch.compile(module)
    x = torch.randn(3, 6)

    def change(k: int) -> None:
        with torch.no_grad():
            if k == 4:
                module.a.bias.add_(1)
            elif k == 6:
                module.scale = torch.tensor(-1.0)
            elif k == 8:
                module.a.weight.data = torch.ones(6, 6)
            elif k == 10:
                module.factor = 3.0
            elif k == 12:
                module.b = nn.Linear(6, 6)

    for k in range(16):
        change(k)
        same(f(x), module(x))
    assert module.calls.item() == 32
    assert is_compiled(f)


def test_functions_and_what_they_close_over() -> None:
    w, table = torch.tensor([1.0, 2.0]), {"v": torch.tensor([3.0, 4.0])}

    @torch.compile
    def f(x: Any, n: int = 2) -> Any:
        return (x * w).sum() * n + (x * table["v"]).sum(), x

    for k in range(14):
        if k == 4:
            w.mul_(5)
        if k == 6:
            table["v"] = torch.tensor([0.0, 1.0])
        x = torch.tensor([1.0, float(k)], requires_grad=True)
        out, again = f(x, n=1 + k % 2)
        assert again is x
        out.backward()
        same(x.grad, w * (1 + k % 2) + table["v"])
    assert is_compiled(f)


def test_methods_and_writes_into_arguments() -> None:
    class Counter:
        step = torch.tensor(2.0)

        @torch.compile
        def add(self, x: Any) -> Any:
            x += self.step
            return x * 2

    counter = Counter()
    x = torch.zeros(2)
    for k in range(5):
        same(counter.add(x), torch.full((2,), 4.0 * (k + 1)))
        same(x, torch.full((2,), 2.0 * (k + 1)))


def test_higher_orders_and_transforms() -> None:
    def plain(x: Any) -> Any:
        return (torch.sin(x) * x).sum()

    for f in (
        torch.compile(plain),
        torch.compile(torch.func.grad(plain)),
        torch.compile(torch.func.hessian(plain)),
    ):
        original = f.function
        for k in range(4):
            x = torch.tensor([0.1, 0.2 + k])
            same(f(x), original(x))
        assert is_compiled(f)
    f = torch.compile(plain)
    for k in range(4):
        x = torch.tensor([0.1, 0.2 + k], requires_grad=True)
        (g,) = torch.autograd.grad(f(x), x, create_graph=True)
        (h,) = torch.autograd.grad(g.sum(), x)
        same(h, 2 * torch.cos(x) - x * torch.sin(x))
        same(torch.func.vmap(f)(torch.stack([x, x]).detach()), torch.stack([plain(x), plain(x)]))


class Dropped(nn.Module):
    def forward(self, x: Any) -> Any:
        return nn.functional.dropout(x, 0.5)


def test_random_numbers_run_eagerly_with_one_warning() -> None:
    torch.manual_seed(3)
    expected = [nn.functional.dropout(torch.ones(20), 0.5) for _ in range(5)]
    torch.manual_seed(3)
    f = torch.compile(Dropped())
    with pytest.warns(CompileWarning, match=r"test_compiling.py, line \d+, in forward") as warned:
        found = [f(torch.ones(20)) for _ in expected]
    assert len(warned) == 1
    for out, wanted in zip(found, expected, strict=True):
        same(out, wanted)


def test_fullgraph_refuses() -> None:
    f = torch.compile(Dropped(), fullgraph=True)
    f(torch.ones(20))
    with pytest.raises(RuntimeError, match="fullgraph"):
        f(torch.ones(20))


def test_a_step_with_backward_inside_runs_eagerly() -> None:
    module = nn.Linear(2, 1)

    @torch.compile
    def step(x: Any) -> Any:
        module.zero_grad()
        loss = module(x).sum()
        loss.backward()
        return loss

    with pytest.warns(CompileWarning, match="step runs eagerly"):
        losses = [step(torch.ones(3, 2)) for _ in range(4)]
    same(module.weight.grad, torch.full((1, 2), 3.0))
    same(losses[-1], module(torch.ones(3, 2)).sum())


def test_errors_are_those_of_the_function() -> None:
    f = torch.compile(nn.Linear(2, 3))
    for _ in range(4):
        f(torch.ones(1, 2))
        with pytest.raises(RuntimeError):
            f(torch.ones(1, 3))
    assert is_compiled(f)


def test_a_graph_is_freed_and_can_be_kept() -> None:
    f = torch.compile(lambda x: (x * x).sum())
    for _ in range(4):
        x = torch.ones(2, requires_grad=True)
        out = f(x)
        out.backward(retain_graph=True)
        out.backward()
        same(x.grad, torch.full((2,), 4.0))
        with pytest.raises(RuntimeError, match="second time"):
            out.backward()


def test_the_compiled_module_is_the_module() -> None:
    module = nn.Sequential(nn.Linear(2, 2))
    f = torch.compile(module)
    assert [*f.state_dict()] == ["_orig_mod.0.weight", "_orig_mod.0.bias"]
    assert f._orig_mod is module
    assert all(a is b for a, b in zip(f.parameters(), module.parameters(), strict=True))
    assert torch.compile(module, backend="eager") is module
    f.eval()
    assert not module.training
