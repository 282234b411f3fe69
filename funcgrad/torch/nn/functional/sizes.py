"""Settings that are one number for all axes, or a tuple of one for each; functions for one, two and three axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_AXES = {1: "axis", 2: "two axes", 3: "three axes"}
_SIZES = {1: "L", 2: "H, W", 3: "D, H, W"}
_KERNEL = {1: "kL", 2: "kH, kW", 3: "kD, kH, kW"}


def for_ranks(make: Callable[[int], Any], text: str, suffix: str = "") -> list[Any]:
    """make(1), make(2) and make(3): functions that are called name1d, name2d and name3d (and a suffix).

    In their docstring, `text`, {rank}, {axes}, {sizes} and {kernel} are filled in.
    """
    made = [make(rank) for rank in (1, 2, 3)]
    for rank, function in enumerate(made, 1):
        function.__name__ = function.__qualname__ = f"{function.__name__}{rank}d{suffix}"
        words = {"axes": _AXES[rank], "sizes": _SIZES[rank], "kernel": _KERNEL[rank]}
        function.__doc__ = text.format(rank=rank, **words)
    return made


def spread_out(x: Any, rank: int, name: str) -> tuple[int, ...]:
    """One number for each axis. Raises RuntimeError for a tuple of another length."""
    if not isinstance(x, (tuple, list)):
        return (x,) * rank
    if len(x) == 1:
        return tuple(x) * rank
    if len(x) != rank:
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {rank} values, but got {name}={list(x)}"
        )
    return tuple(x)


def repeated(x: Any, rank: int) -> tuple[Any, ...]:
    """A module's setting as it is shown: a number for each axis."""
    return tuple(x) if isinstance(x, (tuple, list)) else (x,) * rank
