"""Sizes and times, as people read them."""

from __future__ import annotations


def memory(size: int) -> str:
    """Bytes."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} B"


def duration(seconds: float) -> str:
    """A time."""
    for unit, factor in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= factor:
            return f"{seconds / factor:.2f} {unit}"
    return f"{seconds * 1e6:.1f} µs"
