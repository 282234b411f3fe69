"""Powers that make data look normal, and how normal data look: optima as equations, and what is compiled.

The best power is where the slope of a likelihood, or of a correlation, vanishes; its derivatives follow from
that equation. The statistic of Shapiro and Wilk is a quotient of sums of squares; its p value is that of P.
Royston, Algorithm AS R94, Applied Statistics 44 (1995), 547.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special
from scipy import stats as theirs

from funcgrad.core.arrays.ufunc import as_array
from funcgrad.errors import NonDifferentiableError
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.rerun import private, values
from funcgrad.transforms.derivatives import grad
from funcgrad.transforms.implicit import root

stats = Chapter("stats")
Formula = Callable[..., Any]


# ---- the best power ----------------------------------------------------------------------------------------------------
def _optimum(name: str, score: Formula, power: float, x: Any) -> Any:
    """The power that SciPy has found, with its derivatives; `score(power, x)` is stationary there."""
    slope = grad(score)
    change = 1e-3 * max(1.0, abs(power))
    sides = [float(slope(power + step, values(x))) for step in (-change, change)]
    if not (np.isfinite(sides).all() and sides[0] * sides[1] < 0):
        raise NonDifferentiableError(
            f"scipy.stats.{name}: the power {power} is no optimum within its bounds, where its derivative follows from the slope "
            "of the score. Give the power yourself (lmbda=), or leave ymax and brack away."
        )
    return root(slope, np.asarray(power)[()], x, solver=lambda _, start: start)


def _boxcox_likelihood(power: Any, x: Any) -> Any:
    return _likelihood(special.boxcox(x, power), (power - 1) * np.sum(np.log(x)))


def _yeojohnson_likelihood(power: Any, x: Any) -> Any:
    right = x >= 0
    above = special.boxcox1p(np.where(right, x, 0.0), power)
    below = -special.boxcox1p(np.where(right, 0.0, -x), 2 - power)
    return _likelihood(
        np.where(right, above, below), (power - 1) * np.sum(np.sign(values(x)) * np.log1p(abs(x)))
    )


def _likelihood(transformed: Any, jacobian: Any) -> Any:
    return jacobian - 0.5 * transformed.shape[0] * np.log(np.var(transformed))


def _boxcox_correlation(power: Any, x: Any) -> Any:
    """That of the transformed data with the quantiles of the normal distribution."""
    medians = private("scipy.stats._morestats")._calc_uniform_order_statistic_medians(x.shape[0])
    return np.corrcoef(special.ndtri(medians), np.sort(special.boxcox(x, power)))[0, 1]


@stats.composite("boxcox_normmax")
def boxcox_normmax(x, brack=None, method="pearsonr", optimizer=None, **given):
    x = as_array(x).astype(np.float64)
    found = theirs.boxcox_normmax(values(x), brack, method, optimizer, **given)
    scores = {"pearsonr": _boxcox_correlation, "mle": _boxcox_likelihood}
    if method != "all":
        return _optimum("boxcox_normmax", scores[method], float(found), x)
    return np.stack(
        [_optimum("boxcox_normmax", s, float(p), x) for s, p in zip(scores.values(), found, strict=True)]
    )


@stats.composite("yeojohnson_normmax")
def yeojohnson_normmax(x, brack=None, **given):
    x = as_array(x).astype(np.float64)
    found = theirs.yeojohnson_normmax(values(x), brack, **given)
    return _optimum("yeojohnson_normmax", _yeojohnson_likelihood, float(found), x)


# ---- the test of Shapiro and Wilk --------------------------------------------------------------------------------------
_G, _C3, _C4 = (
    (-2.273, 0.459),
    (0.544, -0.39978, 0.025054, -6.714e-4),
    (1.3822, -0.77857, 0.062767, -0.0020322),
)
_C5, _C6 = (-1.5861, -0.31082, -0.083751, 0.0038915), (-0.4803, -0.082676, 0.0030302)


def _royston(w: Any, n: int) -> Any:
    """The p value of the statistic w of n data."""
    of = lambda coefficients, at: np.polynomial.polynomial.polyval(at, coefficients)
    if n == 3:
        return np.maximum(0.0, 6 / np.pi * (np.arcsin(np.sqrt(w)) - np.arcsin(np.sqrt(0.75))))
    y, log_n = np.log1p(-w), np.log(n)
    if n > 11:
        return special.ndtr(-(y - of(_C5, log_n)) / np.exp(of(_C6, log_n)))
    gamma = of(_G, n)
    if values(y) >= gamma:
        return 1e-99 + 0.0 * w
    return special.ndtr(-(-np.log(gamma - y) - of(_C3, n)) / np.exp(of(_C4, n)))


@stats.composite("shapiro")
def shapiro(x):
    """Of the sorted data, with weights that depend on their number alone."""
    x = np.sort(np.ravel(as_array(x)).astype(np.float64))
    n, weights = x.shape[0], np.zeros(x.shape[0] // 2)
    module: Any = private("scipy.stats._morestats")
    if n < 3:
        raise ValueError("Data must be at least length 3.")
    centred = values(x) - values(x)[n // 2]
    *_, fault = module.swilk(centred, weights, 0)
    if fault not in (0, 2):
        raise NonDifferentiableError("scipy.stats.shapiro of equal data has no derivative")
    weights = np.concatenate([-weights, np.zeros(n % 2), weights[::-1]])
    apart = x - np.mean(x)
    w = np.sum(weights * apart) ** 2 / (np.sum(weights**2) * np.sum(apart**2))
    return module.ShapiroResult(w, _royston(w, n))
