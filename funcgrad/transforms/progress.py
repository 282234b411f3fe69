"""Long work in pieces (`chunk_size=`), which bounds memory; with a tqdm bar if asked (`progress=True`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from funcgrad.core.arrays.zeros import foreign_like
from funcgrad.core.memory.chunks import is_lazy
from funcgrad.errors import ArgumentError


def checked_chunk_size(chunk_size: int | None, transform: str) -> int | None:
    """Refuse a chunk that holds nothing."""
    if chunk_size is not None and (not isinstance(chunk_size, (int, np.integer)) or chunk_size < 1):
        raise ArgumentError(f"{transform}: chunk_size must be at least 1, not {chunk_size!r}")
    return chunk_size


def chunks(n: int, size: int | None) -> list[slice]:
    """Slices that cover range(n), `size` at a time."""
    step = size or max(n, 1)
    return [slice(start, min(start + step, n)) for start in range(0, max(n, 1), step)]


def identity_rows(like: Any, rows: slice, dtype: Any = float, *, start: int = 0) -> Any:
    """These rows of an identity matrix, in the columns from `start` on that belong to the elements of `like`.

    They are lazy where `like` is: plain ones would be as large as its size squared, and make plain what follows.
    """
    count, first = rows.stop - rows.start, rows.start - start
    lazy = foreign_like(like)
    if lazy is None or not is_lazy(lazy):
        return np.eye(count, like.size, first, dtype)
    ones_at = np.arange(first, first + count, like=lazy)
    return (ones_at[:, np.newaxis] == np.arange(like.size, like=lazy)).astype(dtype)


class Collected:
    """The results of chunks (of `size` rows in all), put together as they come along axis 0 (or `last`).

    Plain ones are written into one array, which is made at once: so nothing is ever held twice.
    """

    __slots__ = ("at", "last", "parts", "size", "whole")

    def __init__(self, size: int, *, last: bool = False) -> None:
        self.size, self.last, self.at = size, last, 0
        self.whole: Any = None
        self.parts: list[Any] = []

    def add(self, part: Any) -> None:
        """Take the next chunk, with its rows along axis 0."""
        count = part.shape[0]
        if type(part) is not np.ndarray or self.parts or count == self.size and not self.last:
            self.parts.append(part)
            return
        if self.whole is None:
            shape = part.shape[1:]
            self.whole = np.empty((*shape, self.size) if self.last else (self.size, *shape), part.dtype)
        rows = np.moveaxis(self.whole, -1, 0) if self.last else self.whole
        rows[self.at : self.at + count] = part
        self.at += count

    def result(self) -> Any:
        """All rows. They may be written into, if they are plain."""
        if not self.parts:
            return self.whole
        if self.whole is not None:  # the first chunks were plain, and the others are not
            rows = np.moveaxis(self.whole, -1, 0) if self.last else self.whole
            self.parts.insert(0, rows[: self.at])
        rows = self.parts[0] if len(self.parts) == 1 else np.concatenate(self.parts)
        return np.moveaxis(rows, 0, -1) if self.last else rows


def shown(pieces: Sequence[Any], title: str, *, progress: bool) -> Iterable[Any]:
    """The pieces, one by one; with `progress`, a bar shows how many are done."""
    return _with_bar(pieces, title) if progress else pieces


def _with_bar(pieces: Sequence[Any], title: str) -> Iterator[Any]:
    try:
        from tqdm import tqdm
    except ImportError as error:
        raise ImportError(f"{title}: progress=True needs tqdm. Install it, or leave progress out.") from error
    with tqdm(total=len(pieces), desc=title) as bar:
        for piece in pieces:
            yield piece
            bar.update()
