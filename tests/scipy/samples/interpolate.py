"""Samples of scipy.interpolate: in points of evaluation, values, and nodes where smooth."""

import numpy as np

from funcgrad.scipy import interpolate
from tests.rules.samples import A, S
from tests.scipy.samples import since

X, Y, Q = np.array([-2.0, -1.1, -0.3, 0.4, 1.3, 2.1]), A(6), np.array([-0.62, 0.13, 0.9])
T = np.array([-2.0] * 4 + [-0.6, 0.5] + [2.0] * 4)
GRID = (np.array([0.0, 1.1, 2.3, 3.0]), np.array([0.0, 0.8, 2.0, 3.1, 4.0]))
P = np.array([[0.4, 0.7], [1.9, 2.6]])
SQUARE = np.array([0.0] * 4 + [1.0] * 4)
SCATTERED = np.array([[0.1, 0.2], [3.9, 0.3], [0.2, 4.1], [4.0, 3.8], [1.9, 2.2], [3.0, 1.0]])


def of(name, function, *args):
    """A sample of the class (or function) of that name, by what is made with it."""
    return S(function, *args).but(covers=getattr(interpolate, name), label=name, rolls=False)


def made(name, method="__call__", *rest, **options):
    """The value at points of an interpolator of nodes and values."""

    def call(x, y, q):
        found = getattr(interpolate, name)(x, y, **options)
        return getattr(found, method)(q, *rest) if method == "__call__" else getattr(found, method)(*rest)(q)

    return call


SAMPLES = [
    *(
        of(name, made(name, **options), X, Y, Q)
        for name, options in [
            ("interp1d", {}), ("CubicSpline", {}), ("CubicSpline", {"bc_type": "natural"}), ("PchipInterpolator", {}),
            ("Akima1DInterpolator", {}), ("make_interp_spline", {}), ("make_interp_spline", {"k": 2}),
            ("BarycentricInterpolator", {}), ("KroghInterpolator", {}), ("InterpolatedUnivariateSpline", {}),
        ]
    ),
    of("CubicSpline", made("CubicSpline", "derivative", 2), X, Y, Q),
    of("CubicSpline", lambda x, y, a, b: interpolate.CubicSpline(x, y).integrate(a, b), X, Y, -0.6, 1.1),
    of("CubicSpline", lambda x, y, q: interpolate.CubicSpline(x, y).antiderivative(2)(q), X, Y, Q),
    of("BSpline", lambda c, q: interpolate.BSpline(T, c, 3)(q), Y, Q),
    of("BSpline", lambda c, q: interpolate.BSpline(T, c, 3)(q, nu=1), Y, Q),
    of("PPoly", lambda c, q: interpolate.PPoly(c, X[:3])(q), A(3, 2), np.array([-1.4, -0.6])),
    of("BPoly", lambda c, q: interpolate.BPoly(c, X[:3])(q, nu=1), A(3, 2), np.array([-1.4, -0.6])),
    of("make_lsq_spline", lambda y: interpolate.make_lsq_spline(np.linspace(-2, 2, 8), y, T[[0, 1, 2, 3, 5, 6, 7, 8, 9]])(Q), A(8)),
    of("make_smoothing_spline", lambda y: interpolate.make_smoothing_spline(np.linspace(-2, 2, 8), y, lam=0.3)(Q), A(8)),
    of("splrep", lambda x, y, q: interpolate.splev(q, interpolate.splrep(x, y)), X, Y, Q),
    of("splint", lambda y, a, b: interpolate.splint(a, b, interpolate.splrep(X, y)), Y, -0.5, 0.9),
    of("sproot", lambda x, y: interpolate.sproot(interpolate.splrep(x, y)), X, np.sin(2 * X)).but(tol=1e-5, float32=False),
    of("UnivariateSpline", lambda y: interpolate.UnivariateSpline(X, y, s=0).roots(), np.sin(2 * X)).but(tol=1e-5, float32=False),
    of("UnivariateSpline", lambda y: interpolate.UnivariateSpline(X, y, s=0).integral(-0.5, 0.9), Y),
    of("splprep", lambda y: interpolate.splev([0.3, 0.6], interpolate.splprep(y, s=0)[0]), A(2, 6)),
    of("RectBivariateSpline", lambda z, x, y: interpolate.RectBivariateSpline(*GRID, z)(x, y), A(4, 5), P[:, 0], P[:, 1]),
    of("RectBivariateSpline", lambda z, x: interpolate.RectBivariateSpline(*GRID, z).ev(x, [0.7, 2.6]), A(4, 5), P[:, 0]),
    of("bisplev", lambda c, x: interpolate.bisplev(x, [0.4], (SQUARE, SQUARE, c, 3, 3)), A(16), np.array([0.3, 0.7])),
    *(
        of("RegularGridInterpolator", lambda v, p, m=m: interpolate.RegularGridInterpolator(GRID, v, method=m)(p), A(4, 5), P)
        for m in ("linear", "slinear", "cubic", "pchip")
    ),
    of("interpn", lambda v, p: interpolate.interpn(GRID, v, p), A(4, 5), P),
    *(
        since("1.17", of("RBFInterpolator", lambda y, v, q, k=k: interpolate.RBFInterpolator(y, v, kernel=k, epsilon=1.5)(q), SCATTERED, Y, P))
        for k in ("thin_plate_spline", "cubic", "gaussian")
    ),
    of("griddata", lambda y, v, q: interpolate.griddata(y, v, q, method="linear"), SCATTERED, Y, P + 0.6),
    of("NdPPoly", lambda c, p: interpolate.NdPPoly(c, ([0.0, 1.0], [0.0, 1.0]))(p), A(2, 2, 1, 1), P / 4),
    of("NdBSpline", lambda c, p: interpolate.NdBSpline((SQUARE, SQUARE), c, 3)(p), A(4, 4), P / 4),
]  # fmt: skip
