"""Formulas of our own: where SciPy's is compiled, or has a limit at a point that loses a derivative.

Sources: N. L. Johnson, S. Kotz and N. Balakrishnan, "Continuous Univariate Distributions", 2nd edition,
volume 2, chapters 29 to 31 (noncentral distributions as mixtures); A. Fog, "Calculation methods for
Wallenius' noncentral hypergeometric distribution", Communications in Statistics 37 (2008), 258; NIST Digital
Library of Mathematical Functions 10.32.9 (the Bessel function K).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special, stats

from funcgrad.scipy.rerun import values
from funcgrad.scipy.stats.integrals import Elementary, integral, slope

Formula = Callable[..., Any]
# None, where SciPy's formula is none for tracers, and the density serves instead.
OWN: dict[str, dict[str, Formula | None]] = {}
HALF_LOG_TAU = 0.5 * np.log(2 * np.pi)


# ---- limits that are no special cases ----------------------------------------------------------------------------------
def log_quotient(y: Any) -> Any:
    """-log(1 - y) / y, which is 1 at 0."""
    near = abs(y) < 0.03
    small, large = np.where(near, y, 0.0), np.where(near, 0.5, y)
    series = 1 / 16 + 0.0 * small
    for n in range(15, 0, -1):
        series = 1 / n + small * series
    return np.where(near, series, -np.log1p(-large) / large)


OWN["genextreme"] = {
    "_logpdf": lambda x, c: -np.exp(-x * log_quotient(c * x)) - (1 - c) * x * log_quotient(c * x),
    "_logcdf": lambda x, c: -np.exp(-x * log_quotient(c * x)),
}
OWN["genpareto"] = {
    "_logpdf": lambda x, c: -(c + 1) * x * log_quotient(-c * x),
    "_logsf": lambda x, c: -x * log_quotient(-c * x),
}


def _kappa4_logcdf(x: Any, h: Any, k: Any) -> Any:
    power = np.exp(-x * log_quotient(k * x))
    return -power * log_quotient(h * power)


OWN["kappa4"] = {
    "_logpdf": lambda x, h, k: -(1 - k) * x * log_quotient(k * x) + (1 - h) * _kappa4_logcdf(x, h, k),
    "_logcdf": _kappa4_logcdf,
}


# (SciPy's skewnorm is the normal distribution where a is 0.)
OWN["skewnorm"] = {
    "_pdf": lambda x, a: 2 * np.exp(-0.5 * x**2 - HALF_LOG_TAU) * special.ndtr(a * x),
    "_logpdf": lambda x, a: np.log(2) - 0.5 * x**2 - HALF_LOG_TAU + special.log_ndtr(a * x),
}


# ---- truncated normal ------------------------------------------------------------------------------------------------
def log_mass(a: Any, b: Any) -> Any:
    """The logarithm of the probability of a normal variable between a and b, in the tail where it is small."""
    right = a > 0
    low, high = np.where(right, -b, a), np.where(right, -a, b)
    last = special.log_ndtr(high)
    return last + np.log1p(-np.exp(special.log_ndtr(low) - last))


def _of_share(part: Any, rest: Any) -> Any:
    """log of a share, from the logarithms of it and of the rest of 1; the smaller one keeps its digits."""
    return np.where(part > -0.7, np.log1p(-np.exp(np.where(part > -0.7, rest, -1.0))), part)


OWN["truncnorm"] = {
    "_logpdf": lambda x, a, b: -0.5 * x**2 - HALF_LOG_TAU - log_mass(a, b),
    "_logcdf": lambda x, a, b: _of_share(log_mass(a, x) - log_mass(a, b), log_mass(x, b) - log_mass(a, b)),
    "_logsf": lambda x, a, b: _of_share(log_mass(x, b) - log_mass(a, b), log_mass(a, x) - log_mass(a, b)),
}


# ---- Kolmogorov and Smirnov ------------------------------------------------------------------------------------------
OWN["kstwobign"] = {"_pdf": lambda x: -slope(special.kolmogorov, 0)(x)}


# ---- noncentral: mixtures --------------------------------------------------------------------------------------------
def _mixture(log_density: Formula, nc: Any, *others: Any) -> Any:
    """log of the sum over j of Poisson(j; nc / 2) exp(log_density(j)), over the j that count anywhere."""
    half = 0.5 * nc
    mean = float(np.max(values(half), initial=0.0))
    weight = float(np.max(values(others[0]), initial=0.0)) if others else 0.0
    j = np.arange(int(mean + weight + 12 * np.sqrt(mean + weight + 1) + 40))
    terms = special.xlogy(j, half[..., None]) - half[..., None] - special.gammaln(j + 1) + log_density(j)
    top = np.max(values(terms), axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    return np.log(np.sum(np.exp(terms - top), axis=-1)) + top[..., 0]


def _ncx2(x: Any, df: Any, nc: Any) -> Any:
    x, df, nc = np.broadcast_arrays(x, df, nc)

    def chi2(j: Any) -> Any:
        shape = 0.5 * df[..., None] + j
        half = 0.5 * x[..., None]
        return (shape - 1) * np.log(half) - half - special.gammaln(shape) - np.log(2.0)

    return _mixture(chi2, nc, np.sqrt(abs(values(x * nc))))


def _ncf(x: Any, m: Any, n: Any, nc: Any) -> Any:
    x, m, n, nc = np.broadcast_arrays(x, m, n, nc)

    def beta_prime(j: Any) -> Any:
        a, b = 0.5 * m[..., None] + j, 0.5 * n[..., None]
        ratio = (m / n)[..., None]
        y = ratio * x[..., None]
        return np.log(ratio) + (a - 1) * np.log(y) - special.betaln(a, b) - (a + b) * np.log1p(y)

    return _mixture(beta_prime, nc, 0.5 * values(nc))


OWN["ncx2"] = {"_logpdf": _ncx2}
OWN["ncf"] = {"_logpdf": _ncf}


def _nct_inner(s: Any, x: Any, df: Any, nc: Any) -> Any:
    """The joint density of the variable and of the chi variable s that it was divided by."""
    log_chi = (
        np.log(2.0)
        + 0.5 * df * np.log(0.5 * df)
        - special.gammaln(0.5 * df)
        + (df - 1) * np.log(s)
        - 0.5 * df * s**2
    )
    return np.exp(log_chi + np.log(s) - 0.5 * (x * s - nc) ** 2 - HALF_LOG_TAU)


OWN["nct"] = {"_pdf": lambda x, df, nc: integral("nct", _nct_inner)(0.0, np.inf, x, df, nc)}
OWN["skellam"] = {
    "_logpmf": lambda k, a, b: (
        np.log(2.0) + _ncx2(2 * np.where(k < 0, b, a), 2 * (1 + abs(k)), 2 * np.where(k < 0, a, b))
    )
}


# ---- Bessel functions in their order, and other integrals ------------------------------------------------------------
def _bessel_inner(t: Any, p: Any, z: Any) -> Any:
    rise = abs(p) * t
    return 0.5 * np.exp(rise - z * (np.cosh(t) - 1)) * (1 + np.exp(-2 * rise))


def log_kv(p: Any, z: Any) -> Any:
    """log of the modified Bessel function K, in the order too: the integral of exp(-z cosh t) cosh(p t)."""
    return np.log(integral("kv", _bessel_inner)(0.0, np.inf, p, z)) - z


def _genhyperbolic(x: Any, p: Any, a: Any, b: Any) -> Any:
    width = np.sqrt((a - b) * (a + b))
    reach = np.hypot(1.0, x)
    scale = p * np.log(width) - HALF_LOG_TAU - (p - 0.5) * np.log(a) - log_kv(p, width)
    return scale + b * x + log_kv(p - 0.5, a * reach) + (p - 0.5) * np.log(reach)


OWN["geninvgauss"] = {
    "_logpdf": lambda x, p, b: (p - 1) * np.log(x) - 0.5 * b * (x + 1 / x) - np.log(2.0) - log_kv(p, b)
}
OWN["genhyperbolic"] = {"_logpdf": _genhyperbolic}


def _gausshyper_inner(t: Any, a: Any, b: Any, c: Any, z: Any) -> Any:
    return np.exp((a - 1) * np.log(t) + (b - 1) * np.log1p(-t) - c * np.log1p(z * t))


OWN["gausshyper"] = {
    "_pdf": lambda x, a, b, c, z: (
        _gausshyper_inner(x, a, b, c, z) / integral("gausshyper", _gausshyper_inner)(0.0, 1.0, a, b, c, z)
    )
}


def _landau_inner(t: Any, x: Any) -> Any:
    return np.exp(-2 / np.pi * t * np.log(t) - x * t) * np.sin(2 * t) / np.pi


def _landau(x: Any) -> Any:
    """By an integral that cancels far on the left, where nothing is better than something wrong."""
    found = integral("landau", _landau_inner)(0.0, np.inf, x)
    return np.where(values(x) > -2.5, found, np.nan)


OWN["landau"] = {"_pdf": _landau}


# ---- Pearson's third type: a gamma distribution, shifted and scaled --------------------------------------------------
# With u = skew x / 2, the gamma density of shape 4 / skew^2 has terms as large as its shape that cancel: there
# remain x^2 (log(1 + u) - u) / u^2 and the remainder of Stirling's series, and skew 0 is no special case.
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)  # DLMF 5.11.1, in 1 / shape


def _stirling_remainder(y: Any) -> Any:
    """log Gamma(1 / y) without the first terms of its asymptotic series, which is 0 at 0."""
    near = abs(y) < 0.03
    small, shape = np.where(near, y, 0.0), 1 / np.where(near, 1.0, y)
    series = 0.0 * small
    for coefficient in reversed(_STIRLING):
        series = coefficient + small * small * series
    large = special.gammaln(shape) - ((shape - 0.5) * np.log(shape) - shape + HALF_LOG_TAU)
    return np.where(near, small * series, large)


def _log1p_quotient(u: Any) -> Any:
    """(log(1 + u) - u) / u^2, which is -1/2 at 0."""
    near = abs(u) < 0.1
    small, large = np.where(near, u, 0.0), np.where(near, 1.0, u)
    series = 0.0 * small
    for n in range(20, 1, -1):
        series = (-1) ** (n + 1) / n + small * series
    return np.where(near, series, (np.log1p(large) - large) / large**2)


def _pearson3_logpdf(x: Any, skew: Any) -> Any:
    u = 0.5 * skew * x
    inside = u > -1
    u = np.where(inside, u, 0.0)
    main = x * x * _log1p_quotient(u) - np.log1p(u)
    return np.where(inside, main - HALF_LOG_TAU - _stirling_remainder(0.25 * skew * skew), -np.inf)


def _pearson3_pdf(x: Any, skew: Any) -> Any:
    return np.exp(_pearson3_logpdf(x, skew))


def _near_normal(name: str, sign: float) -> Elementary:
    """F (sign 1) or 1 - F (sign -1) where the skew is small; SciPy's is the normal distribution very near 0."""
    in_skew = integral("pearson3", slope(_pearson3_pdf, 1), lambda x, skew: x > 0)
    partials: list[Formula] = [
        lambda x, skew, out: sign * _pearson3_pdf(x, skew),
        lambda x, skew, out: sign * in_skew(-np.inf, x, skew),
    ]
    return Elementary("pearson3", getattr(stats.pearson3, name), partials)


