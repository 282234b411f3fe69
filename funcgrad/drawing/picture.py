"""`draw`, and the `Drawing` that it returns."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from funcgrad.core.engine.trace import Tracer
from funcgrad.drawing.folding import folded
from funcgrad.drawing.formats import to_dot, to_mermaid, to_text
from funcgrad.drawing.graph import Builder, Graph
from funcgrad.drawing.live import page, to_html
from funcgrad.drawing.recording import GraphRecording, record, record_backward, recording_of
from funcgrad.drawing.svg import to_svg
from funcgrad.errors import ArgumentError
from funcgrad.transforms.wrapping import check_function

if TYPE_CHECKING:
    from funcgrad.transforms.signatures import P

LIMIT = 120


class Drawing:
    """The picture of a computation: a notebook shows it live, `print` as a listing.

    `graph` is what it shows. The arrays of the computation are not kept, only a few words about each.
    """

    def __init__(
        self, graph: Graph, whole: Graph | None = None, limit: int = LIMIT, *, back: bool = False
    ) -> None:
        self.graph, self._whole, self._limit, self._back = graph, whole or graph, limit, back

    def to_html(self) -> str:
        """The live picture, to stand in a page. It carries all that it needs, and fetches nothing.

        Folded groups open at a click, values are told on hover, and buttons step through the backward sweep.
        """
        return to_html(self.graph, self._whole, self._limit, back=self._back)

    def to_svg(self) -> str:
        """The picture as an SVG document."""
        return to_svg(self.graph)

    def to_mermaid(self) -> str:
        """The picture as a Mermaid flowchart."""
        return to_mermaid(self.graph)

    def to_dot(self) -> str:
        """The picture in Graphviz's language."""
        return to_dot(self.graph)

    def save(self, path: Any) -> None:
        """Write it to a file: .html (live), .svg, .mmd (Mermaid), .dot or .gv (Graphviz), .txt.

        Raises:
            ArgumentError: the file's name has none of these endings.
        """
        path = Path(path)
        if path.suffix not in _WRITERS:
            raise ArgumentError(
                f"save: {path.name!r} ends in none of {', '.join(_WRITERS)}; write for example 'graph.svg'"
            )
        path.write_text(_WRITERS[path.suffix](self), encoding="utf-8")

    def __repr__(self) -> str:
        return to_text(self.graph)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self.to_html(), "image/svg+xml": self.to_svg(), "text/plain": repr(self)}


_WRITERS: dict[str, Callable[[Drawing], str]] = {
    ".svg": Drawing.to_svg,
    ".html": lambda drawing: page(drawing.graph.title, drawing.to_html()),
    ".mmd": Drawing.to_mermaid,
    ".dot": Drawing.to_dot,
    ".gv": Drawing.to_dot,
    ".txt": repr,
}


@overload
def draw(fun: Tracer, *, fold: bool = True, limit: int = LIMIT) -> Drawing: ...
@overload
def draw(
    fun: Callable[P, Any], *, backward: bool = False, fold: bool = True, limit: int = LIMIT
) -> Callable[P, Drawing]: ...
@overload
def draw(fun: Any, *, backward: bool = False, fold: bool = True, limit: int = LIMIT) -> Any: ...
def draw(fun: Any, *, backward: bool = False, fold: bool = True, limit: int = LIMIT) -> Any:
    """Draw the computation that a function records.

    Args:
        fun: a function of pytrees. It is run once, as it would be by `vjp`, with all floating leaves of its
            arguments traced. Or a tracer, or a Tensor that requires grad: then what is behind it is drawn, at
            once.
        backward: draw the backward sweep as well: it pulls cotangents ("ct of out") back to the arguments.
        fold: show repeated structure once, with a count. (Loops, layers, steps: at least three rounds.)
        limit: about how many vertices to show at most; what is more is summed up. `fold` must be True for it
            to count.

    Returns:
        A function with the arguments of `fun` that returns a `Drawing`: it has to_html(), to_svg(),
        to_mermaid(), to_dot(), save(path), and notebooks show it. Colours stand for kinds of rules, boxes for
        transforms. In a notebook, a click opens what is folded, hovering tells values and lines of code, and
        buttons step through the backward sweep (from a cotangent of ones).

    Raises:
        OutputError: no output depends on a floating argument. ArgumentError: `fun` is no function.

    >>> import numpy as np, funcgrad as fg
    >>> picture = fg.draw(lambda x: np.sum(np.sin(x) ** 2))(np.zeros(3))
    >>> print(picture)
    <lambda>: 3 operations
      x: input                                     (3,) float64
      %1 = sin(x)                                  (3,) float64         ..., in <lambda>
      %2 = power(%1, y=2)                          (3,) float64         ..., in <lambda>
      %3 = sum(%2)                                 () float64           ..., in <lambda>
      out = %3
    >>> picture.to_svg()[:4]
    '<svg'
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 8:
        raise ArgumentError(f"draw: limit must be an int of at least 8, not {limit!r}")

    def drawing(recording: GraphRecording) -> Drawing:
        graph = Builder(recording).build()
        return Drawing(folded(graph, limit) if fold else graph, graph, limit, back=backward)

    if isinstance(fun, Tracer) or hasattr(fun, "__operand__"):
        return drawing(recording_of(fun))
    check_function(fun, "draw")

    @functools.wraps(fun, updated=())
    def drawn(*args: Any, **kwargs: Any) -> Drawing:
        return drawing(record_backward(fun, args, kwargs) if backward else record(fun, args, kwargs).swept())

    return drawn
