"""Functions of sampled signals: convolve, correlate, interp, unwrap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.core.arrays.ufunc import as_array, as_result
from funcgrad.core.engine.batch import is_batched, ndim_of, one_by_one
from funcgrad.core.engine.declare import composite, elementwise, multilinear
from funcgrad.core.engine.primitive import Call, Primitive
from funcgrad.core.memory.indexing import GETITEM
from funcgrad.errors import user_line
from funcgrad.rules.mixing import mix

# ---- convolution -----------------------------------------------------------------------------------------------------


_MODES: dict[Any, str] = {0: "valid", 1: "same", 2: "full"}  # the numbers by which NumPy knows them too


def _window(n: int, m: int, mode: Any) -> tuple[int, int]:
    """Where the result of this mode begins in the full convolution of n and m points, and how long it is."""
    short, long = min(n, m), max(n, m)
    windows: dict[Any, tuple[int, int]] = {
        "full": (0, n + m - 1),
        "same": ((short - 1) // 2, long),
        "valid": (short - 1, long - short + 1),
    }
    return windows[_MODES.get(mode, mode)]


def _convolve_pull(ct: Any, size: int, other: Any, mode: Any) -> Any:
    """The transpose of the convolution of `size` points with `other`: with `other` turned around."""
    other = np.reshape(other, (-1,))
    before, length = _window(size, other.size, mode)
    after = size + other.size - 1 - before - length
    if before or after:
        ct = np.concatenate([np.zeros(before, ct.dtype), ct, np.zeros(after, ct.dtype)])
    return np.convolve(ct, other[::-1], "valid")


def _batched_convolve(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    """All examples at once, as a sum over the points of the shorter signal, if those are few."""
    if size == 0 or any(ndim_of(o) - b > 1 for o, b in zip(call.operands, batched, strict=True)):
        return one_by_one(primitive, call, batched, size)
    rows = [np.reshape(o, (size if b else 1, -1)) for o, b in zip(call.operands, batched, strict=True)]
    v, a = sorted(rows, key=lambda row: row.shape[1])
    n, m = a.shape[1], v.shape[1]
    if m > size:
        return one_by_one(primitive, call, batched, size)
    begin, length = _window(n, m, call.params.get("mode", "full"))
    margin = np.zeros((a.shape[0], m - 1), a.dtype)
    padded = np.concatenate([margin, a, margin], axis=1)
    out = 0
    for k in range(m):
        start = begin + m - 1 - k
        out = out + v[:, k : k + 1] * padded[:, start : start + length]
    return out


multilinear(
    np.convolve,
    lambda ct, a, v, mode="full": _convolve_pull(ct, a.size, v, mode),
    lambda ct, v, a, mode="full": _convolve_pull(ct, v.size, a, mode),
    operands="a v",
    batch=_batched_convolve,
)


def _correlate(a: Any, v: Any, mode: Any = "valid") -> Any:
    a, v = as_array(a), as_array(v)
    if not a.ndim or not v.ndim:
        raise ValueError(
            f"np.correlate at {user_line()}: a number is no signal; write np.atleast_1d(x), or multiply by it"
        )
    turned = v[::-1].conj() if v.dtype.kind == "c" else v[::-1]
    if (
        _MODES.get(mode, mode) == "same" and a.shape[0] < v.shape[0]
    ):  # here correlate and convolve take different middles
        begin = a.shape[0] // 2
        return np.convolve(a, turned, "full")[begin : begin + v.shape[0]]
    return np.convolve(a, turned, mode)


composite(np.correlate, _correlate)

# ---- interpolation: at a point of the grid the slope is that of the interval above it --------------------------------


def _interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    x, xp, fp = (_double(as_array(values)) for values in (x, xp, fp))
    if xp.ndim != 1 or fp.shape != xp.shape or xp.size == 0:
        raise ValueError(
            f"np.interp: xp {xp.shape} and fp {fp.shape} must be as long as each other, one-dimensional, not empty"
        )
    if period is not None:
        left = right = None
        x, xp, fp = _periodic(x, xp, fp, period)
    inside = _inside(x, xp, fp)
    left, right = fp[0] if left is None else left, fp[-1] if right is None else right
    return as_result(np.where(x < xp[0], left, np.where(x > xp[-1], right, inside)))


def _double(values: Any) -> Any:
    """In double precision, in which NumPy interpolates."""
    return values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)


def _periodic(x: Any, xp: Any, fp: Any, period: Any) -> Any:
    """The grid brought into one period, with a point more on either side."""
    if not is_batched(period) and period == 0:
        raise ValueError("np.interp(period=0): the period must not be zero")
    period = np.abs(period)
    x, xp = x % period, xp % period
    permutation = np.argsort(xp)
    xp, fp = GETITEM(xp, permutation), GETITEM(fp, permutation)
    return x, np.concatenate([xp[-1:] - period, xp, xp[:1] + period]), np.concatenate([fp[-1:], fp, fp[:1]])


def _inside(x: Any, xp: Any, fp: Any) -> Any:
    """The interpolation at points between the first and the last of the grid."""
    if xp.size == 1:
        return fp[0]
    low = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, xp.size - 2)
    start = GETITEM(xp, low)
    width = GETITEM(xp, low + 1) - start
    jump = width == 0  # can only be at the upper end: searchsorted finds the last of equal points
    share = np.where(np.logical_and(jump, x == start), 1, (x - start) / np.where(jump, 1, width))
    return mix(GETITEM(fp, low), GETITEM(fp, low + 1), share)


composite(np.interp, _interp)

# ---- unwrap: adds multiples of the period ----------------------------------------------------------------------------

elementwise(np.unwrap, 1, lambda p, period, out: (out - p) / period, operands="p period", batch="axis")
