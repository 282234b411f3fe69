"""`import autograd` gives funcgrad's interface of that name: an import hook, for this process alone."""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from funcgrad.core.engine.trace import Tracer

OURS = "funcgrad.compat.autograd"


class _Alias:
    """Loads a module that has another name, too."""

    def __init__(self, name: str) -> None:
        self.name = name

    def create_module(self, spec: Any) -> ModuleType:
        module = importlib.import_module(self.name)
        self.kept = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.kept  # the import system has put the alias in its place


class _Finder:
    """Finds `autograd` and what is in it under funcgrad's name."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> Any:
        if name != "autograd" and not name.startswith("autograd."):
            return None
        ours = OURS + name[len("autograd") :]
        try:
            importlib.import_module(ours)
        except ModuleNotFoundError as error:
            if error.name == ours:
                return None
            raise
        loader: Any = _Alias(ours)
        return importlib.machinery.ModuleSpec(name, loader, is_package=True)


def install_autograd() -> None:
    """Let `import autograd` give `funcgrad.compat.autograd`, in this process.

    Call it before the first `import autograd`, that of other packages included; a second call changes
    nothing. `python -m funcgrad.compat.autograd script.py` does it for a script.

    Raises:
        ImportError: the real autograd has been imported already; its functions are in use, and the two can't
            be mixed.

    >>> from funcgrad.compat import install_autograd
    >>> install_autograd()  # doctest: +SKIP
    >>> import autograd.numpy as np  # doctest: +SKIP
    """
    there = sys.modules.get("autograd")
    if there is not None and there is not sys.modules.get(OURS):
        raise ImportError(
            f"install_autograd: autograd was imported before, from {getattr(there, '__file__', 'elsewhere')}. Call "
            "funcgrad.compat.install_autograd() before anything imports autograd, at the top of the program."
        )
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
        _claimed(Tracer)


def _claimed(kind: type) -> None:
    """Let a class of tracers be of autograd's module: PennyLane and autoray tell libraries by that."""
    kind.__module__ = "autograd.numpy.numpy_boxes"
    for below in kind.__subclasses__():
        _claimed(below)
