"""Windows, and short-time Fourier transforms."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from funcgrad.torch.functions import creation
from funcgrad.torch.functions.registry import declare, enter, function
from funcgrad.torch.functions.scatter import at_add
from funcgrad.torch.tensors import dtypes


def _window(name: str, numpy_function: Any) -> None:
    def window(window_length: int, periodic: bool = True, *, dtype: Any = None) -> Any:
        return _values(numpy_function(window_length + periodic), window_length, dtype)

    window.__name__ = f"{name}_window"
    window.__doc__ = f"The {name} window."
    enter(window.__name__, creation.makes(window), "f")


def _values(window: Any, length: int, dtype: Any) -> Any:
    return window[:length].astype(dtypes.default() if dtype is None else dtypes.to_numpy(dtype))


for _name, _function in (
    ("hann", np.hanning),
    ("hamming", np.hamming),
    ("bartlett", np.bartlett),
    ("blackman", np.blackman),
):
    _window(_name, _function)


@function()
@creation.makes
def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: Any = None) -> Any:
    """The window of Kaiser."""
    return _values(np.kaiser(window_length + periodic, beta), window_length, dtype)


# ---- short-time Fourier transforms --------------------------------------------------------------------------------------
def _framed(x: Any, n_fft: int, hop: int) -> Any:
    starts = np.arange(0, x.shape[-1] - n_fft + 1, hop)
    return x[..., starts[:, None] + np.arange(n_fft)]


def _full_window(window: Any, n_fft: int, length: int, dtype: Any) -> Any:
    given = np.ones(length, dtype) if window is None else window
    before = (n_fft - length) // 2
    return np.pad(given, (before, n_fft - length - before))


def _stft(
    input: Any,
    n_fft: int,
    hop_length: Any = None,
    win_length: Any = None,
    window: Any = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: Any = None,
    return_complex: Any = None,
) -> Any:
    """The Fourier transforms of windows of a signal: (..., frequencies, frames)."""
    if not return_complex:
        raise RuntimeError(
            "stft requires the return_complex parameter be given for real inputs: write return_complex=True"
        )
    hop = n_fft // 4 if hop_length is None else hop_length
    x, mode = input, cast("Any", pad_mode)
    if center:
        x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(n_fft // 2, n_fft // 2)], mode=mode)
    frames = _framed(x, n_fft, hop) * _full_window(
        window, n_fft, n_fft if win_length is None else win_length, x.dtype
    )
    transform = np.fft.rfft if onesided in (None, True) and x.dtype.kind == "f" else np.fft.fft
    out = transform(frames, norm="ortho" if normalized else None)
    return np.swapaxes(out, -1, -2)


declare(
    "stft", lambda input, *args, **kwargs: _single(input, _stft(input, *args, **kwargs)), "TransposeBackward0"
)


def _single(x: Any, out: Any) -> Any:
    return (
        out.astype(np.complex64)
        if x.dtype in (np.float32, np.complex64) and out.dtype != np.complex64
        else out
    )


def _istft(
    input: Any,
    n_fft: int,
    hop_length: Any = None,
    win_length: Any = None,
    window: Any = None,
    center: bool = True,
    normalized: bool = False,
    onesided: Any = None,
    length: Any = None,
    return_complex: bool = False,
) -> Any:
    """The signal whose stft this is: overlapping windows added up, over the sum of their squares."""
    hop = n_fft // 4 if hop_length is None else hop_length
    real = np.float32 if input.dtype == np.complex64 else np.float64
    shape = _full_window(window, n_fft, n_fft if win_length is None else win_length, real)
    frames = np.swapaxes(input, -1, -2)
    frames = np.fft.irfft(frames, n_fft, norm="ortho" if normalized else None) * shape
    count = frames.shape[-2]
    where = np.arange(count)[:, None] * hop + np.arange(n_fft)
    total = n_fft + hop * (count - 1)
    out = at_add(np.zeros((*frames.shape[:-2], total), real), (..., where), frames)
    weight = at_add(np.zeros(total, real), where, np.broadcast_to(shape * shape, (count, n_fft)))
    start = n_fft // 2 if center else 0
    end = total - start if length is None else start + length
    return out[..., start:end] / weight[start:end]


declare("istft", lambda input, *args, **kwargs: _istft(input, *args, **kwargs), "DivBackward0")
