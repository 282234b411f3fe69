"""Settings that are one number for all axes, or a tuple of one for each."""

from __future__ import annotations

from typing import Any


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
