"""Discrete Fourier transforms: np.fft. (fftfreq and rfftfreq take no arrays.)

The one-dimensional transforms are linear, and come in pairs: fft and ifft are their own transposes (their
matrices are symmetric, and no cotangent is conjugated); rfft and hfft are each other's, irfft and ihfft too,
up to weights. A half spectrum stands for a whole one, in which all but the first entry (and the last of an
even length) occur twice. What `n` cuts off gets a zero.

The transforms along several axes are chains of one-dimensional ones, as in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from funcgrad.core.arrays.arguments import out_refused
from funcgrad.core.arrays.ufunc import as_array
from funcgrad.core.engine.declare import composite, linear
from funcgrad.rules.axes import along

fft = np.fft

# ---- along one axis --------------------------------------------------------------------------------------------------


def _fitted(x: Any, size: int, axis: int) -> Any:
    """`x` cut, or filled up with zeros, to this size along `axis`: the transpose of what `n` does."""
    missing = size - x.shape[axis]
    if missing <= 0:
        return x[along(axis, slice(size))] if missing else x
    shape = (*x.shape[:axis], missing, *x.shape[axis + 1 :])
    return np.concatenate([x, np.zeros(shape, x.dtype)], axis=axis)


def _weighted(x: Any, n: int, axis: int, weight: float) -> Any:
    """A half spectrum with the entries that occur twice in the spectrum of length n multiplied by `weight`."""
    weights = np.full(n // 2 + 1, weight, np.finfo(x.dtype).dtype)
    weights[0] = 1
    if n % 2 == 0:
        weights[-1] = 1
    return x * weights.reshape((-1,) + (1,) * (x.ndim - axis - 1))


def _fft_pull(ct, a, n=None, axis=-1, norm=None):
    return _fitted(fft.fft(ct, axis=axis, norm=norm), a.shape[axis], axis)


def _ifft_pull(ct, a, n=None, axis=-1, norm=None):
    return _fitted(fft.ifft(ct, axis=axis, norm=norm), a.shape[axis], axis)


def _rfft_pull(ct, a, n=None, axis=-1, norm=None):
    n = a.shape[axis] if n is None else n
    return _fitted(fft.hfft(_weighted(ct, n, axis, 0.5), n, axis, norm), a.shape[axis], axis)


def _hfft_pull(ct, a, n=None, axis=-1, norm=None):
    return _fitted(_weighted(fft.rfft(ct, None, axis, norm), ct.shape[axis], axis, 2), a.shape[axis], axis)


def _irfft_pull(ct, a, n=None, axis=-1, norm=None):
    return _fitted(_weighted(fft.ihfft(ct, None, axis, norm), ct.shape[axis], axis, 2), a.shape[axis], axis)


def _ihfft_pull(ct, a, n=None, axis=-1, norm=None):
    n = a.shape[axis] if n is None else n
    return _fitted(fft.irfft(_weighted(ct, n, axis, 0.5), n, axis, norm), a.shape[axis], axis)


linear(fft.fft, _fft_pull, batch="axis")
linear(fft.ifft, _ifft_pull, batch="axis")
linear(fft.rfft, _rfft_pull, batch="axis")
linear(fft.hfft, _hfft_pull, batch="axis")
linear(fft.irfft, _irfft_pull, batch="axis")
linear(fft.ihfft, _ihfft_pull, batch="axis")


# ---- along several axes ----------------------------------------------------------------------------------------------


def _sizes(a: Any, s: Any, axes: Any, of_real: bool) -> tuple[list[int], list[int]]:
    """The size to transform along each axis, and the axes, as NumPy finds them; `of_real`: a real result."""
    if axes is None:
        axes = range(-(a.ndim if s is None else len(s)), 0)
    axes = list(axes)
    if s is None:
        s = [a.shape[i] for i in axes]
        return [*s[:-1], 2 * (s[-1] - 1)] if of_real else s, axes
    if len(s) != len(axes):
        raise ValueError(f"Shape and axes have different lengths: {len(s)} and {len(axes)}.")
    return [a.shape[i] if n == -1 else n for n, i in zip(s, axes)], axes


def _chain(a: Any, steps: Sequence[tuple[Callable[..., Any], Any, int]], norm: Any, out: Any) -> Any:
    if out is not None:
        raise out_refused(f"fft.{steps[0][0].__name__}")
    for transform, n, axis in steps:
        a = transform(a, n, axis, norm)
    return a


def _declare(
    function: Callable[..., Any], axes: Any, steps_of: Callable[[list[Any], list[int]], Any]
) -> None:
    """Declare a transform along several axes as the chain of these steps; `axes` is the default."""

    def body(a: Any, s: Any = None, axes: Any = axes, norm: Any = None, out: Any = None) -> Any:
        a = as_array(a)
        return _chain(a, steps_of(*_sizes(a, s, axes, steps_of is _real_last)), norm, out)

    composite(function, body)


def _all(transform: Callable[..., Any]) -> Callable[[list[Any], list[int]], Any]:
    return lambda s, axes: [(transform, n, axis) for n, axis in zip(reversed(s), reversed(axes), strict=True)]


def _real_first(s: list[Any], axes: list[int]) -> Any:
    others = _all(fft.fft)(s[:-1], axes[:-1])
    return [(fft.rfft, s[-1], axes[-1]), *(reversed(others) if _first_to_last() else others)]


@cache
def _first_to_last() -> bool:
    """Does rfftn take the other axes in order, as in NumPy 2.0? It shows where an axis is given twice."""
    return fft.rfftn(np.ones((1, 2)), s=(2, 3, 2), axes=(0, 0, 1)).shape[0] == 3


def _real_last(s: list[Any], axes: list[int]) -> Any:
    return [
        *((fft.ifft, n, axis) for n, axis in zip(s[:-1], axes[:-1], strict=True)),
        (fft.irfft, s[-1], axes[-1]),
    ]


for _of_two, _of_many, _steps in (
    (fft.fft2, fft.fftn, _all(fft.fft)),
    (fft.ifft2, fft.ifftn, _all(fft.ifft)),
    (fft.rfft2, fft.rfftn, _real_first),
    (fft.irfft2, fft.irfftn, _real_last),
):
    _declare(_of_two, (-2, -1), _steps)
    _declare(_of_many, None, _steps)


# ---- shifts ----------------------------------------------------------------------------------------------------------


def _shift(sign: int) -> Callable[..., Any]:
    def body(x: Any, axes: Any = None) -> Any:
        x = as_array(x)
        axes = tuple(range(x.ndim)) if axes is None else tuple(np.atleast_1d(axes))
        return np.roll(x, [sign * (x.shape[i] // 2) for i in axes], axes)

    return body


composite(fft.fftshift, _shift(1))
composite(fft.ifftshift, _shift(-1))
