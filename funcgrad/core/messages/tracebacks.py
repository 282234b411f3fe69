"""Short tracebacks: from the call of a transform straight to the user's line that failed.

Between the two stand frames of the engine, which tell a user nothing. A trace leaves them out of any error
that passes it. What stays: all frames outside funcgrad, NumPy's among them; and, where the engine itself has
failed, its own frames at the end. The environment variable FUNCGRAD_FULL_TRACEBACKS keeps everything.
"""

from __future__ import annotations

import os
from itertools import takewhile
from types import FrameType, TracebackType

from funcgrad import errors
from funcgrad.errors import FuncgradError

_PACKAGE = os.path.dirname(os.path.abspath(errors.__file__)) + os.sep
# What says all in its message, or is NumPy's answer to the user's numbers. Any other error from our frames is
# a failure of ours.
_EXPECTED = (FuncgradError, ValueError, IndexError, ArithmeticError, MemoryError, Warning)
_FULL = bool(os.environ.get("FUNCGRAD_FULL_TRACEBACKS"))


def is_ours(frame: FrameType) -> bool:
    """Does this frame run code of funcgrad, or code that it has generated?"""
    return frame.f_code.co_filename.startswith(("<funcgrad", _PACKAGE))


def shorten(error: BaseException) -> None:
    """Leave the engine's frames out of the traceback of `error`."""
    if _FULL:
        return
    steps: list[TracebackType] = []
    step = error.__traceback__
    while step is not None:
        steps.append(step)
        step = step.tb_next
    kept: list[TracebackType] = []
    if not isinstance(error, _EXPECTED):
        kept = list(takewhile(lambda step: is_ours(step.tb_frame), reversed(steps)))[::-1]
    kept = [step for step in steps[: len(steps) - len(kept)] if not is_ours(step.tb_frame)] + kept
    chain = None
    for step in reversed(kept):
        chain = TracebackType(chain, step.tb_frame, step.tb_lasti, step.tb_lineno)
    error.__traceback__ = chain
