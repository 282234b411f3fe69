"""Images at other points: map_coordinates, zoom, rotate, shift, affine, by splines of orders 0 to 5.

SciPy's own code runs down to its compiled loops. For these stand two primitives, which are each other's
transposes: `SAMPLE` reads a spline (or a derivative of it) at points, `SPREAD` adds values to its
coefficients. A sample is the sum of (order + 1) coefficients along each axis, times values of the B-spline
(M. Unser, "Splines: a perfect fit for signal and image processing", IEEE Signal Processing Magazine 16
(1999), 22).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import ndimage as theirs
from scipy import signal

from funcgrad.core.arrays.ufunc import as_array
from funcgrad.core.engine.declare import custom, linear
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.ndimage.windows import _inexact, written
from funcgrad.scipy.rerun import leaves, private

ndimage = Chapter("ndimage")
_nd_image = private("scipy.ndimage._nd_image")
NEAREST, WRAP, REFLECT, MIRROR, CONSTANT, GRID_WRAP, GRID_CONSTANT = range(7)


# ---- where a point lies, and what it is made of: on plain arrays -----------------------------------------------------
def _folded(c: Any, n: int, mode: int) -> tuple[Any, Any]:
    """A coordinate mapped into the image as `mode` says, and the slope of that; NaN if outside."""
    slope = np.ones(c.shape)
    if mode == GRID_CONSTANT:
        return c, slope
    outside = (c < 0) | (c > n - 1)
    if mode == CONSTANT:
        return np.where(outside, np.nan, c), slope
    if mode == NEAREST or n == 1:
        return np.clip(c, 0, n - 1), np.where(outside, 0.0, slope)
    if mode in (WRAP, GRID_WRAP):
        period = n - 1 if mode == WRAP else n
        turned = np.where(c < 0, c + period * (np.floor(-c / period) + 1), c - period * np.floor(c / period))
        if mode == GRID_WRAP:
            turned = np.where(c < 0, c + n * (np.floor((-1 - c) / n) + 1), turned)
        return np.where(outside, turned, c), slope
    period = 2 * n - 2 if mode == MIRROR else 2 * n
    half = 0.0 if mode == MIRROR else 0.5
    place = np.mod(c + half, period)
    back = place > period / 2
    folded = np.where(back, period - place, place) - half
    return np.where(outside, folded, c), np.where(outside & back, -1.0, slope)


def _indices(i: Any, n: int, mode: int) -> tuple[Any, Any]:
    """The coefficients that stand for those of index i (beyond the edges, too); which of them count."""
    mode = MIRROR if mode in (CONSTANT, WRAP) else mode
    if mode == GRID_CONSTANT:
        return np.clip(i, 0, n - 1), (i >= 0) & (i < n)
    if mode == NEAREST or n == 1:
        return np.clip(i, 0, n - 1), None
    if mode == GRID_WRAP:
        return np.mod(i, n), None
    period = 2 * n - 2 if mode == MIRROR else 2 * n
    place = np.mod(i, period)
    return np.where(place >= n, period - place - (0 if mode == MIRROR else 1), place), None


def _b_spline(u: Any, order: int, nu: int) -> Any:
    """The nu-th derivative of the centred B-spline, by differences of those of lower order."""
    if nu:
        return (
            _b_spline(u + 0.5, order - 1, nu - 1) - _b_spline(u - 0.5, order - 1, nu - 1)
            if order >= nu
            else 0.0 * u
        )
    if order == 0:
        return ((u >= -0.5) & (u < 0.5)).astype(float)
    upper, lower = (order + 1) / 2 + u, (order + 1) / 2 - u
    return (upper * _b_spline(u + 0.5, order - 1, 0) + lower * _b_spline(u - 0.5, order - 1, 0)) / order


def _axis_terms(c: Any, n: int, order: int, mode: int, nu: int) -> tuple[list[tuple[Any, Any]], Any]:
    """For one axis the pairs of index and weight; where the point lies outside of everything."""
    c, slope = _folded(c, n, mode)
    outside = np.isnan(c)
    c = np.where(outside, 0.0, c)
    base = np.floor(c) if order & 1 else np.floor(c + 0.5)
    start = base.astype(np.intp) - order // 2
    terms = []
    for k in range(order + 1):
        index, counts = _indices(start + k, n, mode)
        weight = _b_spline(c - (start + k), order, nu) * slope**nu
        terms.append((index, weight if counts is None else weight * counts))
    return terms, outside


def _terms(points: Any, shape: Any, order: int, mode: int, nus: Any) -> tuple[Iterator[tuple[Any, Any]], Any]:
    """The pairs of flat index and weight of which a sample is the sum; which points lie outside."""
    axes = [_axis_terms(c, n, order, mode, nu) for c, n, nu in zip(points, shape, nus, strict=True)]
    outside = np.any([out for _, out in axes], axis=0)

    def pairs() -> Iterator[tuple[Any, Any]]:
        for choice in itertools.product(*(terms for terms, _ in axes)):
            index = np.ravel_multi_index(tuple(i for i, _ in choice), shape)
            weight = np.where(outside, 0.0, 1.0)
            for _, w in choice:
                weight = weight * w
            yield index, weight

    return pairs(), outside


# ---- the two primitives ----------------------------------------------------------------------------------------------
def _sample(x, points, order=1, mode=CONSTANT, nus=()):
    """The spline of these coefficients at the points (axis 0 counts the coordinates); zero outside."""
    nus = nus or (0,) * x.ndim
    if any(nu > order for nu in nus):
        return np.zeros(points.shape[1:], x.dtype)
    if not any(nus):
        names = {NEAREST: "nearest", WRAP: "wrap", REFLECT: "reflect", MIRROR: "mirror", CONSTANT: "constant"}
        name = {**names, GRID_WRAP: "grid-wrap", GRID_CONSTANT: "grid-constant"}[mode]
        return theirs.map_coordinates(x, points, order=order, mode=name, prefilter=False)
    out, flat = np.zeros(points.shape[1:], np.result_type(x.dtype, np.float64)), x.reshape(-1)
    for index, weight in _terms(points, x.shape, order, mode, nus)[0]:
        out += flat[index] * weight
    return out.astype(x.dtype)


def _spread(v, points, shape=(), order=1, mode=CONSTANT, nus=()):
    """The coefficients to which values at the points are added: the transpose of `_sample`."""
    out = np.zeros(int(np.prod(shape)), np.result_type(v.dtype, np.float64))
    if not any(nu > order for nu in nus):
        for index, weight in _terms(points, shape, order, mode, nus or (0,) * len(shape))[0]:
            np.add.at(out, index.reshape(-1), (v * weight).reshape(-1))
    return out.reshape(shape).astype(v.dtype)


def _raised(nus: Any, k: int, ndim: int) -> tuple[int, ...]:
    nus = nus or (0,) * ndim
    return tuple(nu + (i == k) for i, nu in enumerate(nus))


def _slopes(coefficients: Any, points: Any, order: int, mode: int, nus: Any) -> Any:
    """The derivative of a sample in each coordinate."""
    n = coefficients.ndim
    return np.stack([SAMPLE(coefficients, points, order, mode, _raised(nus, k, n)) for k in range(n)])


SAMPLE = custom(
    _sample,
    {
        "x": lambda ct, x, points, order=1, mode=CONSTANT, nus=(): SPREAD(
            ct, points, x.shape, order, mode, nus
        ),
        "points": lambda ct, x, points, order=1, mode=CONSTANT, nus=(): (
            ct * _slopes(x, points, order, mode, nus)
        ),
    },
    operands="x points",
    name="scipy.ndimage.map_coordinates",
)
SPREAD = custom(
    _spread,
    {
        "v": lambda ct, points, order=1, mode=CONSTANT, nus=(): SAMPLE(ct, points, order, mode, nus),
        "points": lambda ct, v, points, order=1, mode=CONSTANT, nus=(): (
            v * _slopes(ct, points, order, mode, nus)
        ),
    },
    operands="v points",
    name="scipy.ndimage.map_coordinates",
)


def sampled(x: Any, points: Any, order: int, mode: int, cval: Any) -> Any:
    """The values at the points: `cval` (or a spline through it) where they lie outside."""
    x, points = _inexact(x), as_array(points)
    points = points if points.dtype.kind == "f" else points.astype(np.float64)
    if mode in (CONSTANT, GRID_CONSTANT):
        return SAMPLE(x - cval, points, order, mode) + cval
    return SAMPLE(x, points, order, mode)


# ---- what SciPy's compiled code does with it -------------------------------------------------------------------------
def _grid(shape: Any, dtype: Any = np.float64) -> Any:
    return np.indices(shape).astype(dtype)


def _geometric_transform(
    input: Any, mapping: Any, points: Any, matrix: Any, offset: Any, output: Any, order: int, mode: int, cval: Any,
    pad: int, args: Any, named: Any,
) -> None:  # fmt: skip
    shape = output.shape
    if mapping is not None:
        import funcgrad.numpy as fgnp

        found = [fgnp.stack([fgnp.asarray(c) for c in mapping(k, *args, **named)]) for k in np.ndindex(shape)]
        points = np.moveaxis(fgnp.stack(found).reshape((*shape, input.ndim)), -1, 0)
    elif points is None:
        points = np.tensordot(as_array(matrix), _grid(shape), 1) + np.reshape(
            offset, (-1,) + (1,) * len(shape)
        )
    written(output, sampled(input, points + pad if pad else points, order, mode, cval))


def _zoom_shift(
    input: Any, zoom: Any, shift: Any, output: Any, order: int, mode: int, cval: Any, pad: int, grid_mode: Any
) -> None:
    ones = (1,) * input.ndim
    points = _grid(output.shape)
    if shift is not None:
        points = points + np.reshape(shift, (-1, *ones))
    if zoom is not None:
        half = 0.5 if grid_mode else 0.0
        points = (points + half) * np.reshape(zoom, (-1, *ones)) - half
    written(output, sampled(input, points + pad, order, mode, cval))


# ---- the coefficients of a spline through an image -------------------------------------------------------------------
def _coefficients(x, order=3, axis=-1, mode=MIRROR):
    out = np.empty(x.shape, np.float64)
    _nd_image.spline_filter1d(x, order, axis, out, mode)
    return out


def _coefficients_pull(ct, order=3, axis=-1, mode=MIRROR):
    """The filter is symmetric, once elements that are not repeated beyond an edge are weighted by a half."""
    if mode == GRID_WRAP:
        return COEFFICIENTS(ct, order, axis, mode)
    if mode in (REFLECT, NEAREST):
        return REFLECTED(ct, order, axis)
    n = ct.shape[axis]
    weights = np.ones(n)
    weights[[0, -1]] = 0.5
    weights = weights.reshape((-1,) + (1,) * (ct.ndim - 1 - axis % ct.ndim))
    return weights * COEFFICIENTS(ct / weights, order, axis, mode)


POLES = {
    2: [8**0.5 - 3],
    3: [3**0.5 - 2],
    4: [(664 - 438976**0.5) ** 0.5 + 304**0.5 - 19, (664 + 438976**0.5) ** 0.5 - 304**0.5 - 19],
    5: [(67.5 - 4436.25**0.5) ** 0.5 + 26.25**0.5 - 6.5, (67.5 + 4436.25**0.5) ** 0.5 - 26.25**0.5 - 6.5],
}


def _first_weights(n: int, z: float) -> Any:
    """The weights of the sum that starts SciPy's filter at mirrored edges; the last term takes the rest."""
    share, powers = z**n, z ** np.arange(n)
    total = np.zeros(n)
    total[0], total[-1] = 1.0, share
    total[1 : n - 1] += powers[1 : n - 1] + share * powers[1 : n - 1][::-1]
    total = total * (1 + share * powers[-1])
    total[-1] += powers[-1]
    total *= z / (1 - share**2)
    total[0] += 1.0
    return total