def _pearson3_tail(name: str, rising: Formula, falling: Formula, sign: float) -> Formula:
    """A distribution function: by the gamma distribution's, whose shape leaves no digits where the skew is small."""
    near_normal = _near_normal(name, sign)

    def tail(x: Any, skew: Any) -> Any:
        near = abs(skew) < 0.5
        rate = 2 / np.where(near, 1.0, skew)
        y = np.maximum(rate * (x + rate), 0.0)
        far = np.where(rate > 0, rising(rate**2, y), falling(rate**2, y))
        return np.where(near, near_normal(x, np.where(near, skew, 0.0)), far)

    return tail


_DIGAMMA = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760)  # DLMF 5.11.2, in 1 / shape^2


def _pearson3_entropy(skew: Any) -> Any:
    """That of the gamma distribution of shape 4 / skew^2 and variance 1; large shapes by the series of what remains."""
    y = 0.25 * skew * skew
    near = y < 0.03
    small, shape = np.where(near, y, 0.0), 1 / np.where(near, 1.0, y)
    series = 0.0 * small
    for coefficient in reversed(_DIGAMMA):
        series = coefficient + small * small * series
    # with psi(shape) = log(shape) - y / 2 - y^2 series
    near_normal = 0.5 + HALF_LOG_TAU + _stirling_remainder(small) - 0.5 * small + (1 - small) * small * series
    exact = shape + special.gammaln(shape) + (1 - shape) * special.psi(shape) - 0.5 * np.log(shape)
    return np.where(near, near_normal, exact)


