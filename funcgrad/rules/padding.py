"""np.pad: along one axis after the other, the array is joined with what each mode puts before and behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.arrays.arguments import as_operand
from funcgrad.core.engine.declare import composite
from funcgrad.core.memory.orders import contiguous_as
from funcgrad.errors import UnsupportedFunctionError, user_line
from funcgrad.rules.joining import as_dtype

Borders = tuple[Any, Any]
Extension = Callable[..., Borders]


def _pad(array: Any, pad_width: Any, mode: Any = "constant", **options: Any) -> Any:
    x = as_operand(array)
    if callable(mode):
        raise UnsupportedFunctionError(
            f"np.pad at {user_line()} has a function as its mode, which would write into the padded array. "
            "Name one of NumPy's modes, or write np.concatenate([before, x, behind], axis)."
        )
    if mode not in EXTENSIONS:
        raise ValueError(f"mode '{mode}' is not supported")
    extension, defaults = EXTENSIONS[mode]
    if not options.keys() <= defaults.keys():
        raise ValueError(
            f"unsupported keyword arguments for mode '{mode}': {options.keys() - defaults.keys()}"
        )
    widths = _widths(pad_width, x.ndim)
    settings = {name: _setting(options.get(name, value), x.ndim) for name, value in defaults.items()}
    for axis, (before, behind) in enumerate(widths):
        if before or behind:
            borders = extension(
                x, axis, before, behind, **{name: value[axis] for name, value in settings.items()}
            )
            left, right = (as_dtype(border, x.dtype) for border in borders)
            x = np.concatenate([left, x, right], axis)
    return contiguous_as(x if np.any(widths) else np.copy(x), array)


def _widths(pad_width: Any, ndim: int) -> list[tuple[int, int]]:
    """How many elements to put before and behind, for each axis."""
    if isinstance(pad_width, dict):
        by_axis: list[Any] = [(0, 0)] * ndim
        for axis, width in pad_width.items():
            by_axis[axis] = np.broadcast_to(width, 2)
        pad_width = by_axis
    widths = np.asarray(pad_width)
    if widths.dtype.kind not in "iu":
        raise TypeError("`pad_width` must be of integral type.")
    if (widths < 0).any():
        raise ValueError("index can't contain negative values")
    return [(int(before), int(behind)) for before, behind in np.broadcast_to(widths, (ndim, 2))]


def _setting(value: Any, ndim: int) -> Any:
    """An option for each axis: a pair (before, behind) if it is a number, itself if it is a word or None."""
    if value is None or isinstance(value, str):
        return [value] * ndim
    return np.broadcast_to(as_operand(value), (ndim, 2))


def _border(x: Any, axis: int, width: int) -> tuple[int, ...]:
    """The shape of a border of `x`."""
    return (*x.shape[:axis], width, *x.shape[axis + 1 :])


def _part(x: Any, axis: int, start: int | None, stop: int | None) -> Any:
    return x[(slice(None),) * axis + (slice(start, stop),)]


def _constant(x: Any, axis: int, before: int, behind: int, constant_values: Any) -> Borders:
    left, right = constant_values[0], constant_values[1]
    return np.broadcast_to(left, _border(x, axis, before)), np.broadcast_to(right, _border(x, axis, behind))


def _ramp(x: Any, axis: int, before: int, behind: int, end_values: Any) -> Borders:
    first, last = _part(x, axis, 0, 1), _part(x, axis, -1, None)
    return _rise(end_values[0], first, before, axis), np.flip(_rise(end_values[1], last, behind, axis), axis)


def _rise(end: Any, edge: Any, width: int, axis: int) -> Any:
    """From `end` up to the array's edge, in `width` equal steps; the edge itself is not part of it."""
    steps = np.arange(width).reshape((-1,) + (1,) * (edge.ndim - axis - 1))
    ramp = end + steps * ((edge - end) / max(width, 1))
    return np.floor(ramp) if edge.dtype.kind in "iu" else ramp


def _statistic(function: Any) -> Extension:
    """Both borders hold a statistic of the `stat_length` elements next to them (None: of all)."""

    def extension(x: Any, axis: int, before: int, behind: int, stat_length: Any) -> Borders:
        near, far = (x.shape[axis],) * 2 if stat_length is None else stat_length
        left = function(_part(x, axis, 0, near), axis=axis, keepdims=True)
        right = function(_part(x, axis, max(x.shape[axis] - far, 0), None), axis=axis, keepdims=True)
        if x.dtype.kind in "iu":
            left, right = np.round(left), np.round(right)
        return np.broadcast_to(left, _border(x, axis, before)), np.broadcast_to(
            right, _border(x, axis, behind)
        )

    return extension


def _copies(mode: Any) -> Extension:
    """The borders hold copies of elements: NumPy says which, by padding the positions."""

    def extension(x: Any, axis: int, before: int, behind: int, reflect_type: Any = "even") -> Borders:
        size = x.shape[axis]
        places = np.pad(np.arange(size), (before, behind), mode)
        left, right = np.take(x, places[:before], axis), np.take(x, places[before + size :], axis)
        if reflect_type == "even" or size == 1:
            return left, right
        # Left of the array lies the mirror image, about its first element, of what lies behind that.
        edge = 1 if mode == "reflect" else 0
        mirrored = _odd(x, axis, left, np.arange(before - 1, -1, -1) + edge, edge)
        return 2 * _part(x, axis, 0, 1) - mirrored, _odd(x, axis, right, size + np.arange(behind), edge)

    return extension


def _odd(x: Any, axis: int, copies: Any, position: Any, edge: int) -> Any:
    """What stands at `position` >= 0 if x is mirrored again and again about its last and first element.

    Mirroring about the last element gives 2 last - x; from one period to the next everything rises by 2 (last
    - first). `copies` are the elements themselves; `edge` is 1 if an element that mirrors is not repeated
    (mode "reflect").
    """
    size = x.shape[axis]
    turns, phase = (
        t.reshape((-1,) + (1,) * (x.ndim - axis - 1)) for t in np.divmod(position, 2 * (size - edge))
    )
    first, last = _part(x, axis, 0, 1), _part(x, axis, -1, None)
    out = np.where(phase >= size, 2 * last - copies, copies)
    return out + 2 * turns * (last - first) if turns.any() else out


# For each mode: what it puts at the borders, and its options with their defaults.
EXTENSIONS: dict[str, tuple[Extension, dict[str, Any]]] = {
    "constant": (_constant, {"constant_values": 0}),
    "empty": (lambda x, axis, before, behind: _constant(x, axis, before, behind, (0, 0)), {}),
    "linear_ramp": (_ramp, {"end_values": 0}),
    "maximum": (_statistic(np.max), {"stat_length": None}),
    "minimum": (_statistic(np.min), {"stat_length": None}),
    "mean": (_statistic(np.mean), {"stat_length": None}),
    "median": (_statistic(np.median), {"stat_length": None}),
    "edge": (_copies("edge"), {}),
    "wrap": (_copies("wrap"), {}),
    "reflect": (_copies("reflect"), {"reflect_type": "even"}),
    "symmetric": (_copies("symmetric"), {"reflect_type": "even"}),
}

composite(np.pad, _pad)
