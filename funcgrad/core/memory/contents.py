"""What is written into an array, and what indexes one: objects of other libraries count there by position."""

from __future__ import annotations

from typing import Any

from funcgrad.core.arrays import foreign
from funcgrad.core.arrays.arguments import TAKEN, as_operand
from funcgrad.core.engine.trace import Tracer
from funcgrad.core.memory.looks import Look, looked_through


def as_content(x: Any) -> Any:
    """`x`, to be written into an array: as an operand, but its labels do not count."""
    if type(x) in TAKEN:
        return x
    is_known = isinstance(x, (Tracer, list, tuple, range)) or hasattr(x, "__operand__")
    return as_operand(x) if is_known else foreign.content(x)


def as_index(index: Any) -> Any:
    """An index, in which objects of other libraries have become arrays."""
    kind = type(index)
    if kind is tuple:
        return index if _INDICES.issuperset(map(type, index)) else tuple([_as_index(i) for i in index])
    return index if kind in _INDICES else _as_index(index)


_INDICES = TAKEN | {slice, list, type(None), type(Ellipsis)}


def _as_index(i: Any) -> Any:
    if isinstance(i, Look):
        return looked_through(i)
    return (
        i
        if type(i) in _INDICES or isinstance(i, (Tracer, tuple)) or hasattr(i, "__operand__")
        else foreign.index(i)
    )
