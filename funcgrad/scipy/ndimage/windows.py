"""Linear filters: correlation with a window, of an image that goes on beyond its edges; and Fourier filters.

SciPy's own code runs down to its compiled loops, for which these rules stand. One primitive serves them: the
correlation of a padded image with a window, where that lies within. Its transposes are such correlations,
too: of the padded cotangent with the window turned around, and of the image with the cotangent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import ndimage as theirs
from scipy import signal

from funcgrad.core.arrays.ufunc import as_array
from funcgrad.core.engine.declare import multilinear
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.rerun import leaves, private

ndimage = Chapter("ndimage")
_nd_image = private("scipy.ndimage._nd_image")
SMALL = 600  # up to so many elements in a window (or in the result) each is a step of a loop

# What lies beyond the edges: SciPy's codes, as np.pad knows them.
EDGES: dict[int, Any] = {
    0: "edge",
    1: "wrap",
    2: "symmetric",
    3: "reflect",
    4: "constant",
    5: "wrap",
    6: "constant",
}


def _within(x, w):
    """The sum over k of w[k] x[n + k], for all n where the window lies within x."""
    shape = tuple(n - m + 1 for n, m in zip(x.shape, w.shape, strict=True))
    long = [axis for axis, m in enumerate(w.shape) if m > 1]
    if len(long) <= 1 and w.size <= SMALL:
        axis = long[0] if long else 0
        whole = theirs.correlate1d(x, np.conj(w.reshape(-1)), axis, mode="constant")
    elif w.size <= SMALL:
        whole = theirs.correlate(x, np.conj(w), mode="constant")
    elif np.prod(shape) <= SMALL:
        parts = [np.sum(x[tuple(slice(i, i + m) for i, m in zip(k, w.shape))] * w) for k in np.ndindex(shape)]
        return np.reshape(np.array(parts, np.result_type(x, w)), shape)
    else:
        return signal.correlate(x, np.conj(w), "valid").astype(np.result_type(x, w), copy=False)
    return whole[tuple(slice(m // 2, m // 2 + n) for n, m in zip(shape, w.shape))]


def _turned(w: Any) -> Any:
    return np.flip(w, tuple(range(w.ndim)))


def _surrounded(ct: Any, w: Any) -> Any:
    return np.pad(ct, [(m - 1, m - 1) for m in w.shape])


WITHIN = multilinear(
    _within,
    lambda ct, x, w: WITHIN(_surrounded(ct, w), _turned(w)),
    lambda ct, w, x: WITHIN(x, ct),
    operands="x w",
    name="scipy.ndimage.correlate",
)


def padded(x: Any, margins: Any, mode: int, cval: Any) -> Any:
    """`x` as it goes on beyond its edges."""
    options = {"constant_values": cval} if EDGES[mode] == "constant" else {}
    return np.pad(x, margins, EDGES[mode], **options)


def written(output: Any, value: Any) -> None:
    """`value` in the place that SciPy's compiled code writes to."""
    output[...] = value.astype(output.dtype) if value.dtype != output.dtype else value


def _inexact(x: Any) -> Any:
    x = as_array(x)
    return x if x.dtype.kind in "fc" else x.astype(np.float64)


def _correlated(x: Any, w: Any, output: Any, mode: int, cval: Any, origins: Any) -> None:
    x, w = _inexact(x), _inexact(w)
    before = [m // 2 + o for m, o in zip(w.shape, origins, strict=True)]
    margins = [(b, m - 1 - b) for b, m in zip(before, w.shape)]
    written(output, WITHIN(padded(x, margins, mode, cval), w.astype(x.dtype)))


def _correlate(input: Any, weights: Any, output: Any, mode: int, cval: Any, origins: Any) -> None:
    _correlated(input, weights, output, mode, cval, origins)


def _correlate1d(input: Any, weights: Any, axis: int, output: Any, mode: int, cval: Any, origin: int) -> None:
    shape, origins = [1] * input.ndim, [0] * input.ndim
    shape[axis], origins[axis] = weights.shape[0], origin
    _correlated(input, as_array(weights).reshape(shape), output, mode, cval, origins)


def _uniform_filter1d(
    input: Any, size: int, axis: int, output: Any, mode: int, cval: Any, origin: int
) -> None:
    _correlate1d(input, np.full(size, 1 / size), axis, output, mode, cval, origin)


def _fourier(leaf: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that multiplies by numbers, which are those that it makes of ones."""

    def call(input: Any, amounts: Any, n: int, axis: int, output: Any, *kind: int) -> None:
        factors = np.empty(input.shape, np.complex128 if leaf is _nd_image.fourier_shift else np.float64)
        leaf(np.ones(input.shape, factors.dtype), np.asarray(amounts), n, axis, factors, *kind)
        written(output, _inexact(input) * factors)

    return call


leaves(
    "scipy.ndimage._nd_image",
    correlate=_correlate,
    correlate1d=_correlate1d,
    uniform_filter1d=_uniform_filter1d,
    fourier_filter=_fourier(_nd_image.fourier_filter),
    fourier_shift=_fourier(_nd_image.fourier_shift),
)
ndimage.rerun(
    "convolve convolve1d correlate correlate1d gaussian_filter gaussian_filter1d gaussian_gradient_magnitude gaussian_laplace "
    "generic_gradient_magnitude generic_laplace laplace prewitt sobel uniform_filter uniform_filter1d vectorized_filter "
    "fourier_ellipsoid fourier_gaussian fourier_shift fourier_uniform"
)


# ---- filters by functions of the user's ------------------------------------------------------------------------------
def _generic_filter1d(
    input: Any,
    function: Any,
    size: int,
    axis: int,
    output: Any,
    mode: int,
    cval: Any,
    origin: int,
    args: Any,
    named: Any,
) -> None:
    import funcgrad.numpy as fgnp

    before = size // 2 + origin
    margins = [(before, size - 1 - before) if k == axis else (0, 0) for k in range(input.ndim)]
    lines = np.moveaxis(padded(_inexact(input), margins, mode, cval), axis, -1)
    shape = np.moveaxis(np.empty(input.shape), axis, -1).shape
    made = []
    for place in np.ndindex(*shape[:-1]):
        line = fgnp.zeros(shape[-1])
        function(lines[place], line, *args, **named)
        made.append(line)
    written(output, np.moveaxis(fgnp.stack(made).reshape(shape), -1, axis))


def _generic_filter(
    input: Any,
    function: Any,
    footprint: Any,
    output: Any,
    mode: int,
    cval: Any,
    origins: Any,
    args: Any,
    named: Any,
) -> None:
    import funcgrad.numpy as fgnp

    before = [m // 2 + o for m, o in zip(footprint.shape, origins, strict=True)]
    whole = padded(_inexact(input), [(b, m - 1 - b) for b, m in zip(before, footprint.shape)], mode, cval)
    values = []
    for place in np.ndindex(*input.shape):
        window = whole[tuple(slice(i, i + m) for i, m in zip(place, footprint.shape))]
        values.append(function(window[footprint], *args, **named))
    written(output, fgnp.stack([fgnp.asarray(v) for v in values]).reshape(input.shape))


leaves("scipy.ndimage._nd_image", generic_filter1d=_generic_filter1d, generic_filter=_generic_filter)
ndimage.rerun("generic_filter generic_filter1d")
