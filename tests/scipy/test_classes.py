"""Objects made of plain arrays take tracers afterwards, and give SciPy's own results without."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy import interpolate as theirs
from scipy import signal as theirs_of_signal
from scipy import stats as theirs_of_stats

from funcgrad import grad, jvp, tree, vjp, vmap
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.scipy import interpolate, linalg, optimize, signal, stats

X = np.linspace(-2.0, 2.0, 7)
Y = np.sin(X)
POINTS = np.array([[0.0, 0.1], [2.0, 0.0], [2.2, 1.9], [0.1, 2.0], [1.0, 1.1], [0.4, 0.7]])
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


@pytest.mark.parametrize("name", ["BarycentricInterpolator", "FloaterHormannInterpolator"])
def test_quotients_at_and_beside_their_nodes(name: str) -> None:
    if not hasattr(interpolate, name):
        pytest.skip(f"this SciPy has no {name}")
    made = getattr(interpolate, name)
    nodes, values = np.linspace(0.0, 2.0, 5), np.array([0.4, 1.2, 0.7, 1.5, 0.9])
    f = lambda q: made(nodes, values)(q)
    points = np.array([1.5, 1.5 + 1e-9, 0.0, 0.3])
    h = 1e-3
    plain = getattr(theirs, name)(nodes, values)
    first = (8 * (plain(points + h) - plain(points - h)) - plain(points + 2 * h) + plain(points - 2 * h)) / (
        12 * h
    )
    np.testing.assert_allclose([grad(f)(q) for q in points], first, rtol=1e-6)
    np.testing.assert_allclose(vmap(grad(f))(points), first, rtol=1e-6)
    slope = lambda q: (grad(f)(q + h) - grad(f)(q - h)) / (2 * h)
    np.testing.assert_allclose([grad(grad(f))(q) for q in points], [slope(q) for q in points], rtol=1e-4)
    at_nodes = vjp(lambda y: made(nodes, y)(nodes[::-1]), values)
    np.testing.assert_allclose(at_nodes[0], values[::-1], rtol=1e-14)
    np.testing.assert_allclose(at_nodes[1](np.arange(5.0))[0], np.arange(5.0)[::-1], atol=1e-12)


def test_a_grid_s_cubic_spline_is_solved_to_the_last_digit() -> None:
    """SciPy solves for the coefficients by an iteration that stops early; the spline itself is unique."""
    xs, values = np.linspace(0.0, 2.0, 8), np.outer(np.sin(X[:-1]), np.cos(X))
    rows, points = xs[: values.shape[0]], np.array([[0.33, 1.21], [1.0, 0.4]])
    grid = (rows, xs[: values.shape[1]])
    f = lambda v: interpolate.RegularGridInterpolator(grid, v, method="cubic")(points)
    value, pushed = jvp(f, (values,), (values,))
    exact = theirs.RectBivariateSpline(*grid, values, s=0).ev(*points.T)
    np.testing.assert_allclose(value, exact, rtol=1e-12)
    np.testing.assert_allclose(pushed, exact, rtol=1e-12)


def test_linear_systems_of_plain_arrays_are_of_their_kind() -> None:
    """`lti` and the like choose a class of the same module, in which their methods are."""
    num, den, times = [1.0, 0.5], np.array([1.0, 0.7, 0.3]), np.arange(4.0)
    for name in ("lti", "TransferFunction"):
        ours, plain = getattr(signal, name)(num, den), getattr(theirs_of_signal, name)(num, den)
        assert isinstance(ours, type(plain))
        np.testing.assert_array_equal(ours.step(T=times)[1], plain.step(T=times)[1])
        assert ours.to_zpk().poles.dtype == complex
    sampled = signal.dlti(num, den, dt=0.1)
    np.testing.assert_array_equal(
        sampled.impulse(n=4)[1][0], theirs_of_signal.dlti(num, den, dt=0.1).impulse(n=4)[1][0]
    )
    slope = grad(lambda w: np.abs(signal.lti(num, den).freqresp(w[None])[1])[0])(0.3)
    h = 1e-6
    plain = theirs_of_signal.lti(num, den)
    there = [abs(plain.freqresp([w])[1][0]) for w in (0.3 + h, 0.3 - h)]
    np.testing.assert_allclose(slope, (there[0] - there[1]) / (2 * h), rtol=1e-6)


@pytest.mark.parametrize("name", ["linregress", "pearsonr", "ttest_ind"])
def test_results_with_attributes_pass_through_transforms(name: str) -> None:
    """They are tuples with names, and some have more than their items."""
    rows, y = np.sin(np.arange(21.0)).reshape(3, 7), np.arange(7.0) ** 2
    run = lambda module: lambda x: getattr(module, name)(x, y)
    found, expected = vmap(run(stats))(rows), [run(theirs_of_stats)(x) for x in rows]
    assert isinstance(found, type(expected[0]))
    for k, item in enumerate(found):
        np.testing.assert_allclose(item, [e[k] for e in expected])
    for further in ("intercept_stderr", "df"):
        if hasattr(expected[0], further):
            np.testing.assert_allclose(getattr(found, further), [getattr(e, further) for e in expected])
    out, pull = vjp(run(stats), rows[0])
    _, pushed = jvp(run(stats), (rows[0],), (rows[1],))
    ones = tree.map(np.ones_like, out)
    slope = sum(np.sum(leaf) for leaf in tree.leaves(pushed) if leaf.dtype.kind == "f")
    np.testing.assert_allclose(np.sum(pull(ones)[0] * rows[1]), slope)
    if name == "ttest_ind":
        assert out.confidence_interval() == expected[0].confidence_interval()


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (lambda v: interpolate.griddata(POINTS, v, POINTS[:2], method="cubic"), "RBFInterpolator"),
        (lambda v: interpolate.CloughTocher2DInterpolator(POINTS, np.ones(6))(v, v), "RBFInterpolator"),
        (lambda v: interpolate.bisplrep(*POINTS.T, v, kx=1, ky=1), "RectBivariateSpline"),
        (lambda v: linalg.qz(np.outer(v, v), np.eye(6)), "eigvals"),
        (lambda v: optimize.milp(v), "linprog"),
    ],
)
def test_what_has_no_derivative_says_what_to_write(call, hint: str) -> None:
    with pytest.raises(UnsupportedFunctionError, match=hint):
        grad(lambda v: call(v).sum())(np.arange(6.0))
