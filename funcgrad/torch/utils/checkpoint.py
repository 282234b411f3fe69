"""torch.utils.checkpoint: keep the inputs only, and compute the rest again in backward."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from enum import Enum
from typing import Any

from funcgrad.torch.autograd.function import Function
from funcgrad.torch.graph import exchange, modes
from funcgrad.torch.graph.backward import backward
from funcgrad.torch.tensors.tensor import Tensor, recording
from funcgrad.torch.utils.recomputation import EARLY_STOP, CheckpointError, Recomputation, no_contexts  # noqa: F401


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], Any] = no_contexts,
    **kwargs: Any,
) -> Any:
    """function(*args), without keeping what it computes on the way: backward runs it a second time.

    With use_reentrant=False other keywords go to the function, but for preserve_rng_state (True: the second
    run draws the same random numbers), determinism_check ("default": shapes and dtypes must be the same
    again, or "none"), early_stop (True: the second run ends when all is there) and context_fn (it gives the
    contexts of the first and of the second run). Raises CheckpointError in backward, where the second run
    saves other tensors.

    >>> import funcgrad.torch as torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> torch.utils.checkpoint.checkpoint(torch.sin, x, use_reentrant=False).sum().backward()
    >>> x.grad
    tensor([0.5403, 0.5403])
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. use_reentrant=False is "
            "recommended.",
            UserWarning,
            stacklevel=2,
        )
        use_reentrant = True
    names = ("preserve_rng_state", "determinism_check", "debug", "early_stop")
    options = {name: kwargs.pop(name) for name in names if name in kwargs}
    if not use_reentrant:
        return Recomputation(lambda: function(*args, **kwargs), context_fn, options).first()
    if kwargs:
        raise ValueError(f"Unexpected keyword arguments: {','.join(kwargs)}")
    if context_fn is not no_contexts:
        raise ValueError("Passing `context_fn` is only supported when use_reentrant=False.")
    if not any(isinstance(x, Tensor) and x.requires_grad for x in args):
        warnings.warn(
            "None of the inputs have requires_grad=True. Gradients will be None", UserWarning, stacklevel=2
        )
    return _Reentrant.apply(function, *args) if recording() else function(*args)


class _Reentrant(Function):
    @staticmethod
    def forward(ctx: Any, function: Any, *args: Any) -> Any:
        ctx.function, ctx.args = function, _Held(args)
        return function(*args)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        if exchange.CAPTURING.get():
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
                "parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or call "
                ".backward() without passing the `inputs` argument."
            )
        fresh = [
            x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in ctx.args.items
        ]
        with modes.enable_grad():
            outs = ctx.function(*fresh)
        outs = outs if isinstance(outs, tuple) else (outs,)
        pairs = [
            (o, g) for o, g in zip(outs, gradients, strict=True) if isinstance(o, Tensor) and o.requires_grad
        ]
        backward([o for o, _ in pairs], [g for _, g in pairs])
        return (None, *(x.grad_ if isinstance(x, Tensor) else None for x in fresh))


class _Held:
    """Arguments, kept out of sight of the check for tensors on ctx: they are computed with anew."""

    __slots__ = ("items",)

    def __init__(self, items: tuple[Any, ...]) -> None:
        self.items = items


class set_checkpoint_early_stop:
    """Whether the second run of checkpoints made in this block ends as soon as all that backward needs is
    there.

    >>> from funcgrad.torch.utils.checkpoint import set_checkpoint_early_stop
    >>> with set_checkpoint_early_stop(False):
    ...     pass
    """

    def __init__(self, enable: bool) -> None:
        self.enable = enable

    def __enter__(self) -> None:
        self._token = EARLY_STOP.set(self.enable)

    def __exit__(self, *exception: object) -> None:
        EARLY_STOP.reset(self._token)


# ---- what to keep ------------------------------------------------------------------------------------------------------
class CheckpointPolicy(Enum):
    """What a policy says of the result of an operation: keep it, or compute it again."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4


class SelectiveCheckpointContext:
    """What a policy is told: is this the second run?"""

    def __init__(self, *, is_recompute: bool) -> None:
        self.is_recompute = is_recompute


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Any, allow_cache_entry_mutation: bool = False
) -> tuple[Any, Any]:
    """The contexts of a checkpoint that keeps some results: all are computed again, to the same numbers."""
    if not callable(policy_fn_or_list) and not isinstance(policy_fn_or_list, list):
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    return no_contexts()


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
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
