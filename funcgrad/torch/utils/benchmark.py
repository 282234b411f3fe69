"""torch.utils.benchmark: how long statements take."""

from __future__ import annotations

import textwrap
import timeit as _timeit
from collections.abc import Callable, Iterable
from statistics import mean, median
from typing import Any

_UNITS = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9))


def _shown(seconds: float) -> str:
    name, unit = next(((n, u) for n, u in _UNITS if seconds >= u), _UNITS[-1])
    return f"{seconds / unit:.2f} {name}"


class Measurement:
    """What a Timer has measured: `raw_times`, each of number_per_run runs."""

    def __init__(
        self, number_per_run: int, raw_times: list[float], title: str, options: dict[str, Any]
    ) -> None:
        self.number_per_run, self.raw_times, self.title = number_per_run, raw_times, title
        self.label, self.sub_label, self.description = (
            options.get(k) for k in ("label", "sub_label", "description")
        )
        self.num_threads = options.get("num_threads", 1)

    @property
    def times(self) -> list[float]:
        """Seconds for one run."""
        return [t / self.number_per_run for t in self.raw_times]

    @property
    def mean(self) -> float:
        """The mean of the times."""
        return mean(self.times)

    @property
    def median(self) -> float:
        """The median of the times."""
        return median(self.times)

    @property
    def iqr(self) -> float:
        """The range of the middle half of the times."""
        ordered = sorted(self.times)
        return (
            ordered[3 * len(ordered) // 4 - (len(ordered) % 4 == 0 and len(ordered) > 1)]
            - ordered[len(ordered) // 4]
        )

    def __repr__(self) -> str:
        name, count = ("Median", len(self.times)) if len(self.times) > 1 else ("Time", 1)
        runs = f"{count} measurement{'s' * (count > 1)}, {self.number_per_run} runs{' per measurement' * (count > 1)}"
        return (
            f"<{type(self).__module__}.Measurement object at {id(self):#x}>\n{self.title}\n  {name}: {_shown(self.median)}\n"
            f"  {runs} , {self.num_threads} thread"
        )


class Timer:
    """Measures a statement, in seconds by a clock that does not go back.

    >>> from funcgrad.torch.utils.benchmark import Timer
    >>> Timer("x + 1", globals={"x": 1}).timeit(10).number_per_run
    10
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = _timeit.default_timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Any = None,
    ) -> None:
        from funcgrad import torch

        self.stmt = textwrap.dedent(stmt).strip()
        names = {"torch": torch, **(globals or {})}
        self._timer = _timeit.Timer(self.stmt, textwrap.dedent(setup).strip() or "pass", timer, names)
        self._options = {
            "label": label,
            "sub_label": sub_label,
            "description": description,
            "num_threads": num_threads,
        }

    def _made(self, number: int, times: list[float]) -> Measurement:
        label, sub = self._options["label"], self._options["sub_label"]
        return Measurement(number, times, ": ".join(x for x in (label, sub) if x) or self.stmt, self._options)

    def timeit(self, number: int = 1000000) -> Measurement:
        """The time of `number` runs, after some to warm up."""
        self._timer.timeit(max(number // 100, 2))
        return self._made(number, [self._timer.timeit(number)])

    def blocked_autorange(self, callback: Any = None, min_run_time: float = 0.2) -> Measurement:
        """Blocks of runs, so long that the clock does not matter, for `min_run_time` seconds."""
        number = 1
        while (taken := self._timer.timeit(number)) < min_run_time / 1000:
            number *= 10 if taken < min_run_time / 10000 else 2
        times: list[float] = []
        while sum(times) < min_run_time:
            times.append(self._timer.timeit(number))
        return self._made(number, times)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Any = None,
    ) -> Measurement:
        """Blocks of runs until their times differ by less than `threshold` (quartiles' range by median)."""
        found = self.blocked_autorange(min_run_time=min_run_time)
        while sum(found.raw_times) < max_run_time and (
            len(found.times) < 4 or found.iqr > threshold * found.median
        ):
            found.raw_times.append(self._timer.timeit(found.number_per_run))
        return found


class Compare:
    """A table of measurements: a row for each sub_label, a column for each description."""

    def __init__(self, results: Iterable[Measurement]) -> None:
        self.results = list(results)

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """More measurements."""
        self.results.extend(results)

    def trim_significant_figures(self) -> None:
        """Nothing to do: all are shown with two decimals."""

    colorize = trim_significant_figures

    def __str__(self) -> str:
        columns = list(dict.fromkeys(str(m.description or "time") for m in self.results))
        rows = list(dict.fromkeys(str(m.sub_label or m.title) for m in self.results))
        cells = {
            (str(m.sub_label or m.title), str(m.description or "time")): _shown(m.median)
            for m in self.results
        }
        width = max([len(r) for r in rows], default=0)
        lines = [" " * width + " | " + " | ".join(f"{c:>12}" for c in columns)]
        lines += [
            f"{r:<{width}} | " + " | ".join(f"{cells.get((r, c), ''):>12}" for c in columns) for r in rows
        ]
        return "\n".join(lines) + "\n"

    def print(self) -> None:
        """Print the table."""
        print(str(self))  # noqa: T201 (that is what it is for)
