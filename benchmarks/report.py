"""The table, and the same as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from benchmarks.problem import Result

MARKS = {True: "ok", False: "MISSED", None: "-"}


def heading(peers: Sequence[str]) -> str:
    """The first two lines of the table."""
    columns = "".join(f"{name:>10}" for name in peers)
    line = f"{'problem':<40}{'ratio to':<14}{'which took':>12}{'funcgrad':>10}{'target':>8}  {'':<7}{columns}"
    return f"{line}\n{'-' * len(line)}"


def row(result: Result, peers: Sequence[str]) -> str:
    """One line of the table: ratios to the reference."""
    ratios = [result.ratios.get(name) for name in peers]
    columns = "".join(f"{_short(r):>10}" for r in ratios)
    ours = _short(result.ratios.get("funcgrad"))
    took = "" if result.seconds is None else _duration(result.seconds)
    judged = f"{ours:>10}{result.target:>8.3g}  {MARKS[result.passed]:<7}"
    return f"{result.name:<40}{result.reference:<14}{took:>12}{judged}{columns}"


def as_markdown(results: Sequence[Result], peers: Sequence[str], machine: str) -> str:
    """The table for docs/performance.md."""
    head = ["problem", "ratio to", "which took", "funcgrad", "target", *peers]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * 2}{'--:|' * (len(head) - 2)}"]
    for result in results:
        took = "" if result.seconds is None else _duration(result.seconds)
        ours = f"**{_short(result.ratios.get('funcgrad'))}**"
        others = [_short(result.ratios.get(name)) for name in peers]
        cells = [
            result.name.replace("  and", "... and"),
            result.reference,
            took,
            ours,
            f"{result.target:.3g}",
            *others,
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", machine, ""])


def as_json(results: Sequence[Result]) -> str:
    """All figures, for programs."""
    rows: list[dict[str, Any]] = [{**vars(result), "passed": result.passed} for result in results]
    return json.dumps(rows, indent=2, ensure_ascii=False)


def _short(ratio: float | None) -> str:
    if ratio is None:
        return "-"
    digits = next(n for least, n in ((100, 0), (10, 1), (1, 2), (0, 3)) if ratio >= least)
    return f"{ratio:.{digits}f}"


def _duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"
