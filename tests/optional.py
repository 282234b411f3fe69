"""Optional packages, imported by the first test that uses them: collecting tests imports none."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest


class Late:
    """Stands for a module until something is asked of it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):  # pytest asks of every object whether it is a fixture
            raise AttributeError(attribute)
        return getattr(import_module(self._name), attribute)


def optional(name: str, reason: str | None = None) -> Any:
    """A package that is imported when it is used; where it is not installed, the whole file is skipped."""
    if find_spec(name.partition(".")[0]) is None:
        pytest.skip(reason or f"{name} is not installed", allow_module_level=True)
    return Late(name)
