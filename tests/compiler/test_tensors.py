"""funcgrad.jit and the tensors, modules and optimizers of funcgrad.torch, which change behind its back: never stale."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import funcgrad as fg
import funcgrad.torch as torch
from funcgrad import jit
from funcgrad.errors import CompileWarning, ImpureFunctionError
from tests.compiler.agreement import assert_same, is_compiled

X = np.array([1.0, 2.0, 3.0])
DOUBLE = torch.float64


class Case(NamedTuple):
    """A function that sees a tensor, and what changes it."""

    name: str
    fun: Callable[..., Any]
    change: Callable[[], Any]


def _array(t: Any) -> np.ndarray:
    return t.detach().numpy().copy()


def _tensor(x: Any) -> Any:
    return torch.from_numpy(np.array(x))


class Scale(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3, dtype=DOUBLE))
        self.register_buffer("shift", torch.zeros(3, dtype=DOUBLE))
        self.factor = 1.0

    def forward(self, x: Any) -> Any:
        return self.factor * (self.weight * x + self.get_buffer("shift"))


def _step(parameter: Any) -> None:
    parameter.grad = torch.ones_like(parameter)
    torch.optim.SGD([parameter], lr=0.5).step()


def _replace(parameter: Any) -> None:
    parameter.data = torch.full((3,), 4.0, dtype=DOUBLE)


def _tensors() -> Iterator[Case]:
    for name, change in {
        "an optimizer's step": _step,
        "new data": _replace,
        "a copy into it": lambda p: p.detach().copy_(torch.full((3,), 2.0, dtype=DOUBLE)),
        "a view": lambda p: p.detach()[1:].mul_(3.0),
        "its memory": lambda p: p.detach().numpy().__setitem__(0, 9.0),
    }.items():
        p = torch.nn.Parameter(torch.ones(3, dtype=DOUBLE))
        yield Case(name, lambda x, p=p: x * _array(p), lambda p=p, change=change: change(p))
    p = torch.nn.Parameter(torch.ones(3, dtype=DOUBLE))
    yield Case(
        "no more grad", lambda x: x * (2.0 if p.requires_grad else 1.0), lambda: p.requires_grad_(False)
    )
    q = torch.ones(3, dtype=DOUBLE, requires_grad=True)
    yield Case(
        "a grad", lambda x: x * (1.0 if q.grad is None else _array(q.grad)), lambda: (q * 5).sum().backward()
    )
    held = {"weights": [torch.ones(3, dtype=DOUBLE)]}
    yield Case("in a list", lambda x: x * _array(held["weights"][0]), lambda: held["weights"][0].add_(1.0))
    t = torch.ones(3, dtype=DOUBLE)

    def default(x: Any, w: Any = t) -> Any:
        return x * _array(w)

    yield Case("a default", default, lambda: t.add_(1.0))


def _modules() -> Iterator[Case]:
    def of(module: Any) -> Callable[..., Any]:
        return lambda x: _array(module(_tensor(x)))

    linear = torch.nn.Linear(3, 2).double()
    yield Case("Linear", of(linear), lambda: torch.nn.init.ones_(linear.weight))
    dropout = torch.nn.Dropout(1.0).eval()
    yield Case("train()", of(dropout), dropout.train)
    normal = torch.nn.BatchNorm1d(3).double().eval()
    yield Case(
        "running statistics",
        lambda x: _array(normal(_tensor(x[None]))),
        lambda: normal.get_buffer("running_mean").add_(1.0),
    )
    for name, change in {
        "a parameter": lambda m: _step(m.weight),
        "a buffer": lambda m: m.shift.add_(1.0),
        "a new buffer": lambda m: setattr(m, "shift", torch.ones(3, dtype=DOUBLE)),
        "an attribute": lambda m: setattr(m, "factor", 3.0),
        "a hook": lambda m: m.register_forward_hook(lambda module, args, out: out * 2),
    }.items():
        inner = Scale()
        yield Case(name, of(torch.nn.Sequential(inner)), lambda m=inner, change=change: change(m))


def _optimizers() -> Iterator[Case]:
    p = torch.nn.Parameter(torch.ones(3, dtype=DOUBLE))
    optimizer = torch.optim.Adam([p], lr=0.5)
    yield Case(
        "settings",
        lambda x: x * optimizer.param_groups[0]["lr"],
        lambda: optimizer.param_groups[0].update(lr=0.25),
    )
    scheduler = torch.optim.lr_scheduler.StepLR(torch.optim.SGD([p], lr=0.5), 1)
    yield Case(
        "a scheduler",
        lambda x: x * scheduler.get_last_lr()[0],
        lambda: (scheduler.optimizer.step(), scheduler.step()),
    )
    mean = torch.zeros(3, dtype=DOUBLE)
    distribution = torch.distributions.Normal(mean, torch.ones(3, dtype=DOUBLE))
    yield Case(
        "a distribution",
        lambda x: _array(distribution.log_prob(_tensor(x))),
        lambda: distribution.loc.add_(1.0),
    )


CASES = {case.name: case for case in (*_tensors(), *_modules(), *_optimizers())}


@pytest.mark.parametrize("name", CASES)
def test_it_is_never_stale(name: str) -> None:
    _, fun, change = CASES[name]
    compiled, before = jit(fun), fun(X)
    with pytest.warns(
        CompileWarning, match=r"a funcgrad\.torch\.\w+, which changes .* funcgrad\.torch\.compile"
    ):
        assert_same(compiled(X), before)
    for _ in range(2):
        assert_same(compiled(X), before)
    change()
    assert not np.array_equal(fun(X), before)
    for _ in range(3):
        assert_same(compiled(X), fun(X))


def test_a_training_step_trains() -> None:
    """What it writes (weights, the optimizer's state, statistics) is written once for each call."""

    def steps(wrap: Callable[[Any], Any]) -> list[Any]:
        torch.manual_seed(0)
        net = torch.nn.Sequential(
            torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 1)
        ).double()
        optimizer = torch.optim.Adam(net.parameters(), lr=0.1)

        def step(x: Any) -> float:
            optimizer.zero_grad()
            loss = (net(_tensor(x)) ** 2).mean()
            loss.backward()
            optimizer.step()
            return loss.item()

        run = wrap(step)
        losses = [run(np.outer(np.arange(5.0) + k, X)) for k in range(5)]
        return [*losses, *(_array(t) for t in net.state_dict().values())]

    with pytest.warns(CompileWarning, match="depends on"):
        compiled = steps(jit)
    for x, y in zip(compiled, steps(lambda f: f), strict=True):
        assert_same(x, y)


