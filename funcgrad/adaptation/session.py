"""What lasts as long as a call of an adapted function runs, and is put back afterwards.

Objects that were there before the call have the original classes, whose methods are not adapted. While the
call runs they are objects of the copies instead, which do the same; so they keep their identity and their
state, in whatever containers they are. Calls may be nested, and run in several threads: things are put back
when the last one has ended.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any

from funcgrad.core.memory.looks import hand_out_looks


class Session:
    """Counts the calls that run, and remembers what has to be undone after the last of them."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.running = 0
        self.number = 0  # of the session: it is a new one when no call was running before
        self.seen: dict[int, Any] = {}  # objects that have been looked through, by identity
        self.undo: list[Callable[[], None]] = []

    def __enter__(self) -> None:
        with self.lock:
            if not self.running:
                self.number += 1
                hand_out_looks(adapted=True)
            self.running += 1

    def __exit__(self, *error: object) -> None:
        with self.lock:
            self.running -= 1
            if not self.running:
                hand_out_looks(adapted=False)
                undo, self.undo, self.seen = self.undo, [], {}
                for step in reversed(undo):
                    step()

    @property
    def is_outermost(self) -> bool:
        """Is only one call running?"""
        return self.running <= 1

    def has_seen(self, x: Any) -> bool:
        """Was `x` looked through already? (From now on it was.)"""
        if id(x) in self.seen:
            return True
        self.seen[id(x)] = x
        return False

    def switch(self, x: Any, cls: type, *, undo: bool = True) -> None:
        """Make `x` an object of the class `cls`, if Python lets it be one."""
        before = type(x)
        try:
            object.__setattr__(x, "__class__", cls)
        except TypeError:
            return
        if undo:
            self.undo.append(lambda: object.__setattr__(x, "__class__", before) if type(x) is cls else None)

    def replace_attribute(self, cls: type, name: str, before: Any, value: Any) -> None:
        """cls.name = value, for a class; undone."""
        type.__setattr__(cls, name, value)
        self.undo.append(lambda: type.__setattr__(cls, name, before))

    def replace(self, space: dict[Any, Any], key: Any, value: Any) -> None:
        """space[key] = value; undone, unless the program has put something else there."""
        before, space[key] = space[key], value

        def put_back() -> None:
            if space.get(key) is value:
                space[key] = before

        self.undo.append(put_back)


SESSION = Session()
