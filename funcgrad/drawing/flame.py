"""The flame view of a table: which lines of code, called from where, take time and memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

from funcgrad.drawing.live import static
from funcgrad.drawing.stack import Line
from funcgrad.drawing.svg import colours
from funcgrad.drawing.units import duration, memory

if TYPE_CHECKING:
    from funcgrad.drawing.table import Row

HEIGHT = 22  # of a cell
LEAST = 0.02  # percent of the width: a narrower cell is left out
LINES = ("#fde68a", "#fed7aa", "#fecaca", "#fbcfe8")  # of cells that stand for a line of code, by depth

# What one can look at: a name, its value in a row, and how it is written.
Measure = tuple[str, Callable[["Row"], float], Callable[[float], str]]
MEASURES: tuple[Measure, ...] = (
    ("time", lambda row: row.forward + row.backward, duration),
    ("forward", lambda row: row.forward, duration),
    ("backward", lambda row: row.backward, duration),
    ("memory", lambda row: float(row.saved), lambda size: memory(int(size))),
)


@dataclass
class Frame:
    """A line of code (or an operation) as called from the cell above, with all rows that it led to."""

    name: str
    about: str
    colour: str
    rows: list[Row] = field(default_factory=list)
    inside: dict[object, Frame] = field(default_factory=dict)

    def add(self, row: Row, path: Sequence[Line], depth: int = 0) -> None:
        """Put a row in its place, below the lines of `path`."""
        self.rows.append(row)
        if path:
            line, *rest = path
            frame = Frame(
                f"{line.name}:{line.number}  {line.text}", f"{line}: {line.text}", LINES[depth % len(LINES)]
            )
            self.inside.setdefault(line, frame).add(row, rest, depth + 1)
        elif depth >= 0:
            frame = Frame(row.operation, f"{row.operation} ({row.kind})", colours(row.kind)[0])
            self.inside.setdefault(row.operation, frame).add(row, (), -1)


def flame(title: str, rows: Sequence[Row]) -> str:
    """The view as HTML that carries its script; nothing for rows that know no lines (those added up)."""
    if not any(row.path for row in rows):
        return ""
    root = Frame(title, title, "#e2e8f0")
    for row in rows:
        root.add(row, row.path)
    views = [view(root, measure, hidden=k > 0) for k, measure in enumerate(MEASURES)]
    return (
        f'<div class="funcgrad-flame"><style>{static("flame.css")}</style>{"".join(views)}</div>'
        f"<script>/*<![CDATA[*/{static('flame.js')}/*]]>*/</script>"
    )


def view(root: Frame, measure: Measure, *, hidden: bool) -> str:
    """One of the measures as SVG, whose widths are percents."""
    name, value, text = measure
    cells = list(placed(root, value, 0.0, 100.0, 0))
    height = HEIGHT * (1 + max(depth for _, _, _, depth in cells))
    whole = sum(map(value, root.rows))
    style = ' style="display:none"' if hidden else ""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" data-measure="{name}" width="100%" height="{height}" font-size="12"{style}>'
    ]
    for cell, x, width, depth in cells:
        amount = sum(map(value, cell.rows))
        share = f", {100 * amount / whole:.0f} %" if whole else ""
        count = f", {len(cell.rows)} operations" if len(cell.rows) > 1 else ""
        parts.append(
            f'<svg x="{x:.3f}%" y="{depth * HEIGHT}" width="{width:.3f}%" height="{HEIGHT - 2}" data-x="{x:.3f}" '
            f'data-w="{width:.3f}"><title>{escape(f"{cell.about}: {text(amount)}{share}{count}")}</title>'
            f'<rect width="100%" height="100%" fill="{cell.colour}" stroke="#ffffff"/>'
            f'<text x="5" y="14.5" fill="#0f172a">{escape(cell.name)}</text></svg>'
        )
    return "".join([*parts, "</svg>"])


def placed(
    cell: Frame, value: Callable[[Row], float], x: float, width: float, depth: int
) -> Iterator[tuple[Frame, float, float, int]]:
    """The cells with their left edges, widths and depths, the widest of those side by side first."""
    yield cell, x, width, depth
    whole = sum(map(value, cell.rows))
    if not whole:
        return
    shares = [(sum(map(value, inner.rows)) / whole * width, inner) for inner in cell.inside.values()]
    for share, inner in sorted(shares, key=lambda pair: -pair[0]):
        if share >= LEAST:
            yield from placed(inner, value, x, share, depth + 1)
            x += share
