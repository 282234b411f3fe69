"""Values in a few words, for those who hover over a picture: arrays themselves are not kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core.engine.cotangent import dense
from funcgrad.core.engine.sweep import Node
from funcgrad.core.engine.trace import Tracer, concrete

FEW = 6  # elements that are written out


def told(x: Any) -> str:
    """A number, a short array, or the range and the mean of a long one; nothing for what is no number.

    >>> told(np.array([1.0, 0.25])), told(np.arange(100.0))
    ('[1, 0.25]', '0 … 99, mean 49.5')
    """
    if isinstance(x, (tuple, list)):
        return "; ".join("0" if part is None else told(part) for part in x)
    x = concrete(x)
    if isinstance(x, Tracer) or not hasattr(x, "dtype") or x.dtype.kind not in "biufc":
        return ""
    x = np.asarray(x)
    if x.size <= FEW:
        return np.array2string(x, separator=", ", formatter={"all": _number}).replace("\n", "")
    if x.dtype.kind == "c":
        return f"magnitude {_range(np.abs(x))}"
    return _range(x)


def _range(x: np.ndarray) -> str:
    finite = x[np.isfinite(x)]
    parts = [] if finite.size == x.size else [f"{x.size - finite.size} not finite"]
    if finite.size:
        least, most = _number(finite.min()), _number(finite.max())
        parts[:0] = (
            [f"{least} everywhere"]
            if least == most
            else [f"{least} … {most}", f"mean {_number(finite.mean())}"]
        )
    return ", ".join(parts)


def _number(x: Any) -> str:
    return f"{x:.4g}"


class PulledSteps:
    """A visitor of a sweep that notes each pull: the node, and the cotangent that has arrived there."""

    def __init__(self) -> None:
        self.found: list[tuple[Node, str]] = []

    def enter(self, node: Node, ct: Any) -> tuple[Any, Any]:
        """Before a pull."""
        self.found.append((node, told([dense(part) for part in ct] if isinstance(ct, list) else dense(ct))))
        return ct, node.saved

    def leave(self, node: Node, parts: Any) -> Any:
        """After it."""
        return parts