def _reflected(x, order=3, axis=-1):
    """The transpose of SciPy's filter for mirrored edges, pole by pole; only its first value is special."""
    x = np.moveaxis(x, axis, -1).astype(np.float64)
    for z in reversed(POLES.get(order, []) if x.shape[-1] > 1 else []):
        ahead: Any = signal.lfilter([1.0], [1.0, -z], x)
        ahead = np.concatenate([-z * ahead[..., :-1], z / (z - 1) * ahead[..., -1:]], axis=-1)
        back: Any = signal.lfilter([1.0], [1.0, -z], ahead[..., ::-1])
        back = back[..., ::-1]
        x = np.concatenate([0 * back[..., :1], back[..., 1:]], axis=-1) + back[..., :1] * _first_weights(
            x.shape[-1], z
        )
        x = x * (1 - z) * (1 - 1 / z)
    return np.moveaxis(x, -1, axis)


COEFFICIENTS = linear(_coefficients, _coefficients_pull, batch="axis", name="scipy.ndimage.spline_filter1d")
REFLECTED = linear(
    _reflected,
    lambda ct, order=3, axis=-1: COEFFICIENTS(ct, order, axis, REFLECT),
    name="scipy.ndimage.spline_filter1d",
)


def _spline_filter1d(input: Any, order: int, axis: int, output: Any, mode: int) -> None:
    written(output, COEFFICIENTS(_inexact(input), order, axis, mode))


leaves(
    "scipy.ndimage._nd_image",
    geometric_transform=_geometric_transform,
    zoom_shift=_zoom_shift,
    spline_filter1d=_spline_filter1d,
)
ndimage.rerun(
    "affine_transform geometric_transform map_coordinates rotate shift spline_filter spline_filter1d zoom"
)
