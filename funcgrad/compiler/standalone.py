"""A program's source for people: one Python function that needs only NumPy, not funcgrad."""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.compiler.carried import Carrier
from funcgrad.compiler.paths import Block
from funcgrad.compiler.signature import Arguments
from funcgrad.compiler.steps import Spec
from funcgrad.compiler.writer import Writer
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.transforms.programs import Ref

_MANY = 1000  # numbers of a constant that are written one by one


class SourceWriter(Writer):
    """Writes a program that returns its results as they are."""

    count = 0

    def _name(self, ref: Ref) -> str:
        self.count += 1
        self.texts[ref] = name = f"v{self.count}"
        return name

    def _wrapped(self, text: str) -> str:
        return text

    def _other_tree(self, structure: tree.Structure, inner: list[str]) -> str:
        return f"({''.join(f'{x}, ' for x in inner)})"

    def _write_miss(self) -> None:
        self._line('raise ValueError("the function went no such way when it was recorded")')


def source_of(
    fun: Callable[..., Any], root: Block, inputs: Sequence[tuple[Ref, Spec]], given: Arguments
) -> str:
    """The program as the text of a module."""
    writer = SourceWriter(root, inputs)
    name = re.sub(r"\W", "", getattr(fun, "__name__", "")) or "program"
    name = "program" if keyword.iskeyword(name) or not name.isidentifier() or name == "lambda" else name
    parameters, unpacked = _parameters(fun, given)
    names = _by_name(unpacked, writer)
    body = "\n".join(writer.lines)
    body = re.sub(r"\bx(\d+)\b", lambda m: names[int(m[1])] if int(m[1]) < len(names) else m[0], body)
    lines = [f"    {names[i]} = {path}" for i, path in enumerate(unpacked) if path != names[i]]
    head = f"def {name}({', '.join(parameters)}):"
    module = _globals(writer)
    return "\n".join([*module, "", "", head, *lines, body, ""])


def _parameters(fun: Callable[..., Any], given: Arguments) -> tuple[list[str], list[str]]:
    """The parameters of the function, and where each input is found in them."""
    paths = _paths(given)
    try:
        known = [
            p.name
            for p in inspect.signature(fun).parameters.values()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
    except (TypeError, ValueError):
        known = []
    parameters: list[str] = []
    unpacked: list[str] = []
    for place, rest in paths:
        fallback = f"arg{place}" if isinstance(place, int) else place
        name = known[place] if isinstance(place, int) and place < len(known) else fallback
        if name not in parameters:
            parameters.append(name)
        unpacked.append(name + rest)
    return parameters, unpacked


def _paths(given: Arguments) -> list[tuple[Any, str]]:
    """For each input, the position (or name) of its argument, and the way to it from there."""
    if given.flows is None:
        return [(i, "") for i in range(len(given.leaves))]
    assert given.structure is not None
    found = []
    paths = given.structure.paths()
    for i in given.flows:
        kind, place, *rest = paths[i]
        held: Any = place
        found.append((held.index if kind.index == 0 else held.key, tree.keystr(tuple(rest))))  # pyright: ignore[reportAttributeAccessIssue]
    return found


def _by_name(unpacked: Sequence[str], writer: Writer) -> list[str]:
    """A name for each input."""
    taken = set(writer.names.space)
    names = []
    for path in unpacked:
        name = re.sub(r"\W+", "_", path).strip("_")
        while name in taken or keyword.iskeyword(name) or re.fullmatch(r"[vck]\d+", name):
            name += "_"
        taken.add(name)
        names.append(name)
    return names


def _globals(writer: Writer) -> list[str]:
    """Imports, constants and functions of our own."""
    carrier = Carrier()
    constants: list[str] = []
    for name, x in writer.names.space.items():
        if name == "np" or name.startswith("__"):
            continue
        if isinstance(x, np.ndarray):
            constants.append(f"{name} = {_array(x)}")
        elif isinstance(x, np.generic):
            constants.append(
                f"{name} = np.{type(x).__name__}({x.item()!r})".replace("(nan)", "(np.nan)").replace(
                    "inf)", "np.inf)"
                )
            )
        elif getattr(x, "__name__", "") == "scipy":
            carrier.imports.add("import scipy.special")
        elif callable(x):
            carrier.carry(x, name)
        else:
            raise UnsupportedFunctionError(
                f"source: the program holds a {type(x).__name__}, which can't be written down."
            )
    imports = sorted(carrier.imports)
    functions = [text for part in carrier.texts.values() for text in ("", "", part.rstrip())]
    head = ["from __future__ import annotations", "", *imports, *functions]
    rest = [*carrier.aliases, *constants]
    return [*head, "", "", *rest] if rest else head


def _array(x: np.ndarray) -> str:
    """An array, as Python makes it."""
    dtype = repr(x.dtype.str)
    flat = np.ravel(x)
    if x.size > 1 and bool((flat == flat[0]).all()):
        return f"np.full({x.shape}, {flat[0].item()!r}, {dtype})".replace("nan", "np.nan").replace(
            "inf", "np.inf"
        )
    if x.size > _MANY:
        return f"np.frombuffer(bytes.fromhex({flat.tobytes().hex()!r}), {dtype}).reshape({x.shape})"
    numbers = re.sub(r"\b(nan|inf)\b", r"np.\1", repr(flat.tolist()))
    return (
        f"np.array({numbers}, {dtype}).reshape({x.shape})" if x.ndim != 1 else f"np.array({numbers}, {dtype})"
    )
