"""Random numbers under vmap: refused, the same, or different ones, as its `randomness` says."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, NamedTuple

from funcgrad.core.engine.batch import BatchTrace

CHOICES = ("error", "different", "same")


class Batch(NamedTuple):
    """One vmap that is running: its trace, what it says of random numbers, and the vmap around it."""

    owner: BatchTrace
    randomness: str
    around: Batch | None


BATCH: ContextVar[Batch | None] = ContextVar("batch", default=None)


def drawn(draw: Callable[[tuple[int, ...]], Any], shape: Any) -> Any:
    """What `draw` makes of a shape; under a vmap with different numbers, a draw for each example.

    Raises RuntimeError under a vmap that does not say which.
    """
    different = _different()
    value = draw((*[trace.size for trace in different], *shape))
    for trace in different:  # the outermost first
        value = trace.wrap(value, None)
    return value


def same_for_all(name: str) -> None:
    """Refuse a function that gives all examples the same numbers, where they are to be different."""
    if _different():
        raise RuntimeError(
            f"vmap: {name} gives all examples the same numbers. Write randomness='same', or use torch.rand or torch.randn, which "
            "draw for each example"
        )


def _different() -> list[BatchTrace]:
    """The running vmaps whose examples get different numbers, the outermost first."""
    found, different = BATCH.get(), []
    while found is not None:
        if found.randomness == "error":
            raise RuntimeError(
                "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
                "randomness flags on vmap or perform the randomness operation out of vmap"
            )
        if found.randomness == "different":
            different.insert(0, found.owner)
        found = found.around
    return different
