"""Pooling: the largest element, or the mean, of each window of the last axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.errors import ArgumentError
from funcgrad.nn.kernels.pooling import (
    LARGEST_PLACES,
    TAKE_PLACES,
    WINDOW_MEANS,
    Axis,
    adaptive,
    regular,
    window_lengths,
)
from funcgrad.nn.operands import floats, per_axis

Setting = int | Sequence[int]


def max_pool(
    x: Any,
    window: Sequence[int],
    *,
    stride: Setting | None = None,
    padding: Setting = 0,
    dilation: Setting = 1,
    ceil_mode: bool = False,
) -> Any:
    """The largest element of each window of the last axes.

    Args:
        x: (..., *spatial).
        window: the size of a window, one number for each spatial axis: (2, 2) pools the last two axes.
        stride: how far windows lie apart; by default they lie side by side.
        padding: how far windows reach beyond the ends, at most half a window; nothing there is ever the
            largest.
        dilation: how far the elements of a window lie apart.
        ceil_mode: is there a last window that reaches beyond the end?

    Returns:
        (..., *out). Of equal elements the first is taken, and gets the whole cotangent; NaN is larger than
        all.

    Raises:
        ArgumentError: settings without windows.

    >>> import numpy as np
    >>> from funcgrad import nn
    >>> nn.max_pool(np.arange(16.0).reshape(4, 4), (2, 2))
    array([[ 5.,  7.],
           [13., 15.]])
    """
    who = "funcgrad.nn.max_pool"
    x = floats(who, x)[0]
    return largest(x, _axes(who, x, window, stride, padding, dilation, ceil_mode))[0]


def avg_pool(
    x: Any,
    window: Sequence[int],
    *,
    stride: Setting | None = None,
    padding: Setting = 0,
    ceil_mode: bool = False,
    count_padding: bool = True,
) -> Any:
    """The mean of each window of the last axes; see `max_pool` for the settings.

    With `count_padding` what lies beyond the ends counts as zeros; else the mean is over the elements inside.
    Raises ArgumentError for settings without windows.

    >>> import numpy as np
    >>> from funcgrad import nn
    >>> nn.avg_pool(np.arange(4.0), (2,))
    array([0.5, 2.5])
    """
    who = "funcgrad.nn.avg_pool"
    x = floats(who, x)[0]
    axes = _axes(who, x, window, stride, padding, 1, ceil_mode)
    return averages(x, axes, per_axis(who, "padding", padding, len(axes), 0) if count_padding else None)


def adaptive_max_pool(x: Any, size: Sequence[int]) -> Any:
    """The largest of each of `size` windows, which share the elements of the last axes evenly: (..., *size).

    >>> import numpy as np
    >>> from funcgrad import nn
    >>> nn.adaptive_max_pool(np.arange(5.0), (2,))
    array([2., 4.])
    """
    who = "funcgrad.nn.adaptive_max_pool"
    x = floats(who, x)[0]
    return largest(x, _adaptive_axes(who, x, size))[0]


def adaptive_avg_pool(x: Any, size: Sequence[int]) -> Any:
    """The mean of each of `size` windows, which share the elements of the last axes evenly: (..., *size).

    >>> import numpy as np
    >>> from funcgrad import nn
    >>> nn.adaptive_avg_pool(np.arange(5.0), (2,))
    array([1., 3.])
    """
    who = "funcgrad.nn.adaptive_avg_pool"
    x = floats(who, x)[0]
    return averages(x, _adaptive_axes(who, x, size))


# ---- windows -----------------------------------------------------------------------------------------------
def largest(x: Any, axes: tuple[Axis, ...]) -> tuple[Any, Any]:
    """The largest element of each window, and its place, counted through the last axes."""
    places = LARGEST_PLACES(x, axes)
    unique = all(b >= a for axis in axes for b, a in zip(axis.starts[1:], _ends(axis), strict=False))
    return TAKE_PLACES(x, places, len(axes), unique), places


def _ends(axis: Axis) -> list[int]:
    reach = axis.dilation * (axis.kernel - 1) + 1
    return [min(start + reach, stop) for start, stop in zip(axis.starts, axis.stops, strict=True)]


def averages(x: Any, axes: tuple[Axis, ...], margin: tuple[int, ...] | None = None) -> Any:
    """Means; the padding counts as far as `margin` says."""
    lengths = window_lengths(axes, margin, x.shape[x.ndim - len(axes) :])
    first = lengths.reshape(-1)[0] if lengths.size else 1
    return WINDOW_MEANS(x, axes, int(first) if np.all(lengths == first) else lengths.astype(x.dtype))


def _axes(
    who: str, x: Any, window: Sequence[int], stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> tuple[Axis, ...]:
    size = _spatial(who, x, "window", window)
    rank = len(size)
    window, gaps = per_axis(who, "window", window, rank, 1), per_axis(who, "dilation", dilation, rank, 1)
    steps = window if stride is None else per_axis(who, "stride", stride, rank, 1)
    margin = per_axis(who, "padding", padding, rank, 0)
    if any(p > (d * (k - 1) + 1) // 2 for p, k, d in zip(margin, window, gaps, strict=True)):
        raise ArgumentError(f"{who}: padding={padding} with window={window}: it may be half a window at most")
    axes = tuple(
        regular(n, k, s, p, d, ceil_mode)
        for n, k, s, p, d in zip(size, window, steps, margin, gaps, strict=True)
    )
    if any(axis.out < 1 for axis in axes):
        raise ArgumentError(f"{who}: no window of {window} fits into the last axes {size} of x")
    return axes


def _adaptive_axes(who: str, x: Any, size: Sequence[int]) -> tuple[Axis, ...]:
    spatial = _spatial(who, x, "size", size)
    return tuple(
        adaptive(n, m) for n, m in zip(spatial, per_axis(who, "size", size, len(spatial), 1), strict=True)
    )


def _spatial(who: str, x: Any, name: str, numbers: Sequence[int]) -> tuple[int, ...]:
    if not isinstance(numbers, Sequence) or not 0 < len(numbers) <= x.ndim:
        raise ArgumentError(
            f"{who}: {name}={numbers} for x {x.shape}: give a number for each axis to pool, as (2, 2)"
        )
    size = tuple(x.shape[x.ndim - len(numbers) :])
    if 0 in size:
        raise ArgumentError(
            f"{who}: x {x.shape} has no elements along the axes to pool: leave the call out for empty arrays"
        )
    return size
