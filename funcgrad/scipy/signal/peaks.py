"""Peaks: where they are is constant wherever it is smooth; how high, prominent and wide they are is not."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core.memory.indexing import GETITEM
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.rerun import leaves, on_values, private, values

signal = Chapter("signal")
theirs = private("scipy.signal._peak_finding_utils")


def _prominences(x: Any, peaks: Any, wlen: int) -> tuple[Any, Any, Any]:
    """The height above the higher of the two bases."""
    _, left, right = theirs._peak_prominences(values(x), values(peaks), wlen)
    bases = np.maximum(GETITEM(x, left), GETITEM(x, right))
    return GETITEM(x, peaks) - bases, left, right


def _crossing(x: Any, height: Any, position: Any, step: int) -> Any:
    """Where the line between two samples crosses `height`, near the position that is known."""
    above = values(position)
    lower = np.floor(above).astype(int) if step > 0 else np.ceil(above).astype(int)
    upper = np.clip(lower + step, 0, x.shape[0] - 1)
    low, high, level = GETITEM(x, lower), GETITEM(x, upper), values(height)
    between = (values(low) < level) & (values(high) != values(low))
    share = (height - low) / np.where(between, high - low, 1.0)
    return np.where(between, lower + step * share, above)


def _widths(x: Any, peaks: Any, rel_height: Any, prominences: Any, left: Any, right: Any) -> tuple[Any, ...]:
    """The width at a height that lies below the peak by a share of its prominence."""
    found = theirs._peak_widths(*map(values, (x, peaks, rel_height, prominences, left, right)))
    height = GETITEM(x, peaks) - prominences * rel_height
    start, end = _crossing(x, height, found[2], 1), _crossing(x, height, found[3], -1)
    return end - start, height, start, end


leaves(
    "scipy.signal._peak_finding_utils",
    _local_maxima_1d=on_values(theirs._local_maxima_1d),
    _select_by_peak_distance=on_values(theirs._select_by_peak_distance),
    _peak_prominences=_prominences,
    _peak_widths=_widths,
)
signal.rerun("find_peaks peak_prominences peak_widths")
signal.piecewise_constant("argrelextrema argrelmax argrelmin find_peaks_cwt", operands="data")
signal.rerun("vectorstrength")
