"""The same picture as text: Mermaid, DOT, and a listing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from funcgrad.drawing.graph import CONSTANT, INPUT, OUTPUT, Edge, Graph, Group, Vertex, spec_text
from funcgrad.drawing.scene import header_of
from funcgrad.drawing.svg import colours


class VertexNames:
    """A name for each vertex and group, in the order in which they are met."""

    def __init__(self, graph: Graph) -> None:
        self.vertices = {v: f"n{k}" for k, v in enumerate(graph.vertices())}
        self.groups = 0

    def group(self) -> str:
        """A new name for a group."""
        self.groups += 1
        return f"g{self.groups}"


def label_of(vertex: Vertex, newline: str) -> str:
    """What is written into a vertex."""
    return f"{vertex.label}{newline}{vertex.detail}" if vertex.detail else vertex.label


def edge_label(edge: Edge) -> str:
    """Shape and dtype, and whether it leads to the next round."""
    text = spec_text(edge.spec)
    return f"{text}, next round" if edge.carried else text


def to_mermaid(graph: Graph) -> str:
    """A flowchart for Mermaid."""
    names = VertexNames(graph)
    lines = ["flowchart TD", *_mermaid_items(graph.root, names, "  ")]
    for edge in graph.edges:
        arrow = "-.->" if edge.carried else "-->"
        text = f'|"{_mermaid(edge_label(edge))}"|' if edge_label(edge) else ""
        lines.append(f"  {names.vertices[edge.source]} {arrow}{text} {names.vertices[edge.target]}")
    for kind in dict.fromkeys(v.kind for v in graph.vertices()):
        fill, line, ink = colours(kind)
        lines.append(f"  classDef {_word(kind)} fill:{fill},stroke:{line},color:{ink}")
    return "\n".join(lines) + "\n"


def _mermaid_items(group: Group, names: VertexNames, indent: str) -> Iterator[str]:
    for item in group.items:
        if isinstance(item, Vertex):
            begin, end = ("([", "])") if item.kind in (INPUT, OUTPUT) else ("[", "]")
            text = _mermaid(label_of(item, "\n")).replace("\n", "<br/>")
            yield f'{indent}{names.vertices[item]}{begin}"{text}"{end}:::{_word(item.kind)}'
        else:
            yield f'{indent}subgraph {names.group()}["{_mermaid(header_of(item))}"]'
            yield from _mermaid_items(item, names, indent + "  ")
            yield f"{indent}end"


def _mermaid(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")


def _word(kind: str) -> str:
    return "kind_" + kind.replace(" ", "_")  # some plain words are Mermaid's own


def to_dot(graph: Graph) -> str:
    """A digraph for Graphviz."""
    names = VertexNames(graph)
    lines = [
        f"digraph {_dot(graph.title)} {{",
        '  node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=11];',
        '  edge [color="#64748b", fontcolor="#475569", fontname="sans-serif", fontsize=9];',
        *_dot_items(graph.root, names, "  "),
    ]
    for edge in graph.edges:
        style = ", style=dashed, constraint=false" if edge.carried else ""
        ends = f"{names.vertices[edge.source]} -> {names.vertices[edge.target]}"
        lines.append(f"  {ends} [label={_dot(edge_label(edge))}{style}];")
    return "\n".join([*lines, "}"]) + "\n"


def _dot_items(group: Group, names: VertexNames, indent: str) -> Iterator[str]:
    for item in group.items:
        if isinstance(item, Vertex):
            fill, line, ink = colours(item.kind)
            tip = f", tooltip={_dot(str(item.line))}" if str(item.line) else ""
            look = f'fillcolor="{fill}", color="{line}", fontcolor="{ink}"'
            text = _dot(label_of(item, "\n"))
            yield f"{indent}{names.vertices[item]} [label={text}, {look}{tip}];"
        else:
            yield f"{indent}subgraph cluster_{names.group()} {{"
            yield f"{indent}  label={_dot(header_of(item))};"
            yield from _dot_items(item, names, indent + "  ")
            yield f"{indent}}}"


def _dot(text: str) -> str:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{quoted}"'


Operands = dict[Vertex, dict[int, list[Edge]]]


def to_text(graph: Graph) -> str:
    """A listing: one operation a line, with the operands by name."""
    words: dict[Vertex, str] = {}
    operands: Operands = defaultdict(lambda: defaultdict(list))
    for edge in graph.edges:
        operands[edge.target][edge.slot].append(edge)
    number = 0
    for vertex in graph.vertices():
        if vertex.kind in (INPUT, CONSTANT):
            words[vertex] = vertex.label
        else:
            number += vertex.kind != OUTPUT
            words[vertex] = vertex.label if vertex.kind == OUTPUT else f"%{number}"
    heading = f"{graph.title}: {graph.operations} operation{'s' * (graph.operations != 1)}"
    return "\n".join([heading, *_text_items(graph.root, words, operands, "  ")])


def _text_items(group: Group, words: dict[Vertex, str], operands: Operands, indent: str) -> Iterator[str]:
    for item in group.items:
        if isinstance(item, Group):
            yield f"{indent}{header_of(item)}:"
            yield from _text_items(item, words, operands, indent + "  ")
            continue
        sources = [
            ", then ".join(f"last {words[e.source]}" if e.carried else words[e.source] for e in several)
            for _, several in sorted(operands[item].items())
        ]
        spec = ", ".join(dict.fromkeys(spec_text(out) for out in item.outs))
        if item.kind in (INPUT, CONSTANT):
            text = f"{words[item]}{f' ({item.detail})' if item.detail else ''}: {item.kind}"
        elif item.kind == OUTPUT:
            text = f"{words[item]} = {', '.join(sources)}"
        else:
            text = f"{words[item]} = {item.label}({', '.join([*sources, *filter(None, [item.detail])])})"
        line = f"{item.line}" if str(item.line) else ""
        yield f"{indent}{text:<44} {spec:<20} {line}".rstrip()
