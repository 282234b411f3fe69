"""The steps of a path from the root of a tree to one of its leaves."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Index:
    """A position in a list or tuple: `[0]`."""

    index: int

    def __str__(self) -> str:
        return f"[{self.index}]"


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a dict: `['w']`."""

    key: Hashable

    def __str__(self) -> str:
        return f"[{self.key!r}]"


@dataclass(frozen=True, slots=True)
class Attr:
    """A field of a named tuple, a dataclass or another class: `.w`."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"


@dataclass(frozen=True, slots=True)
class Child:
    """A child of a class that was registered without keys: `<0>`."""

    index: int

    def __str__(self) -> str:
        return f"<{self.index}>"


Entry: TypeAlias = Index | Key | Attr | Child
Path: TypeAlias = tuple[Entry, ...]


def keystr(path: Iterable[Entry]) -> str:
    """The path as it would be written in Python after the name of the tree; the empty string for the root.

    >>> keystr((Key("layers"), Index(0), Attr("w")))
    "['layers'][0].w"
    """
    return "".join([str(entry) for entry in path])
