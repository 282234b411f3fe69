"""Cosine and sine transforms: linear, and each other's transposes up to weights at both ends.

The matrices of types I and IV are symmetric, those of II and III transposes of each other, once the elements
that occur once in the sum (where others occur twice) are weighted by sqrt(2) as `orthogonalize` does. The
scale is the same for both. (Makhoul, "A fast cosine transform in one and two dimensions", IEEE Transactions
on Acoustics, Speech, and Signal Processing 28 (1980), 27.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import fft as theirs

from funcgrad.core.engine.declare import linear
from funcgrad.rules.fft import _fitted
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.fft.transforms import OPPOSITE, _inexact, _several

fft = Chapter("fft")
TRANSPOSED = {1: 1, 2: 3, 3: 2, 4: 4}


def _weighted(x: Any, axis: int, weights: dict[int, float]) -> Any:
    """`x` with the elements of these positions along `axis` multiplied."""
    factors = np.ones(x.shape[axis], np.finfo(x.dtype).dtype)
    for place, weight in weights.items():
        factors[place] = weight
    return x * factors.reshape((-1,) + (1,) * (x.ndim - axis % x.ndim - 1))


def _cosine(x, type=2, axis=-1, norm=None, orthogonalize=False):
    return theirs.dct(x, type, None, axis, norm, orthogonalize=orthogonalize)


def _sine(x, type=2, axis=-1, norm=None, orthogonalize=False):
    return theirs.dst(x, type, None, axis, norm, orthogonalize=orthogonalize)


def _cosine_pull(ct, x, type=2, axis=-1, norm=None, orthogonalize=False):
    if orthogonalize:
        return COSINE(ct, TRANSPOSED[type], axis, norm, True)
    before = {1: {0: 1.0, -1: 1.0}, 2: {0: 2.0}}.get(type, {})
    after = {1: {0: 1.0, -1: 1.0}, 3: {0: 0.5}}.get(type, {})
    if type == 1:  # the inner elements count twice
        ct = _weighted(0.5 * ct, axis, {0: 2.0, -1: 2.0})
        return _weighted(2 * COSINE(ct, 1, axis, norm), axis, {0: 0.5, -1: 0.5})
    return _weighted(COSINE(_weighted(ct, axis, before), TRANSPOSED[type], axis, norm), axis, after)


def _sine_pull(ct, x, type=2, axis=-1, norm=None, orthogonalize=False):
    if orthogonalize or type in (1, 4):
        return SINE(ct, TRANSPOSED[type], axis, norm, orthogonalize)
    if type == 2:
        return SINE(_weighted(ct, axis, {-1: 2.0}), 3, axis, norm)
    return _weighted(SINE(ct, 2, axis, norm), axis, {-1: 0.5})


COSINE = linear(_cosine, _cosine_pull, batch="axis", name="scipy.fft.dct")
SINE = linear(_sine, _sine_pull, batch="axis", name="scipy.fft.dst")

INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}


def _one(
    primitive: Callable[..., Any], inverse: bool, x: Any, type: int, n: Any, axis: int, norm: Any, orth: Any
) -> Any:
    """Cut or padded to n, then transformed. The inverse is the other type's, scaled the other way."""
    if type not in INVERSE:
        raise ValueError(
            f"invalid type {type}: there are cosine and sine transforms of the types 1, 2, 3 and 4"
        )
    if norm not in OPPOSITE:
        raise ValueError(f'Invalid norm value {norm!r}; should be "backward", "ortho" or "forward".')
    orth = norm == "ortho" if orth is None else bool(orth)
    x = x if n is None else _fitted(x, n, axis)
    return (
        primitive(x, INVERSE[type], axis, OPPOSITE[norm], orth)
        if inverse
        else primitive(x, type, axis, norm, orth)
    )


def _declare(name: str, primitive: Callable[..., Any], inverse: bool) -> None:
    def of_one(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, orthogonalize=None):
        return _one(primitive, inverse, _inexact(x), type, n, axis, norm, orthogonalize)

    def of_several(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, orthogonalize=None):
        x = _inexact(x)
        s, axes = _several(x, s, axes)
        axes = range(x.ndim) if axes is None else axes
        for n, axis in zip([None] * len(axes) if s is None else s, axes, strict=True):
            x = _one(primitive, inverse, x, type, n, axis, norm, orthogonalize)
        return x

    fft.composite(name, of_one)
    fft.composite(f"{name}n", of_several)


for _name, _primitive in (("dct", COSINE), ("dst", SINE)):
    _declare(_name, _primitive, inverse=False)
    _declare(f"i{_name}", _primitive, inverse=True)
