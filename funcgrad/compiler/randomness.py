"""Random numbers that a function draws while it is recorded: a program would go on with those."""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterable
from typing import Any

import numpy as np


class Streams:
    """The streams of random numbers that a function can draw from: `generators` with names, and the global ones."""

    def __init__(self, generators: Iterable[tuple[Any, str]]) -> None:
        self.generators = [*generators, (random, "random"), (np.random, "np.random")]
        self.before = self._states()

    def drawn(self, earlier: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:
        """The name of a stream that has moved since, and where all are now.

        One that stands where it stood after an `earlier` run is seeded by the function: its numbers are the same
        each time.
        """
        now = self._states()
        moved = (k for k, state in now.items() if state != self.before[k] and state != earlier.get(k))
        return next(moved, None), now

    def _states(self) -> dict[str, Any]:
        return {name: state_of(x) for x, name in self.generators}


def state_of(x: Any) -> Any:
    """Where a stream of random numbers is."""
    if has_state_bytes(x):
        return x.state_bytes()
    if isinstance(x, np.random.Generator):
        x = x.bit_generator
    if isinstance(x, np.random.BitGenerator):
        return pickle.dumps(x.state)
    try:
        return x.getstate() if hasattr(x, "getstate") else pickle.dumps(x.get_state(legacy=False))
    except NotImplementedError:  # random.SystemRandom, which has none
        return None


def has_state_bytes(x: Any) -> bool:
    """Is it a stream that tells by itself where it is?"""
    return hasattr(type(x), "state_bytes")