OWN["pearson3"] = {
    "_logpdf": _pearson3_logpdf,
    "_entropy": _pearson3_entropy,
    "_cdf": _pearson3_tail("cdf", special.gammainc, special.gammaincc, 1.0),
    "_sf": _pearson3_tail("sf", special.gammaincc, special.gammainc, -1.0),
}
# (SciPy's have the absolute value of x, which hides the slope at 0, the median.)
OWN["gennorm"] = {"_cdf": None, "_sf": None}


def _dweibull_quantile(sign: float) -> Formula:
    """The inverse of F (sign 1) or 1 - F (sign -1), also at the median, where the density is 0."""

    def quantile(q: Any, c: Any) -> Any:
        y = -np.log(2 * np.minimum(q, 1 - q))
        far = np.where(y > 0, np.where(y > 0, y, 1.0) ** (1 / c), 0.0)
        return sign * np.where(q > 0.5, far, -far)

    return quantile


OWN["dweibull"] = {
    "_cdf": None,
    "_sf": None,
    "_ppf": _dweibull_quantile(1.0),
    "_isf": _dweibull_quantile(-1.0),
}


# ---- noncentral hypergeometric: in the odds --------------------------------------------------------------------------
def _log_choose(n: Any, k: Any) -> Any:
    return special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)


