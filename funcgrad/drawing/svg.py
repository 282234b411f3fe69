"""A picture as SVG: no style sheet and no ids, so that many fit into one page."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from funcgrad.drawing.graph import CONSTANT, FOLDED, INPUT, OUTPUT, Edge, Graph, Vertex, spec_text
from funcgrad.drawing.layout import Piece, Point
from funcgrad.drawing.scene import (
    ARC,
    DETAIL,
    LABEL,
    PAD,
    SMALL,
    Route,
    Scene,
    has_labels,
    header_of,
    scene_of,
    text_width,
    vertex_size,
)

# kind -> (fill, line, text)
COLOURS = {
    INPUT: ("#ffffff", "#0f172a", "#0f172a"),
    OUTPUT: ("#0f172a", "#0f172a", "#ffffff"),
    CONSTANT: ("#f8fafc", "#94a3b8", "#475569"),
    FOLDED: ("#e2e8f0", "#64748b", "#0f172a"),
    "elementwise": ("#dbeafe", "#3b82f6", "#0f172a"),
    "selection": ("#ccfbf1", "#0d9488", "#0f172a"),
    "linear": ("#dcfce7", "#16a34a", "#0f172a"),
    "multilinear": ("#ffedd5", "#ea580c", "#0f172a"),
    "custom": ("#ede9fe", "#7c3aed", "#0f172a"),
    "opaque": ("#fce7f3", "#db2777", "#0f172a"),
    "assignment": ("#fee2e2", "#dc2626", "#0f172a"),
}
MUTED, WIRE = "#475569", "#64748b"
# The backgrounds of groups, by depth.
GROUNDS = ("#ffffff", "#f8fafc", "#f1f5f9", "#e9eff6")
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"


def colours(kind: str) -> tuple[str, str, str]:
    """Fill, line and text colour of a kind."""
    return COLOURS.get(kind, COLOURS["opaque"])


class Canvas:
    """Collects the elements.

    For a live picture, `keys` are those of the groups that can be opened, and `numbers` those of the
    vertices. `titles`: what is shown on hover over a vertex is written here, too.
    """

    def __init__(
        self, numbers: dict[Vertex, int] | None = None, keys: Collection[str] = (), *, titles: bool = True
    ) -> None:
        self.parts: list[str] = []
        self.numbers, self.keys, self.titles = numbers, keys, titles

    def open(self, kind: str, title: str = "", **data: Any) -> None:
        """Begin a group of elements, with what is shown on hover."""
        marks = "".join(f' data-{name}="{escape(str(x))}"' for name, x in data.items())
        self.parts.append(
            f"<g class={quoteattr(kind)}{marks}>" + (f"<title>{escape(title)}</title>" if title else "")
        )

    def close(self) -> None:
        """End it."""
        self.parts.append("</g>")

    def rect(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        r: float,
        fill: str,
        stroke: str,
        dash: str = "",
    ) -> None:
        """A rectangle with rounded corners."""
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{r:g}" fill="{fill}" '
            f'stroke="{stroke}"{dashed}/>'
        )

    def path(self, d: str, *, stroke: str = WIRE, fill: str = "none", dash: str = "") -> None:
        """A line or shape."""
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<path d="{d}" fill="{fill}" stroke="{stroke}" stroke-width="1.2"{dashed}/>')

    def text(self, x: float, y: float, text: str, *, size: float, fill: str, extra: str = "") -> None:
        """A text around x."""
        look = f'font-size="{size:g}" fill="{fill}"' + (
            "" if "text-anchor" in extra else ' text-anchor="middle"'
        )
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" {look}{extra}>{escape(text)}</text>')

    def haloed(self, x: float, y: float, text: str, size: float, ground: str, extra: str = "") -> None:
        """A text that can be read where it crosses lines."""
        if self.numbers is not None:  # a browser shows it: no need to write it twice
            around = f' stroke="{ground}" stroke-width="4" stroke-linejoin="round" paint-order="stroke"'
            self.text(x, y, text, size=size, fill=MUTED, extra=extra + around)
            return
        halo = f' stroke="{ground}" stroke-width="4" stroke-linejoin="round" aria-hidden="true"'
        self.text(x, y, text, size=size, fill=ground, extra=extra + halo)
        self.text(x, y, text, size=size, fill=MUTED, extra=extra)


def to_svg(graph: Graph, keys: Collection[str] | None = None, *, titles: bool = True) -> str:
    """The picture of a graph; with marks for the script of a live picture, if `keys` are given (see Canvas)."""
    scene = scene_of(graph.root, graph.edges)
    numbers = {v: k for k, v in enumerate(drawn(scene))} if keys is not None else None
    canvas = Canvas(numbers, keys or (), titles=titles)
    kinds = list(dict.fromkeys(v.kind for v in graph.vertices()))
    heading = f"{graph.title}: {graph.operations} operation{'s' * (graph.operations != 1)}"
    width = max(
        scene.width, text_width(heading, 12) + 2 * PAD, legend_width(kinds) if len(kinds) < 5 else 0, 160.0
    )
    left = (width - scene.width) / 2
    canvas.text(PAD, 20, heading, size=12, fill=MUTED, extra=' text-anchor="start"')
    draw_scene(canvas, scene, left, 26, 0)
    height = draw_legend(canvas, kinds, scene.height + 40, width)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.1f} {height:.1f}" font-family="{_FONT}">'
        f'<rect width="100%" height="100%" fill="{GROUNDS[0]}" rx="6"/>'
    )
    return head + "\n".join(canvas.parts) + "</svg>"


def drawn(scene: Scene) -> Iterator[Vertex]:
    """The vertices in the order in which they are drawn."""
    for inner, _ in scene.scenes:
        yield from drawn(inner)
    for vertex, _ in scene.vertices:
        yield vertex


def draw_scene(canvas: Canvas, scene: Scene, x: float, y: float, depth: int) -> None:
    """A group and all within it, its corner at (x, y)."""
    ground = GROUNDS[min(depth, len(GROUNDS) - 1)]
    key = scene.group.key
    canvas.open("group" if depth else "root", **({"key": key} if key and key in canvas.keys else {}))
    if depth:
        draw_box(canvas, scene, x, y, ground)
    for route in scene.routes:
        draw_route(canvas, route, x, y)
    if depth:
        extra = ' text-anchor="start" font-weight="600"'
        canvas.haloed(x + 10, y + scene.top + 17, header_of(scene.group), 11.5, ground, extra)
    for inner, (dx, dy) in scene.scenes:
        draw_scene(canvas, inner, x + dx, y + dy, depth + 1)
    for vertex, cell in scene.vertices:
        draw_vertex(canvas, vertex, cell, x, y)
    labelled: set[tuple[Vertex, int]] = set()
    for route in scene.routes:
        key = route.edge.source, route.edge.output
        if route.begins and key not in labelled and has_labels(route.edge.source):
            labelled.add(key)
            draw_label(canvas, route, x, y, ground)
    canvas.close()


def draw_box(canvas: Canvas, scene: Scene, x: float, y: float, ground: str) -> None:
    """The rectangle of a group; what is repeated looks like a stack."""
    width = scene.width - scene.right
    height = scene.height - scene.top - scene.bottom
    y += scene.top
    for shift in (8, 4) if scene.group.count > 1 else ():
        canvas.rect(x + shift, y + shift, width, height, r=8, fill=ground, stroke="#cbd5e1")
    canvas.rect(
        x, y, width, height, r=8, fill=ground, stroke="#94a3b8", dash="" if scene.group.count > 1 else "5 3"
    )
    for k, edge in enumerate(scene.arcs):
        draw_arc(canvas, scene, edge, x, y, min(k, 3))


def draw_arc(canvas: Canvas, scene: Scene, edge: Edge, x: float, y: float, number: int) -> None:
    """What goes from one round of a repeated group to the next: around its right side."""
    height = scene.height - scene.top - scene.bottom
    begin, end = (
        x + scene.exits[edge.source, edge.output, False],
        x + scene.entries[edge.source, edge.output, True],
    )
    side = x + scene.width - scene.right + (8 if scene.group.count > 1 else 0) + ARC * (number + 0.6)
    low, high = y + height + scene.bottom - 3, y - ARC + 4
    d = (
        f"M{begin:.1f} {y + height:.1f}V{low - 5:.1f}q0 5 5 5H{side - 8:.1f}q8 0 8 -8V{high + 8:.1f}q0 -8 -8 -8"
        f"H{end + 5:.1f}q-5 0 -5 5V{y:.1f}"
    )
    canvas.open("carried", f"to the next round: {edge.source.label} {spec_text(edge.spec)}")
    canvas.path(d, dash="4 3")
    canvas.path(arrow(end, y), fill=WIRE)
    canvas.close()


def draw_vertex(canvas: Canvas, vertex: Vertex, cell: Piece, x: float, y: float) -> None:
    """A vertex; its line of code is shown on hover."""
    fill, line, ink = colours(vertex.kind)
    width, height = vertex_size(vertex)
    marks = {"members": " ".join(map(str, vertex.members))} if canvas.numbers is not None else {}
    canvas.open(f"vertex {vertex.kind.replace(' ', '-')}", hover(vertex) if canvas.titles else "", **marks)
    rounded = 14 if vertex.kind in (INPUT, OUTPUT) else 6
    dash = "3 2" if vertex.kind == CONSTANT else ""
    middle = x + cell.x
    canvas.rect(middle - width / 2, y + cell.y, width, height, r=rounded, fill=fill, stroke=line, dash=dash)
    canvas.text(middle, y + cell.y + 18.5, vertex.label, size=LABEL, fill=ink, extra=' font-weight="500"')
    if vertex.detail:
        canvas.text(
            middle,
            y + cell.y + 33.5,
            vertex.detail,
            size=DETAIL,
            fill=MUTED if ink != "#ffffff" else "#cbd5e1",
        )
    canvas.close()


def hover(vertex: Vertex) -> str:
    """What is shown on hover over a vertex."""
    parts = [
        f"{vertex.label} {vertex.detail}".strip(),
        vertex.kind,
        *dict.fromkeys(map(spec_text, vertex.outs)),
    ]
    return "\n".join([*parts, *filter(None, (str(vertex.line), vertex.line.text))])


def draw_route(canvas: Canvas, route: Route, x: float, y: float) -> None:
    """A line of an edge."""
    points = [(x + px, y + py) for px, py in route.points]
    edge = route.edge
    marks = {} if canvas.numbers is None else {"to": canvas.numbers[edge.target]}
    canvas.open("edge", f"{edge.source.label} → {edge.target.label}: {spec_text(edge.spec)}", **marks)
    if route.ends:
        tip = points[-1]
        points = [(px, min(py, tip[1] - 4)) for px, py in points]
        canvas.path(arrow(*tip), fill=WIRE)
    canvas.path(curve(points), dash="4 3" if route.edge.carried else "")
    canvas.close()


def draw_label(canvas: Canvas, route: Route, x: float, y: float, ground: str) -> None:
    """Shape and dtype, on the line just below where it begins."""
    px, py = route.points[0]
    canvas.haloed(x + px, y + py + 16, spec_text(route.edge.spec), SMALL, ground)


def curve(points: Sequence[Point]) -> str:
    """A smooth line, upright at each point."""
    (x, y), *rest = points
    parts = [f"M{x:.1f} {y:.1f}"]
    for to_x, to_y in rest:
        middle = (y + to_y) / 2
        straight = abs(to_x - x) < 0.05
        parts.append(
            f"V{to_y:.1f}"
            if straight
            else f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}"
        )
        x, y = to_x, to_y
    return "".join(parts)


def arrow(x: float, y: float) -> str:
    """The head of an arrow that points down to (x, y)."""
    return f"M{x:.1f} {y:.1f}l-3.5 -6h7z"


def legend_width(kinds: Sequence[str]) -> float:
    """How wide the legend is in one row."""
    return 2 * PAD + sum(text_width(kind, SMALL + 1) + 30 for kind in kinds)


def draw_legend(canvas: Canvas, kinds: Sequence[str], y: float, width: float) -> float:
    """The kinds that occur, with their colours; the height of the picture."""
    x = PAD
    canvas.open("legend")
    for kind in kinds:
        step = text_width(kind, SMALL + 1) + 30
        if x + step > width and x > PAD:
            x, y = PAD, y + 18
        fill, line, _ = colours(kind)
        canvas.rect(x, y, 11, 11, r=3, fill=fill, stroke=line)
        canvas.text(x + 16, y + 9.5, kind, size=SMALL + 1, fill=MUTED, extra=' text-anchor="start"')
        x += step
    canvas.close()
    return y + 24
