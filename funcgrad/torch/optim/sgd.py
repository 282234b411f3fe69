"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.optim.optimizer import Optimizer


class SGD(Optimizer):
    """param -= lr * gradient, with momentum, Nesterov's variant and weight decay."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: Any = None,
        differentiable: bool = False,
        fused: Any = None,
    ) -> None:
        for name, value in (("learning rate", lr), ("momentum value", momentum), ("weight_decay value", weight_decay)):
            if value < 0:
                raise ValueError(f"Invalid {name}: {value}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "dampening": dampening,
                "weight_decay": weight_decay,
                "nesterov": nesterov,
                "maximize": maximize,
                "foreach": foreach,
                "differentiable": differentiable,
                "fused": fused,
            },
        )

    def update(self, param: Any, gradient: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        """One step."""
        step = -gradient if group["maximize"] else gradient
        if group["weight_decay"]:
            step = step.add(param, alpha=group["weight_decay"])
        momentum = group["momentum"]
        if momentum:
            held = state.get("momentum_buffer")
            if held is None:
                held = state["momentum_buffer"] = step.detach().clone()
            else:
                held.mul_(momentum).add_(step, alpha=1 - group["dampening"])
            step = step.add(held, alpha=momentum) if group["nesterov"] else held
        param.add_(step, alpha=-group["lr"])
