"""Plain arrays that a rule has saved must not change until the sweep has used them.

The user may well write into an array after it was used (`y = x * a; a[0] = 5`). What is saved of a small
array is therefore a copy: bounded cost, and nobody notices. A large one is made read-only while its trace is
open, so that the write is an error instead of a wrong gradient; its writeable flag comes back when the last
trace that has saved it closes. A trace whose tape outlives the function (vjp) copies whatever the size.
"""

from __future__ import annotations

import math
from _thread import RLock  # as threading has it; that module takes longer to load than all of core

import numpy as np

from funcgrad.typed import override

SMALL = 1 << 16  # bytes; a copy of this size costs a few microseconds


class Locks:
    """The arrays that traces have saved and so made read-only, with a count of traces, over all threads."""

    def __init__(self) -> None:
        self.held: dict[int, tuple[np.ndarray, int]] = {}
        self.mutex = RLock()  # a trace may be collected, and close, while another one is here

    def take(self, array: np.ndarray) -> bool:
        """Lock an array, or count one more holder; False if it is read-only for a reason of the user's own."""
        with self.mutex:
            _, count = self.held.get(id(array), (array, 0))
            if not count and not array.flags.writeable:
                return False
            array.flags.writeable = False
            self.held[id(array)] = array, count + 1
            return True

    def release(self, arrays: list[np.ndarray]) -> None:
        """Count one holder less for each of these; what nobody holds any more becomes writeable."""
        with self.mutex:
            for array in arrays:
                self.held[id(array)] = array, self.held[id(array)][1] - 1
            for array in [array for array, count in self.held.values() if not count]:
                self._unlock(array)

    def _unlock(self, array: np.ndarray) -> None:
        """The memory's owner comes first, since a view can't be writeable before it."""
        base = array.base
        if type(base) is np.ndarray and id(base) in self.held:
            if self.held[id(base)][1]:
                return
            self._unlock(base)
        if self.held.pop(id(array), None) is not None:
            array.flags.writeable = True


LOCKS = Locks()


class SavedArrays:
    """The large arrays that one trace has made read-only."""

    limit: float = SMALL
    locked: dict[int, np.ndarray] | None = None  # most traces need none

    def keep(self, x: np.ndarray) -> np.ndarray:
        """What to save of the plain array `x`: a copy, or `x` itself, locked with all that it looks into."""
        if x.nbytes <= self.limit:
            return x.copy("K")
        if self.locked is None:
            self.locked = {}
        array: object = x
        while type(array) is np.ndarray:
            if id(array) not in self.locked and LOCKS.take(array):
                self.locked[id(array)] = array
            array = array.base
        return x

    def release(self) -> None:
        """Let go of all of them."""
        if self.locked:
            LOCKS.release(list(self.locked.values()))
            self.locked = None


class SavedCopies(SavedArrays):
    """For a trace whose tape outlives it: arrays are copied whatever their size."""

    limit = math.inf


class Unguarded(SavedArrays):
    """For a trace that never closes and has its own way to notice writes: arrays are saved as they are."""

    @override
    def keep(self, x: np.ndarray) -> np.ndarray:
        """`x` itself."""
        return x
