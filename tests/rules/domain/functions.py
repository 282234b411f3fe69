"""Elementwise functions of one operand: in NumPy or SciPy, in mpmath, and the points of their domain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath as mp
import numpy as np
from scipy import special

Function = Callable[[Any], Any]

# From subnormal to the end of the range; between the powers of ten the places where exp, erfc and gamma end.
SIZES = (
    5e-324,
    1e-310,
    1e-300,
    1e-150,
    1e-20,
    1e-8,
    1e-3,
    0.3,
    1.7,
    8.5,
    30.0,
    300.0,
    700.0,
    1e5,
    1e15,
    1e150,
    1e300,
)
NEAR = 2.0**-30  # the distance from a pole or a singularity


@dataclass(frozen=True)
class Entry:
    """A function, its truth, and where it is asked."""

    run: Function
    truth: Function
    points: tuple[float, ...]


FUNCTIONS: dict[str, Entry] = {}


def add(
    name: str,
    run: Function,
    truth: Function,
    low: float = -np.inf,
    high: float = np.inf,
    beside: Sequence[float] = (),
) -> None:
    """Add a function on the sizes of both signs in (low, high), and on both sides of the points `beside`."""
    grid = [*(-x for x in SIZES), *SIZES, *(p + s * NEAR for p in beside for s in (-1, 1))]
    FUNCTIONS[name] = Entry(run, truth, tuple(sorted(x for x in grid if low < x < high)))


def order(n: float, function: Callable[..., Any]) -> Function:
    return lambda x: function(n, x)


def odd_root(x: Any) -> Any:
    return mp.sign(x) * mp.cbrt(abs(x))


# ---- NumPy -----------------------------------------------------------------------------------------------------------
for name in ("sin", "cos", "tan", "exp", "expm1", "sinh", "cosh", "tanh"):
    add(name, getattr(np, name), getattr(mp, name))
for name in ("sqrt", "log", "log10"):
    add(name, getattr(np, name), getattr(mp, name), low=0, beside=[1])
add("log2", np.log2, lambda x: mp.log(x, 2), low=0, beside=[1])
add("arcsin", np.arcsin, mp.asin, -1, 1, [-1, 1])
add("arccos", np.arccos, mp.acos, -1, 1, [-1, 1])
add("arctan", np.arctan, mp.atan)
add("arcsinh", np.arcsinh, mp.asinh)
add("arccosh", np.arccosh, mp.acosh, low=1, beside=[1])
add("arctanh", np.arctanh, mp.atanh, -1, 1, [-1, 1])
add("log1p", np.log1p, lambda x: mp.log(1 + x), low=-1, beside=[-1])
add("exp2", np.exp2, lambda x: mp.mpf(2) ** x)
add("cbrt", np.cbrt, odd_root)
add("reciprocal", np.reciprocal, lambda x: 1 / x)
add("square", np.square, lambda x: x * x)
add("sinc", np.sinc, mp.sincpi, beside=[0.5, 1])
add("np.i0", np.i0, order(0, mp.besseli))
add("x**x", lambda x: x**x, lambda x: x**x, low=0)
add("x**-2", lambda x: x**-2.0, lambda x: x**-2)
add("x**0.7", lambda x: x**0.7, lambda x: x ** mp.mpf(0.7), low=0)
add("0.3**x", lambda x: 0.3**x, lambda x: mp.mpf(0.3) ** x)
add("hypot(x, 1)", lambda x: np.hypot(x, 1.0), lambda x: mp.sqrt(x * x + 1))
add("hypot(x, 1e-160)", lambda x: np.hypot(x, 1e-160), lambda x: mp.sqrt(x * x + mp.mpf(1e-160) ** 2))
add("arctan2(x, 1)", lambda x: np.arctan2(x, 1.0), mp.atan)
add("arctan2(1, x)", lambda x: np.arctan2(1.0, x), lambda x: mp.atan2(1, x))
add("logaddexp(x, 0)", lambda x: np.logaddexp(x, 0.0), lambda x: mp.log(1 + mp.exp(x)))
add("logaddexp2(x, 0)", lambda x: np.logaddexp2(x, 0.0), lambda x: mp.log(1 + mp.mpf(2) ** x, 2))

# ---- scipy.special: elementary ---------------------------------------------------------------------------------------
add("exp10", special.exp10, lambda x: mp.mpf(10) ** x)
add("exprel", special.exprel, lambda x: mp.expm1(x) / x)
add("cosm1", special.cosm1, mp.cos)
add("expit", special.expit, lambda x: 1 / (1 + mp.exp(-x)))
add("log_expit", special.log_expit, lambda x: -mp.log(1 + mp.exp(-x)))
add("logit", special.logit, lambda x: mp.log(x / (1 - x)), 0, 1, [0.5, 1])
add("entr", special.entr, lambda x: -x * mp.log(x), low=0)
add("xlog1py(2, x)", lambda x: special.xlog1py(2.0, x), lambda x: 2 * mp.log(1 + x), low=-1, beside=[-1])
add("pseudo_huber(1, x)", lambda x: special.pseudo_huber(1.0, x), lambda x: mp.sqrt(1 + x * x) - 1)
add("boxcox(x, 0.5)", lambda x: special.boxcox(x, 0.5), lambda x: 2 * (mp.sqrt(x) - 1), low=0)
add(
    "boxcox1p(x, 0.5)",
    lambda x: special.boxcox1p(x, 0.5),
    lambda x: 2 * (mp.sqrt(1 + x) - 1),
    low=-1,
    beside=[-1],
)

# ---- gamma and zeta --------------------------------------------------------------------------------------------------
add("gamma", special.gamma, mp.gamma, -40, beside=[-1, -2])
add("gammaln", special.gammaln, lambda x: mp.log(abs(mp.gamma(x))), low=0, beside=[1, 2])
add("digamma", special.digamma, mp.digamma, -40, beside=[-1, -2])
add("rgamma", special.rgamma, mp.rgamma, -40, beside=[-1, -2])
add("zeta", special.zeta, mp.zeta, low=1, beside=[1])
add("beta(x, 2)", lambda x: special.beta(x, 2.0), lambda x: 1 / (x * (x + 1)), low=0)
add("beta(x, 0.3)", lambda x: special.beta(x, 0.3), order(mp.mpf(0.3), mp.beta), low=0, high=1e5)
add("poch(x, 2)", lambda x: special.poch(x, 2.0), lambda x: x * (x + 1), low=0)

# ---- errors ----------------------------------------------------------------------------------------------------------
add("erf", special.erf, mp.erf)
add("erfc", special.erfc, mp.erfc, high=25)
add("erfcx", special.erfcx, lambda x: mp.exp(x * x) * mp.erfc(x), -20, 1e10)
add("erfi", special.erfi, mp.erfi, -40, 40)
add("dawsn", special.dawsn, lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x), -1e3, 1e3)
add("ndtr", special.ndtr, mp.ncdf, -37, 1e10)
add("log_ndtr", special.log_ndtr, lambda x: mp.log(mp.erfc(-x / mp.sqrt(2)) / 2), -1e3, 1e3)

# ---- Bessel, Kelvin, Struve and Airy ---------------------------------------------------------------------------------
for n in (0, 1):
    add(f"j{n}", getattr(special, f"j{n}"), order(n, mp.besselj), -1e3, 1e3)
    add(f"y{n}", getattr(special, f"y{n}"), order(n, mp.bessely), 0, 1e3)
    add(f"i{n}", getattr(special, f"i{n}"), order(n, mp.besseli), -1e3, 1e3)
    add(f"k{n}", getattr(special, f"k{n}"), order(n, mp.besselk), 0, 1e3)
    add(f"i{n}e", getattr(special, f"i{n}e"), lambda x, n=n: mp.exp(-abs(x)) * mp.besseli(n, x), -1e3, 1e3)
    add(f"k{n}e", getattr(special, f"k{n}e"), lambda x, n=n: mp.exp(x) * mp.besselk(n, x), 0, 1e3)
for name in ("ber", "bei", "ker", "kei"):
    add(name, getattr(special, name), order(0, getattr(mp, name)), 0, 100)
add("struve(0, x)", lambda x: special.struve(0, x), order(0, mp.struveh), 0, 100)
add("modstruve(0, x)", lambda x: special.modstruve(0, x), order(0, mp.struvel), 0, 1e3)
add("Ai", lambda x: special.airy(x)[0], mp.airyai, -100, 100)
add("Bi", lambda x: special.airy(x)[2], mp.airybi, -100, 100)

# ---- elliptic and other integrals ------------------------------------------------------------------------------------
add("ellipk", special.ellipk, mp.ellipk, high=1, beside=[1])
add("ellipe", special.ellipe, mp.ellipe, high=1, beside=[1])
add("ellipkm1", special.ellipkm1, lambda x: mp.ellipk(1 - x), low=0, high=1)
add("elliprf(x, 1, 2)", lambda x: special.elliprf(x, 1.0, 2.0), lambda x: mp.elliprf(x, 1, 2), low=0)
add("elliprc(x, 1)", lambda x: special.elliprc(x, 1.0), lambda x: mp.elliprc(x, 1), low=0, high=1)
add("agm(x, 1)", lambda x: special.agm(x, 1.0), lambda x: mp.agm(x, 1), low=0)
add("exp1", special.exp1, mp.e1, 0, 1e3)
add("expi", special.expi, mp.ei, -1e3, 1e3)
add("expn(2, x)", lambda x: special.expn(2, x), order(2, mp.expint), 0, 1e3)
add("si", lambda x: special.sici(x)[0], mp.si, -1e3, 1e3)
add("ci", lambda x: special.sici(x)[1], mp.ci, 0, 1e3)
add("shi", lambda x: special.shichi(x)[0], mp.shi, -1e3, 1e3)
add("chi", lambda x: special.shichi(x)[1], mp.chi, 0, 1e3)
add("fresnels", lambda x: special.fresnel(x)[0], mp.fresnels, -40, 40)
add("fresnelc", lambda x: special.fresnel(x)[1], mp.fresnelc, -40, 40)
add("spence", special.spence, lambda x: mp.re(mp.polylog(2, 1 - x)), 0, 40, [1])
add("wrightomega", special.wrightomega, lambda x: mp.re(mp.lambertw(mp.exp(x))), -1e3, 1e3)
