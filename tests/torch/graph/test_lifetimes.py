"""Graphs hang off their outputs; sweeps and teardowns are iterative; threads don't meet."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import pytest

import funcgrad.torch as torch


@pytest.fixture(autouse=True)
def _without_the_collector() -> Any:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_a_forgotten_forward_pass_leaves_nothing_behind() -> None:
    x = torch.ones(3, requires_grad=True)
    y = (x.exp() * x).sum()
    node = weakref.ref(y.node)
    del y
    assert node() is None


def test_create_graph_does_not_leak() -> None:
    x = torch.ones(3, requires_grad=True)
    y = (x.exp() * x).sum()
    y.backward(create_graph=True)
    watched = [weakref.ref(y.node), weakref.ref(x.grad.node), weakref.ref(x)]
    del y, x
    assert [w() for w in watched] == [None, None, None]


def test_grad_inside_backward_does_not_leak() -> None:
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**2

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            (x,) = ctx.saved_tensors
            with torch.enable_grad():
                again = x.detach().requires_grad_()
                return torch.autograd.grad(again**2, again, gradient)[0]

    watched = []
    for _ in range(20):
        x = torch.ones(3, requires_grad=True)
        y = Square.apply(x)
        y.sum().backward()
        assert x.grad.tolist() == [2, 2, 2]
        watched += [weakref.ref(x), weakref.ref(y.node)]
        del x, y
    assert all(w() is None for w in watched)


@pytest.mark.parametrize("watched", [False, True])
def test_a_chain_of_100_000_operations(watched: bool) -> None:
    x = torch.ones(1, requires_grad=True)
    y = x
    for _ in range(100_000):
        y = y * 1.0
    if watched:
        y.register_hook(lambda gradient: None)
    y.sum().backward()
    assert x.grad.item() == 1
    del y


def test_threads_have_their_own_modes_and_graphs() -> None:
    found: dict[int, Any] = {}

    def work(i: int) -> None:
        with torch.no_grad() if i % 2 else torch.enable_grad():
            x = torch.tensor(float(i), requires_grad=True)
            y = x
            for _ in range(300):
                y = y * 1.0 + x
            found[i] = (y.requires_grad, x.grad if i % 2 else (y.backward(), x.grad.item())[1])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == {i: (False, None) if i % 2 else (True, 301.0) for i in range(8)}
    assert torch.is_grad_enabled()