def test_tensors_as_arguments_are_their_contents() -> None:
    compiled = jit(lambda t, x: (t * 2, x * 3))
    for k in range(4):
        t = torch.full((3,), k, dtype=DOUBLE)
        for v in (k, k + 1):
            doubled, tripled = compiled(t, X)
            assert_same(_array(doubled.add_(1)), np.full(3, 2.0 * v + 1))  # what is returned is the caller's
            assert_same(tripled, X * 3)
            t.add_(1)
    assert is_compiled(compiled)


def test_static_tensors_are_read_anew_and_not_held() -> None:
    compiled = jit(lambda t, x: x * _array(t), static_argnums=0)
    with pytest.warns(CompileWarning, match="an argument, a funcgrad.torch.Tensor"):
        compiled(torch.ones(3, dtype=DOUBLE), X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(4):
            t = torch.full((3,), k, dtype=DOUBLE)
            assert_same(compiled(t, X), X * k)
            assert_same(compiled(t.add_(1), X), X * (k + 1))
    assert len(compiled.compiled) == 1


def test_a_module_that_is_returned_is_the_callers() -> None:
    compiled = jit(lambda x: (x * 2, torch.nn.Linear(1, 1)))
    with pytest.warns(CompileWarning, match="returns a Linear"):
        compiled(X)
    assert compiled(X)[1] is not compiled(X)[1]


def test_derivatives_see_new_weights() -> None:
    p = torch.nn.Parameter(torch.ones(3, dtype=DOUBLE))
    slope = fg.grad(jit(lambda x: np.sum(x**2 * _array(p))))
    with pytest.warns(CompileWarning):
        assert_same(slope(X), 2 * X)
    for _ in range(3):
        _step(p)
        assert_same(slope(X), 2 * X * _array(p))


def test_the_default_dtype_is_watched() -> None:
    compiled = jit(lambda x: x * np.asarray(torch.tensor(0.1)))
    try:
        for dtype in (np.float32, np.float64):
            torch.set_default_dtype(torch.float64 if dtype is np.float64 else torch.float32)
            for _ in range(3):
                assert_same(compiled(X), X * dtype(0.1))
            assert is_compiled(compiled)
    finally:
        torch.set_default_dtype(torch.float32)


def test_random_numbers_of_tensors_are_caught_though_they_are_equal() -> None:
    for _ in range(8):
        compiled = jit(lambda x: x * torch.randint(0, 2, ()).item())
        compiled(X)
        for _ in range(2):
            with pytest.raises(ImpureFunctionError):
                compiled(X)


def test_torch_compile_still_compiles_what_closes_over_tensors() -> None:
    module, shift = Scale(), torch.zeros(3, dtype=DOUBLE)
    compiled = torch.compile(lambda t: module(t) + shift)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(4):
            expected = module(_tensor(X)) + shift
            assert_same(_array(compiled(_tensor(X))), _array(expected))
            _step(module.weight)
            shift.add_(1.0)
