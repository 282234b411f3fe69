"""The older Fourier transforms, and operators on periodic sequences, which multiply the Fourier coefficients.

Such an operator is symmetric where its factors are even, and antisymmetric where they are odd
(differentiation, say).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import fftpack as theirs

from funcgrad.core.engine.declare import linear
from funcgrad.rules.fft import _fitted
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.fft.transforms import _inexact, _several
from funcgrad.scipy.fft.trigonometric import COSINE, INVERSE, SINE, _one

fftpack = Chapter("fftpack")
fftpack.composite("fft", lambda x, n=None, axis=-1: np.fft.fft(_inexact(x), n, axis))
fftpack.composite("ifft", lambda x, n=None, axis=-1: np.fft.ifft(_inexact(x), n, axis))
fftpack.composite("fftshift", lambda x, axes=None: np.fft.fftshift(x, axes))
fftpack.composite("ifftshift", lambda x, axes=None: np.fft.ifftshift(x, axes))


def _of_several(name: str, transform: Callable[..., Any], axes: Any) -> None:
    def body(x: Any, shape: Any = None, axes: Any = axes) -> Any:
        x = _inexact(x)
        sizes, axes = _several(x, shape, axes)
        return transform(x, sizes, axes)

    fftpack.composite(name, body)


for _name, _transform in (("fft", np.fft.fftn), ("ifft", np.fft.ifftn)):
    _of_several(f"{_name}n", _transform, None)
    _of_several(f"{_name}2", _transform, (-2, -1))


# ---- real transforms: real and imaginary parts in turn, without those that are zero ----------------------------------
@fftpack.composite("rfft")
def _rfft(x: Any, n: Any = None, axis: int = -1) -> Any:
    x = np.moveaxis(_inexact(x), axis, -1)
    n = x.shape[-1] if n is None else n
    half = np.fft.rfft(x, n)
    pairs = np.stack([half.real, half.imag], axis=-1).reshape(*half.shape[:-1], 2 * half.shape[-1])
    return np.moveaxis(np.concatenate([pairs[..., :1], pairs[..., 2 : n + 1]], axis=-1), -1, axis)


@fftpack.composite("irfft")
def _irfft(x: Any, n: Any = None, axis: int = -1) -> Any:
    x = np.moveaxis(_inexact(x), axis, -1)
    n = x.shape[-1] if n is None else n
    x = _fitted(x, n, x.ndim - 1)
    zero = np.zeros_like(x[..., :1])
    ends = [zero] if n % 2 == 0 else []
    pairs = np.concatenate([x[..., :1], zero, x[..., 1:], *ends], axis=-1)
    pairs = pairs.reshape(*x.shape[:-1], pairs.shape[-1] // 2, 2)
    return np.moveaxis(np.fft.irfft(pairs[..., 0] + np.complex64(1j) * pairs[..., 1], n), -1, axis)


# ---- cosine and sine transforms: without a scale, unless norm="ortho" ------------------------------------------------
def _trigonometric(name: str, primitive: Callable[..., Any], inverse: bool) -> None:
    def of_one(x, type=2, n=None, axis=-1, norm=None):
        return _one(
            primitive, False, _inexact(x), INVERSE.get(type, type) if inverse else type, n, axis, norm, None
        )

    def of_several(x, type=2, shape=None, axes=None, norm=None):
        x = _inexact(x)
        sizes, axes = _several(x, shape, axes)
        axes = range(x.ndim) if axes is None else axes
        for n, axis in zip([None] * len(axes) if sizes is None else sizes, axes, strict=True):
            x = of_one(x, type, n, axis, norm)
        return x

    fftpack.composite(name, of_one)
    fftpack.composite(f"{name}n", of_several)


for _name, _primitive in (("dct", COSINE), ("dst", SINE)):
    _trigonometric(_name, _primitive, inverse=False)
    _trigonometric(f"i{_name}", _primitive, inverse=True)


# ---- operators on periodic sequences ---------------------------------------------------------------------------------
def _operator(name: str, transpose: Callable[..., Any]) -> None:
    function = getattr(theirs, name)

    def heart(x, args=()):
        return function(x, *args)

    primitive = linear(heart, transpose(lambda ct, args: primitive(ct, args)), name=f"scipy.fftpack.{name}")

    def body(x: Any, **others: Any) -> Any:
        return primitive(_inexact(x), tuple(others[k] for k in list(others) if k not in ("_cache", "x")))

    fftpack.composite(name, body)


def _odd(run: Callable[..., Any]) -> Callable[..., Any]:
    return lambda ct, x, args=(): -run(ct, args)


def _even(run: Callable[..., Any]) -> Callable[..., Any]:
    return lambda ct, x, args=(): run(ct, args)


def _by_order(run: Callable[..., Any]) -> Callable[..., Any]:
    return lambda ct, x, args=(): run(ct, args) if (args or (1,))[0] % 2 == 0 else -run(ct, args)


for _name in ("hilbert", "ihilbert", "tilbert", "itilbert", "cs_diff", "sc_diff"):
    _operator(_name, _odd)
for _name in ("cc_diff", "ss_diff"):
    _operator(_name, _even)
_operator("diff", _by_order)


@fftpack.composite("shift")
def _shift(x: Any, a: Any, period: Any = None) -> Any:
    x = _inexact(x)
    n = x.shape[0]
    angle = np.arange(n // 2 + 1) * a * (1.0 if period is None else 2 * np.pi / period)
    factors = np.cos(angle) + 1j * np.sin(angle)
    if n % 2 == 0:  # the last coefficient is real, and SciPy keeps it so
        factors = np.concatenate([factors[:-1], (np.cos(angle) + np.sin(angle))[-1:]])
    return np.fft.irfft(np.fft.rfft(x) * factors, n)
