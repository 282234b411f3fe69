"""torch.autograd.profiler: how long and how often named blocks run (single operations are not timed)."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

_RUNNING: ContextVar[profile | None] = ContextVar("profile", default=None)


class Event:
    """All runs of the blocks of one name: how many, microseconds with and without inner blocks."""

    def __init__(self, key: str) -> None:
        self.key, self.count = key, 0
        self.cpu_time_total = self.self_cpu_time_total = 0.0

    @property
    def cpu_time(self) -> float:
        """The mean time of a run."""
        return self.cpu_time_total / max(self.count, 1)

    def __repr__(self) -> str:
        return f"<Event {self.key}: {self.count} runs, {self.cpu_time_total:.1f}us>"


class Averages(list[Event]):
    """The events of a profile."""

    def table(self, sort_by: str | None = None, row_limit: int = 100, **_: Any) -> str:
        """A table, sorted by an attribute of the events."""
        rows = sorted(self, key=lambda e: -getattr(e, sort_by)) if sort_by else list(self)
        width = max([4, *(len(e.key) for e in rows)])
        lines = [
            f"{'Name':<{width}}  {'Self CPU':>12}  {'CPU total':>12}  {'CPU time avg':>12}  {'# of Calls':>10}"
        ]
        for e in rows[:row_limit]:
            times = "  ".join(f"{t:>10.3f}us" for t in (e.self_cpu_time_total, e.cpu_time_total, e.cpu_time))
            lines.append(f"{e.key:<{width}}  {times}  {e.count:>10}")
        return "\n".join(lines) + "\n"


class profile:
    """While this is open, each `record_function` block is timed.

    >>> import funcgrad.torch as torch
    >>> with torch.autograd.profiler.profile() as found:
    ...     with torch.autograd.profiler.record_function("sum"):
    ...         _ = torch.ones(3).sum()
    >>> [(event.key, event.count) for event in found.key_averages()]
    [('sum', 1)]
    """

    def __init__(self, enabled: bool = True, **_: Any) -> None:
        self.enabled = enabled
        self._events: dict[str, Event] = {}
        self._inner: list[float] = []  # the time spent in blocks inside each block that is open
        self._tokens: list[Any] = []

    def __enter__(self) -> profile:
        self._tokens.append(_RUNNING.set(self if self.enabled else None))
        return self

    def __exit__(self, *exception: object) -> None:
        _RUNNING.reset(self._tokens.pop())

    def note(self, name: str, elapsed: float) -> None:
        """A block has run for so many microseconds."""
        event = self._events.setdefault(name, Event(name))
        event.count += 1
        event.cpu_time_total += elapsed
        event.self_cpu_time_total += elapsed - self._inner.pop()
        if self._inner:
            self._inner[-1] += elapsed

    def begin(self) -> None:
        """A block begins."""
        self._inner.append(0.0)

    def key_averages(self, *_: Any, **__: Any) -> Averages:
        """The events, one for each name."""
        return Averages(self._events.values())

    def table(self, **options: Any) -> str:
        """See Averages.table."""
        return self.key_averages().table(**options)

    @property
    def self_cpu_time_total(self) -> float:
        """The time of all blocks, in microseconds."""
        return sum(event.self_cpu_time_total for event in self._events.values())


class record_function:
    """A named block (or a decorated function), timed where a `profile` is open."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name

    def __enter__(self) -> record_function:
        self._profile = _RUNNING.get()
        if self._profile is not None:
            self._profile.begin()
        self._start = time.perf_counter()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._profile is not None:
            self._profile.note(self.name, (time.perf_counter() - self._start) * 1e6)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def timed(*args: Any, **kwargs: Any) -> Any:
            with record_function(self.name):
                return function(*args, **kwargs)

        return timed
