"""Distributions: derivatives in the variable and each shape, against differences and mpmath."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy import stats as theirs

import funcgrad as fg
from funcgrad import grad, hessian, jvp, vjp, vmap
from funcgrad.errors import NonDifferentiableError
from funcgrad.scipy import optimize, stats
from funcgrad.testing import check_grads

CONTINUOUS = {
    "norm": (), "t": (4.3,), "chi2": (3.2,), "gamma": (1.7,), "invgamma": (4.5,), "beta": (1.6, 2.3),
    "f": (4.1, 9.5), "lognorm": (0.7,), "weibull_min": (1.8,), "weibull_max": (1.8,), "pareto": (4.4,),
    "truncnorm": (-1.3, 1.9), "skewnorm": (1.2,), "genextreme": (-0.2,), "genpareto": (0.15,),
    "vonmises": (1.3,), "gompertz": (0.9,), "invgauss": (0.8,), "loggamma": (1.4,), "nakagami": (1.5,),
    "exponnorm": (1.1,), "fisk": (5.3,), "triang": (0.4,), "loguniform": (0.3, 1.8), "kappa4": (0.1,
    0.2), "ncx2": (3.1, 1.2), "ncf": (4.0, 9.0, 0.8), "nct": (5.2, 0.6), "genhyperbolic": (0.7, 1.6,
    0.4), "geninvgauss": (1.2, 0.9), "gausshyper": (1.5, 2.1, 1.0, 0.5), "pearson3": (0.6,), "dweibull":
    (1.8,), "gumbel_r": (), "laplace": (), "cauchy": (), "logistic": (), "rayleigh": (), "landau": (),
    "kstwobign": (), "johnsonsu": (0.3, 1.4), "levy": (), "moyal": (), "burr": (4.2, 1.3),
    "tukeylambda": (0.4,), "rice": (0.9,),
}  # fmt: skip
SLOW = ("genhyperbolic", "nct", "gausshyper", "geninvgauss")  # integrals of integrals
DISCRETE = {
    "binom": (7, 0.35), "poisson": (2.3,), "geom": (0.4,), "nbinom": (3.5, 0.4), "bernoulli": (0.3,), "betabinom": (6, 1.4, 2.2),
    "zipfian": (1.4, 5), "skellam": (1.7, 1.1), "logser": (0.6,), "planck": (0.7,), "dlaplace": (0.8,), "boltzmann": (0.5, 6),
    "nchypergeom_fisher": (12, 5, 6, 1.4), "nchypergeom_wallenius": (12, 5, 6, 1.4), "yulesimon": (2.7,),
}  # fmt: skip


def shapes(values: tuple) -> tuple[list[float], list[int]]:
    """The shape parameters that are differentiated, and their places (counts are whole)."""
    places = [k for k, v in enumerate(values) if isinstance(v, float)]
    return [values[k] for k in places], places


def method(name: str, kind: str, fixed: tuple):
    places = shapes(fixed)[1]

    def call(x, *varied):
        args = list(fixed)
        for k, v in zip(places, varied, strict=True):
            args[k] = v
        return getattr(getattr(stats, name), kind)(x, *args)

    return call


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous_methods_in_everything(name: str) -> None:
    fixed = CONTINUOUS[name]
    plain = getattr(theirs, name)
    x = float(plain.ppf(0.37, *fixed))
    kinds = [("logpdf", x), ("cdf", x), ("ppf", 0.37)]
    for kind, at in kinds[: 1 if name in SLOW else None]:
        call = method(name, kind, fixed)
        value = jvp(call, (at, *fixed), (1.0,) * (1 + len(fixed)))[0]
        np.testing.assert_allclose(value, getattr(plain, kind)(at, *fixed), rtol=1e-9)
        check_grads(call, (at, *fixed), order=1, atol=2e-6, rtol=2e-6)


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete_methods_in_their_parameters(name: str) -> None:
    fixed = DISCRETE[name]
    varied, _ = shapes(fixed)
    k = float(getattr(theirs, name).ppf(0.45, *fixed))
    for kind in ("logpmf", "cdf", "sf"):
        call = method(name, kind, fixed)
        check_grads(lambda *v: call(k, *v), tuple(varied), order=1, atol=2e-6, rtol=2e-6)


@pytest.mark.parametrize(("name", "fixed"), [("gamma", (1.7,)), ("t", (4.3,)), ("beta", (1.6, 2.3))])
def test_second_derivatives_in_shape_parameters(name: str, fixed: tuple) -> None:
    x = float(getattr(theirs, name).ppf(0.3, *fixed))
    check_grads(method(name, "cdf", fixed), (x, *fixed), order=2, atol=1e-5, rtol=1e-5)


def test_shape_derivatives_keep_their_digits_in_the_tails() -> None:
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(160):
        for x, a in ((1e-8, 2.5), (0.3, 40.0), (60.0, 2.5)):
            lower = float(mpmath.diff(lambda a: mpmath.gammainc(a, 0, x, regularized=True), a))
            upper = float(mpmath.diff(lambda a: mpmath.gammainc(a, x, mpmath.inf, regularized=True), a))
            np.testing.assert_allclose(grad(lambda a: stats.gamma.cdf(x, a))(a), lower, rtol=1e-9)
            np.testing.assert_allclose(grad(lambda a: stats.gamma.sf(x, a))(a), upper, rtol=1e-9)
        x, n = 30.0, 3.5
        tail = float(mpmath.diff(lambda n: theirs_t_sf(mpmath, x, n), n))
        np.testing.assert_allclose(grad(lambda n: stats.t.sf(x, n))(n), tail, rtol=1e-9)


def theirs_t_sf(mpmath, x, n):
    return mpmath.betainc(n / 2, mpmath.mpf(1) / 2, 0, n / (n + x * x), regularized=True) / 2


def test_limits_are_no_special_cases() -> None:
    for name, kind in (
        ("genextreme", "logpdf"),
        ("genpareto", "logpdf"),
        ("genextreme", "cdf"),
        ("genpareto", "sf"),
    ):
        at = lambda c: getattr(getattr(stats, name), kind)(0.7, c)
        near = lambda c: float(getattr(getattr(theirs, name), kind)(0.7, c))
        np.testing.assert_allclose(grad(at)(0.0), (near(1e-4) - near(-1e-4)) / 2e-4, rtol=1e-6)


def test_pearsons_third_type_about_skew_0() -> None:
    """The derivatives in the skew: (x^3 - 3 x) / 6 of the logarithm, (1 - x^2) phi(x) / 6 of F, at skew 0."""
    x = 0.7
    third = (x**3 - 3 * x) / 6
    np.testing.assert_allclose(grad(lambda s: stats.pearson3.logpdf(x, s))(0.0), third, rtol=1e-13)
    np.testing.assert_allclose(grad(lambda x: stats.pearson3.logpdf(x, 0.0))(x), -x)
    phi = theirs.norm.pdf(x)
    np.testing.assert_allclose(grad(lambda s: stats.pearson3.pdf(x, s))(0.0), third * phi, rtol=1e-13)
    q = theirs.norm.cdf(x)
    for name, at, expected in (
        ("cdf", x, (1 - x * x) * phi / 6),
        ("sf", x, (x * x - 1) * phi / 6),
        ("ppf", q, (x * x - 1) / 6),
    ):
        for skew in (0.0, 1e-9, -1e-7):
            found = grad(lambda s: getattr(stats.pearson3, name)(at, s))(skew)
            np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_pearsons_third_type_in_its_skew() -> None:
    mpmath = pytest.importorskip("mpmath")

    def lower(x: Any, skew: Any) -> Any:
        shape, y = 4 / skew**2, 2 / skew * (x + 2 / skew)
        return mpmath.gammainc(shape, *((0, y) if skew > 0 else (y, mpmath.inf)), regularized=True)

    with mpmath.workdps(40):
        for x, skew in ((0.7, -2.5), (-0.3, 3.0), (-3.0, 0.49), (-8.0, -0.2), (4.0, 0.2), (0.7, 2.0)):
            slope = float(mpmath.diff(lambda s: lower(mpmath.mpf(x), s), skew))
            np.testing.assert_allclose(grad(lambda s: stats.pearson3.cdf(x, s))(skew), slope, rtol=1e-10)
            np.testing.assert_allclose(grad(lambda s: stats.pearson3.sf(x, s))(skew), -slope, rtol=1e-10)


@pytest.mark.parametrize(
    ("name", "shape"), [("gennorm", s) for s in (0.7, 1.0, 1.5, 2.0)] + [("dweibull", 1.0)]
)
def test_symmetric_distributions_at_their_median(name: str, shape: float) -> None:
    dist = getattr(stats, name)
    density = getattr(theirs, name).pdf(0.0, shape)
    np.testing.assert_allclose(grad(lambda x: dist.cdf(x, shape))(0.0), density)
    np.testing.assert_allclose(grad(lambda x: dist.sf(x, shape))(0.0), -density)
    np.testing.assert_allclose(grad(lambda q: dist.ppf(q, shape))(0.5), 1 / density)
    np.testing.assert_allclose(grad(lambda q: dist.isf(q, shape))(0.5), -1 / density)
    np.testing.assert_allclose(grad(lambda c: dist.cdf(0.0, c))(shape), 0.0, atol=1e-15)
    np.testing.assert_allclose(grad(lambda c: dist.ppf(0.5, c))(shape), 0.0, atol=1e-15)


def test_a_median_stays_where_the_density_is_0() -> None:
    median = lambda c: stats.dweibull.median(c, loc=0.2, scale=1.3)
    np.testing.assert_array_equal([median(1.7), grad(median)(1.7), hessian(median)(1.7)], [0.2, 0.0, 0.0])


@pytest.mark.parametrize("skew", [1e-4, 0.1, 0.34, 0.35, -0.36, 1.0, -2.5])
def test_the_entropy_of_pearson3_moves_with_the_skew(skew: float) -> None:
    mpmath = pytest.importorskip("mpmath")

    def entropy(s):
        shape = 4 / s**2
        return shape + mpmath.loggamma(shape) + (1 - shape) * mpmath.psi(0, shape) + mpmath.log(abs(s) / 2)

    with mpmath.workdps(40):
        expected = [float(mpmath.diff(entropy, mpmath.mpf(skew), k, h=mpmath.mpf("1e-10"))) for k in range(3)]
    f = stats.pearson3.entropy
    np.testing.assert_allclose([vjp(f, skew)[0], grad(f)(skew), hessian(f)(skew)], expected, rtol=1e-9)


@pytest.mark.parametrize("name", ["boxcox", "yeojohnson"])
def test_the_best_power_moves_with_the_data(name: str) -> None:
    """The power is sought to 8 digits; here it is sought by bisection of the slope of the likelihood."""
    x = np.array([0.4, 1.1, 2.3, 0.7, 3.9, 0.2])
    likelihood = getattr(stats, f"{name}_llf")
    best = lambda x: optimize.brentq(lambda p: grad(lambda p: likelihood(p, x))(p), -2.0, 3.0, xtol=1e-13)
    h = 1e-4 * np.cos(np.arange(6.0))
    transformed = lambda x: getattr(stats, name)(x)[1]
    expected = (best(x + h) - best(x - h)) / 2
    np.testing.assert_allclose(transformed(x), best(x), rtol=1e-6)
    np.testing.assert_allclose(grad(transformed)(x) @ h, expected, rtol=1e-5)


@pytest.mark.filterwarnings("ignore:The optimal lambda")
def test_a_power_at_its_limit_is_refused() -> None:
    data = np.array([0.4, 1.1, 2.3, 0.7, 3.9])
    with pytest.raises(NonDifferentiableError, match="no optimum"):
        grad(lambda x: stats.boxcox_normmax(x, method="mle", ymax=0.5))(data)


def test_fits_keep_single_precision() -> None:
    data = np.array([0.4, 1.1, 2.3, 0.7], np.float32)
    a, _, scale = vjp(lambda x: stats.gamma.fit(x, floc=0), data)[0]
    assert (a.dtype, scale.dtype) == (np.float64, np.float32)


def test_von_mises_is_nearly_uniform() -> None:
    for x in (0.7, -2.9):
        found = [grad(lambda k: getattr(stats.vonmises, f)(x, k))(1e-9) for f in ("logpdf", "pdf", "cdf")]
        expected = [np.cos(x), np.cos(x) / (2 * np.pi), np.sin(x) / (2 * np.pi)]
        np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_samples_are_reparametrised() -> None:
    def mean(a, scale):
        return np.mean(stats.gamma.rvs(a, scale=scale, size=4000, random_state=3))

    value, slope = jvp(mean, (2.5, 1.5), (1.0, 0.0))
    np.testing.assert_array_equal(value, np.mean(theirs.gamma.rvs(2.5, scale=1.5, size=4000, random_state=3)))
    np.testing.assert_allclose(slope, 1.5, rtol=0.1)  # d/da of a * scale
    np.testing.assert_allclose(grad(lambda s: mean(2.5, s))(1.5), value / 1.5)


def test_outside_of_the_support_and_of_the_parameters() -> None:
    assert grad(lambda x: stats.gamma.pdf(x, 2.0))(-1.0) == 0
    assert np.isnan(grad(lambda a: stats.gamma.cdf(1.0, a) * 2)(-1.0)) or np.isnan(
        jvp(lambda a: stats.gamma.cdf(1.0, a), (-1.0,), (1.0,))[0]
    )
    assert np.isneginf(jvp(lambda x: stats.uniform.logpdf(x), (2.0,), (1.0,))[0])


def test_frozen_distributions_and_batches() -> None:
    def loss(m, s, x):
        return stats.norm(loc=m, scale=s).logpdf(x)

    xs = np.array([0.1, 0.7, -0.4])
    rows = vmap(grad(loss), in_axes=(None, None, 0))(0.2, 1.3, xs)
    np.testing.assert_allclose(rows, [(x - 0.2) / 1.69 for x in xs])


def test_plain_results_are_scipys() -> None:
    x = np.linspace(0.1, 2.0, 5)
    for name in ("gamma", "truncnorm", "genextreme"):
        args = CONTINUOUS[name]
        np.testing.assert_array_equal(getattr(stats, name).cdf(x, *args), getattr(theirs, name).cdf(x, *args))
    assert isinstance(stats.norm, theirs.rv_continuous)


def test_covariances_with_equal_eigenvalues_have_a_slope() -> None:
    x, mean = np.array([[0.5, -1.0, 2.0], [1.0, 0.0, 0.3]]), np.zeros(3)
    log_density = lambda s: np.sum(stats.multivariate_normal.logpdf(x, mean, s * np.eye(3)))
    # by hand: -3 log(s) - sum(x**2) / (2 s), for two points
    np.testing.assert_allclose(fg.grad(log_density)(2.0), -3 / 2.0 + np.sum(x**2) / 8.0)
    np.testing.assert_allclose(fg.grad(fg.grad(log_density))(2.0), 3 / 4.0 - np.sum(x**2) / 8.0)
    slope = fg.grad(lambda S: np.sum(stats.multivariate_normal.logpdf(x, mean, S)))(2 * np.eye(3))
    np.testing.assert_allclose(slope, -2 * np.eye(3) / 4 + x.T @ x / 8)


@pytest.mark.parametrize(("name", "shapes"), [("norm", ()), ("t", (2.4,)), ("t", (5e4,))])
def test_densities_that_are_written_out_are_scipys(name: str, shapes: Any) -> None:
    original, ours = getattr(theirs, name), getattr(stats, name)
    x, h = np.array([-2.0, 0.3, 7.0]), 1e-6
    for method in ("pdf", "logpdf"):
        f = lambda x, loc, scale: getattr(ours, method)(x, *shapes, loc, scale)
        plain = getattr(original, method)
        np.testing.assert_allclose(fg.vjp(f, x, 0.2, 1.5)[0], plain(x, *shapes, 0.2, 1.5), rtol=1e-13)
        slope = fg.jvp(f, (x, 0.2, 1.5), (1.0 + 0 * x, 0.5, 2.0))[1]
        above, below = (plain(x + s * h, *shapes, 0.2 + 0.5 * s * h, 1.5 + 2 * s * h) for s in (1, -1))
        np.testing.assert_allclose(slope, (above - below) / (2 * h), rtol=2e-7)
    assert np.isnan(fg.vjp(lambda scale: ours.logpdf(0.5, *shapes, 0.0, scale), -1.0)[0])


def test_points_of_a_plain_covariance_have_a_slope() -> None:
    S, x = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([[0.5, -1.0], [1.0, 0.3]])
    slope = fg.grad(lambda x: np.sum(stats.multivariate_normal.logpdf(x, np.zeros(2), S)))(x)
    np.testing.assert_allclose(slope, -x @ np.linalg.inv(S))


def test_the_normal_density_of_several_variables_in_all_its_arguments() -> None:
    rng = np.random.default_rng(5)
    a = rng.normal(size=(3, 3))
    x, mean, S = rng.normal(size=(2, 4, 3)), rng.normal(size=3), a @ a.T + np.eye(3)
    symmetric = lambda t: t + t.T  # the density is one of symmetric matrices
    for method in ("logpdf", "pdf"):
        f = lambda x, m, t: getattr(stats.multivariate_normal, method)(x, m, S + symmetric(t))
        np.testing.assert_allclose(
            fg.vjp(f, x, mean, 0 * S)[0], getattr(theirs.multivariate_normal, method)(x, mean, S)
        )
        fg.testing.check_grads(f, (x, mean, 0 * S), order=2)
    given = np.stack([S, 2 * S, np.eye(3)])
    loss = lambda m, S: np.sum(stats.multivariate_normal.logpdf(x, m, S) ** 2)
    for transform in (grad, fg.hessian):
        one = transform(loss, 1)
        np.testing.assert_allclose(vmap(one, (None, 0))(mean, given), [one(mean, S) for S in given])


@pytest.mark.parametrize(
    ("S", "kind", "message"),
    [
        (np.ones((2, 2)), np.linalg.LinAlgError, "positive definite"),
        (np.diag([1.0, -1.0]), ValueError, "semidefinite"),
        (np.diag([1.0, 1e-12]), np.linalg.LinAlgError, "positive definite"),
    ],
)
def test_covariances_that_are_none_are_refused_as_scipy_does(S: Any, kind: Any, message: str) -> None:
    density = lambda S: np.sum(stats.multivariate_normal.logpdf(np.zeros(2), np.zeros(2), S))
    for call in (density, grad(density), grad(lambda S: vmap(density)(np.stack([S, S])).sum())):
        with pytest.raises(kind, match=message):
            call(S)
