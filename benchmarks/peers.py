"""The libraries that are compared, behind one interface. What is not installed takes no part.

A problem is written once, as `function(xp, *params, *data)`: `xp` is the namespace in which each library
finds its own `sin` and `sum`. PyTorch may have a version of its own, where its users would write another
function.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import funcgrad

Function = Callable[..., Any]
Run = Callable[[], Any]
Arrays = Sequence[Any]


class Peer:
    """A library: how it differentiates, and what its arrays are. A method that it lacks returns None."""

    name = ""

    def array(self, x: np.ndarray) -> Any:
        """`x` as an array of this library."""
        return x

    def arrays(self, xs: Sequence[np.ndarray]) -> tuple[Any, ...]:
        """Each of `xs` as an array of this library."""
        return tuple(self.array(x) for x in xs)

    def value_and_grad(self, function: Function, params: Arrays, data: Arrays) -> Run | None:
        """A run that gives the value and the gradients with respect to all `params`."""
        return None

    def per_example(self, function: Function, params: Arrays, data: Arrays) -> Run | None:
        """A run that gives the gradients in all `params`, for each example of a batch (axis 0 of `data`)."""
        return None

    def hessian(self, function: Function, x: np.ndarray) -> Run | None:
        """A run that gives the matrix of second derivatives."""
        return None


class Funcgrad(Peer):
    """funcgrad itself, on plain NumPy."""

    name = "funcgrad"

    def value_and_grad(self, function: Function, params: Arrays, data: Arrays) -> Run:
        differentiate = funcgrad.value_and_grad(partial(function, np), tuple(range(len(params))))
        return lambda: differentiate(*params, *data)

    def per_example(self, function: Function, params: Arrays, data: Arrays) -> Run:
        in_axes = (None,) * len(params) + (0,) * len(data)
        differentiate = funcgrad.vmap(
            funcgrad.grad(partial(function, np), tuple(range(len(params)))), in_axes
        )
        return lambda: differentiate(*params, *data)

    def hessian(self, function: Function, x: Any) -> Run:
        differentiate = funcgrad.hessian(partial(function, np))
        return lambda: differentiate(x)


class Torch(Peer):
    """PyTorch, eager."""

    name = "torch"

    def __init__(self) -> None:
        self.torch = importlib.import_module("torch")
        self.torch.set_num_threads(1)

    def array(self, x: np.ndarray) -> Any:
        return self.torch.from_numpy(x.copy()) if isinstance(x, np.ndarray) else x

    def value_and_grad(self, function: Function, params: Arrays, data: Arrays) -> Run:
        torch, params, data = self.torch, [p.requires_grad_() for p in self.arrays(params)], self.arrays(data)

        def run() -> Any:
            value = function(torch, *params, *data)
            return value.detach(), torch.autograd.grad(value, params)

        return run

    def per_example(self, function: Function, params: Arrays, data: Arrays) -> Run:
        params, data = self.arrays(params), self.arrays(data)
        in_dims = (None,) * len(params) + (0,) * len(data)
        grad = self.torch.func.grad(partial(function, self.torch), tuple(range(len(params))))
        differentiate = self.torch.func.vmap(grad, in_dims)
        return lambda: differentiate(*params, *data)

    def hessian(self, function: Function, x: Any) -> Run:
        differentiate, x = self.torch.func.hessian(partial(function, self.torch)), self.array(x)
        return lambda: differentiate(x)


class Autograd(Peer):
    """HIPS autograd."""

    name = "autograd"

    def __init__(self) -> None:
        self.autograd = importlib.import_module("autograd")
        self.numpy = importlib.import_module("autograd.numpy")

    def value_and_grad(self, function: Function, params: Arrays, data: Arrays) -> Run:
        differentiate = self.autograd.value_and_grad(partial(function, self.numpy), tuple(range(len(params))))
        return lambda: differentiate(*params, *data)

    def hessian(self, function: Function, x: Any) -> Run:
        differentiate = self.autograd.hessian(partial(function, self.numpy))
        return lambda: differentiate(x)


class Jax(Peer):
    """JAX, eager: without `jit`, as code that Python's control flow decides."""

    name = "jax"

    def __init__(self) -> None:
        self.jax = importlib.import_module("jax")
        self.jax.config.update("jax_enable_x64", True)
        self.numpy = importlib.import_module("jax.numpy")

    def array(self, x: np.ndarray) -> Any:
        return self.numpy.asarray(x)

    def value_and_grad(self, function: Function, params: Arrays, data: Arrays) -> Run:
        differentiate = self.jax.value_and_grad(partial(function, self.numpy), tuple(range(len(params))))
        given = self.arrays((*params, *data))
        return lambda: self.jax.block_until_ready(differentiate(*given))

    def per_example(self, function: Function, params: Arrays, data: Arrays) -> Run:
        in_axes = (None,) * len(params) + (0,) * len(data)
        differentiate = self.jax.vmap(
            self.jax.grad(partial(function, self.numpy), tuple(range(len(params)))), in_axes
        )
        given = self.arrays((*params, *data))
        return lambda: self.jax.block_until_ready(differentiate(*given))

    def hessian(self, function: Function, x: Any) -> Run:
        differentiate, given = self.jax.hessian(partial(function, self.numpy)), self.array(x)
        return lambda: self.jax.block_until_ready(differentiate(given))


