"""Fourier transforms, and the fast Hankel transform: in terms of NumPy's, which have rules.

SciPy's have a few arguments more, that say how to compute and not what (`overwrite_x`, `workers`, `plan`),
and Hermitian transforms along several axes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from funcgrad.core.arrays.ufunc import as_array
from funcgrad.scipy.declare import Chapter

fft = Chapter("fft")
Function = Callable[..., Any]

# ---- along one axis --------------------------------------------------------------------------------------------------


def _inexact(x: Any) -> Any:
    """`x` as SciPy transforms it: numbers with a fraction; half precision becomes single."""
    x = as_array(x)
    if x.dtype.kind not in "fc":
        return x.astype(np.float64)
    return x.astype(np.float32) if x.dtype == np.float16 else x


def _real(x: Any) -> Any:
    x = _inexact(x)
    if x.dtype.kind == "c":
        raise TypeError("x must be a real sequence")
    return x


def _of_one(name: str, prepared: Function) -> None:
    transform = getattr(np.fft, name)

    def body(
        x: Any, n: Any = None, axis: int = -1, norm: Any = None, overwrite_x: Any = False, plan: Any = None
    ) -> Any:
        return transform(prepared(x), n, axis, norm)

    fft.composite(name, body)


for _name in ("fft", "ifft", "irfft", "hfft"):
    _of_one(_name, _inexact)
for _name in ("rfft", "ihfft"):
    _of_one(_name, _real)


# ---- along several axes ----------------------------------------------------------------------------------------------
def _several(x: Any, s: Any, axes: Any) -> tuple[Any, Any]:
    """`s` and `axes` for NumPy: sizes belong to the last axes, where those are not named."""
    if s is not None:
        s = [s] if isinstance(s, (int, np.integer)) else list(s)
        axes = range(-len(s), 0) if axes is None else axes
    if axes is not None:
        axes = [axes] if isinstance(axes, (int, np.integer)) else list(axes)
        if s is not None and len(s) != len(axes):
            raise ValueError("when given, axes and shape arguments have to be of the same length")
        s = [x.shape[i] for i in axes] if s is None else s
    return s, axes


def _of_several(name: str, transform: Function, prepared: Function, axes: Any) -> None:
    def body(
        x: Any, s: Any = None, axes: Any = axes, norm: Any = None, overwrite_x: Any = False, plan: Any = None
    ) -> Any:
        x = prepared(x)
        if axes is None and s is None:
            return transform(x, None, None, norm)
        sizes, axes = _several(x, s, axes)
        if axes == []:
            return (
                x.astype(np.result_type(x.dtype, np.complex64)) if name.rstrip("2n") in ("fft", "ifft") else x
            )
        return transform(x, None if s is None else sizes, axes, norm)

    fft.composite(name, body)


OPPOSITE: dict[Any, Any] = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


def _hfftn(x: Any, s: Any, axes: Any, norm: Any) -> Any:
    """The real transform of half a Hermitian array: the inverse of its conjugate, scaled the other way round."""
    return np.fft.irfftn(np.conj(x), s, axes, OPPOSITE[norm])


def _ihfftn(x: Any, s: Any, axes: Any, norm: Any) -> Any:
    return np.conj(np.fft.rfftn(x, s, axes, OPPOSITE[norm]))


_KINDS: list[tuple[str, Function, Function]] = [
    ("fft", np.fft.fftn, _inexact),
    ("ifft", np.fft.ifftn, _inexact),
    ("rfft", np.fft.rfftn, _real),
    ("irfft", np.fft.irfftn, _inexact),
    ("hfft", _hfftn, _inexact),
    ("ihfft", _ihfftn, _real),
]
for _name, _transform, _prepared in _KINDS:
    _of_several(f"{_name}n", _transform, _prepared, None)
    _of_several(f"{_name}2", _transform, _prepared, (-2, -1))

fft.composite("fftshift", lambda x, axes=None: np.fft.fftshift(x, axes))
fft.composite("ifftshift", lambda x, axes=None: np.fft.ifftshift(x, axes))


# ---- the fast Hankel transform ---------------------------------------------------------------------------------------
def _coefficients(n: int, dln: Any, mu: Any, offset: Any, bias: Any) -> Any:
    """Those of Hamilton, Monthly Notices of the Royal Astronomical Society 312 (2000), 257: u_m = (kr)**(-2
    pi i m / n dln) times

    U_mu(q + iy) = 2**(q + iy) Gamma((mu + 1 + q + iy) / 2) / Gamma((mu + 1 - q - iy) / 2).
    """
    y = np.pi * np.arange(n // 2 + 1) / (n * dln)
    above = special.loggamma((mu + 1 + bias) / 2 + 1j * y)
    below = special.loggamma((mu + 1 - bias) / 2 - 1j * y)
    u = np.exp(above - below + np.log(2.0) * bias + 2j * y * (np.log(2.0) - offset))
    first, last = u[:1], u[-1:].real if n % 2 == 0 else u[-1:]
    return np.concatenate([first, u[1:-1], last]) if n > 2 else np.concatenate([first, last][: u.shape[0]])


def _hankel(a: Any, dln: Any, mu: Any, offset: Any, bias: Any, inverse: bool) -> Any:
    a = as_array(a)
    n, sign = a.shape[-1], 1 if inverse else -1
    j = np.arange(n) - (n - 1) / 2
    shift = offset if inverse else 0.0
    spectrum = np.fft.rfft(a * np.exp(sign * bias * (j * dln + shift)))
    u = _coefficients(n, dln, mu, offset, bias)
    if not np.isfinite(u[0]) or inverse and u[0] == 0:
        raise ValueError(
            "the fast Hankel transform is singular with this bias, and has no derivative; change the bias"
        )
    spectrum = spectrum / np.conj(u) if inverse else spectrum * u
    out = np.fft.irfft(spectrum, n)[..., ::-1]
    return out * np.exp(sign * bias * (j * dln + (0.0 if inverse else offset)))


@fft.composite("fht")
def _fht(a: Any, dln: Any, mu: Any, offset: Any = 0.0, bias: Any = 0.0) -> Any:
    return _hankel(a, dln, mu, offset, bias, inverse=False)


@fft.composite("ifht")
def _ifht(A: Any, dln: Any, mu: Any, offset: Any = 0.0, bias: Any = 0.0) -> Any:
    return _hankel(A, dln, mu, offset, bias, inverse=True)


@fft.composite("fhtoffset")
def _fhtoffset(dln: Any, mu: Any, initial: Any = 0.0, bias: Any = 0.0) -> Any:
    y = np.pi / (2 * dln)
    above = special.loggamma((mu + 1 + bias) / 2 + 1j * y)
    below = special.loggamma((mu + 1 - bias) / 2 + 1j * y)
    turns = (np.log(2.0) - initial) / dln + (above.imag + below.imag) / np.pi
    return initial + (turns - np.round(turns)) * dln
