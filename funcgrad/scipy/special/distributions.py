"""Distribution functions, incomplete gamma and beta: slopes are densities, of inverses 1/density.

A derivative in a shape parameter (the degrees of freedom, the a and b of the incomplete functions) is that of
an integral (shapes.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from funcgrad.core.engine.kinds import Unknown
from funcgrad.scipy.special.densities import (
    DEGREES,
    SHAPE,
    beta_density,
    chi2_central_density,
    chi2_density,
    f_density,
    gamma_density,
    t_density,
)
from funcgrad.scipy.special.elementary import scaled_exprel
from funcgrad.scipy.special.errors import normal_density
from funcgrad.scipy.special.rules import elementwise, unsupported
from funcgrad.scipy.special.shapes import beta_in_shape, f_in_shape, gamma_in_shape, t_in_shape

Slope = Callable[..., Any]


def density_of(
    lower: str, upper: str, inverse_of_lower: str, inverse_of_upper: str, slope: Slope, *shapes: Slope
) -> None:
    """Declare a distribution function F(..., x), 1 - F, and the inverses of both.

    By the density `slope(*parameters, x)`, and the derivatives of F in the parameters, `shapes`.
    """
    count = len(shapes)
    moved = [_moved(f, slope, count) for f in shapes]
    elementwise(lower, *(_signed(f, 1, count) for f in (*shapes, slope)))
    elementwise(upper, *(_signed(f, -1, count) for f in (*shapes, slope)))
    elementwise(inverse_of_lower, *moved, _inverse(slope, 1, count))
    elementwise(inverse_of_upper, *moved, _inverse(slope, -1, count))


def _signed(f: Slope, sign: int, count: int) -> Slope:
    return (lambda x, y: sign * f(x, y)) if count == 1 else lambda x, y, z: sign * f(x, y, z)


def _moved(shape: Slope, slope: Slope, count: int) -> Slope:
    """How a quantile moves with a parameter."""
    if count == 1:
        return lambda x, out: -shape(x, out) / slope(x, out)
    return lambda x, y, out: -shape(x, y, out) / slope(x, y, out)


def _inverse(slope: Slope, sign: int, count: int) -> Slope:
    return (lambda x, out: sign / slope(x, out)) if count == 1 else lambda x, y, out: sign / slope(x, y, out)


# ---- continuous ------------------------------------------------------------------------------------------------------
density_of("gammainc", "gammaincc", "gammaincinv", "gammainccinv", gamma_density, gamma_in_shape)
density_of(
    "betainc btdtr",
    "betaincc",
    "betaincinv btdtri",
    "betainccinv",
    lambda a, b, x: beta_density(a, b, x, 1 - x),
    lambda a, b, x: beta_in_shape(0, a, b, x),
    lambda a, b, x: beta_in_shape(1, a, b, x),
)
density_of(
    "chdtr", "chdtrc", "", "chdtri", chi2_central_density, lambda v, x: 0.5 * gamma_in_shape(0.5 * v, 0.5 * x)
)
density_of(
    "fdtr",
    "fdtrc",
    "fdtri",
    "",
    f_density,
    lambda m, n, x: f_in_shape(0, m, n, x),
    lambda m, n, x: f_in_shape(1, m, n, x),
)
density_of("stdtr", "", "stdtrit", "", t_density, t_in_shape)

# gdtr(a, b, x) is gammainc(b, a x).
elementwise(
    "gdtr",
    lambda x, y, z: z * gamma_density(y, x * z),
    lambda x, y, z: gamma_in_shape(y, x * z),
    lambda x, y, z: x * gamma_density(y, x * z),
)
elementwise(
    "gdtrc",
    lambda x, y, z: -z * gamma_density(y, x * z),
    lambda x, y, z: -gamma_in_shape(y, x * z),
    lambda x, y, z: -x * gamma_density(y, x * z),
)
elementwise("gdtria", lambda y, z, out: 1 / (z * gamma_density(y, out * z)), SHAPE, lambda z, out: -out / z)
elementwise("gdtrix", lambda x, out: -out / x, SHAPE, lambda x, y, out: 1 / (x * gamma_density(y, x * out)))

elementwise(
    "chndtr",
    lambda x, y, z: chi2_density(x, y, z),
    DEGREES,
    lambda x, y, z: -chi2_density(x, y + 2, z),
)
elementwise(
    "chndtrix",
    lambda y, z, out: 1 / chi2_density(out, y, z),
    DEGREES,
    lambda y, z, out: chi2_density(out, y + 2, z) / chi2_density(out, y, z),
)
elementwise(
    "chndtrinc",
    lambda x, y, out: chi2_density(x, y, out) / chi2_density(x, y + 2, out),
    DEGREES,
    lambda x, y, out: -1 / chi2_density(x, y + 2, out),
)

# Mean and spread of a normal distribution with a given quantile: x = mean + spread * ndtri(p).
elementwise("nrdtrimn", lambda x, y: -y / normal_density(special.ndtri(x)), lambda x: -special.ndtri(x), 1)
elementwise(
    "nrdtrisd",
    lambda y: -1 / special.ndtri(y),
    lambda y, out: -out / (special.ndtri(y) * normal_density(special.ndtri(y))),
    lambda y: 1 / special.ndtri(y),
)


def _tukey_density(x: Any, y: Any, out: Any) -> Any:
    """Tukey's lambda distribution, given by its quantiles (p**y - (1-p)**y) / y; bounded where finite."""
    with np.errstate(divide="ignore"):
        slope = 1 / (out ** (y - 1) + (1 - out) ** (y - 1))
    return np.where(np.logical_and(y > 0, abs(x * y) >= 1), 0.0, slope)


