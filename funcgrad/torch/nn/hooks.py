"""Full backward hooks of modules: one Function before the module's inputs, one behind its outputs."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.autograd.function import Function
from funcgrad.torch.tensor import Tensor


def call_with_backward_hooks(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """module.forward, such that its backward hooks see the gradients of its inputs and outputs."""
    state: dict[str, Any] = {"grad_output": None}
    where = [i for i, x in enumerate(args) if isinstance(x, Tensor)]

    class BackwardHook(Function):
        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            return tuple(inputs)

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            found = gradients
            for hook in tuple(module._backward_hooks.values()):
                result = hook(module, _full(args, where, found), state["grad_output"])
                if result is not None:
                    found = tuple(r for r in (result if isinstance(result, tuple) else (result,)) if r is not None)
            return found

    class BackwardHookOutputs(Function):
        @staticmethod
        def forward(ctx: Any, *outputs: Any) -> Any:
            return tuple(outputs)

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            state["grad_output"] = gradients
            return gradients

    full = list(args)
    if any(args[i].requires_grad for i in where):
        for i, x in zip(where, BackwardHook.apply(*[args[i] for i in where]), strict=True):
            full[i] = x
    out = module.forward(*full, **kwargs)
    outs = out if isinstance(out, tuple) else (out,)
    hooked = BackwardHookOutputs.apply(*outs)
    if not any(args[i].requires_grad for i in where):
        for o in hooked:
            o.register_hook(lambda g: _call(module, (None,) * len(args), (g,)))
    return hooked if isinstance(out, tuple) else hooked[0]


def _call(module: Any, grad_input: Any, grad_output: Any) -> None:
    for hook in tuple(module._backward_hooks.values()):
        hook(module, grad_input, grad_output)


def _full(args: tuple[Any, ...], where: list[int], gradients: Any) -> tuple[Any, ...]:
    found: list[Any] = [None] * len(args)
    for i, g in zip(where, gradients, strict=True):
        found[i] = g
    return tuple(found)
