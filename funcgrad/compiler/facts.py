"""What is remembered of the surroundings of a function, and asked again before each call.

A fact says what stood where: in a cell, under a name, in a list, in the memory of an array. All facts of a
function are one expression of Python, so that asking costs some ten nanoseconds for each.
"""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from funcgrad.compiler.constants import same

MISSING: Any = object()
ATOMS = frozenset([int, float, complex, bool, str, bytes, type(None)])
LARGE = 1 << 26  # bytes of an array: up to here a copy is kept of it
_BLOCK = 1 << 16  # bytes of an array that are compared at once


class Fact(NamedTuple):
    """`value` is what `holder` has under `key`; `name` is how messages call it."""

    kind: str
    holder: Any
    key: Any
    value: Any
    name: str

    def still_holds(self) -> bool:
        """Is it as it was? A number need not be the same object."""
        try:
            if self.kind in _OBJECTS:
                now = _OBJECTS[self.kind][1](self.holder, self.key)
                return now is self.value or type(now) in ATOMS and same(now, self.value)
            return _CONTENTS[self.kind][1](self.holder, self.value)
        except Exception:  # noqa: BLE001 (who can't be asked any more has changed)
            return False


class Content:
    """What is in an array, bit for bit (of objects: which ones); its shape and dtype, too.

    Large arrays leave digests. Of a part that fits into the cache, a copy is compared ten times as fast.
    """

    __slots__ = ("dtype", "held", "kept", "parts", "shape")

    def __init__(self, array: np.ndarray) -> None:
        self.shape, self.dtype = array.shape, array.dtype
        self.kept = _bits if array.nbytes <= LARGE else _digest
        self.parts = [self.kept(part) for part in _parts(array)]
        self.held = array.tolist() if array.dtype.hasobject else None  # addresses are not used again

    def is_in(self, array: np.ndarray) -> bool:
        """Does the array hold the same?"""
        if array.shape != self.shape or array.dtype != self.dtype:
            return False
        return all(self.kept(part) == mine for part, mine in zip(_parts(array), self.parts))


def _bits(part: np.ndarray) -> bytes:
    return part.tobytes()


def _digest(part: np.ndarray) -> bytes:
    return hashlib.sha1(part.tobytes()).digest()


def _parts(array: np.ndarray) -> Iterable[np.ndarray]:
    if array.nbytes <= _BLOCK:
        return (array,)
    flat = array.ravel("K") if array.flags.forc else array
    size = max(1, _BLOCK * len(flat) // array.nbytes)
    return [flat[i : i + size] for i in range(0, len(flat), size)]


def _has_items(holder: Any, items: list[Any]) -> bool:
    return len(holder) == len(items) and all(map(operator.is_, holder, items))


# What gives an object, and is compared by identity: as an expression, and as a function of holder and key.
_OBJECTS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "cell": ("{h}.cell_contents", lambda holder, key: holder.cell_contents),
    "entry": ("{h}.get({k}, MISSING)", lambda holder, key: holder.get(key, MISSING)),
    "attribute": ("getattr({h}, {k}, MISSING)", lambda holder, key: getattr(holder, key, MISSING)),
    "variable": ("{h}.get(MISSING)", lambda holder, key: holder.get(MISSING)),
}
# What is compared in its own way.
_CONTENTS: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "size": ("len({h}) == {v}", lambda holder, size: len(holder) == size),
    "without": ("{h}.keys().isdisjoint({v})", lambda holder, names: holder.keys().isdisjoint(names)),
    "items": ("o_has_items({h}, {v})", _has_items),
    "bytes": ("bytes({h}) == {v}", lambda holder, content: bytes(holder) == content),
    "content": ("{v}.is_in({h})", lambda holder, content: content.is_in(holder)),
}


def question(facts: Iterable[Fact]) -> Callable[[], bool]:
    """A function that tells whether all of these hold; where one does not, it may also raise an error."""
    text, space = asked(facts)
    exec(f"def hold(): return {text}", space)
    return space["hold"]


def asked(facts: Iterable[Fact]) -> tuple[str, dict[str, Any]]:
    """The same as an expression, and the objects that it names: all begin with an o, or are in capitals."""
    space: dict[str, Any] = {
        "MISSING": MISSING,
        "o_has_items": _has_items,
    }
    names: dict[int, str] = {}

    def name(x: Any) -> str:
        if id(x) not in names:
            names[id(x)] = f"o{len(names)}"
            space[names[id(x)]] = x
        return names[id(x)]

    parts = []
    for fact in facts:
        h, k, v = name(fact.holder), name(fact.key), name(fact.value)
        if fact.kind in _OBJECTS:
            parts.append(f"{_OBJECTS[fact.kind][0].format(h=h, k=k)} is {v}")
        else:
            parts.append(_CONTENTS[fact.kind][0].format(h=h, v=v))
    return " and ".join(parts) or "True", space
