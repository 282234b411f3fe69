"""The globals of copied functions: names are looked up in the original's, and what is found is translated."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from funcgrad.adaptation.translation import Translator

_ABSENT = object()
# What stays as it is until somebody rebinds the name is remembered; module state is looked up each time.
_KEPT = (FunctionType, BuiltinFunctionType, type, ModuleType, np.ufunc)
# Python takes these without asking `__missing__`.
_OF_MODULES = ("__name__", "__package__", "__spec__", "__loader__", "__file__", "__path__", "__doc__")


class CopiedGlobals(dict[str, Any]):
    """The globals of the copies of functions whose globals are `original`.

    In the dict itself stand names whose translation is remembered (`sources` has what it came from), and
    those that a copy has just written: `flush` puts these into the original.
    """

    def __init__(self, translator: Translator, original: dict[str, Any]) -> None:
        super().__init__(
            {name: original[name] for name in _OF_MODULES if name in original},
            __builtins__=translator.builtins,
        )
        self.translator, self.original = translator, original
        self.sources: dict[str, Any] = {}
        self.fixed = frozenset(dict.keys(self))

    def __missing__(self, name: str) -> Any:
        if name in self.original:
            value = self.original[name]
            ours = self.translator.translated(value)
        else:
            value = _ABSENT
            ours = self.translator.builtins[name]  # a KeyError, of which the interpreter makes a NameError
        if value is _ABSENT or isinstance(value, _KEPT):
            self._keep(name, value, ours)
        return ours

    def _keep(self, name: str, value: Any, ours: Any) -> None:
        dict.__setitem__(self, name, ours)
        self.sources[name] = value

    def provide(self, code: CodeType) -> None:
        """Look up the names that class bodies in this function use: Python takes them without asking."""
        for body in codes_in(code):
            if not body.co_flags & 1:  # not optimised: no function
                for name in body.co_names:
                    if not dict.__contains__(self, name) and name in self.original:
                        value = self.original[name]
                        self._keep(name, value, self.translator.translated(value))

    def refresh(self) -> None:
        """Forget what has been rebound in the original, and functions that close over something else now."""
        for name, value in list(self.sources.items()):
            is_there = self.original.get(name, _ABSENT) is value
            if (
                not is_there
                or value is not _ABSENT
                and self.translator.translated(value) is not dict.get(self, name)
            ):
                del self.sources[name]
                dict.pop(self, name, None)

    def flush(self) -> None:
        """Put what copies have written (and deleted) into the original."""
        for name in [name for name in dict.keys(self) if name not in self.fixed]:
            source = self.sources.get(name, self)
            if (
                source is self
                or source is not _ABSENT
                and self.translator.translated(source) is not dict.get(self, name)
            ):
                self.original[name] = dict.pop(self, name)
                self.sources.pop(name, None)

    # ---- as the dict that globals() gives ------------------------------------------------------------------------------
    def __setitem__(self, name: str, value: Any) -> None:
        dict.pop(self, name, None)
        self.sources.pop(name, None)
        self.original[name] = value

    def __delitem__(self, name: str) -> None:
        dict.pop(self, name, None)
        del self.original[name]

    def __contains__(self, name: object) -> bool:
        return name in self.original

    def __iter__(self) -> Iterator[str]:
        return iter(self.original)

    def __len__(self) -> int:
        return len(self.original)

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self.original else default

    def keys(self) -> Any:
        return self.original.keys()

    def values(self) -> Any:
        return [self[name] for name in self.original]

    def items(self) -> Any:
        return [(name, self[name]) for name in self.original]


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """A code object, and all that are nested in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


def writes_globals(code: CodeType) -> bool:
    """Does this function, or one inside it, write into its module (`global n`)?"""
    return any(
        i.opname in ("STORE_GLOBAL", "DELETE_GLOBAL")
        for part in codes_in(code)
        for i in dis.get_instructions(part)
    )