def _tukey_slope(x: Any, y: Any, out: Any) -> Any:
    return _tukey_density(x, y, out) * (
        scaled_exprel(np.log1p(-out), y, 1) - scaled_exprel(np.log(out), y, 1)
    )


elementwise("tklmbda", _tukey_density, _tukey_slope)


# ---- discrete: in their probability, or mean -------------------------------------------------------------------------
def _binomial_slope(k: Any, n: Any, p: Any) -> Any:
    """Minus the derivative of bdtr: the k+1 smallest of n numbers below p."""
    k = np.floor(k)
    return np.where(np.logical_and(k >= 0, k < n), beta_density(k + 1, n - k, p, 1 - p), 0.0)


COUNT = Unknown("a count")
elementwise("bdtr", COUNT, COUNT, lambda x, y, z: -_binomial_slope(x, y, z))
elementwise("bdtrc", COUNT, COUNT, lambda x, y, z: _binomial_slope(x, y, z))
elementwise("bdtri", COUNT, COUNT, lambda x, y, out: -1 / _binomial_slope(x, y, out))
elementwise("nbdtr", COUNT, COUNT, lambda x, y, z: beta_density(y, np.floor(x) + 1, z, 1 - z))
elementwise("nbdtrc", COUNT, COUNT, lambda x, y, z: -beta_density(y, np.floor(x) + 1, z, 1 - z))
elementwise("nbdtri", COUNT, COUNT, lambda x, y, out: 1 / beta_density(y, np.floor(x) + 1, out, 1 - out))
elementwise("pdtr", COUNT, lambda x, y: -gamma_density(np.floor(x) + 1, y))
elementwise("pdtrc", COUNT, lambda x, y: gamma_density(np.floor(x) + 1, y))
elementwise("pdtri", COUNT, lambda x, out: -1 / gamma_density(np.floor(x) + 1, out))

# ---- what would take a derivative in a shape parameter ---------------------------------------------------------------
unsupported(
    "bdtrik bdtrin btdtria btdtrib chdtriv chndtridf fdtridfd gdtrib nbdtrik nbdtrin pdtrik stdtridf",
    "it solves for a shape parameter or a count, in which the derivative is not known in closed form",
)
unsupported(
    "ncfdtr ncfdtri ncfdtridfd ncfdtridfn ncfdtrinc nctdtr nctdtridf nctdtrinc nctdtrit",
    "its density has no closed form",
    "Declare it with funcgrad.extend and an integral of your own.",
)
