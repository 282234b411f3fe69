"""Where a recorded call came from: the user's line, and the running transforms (the picture's boxes).

Python's own stack is asked. A frame that has ended may leave its id to another one, so the frames of running
transforms are held, until the next call shows that they have ended.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator
from functools import cache
from types import CodeType, FrameType
from typing import Any, NamedTuple, Self

from funcgrad.core.engine.forward import transposed_pull
from funcgrad.core.engine.sweep import sweep
from funcgrad.errors import is_library, short_name, user_frame
from funcgrad.transforms.checkpointing import Checkpoint
from funcgrad.transforms.custom import CustomFunction
from funcgrad.transforms.derivatives import jvp, vjp
from funcgrad.transforms.linear import linearize
from funcgrad.transforms.recording import Pullback
from funcgrad.transforms.wrapping import Transformed, name_of


class Line(NamedTuple):
    """A line of the user's code."""

    file: str
    number: int
    function: str

    def __str__(self) -> str:
        return f"{self.name}, line {self.number}, in {self.function}" if self.file else ""

    @property
    def name(self) -> str:
        """The file's name."""
        return short_name(self.file)

    @property
    def text(self) -> str:
        """What is written there."""
        return linecache.getline(self.file, self.number).strip() if self.file else ""


NO_LINE = Line("", 0, "")


def line_in(frame: FrameType) -> Line:
    """Where a frame stands."""
    return Line(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


class TransformRun:
    """One run of a transform (or of a part of one)."""

    def __init__(self, title: str) -> None:
        self.title = title


class Stack:
    """Asked at each call. Only frames above the one that made it count."""

    def __init__(self) -> None:
        self.base: FrameType | None = sys._getframe(1)
        self.codes = _box_codes()
        self.held: list[tuple[FrameType, TransformRun]] = []
        self.prefix: tuple[TransformRun, ...] = ()
        self.line: Line | None = None  # takes the place of the running line

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.base = None  # a frame holds its variables, and this is one of them
        self.held.clear()

    def now(self) -> tuple[tuple[TransformRun, ...], Line, tuple[Line, ...]]:
        """The boxes, outermost first, the line, and the lines of all of the user's functions that are running."""
        user = user_frame()
        line = self.line or NO_LINE
        boxes, path = [], []
        codes, frame = self.codes, sys._getframe(1)
        while frame is not None and frame is not self.base:
            if not is_library(frame.f_code.co_filename):
                path.append(line_in(frame))
            if frame is user and self.line is None:
                line = path[-1]
            if frame.f_code in codes and not is_transposition(frame):
                boxes.append(frame)
            frame = frame.f_back
        boxes.reverse()
        self._follow(boxes)
        return (*self.prefix, *(box for _, box in self.held)), line, tuple(path[::-1])

    def _follow(self, frames: list[FrameType]) -> None:
        same = 0
        while same < min(len(frames), len(self.held)) and frames[same] is self.held[same][0]:
            same += 1
        del self.held[same:]
        self.held += [(frame, TransformRun(title_of(frame))) for frame in frames[same:]]


@cache
def _wrappers() -> dict[CodeType, str]:
    """The code of each transform's call -> the name of what it transforms, among its variables."""
    # one step each
    classes = [cls for cls in _descendants(Transformed) if not issubclass(cls, (Checkpoint, CustomFunction))]
    by_code = {cls.__call__.__code__: "self" for cls in classes}
    return {**by_code, **{f.__code__: "fun" for f in (jvp, vjp, linearize)}}


def _descendants(cls: type) -> Iterator[Any]:
    for child in cls.__subclasses__():
        yield child
        yield from _descendants(child)


_SWEEP, _PULLBACK = sweep.__code__, Pullback.__call__.__code__


@cache
def _box_codes() -> frozenset[CodeType]:
    return frozenset([*_wrappers(), _SWEEP, _PULLBACK])


def is_transposition(frame: FrameType) -> bool:
    """Is this sweep a step of forward mode?"""
    caller = frame.f_back
    return frame.f_code is _SWEEP and caller is not None and caller.f_code is transposed_pull.__code__


def title_of(frame: FrameType) -> str:
    """What is running there."""
    code = frame.f_code
    if code is _SWEEP:
        return "backward sweep"
    if code is _PULLBACK:
        return "pullback"
    source = frame.f_locals.get(_wrappers()[code])
    if isinstance(source, Transformed):
        return f"{source.transform} of {name_of(source.fun)}"
    return f"{code.co_name} of {name_of(source)}"
