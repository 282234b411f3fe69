"""Samples of scipy.ndimage: filters, sampling at other points, filters that choose, measurements."""

import numpy as np

from funcgrad.scipy import ndimage
from tests.rules.samples import A, C, S

X = A(4, 5)
POINTS = np.array([[0.3, 1.6, 2.4], [2.7, 0.9, 1.2]])
BEYOND = np.array([[-1.3, 1.6, 5.4], [2.7, -0.8, 6.2]])
LABELS = np.array([[0, 1, 1, 2, 2], [0, 1, 1, 2, 2], [3, 3, 1, 2, 0], [3, 3, 0, 0, 0]])


def of(name, function, *args):
    """A sample of the function of that name through another one."""
    return S(function, *args).but(covers=getattr(ndimage, name), label=name)


MODES = ("reflect", "mirror", "nearest", "wrap", "constant")
SAMPLES = [
    *(of("correlate1d", lambda x, w, m=m: ndimage.correlate1d(x, w, axis=0, mode=m, cval=0.7, origin=1), X, A(3)) for m in MODES),
    *(of("convolve", lambda x, w, m=m: ndimage.convolve(x, w, mode=m), X, A(3, 2)) for m in MODES[:3]),
    of("correlate", lambda x, w: ndimage.correlate(x, w), C(4, 4), C(2, 3)),
    of("gaussian_filter", lambda x, s: ndimage.gaussian_filter(x, s), X, 0.8), S(ndimage.sobel, X), S(ndimage.laplace, X, mode="wrap"),
    S(ndimage.gaussian_gradient_magnitude, X, 0.9).but(wrt=(0,)), S(ndimage.uniform_filter, X, 3).but(wrt=(0,)),
    *(
        of("map_coordinates", lambda x, c, o=o, m=m: ndimage.map_coordinates(x, c, order=o, mode=m, cval=0.3), X, c)
        for o, m, c in [
            (1, "constant", POINTS), (3, "reflect", POINTS), (2, "mirror", BEYOND), (3, "nearest", BEYOND), (1, "grid-wrap", BEYOND),
            (4, "mirror", POINTS), (3, "grid-constant", BEYOND),
        ]
    ),
    of("zoom", lambda x: ndimage.zoom(x, 1.4, order=2), X), of("zoom", lambda x: ndimage.zoom(x, 1.5, order=1, grid_mode=True, mode="nearest"), X),
    of("rotate", lambda x, t: ndimage.rotate(x, t, reshape=False, order=1), X, 25.0),
    of("shift", lambda x, s: ndimage.shift(x, s, order=3, mode="mirror"), X, np.array([0.3, -0.6])),
    of("affine_transform", lambda x, m, o: ndimage.affine_transform(x, m, o, order=1), X, np.array([[0.83, 0.11], [-0.19, 0.71]]), np.array([0.71, 0.43])),
    of("geometric_transform", lambda x: ndimage.geometric_transform(x, lambda c: (c[0] * 0.8 + 0.1, c[1] * 0.7 + 0.2), order=1), X),
    S(ndimage.spline_filter, X).but(float32=False), of("median_filter", lambda x: ndimage.median_filter(x, 3), X),
    of("percentile_filter", lambda x: ndimage.percentile_filter(x, 30, size=3), X), of("maximum_filter", lambda x: ndimage.maximum_filter(x, 3), X),
    of("grey_dilation", lambda x, s: ndimage.grey_dilation(x, structure=s), X, A(3, 3)), S(ndimage.white_tophat, X, 3).but(wrt=(0,)),
    *(of(name, lambda x, name=name: getattr(ndimage, name)(x, LABELS, [1, 2, 3]), X) for name in ("sum", "mean", "variance", "maximum", "median")),
    of("center_of_mass", lambda x: np.array(ndimage.center_of_mass(x, LABELS, 2), like=x), X + 3),
    S(ndimage.fourier_gaussian, C(3, 4), 0.8).but(wrt=(0,)), of("fourier_shift", lambda x: ndimage.fourier_shift(x, 0.4), C(3, 4)),
    of("generic_filter", lambda x: ndimage.generic_filter(x, lambda w: np.sum(w**2), size=3), X),
]  # fmt: skip
