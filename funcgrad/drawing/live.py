"""Pictures that answer: HTML with SVG and a script inside, which needs no server and fetches nothing.

Each choice of opened groups is a picture of its own, laid out here; the script shows one of them.
"""

from __future__ import annotations

import json
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from funcgrad.drawing.folding import folded
from funcgrad.drawing.graph import Graph, Vertex, groups_in, spec_text
from funcgrad.drawing.svg import to_svg

STATES = 8  # pictures in one page
SHOWN = 250  # vertices in all of them together
FACTS = 2000  # operations whose values are told


def states(whole: Graph, limit: int) -> dict[frozenset[str], Graph]:
    """The pictures for the sets of keys that one can open: each click from the first, then each from these, ..."""
    graphs: dict[frozenset[str], Graph] = {}
    todo, vertices = [frozenset[str]()], 0
    seen = set(todo)
    while todo and len(graphs) < STATES:
        opened = todo.pop(0)
        graph = folded(whole, limit, opened)
        keys = {group.key: group.count for group in groups_in(graph.root) if group.key}
        vertices += len(graph.vertices())
        if not opened <= keys.keys() or graphs and vertices > SHOWN:  # summed up again, or too much
            continue
        graphs[opened] = graph
        for key in keys.keys() - opened:
            if (more := opened | {key}) not in seen:
                seen.add(more)
                todo.append(more)
        todo.sort(key=lambda s: (len(s), sorted(s)))
    return graphs


def to_html(graph: Graph, whole: Graph, limit: int, *, back: bool = False) -> str:
    """A live picture, to stand in a page. `graph` is `whole`, folded; or `whole` itself, where nothing is to fold."""
    many = len(whole.vertices()) > FACTS
    pictures = {frozenset[str](): graph} if graph is whole else states(whole, limit)
    openable = set().union(*pictures)
    parts = []
    for opened, picture in pictures.items():
        name = escape(" ".join(sorted(opened)))
        hidden = " hidden" if opened else ""
        svg = to_svg(picture, keys=openable, titles=many)
        parts.append(f'<div class="fg-state" data-open="{name}"{hidden}>{svg}</div>')
    note = f"More than {FACTS} operations: their values are not kept." if many else whole.note
    facts = [] if many else [fact(v) for v in whole.vertices()]
    data = {"facts": facts, "steps": [] if many else whole.steps, "back": back, "note": note}
    return (
        f'<div class="funcgrad-picture"><style>{static("picture.css")}</style>'
        f'<div class="fg-stage">{"".join(parts)}</div>'
        f'<script type="application/json" class="fg-data">{inline(data)}</script></div>'
        f"<script>{static('picture.js')}</script>"
    )


def fact(vertex: Vertex) -> list[str]:
    """What the script tells of a vertex: name, kind, shape and dtype, value, line."""
    line = f"{vertex.line}: {vertex.line.text}" if vertex.line.file else ""
    shapes = ", ".join(dict.fromkeys(map(spec_text, vertex.outs)))
    return [f"{vertex.label} {vertex.detail}".strip(), vertex.kind, shapes, vertex.value, line]


def inline(data: Any) -> str:
    """JSON that may stand in a <script>."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


@cache
def static(name: str) -> str:
    """A file that pages carry within them."""
    return files("funcgrad.drawing").joinpath("static", name).read_text(encoding="utf-8")


def page(title: str, body: str) -> str:
    """A whole page around it, for a file."""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"></head>'
        f'<body style="font-family:sans-serif">{body}</body></html>\n'
    )
