"""Long work in pieces, with a bar by tqdm for those who ask for one (`progress=True`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

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
