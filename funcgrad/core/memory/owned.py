"""Who else holds an array? The interpreter's reference count tells whether it may be overwritten.

`taken` asks for what a cell or a storage holds; `Owned`, for the cotangents of the sweep: large ones are multiplied
and added in place if nobody else holds them, as fresh memory is slow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sys import getrefcount
from types import SimpleNamespace
from typing import Any

import numpy as np

from funcgrad.core.memory.plain import LARGE, ndarray


# ---- what a slot holds -----------------------------------------------------------------------------------------------
def taken(holder: Any, slot: str) -> tuple[Any, bool]:
    """What is in a slot, taken out of it; and is it free: does nobody else hold it?"""
    value = getattr(holder, slot)
    setattr(holder, slot, None)
    is_free = getrefcount(value) <= FREE  # in a line of its own: the pair would be a second holder
    return value, is_free


def _count(holder: Any, slot: str) -> int:
    value = getattr(holder, slot)
    setattr(holder, slot, None)
    return getrefcount(value)


# The reference count, seen in `taken`, of a value that nobody but the slot held.
FREE = _count(SimpleNamespace(value=np.ones(3)), "value")


def is_own(x: Any) -> bool:
    """Is `x` an array of its own, no view, that may be written to?"""
    return type(x) is ndarray and x.base is None and x.flags.writeable


# ---- cotangents ------------------------------------------------------------------------------------------------------
def scaled(ct: Any, partial: Any) -> Any:
    """ct * partial; into the buffer of `ct`, if that is large and nobody else holds it."""
    is_owned = getrefcount(ct) <= OWNED.scaling and ct.base is None
    return _times(ct, partial, is_owned)


def scaled_by(ct: Any, formula: Callable[..., Any], *saved: Any) -> Any:
    """scaled(ct, formula(*saved)), in blocks if `ct` is very large, so that temporaries stay in the cache."""
    is_owned = getrefcount(ct) <= OWNED.scaling and ct.base is None
    if ct.size < 2 * BLOCK or not _alike(ct, saved):
        return _times(ct, formula(*saved), is_owned)
    out = ct if is_owned else np.empty_like(ct)
    flat = [x.reshape(-1) if type(x) is ndarray else x for x in (out, ct, *saved)]
    for start in range(0, ct.size, BLOCK):
        to, part, *values = [x[start : start + BLOCK] if type(x) is ndarray else x for x in flat]
        np.multiply(part, formula(*values), out=to)
    return out


def _times(ct: Any, partial: Any, is_owned: bool) -> Any:
    if is_owned and type(partial) is ndarray and partial.shape == ct.shape and partial.dtype == ct.dtype:
        return np.multiply(ct, partial, out=ct)
    if is_owned and type(partial) in (float, int) and ct.dtype.kind == "f":
        return np.negative(ct, out=ct) if partial == -1 else np.multiply(ct, partial, out=ct)
    return ct * partial


def _alike(ct: Any, saved: Sequence[Any]) -> bool:
    """Do all of these lie in memory like `ct`, one element after the other? (A number belongs to each.)"""
    shape, dtype = ct.shape, ct.dtype
    return dtype.kind == "f" and all(
        x.shape == shape and x.dtype == dtype and x.flags.c_contiguous
        if type(x) is ndarray
        else type(x) in (float, int)
        for x in (ct, *saved)
    )


BLOCK = 1 << 16  # elements; fresh memory of this size is not given back, and asked for again, each time


class Owned:
    """The reference counts of a cotangent that only the sweep holds: then it may be overwritten.

    `merging` is that seen in `merged`; `scaling`, that seen in `scaled` and `scaled_by`. They depend on the
    interpreter, so it is asked: a tiny graph is swept with growing limits until the buffer is reused. Where
    an extra holder can't be told from none (no such counts on this interpreter), nothing is ever overwritten.
    """

    __slots__ = ("merging", "scaling")

    def __init__(self) -> None:
        self.merging = self.scaling = 0

    def measure(self, sweep: Callable[..., Any], make_node: Callable[..., Any]) -> None:
        """Ask the interpreter, by way of `sweep`."""
        self.merging = self.scaling = 0
        probe = Probes(sweep, make_node)
        for name, probes in (
            ("scaling", (probe.in_scaled, probe.in_scaled_by)),
            ("merging", (probe.in_merged,)),
        ):
            for limit in range(1, 9):
                setattr(self, name, limit)
                if all(reuses(None) for reuses in probes):
                    break
            holders: list[Any] = []
            if not all(reuses(None) for reuses in probes) or any(reuses(holders) for reuses in probes):
                setattr(self, name, 0)


OWNED = Owned()


class Probes:
    """Sweep tiny graphs: is a large cotangent overwritten that nobody (or somebody: `holders`) holds?"""

    def __init__(self, sweep: Callable[..., Any], make_node: Callable[..., Any]) -> None:
        self.sweep, self.make_node = sweep, make_node

    def in_scaled(self, holders: list[Any] | None) -> bool:
        """When it is multiplied by a number."""
        return self._in_pull(lambda ct, saved: (scaled(ct, 2.0),), holders)

    def in_scaled_by(self, holders: list[Any] | None) -> bool:
        """When it is multiplied by what a formula gives."""
        partial = np.ones(LARGE)
        return self._in_pull(lambda ct, saved: (scaled_by(ct, lambda x: x, partial),), holders)

    def _in_pull(self, pull: Callable[[Any, Any], Any], holders: list[Any] | None) -> bool:
        fresh: list[int] = []
        leaf = self._node(0, None, ())
        scaling = self._node(-1, pull, (leaf,))
        source = self._node(-2, lambda ct, saved: (_fresh(fresh, holders),), (scaling,))
        return id(self.sweep([(source, np.ones(LARGE))])[leaf]) == fresh[0]

    def in_merged(self, holders: list[Any] | None) -> bool:
        """When another contribution is added to it."""
        fresh: list[int] = []
        leaf = self._node(0, None, ())
        second = self._node(-1, lambda ct, saved: (_fresh([], None),), (leaf,))
        first = self._node(-2, lambda ct, saved: (_fresh(fresh, holders),), (leaf,))
        source = self._node(-3, lambda ct, saved: (ct, ct), (first, second))
        return id(self.sweep([(source, np.ones(LARGE))])[leaf]) == fresh[0]

    def _node(self, number: int, pull: Callable[[Any, Any], Any] | None, parents: tuple[Any, ...]) -> Any:
        plan = None if pull is None else SimpleNamespace(pull=pull, name="a probe", masks=True)
        return self.make_node(number, plan, None, parents, (LARGE,), np.dtype(float))


def _fresh(ids: list[int], holders: list[Any] | None) -> Any:
    array = np.ones(LARGE)
    ids.append(id(array))
    if holders is not None:
        holders.append(array)
    return array
