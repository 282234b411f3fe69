"""Tensors whose history is known to be unknown: differentiating through them is an error, not a zero."""

from __future__ import annotations

import functools
from typing import Any

from funcgrad.core.engine.sweep import Node as EngineNode
from funcgrad.core.engine.sweep import make_node
from funcgrad.torch.graph import modes
from funcgrad.torch.graph.tape import next_number
from funcgrad.torch.tensors.tensor import Tensor, make_tensor, recording


class DeadEnd:
    """The plan of a tensor kept on ctx that is neither input nor output: its history is unknown."""

    keeps, masks = (), False

    def __init__(self, how: str, name: str, slots: tuple[int, ...]) -> None:
        self.how, self.name, self.slots = how, name, slots

    def pull(self, ct: Any, saved: Any) -> Any:
        """Refuse."""
        raise RuntimeError(
            f"{self.name}: the derivative of backward depends on a tensor kept by {self.how}, which is neither an "
            "input nor an output of forward, so its own derivative is unknown (PyTorch takes it as zero, silently). "
            "Compute it anew in backward from an input that was given to save_for_backward, or return it from forward."
        )

    pull_masked = pull


def dead_end(content: Any, node: EngineNode, how: str) -> Tensor:
    """A tensor that can be computed with, but not be differentiated through."""
    plan: Any = DeadEnd(how, node.plan.name, node.plan.slots)
    return make_tensor(
        content, make_node(next_number(), plan, None, node.parents, content.shape, content.dtype)
    )


class NotImplementedPlan:
    """The plan of a function whose result depends on its operand, but whose derivative nobody has written."""

    keeps, slots, masks = (), (0,), False

    def __init__(self, function: str) -> None:
        self.function = function
        self.name = f"{function.rpartition('.')[2].title()}Backward0"

    def pull(self, ct: Any, saved: Any) -> Any:
        """Refuse."""
        raise NotImplementedError(
            f"the derivative for '{self.function}' is not implemented. Pick the elements by an index instead, such as "
            "x[order] with the order taken from x.detach()."
        )

    pull_masked = pull


def without_derivative(content: Any, source: Tensor, function: str) -> Tensor:
    """What a function made of `source`: it requires grad where that does, and differentiating it is an error."""
    if source.node is None or not recording():
        return make_tensor(content)
    plan: Any = NotImplementedPlan(function)
    return make_tensor(
        content, make_node(next_number(), plan, None, (source.node,), content.shape, content.dtype)
    )


def once_differentiable(function: Any) -> Any:
    """Mark a backward whose own derivative would be wrong: differentiating it is an error."""

    @functools.wraps(function)
    def once(ctx: Any, *gradients: Any) -> Any:
        raised, ctx._raised = ctx._raised, False
        with modes.no_grad():
            result = function(ctx, *gradients)
        if not raised:
            return result
        many = isinstance(result, tuple)
        parents = ctx.parents
        refused = [_refusing(g, parents) for g in (result if many else (result,))]
        return tuple(refused) if many else refused[0]

    return once


def _refusing(gradient: Any, parents: tuple[EngineNode, ...]) -> Any:
    if not isinstance(gradient, Tensor):
        return gradient
    return make_tensor(
        gradient.value,
        make_node(next_number(), _ONCE, None, parents, gradient.value.shape, gradient.value.dtype),
    )


class _OncePlan:
    name, keeps, slots, masks = "once_differentiable", (), (), False

    @staticmethod
    def pull(ct: Any, saved: Any) -> Any:
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )

    pull_masked = pull


_ONCE: Any = _OncePlan()
