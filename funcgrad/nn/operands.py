"""What funcgrad.nn takes: arrays, tracers, lists and numbers, brought to one floating dtype."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.errors import ArgumentError


def array(x: Any) -> Any:
    """`x` as an array, unless it is one already (or a tracer)."""
    return x if hasattr(x, "dtype") and hasattr(x, "shape") else np.asarray(x)


def floats(who: str, *operands: Any, kinds: str = "f") -> list[Any]:
    """The operands in one dtype of these kinds (integers become floats); None stays None.

    Raises ArgumentError for complex numbers where only real ones are allowed.
    """
    arrays = [None if x is None else array(x) for x in operands]
    dtypes = [x if isinstance(x, (bool, int, float)) else array(x).dtype for x in operands if x is not None]
    dtype = np.result_type(*dtypes, 0.0)
    if dtype.kind not in kinds:
        raise ArgumentError(
            f"{who} takes real numbers, and got {dtype}: call it on the real and the imaginary part"
        )
    return [x if x is None or x.dtype == dtype else x.astype(dtype) for x in arrays]


def integers(who: str, name: str, x: Any) -> Any:
    """`x` as an array of integers. Raises ArgumentError for other numbers."""
    x = array(x)
    if x.dtype.kind not in "iu":
        raise ArgumentError(f"{who}: `{name}` are indices, and got {x.dtype}: write {name}.astype(int)")
    return x


def per_axis(who: str, name: str, x: Any, rank: int, least: int) -> tuple[int, ...]:
    """A setting as one integer for each spatial axis. Raises ArgumentError for another length, or a number
    below `least`."""
    each = tuple(map(operator.index, x)) if isinstance(x, Sequence) else (operator.index(x),) * rank
    if len(each) != rank:
        raise ArgumentError(
            f"{who}: {name}={x} has {len(each)} numbers for {rank} spatial axes: give one, or one for each"
        )
    if each and min(each) < least:
        raise ArgumentError(f"{who}: {name}={x}: give integers that are at least {least}")
    return each


def axes_of(who: str, axis: int | Sequence[int], ndim: int) -> tuple[int, ...]:
    """Axes counted from the last (-1), in order. Raises ArgumentError for one that is not there, or is there
    twice."""
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    normalized = sorted({a - ndim if a >= 0 else a for a in axes})
    if len(normalized) != len(axes) or not all(-ndim <= a < 0 for a in normalized):
        raise ArgumentError(
            f"{who}: axis={axis} of an array of {ndim} axes: name each axis once, from {-ndim} to {ndim - 1}"
        )
    return tuple(normalized)


def reduced(who: str, loss: Any, reduction: str) -> Any:
    """All elements of a loss, their mean, or their sum."""
    check_reduction(who, reduction)
    return loss if reduction == "none" else np.mean(loss) if reduction == "mean" else np.sum(loss)


def check_reduction(who: str, reduction: str) -> None:
    """Raise ArgumentError for a word that is no reduction."""
    if reduction not in ("mean", "sum", "none"):
        raise ArgumentError(f"{who}: reduction={reduction!r}: write 'mean', 'sum' or 'none'")
