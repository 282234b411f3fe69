"""Helpers of the rules that work along axes: axes put back, moved, merged and reversed, by plain indexing."""

from __future__ import annotations

import math
from typing import Any

from funcgrad.core.arrays.repeated import Repeated

Axis = int | tuple[int, ...] | None


def axes_of(axis: Axis, ndim: int) -> tuple[int, ...]:
    """The axes that `axis` means, as a tuple."""
    if axis is None:
        return tuple(range(ndim))
    return axis if isinstance(axis, tuple) else (axis,)


def count_along(shape: tuple[int, ...], axis: Axis) -> int:
    """How many elements are reduced to one."""
    return math.prod(shape) if axis is None else math.prod(shape[i] for i in axes_of(axis, len(shape)))


def expanded(reduced: Any, shape: tuple[int, ...], axis: Axis, keepdims: bool) -> Any:
    """The result of a reduction of an array of this shape, with the reduced axes back, of length 1."""
    if axis is None or keepdims:  # a scalar broadcasts as it is
        return reduced.value if type(reduced) is Repeated else reduced
    axes = axes_of(axis, len(shape))
    if type(reduced) is Repeated:  # of which the axes kept may have the length 1, too
        reduced = reduced.aligned()
        kept = iter(reduced.shape)
        return reduced.reshape([1 if i in axes else next(kept) for i in range(len(shape))])
    return reduced.reshape([1 if i in axes else n for i, n in enumerate(shape)])


def given(**options: Any) -> dict[str, Any]:
    """The options that are not None: reductions take no `where=None`."""
    return {name: value for name, value in options.items() if value is not None}


def along(axis: int, index: Any) -> tuple[Any, ...]:
    """The index that applies `index` along `axis`."""
    return (*(slice(None),) * axis, index)


def reversed_along(x: Any, axis: int) -> Any:
    """`x` backwards along `axis`."""
    return x[along(axis, slice(None, None, -1))]


def merged(x: Any, axis: Axis) -> Any:
    """`x` with the reduced axes moved behind the others and merged into one."""
    if axis is None:
        return x.reshape(-1)
    axes = _reduced_last(axis, x.ndim)
    kept = [x.shape[i] for i in axes[: x.ndim - len(axes_of(axis, x.ndim))]]
    return x.transpose(axes).reshape([*kept, count_along(x.shape, axis)])


def unmerged(y: Any, shape: tuple[int, ...], axis: Axis) -> Any:
    """The inverse of `merged`, for an array of this shape."""
    if axis is None:
        return y.reshape(shape)
    axes = _reduced_last(axis, len(shape))
    return y.reshape([shape[i] for i in axes]).transpose([axes.index(i) for i in range(len(shape))])


def _reduced_last(axis: Axis, ndim: int) -> list[int]:
    axes = axes_of(axis, ndim)
    return [*(i for i in range(ndim) if i not in axes), *axes]
