"""Traces that let their tracers go: for functions that are differentiated without their author's knowing.

A solver of SciPy's traces a function that was written for plain arrays. That may keep what it has computed (the
best value so far, the last residuals), and compare or convert it in a later, plain call. Such a tracer is then
as good as its value.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any

from funcgrad.core.engine.forward import ForwardTrace, OpenForwardTrace
from funcgrad.core.engine.reverse import OpenReverseTrace, ReverseTrace
from funcgrad.core.engine.trace import WATCHED, Trace


@cache
def _lasting(kind: type[Trace]) -> Any:
    """The class of traces like those of `kind`, which let go when they are closed."""
    opens = OpenReverseTrace if issubclass(kind, ReverseTrace) else OpenForwardTrace
    if not issubclass(kind, (ReverseTrace, ForwardTrace)):
        return kind
    gone = type(f"LetGo{kind.__name__}", (kind,), {"__slots__": (), "has_let_go": True, "close": opens.close})

    def close(self: Any) -> None:
        opens.close(self)
        self.__class__ = gone

    return type(f"Lasting{kind.__name__}", (kind,), {"__slots__": (), "close": close})


def letting_go(derivative: Callable[..., Any]) -> Callable[..., Any]:
    """`derivative`, whose traces let their tracers go in the end."""

    @wraps(derivative)
    def call(*args: Any, **kwargs: Any) -> Any:
        outer = WATCHED.get()
        token = WATCHED.set(lambda kind: _lasting(kind if outer is None else outer(kind)))
        try:
            return derivative(*args, **kwargs)
        finally:
            WATCHED.reset(token)

    return call
