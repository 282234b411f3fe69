"""torch.utils.checkpoint: keep the inputs only, and compute the rest again in backward."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from funcgrad.torch.autograd.function import Function
from funcgrad.torch.graph import engine, modes
from funcgrad.torch.graph.backward import backward, grad
from funcgrad.torch.tensors.tensor import Tensor, recording


def checkpoint(function: Callable[..., Any], *args: Any, use_reentrant: bool | None = None, **kwargs: Any) -> Any:
    """function(*args), without keeping what it computes on the way: backward runs it a second time."""
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. use_reentrant=False is "
            "recommended.",
            UserWarning,
            stacklevel=2,
        )
        use_reentrant = True
    for name in ("preserve_rng_state", "context_fn", "determinism_check", "debug", "early_stop"):
        kwargs.pop(name, None)
    if use_reentrant and kwargs:
        raise ValueError(f"Unexpected keyword arguments: {','.join(kwargs)}")
    if use_reentrant and not any(isinstance(x, Tensor) and x.requires_grad for x in args):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", UserWarning, stacklevel=2)
    if not recording():
        return function(*args, **kwargs)
    return _Reentrant.apply(function, *args) if use_reentrant else _recomputed(function, args, kwargs)


class _Reentrant(Function):
    @staticmethod
    def forward(ctx: Any, function: Any, *args: Any) -> Any:
        ctx.function, ctx.args = function, _Held(args)
        return function(*args)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        if engine.current_sweep() is not None and engine.current_sweep().captures:
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
                "parameter to "
                ".backward(). To resolve this error, you can either set use_reentrant=False, or call .backward() without "
                "passing the "
                "`inputs` argument."
            )
        fresh = [x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in ctx.args.items]
        with modes.enable_grad():
            outs = ctx.function(*fresh)
        outs = outs if isinstance(outs, tuple) else (outs,)
        pairs = [(o, g) for o, g in zip(outs, gradients, strict=True) if isinstance(o, Tensor) and o.requires_grad]
        backward([o for o, _ in pairs], [g for _, g in pairs])
        return (None, *(x.grad_ if isinstance(x, Tensor) else None for x in fresh))


class _Held:
    """Arguments, kept out of sight of the check for tensors on ctx: they are computed with anew."""

    __slots__ = ("items",)

    def __init__(self, items: tuple[Any, ...]) -> None:
        self.items = items


def _recomputed(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The variant that is right under autograd.grad and create_graph: parameters that the function closes over count too."""
    outer: list[Tensor] = []

    def find_leaves() -> Any:
        with modes.enable_grad():
            return function(*args, **kwargs)

    out = find_leaves()
    outs = out if isinstance(out, tuple) else (out,)
    nodes = [o.node for o in outs if isinstance(o, Tensor) and o.node is not None]
    if not nodes:
        return out
    leaves, inputs = _sources(nodes, args)
    outer = [*inputs, *leaves]

    class CheckpointFunction(Function):
        @staticmethod
        def forward(ctx: Any, *sources: Any) -> Any:
            ctx.save_for_backward(*sources)
            return tuple(o.detach() if isinstance(o, Tensor) else o for o in outs)

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            ctx.saved_tensors  # noqa: B018 (refuses a second time)
            create_graph = modes.is_grad_enabled()
            with modes.enable_grad():
                again = function(*args, **kwargs)
            again = again if isinstance(again, tuple) else (again,)
            pairs = [(o, g) for o, g in zip(again, gradients, strict=True) if isinstance(o, Tensor) and o.requires_grad]
            return grad([o for o, _ in pairs], outer, [g for _, g in pairs], create_graph=create_graph, allow_unused=True)

    found = CheckpointFunction.apply(*outer)
    return found if isinstance(out, tuple) else found[0]


def _sources(nodes: list[Any], args: tuple[Any, ...]) -> tuple[list[Tensor], list[Tensor]]:
    """What the outputs depend on: tensors among the arguments, and leaves that are no arguments."""
    inputs = [x for x in args if isinstance(x, Tensor) and x.node is not None]
    stops = {x.node for x in inputs}
    seen, stack, leaves = set(nodes), [n for n in nodes if n not in stops], []
    while stack:
        for parent in stack.pop().parents:
            if parent in seen or parent in stops:
                continue
            seen.add(parent)
            if parent.plan is None:
                leaves.append(parent.saved())
            else:
                stack.append(parent)
    return [leaf for leaf in leaves if leaf is not None], inputs


def checkpoint_sequential(functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any) -> Any:
    """A sequence of functions in `segments` checkpoints."""
    steps = list(functions.children()) if hasattr(functions, "children") else list(functions)
    size = len(steps) // segments

    def run(start: int, end: int) -> Callable[[Any], Any]:
        def segment(x: Any) -> Any:
            for step in steps[start:end]:
                x = step(x)
            return x

        return segment

    for k in range(segments - 1):
        input = checkpoint(run(k * size, (k + 1) * size), input, use_reentrant=use_reentrant, **kwargs)
    return run((segments - 1) * size, len(steps))(input)
