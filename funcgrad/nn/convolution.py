"""Convolutions of arrays (N, C, *spatial), of any number of spatial axes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from funcgrad.errors import ArgumentError
from funcgrad.nn.kernels.columns import ADDED_COLUMNS, COLUMNS
from funcgrad.nn.kernels.convolution import CONVOLVE, CONVOLVE_TRANSPOSED, Geometry
from funcgrad.nn.operands import floats, per_axis

Setting = int | Sequence[int]


def conv(
    x: Any,
    kernel: Any,
    bias: Any = None,
    *,
    stride: Setting = 1,
    padding: Setting | str = 0,
    dilation: Setting = 1,
    groups: int = 1,
) -> Any:
    """The correlation of x with a kernel at every position, as neural networks call convolution.

    Args:
        x: (N, C, *spatial), or (C, *spatial) for one example.
        kernel: (O, C/groups, *window).
        bias: (O,), added to each channel of the output.
        stride: how far windows lie apart; one number, or one for each spatial axis (so are padding and
            dilation).
        padding: zeros on both sides of x; or "same" (with stride 1: as many windows as elements), "valid"
            (none).
        dilation: how far the elements of a window lie apart.
        groups: channels are split into so many groups, each of which sees its own part of the kernel.

    Returns:
        (N, O, *out) with out = (size + 2 padding - dilation (window - 1) - 1) // stride + 1; in the common
        dtype.

    Raises:
        ArgumentError: shapes or settings that do not fit.

    >>> import numpy as np
    >>> from funcgrad import nn
    >>> nn.conv(np.arange(5.0)[None, None], np.array([[[1.0, 0.0, -1.0]]]), padding=1)
    array([[[-1., -2., -2., -2.,  3.]]])
    """
    who = "funcgrad.nn.conv"
    x, kernel, bias = floats(who, x, kernel, bias, kinds="fc")
    rank = _rank(who, x, kernel)
    _check_channels(
        who, x.shape[-rank - 1], kernel.shape[1] * groups, kernel.shape[0], groups, bias, kernel.shape[0]
    )
    window = tuple(kernel.shape[2:])
    geometry = _of_windows(
        who, tuple(x.shape[-rank:]), window, *map(_hashable, (stride, padding, dilation)), groups
    )
    if x.ndim == rank + 1:
        return CONVOLVE(x[None], kernel, bias, geometry=geometry)[0]
    return CONVOLVE(x, kernel, bias, geometry=geometry)


def conv_transpose(
    x: Any,
    kernel: Any,
    bias: Any = None,
    *,
    stride: Setting = 1,
    padding: Setting = 0,
    output_padding: Setting = 0,
    dilation: Setting = 1,
    groups: int = 1,
) -> Any:
    """The transpose of `conv` with the same kernel and settings: from its output's shape to its input's.

    Args:
        x: (N, C, *spatial), or (C, *spatial) for one example.
        kernel: (C, O/groups, *window).
        bias: (O,).
        stride, padding, dilation, groups: those of the `conv` that this is the transpose of.
        output_padding: so many elements more at the end of each axis (of the shapes that `conv` maps to x's).

    Returns:
        (N, O, *out) with out = (size - 1) stride - 2 padding + dilation (window - 1) + output_padding + 1.

    Raises:
        ArgumentError: shapes or settings that do not fit.

    >>> import numpy as np
    >>> from funcgrad import nn
    >>> nn.conv_transpose(np.ones((1, 1, 2)), np.array([[[1.0, 2.0]]]), stride=2)
    array([[[1., 2., 1., 2.]]])
    """
    who = "funcgrad.nn.conv_transpose"
    x, kernel, bias = floats(who, x, kernel, bias, kinds="fc")
    rank = _rank(who, x, kernel)
    _check_channels(
        who, x.shape[-rank - 1], kernel.shape[0], kernel.shape[0], groups, bias, kernel.shape[1] * groups
    )
    settings = map(_hashable, (stride, padding, output_padding, dilation))
    geometry = _of_transpose(who, tuple(x.shape[-rank:]), tuple(kernel.shape[2:]), *settings, groups)
    if x.ndim == rank + 1:
        return CONVOLVE_TRANSPOSED(x[None], kernel, bias, geometry=geometry)[0]
    return CONVOLVE_TRANSPOSED(x, kernel, bias, geometry=geometry)


def unfold(
    x: Any, window: Sequence[int], *, stride: Setting = 1, padding: Setting = 0, dilation: Setting = 1
) -> Any:
    """The windows of x as columns: (N, C, *spatial) gives (N, C * window elements, number of windows).

    Raises ArgumentError for settings without windows. See `conv` for what the settings mean.

    >>> import numpy as np
    >>> from funcgrad import nn
    >>> nn.unfold(np.arange(4.0)[None, None], (2,))
    array([[[0., 1., 2.],
            [1., 2., 3.]]])
    """
    who = "funcgrad.nn.unfold"
    x = floats(who, x, kinds="fc")[0]
    if x.ndim != len(window) + 2:
        raise ArgumentError(f"{who}: x {x.shape} with a window of {len(window)} axes: give (N, C, *spatial)")
    settings = map(_hashable, (stride, padding, dilation))
    return COLUMNS(x, geometry=_of_windows(who, tuple(x.shape[2:]), tuple(window), *settings, 1))


def fold(
    columns: Any,
    size: Sequence[int],
    window: Sequence[int],
    *,
    stride: Setting = 1,
    padding: Setting = 0,
    dilation: Setting = 1,
) -> Any:
    """The sum of columns in place, the transpose of `unfold`: (N, C * window, windows) to (N, C, *size).

    Raises ArgumentError for a number of rows or columns that does not fit.

    >>> import numpy as np
    >>> from funcgrad import nn
    >>> nn.fold(np.ones((1, 2, 3)), (4,), (2,))
    array([[[1., 2., 2., 1.]]])
    """
    who = "funcgrad.nn.fold"
    columns = floats(who, columns, kinds="fc")[0]
    settings = map(_hashable, (stride, padding, dilation))
    geometry = _of_windows(who, tuple(size), tuple(window), *settings, 1)
    elements, windows = _product(window), _product(geometry.out)
    if columns.ndim != 3 or columns.shape[1] % elements or columns.shape[2] != windows:
        raise ArgumentError(
            f"{who}: columns {columns.shape} for windows {tuple(window)}: give (N, C * {elements}, {windows})"
        )
    return ADDED_COLUMNS(columns, geometry=geometry)


# ---- geometry ----------------------------------------------------------------------------------------------
def _product(sizes: Sequence[int]) -> int:
    product = 1
    for n in sizes:
        product *= n
    return product


def _hashable(x: Any) -> Any:
    return tuple(x) if isinstance(x, list) else x


def _rank(who: str, x: Any, kernel: Any) -> int:
    """The number of spatial axes."""
    rank = kernel.ndim - 2
    if rank < 1 or x.ndim not in (rank + 1, rank + 2):
        raise ArgumentError(
            f"{who}: x {x.shape} does not fit kernel {kernel.shape}: give x (N, C, *spatial) or (C, *spatial), "
            "and a kernel of two axes of channels and one for each spatial axis"
        )
    return rank


def _check_channels(
    who: str, channels: int, wanted: int, split: int, groups: int, bias: Any, out: int
) -> None:
    if groups < 1 or split % groups:
        raise ArgumentError(
            f"{who}: groups={groups} does not divide the kernel's {split} channels: give a divisor of them"
        )
    if channels != wanted:
        raise ArgumentError(
            f"{who}: x has {channels} channels, and the kernel takes {wanted} (with groups={groups})"
        )
    if bias is not None and tuple(bias.shape) != (out,):
        raise ArgumentError(f"{who}: bias {bias.shape} for {out} channels: give ({out},)")


@lru_cache(256)
def _of_windows(
    who: str, size: Any, window: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Geometry:
    """The geometry of a convolution. Raises ArgumentError for settings without windows."""
    rank = len(size)
    steps, gaps = per_axis(who, "stride", stride, rank, 1), per_axis(who, "dilation", dilation, rank, 1)
    reach = tuple(d * (k - 1) + 1 for k, d in zip(window, gaps, strict=True))
    before, after = _margins(who, padding, steps, reach)
    geometry = Geometry(size, window, steps, gaps, before, after, groups)
    if any(r > n for r, n in zip(reach, geometry.padded, strict=True)) or min(window) < 1:
        raise ArgumentError(
            f"{who}: windows span {reach}, and x with its padding has {geometry.padded}: none fits"
        )
    return geometry


def _margins(
    who: str, padding: Any, steps: tuple[int, ...], reach: tuple[int, ...]
) -> tuple[tuple[int, ...], ...]:
    """How many zeros stand before and behind; of an odd number, one more behind."""
    if padding == "same":
        if any(s != 1 for s in steps):
            raise ArgumentError(
                f"{who}: padding='same' with stride={steps}: it is for stride 1, give numbers"
            )
        return tuple((r - 1) // 2 for r in reach), tuple(r - 1 - (r - 1) // 2 for r in reach)
    if isinstance(padding, str) and padding != "valid":
        raise ArgumentError(f"{who}: padding={padding!r}: write 'same', 'valid' or numbers")
    each = per_axis(who, "padding", 0 if padding == "valid" else padding, len(reach), 0)
    return each, each


@lru_cache(256)
def _of_transpose(
    who: str,
    shape: Any,
    window: Any,
    stride: Any,
    padding: Any,
    output_padding: Any,
    dilation: Any,
    groups: int,
) -> Geometry:
    """The geometry of the convolution whose output has this shape. Raises ArgumentError where there is
    none."""
    rank = len(shape)
    steps, gaps = per_axis(who, "stride", stride, rank, 1), per_axis(who, "dilation", dilation, rank, 1)
    margin = per_axis(who, "padding", padding, rank, 0)
    more = per_axis(who, "output_padding", output_padding, rank, 0)
    if any(m >= max(s, d) for m, s, d in zip(more, steps, gaps, strict=True)):
        raise ArgumentError(f"{who}: output_padding={output_padding} must be smaller than stride or dilation")
    each = zip(shape, window, steps, gaps, margin, more, strict=True)
    size = tuple((n - 1) * s - 2 * p + d * (k - 1) + m + 1 for n, k, s, d, p, m in each)
    if min(size) < 1:
        raise ArgumentError(f"{who}: the output would have the size {size}: give a smaller padding")
    return Geometry(size, window, steps, gaps, margin, margin, groups)
