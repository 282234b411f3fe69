"""Programs for torch on the facade and (where installed) on the original: what they print, compared."""

from __future__ import annotations

import io
import re
import sys
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import funcgrad.torch as ft

collect_ignore_glob = ["programs/*.py"]  # run by test_tutorials.py, on the facade and on the original


def executed(torch: Any, program: str, described: Callable[[Exception], str]) -> tuple[str, list[str]]:
    """What a program prints, with the error that ends it (as `described`), and the kinds of its warnings."""
    out = io.StringIO()
    space = {"torch": torch, "print": lambda *args: print(*args, file=out), "__name__": "program"}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(compile(program, "program", "exec"), space)
        except Exception as error:  # noqa: BLE001 (the error is part of what is compared)
            print(described(error), file=out)
    noted = sorted({w.category.__name__ for w in caught} - {"DeprecationWarning", "ResourceWarning"})
    return re.sub(r"0x[0-9a-f]+", "0x", out.getvalue()), noted


def run_program(torch: Any, program: str) -> str:
    """What a program prints, with its warnings and the kind and beginning of its error, if any."""
    text, noted = executed(
        torch, program, lambda error: " ".join((type(error).__name__, str(error).split("\n")[0][:40]))
    )
    return text + "".join(f"warns {name}\n" for name in noted)


@pytest.fixture
def same() -> Callable[[str], None]:
    """A function that runs a program on both, and fails where they print different things."""
    original = pytest.importorskip("torch", reason="the original is not installed")

    def check(program: str) -> None:
        found, expected = run_program(ft, program), run_program(original, program)
        assert squeezed(found) == squeezed(expected)

    return check


def squeezed(text: str) -> str:
    """Without what aligns columns."""
    return re.sub(r"(?<=[\[,(]) +|\n +(?=\[)", "", text)


@pytest.fixture
def as_torch(monkeypatch: pytest.MonkeyPatch) -> Any:
    """`import torch` gives the facade."""

    for name in [n for n in sys.modules if n == "torch" or n.startswith("torch.")]:
        monkeypatch.delitem(sys.modules, name)
    for name, module in list(sys.modules.items()):
        if name == "funcgrad.torch" or name.startswith("funcgrad.torch."):
            monkeypatch.setitem(sys.modules, name.removeprefix("funcgrad."), module)
    return ft
