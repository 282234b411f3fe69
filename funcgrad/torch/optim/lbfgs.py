"""LBFGS: funcgrad.optim's, on the tensors of one parameter group."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from funcgrad.optim.quasi_newton import Memory, advance
from funcgrad.torch.graph.modes import enable_grad, no_grad
from funcgrad.torch.optim.optimizer import Optimizer, Params
from funcgrad.torch.optim.stepping import number
from funcgrad.torch.tensors import storage
from funcgrad.torch.tensors.tensor import Tensor, make_tensor, plain

_TENSORS = ("d", "prev_flat_grad")


class LBFGS(Optimizer):
    """Quasi-Newton steps for a function without noise; `step(closure)` makes up to `max_iter` of them.

    The closure forgets the gradients, computes the loss, calls its backward and returns it. `line_search_fn`
    is None (steps of length `lr`) or "strong_wolfe".
    """

    def __init__(
        self, params: Params, lr: Any = 1, max_iter: int = 20, max_eval: int | None = None, tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9, history_size: int = 100, line_search_fn: str | None = None,
    ) -> None:  # fmt: skip
        if number(lr) < 0:
            raise ValueError(f"Invalid learning rate: {lr}")
        max_eval = max_iter * 5 // 4 if max_eval is None else max_eval
        names = "lr max_iter max_eval tolerance_grad tolerance_change history_size line_search_fn"
        given = locals()
        super().__init__(params, {name: given[name] for name in names.split()})
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Minimize what `closure` computes; returns the loss before the first step."""
        if closure is None:
            raise TypeError(
                "LBFGS.step() missing 1 required positional argument: 'closure', which computes the loss anew"
            )
        group = self.param_groups[0]
        if group["line_search_fn"] not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")
        params, losses = group["params"], []
        state = self.state[params[0]]

        def evaluate(x: np.ndarray) -> tuple[float, np.ndarray]:
            _scatter(x, params)
            with enable_grad():
                losses.append(closure())
            x[...] = _gather(params)  # the closure may have moved them, into their bounds
            return float(plain(losses[-1])), _gather(params, gradients=True)

        h = SimpleNamespace(**{**group, "lr": number(group["lr"]), "line_search": group["line_search_fn"]})
        memory = _memory(state)
        with no_grad():
            _scatter(advance(evaluate, _gather(params), memory, h).x, params)
        state.update(_saved(memory))
        return losses[0]


def _gather(params: list[Tensor], gradients: bool = False) -> np.ndarray:
    """The parameters (or their gradients) as one real vector."""
    parts: list[Any] = [np.ravel(_gradient(p) if gradients else plain(p)) for p in params]
    return np.concatenate([part.view(part.real.dtype) for part in parts])


def _gradient(p: Tensor) -> np.ndarray:
    return np.zeros(p.value.shape, p.value.dtype) if p.grad_ is None else plain(p.grad_)


def _scatter(x: np.ndarray, params: list[Tensor]) -> None:
    """Write a real vector into the parameters."""
    at = 0
    for p in params:
        dtype, shape = p.value.dtype, p.value.shape
        size = p.numel() * dtype.itemsize // p.value.real.dtype.itemsize
        storage.write(p, ..., x[at : at + size].astype(p.value.real.dtype).view(dtype).reshape(shape))
        at += size


def _memory(state: dict[str, Any]) -> Memory:
    """The state of an optimizer, which holds tensors, as the memory of the algorithm, which holds arrays."""
    fields: dict[str, Any] = {
        field.name: state[field.name] for field in dataclasses.fields(Memory) if field.name in state
    }
    for name in _TENSORS:
        if name in fields:
            fields[name] = np.asarray(plain(fields[name]))
    for name in ("old_dirs", "old_stps"):
        fields[name] = [np.asarray(plain(x)) for x in fields.get(name, ())]
    fields["ro"] = [float(x) for x in fields.get("ro", ())]
    fields |= {name: float(fields[name]) for name in ("t", "H_diag", "prev_loss") if name in fields}
    return Memory(**fields)


def _saved(memory: Memory) -> dict[str, Any]:
    """The same the other way round."""
    found = {field.name: getattr(memory, field.name) for field in dataclasses.fields(memory)}
    if memory.d is None:  # it began at a minimum: there was no step
        return {"func_evals": memory.func_evals, "n_iter": memory.n_iter}
    for name in _TENSORS:
        found[name] = make_tensor(found[name])
    for name in ("old_dirs", "old_stps"):
        found[name] = [make_tensor(x) for x in found[name]]
    return found | {"ro": [make_tensor(np.array(x, memory.d.dtype)) for x in memory.ro]}
