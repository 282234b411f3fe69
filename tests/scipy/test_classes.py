"""Objects made of plain arrays take tracers afterwards, and give SciPy's own results without."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy import interpolate as theirs

from funcgrad import grad, vmap
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.scipy import interpolate, stats

X = np.linspace(-2.0, 2.0, 7)
Y = np.sin(X)
MADE = {
    "CubicSpline": lambda: interpolate.CubicSpline(X, Y),
    "PchipInterpolator": lambda: interpolate.PchipInterpolator(X, Y),
    "make_interp_spline": lambda: interpolate.make_interp_spline(X, Y),
    "make_splrep": lambda: (
        interpolate.make_splrep(X, Y, s=0.01)
        if hasattr(theirs, "make_splrep")
        else interpolate.CubicSpline(X, Y)
    ),
    "UnivariateSpline": lambda: interpolate.UnivariateSpline(X, Y, s=0.01),
    "derivative": lambda: interpolate.CubicSpline(X, Y).derivative().antiderivative(),
    "interp1d": lambda: interpolate.interp1d(X, Y),
    "gaussian_kde": lambda: lambda q: stats.gaussian_kde(Y)(q)[0],
    "RegularGridInterpolator": lambda: (
        lambda q: interpolate.RegularGridInterpolator((X,), Y, method="cubic")(np.stack([q])[None])[0]
    ),
}


@pytest.mark.parametrize("name", MADE)
def test_what_was_made_of_plain_arrays_takes_tracers(name: str) -> None:
    f, h = MADE[name](), 1e-5
    slope = (float(np.squeeze(f(0.3 + h))) - float(np.squeeze(f(0.3 - h)))) / (2 * h)
    np.testing.assert_allclose(grad(lambda q: f(q) * 1.0)(0.3), slope, rtol=1e-7)
    np.testing.assert_allclose(vmap(f)(np.array([0.1, 0.3])), [float(np.squeeze(f(q))) for q in (0.1, 0.3)])


def test_objects_are_scipys() -> None:
    ours, plain = interpolate.CubicSpline(X, Y), theirs.CubicSpline(X, Y)
    assert isinstance(ours, theirs.PPoly)
    np.testing.assert_array_equal(ours(0.3), plain(0.3))
    np.testing.assert_array_equal(ours.c, plain.c)


def test_objects_of_a_batch() -> None:
    rows = np.stack([Y, Y**2, 1 + Y])
    found = vmap(lambda y: interpolate.CubicSpline(X, y).integrate(-1.0, 0.7))(rows)
    np.testing.assert_allclose(found, [theirs.CubicSpline(X, y).integrate(-1.0, 0.7) for y in rows])


def test_a_search_for_knots_is_refused() -> None:
    with pytest.raises(UnsupportedFunctionError, match="searches for its knots"):
        grad(lambda y: interpolate.UnivariateSpline(X, y, s=0.1)(0.3))(Y)
