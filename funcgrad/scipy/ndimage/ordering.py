"""Filters that choose: the largest, smallest, middle element of a window.

Such a filter chooses by order, so it may be run on the ranks of the elements instead; what it gives tells
which element was chosen. The derivative is that of the choice. Among equal elements one is chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.arrays.ufunc import as_array
from funcgrad.core.memory.indexing import GETITEM
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.ndimage.windows import padded, written
from funcgrad.scipy.rerun import leaves, private, values

ndimage = Chapter("ndimage")
_nd_image, _lines = private("scipy.ndimage._nd_image"), private("scipy.ndimage._rank_filter_1d")


def chosen(x: Any, cval: Any, run: Callable[[Any, Any], Any]) -> Any:
    """What `run(x, cval)` chooses among the elements of `x` and `cval`, which lies beyond the edges."""
    flat = np.concatenate([x.reshape(-1), np.reshape(cval, 1).astype(x.dtype)])
    plain = values(flat)
    order = np.argsort(plain, kind="stable")
    ranks = np.empty(plain.size)
    ranks[order] = np.arange(plain.size)
    rank = run(ranks[:-1].reshape(x.shape), ranks[-1])
    del ranks  # each is as large as x
    place = rank.astype(np.intp)
    del rank
    np.take(order, place, out=place, mode="clip")
    del order
    return GETITEM(flat, place)


def _min_or_max_filter1d(
    input: Any, size: int, axis: int, output: Any, mode: int, cval: Any, origin: int, minimum: int
) -> None:
    def run(ranks: Any, rank: Any) -> Any:
        out = np.empty(ranks.shape)
        _nd_image.min_or_max_filter1d(ranks, size, axis, out, mode, rank, origin, minimum)
        return out

    written(output, chosen(as_array(input), cval, run))


def _min_or_max_filter(
    input: Any, footprint: Any, structure: Any, output: Any, mode: int, cval: Any, origins: Any, minimum: int
) -> None:
    if structure is not None:
        written(
            output, _structured(as_array(input), footprint, as_array(structure), mode, cval, origins, minimum)
        )
        return

    def run(ranks: Any, rank: Any) -> Any:
        out = np.empty(ranks.shape)
        _nd_image.min_or_max_filter(ranks, footprint, None, out, mode, rank, origins, minimum)
        return out

    written(output, chosen(as_array(input), cval, run))


def _structured(
    x: Any, footprint: Any, structure: Any, mode: int, cval: Any, origins: Any, minimum: int
) -> Any:
    """The extremum over a window of the elements, less (or more) those of the structure."""
    before = [m // 2 + o for m, o in zip(footprint.shape, origins, strict=True)]
    margins = [(b, m - 1 - b) for b, m in zip(before, footprint.shape)]
    whole, sign = padded(x, margins, mode, cval), -1 if minimum else 1
    plain, heights = values(whole), values(structure)
    best, place, step = np.full(x.shape, -np.inf), np.zeros(x.shape, int), np.zeros(x.shape, int)
    index = np.arange(plain.size).reshape(plain.shape)
    for k in np.argwhere(np.asarray(footprint, bool)):
        window = tuple(slice(i, i + n) for i, n in zip(k, x.shape))
        candidate = sign * plain[window] + heights[tuple(k)]
        better = candidate > best
        best = np.where(better, candidate, best)
        place, step = (
            np.where(better, index[window], place),
            np.where(better, np.ravel_multi_index(k, heights.shape), step),
        )
    return GETITEM(whole.reshape(-1), place) + sign * GETITEM(structure.reshape(-1), step).astype(x.dtype)


def _rank_filter(
    input: Any, rank: int, footprint: Any, output: Any, mode: int, cval: Any, origins: Any
) -> None:
    def run(ranks: Any, beyond: Any) -> Any:
        out = np.empty(ranks.shape)
        _nd_image.rank_filter(ranks, rank, footprint, out, mode, beyond, origins)
        return out

    written(output, chosen(as_array(input), cval, run))


def _rank_filter_of_line(x: Any, rank: int, size: int, out: Any, mode: int, cval: Any, origin: int) -> None:
    def run(ranks: Any, beyond: Any) -> Any:
        found = np.empty(ranks.shape)
        _lines.rank_filter(ranks, rank, size, found, mode, beyond, origin)
        return found

    written(out, chosen(as_array(x), cval, run))


leaves(
    "scipy.ndimage._nd_image",
    min_or_max_filter1d=_min_or_max_filter1d,
    min_or_max_filter=_min_or_max_filter,
    rank_filter=_rank_filter,
)
leaves("scipy.ndimage._rank_filter_1d", rank_filter=_rank_filter_of_line)
ndimage.rerun(
    "maximum_filter maximum_filter1d minimum_filter minimum_filter1d median_filter percentile_filter rank_filter "
    "grey_closing grey_dilation grey_erosion grey_opening black_tophat white_tophat morphological_gradient morphological_laplace"
)
