"""The steps of a path from the root of a tree to one of its leaves."""

from collections.abc import Hashable, Iterable
from typing import Any, NoReturn, TypeAlias


class _Step:
    """A step is what it holds: immutable, and equal to a step of its class that holds the same.

    (Written out, because to make a dataclass costs more than to load this package.)
    """

    __slots__ = ("_held",)
    __match_args__: tuple[str, ...] = ()
    _held: Any

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"cannot assign to field {name!r}")

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is type(self) and other._held == self._held
            if isinstance(other, _Step)
            else NotImplemented
        )

    def __hash__(self) -> int:
        return hash((type(self), self._held))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.__match_args__[0]}={self._held!r})"

    def __reduce__(self) -> Any:
        return type(self), (self._held,)


_hold = _Step.__dict__["_held"].__set__


class _NumberedStep(_Step):
    __slots__ = ()
    __match_args__ = ("index",)

    def __init__(self, index: int) -> None:
        _hold(self, index)

    @property
    def index(self) -> int:
        """Counted from 0."""
        return self._held


class Index(_NumberedStep):
    """A position in a list or tuple: `[0]`."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"[{self.index}]"


class Key(_Step):
    """A key of a dict: `['w']`."""

    __slots__ = ()
    __match_args__ = ("key",)

    def __init__(self, key: Hashable) -> None:
        _hold(self, key)

    @property
    def key(self) -> Hashable:
        """The key itself."""
        return self._held

    def __str__(self) -> str:
        return f"[{self.key!r}]"


class Attr(_Step):
    """A field of a named tuple, a dataclass or another class: `.w`."""

    __slots__ = ()
    __match_args__ = ("name",)

    def __init__(self, name: str) -> None:
        _hold(self, name)

    @property
    def name(self) -> str:
        """The name of the field."""
        return self._held

    def __str__(self) -> str:
        return f".{self.name}"


class Child(_NumberedStep):
    """A child of a class that was registered without keys: `<0>`."""

    __slots__ = ()

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
