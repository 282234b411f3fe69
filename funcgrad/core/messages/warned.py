"""Warnings name the user's line.

NumPy's ufuncs warn at the Python line that called them. Beside tracers that is a line of ours (a lane, a rule,
a replay), which tells nobody anything, and by which Python would show the warning once for all of the user's lines.
C code gives no way to choose another line, so what is about to be shown is shown again, for the user's line: by
`warn_explicit`, so that filters, "once for each line", `catch_warnings` and `pytest.warns` are as ever. A filter
"error" raises where the warning is made, with the user's line in its traceback.
"""

from __future__ import annotations

import sys
import warnings
from types import FrameType
from typing import Any

from funcgrad.core.engine.forward import transposed_pull
from funcgrad.core.engine.sweep import sweep
from funcgrad.errors import is_ours, user_frame

_SHOW, _MARK = "_showwarnmsg", "_by_funcgrad"
_SWEEP, _TRANSPOSED = sweep.__code__, transposed_pull.__code__


def install() -> None:
    """Stand before the function through which the interpreter shows warnings; that of others is left alone."""
    shown = getattr(warnings, _SHOW, None)
    if shown is None or hasattr(shown, _MARK):
        return

    def show(message: Any) -> None:
        user = user_frame() if is_ours(message.filename) else None
        if user is None:
            shown(message)
        else:
            _forget(message)
            _show_again(message, user)

    setattr(show, _MARK, True)
    setattr(warnings, _SHOW, show)


def _forget(message: Any) -> None:
    """Let a line of ours warn again: it serves many lines of the user."""
    text, category = str(message.message), message.category
    getattr(warnings, "onceregistry", {}).pop((text, category), None)
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename != message.filename:
        frame = frame.f_back
    registry = frame.f_globals.get("__warningregistry__", {}) if frame is not None else {}
    for line in (message.lineno, 0):  # 0: of the filter "module"
        registry.pop((text, category, line), None)


def _show_again(message: Any, user: FrameType) -> None:
    where = _pulled()
    text = f"{message.message}, as a cotangent was pulled back through {where}" if where else message.message
    registry = user.f_globals.setdefault("__warningregistry__", {})
    module = user.f_globals.get("__name__") or "<string>"
    warnings.warn_explicit(
        text,
        message.category,
        user.f_code.co_filename,
        user.f_lineno,
        module,
        registry,
        source=message.source,
    )


def _pulled() -> str:
    """What a cotangent is being pulled back through; with the line that called it, under `debug.lines()`."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code is not _SWEEP:
        frame = frame.f_back
    if (
        frame is None or frame.f_back is not None and frame.f_back.f_code is _TRANSPOSED
    ):  # a step of forward mode
        return ""
    node = frame.f_locals.get("node")
    return node.plan.name if node is not None else ""


install()
