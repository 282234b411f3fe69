"""No call leaves a reference cycle: what it made is freed on return, with the collector off."""

from __future__ import annotations

import contextlib
import decimal
import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
import funcgrad.torch as torch
from funcgrad.errors import FuncgradError

X, A = np.arange(1.0, 5.0), np.eye(4) + 0.1
TIMES = 200


def number(x: Any) -> Any:
    return np.sum(np.sin(x) ** 2 * x[::-1])


def vector(x: Any) -> Any:
    return np.tanh(A @ x)


def filling(x: Any) -> Any:
    y = np.zeros_like(x)
    for i in range(4):
        y[i] = x[i] * 2
    view = y[1:]
    view *= 2
    return np.sum(y * x)


def decomposed(a: Any) -> Any:
    return (
        np.linalg.slogdet(a)[1]
        + np.linalg.norm(np.linalg.inv(a))
        + np.linalg.svd(a)[1][0]
        + np.einsum("ij,jk->", a, a)
    )


def refused(fun: Callable[[Any], Any]) -> None:
    with pytest.raises(FuncgradError):
        fg.grad(fun)(X)


def swallowing(x: Any) -> Any:
    with contextlib.suppress(FuncgradError):
        float(x[0])
    return np.sum(x)


own_pull, own_push, saving = fg.custom_vjp(np.sin), fg.custom_jvp(np.sin), fg.checkpoint(vector)
own_pull.defvjp(lambda x: (np.sin(x), x), lambda x, ct: (ct * np.cos(x),))
own_push.defjvp(lambda primals, tangents: (np.sin(primals[0]), np.cos(primals[0]) * tangents[0]))
of_closure = fg.custom_gradient(lambda x: (np.sin(x), lambda ct: ct * np.cos(x)))


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient * 2 + 0 * ctx.saved_tensors[0]


T = torch.linspace(0.1, 1.0, 4)


def swept(function: Callable[[Any], Any], **options: Any) -> None:
    """One step of PyTorch's kind: leaves, a graph, backward."""
    x = T.clone().requires_grad_()
    function(x).sum().backward(**options)


def again(x: Any) -> Any:
    return torch.utils.checkpoint.checkpoint(lambda x: torch.tanh(x * x), x, use_reentrant=False)


def again_reentrant(x: Any) -> Any:
    return torch.utils.checkpoint.checkpoint(lambda x: torch.tanh(x * x), x, use_reentrant=True)


CALLS: dict[str, Callable[[], Any]] = {
    "grad": lambda: fg.grad(number)(X),
    "value_and_grad": lambda: fg.value_and_grad(number)(X),
    "vjp": lambda: fg.vjp(vector, X)[1](X),
    "vjp, never pulled": lambda: fg.vjp(vector, X),
    "jvp": lambda: fg.jvp(vector, (X,), (X,)),
    "linearize": lambda: fg.linearize(vector, X)[1](X),
    "linear_transpose": lambda: fg.linear_transpose(lambda x: A @ x, X)(X),
    "vmap": lambda: fg.vmap(number)(A),
    "vmap of grad": lambda: fg.vmap(fg.grad(number))(A),
    "grad of vmap": lambda: fg.grad(lambda a: np.sum(fg.vmap(number)(a)))(A),
    "jacrev": lambda: fg.jacrev(vector)(X),
    "jacfwd": lambda: fg.jacfwd(vector)(X),
    "hessian": lambda: fg.hessian(number)(X),
    "hvp": lambda: fg.hvp(number, (X,), (X,)),
    "hessian_diagonal": lambda: fg.hessian_diagonal(number)(X),
    "gnvp": lambda: fg.gnvp(vector, number, (X,), (X,)),
    "elementwise_grad": lambda: fg.elementwise_grad(np.sin)(X),
    "custom_vjp": lambda: fg.grad(lambda x: np.sum(own_pull(x)))(X),
    "custom_vjp under vmap": lambda: fg.vmap(fg.grad(lambda x: np.sum(own_pull(x))))(A),
    "custom_jvp": lambda: fg.jvp(own_push, (X,), (X,)),
    "custom_jvp, twice": lambda: fg.hessian(lambda x: np.sum(own_push(x)))(X),
    "custom_gradient": lambda: fg.grad(lambda x: np.sum(of_closure(x)))(X),
    "checkpoint": lambda: fg.grad(lambda x: np.sum(saving(x)))(X),
    "checkpoint under vmap": lambda: fg.vmap(saving)(A),
    "checkpoint, twice": lambda: fg.hessian(lambda x: np.sum(saving(x)))(X),
    "root": lambda: fg.grad(lambda a: np.sum(fg.root(lambda y, a: y**3 - a, np.ones(4), a)))(X),
    "fixed_point": lambda: fg.grad(
        lambda a: np.sum(fg.fixed_point(lambda y, a: np.cos(y) * a * 0.1, np.ones(4), a))
    )(X),
    "assignment": lambda: fg.grad(filling)(X),
    "assignment, pushed": lambda: fg.jvp(filling, (X,), (X,)),
    "assignment under vmap": lambda: fg.vmap(filling)(A),
    "at": lambda: fg.grad(lambda x: np.sum(fg.at(x)[1].set(3.0) * x))(X),
    "linear algebra": lambda: fg.grad(decomposed)(A),
    "trace": lambda: fg.trace(number)(X),
    "a conversion": lambda: refused(lambda x: float(x[0])),
    "a conversion by a library": lambda: refused(lambda x: decimal.Decimal(x[0])),
    "a write into a plain array": lambda: refused(lambda x: np.zeros(3).__setitem__(0, x[0])),
    "an error that the function swallows": lambda: fg.grad(swallowing)(X),
    "backward": lambda: swept(lambda x: torch.tanh(x * x)),
    "backward with a graph": lambda: swept(lambda x: torch.tanh(x * x), create_graph=True),
    "backward of a function of its own": lambda: swept(Doubled.apply),
    "backward of a checkpoint": lambda: swept(again),
    "backward of a reentrant checkpoint": lambda: swept(again_reentrant),
    "torch.func": lambda: torch.func.vmap(torch.func.grad(lambda x: torch.sin(x).sum()))(T.reshape(2, 2)),
    "functional.jacobian": lambda: torch.autograd.functional.jacobian(lambda x: x * x, T, vectorize=True),
    "functional.hessian": lambda: torch.autograd.functional.hessian(lambda x: (x**3).sum(), T),
}


def left_by(call: Callable[[], Any]) -> int:
    """How many objects wait for the collector after some calls."""
    gc.collect()
    gc.disable()
    try:
        before = len(gc.get_objects())
        for _ in range(TIMES):
            call()
        return len(gc.get_objects()) - before
    finally:
        gc.enable()


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_nothing_waits_for_the_collector(call: Callable[[], Any]) -> None:
    for _ in range(3):  # rules are loaded, plans made
        call()
    # What is called a hundred times gets a lane, which stays: then a second round shows what is left each time.
    assert left_by(call) <= 0 or left_by(call) <= 0
