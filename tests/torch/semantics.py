"""Tables of programs for torch with what they print: each row runs on the facade and the original.

A table is blocks of `## section what it shows`, the program, `=>`, what it prints (`...` stands for any text;
an error that ends the program and the warnings come last). `## !section` marks a row where the facade does
better: there the original is to differ.
"""

from __future__ import annotations

import importlib.util
import re
from typing import Any, NamedTuple

import funcgrad.torch as ft
from tests.torch.conftest import executed


class Row(NamedTuple):
    """One program, what it prints, and whether the original prints something else."""

    name: str
    program: str
    expected: str
    better: bool

    def __str__(self) -> str:
        return self.name


def rows_of(table: str) -> list[Row]:
    """The rows of a table."""
    rows = []
    for block in re.split(r"^## ", table, flags=re.MULTILINE)[1:]:
        name, _, rest = block.partition("\n")
        program, _, expected = rest.partition("\n=>\n")
        rows.append(Row(name.lstrip("!"), program, expected.strip("\n"), name.startswith("!")))
    return rows


def outcome(torch: Any, program: str) -> str:
    """What a program prints, the error that ends it, and the kinds of its warnings."""
    text, noted = executed(
        torch, program, lambda error: f"{type(error).__name__}: " + str(error).split("\n")[0]
    )
    return "\n".join([*text.rstrip("\n").split("\n"), *(f"warns {name}" for name in noted)]).strip("\n")


def matches(found: str, expected: str) -> bool:
    """Is it that text, where `...` stands for any?"""
    pattern = re.escape(expected).replace(re.escape(" ..."), ".*").replace(re.escape("..."), ".*")
    return re.fullmatch(pattern, found) is not None


def check(row: Row) -> None:
    """Fail where the facade, or the original, prints something else than the row says."""
    found = outcome(ft, row.program)
    assert matches(found, row.expected), f"{row.program}\n--- prints\n{found}\n--- instead of\n{row.expected}"
    if importlib.util.find_spec("torch") is None:
        return
    import torch

    torch.set_warn_always(True)  # or each warning comes once only
    try:
        original = outcome(torch, row.program)
    finally:
        torch.set_warn_always(False)
    assert matches(original, row.expected) != row.better, f"the original prints\n{original}"
