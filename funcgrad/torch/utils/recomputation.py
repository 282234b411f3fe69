"""How a checkpoint forgets and finds again what its operations save: by hooks on saved tensors.

In forward each saved tensor is given a number, and dropped. When backward asks for one, the function runs
again, the tensors are numbered as before, and the run ends as soon as the last of them is there.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from contextvars import ContextVar
from typing import Any

from funcgrad.torch.graph import modes
from funcgrad.torch.graph.saved import saved_tensors_hooks
from funcgrad.torch.random import default_generator
from funcgrad.torch.tensors.tensor import Tensor

EARLY_STOP: ContextVar[bool | None] = ContextVar("early_stop", default=None)


class CheckpointError(RuntimeError):
    """The second run of a checkpointed function did not save what the first one saved."""


class StopRecomputation(Exception):
    """All that backward needs is there again."""


class Recomputation:
    """One call of a checkpointed function: its arguments, and the tensors that its operations save."""

    def __init__(
        self, function: Callable[[], Any], contexts: Callable[[], Any], options: dict[str, Any]
    ) -> None:
        self.function = function
        self.context, self.again = contexts()
        self.compare = options.get("determinism_check", "default") == "default"
        forced = EARLY_STOP.get()
        self.stops = options.get("early_stop", True) if forced is None else forced
        self.state = default_generator.state_bytes() if options.get("preserve_rng_state", True) else None
        self.kinds: list[tuple[Any, Any]] = []  # the shape and dtype of each saved tensor
        self.found: dict[int, Tensor] = {}

    def first(self) -> Any:
        """Run the function, and drop what is saved."""
        with saved_tensors_hooks(self._drop, self._find), self.context:
            return self.function()

    def _drop(self, x: Tensor) -> int:
        self.kinds.append((tuple(x.shape), x.dtype))
        return len(self.kinds) - 1

    def _find(self, number: int) -> Tensor:
        if number not in self.found:
            self._run_again()
        return self.found.pop(number)

    def _run_again(self) -> None:
        kept: list[Tensor] = []

        def keep(x: Tensor) -> Tensor:
            kept.append(x.detach())
            if self.stops and len(kept) == len(self.kinds):
                raise StopRecomputation
            return kept[-1]

        later = default_generator.state_bytes()
        try:
            if self.state is not None:
                default_generator.set_state_bytes(self.state)
            with modes.enable_grad(), saved_tensors_hooks(keep, lambda x: x), self.again:
                self.function()
        except StopRecomputation:
            pass
        finally:
            if self.state is not None:
                default_generator.set_state_bytes(later)
        self._check(kept)
        self.found = dict(enumerate(kept))

    def _check(self, kept: list[Tensor]) -> None:
        if len(kept) != len(self.kinds):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and recomputation.\n"
                f"Number of tensors saved during forward: {len(self.kinds)}\n"
                f"Number of tensors saved during recomputation: {len(kept)}.\n"
                "The function has to do the same each time: take what it branches on as an argument."
            )
        differing = [
            f"tensor at position {i}:\nsaved: {first}\nrecomputed: {(tuple(x.shape), x.dtype)}"
            for i, (first, x) in enumerate(zip(self.kinds, kept, strict=True))
            if first != (tuple(x.shape), x.dtype)
        ]
        if self.compare and differing:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during the "
                "forward pass.\n" + "\n".join(differing)
            )


def no_contexts() -> tuple[Any, Any]:
    """The contexts of a checkpoint that wants none."""
    return nullcontext(), nullcontext()
