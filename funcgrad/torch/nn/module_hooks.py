"""Hooks of modules: around forward, and around the gradients of inputs and outputs."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from funcgrad.torch.autograd.function import Function
from funcgrad.torch.graph.hooks import RemovableHandle
from funcgrad.torch.tensors.tensor import Tensor, recording


def registered(
    place: OrderedDict[int, Any], hook: Callable[..., Any], prepend: bool, marks: list[OrderedDict[int, Any]]
) -> RemovableHandle:
    """Put a hook in its place, and note it where its options are kept."""
    handle = RemovableHandle([place, *marks], hook)
    if prepend:
        place.move_to_end(handle.id, last=False)
    return handle


def call_with_hooks(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """module.forward, with all its hooks."""
    called: set[int] = set()
    try:
        return _called(module, args, kwargs, called)
    except Exception:
        for key in tuple(module._forward_hooks_always_called):
            if key not in called:
                _call_silently(module, key, args, kwargs)
        raise


def _called(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], called: set[int]) -> Any:
    args, kwargs = _after_pre_hooks(module, args, kwargs)
    gradients = None
    if module._backward_hooks or module._backward_pre_hooks:
        gradients = _Gradients(module)
        args = gradients.around_inputs(args)
    out = module.forward(*args, **kwargs)
    for key, hook in tuple(module._forward_hooks.items()):
        called.add(key)
        found = (
            hook(module, args, kwargs, out)
            if key in module._forward_hooks_with_kwargs
            else hook(module, args, out)
        )
        out = out if found is None else found
    return out if gradients is None else gradients.around_outputs(out)


def _after_pre_hooks(
    module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    for key, hook in tuple(module._forward_pre_hooks.items()):
        if key in module._forward_pre_hooks_with_kwargs:
            found = hook(module, args, kwargs)
            if found is None:
                continue
            if not isinstance(found, tuple) or len(found) != 2:
                raise RuntimeError(
                    f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {found}."
                )
            args, kwargs = found
        else:
            found = hook(module, args)
            if found is not None:
                args = found if isinstance(found, tuple) else (found,)
    return args, kwargs


def _call_silently(module: Any, key: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Call a hook after forward raised an exception, which is the one that the user is to see."""
    hook = module._forward_hooks[key]
    try:
        if key in module._forward_hooks_with_kwargs:
            hook(module, args, kwargs, None)
        else:
            hook(module, args, None)
    except Exception as error:  # noqa: BLE001 (whatever the hook raised)
        warnings.warn(
            "module forward hook with ``always_call=True`` raised an exception that was silenced as another error was raised in "
            f"forward: {error}",
            stacklevel=2,
        )


# ---- gradients -------------------------------------------------------------------------------------------------------
class BackwardHookFunction(Function):
    """The identity, in the graph: its node is where a module's gradients pass."""

    @staticmethod
    def forward(ctx: Any, *tensors: Any) -> Any:
        ctx.mark_non_differentiable(*[t for t in tensors if not t.requires_grad])
        return tensors

    @staticmethod
    def backward(ctx: Any, *cts: Any) -> Any:
        return cts


class _Gradients:
    """One call of a module, and the gradients of its outputs once they are known."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.hooks = tuple(module._backward_hooks.values())
        self.pre_hooks = tuple(module._backward_pre_hooks.values())
        self.inputs = self.outputs = 0
        self.input_at: list[int] | None = None
        self.output_at: list[int] = []
        self.grad_output: Any = None

    def around_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments behind a node that hands grad_input to the hooks."""
        self.inputs = len(args)
        found, self.input_at, node = _through_node(args)
        if node is not None:
            node.register_hook(self._with_grad_input)
        return found

    def around_outputs(self, out: Any) -> Any:
        """The outputs before a node that notes grad_output."""
        if not isinstance(out, (Tensor, tuple)):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received "
                f"{type(out)}",
                stacklevel=4,
            )
            return out
        outs = out if isinstance(out, tuple) else (out,)
        self.outputs = len(outs)
        found, at, node = _through_node(outs)
        if node is not None:
            self.output_at = at or []
            node.register_prehook(self._with_grad_output)
        return found if isinstance(out, tuple) else found[0]

    def _with_grad_input(self, grad_input: Any, _: Any) -> Any:
        if self.grad_output is None:
            return None
        assert self.input_at is not None
        found = _full(grad_input, self.input_at, self.inputs)
        for hook in self.hooks:
            changed = hook(self.module, found, self.grad_output)
            if changed is not None:
                found = _checked(changed, len(found), "Backward hook", "grad_input")
        self.grad_output = None
        return tuple(found[i] for i in self.input_at)

    def _with_grad_output(self, grad_output: Any) -> Any:
        found = _full(grad_output, self.output_at, self.outputs)
        for hook in self.pre_hooks:
            changed = hook(self.module, found)
            if changed is not None:
                found = _checked(changed, len(found), "Backward pre hook", "grad_output")
        self.grad_output = found
        if self.input_at is None:
            self._without_inputs()
        return tuple(found[i] for i in self.output_at)

    def _without_inputs(self) -> None:
        """No input requires grad: the hooks are called as soon as grad_output is known."""
        if self.hooks:
            warnings.warn(
                "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs require "
                "gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module."
                "register_full_backward_hook for more details.",
                stacklevel=2,
            )
        for hook in self.hooks:
            changed = hook(self.module, (None,) * self.inputs, self.grad_output)
            if changed is not None and not (isinstance(changed, tuple) and all(x is None for x in changed)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or None for all "
                    "gradients."
                )
        self.grad_output = None


def _through_node(given: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[int] | None, Any]:
    """The tensors among `given` behind one node, their places, the node. If none requires grad, all stays."""
    at = [i for i, x in enumerate(given) if isinstance(x, Tensor)]
    if not recording() or not any(given[i].requires_grad for i in at):
        return given, None, None
    passed = BackwardHookFunction.apply(*[given[i] for i in at])
    found = list(given)
    for i, x in zip(at, passed, strict=True):
        found[i] = x
    node = next(x.grad_fn for x in passed if x.grad_fn is not None)
    kind: Any = type(given)
    return (tuple(found) if kind is tuple else kind(*found)), at, node


def _full(gradients: Any, at: list[int], length: int) -> tuple[Any, ...]:
    found: list[Any] = [None] * length
    for i, x in zip(at, gradients, strict=True):
        found[i] = x
    return tuple(found)


def _checked(changed: Any, expected: int, who: str, what: str) -> tuple[Any, ...]:
    found = (changed,) if isinstance(changed, Tensor) else tuple(changed)
    if len(found) != expected:
        raise RuntimeError(
            f"{who} returned an invalid number of {what}, got {len(found)}, but expected {expected}"
        )
    return found