class Mygrad(Peer):
    """MyGrad."""

    name = "mygrad"

    def __init__(self) -> None:
        self.mygrad = importlib.import_module("mygrad")

    def value_and_grad(self, function: Function, params: Arrays, data: Arrays) -> Run:
        def run() -> Any:
            tensors = [self.mygrad.tensor(p, copy=False) for p in params]
            value = function(self.mygrad, *tensors, *data)
            value.backward()
            return value.data, [t.grad for t in tensors]

        return run


class Jit(Peer):
    """funcgrad's derivatives, compiled."""

    name, needs, engine = "jit", "funcgrad", "numpy"

    def value_and_grad(self, function: Function, params: Arrays, data: Arrays) -> Run:
        return self._compiled(
            funcgrad.value_and_grad(partial(function, np), tuple(range(len(params)))), params, data
        )

    def per_example(self, function: Function, params: Arrays, data: Arrays) -> Run:
        in_axes = (None,) * len(params) + (0,) * len(data)
        gradient = funcgrad.grad(partial(function, np), tuple(range(len(params))))
        return self._compiled(funcgrad.vmap(gradient, in_axes), params, data)

    def hessian(self, function: Function, x: Any) -> Run:
        return self._compiled(funcgrad.hessian(partial(function, np)), (x,), ())

    def _compiled(self, function: Function, params: Arrays, data: Arrays) -> Run:
        compiled = funcgrad.jit(function, engine=self.engine)
        for _ in range(3):  # recorded, recorded again, compiled
            compiled(*params, *data)
        return lambda: compiled(*params, *data)


class JitXla(Jit):
    """The same with JAX's compiler."""

    name, needs, engine = "jit-xla", "jax", "xla"


class JaxJit(Jax):
    """JAX with its own `jit`."""

    name, needs = "jax.jit", "jax"

    def value_and_grad(self, function: Function, params: Arrays, data: Arrays) -> Run:
        differentiate = self.jax.jit(
            self.jax.value_and_grad(partial(function, self.numpy), tuple(range(len(params))))
        )
        given = self.arrays((*params, *data))
        return lambda: self.jax.block_until_ready(differentiate(*given))

    def hessian(self, function: Function, x: Any) -> Run:
        differentiate, given = self.jax.jit(self.jax.hessian(partial(function, self.numpy))), self.array(x)
        return lambda: self.jax.block_until_ready(differentiate(given))


PEERS = {peer.name: peer for peer in (Torch, Autograd, Jax, Mygrad, Jit, JitXla, JaxJit)}


def installed(names: Sequence[str]) -> list[Peer]:
    """Those of the peers named that can be imported."""
    return [
        PEERS[name]()
        for name in names
        if importlib.util.find_spec(getattr(PEERS[name], "needs", name)) is not None
    ]
