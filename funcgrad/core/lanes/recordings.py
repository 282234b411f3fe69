"""Whether jit records somewhere: then what is made after many calls is made at the first one.

Two recordings of a function are compared step by step. So neither may go by the general lane where the other
goes by one that was made in the meantime.
"""

from __future__ import annotations

import threading


class Recordings:
    """How many recordings are running, in all threads."""

    def __init__(self) -> None:
        self.running = 0
        self._lock = threading.Lock()

    def begin(self) -> None:
        """One more is running."""
        with self._lock:
            self.running += 1

    def end(self) -> None:
        """One has ended."""
        with self._lock:
            self.running -= 1


RECORDINGS = Recordings()
