"""Where the user's code called an operation: noted when recorded, looked up when an error asks."""

from __future__ import annotations

from types import CodeType
from typing import TypeAlias

from funcgrad.errors import short_name, user_frame

Where: TypeAlias = "tuple[CodeType, int] | None"


def here() -> Where:
    """The instruction of the user's that is running."""
    frame = user_frame()
    return None if frame is None else (frame.f_code, frame.f_lasti)


def line_of(where: Where) -> str:
    """'file.py, line 12, in f'."""
    if where is None:
        return "an unknown line"
    code, instruction = where
    lines = (line for start, end, line in code.co_lines() if start <= instruction < end)
    return f"{short_name(code.co_filename)}, line {next(lines, None)}, in {code.co_name}"
