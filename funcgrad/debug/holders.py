"""Who keeps a tracer alive? Asked of the garbage collector, and put into words."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

from funcgrad.core.engine.trace import Tracer

_MOST = 5  # as many are described in a message


def report(escaped: Sequence[tuple[Tracer, str]]) -> str:
    """The message for tracers that outlived their transform; each comes with the line that made it."""
    mine = [escaped]
    lines = []
    for tracer, line in escaped[:_MOST]:
        held = ", ".join(list(holders(tracer, mine))[:3]) or "something that Python can't see"
        kind = f"a {type(tracer).__name__} of shape {tracer.shape}"
        lines.append(f"  {kind} of the {tracer._trace.transform}, made at {line}; held by {held}")
    if len(escaped) > _MOST:
        lines.append(f"  and {len(escaped) - _MOST} more")
    subject = "1 tracer is" if len(escaped) == 1 else f"{len(escaped)} tracers are"
    whose = "its transform has" if len(escaped) == 1 else "their transforms have"
    return (
        f"debug.leaks: {subject} alive, though {whose} returned. Return values from the function instead of keeping "
        "them (has_aux=True gives them back as plain arrays).\n" + "\n".join(lines)
    )


def holders(tracer: Tracer, mine: Sequence[Any]) -> Iterator[str]:
    """What refers to this tracer, in words; `mine` are the lists of the report itself."""
    for referrer in gc.get_referrers(tracer):
        if isinstance(referrer, FrameType) or any(
            referrer is item for listed in mine for item in (listed, *listed)
        ):
            continue
        if isinstance(referrer, dict):
            yield _entry(referrer, tracer)
        elif type(referrer).__name__ == "cell":
            yield "a variable that a function closes over"
        elif isinstance(referrer, (list, tuple, set)):
            yield f"a {type(referrer).__name__} of {len(referrer)}"
        elif isinstance(referrer, Tracer):
            yield "another tracer, as its value"
        else:
            yield _attribute(referrer, getattr(referrer, "__dict__", {}), tracer)


def _entry(mapping: dict[Any, Any], tracer: Tracer) -> str:
    if "__name__" in mapping and "__loader__" in mapping:
        return f"the global variable {_key(mapping, tracer)} of {mapping['__name__']}"
    for owner in gc.get_referrers(mapping):
        if getattr(owner, "__dict__", None) is mapping:
            return _attribute(owner, mapping, tracer)
    return f"a dict at {_key(mapping, tracer)!r}"


def _attribute(owner: Any, mapping: dict[Any, Any], tracer: Tracer) -> str:
    name = _key(mapping, tracer)
    return (
        f"a {type(owner).__name__}" if name is None else f"the attribute {name} of a {type(owner).__name__}"
    )


def _key(mapping: dict[Any, Any], tracer: Tracer) -> Any:
    return next((key for key, value in mapping.items() if value is tracer), None)
