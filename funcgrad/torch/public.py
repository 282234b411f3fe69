"""The public names of a package, gathered from its files: a table says which file has which."""

from __future__ import annotations

from types import ModuleType
from typing import Any


def gather(space: dict[str, Any], names: dict[ModuleType, str], *modules: ModuleType) -> None:
    """Put the names that the table gives for each file into a package, and these modules, and list them in __all__.

    Editors see them in the package's stub: run `make stubs` after a change.
    """
    space.update({name: getattr(file, name) for file, listed in names.items() for name in listed.split()})
    own = {module.__name__.rpartition(".")[2]: module for module in modules}
    space["__all__"] = sorted([*" ".join(names.values()).split(), *own])
