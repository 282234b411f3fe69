"""Copies of functions: the same code, other globals, and translated what they close over and their defaults."""

from __future__ import annotations

import dis
import functools
from collections.abc import Callable
from types import CellType, CodeType, FunctionType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from funcgrad.adaptation.session import SESSION
from funcgrad.adaptation.spaces import CopiedGlobals, codes_in, writes_globals

if TYPE_CHECKING:
    from funcgrad.adaptation.translation import Translator

_EMPTY = object()


class Copy:
    """A copy of a function, and in which session it was last seen to be up to date."""

    __slots__ = ("checked", "made", "plain")

    def __init__(self, plain: FunctionType, made: Any) -> None:
        self.plain, self.made, self.checked = plain, made, SESSION.number


class ProgramCopies:
    """The copies of one program's functions."""

    def __init__(self, translator: Translator) -> None:
        self.translator = translator
        self.known: WeakKeyDictionary[Any, Copy] = WeakKeyDictionary()
        # functions being copied, and the variables that wait for them
        self.pending: dict[Any, list[CellType]] = {}

    def of(self, value: FunctionType, space: dict[str, Any]) -> Any:
        """The copy of a function, with these globals: the same one as long as what it closes over is."""
        known = self.known.get(value)
        if known is not None and self._is_current(known, value):
            return known.made
        if value in self.pending:  # which an object holds that it closes over
            return lambda *args, **kwargs: self.known[value].made(*args, **kwargs)
        self.pending[value] = []
        try:
            copy = self._copied(value, space)
        finally:
            waiting = self.pending.pop(value)
        self.known[value] = copy
        for cell in waiting:
            cell.cell_contents = copy.made
        return copy.made

    def _copied(self, value: FunctionType, space: dict[str, Any]) -> Copy:
        written = _written(value.__code__) if value.__closure__ else frozenset()
        names = value.__code__.co_freevars
        cells = tuple(self._cell(c, name in written) for name, c in zip(names, value.__closure__ or ()))
        plain = FunctionType(value.__code__, space, value.__name__, None, cells)
        plain.__dict__ = value.__dict__  # the attributes of a function are state, and shared
        for name in ("__qualname__", "__module__", "__doc__", "__annotations__"):
            setattr(plain, name, getattr(value, name))
        plain.__defaults__ = value.__defaults__ and tuple(map(self.translator.translated, value.__defaults__))
        defaults = value.__kwdefaults__
        plain.__kwdefaults__ = defaults and {k: self.translator.translated(v) for k, v in defaults.items()}
        if not isinstance(space, CopiedGlobals):
            return Copy(plain, plain)
        space.provide(value.__code__)
        return Copy(plain, _flushing(plain, space) if writes_globals(value.__code__) else plain)

    def _cell(self, cell: CellType, is_written: bool) -> CellType:
        """A variable of the copy: the original's own, if nothing in it is translated, or if it is written."""
        content = _content(cell)
        if content is _EMPTY or is_written:
            return cell
        if isinstance(content, FunctionType) and content in self.pending:
            new_cell = CellType()
            self.pending[content].append(new_cell)
            return new_cell
        translated = self.translator.translated(content)
        return cell if translated is content else CellType(translated)

    def _is_current(self, copy: Copy, value: FunctionType) -> bool:
        """Does the copy close over what the original closes over? Looked at once in each session."""
        if copy.checked == SESSION.number:
            return True
        copy.checked = SESSION.number
        written = _written(value.__code__) if value.__closure__ else frozenset()
        for name, mine, cell in zip(
            value.__code__.co_freevars, copy.plain.__closure__ or (), value.__closure__ or ()
        ):
            content = _content(cell)
            if (
                name not in written
                and content is not _EMPTY
                and self.translator.translated(content) is not _content(mine)
            ):
                return False
        defaults, mine = value.__defaults__ or (), copy.plain.__defaults__ or ()
        return all(
            self.translator.translated(default) is default_of_copy
            for default, default_of_copy in zip(defaults, mine)
        )

    def closes_over_translated(self, value: FunctionType) -> bool:
        """Does a function close over anything that is translated?"""
        if value in self.pending:
            return True
        contents = [c for c in map(_content, value.__closure__ or ()) if c is not _EMPTY]
        return any(
            isinstance(c, FunctionType) and c in self.pending or self.translator.translated(c) is not c
            for c in contents
        )


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _EMPTY


@functools.cache
def _written(code: CodeType) -> frozenset[str]:
    """The variables of outer functions that this one, or one inside it, writes (nonlocal)."""
    parts = codes_in(code)
    return frozenset(
        i.argval for part in parts for i in dis.get_instructions(part) if i.opname == "STORE_DEREF"
    )


def _flushing(plain: FunctionType, space: CopiedGlobals) -> Callable[..., Any]:
    """`plain`, after which what it wrote into its module stands in the original."""

    @functools.wraps(plain)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return plain(*args, **kwargs)
        finally:
            space.flush()

    return call
