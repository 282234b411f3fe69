"""The way into a program for calls like the last one: all checks and the program's call in one function.

A call of Python's costs as much as NumPy's on a small array, so what is asked of the arguments (signature.py)
and of the surroundings (facts.py) is printed one after the other:

    def enter(args):
        if len(args) != 1: return None
        (x0,) = args
        if not (type(x0) is ndarray and x0.dtype is d0 and ...): return None
        if compiled.program is not program: return None
        try:
            if not (o1.cell_contents is o2): return None
        except Exception:
            return None
        ...
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from funcgrad.compiler.facts import Fact, asked
from funcgrad.compiler.program import CompiledProgram
from funcgrad.compiler.signature import questions


def entry(
    args: Sequence[Any], compiled: Any, program: Any, facts: Sequence[Fact]
) -> Callable[[Sequence[Any]], Any] | None:
    """A function of arguments with the signature of `args`: what `program` gives, as a tuple of one.

    It gives None for other arguments, if a fact does not hold, or if the program is not the one of `compiled` any
    more. There is no such function for arguments of other kinds than numbers and arrays in C's order.
    """
    found = questions(args)
    if found is None:
        return None
    tests, space = found
    surroundings, objects = asked(facts)
    space.update(objects, compiled=compiled, program=program)
    names = "".join(f"x{i}, " for i in range(len(args)))
    lines = [
        f"if len(args) != {len(args)}: return None",
        *([f"{names}= args"] if args else []),
        *([f"if not ({' and '.join(tests)}): return None"] if tests else []),
        "if compiled.program is not program: return None",
        f"try:\n        if not ({surroundings}): return None\n    except Exception: return None",
        *_call(compiled, program, names, space),
        "return out",
    ]
    body = "\n    ".join(lines)
    exec(compile(f"def enter(args):\n    {body}\n", "<funcgrad entry>", "exec"), space)
    return space["enter"]


def _call(compiled: Any, program: Any, names: str, space: dict[str, Any]) -> list[str]:
    """As `CompiledProgram.__call__` does it, with each argument by itself."""
    if compiled.overwrites:  # more is to be asked
        return ["out = compiled.run(args)"]
    if type(program) is not CompiledProgram:
        return ["out = program(args)"]
    space.update(pop=program.pool.pop, append=program.pool.append, fresh=program.fresh)
    return [
        "try: run = pop()\n    except IndexError: run = fresh()",
        f"out = run({names})",
        "append(run)",
    ]