def _counts_of(total: Any, n: Any, draws: Any) -> tuple[Any, Any, Any]:
    m = np.asarray(values(n))
    return m, np.asarray(values(total)) - m, np.asarray(values(draws))


def _fisher(k: Any, total: Any, n: Any, draws: Any, odds: Any) -> Any:
    first, second, drawn = _counts_of(total, n, draws)
    j = np.arange(float(np.max(first)) + 1)
    possible = (j <= first[..., None]) & (j <= drawn[..., None]) & (drawn[..., None] - j <= second[..., None])
    chosen = np.where(possible, j, np.minimum(first, drawn)[..., None])
    weights = _log_choose(first[..., None], chosen) + _log_choose(
        second[..., None], drawn[..., None] - chosen
    )
    terms = weights + chosen * np.log(odds)[..., None]
    top = np.max(values(terms), axis=-1)
    whole = np.log(np.sum(np.where(possible, np.exp(terms - top[..., None]), 0.0), axis=-1)) + top
    return _log_choose(first, k) + _log_choose(second, drawn - k) + k * np.log(odds) - whole


def _wallenius_inner(t: Any, k: Any, rest: Any, left: Any, others: Any, odds: Any) -> Any:
    share = odds * left + others
    log_t = np.log(t)
    return np.exp(k * np.log(-np.expm1(log_t * odds / share)) + rest * np.log(-np.expm1(log_t / share)))


def _wallenius(k: Any, total: Any, n: Any, draws: Any, odds: Any) -> Any:
    first, second, drawn = _counts_of(total, n, draws)
    k = values(k)
    whole = integral("wallenius", _wallenius_inner)(
        0.0, 1.0, k, drawn - k, first - k, second - drawn + k, odds
    )
    return _log_choose(first, k) + _log_choose(second, drawn - k) + np.log(whole)


OWN["nchypergeom_fisher"] = {"_logpmf": _fisher}
OWN["nchypergeom_wallenius"] = {"_logpmf": _wallenius}


def _zipfian(k: Any, a: Any, n: Any) -> Any:
    j = np.arange(1.0, np.max(values(n)) + 1)
    weights = np.where(j <= np.asarray(values(n))[..., None], j ** -a[..., None], 0.0)
    return -a * np.log(k) - np.log(np.sum(weights, axis=-1))


OWN["zipfian"] = {"_logpmf": _zipfian}


# ---- densities that programs call in their loops, with loc and scale, of valid parameters ------------------------
def _normal_logpdf(x: Any, loc: Any, scale: Any) -> Any:
    z = (x - loc) / scale
    return -0.5 * (z * z) - (np.log(scale) + HALF_LOG_TAU)


def _normal_pdf(x: Any, loc: Any, scale: Any) -> Any:
    z = (x - loc) / scale
    return np.exp(-0.5 * (z * z)) / (scale * np.sqrt(2 * np.pi))


def _t_logpdf(x: Any, loc: Any, scale: Any, df: Any) -> Any:
    z = (x - loc) / scale
    if not (np.all(df < 1e4) and np.all(abs(z) < 1e100)):  # the one would lose digits, the other overflow
        return None
    constant = (
        special.gammaln(0.5 * (df + 1)) - special.gammaln(0.5 * df) - 0.5 * np.log(df * np.pi) - np.log(scale)
    )
    return constant - 0.5 * (df + 1) * np.log1p(z * z / df)


AT_ONCE: dict[tuple[str, str], Any] = {
    ("norm", "logpdf"): _normal_logpdf,
    ("norm", "pdf"): _normal_pdf,
    ("t", "logpdf"): _t_logpdf,
}
