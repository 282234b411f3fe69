"""`trace`, and the `Table` that it returns: what each operation of a tape costs in time and memory."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from html import escape
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from funcgrad.core.engine.reverse import PICK
from funcgrad.core.engine.sweep import Node, sweep
from funcgrad.core.engine.trace import Tracer, concrete
from funcgrad.core.memory.mutation import Place
from funcgrad.drawing.flame import flame
from funcgrad.drawing.graph import shorten, spec_text
from funcgrad.drawing.live import page
from funcgrad.drawing.recording import GraphRecording, record
from funcgrad.drawing.stack import Line
from funcgrad.drawing.units import duration, memory
from funcgrad.errors import ArgumentError
from funcgrad.transforms.wrapping import check_function

if TYPE_CHECKING:
    from funcgrad.transforms.signatures import P

SHOWN = 40
_KEYS = ("operation", "kind", "line")


class Row(NamedTuple):
    """One operation, or several (`count`) that were added up. Sizes are in bytes, times in seconds.

    `path` has the lines of the functions that led to `line`, outermost first, and that one.
    """

    operation: str
    kind: str
    out: str
    saved: int
    forward: float
    backward: float
    line: Line | None
    count: int = 1
    path: tuple[Line, ...] = ()


class Table:
    """A tape as a table: `rows` in the order of time, `total`, and `by(key)` to add up.

    Notebooks show it with a flame view above: each cell is a line of code, as wide as the time or memory that
    it takes, over what it calls.
    """

    def __init__(self, title: str, rows: Sequence[Row]) -> None:
        self.title, self.rows = title, list(rows)

    @property
    def total(self) -> Row:
        """All rows, added up."""
        return added("total", self.rows)

    def by(self, key: str) -> Table:
        """Rows added up by "operation", "kind" or "line", those that took most time first.

        Raises:
            ArgumentError: another key.
        """
        if key not in _KEYS:
            raise ArgumentError(f"by: a table is added up by one of {', '.join(_KEYS)}, not by {key!r}")
        groups: dict[Any, list[Row]] = {}
        for row in self.rows:
            groups.setdefault(getattr(row, key), []).append(row)
        rows = [added(one(r.operation for r in group), group) for group in groups.values()]
        return Table(f"{self.title} by {key}", sorted(rows, key=lambda r: -(r.forward + r.backward)))

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        head, *lines = [_HEAD, *map(cells, self.shown()), cells(self.total)]
        lines.insert(min(SHOWN // 2, len(self.rows)), None) if len(self.rows) > SHOWN else None
        widths = [max(len(line[k]) for line in [head, *lines] if line) for k in range(len(head))]
        texts = [
            self._line(line, widths) if line else f"  ... {len(self.rows) - SHOWN} more ..."
            for line in [head, *lines]
        ]
        texts.insert(len(texts) - 1, "-" * len(texts[0]))
        return "\n".join([f"{self.title}: {_plural(self.total.count)}", *texts])

    def shown(self) -> list[Row]:
        """The first and last rows of a long table."""
        return self.rows if len(self.rows) <= SHOWN else [*self.rows[: SHOWN // 2], *self.rows[-SHOWN // 2 :]]

    @staticmethod
    def _line(texts: Sequence[str], widths: Sequence[int]) -> str:
        parts = [
            t.rjust(w) if k in _NUMBERS else t.ljust(w)
            for k, (t, w) in enumerate(zip(texts, widths, strict=True))
        ]
        return "  ".join(parts).rstrip()

    def to_html(self) -> str:
        """The flame view and the table, to stand in a page. It carries its script, and fetches nothing."""
        return f'{flame(self.title, self.rows)}<div style="overflow-x:auto">{self._table()}</div>'

    def save(self, path: Any) -> None:
        """Write it to a file: .html (live) or .txt.

        Raises:
            ArgumentError: the file's name has none of these endings.
        """
        path = Path(path)
        if path.suffix not in (".html", ".txt"):
            raise ArgumentError(
                f"save: {path.name!r} ends in none of .html, .txt; write for example 'table.html'"
            )
        text = page(self.title, self.to_html()) if path.suffix == ".html" else f"{self!r}\n"
        path.write_text(text, encoding="utf-8")

    def _repr_html_(self) -> str:
        return self.to_html()

    def _table(self) -> str:
        rows, total = self.shown(), self.total
        lines = [_html_row(row, total) for row in rows]
        if len(self.rows) > SHOWN:
            more = f"{len(self.rows) - SHOWN} more; .rows has all of them, .by('line') adds them up"
            lines.insert(
                SHOWN // 2,
                f'<tr><td colspan="{len(_HEAD)}" style="text-align:center">{escape(more)}</td></tr>',
            )
        head = "".join(f'<th style="{_look(k)}">{name}</th>' for k, name in enumerate(_HEAD))
        last = "".join(f'<th style="{_look(k)}">{escape(text)}</th>' for k, text in enumerate(cells(total)))
        return (
            f"<table><caption>{escape(self.title)}: {_plural(total.count)}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{''.join(lines)}</tbody><tfoot><tr>{last}</tr></tfoot></table>"
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self.to_html(), "text/plain": repr(self)}


_HEAD = ("operation", "out", "saved", "forward", "backward", "line")
_NUMBERS = (2, 3, 4)


def _plural(count: int) -> str:
    return f"{count} operation{'s' * (count != 1)}"


def _look(column: int) -> str:
    return f"padding:2px 8px;white-space:nowrap;text-align:{'right' if column in _NUMBERS else 'left'}"


def cells(row: Row) -> tuple[str, ...]:
    """What is written into a row."""
    name = row.operation if row.count == 1 or row.operation == "total" else f"{row.count} × {row.operation}"
    return name, row.out, memory(row.saved), duration(row.forward), duration(row.backward), place(row.line)


def place(line: Line | None) -> str:
    """'model.py:12  h = np.tanh(x @ w)'."""
    if line is None or not line.file:
        return ""
    return f"{line.name}:{line.number}  {shorten(line.text, 48)}".rstrip()


def _html_row(row: Row, total: Row) -> str:
    shares = {2: (row.saved, total.saved), 3: (row.forward, total.forward), 4: (row.backward, total.backward)}
    parts = []
    for k, text in enumerate(cells(row)):
        part, whole = shares.get(k, (0, 0))
        percent = 100 * part / whole if whole else 0.0
        bar = (
            f";background:linear-gradient(to left,#93c5fd88 {percent:.1f}%,transparent {percent:.1f}%)"
            if percent
            else ""
        )
        tip = f' title="{escape(f"{row.line}: {row.line.text}")}"' if row.line and k == len(_HEAD) - 1 else ""
        shown = f"<code>{escape(text)}</code>" if tip else escape(text)
        parts.append(f'<td style="{_look(k)}{bar}"{tip}>{shown}</td>')
    return f"<tr>{''.join(parts)}</tr>"


def one(values: Iterator[str]) -> str:
    """The one value, or how many different ones there are."""
    distinct = list(dict.fromkeys(values))
    return (
        ", ".join(distinct)
        if len(distinct) <= 3
        else f"{', '.join(distinct[:2])} and {len(distinct) - 2} others"
    )


def added(operation: str, rows: Sequence[Row]) -> Row:
    """Several rows as one."""
    kinds, outs, lines = ({getattr(r, name) for r in rows} for name in ("kind", "out", "line"))
    return Row(
        operation,
        kinds.pop() if len(kinds) == 1 else "",
        outs.pop() if len(outs) == 1 and operation != "total" else "",
        sum(r.saved for r in rows),
        sum(r.forward for r in rows),
        sum(r.backward for r in rows),
        lines.pop() if len(lines) == 1 and operation != "total" else None,
        sum(r.count for r in rows),
    )


class Stopwatch:
    """A visitor of a sweep, that takes the time of each pull; the shortest, if there are several sweeps."""

    def __init__(self) -> None:
        self.seconds: dict[Node, float] = {}
        self.begin = 0.0

    def enter(self, node: Node, ct: Any) -> tuple[Any, Any]:
        """Before a pull."""
        self.begin = perf_counter()
        return ct, node.saved

    def leave(self, node: Node, parts: Any) -> Any:
        """After it."""
        seconds = perf_counter() - self.begin
        if node.plan is not PICK:
            self.seconds[node] = min(seconds, self.seconds.get(node, seconds))
        return parts


def buffers(saved: Any) -> Iterator[Any]:
    """The arrays and numbers that something saved keeps alive: a view keeps the whole of what it looks into."""
    array = concrete(saved) if isinstance(saved, Tracer) else saved
    if isinstance(array, np.ndarray):
        while isinstance(array.base, np.ndarray):
            array = array.base
        yield array
    elif isinstance(array, np.generic):
        yield array
    elif isinstance(array, dict):
        for part in array.values():
            yield from buffers(part)
    elif isinstance(array, (tuple, list)):
        for part in array:
            yield from buffers(part)
    elif isinstance(array, Place):
        yield from buffers(array.index)


def rows_of(recording: GraphRecording, known: Sequence[Any]) -> list[Row]:
    """The table of a recording, whose sweep is timed; `known` are arrays that are not counted as saved."""
    watch = Stopwatch()
    seeds = [(node, np.ones(node.spec.shape, node.spec.dtype)[()]) for _, node in recording.outputs]
    for _ in range(2):
        sweep(seeds, visitor=watch)
    seen = {id(array) for array in buffers(list(known))}
    rows = []
    for node in recording.nodes:
        if node.plan is None or node.plan is PICK:
            continue
        new = {id(array): array.nbytes for array in buffers(node.saved) if id(array) not in seen}
        seen.update(new)
        note = recording.notes[node]
        out = spec_text(node.spec) if node.spec.dtype is not None else f"{node.shape} outputs"
        rows.append(
            Row(
                note.name,
                note.kind,
                out,
                sum(new.values()),
                note.seconds,
                watch.seconds.get(node, 0.0),
                note.line,
                path=note.path,
            )
        )
    return rows


def trace(fun: Callable[P, Any]) -> Callable[P, Table]:
    """A table of the tape that a function records: where do time and memory go?

    Args:
        fun: a function of pytrees; it is run once, with all floating leaves of its arguments traced.

    Returns:
        A function with the arguments of `fun` that returns a `Table`. Each row is one operation on the way to
        an output: what was called, shape and dtype of its output, the bytes that its node keeps alive beyond
        the arguments and earlier nodes, and the time of NumPy's own work, forward (the call, once more by
        itself) and backward (the better of two pulls), and the line that called it. `table.total` adds up,
        and `table.by("line")` does line by line.

    Raises:
        OutputError: no output depends on a floating argument. ArgumentError: `fun` is no function.

    >>> import numpy as np, funcgrad as fg
    >>> table = fg.trace(lambda w, x: np.sum(np.tanh(x @ w)))(np.ones((4, 2)), np.ones((100, 4)))
    >>> [row.operation for row in table.rows]
    ['matmul', 'tanh', 'sum']
    >>> table.rows[1].out, table.total.saved
    ('(100, 2) float64', 3200)
    """
    check_function(fun, "trace")

    @functools.wraps(fun, updated=())
    def traced(*args: Any, **kwargs: Any) -> Table:
        recording = record(fun, args, kwargs, timed=True)
        return Table(recording.title, rows_of(recording, recording.values))

    return traced
