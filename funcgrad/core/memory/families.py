"""Families: who looks into one array, by which steps, and what a write to it may overwrite.

Traces and tensors (torch/tensors/storage.py) have the same families. They differ in what a member is, in what it
forgets when the array is written to, and in what comes with a write: a trace raises what it holds, a tensor counts
versions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any
from weakref import ref

import numpy as np

from funcgrad.core.engine.trace import Tracer, is_foreign, snapshot
from funcgrad.core.memory.layout import copied, is_private
from funcgrad.core.memory.owned import is_own

Step = Callable[[Any], Any]


class Members:
    """Those who look into one array, by weak references; the dead are swept out now and then."""

    __slots__ = ("limit", "references")

    def __init__(self) -> None:
        self.references: list[ref[Any]] = []
        self.limit = _FEW

    def add(self, member: Any) -> None:
        """Count one more."""
        self.references.append(ref(member))
        if len(self.references) > self.limit:
            self.references = [reference for reference in self.references if reference() is not None]
            self.limit = max(_FEW, 2 * len(self.references))

    def drop(self, member: Any) -> None:
        """Count one less: `member` looks elsewhere from now on."""
        self.references = [reference for reference in self.references if reference() is not member]

    def __iter__(self) -> Iterator[Any]:
        for reference in tuple(self.references):
            member = reference()
            if member is not None:
                yield member

    def leave(self) -> Iterator[Any]:
        """All members, none of which is one any more."""
        left = Members()
        left.references, self.references = self.references, []
        return iter(left)


_FEW = 128


def stepped(x: Any, steps: Iterable[Step]) -> Any:
    """What these view operations make of `x`."""
    for step in steps:
        x = step(x)
    return x


def unshared(content: Any, is_free: bool) -> Any:
    """`content`, taken out of its cell, as something that may be written to: a copy, if others hold it.

    A copy has the strides of what it is a copy of, as programs can tell by these what is a view.
    """
    if type(content) is np.ndarray:
        if is_free and (is_own(content) or content.flags.writeable and is_private(content)):
            return content
        return copied(content)
    if isinstance(content, Tracer):
        is_root = content._alias is None or content._alias.shared
        return content if is_root and is_free else snapshot(content)
    return content.copy() if is_foreign(content) else np.array(content)


def are_same_elements(a: np.ndarray, b: np.ndarray) -> bool:
    """Do both look at the same elements in the same order?"""
    return _where(a) == _where(b)


def _where(a: np.ndarray) -> Any:
    return a.__array_interface__["data"], a.shape, a.strides


def clash(a: Any, b: Any) -> bool:
    """Do two arrays share memory, without being the same elements in the same order?"""
    is_plain = type(a) is type(b) is np.ndarray
    return is_plain and not are_same_elements(a, b) and np.shares_memory(a, b)
