"""Parts of libraries that are written in Python and NumPy: adapted as a program is."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from funcgrad.adaptation.scope import Scope
from funcgrad.adaptation.translation import Translator


class _Library(Scope):
    """A package within a library, and no other part of it."""

    def has(self, module: Any, space: dict[str, Any] | None = None) -> bool:
        """Is this a module of the package?"""
        (name,) = self.packages
        if space is not None and space is self.space:
            return True
        return isinstance(module, str) and (module == name or module.startswith(f"{name}."))


def adapted_library(module: ModuleType) -> Any:
    """`module` with its functions and classes adapted."""
    return Translator(_Library(frozenset([module.__name__]), frozenset(), module.__dict__)).translated(module)
