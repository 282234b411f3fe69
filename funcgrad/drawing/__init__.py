"""See what a function records: `draw` makes a picture of it, `trace` a table.

In reading order: `stack` (lines and running transforms), `recording` (a tape with notes), then for pictures
`graph` (vertices, edges, groups), `folding` (what repeats), `layout` and `scene` (where things stand), `svg`,
`formats`, `picture`; for tables `table`.
"""

from funcgrad.drawing.picture import Drawing, draw
from funcgrad.drawing.table import Row, Table, trace

__all__ = ["Drawing", "Row", "Table", "draw", "trace"]
