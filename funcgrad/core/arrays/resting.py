"""Functions that look for tracers only while a transform runs, in whatever thread.

A Python function that asks whether a transform runs, and then calls NumPy's, takes two or three times what
NumPy's takes of a small array. So the functions of `funcgrad.numpy` are `functools.partial` objects, which C
code calls, and whose function can be exchanged. What they call first is the looking function. Where that has
been called in vain for a while, and no transform runs anywhere, the plain one takes its place: it rests. The
next transform that begins wakes whatever rests.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import Any

PATIENCE = 50  # calls in vain
LIVE: list[None] = []  # one item for each transform that runs
RESTING: dict[int, Resting] = {}
_CHANGING = Lock()  # one thread must not lay to rest what another one wakes
# Without a lock of the interpreter, one thread could exchange a function while another one fetches it.
_CAN_REST = sys.implementation.name == "cpython" and getattr(sys, "_is_gil_enabled", lambda: True)()


class Resting:
    """What is called in the place of `plain`: that itself, or `looking(rest)`, which calls `rest` in vain.

    `call` is the object that users see; it is pickled and copied by its name in its module.
    """

    def __init__(self, plain: Callable[..., Any], looking: Callable[[Callable[[], None]], Any]) -> None:
        self.plain, self.calls = plain, 0
        self.looking = looking(self.in_vain)
        self.call: Any = partial(self.looking)
        self.call.__reduce_ex__ = lambda protocol: self.call.__name__

    def in_vain(self) -> None:
        """The looking function was called, and there was nothing to look for."""
        self.calls += 1
        if self.calls >= PATIENCE:
            self.calls = 0
            self.rest()

    def rest(self) -> None:
        """Let the plain function be called, unless a transform runs."""
        with _CHANGING:
            RESTING[id(self)] = self  # first: a transform that begins now waits for the lock, and wakes it
            if LIVE or not _CAN_REST:
                self.wake()  # another thread may have laid it to rest
                del RESTING[id(self)]
            else:
                self._exchange(self.plain)

    def _exchange(self, function: Callable[..., Any]) -> None:
        self.call.__setstate__((function, (), {}, self.call.__dict__))

    def wake(self) -> None:
        """Let the looking function be called."""
        self._exchange(self.looking)


def wake_all() -> None:
    """A transform has begun."""
    with _CHANGING:
        for resting in RESTING.values():
            resting.wake()
        RESTING.clear()


def _new_lock() -> None:
    global _CHANGING
    _CHANGING = Lock()


if hasattr(os, "register_at_fork"):  # another thread may have held it
    os.register_at_fork(after_in_child=_new_lock)
