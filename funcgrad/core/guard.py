"""Plain arrays that a rule has saved must not change until the sweep has used them.

The user may well write into an array after it was used (`y = x * a; a[0] = 5`). What is saved of a small array is therefore a
copy: bounded cost, and nobody notices. A large one is made read-only while its trace is open, so that the write is an error
instead of a wrong gradient; its writeable flag comes back when the trace closes. A trace whose tape outlives the function (vjp)
copies whatever the size.
"""

from __future__ import annotations

import numpy as np

SMALL = 1 << 16  # bytes; a copy of this size costs a few microseconds


class Guard:
    """The large arrays that one trace has made read-only."""

    __slots__ = ("limit", "locked")

    def __init__(self, limit: float = SMALL) -> None:
        self.limit = limit
        self.locked: list[np.ndarray] = []

    def keep(self, x: np.ndarray) -> np.ndarray:
        """What to save of the plain array `x`: a copy, or `x` itself, locked together with the arrays that it looks into."""
        if x.nbytes <= self.limit:
            return x.copy("K")
        array: object = x
        while type(array) is np.ndarray:
            if array.flags.writeable:
                self.locked.append(array)
                array.flags.writeable = False
            array = array.base
        return x

    def release(self) -> None:
        """Give the writeable flags back, owners first: a view can't be writeable before its base is."""
        for array in reversed(self.locked):
            array.flags.writeable = True
        self.locked.clear()


class Unguarded(Guard):
    """For a trace that never closes and has its own way to notice writes: arrays are saved as they are."""

    __slots__ = ()

    def keep(self, x: np.ndarray) -> np.ndarray:
        """`x` itself."""
        return x
