"""Namespaces whose names are looked up when they are asked for, and all entered for who asks for `__dict__`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

_NAMES: Any = vars(ModuleType)["__dict__"]


class Filled(ModuleType):
    """A module that enters all its names when it is asked for its `__dict__`, as packages do that wrap them."""

    @property
    def __dict__(self) -> dict[str, Any]:
        names = _NAMES.__get__(self)
        fill = names.pop("_fill", None)
        if fill is not None:
            fill()
        return names


def filled(names: dict[str, Any], fill: Callable[[], None]) -> None:
    """Let the module that has these names be filled by `fill`."""
    names["_fill"] = fill
    sys.modules[names["__name__"]].__class__ = Filled


def filled_from(names: dict[str, Any], original: Callable[[], Any]) -> Callable[[str], Any]:
    """Let the module that has these names be filled from another; its `__getattr__`."""

    def fill() -> None:
        for name in dir(original()):
            if not name.startswith("_") and name not in names:
                value = getattr(original(), name)
                if not isinstance(value, ModuleType):
                    names[name] = value

    filled(names, fill)
    return lambda name: getattr(original(), name)
