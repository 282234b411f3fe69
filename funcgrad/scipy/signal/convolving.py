"""Convolution and correlation: modes are parts of one full convolution, transposes are valid parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import signal as theirs

from funcgrad.core.arrays.ufunc import as_array
from funcgrad.core.engine.declare import multilinear
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.rerun import rerun

signal = Chapter("signal")


def _flipped(x: Any) -> Any:
    return np.flip(x, tuple(range(x.ndim)))


def _full(x, y, method="auto"):
    return theirs.convolve(x, y, "full", method)


def _valid(ct: Any, y: Any, method: str) -> Any:
    """The part of the convolution of ct with y turned around where y lies within."""
    whole = FULL(ct, _flipped(y), method)
    return whole[tuple(slice(m - 1, n) for n, m in zip(ct.shape, y.shape, strict=True))]


FFT = rerun(theirs.fftconvolve)
FULL = multilinear(
    _full,
    lambda ct, x, y, method="auto": _valid(ct, y, method),
    lambda ct, y, x, method="auto": _valid(ct, x, method),
    operands="x y",
    name="scipy.signal.convolve",
)


def whole_of(x: Any, y: Any, method: str) -> Any:
    """The full convolution. By Fourier transforms it is a product, and what is pulled back shares the transforms."""
    if method == "auto" and x.dtype.kind in "fc":
        alike = (np.broadcast_to(np.zeros((), v.dtype), v.shape) for v in (x, y))
        method = theirs.choose_conv_method(*alike, mode="full")
    return FFT(x, y) if method == "fft" else FULL(x, y, method)


def part(whole: Any, n: Sequence[int], m: Sequence[int], mode: str, correlates: bool = False) -> Any:
    """The part of the full convolution of shapes n and m that a mode asks for; in "same" it has the shape n."""
    if mode == "full":
        return whole
    if mode == "same":
        starts = [(b - 1) // 2 if not correlates else b // 2 for b in m]
        return whole[tuple(slice(s, s + a) for s, a in zip(starts, n, strict=True))]
    if mode != "valid":
        raise ValueError("acceptable mode flags are 'valid', 'same', or 'full'")
    if not (all(a >= b for a, b in zip(n, m)) or all(a <= b for a, b in zip(n, m))):
        raise ValueError("For 'valid' mode, one must be at least as large as the other in every dimension")
    return whole[tuple(slice(min(a, b) - 1, max(a, b)) for a, b in zip(n, m, strict=True))]


def _pair(x: Any, y: Any) -> tuple[Any, Any]:
    x, y = as_array(x), as_array(y)
    if x.ndim != y.ndim:
        raise ValueError("in1 and in2 should have the same dimensionality")
    dtype = np.result_type(x.dtype, y.dtype)
    return x.astype(dtype), y.astype(dtype)


def _conj(x: Any) -> Any:
    return np.conj(x) if x.dtype.kind == "c" else x


@signal.composite("convolve")
def _convolve(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    in1, in2 = _pair(in1, in2)
    if in1.ndim == 0:
        return in1 * in2
    return part(whole_of(in1, in2, method), in1.shape, in2.shape, mode)


@signal.composite("correlate")
def _correlate(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    in1, in2 = _pair(in1, in2)
    if in1.ndim == 0:
        return in1 * _conj(in2)
    return part(whole_of(in1, _flipped(_conj(in2)), method), in1.shape, in2.shape, mode)


# ---- images, with what lies beyond their edges -----------------------------------------------------------------------
_EDGES: dict[str, Any] = {
    "fill": "constant",
    "pad": "constant",
    "wrap": "wrap",
    "circular": "wrap",
    "symm": "symmetric",
    "symmetric": "symmetric",
}


def _convolved(in1: Any, in2: Any, mode: str, boundary: str, fillvalue: Any, correlates: bool) -> Any:
    if not in1.ndim == in2.ndim == 2:
        raise ValueError("convolve2d inputs must both be 2-D arrays")
    if boundary not in _EDGES:
        raise ValueError(
            f"Acceptable boundary flags are 'fill', 'circular' (or 'wrap'), and 'symmetric' (or 'symm'), not {boundary!r}"
        )
    swapped = mode == "valid" and all(a <= b for a, b in zip(in1.shape, in2.shape)) and in1.shape != in2.shape
    first, second = (in2, in1) if swapped else (in1, in2)
    edges = _EDGES[boundary]
    if mode == "valid" or edges == "constant" and isinstance(fillvalue, (int, float)) and fillvalue == 0:
        return part(FULL(first, second, "direct"), first.shape, second.shape, mode, correlates)
    margins = [(m - 1, m - 1) for m in second.shape]
    options = {"constant_values": fillvalue} if edges == "constant" else {}
    beyond = np.pad(first, margins, edges, **options)
    whole = FULL(beyond, second, "direct")
    whole = whole[tuple(slice(m - 1, n) for n, m in zip(beyond.shape, second.shape, strict=True))]
    return part(whole, first.shape, second.shape, mode, correlates)


@signal.composite("convolve2d")
def _convolve2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0) -> Any:
    in1, in2 = _pair(in1, in2)
    return _convolved(in1, in2, mode, boundary, fillvalue, False)


@signal.composite("correlate2d")
def _correlate2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0) -> Any:
    in1, in2 = _pair(in1, in2)
    return _convolved(in1, _flipped(_conj(in2)), mode, boundary, fillvalue, True)


@signal.composite("sepfir2d")
def _sepfir2d(input: Any, hrow: Any, hcol: Any) -> Any:
    """Two passes with mirrored edges, the edge itself being repeated."""
    x = as_array(input)
    for h, axis in ((as_array(hrow), 1), (as_array(hcol), 0)):
        half = h.shape[0] // 2
        margins = [(half, half) if k == axis else (0, 0) for k in range(2)]
        shape = [1, 1]
        shape[axis] = h.shape[0]
        beyond = np.pad(x, margins, "symmetric")
        whole = FULL(beyond, np.reshape(h, shape).astype(x.dtype), "direct")
        x = whole[tuple(slice(m - 1, n) for n, m in zip(beyond.shape, shape, strict=True))]
    return x


signal.rerun("fftconvolve oaconvolve")
signal.piecewise_constant("choose_conv_method correlation_lags")
