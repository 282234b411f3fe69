"""Optimizers that step by a rule of funcgrad.optim: in place in the tensors' memory, or recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.engine.trace import Tracer
from funcgrad.optim.leaves import update_in_place, updated
from funcgrad.optim.rules import UpdateRule, check
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.graph.modes import enable_grad, no_grad
from funcgrad.torch.optim.optimizer import Optimizer, Params
from funcgrad.torch.tensors import storage
from funcgrad.torch.tensors.inplace import adopt, check_writable, own_copy
from funcgrad.torch.tensors.tensor import Tensor, make_tensor
from funcgrad.torch.tensors.values import as_array


class RuleOptimizer(Optimizer):
    """An optimizer that steps by `rule`. `counts`: its state counts steps; `starts`: it has one at first."""

    rule: UpdateRule
    counts = True
    starts = False
    takes_sparse = False  # are steps of sparse gradients those of dense ones? (Not where moments decay.)

    def __init__(self, params: Params, defaults: dict[str, Any]) -> None:
        check({name: number(x) for name, x in defaults.items()})
        if defaults.get("fused") and defaults.get("differentiable"):
            raise RuntimeError("`fused` does not support `differentiable`")
        if defaults.get("fused") and defaults.get("foreach"):
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
        super().__init__(params, defaults)
        for group in self.param_groups if self.starts else ():
            h = settings(group)
            for p in group["params"]:
                start(self, p, h, self.rule.slots(h))

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:  # what older checkpoints do not have
            for name, default in self.__dict__.get("defaults", {}).items():
                group.setdefault(name, default)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters from their gradients; `closure` computes the loss, which is returned."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            if group["differentiable"]:
                _step_recorded(self, group)
            else:
                with no_grad(), np.errstate(all="ignore"):
                    _step_group(self, group)
        return loss


def number(x: Any) -> Any:
    """A setting as a number: tensors of one element are allowed."""
    if isinstance(x, Tensor):
        if x.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        return x.item()
    return tuple(map(number, x)) if isinstance(x, tuple) else x


def settings(group: dict[str, Any]) -> dict[str, Any]:
    """What a group says beside its parameters."""
    return {name: x for name, x in group.items() if name not in ("params", "param_names")}


def _step_group(self: RuleOptimizer, group: dict[str, Any]) -> None:
    rule = self.rule
    h = {name: number(x) for name, x in settings(group).items()}
    names, last, k, carried = rule.slots(h), None, None, {}
    for p in group["params"]:
        if p.grad_ is None:
            continue
        gradient = dense_gradient(self, p)
        step, before = _begin(self, p, h, names)
        if last != (step, before):
            last = step, before
            k, carried = rule.numbers(h, step, before)
        slots = [self.state[p][name] for name in names]
        if isinstance(p.value, Tracer) or isinstance(gradient, Tracer):
            _adopt_all([p, *slots], updated(rule.kernel, p.value, gradient, tuple(s.value for s in slots), k))
        else:
            _write(rule, p, gradient, slots, k)
        for name, x in carried.items():
            _fill(self.state[p][name], x)


def dense_gradient(self: Any, p: Tensor) -> Any:
    """The gradient of a parameter as an array. Raises RuntimeError for a sparse one that the rule can't take."""
    gradient = p.grad_
    if not gradient.is_sparse:
        return gradient.value
    if not getattr(self, "takes_sparse", False):
        name = type(self).__name__.replace("AdamW", "Adam")  # as PyTorch says it
        instead = ", please consider SparseAdam instead" if name == "Adam" else ""
        raise RuntimeError(f"{name} does not support sparse gradients{instead}")
    return gradient.to_dense().value


def _write(rule: UpdateRule, p: Tensor, gradient: Any, slots: list[Tensor], k: Any) -> None:
    """One step in the memory of a parameter and of its state."""
    check_writable(p)
    x, arrays = storage.borrowed(p), [storage.borrowed(t, counted=False) for t in slots]
    update_in_place(rule.kernel, x, np.asarray(gradient), tuple(arrays), k)
    storage.returned(p, x)
    for t, array in zip(slots, arrays):
        storage.returned(t, array)


def start(self: RuleOptimizer, p: Tensor, h: dict[str, Any], names: tuple[str, ...]) -> bool:
    """Make what is missing in the state of a parameter; True if arrays were."""
    if not (self.counts or names):
        return True
    state, rule = self.state[p], self.rule
    if self.counts:
        if not isinstance(state.get("step"), Tensor):
            state["step"] = make_tensor(np.array(state.get("step", 0), np.float32))
        for name, x in rule.carried(h).items():
            if name not in state:
                state[name] = make_tensor(np.array(x, np.float32))
    missing = [name for name in names if state.get(name) is None]
    if missing:
        first = rule.start(h)
        for name in missing:
            state[name] = make_tensor(filled_like(p.value, first.get(name, 0)))
    return bool(missing)


def _begin(
    self: RuleOptimizer, p: Tensor, h: dict[str, Any], names: tuple[str, ...]
) -> tuple[float, dict[str, float]]:
    """The number of this step, which is counted, and the carried numbers."""
    fresh = start(self, p, h, names)
    if not self.counts:
        return (1.0 if fresh else 2.0), {}  # whether it is the first is all that matters
    state = self.state[p]
    step = float(state["step"].value) + 1
    _fill(state["step"], step)
    return step, {name: float(state[name].value) for name in self.rule.carried(h)}


def filled_like(x: Any, number: Any) -> np.ndarray:
    """An array like `x`, filled; a complex one has the number as real and as imaginary part."""
    return np.full_like(x, number * (1 + 1j) if x.dtype.kind == "c" else number)


def _fill(t: Tensor, x: float) -> None:
    value = np.array(x, t.value.dtype)
    if t.link is None:
        t.value = value
    else:
        storage.write(t, ..., value)


def _adopt_all(targets: list[Tensor], values: tuple[Any, ...]) -> None:
    for target, value in zip(targets, values):
        adopt(target, make_tensor(value) if not isinstance(value, Tensor) else value)


# ---- differentiable=True ---------------------------------------------------------------------------------------------
def _step_recorded(self: RuleOptimizer, group: dict[str, Any]) -> None:
    """One step that autograd sees: parameters, gradients, state and settings may all require grad."""
    rule, given = self.rule, settings(group)
    h = {name: number(x) for name, x in given.items()}
    names = rule.slots(h)
    for p in group["params"]:
        if p.grad_ is None:
            continue
        gradient = make_tensor(dense_gradient(self, p)) if p.grad_.is_sparse else p.grad_
        check_writable(p)
        step, before = _begin(self, p, h, names)
        targets = [p, *(self.state[p][name] for name in (*names, *before))]

        def body(
            values: Any, y: Any, step: float = step, before: Any = tuple(before), **settings: Any
        ) -> Any:
            n = len(values) - len(before)
            k, after = rule.numbers(settings, step, dict(zip(before, values[n:])))
            return *updated(rule.kernel, values[0], y, tuple(values[1:n]), k), *map(as_array, after.values())

        _adopt_all(targets, Op(type(self).__name__, body)([*map(own_copy, targets)], gradient, **given))
