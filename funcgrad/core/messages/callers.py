"""What the interpreter does with a tracer that it asks for plain data: a call, a write, formatting.

Only the user's own frame is looked at, and only where an error would follow. The instruction that runs there
tells an assignment from a call; the source of the call, if there is one, tells which function is called.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import math
from functools import cache
from opcode import opmap
from types import CodeType, FrameType
from typing import Any

_STORE, _BINARY, _CACHE = opmap["STORE_SUBSCR"], opmap["BINARY_OP"], opmap["CACHE"]
_RETURN = opmap["RETURN_VALUE"]
_REMAINDERS = (6, 19)  # % and %=, among the binary operators
_CALLS = {code for name, code in opmap.items() if name.startswith("CALL")}
# Functions whose answer is a boolean: no derivative is lost.
_ASKING = (math.isclose, math.isnan, math.isinf, math.isfinite)


def is_writing(frame: FrameType) -> bool:
    """Is a[index] = x about to be done?"""
    return _instruction(frame)[0] == _STORE


def only_looks(frame: FrameType) -> bool:
    """Is it about to make text ('%.3f' % x), or to ask a question (math.isclose(x, 1))?"""
    code, argument = _instruction(frame)
    return code == _BINARY and argument in _REMAINDERS or code in _CALLS and called(frame)[1] in _ASKING


def is_asked_by(library: str, frame: FrameType | None) -> bool:
    """Does the call that this frame has made give its value to a function of this library: directly, or through
    functions of the user's that return it as it is?
    """
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.partition(".")[0] == library:
            return True
        if not _is_returned(frame):
            return False
        frame = frame.f_back
    return False


def _is_returned(frame: FrameType) -> bool:
    """Is what the running call gives returned as it is?"""
    code, position = frame.f_code.co_code, frame.f_lasti + 2
    while code[position] == _CACHE:
        position += 2
    return code[position] == _RETURN


def called(frame: FrameType, position: int | None = None) -> tuple[str, Any]:
    """The function called at this instruction: its name in the source, and itself; empty if unknown."""
    position = frame.f_lasti if position is None else position
    code = frame.f_code.co_code
    while position and code[position] == _CACHE:  # which a call of a Python function has passed
        position -= 2
    names = _names(frame.f_code, position) if code[position] in _CALLS else ()
    if not names:
        return "", None
    function: Any = None
    for space in (frame.f_locals, frame.f_globals, vars(builtins)):
        if names[0] in space:
            function = space[names[0]]
            break
    for name in names[1:]:
        function = getattr(function, name, None)
    return ".".join(names), function


def _instruction(frame: FrameType) -> tuple[int, int]:
    code = frame.f_code.co_code
    return code[frame.f_lasti], code[frame.f_lasti + 1]


@cache
def _names(code: CodeType, position: int) -> tuple[str, ...]:
    """("math", "sin") where the source calls math.sin(...)."""
    line, end_line, column, end_column = [*code.co_positions()][position // 2]
    if line is None or end_line is None or column is None or end_column is None:
        return ()
    lines = [linecache.getline(code.co_filename, k).encode() for k in range(line, end_line + 1)]
    lines[-1] = lines[-1][:end_column]
    lines[0] = lines[0][column:]
    try:
        node: Any = ast.parse(b"(" + b"".join(lines) + b")", mode="eval").body
    except SyntaxError:  # no source, or another one by now
        return ()
    names: list[str] = []
    node = getattr(node, "func", None)
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    return (node.id, *names) if isinstance(node, ast.Name) else ()
