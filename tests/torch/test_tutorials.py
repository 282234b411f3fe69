"""Whole programs in the shape of PyTorch's tutorials: the same numbers on facade and original."""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import io
import re
import sys
import types
import warnings
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))
NUMBER = re.compile(r"(?<![\w.])-?(?:\d+\.?\d*(?:e[+-]?\d+)?|nan|inf)")


def importing(package: str) -> Any:
    """An __import__ for which torch is this package."""

    def load(name: str, given: Any = None, local: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        if level or name.partition(".")[0] != "torch":
            return __import__(name, given, local, fromlist, level)
        found = importlib.import_module(package + name.removeprefix("torch"))
        return found if fromlist else importlib.import_module(package)

    return load


def printed(path: Path, package: str) -> str:
    """What a program prints, where torch is this package."""
    module = types.ModuleType(f"program_{path.stem}")
    module.__dict__["__builtins__"] = {**vars(builtins), "__import__": importing(package)}
    sys.modules[module.__name__] = module  # for pickles of its classes
    out = io.StringIO()
    try:
        with redirect_stdout(out), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(path.read_text(), str(path), "exec"), module.__dict__)
    finally:
        del sys.modules[module.__name__]
    return re.sub(r"0x[0-9a-f]+", "0x", out.getvalue())


def split(text: str) -> tuple[str, list[float]]:
    """The words of a text, and its numbers."""
    return re.sub(r"\s+", "", NUMBER.sub("#", text)), [float(x) for x in NUMBER.findall(text)]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_prints_the_same_numbers(path: Path) -> None:
    words, numbers = split(printed(path, "funcgrad.torch"))
    assert words, "a program has to print something"
    if importlib.util.find_spec("torch") is None:
        return
    wanted, expected = split(printed(path, "torch"))
    assert words == wanted
    assert numbers == pytest.approx(expected, rel=2e-4, abs=2e-5, nan_ok=True)
