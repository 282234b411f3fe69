"""Calls of scipy.special's ufuncs: the function, in mpmath too where possible, and its points.

A point holds all operands. `wrt` are the positions of those with a derivative; `part` chooses one of several
results. Among the points are tails, tiny and huge operands and removable singularities.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath as mp
from scipy import special

Truth = Callable[..., Any]


@dataclass(frozen=True)
class Case:
    """One function (or one of its results) and its points."""

    name: str
    truth: Truth | None
    points: tuple[tuple[float, ...], ...]
    wrt: tuple[int, ...]
    part: int | None = None
    tol: float = 1e-12  # relative, against mpmath; ten times more for each order
    orders: int = 2
    single: bool = True  # also in single precision?

    def __str__(self) -> str:
        return self.name if self.part is None else f"{self.name}[{self.part}]"

    def __call__(self, *args: Any) -> Any:
        out = getattr(special, self.name)(*args)
        return out if self.part is None else out[self.part]


CASES: list[Case] = []


def case(names: str, truth: Truth | None, *points: Any, wrt: Any = None, **options: Any) -> None:
    """Add a case for each of `names` (of one function); a point of a single operand may be a number."""
    tuples = tuple(p if isinstance(p, tuple) else (p,) for p in points)
    for name in names.split():
        if hasattr(special, name):
            CASES.append(
                Case(name, truth, tuples, tuple(range(len(tuples[0]))) if wrt is None else wrt, **options)
            )


def parts(names: str, truths: Any, *points: Any, **options: Any) -> None:
    """Add a case for each result of a function with several."""
    for i, truth in enumerate(truths):
        case(names, truth, *points, part=i, **options)


# ---- elementary ------------------------------------------------------------------------------------------------------
def degrees(function: Truth) -> Truth:
    return lambda x: function(x * mp.pi / 180)


def box(x: Any, y: Any) -> Any:
    return mp.expm1(y * mp.log(x)) / y


def unbox(x: Any, y: Any) -> Any:
    return mp.exp(mp.log(1 + x * y) / y)


case("cbrt", mp.cbrt, 0.3, 1e40, 1e-100, orders=3)
case("exp2", lambda x: 2**x, 0.3, -20.0)
case("exp10", lambda x: mp.mpf(10) ** x, 0.3, -20.0)
case("expm1", mp.expm1, 0.3, 1e-9, -40.0)
case("log1p", mp.log1p, 0.3, 1e-9, 2.0**-30 - 1)
case("powm1", lambda x, y: x**y - 1, (1.1, 0.5), (2.0, 1e-9), (0.3, -2.0))
case("expit", lambda x: 1 / (1 + mp.exp(-x)), 0.3, 40.0, -40.0, -300.0)
case("log_expit", lambda x: -mp.log(1 + mp.exp(-x)), 0.3, 40.0, -40.0, -300.0)
case("logit", lambda x: mp.log(x / (1 - x)), 0.3, 1e-10, 1 - 2.0**-30, 1e-120, orders=3)
case("cosm1", lambda x: mp.cos(x) - 1, 0.3, 1e-8)
case("sindg", degrees(mp.sin), 30.0, -130.0)
case("cosdg", degrees(mp.cos), 30.0, -130.0)
case("tandg", degrees(mp.tan), 30.0, 89.0)
case("cotdg", degrees(mp.cot), 30.0, 1.0, 1e-8)
case("radian", lambda x, y, z: (x + y / 60 + z / 3600) * mp.pi / 180, (30.0, 5.0, 7.0), orders=1)
case("exprel", lambda x: mp.expm1(x) / x, 1e-8, -0.3, 3.0, 4.9, 5.1, -3.0, -5.0, 30.0, -1e3, orders=3)
case("boxcox", box, (2.0, 0.5), (2.0, 1e-9), (0.5, -1.0), (1e-3, 0.3), (1 + 2.0**-20, 0.3))
case("boxcox1p", lambda x, y: box(1 + x, y), (2.0, 0.5), (2.0, 1e-9), (1e-9, -1.0))
case("inv_boxcox", unbox, (2.0, 0.5), (2.0, 1e-9), (0.5, -1.0), (-0.3, 0.3))
case("inv_boxcox1p", lambda x, y: unbox(x, y) - 1, (2.0, 0.5), (2.0, 1e-9), (0.5, -1.0))
case("xlogy", lambda x, y: x * mp.log(y), (0.3, 0.4), (2.0, 1e-9))
case("xlog1py", lambda x, y: x * mp.log(1 + y), (0.3, 0.4), (2.0, 1e-9))
case("entr", lambda x: -x * mp.log(x), 0.3, 1e-8, 4.0)
case("rel_entr", lambda x, y: x * mp.log(x / y), (0.3, 0.4), (1.0, 1 + 2.0**-30), (1e-200, 1e100))
case("kl_div", lambda x, y: x * mp.log(x / y) - x + y, (0.3, 0.4), (1.0, 1 + 2.0**-30))
case("huber", lambda x, y: y * y / 2 if abs(y) <= x else x * (abs(y) - x / 2), (1.0, 0.5), (1.0, -3.0))
HUBER = [(1.0, 0.5), (1.0, 1e-4), (2.0, -30.0), (1.0, 3e8), (1e160, 2e160)]
case("pseudo_huber", lambda x, y: x * x * (mp.sqrt(1 + (y / x) ** 2) - 1), *HUBER, orders=3)

# ---- gamma and zeta --------------------------------------------------------------------------------------------------
BESIDE = -1 + 2.0**-30  # beside a pole of the gamma function
case("gamma", mp.gamma, 0.1, 1.5, 30.0, -1.5, -1.001, BESIDE, orders=3)
case("gammaln loggamma", mp.loggamma, 0.1, 1.0, 2.0, 30.0, 1e5, 1e-5, orders=3)
case("psi digamma", mp.digamma, 0.1, 1.5, 30.0, -1.5, -16.5, -1.001, 1e5, -1e-3, orders=3)
case("rgamma", mp.rgamma, 0.0, -1.0, -3.0, -2.999, -2.5, 0.1, 0.9, 30.0, orders=3)
BETA = [(1.0, 2.0), (0.3, 0.2), (100.0, 1.5), (30.0, 40.0), (1e-8, 1.0), (1e-3, 1e-3), (50.0, 1e-8)]
case("beta", mp.beta, *BETA, orders=3)
case("betaln", lambda x, y: mp.log(mp.beta(x, y)), (1.0, 2.0), (0.3, 0.2), (1e6, 0.5), (1e10, 3.0))
POCH = [
    (1.0, 2.0),
    (0.3, 0.2),
    (0.0, 1.5),
    (-2.0, 3.0),
    (-1.5, 2.0),
    (1e-8, 1.0),
    (1e-8, 2e-8),
    (1e-3, -1e-2),
    (BESIDE, 0.3),
    (-2.0001, 2.0),
]
case("poch", lambda x, y: mp.gamma(x + y) * mp.rgamma(x), *POCH, orders=3)
case("binom", mp.binomial, (5.0, 2.0), (5.5, 2.3), (10.0, 0.0), (3.0, 5.0), (3.5, -2.0), (1000.0, 2.0))
case("binom", mp.binomial, (1e-8, 2.0), (BESIDE, 2.0), wrt=(0,), orders=3)
case("binom", mp.binomial, (5.5, BESIDE), (-2.5, 0.4), orders=3)
case("zetac", lambda x: mp.zeta(x) - 1, 1.1, 3.5, 10.0, 0.7, 0.3, -2.0, -5.5)
case("zeta", mp.zeta, 1.1, 3.5, 10.0, 0.7, 0.3, -2.0, -5.5)
case("zeta", mp.zeta, (1.1, 0.3), (3.5, 20.0), (10.0, 0.5), tol=1e-11)


# ---- errors ----------------------------------------------------------------------------------------------------------
def faddeeva(z: Any) -> Any:
    return mp.exp(-z * z) * mp.erfc(-1j * z)


def voigt(x: Any, y: Any, z: Any) -> Any:
    return mp.re(faddeeva((x + 1j * z) / (y * mp.sqrt(2)))) / (y * mp.sqrt(2 * mp.pi))


def owens(x: Any, y: Any) -> Any:
    return mp.quad(lambda t: mp.exp(-x * x * (1 + t * t) / 2) / (1 + t * t), [0, y]) / (2 * mp.pi)


def log_normal(x: Any) -> Any:
    return mp.log(mp.erfc(-x / mp.sqrt(2)) / 2)


case("erf", mp.erf, 0.3, 3.0, -5.0, 26.0)
case("erfc", mp.erfc, 0.3, -3.0, 5.0, 26.0)
case("erfi", mp.erfi, 0.3, -3.0, 5.0)
case("erfcx", lambda x: mp.exp(x * x) * mp.erfc(x), 1e-8, 0.3, 1.9, 2.1, 7.0, 1e3, -0.3, -3.0, orders=3)
case(
    "dawsn",
    lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x),
    1e-8,
    0.3,
    1.9,
    2.1,
    5.0,
    8.0,
    -0.3,
    -5.0,
    orders=3,
)
case("erfinv", mp.erfinv, 0.3, 0.9, -0.5)
case("erfcinv", lambda x: mp.erfinv(1 - x), 0.3, 1.5, 1e-3)
case("ndtr", mp.ncdf, 0.3, 5.0, -5.0, -37.0)
case("log_ndtr", log_normal, 0.3, 5.0, 20.0, -0.3, -5.0, -8.9, -9.1, -50.0, -1e3, -1e5, orders=3)
case("ndtri", lambda x: mp.sqrt(2) * mp.erfinv(2 * x - 1), 0.3, 0.9, 0.01)
case("ndtri_exp", lambda x: mp.sqrt(2) * mp.erfinv(2 * mp.exp(x) - 1), -0.3, -2.0)
case("owens_t", owens, (0.3, 0.5), (2.0, 1.5))
case("voigt_profile", voigt, (0.3, 1.0, 0.5), (2.0, 0.1, 0.05), tol=1e-11)


# ---- distributions ---------------------------------------------------------------------------------------------------
def incomplete_gamma(x: Any, y: Any) -> Any:
    return mp.gammainc(x, 0, y, regularized=True)


def incomplete_beta(x: Any, y: Any, z: Any) -> Any:
    return mp.betainc(x, y, 0, z, regularized=True)


def student(x: Any, y: Any) -> Any:
    return (1 + mp.sign(y) * incomplete_beta(mp.mpf(1) / 2, x / 2, y * y / (x + y * y))) / 2


def chi2_tail(x: Any, y: Any, z: Any) -> Any:
    """The noncentral chi-square distribution function, a mixture of central ones."""
    term = lambda k: mp.exp(-z / 2) * (z / 2) ** k / mp.factorial(k) * incomplete_gamma(y / 2 + k, x / 2)
    return mp.nsum(lambda k: term(int(k)), [0, mp.inf], method="d")


case(
    "gammainc",
    incomplete_gamma,
    (2.5, 0.3),
    (2.5, 10.0),
    (200.0, 200.0),
    (200.0, 100.0),
    (0.5, 1e-8),
    (12.0, 1e-8),
    wrt=(1,),
)
case(
    "gammaincc", lambda x, y: 1 - incomplete_gamma(x, y), (2.5, 0.3), (200.0, 200.0), (200.0, 300.0), wrt=(1,)
)
case("gammaincinv gammainccinv", None, (2.5, 0.3), (30.0, 0.9), wrt=(1,))
case(
    "betainc btdtr",
    incomplete_beta,
    (2.5, 1.5, 0.3),
    (0.5, 0.5, 0.9),
    (30.0, 20.0, 0.5),
    (12.0, 70.0, 1e-8),
    wrt=(2,),
)
case("betaincc", lambda x, y, z: 1 - incomplete_beta(x, y, z), (2.5, 1.5, 0.3), (5.0, 1e4, 1e-4), wrt=(2,))
case("betaincinv betainccinv btdtri", None, (2.5, 1.5, 0.3), (20.0, 30.0, 0.9), wrt=(2,))
case("chdtr", lambda x, y: incomplete_gamma(x / 2, y / 2), (3.0, 1.3), (100.0, 90.0), (3.0, 5e-324), wrt=(1,))
case("chdtrc", lambda x, y: 1 - incomplete_gamma(x / 2, y / 2), (3.0, 1.3), wrt=(1,))
case("chdtri", None, (3.0, 0.3), wrt=(1,))
case(
    "fdtr",
    lambda x, y, z: incomplete_beta(x / 2, y / 2, x * z / (x * z + y)),
    (3.0, 4.0, 0.7),
    (3.0, 4.0, 1e3),
    (3.0, 4.0, 5e-324),
    (30.0, 50.0, 1.1),
    wrt=(2,),
)
case(
    "fdtrc",
    lambda x, y, z: incomplete_beta(y / 2, x / 2, y / (x * z + y)),
    (3.0, 4.0, 0.7),
    (3.0, 4.0, 1e3),
    wrt=(2,),
)
case("fdtri", None, (3.0, 4.0, 0.3), wrt=(2,))
case("stdtr", student, (3.0, 0.7), (30.0, -8.0), (0.5, 1e3), wrt=(1,))
case("stdtrit", None, (3.0, 0.7), wrt=(1,))
case("gdtr", lambda x, y, z: incomplete_gamma(y, x * z), (1.2, 2.0, 0.7), wrt=(0, 2))
case("gdtrc", lambda x, y, z: 1 - incomplete_gamma(y, x * z), (1.2, 2.0, 0.7), wrt=(0, 2))
case("gdtria gdtrix", None, (0.3, 2.0, 0.7), wrt=(0, 2))
case("chndtr", chi2_tail, (3.0, 2.5, 1.5), (0.3, 1.0, 0.1), wrt=(0, 2))
case("chndtrix", None, (0.3, 2.5, 1.5), wrt=(0, 2))
case("chndtrinc", None, (3.0, 2.5, 0.4), wrt=(0, 2))
case("nrdtrimn", lambda x, y, z: z - y * mp.sqrt(2) * mp.erfinv(2 * x - 1), (0.3, 2.0, 1.0))
case("nrdtrisd", lambda x, y, z: (z - x) / mp.sqrt(2) / mp.erfinv(2 * y - 1), (1.0, 0.7, 2.0))
case("tklmbda", None, (0.3, 0.4), (0.3, -0.4), (1.0, 0.1))
# (In single precision SciPy takes the count of bdtr for a real number, and warns.)
case(
    "bdtr",
    lambda x, y, z: incomplete_beta(y - x, x + 1, 1 - z),
    (2.0, 5, 0.3),
    (20.0, 50, 0.3),
    wrt=(2,),
    single=False,
)
case("bdtrc", lambda x, y, z: incomplete_beta(x + 1, y - x, z), (2.0, 5, 0.3), wrt=(2,), single=False)
case("bdtri nbdtri", None, (2, 5, 0.3), wrt=(2,), single=False)
case("nbdtr", lambda x, y, z: incomplete_beta(y, x + 1, z), (2.0, 5.0, 0.3), wrt=(2,))
case("nbdtrc", lambda x, y, z: 1 - incomplete_beta(y, x + 1, z), (2.0, 5.0, 0.3), wrt=(2,))
case("pdtr", lambda x, y: 1 - incomplete_gamma(x + 1, y), (2.0, 1.3), wrt=(1,))
case("pdtrc", lambda x, y: incomplete_gamma(x + 1, y), (2.0, 1.3), wrt=(1,))
case("pdtri", None, (2.0, 0.3), wrt=(1,))
case(
    "kolmogorov",
    lambda x: -2 * mp.nsum(lambda k: (-1) ** k * mp.exp(-2 * k * k * x * x), [1, mp.inf]),
    0.6,
    0.99,
    1.01,
    5.0,
)
case("kolmogi", None, 0.3, 0.9)


# ---- Bessel ----------------------------------------------------------------------------------------------------------
def of_order(n: int, function: Truth) -> Truth:
    return lambda x: function(n, x)


def small_i(v: Any, x: Any) -> Any:
    return mp.exp(-abs(x)) * mp.besseli(v, x)


def large_k(v: Any, x: Any) -> Any:
    return mp.exp(x) * mp.besselk(v, x)


for n in (0, 1):
    case(f"j{n}", of_order(n, mp.besselj), 0.3, -3.5, 30.0, orders=3)
    case(f"y{n}", of_order(n, mp.bessely), 0.3, 3.5, 30.0, orders=3)
    case(f"i{n}", of_order(n, mp.besseli), 0.3, -3.5, 30.0, -1e-310, 5e-324, 600.0, orders=3)
    case(f"k{n}", of_order(n, mp.besselk), 0.3, 3.5, 30.0, 600.0, orders=3)
    case(f"i{n}e", of_order(n, small_i), 0.3, 2.9, -3.1, 30.0, 1e6, orders=3)
    case(f"k{n}e", of_order(n, large_k), 0.3, 2.9, 3.1, 30.0, 1e6, orders=3)
case("jv jn jve", mp.besselj, (0.0, 0.3), (2.5, 3.5), (5.0, 30.0), wrt=(1,))
case("yv yve", mp.bessely, (0.0, 0.3), (2.5, 3.5), (5.0, 30.0), wrt=(1,))
case("yn", mp.bessely, (0, 0.3), (2, 3.5), (5, 30.0), wrt=(1,))
case(
    "iv", mp.besseli, (0.0, 0.3), (2.5, 3.5), (5.0, 30.0), (0.0, -1e-300), (1.5, 1e-9), (2.0, 1e-9), wrt=(1,)
)
case("kv", mp.besselk, (0.0, 0.3), (2.5, 3.5), (5.0, 30.0), wrt=(1,))
case("kn", mp.besselk, (0, 0.3), (2, 3.5), (5, 30.0), wrt=(1,))
case("ive", small_i, (0.0, 0.3), (2.5, 3.5), (3.0, -2.0), (4.0, -5.0), (5.0, 1e4), wrt=(1,))
case("kve", large_k, (0.0, 0.3), (2.5, 3.5), (5.0, 1e4), wrt=(1,))
for name, component in (("ber", mp.ber), ("bei", mp.bei), ("ker", mp.ker), ("kei", mp.kei)):
    case(name, of_order(0, component), 0.3, 1.9, 3.0, 10.0, 1e-20, 1e-8, orders=3)
for name, component in (("berp", mp.ber), ("beip", mp.bei), ("kerp", mp.ker), ("keip", mp.kei)):
    case(name, lambda x, f=component: mp.diff(of_order(0, f), x), 0.3, 3.0, orders=1)
STRUVE = [(0.0, 0.3), (2.5, 3.5), (1.0, 20.0), (0.0, -1e-9), (1.0, 1e-9), (0.5, 1e-9)]
case("struve", mp.struveh, *STRUVE, wrt=(1,), tol=1e-11)
case("modstruve", mp.struvel, *STRUVE, wrt=(1,), tol=1e-11)
AIRY = [mp.airyai, lambda x: mp.airyai(x, derivative=1), mp.airybi, lambda x: mp.airybi(x, derivative=1)]
parts("airy", AIRY, 0.3, -2.0, 5.0)
scale = lambda x: mp.exp(2 * x**1.5 / 3)
parts("airye", [lambda x, f=f: f(x) * scale(x) for f in AIRY[:2]], 0.3, 5.0, 20.0, 300.0, orders=3)
for i, airy in enumerate(AIRY[2:], 2):
    case("airye", lambda x, f=airy: f(x) / scale(x), 0.3, 5.0, 20.0, 300.0, part=i, orders=3)

# ---- elliptic --------------------------------------------------------------------------------------------------------
SYMMETRIC = [(1.0, 2.0, 3.0), (1.0, 1.0, 1.0), (1e-5, 2.0, 300.0)]
case("ellipk", mp.ellipk, 0.0, 0.3, 1 - 1e-6, -5.0, -1e4, orders=3)
case("ellipe", mp.ellipe, 0.0, 0.3, 1 - 1e-6, -5.0, -1e4, orders=3)
case("ellipkm1", lambda x: mp.ellipk(1 - x), 0.3, 1e-20, 1e-5, 3.0)
case("ellipkinc", mp.ellipf, (0.5, 0.3), (1.5, 0.9), (4.0, 0.5), (-3.0, 0.2), (0.5, 0.0), (0.5, -3.0))
case("ellipeinc", mp.ellipe, (0.5, 0.3), (1.5, 0.9), (4.0, 0.5), (-3.0, 0.2), (0.5, 0.0), (0.5, -3.0))
case("elliprf", mp.elliprf, *SYMMETRIC, (1e-150, 1.0, 2.0))
case("elliprd", mp.elliprd, *SYMMETRIC)
case("elliprg", mp.elliprg, *SYMMETRIC, (1e-150, 1.0, 2.0))
case("elliprc", mp.elliprc, (1.0, 2.0), (1.0, 1.0), (3.0, 0.2))
case("elliprj", mp.elliprj, (1.0, 2.0, 3.0, 4.0), (1.0, 1.0, 1.0, 1.0), orders=1)
case("agm", mp.agm, (1.0, 2.0), (1.0, 1.0), (1e-3, 1e3), (1e200, 3e200))
parts(
    "ellipj",
    [lambda x, y, kind=kind: mp.ellipfun(kind, x, m=y) for kind in ("sn", "cn", "dn")],
    (0.5, 0.3),
    (-2.0, 0.9),
)
case("ellipj", None, (0.5, 0.3), (3.0, 0.9), part=3)


# ---- integrals -------------------------------------------------------------------------------------------------------
def lambert(x: Any) -> Any:
    return mp.re(mp.lambertw(x))


case("exp1", mp.e1, 0.3, 3.0, 20.0)
case("expi", mp.ei, 0.3, 3.0, -20.0)
case("expn", mp.expint, (0.0, 0.3), (1.0, 3.0), (2.0, 0.3), (5.0, 20.0), wrt=(1,), orders=3)
parts("sici", [mp.si, mp.ci], 0.3, 1e-3, 3.0, 20.0, orders=3)
parts("shichi", [mp.shi, mp.chi], 0.3, 1e-3, 3.0, 20.0, orders=3)
parts("fresnel", [mp.fresnels, mp.fresnelc], 1e-3, 0.3, 3.3, 20.3, tol=1e-11)
case("spence", lambda x: mp.polylog(2, 1 - x), 0.3, 0.9, 1.0, 1.1, 1.6, 1e-10, orders=3)
case("wrightomega", lambda x: mp.lambertw(mp.exp(x)), 0.3, -20.0, 20.0, orders=3)
parts("itj0y0", [lambda x: mp.quad(lambda t: mp.besselj(0, t), [0, x]), None], 0.5, 5.0)
parts("iti0k0", [lambda x: mp.quad(lambda t: mp.besseli(0, t), [0, x]), None], 0.5, 5.0)
parts("it2j0y0", [lambda x: mp.quad(lambda t: (1 - mp.besselj(0, t)) / t, [0, x]), None], 0.01, 0.5, 5.0)
parts("it2i0k0", [lambda x: mp.quad(lambda t: (mp.besseli(0, t) - 1) / t, [0, x]), None], 0.01, 0.5, 5.0)
parts("itairy", [lambda x: mp.quad(mp.airyai, [0, x]), lambda x: mp.quad(mp.airybi, [0, x])], 0.3, 1.5)
parts("itairy", [None, None, lambda x: mp.quad(lambda t: mp.airyai(-t), [0, x]), None], 0.3, 1.5)
case("itstruve0", lambda x: mp.quad(lambda t: mp.struveh(0, t), [0, x]), 0.5, 5.0)
case("itmodstruve0", lambda x: mp.quad(lambda t: mp.struvel(0, t), [0, x]), 0.5, 5.0)
case("it2struve0", None, 0.5, 5.0)
case("besselpoly", None, (1.0, 1.0, 0.0), (0.5, 0.5, 1.0), wrt=(0,))


# ---- hypergeometric --------------------------------------------------------------------------------------------------
def hyper_u(x: Any, y: Any, z: Any) -> Any:
    return mp.hyperu(x, y, z)


def lifted(function: Truth) -> Truth:
    """A shifted polynomial, in 2 x - 1."""
    return lambda *args: function(*args[:-1], 2 * args[-1] - 1)


case("hyp0f1", mp.hyp0f1, (1.5, 0.3), (2.0, -5.0), wrt=(1,))
case("hyp1f1", mp.hyp1f1, (0.5, 1.5, -0.7), (2.0, 3.0, 4.0), wrt=(2,))
case("hyp2f1", mp.hyp2f1, (0.5, 1.5, 2.5, 0.3), (0.5, 1.5, 2.5, -4.0), wrt=(3,))
case("hyperu", hyper_u, (0.5, 1.5, 2.0), wrt=(2,), tol=1e-9)
case("wright_bessel log_wright_bessel", None, (0.5, 1.5, 1.0), wrt=(2,))
DEGREES = [(0.0, 0.3), (1.0, -0.4), (5.0, 0.3), (2.5, 0.3)]
case("eval_legendre", mp.legendre, *DEGREES, (5.0, 1.0), (5.0, 0.0), (5.0, 1e-9), wrt=(1,))
case("eval_chebyt", mp.chebyt, *DEGREES, wrt=(1,))
case("eval_chebyu", mp.chebyu, *DEGREES, wrt=(1,))
case("eval_chebyc", lambda x, y: 2 * mp.chebyt(x, y / 2), *DEGREES, wrt=(1,))
case("eval_chebys", lambda x, y: mp.chebyu(x, y / 2), *DEGREES, wrt=(1,))
WHOLE = [(0, 0.3), (1, -0.4), (5, 0.3)]
case("eval_hermite", mp.hermite, *WHOLE, wrt=(1,))
case("eval_hermitenorm", lambda x, y: mp.hermite(x, y / mp.sqrt(2)) / mp.mpf(2) ** (x / 2), *WHOLE, wrt=(1,))
case("eval_laguerre", lambda x, y: mp.laguerre(x, 0, y), *DEGREES, wrt=(1,))
case("eval_genlaguerre", mp.laguerre, (0.0, 0.5, 0.3), (5.0, 0.5, 0.3), (2.5, 0.5, 0.3), wrt=(2,))
case("eval_genlaguerre", mp.laguerre, (0.0, 0.5, 0.3), (1.0, 0.5, 0.3), (5.0, 0.5, 0.3), wrt=(1, 2), orders=1)
case("eval_gegenbauer", mp.gegenbauer, (0.0, 0.5, 0.3), (5.0, 1.5, 0.3), (2.5, 0.5, 0.3), wrt=(2,))
case("eval_jacobi", mp.jacobi, (0.0, 0.5, 1.5, 0.3), (5.0, 0.5, 1.5, 0.3), (2.5, 0.5, 1.5, 0.3), wrt=(3,))
case("eval_sh_legendre", lifted(mp.legendre), (0.0, 0.3), (5.0, 0.3), wrt=(1,))
case("eval_sh_chebyt", lifted(mp.chebyt), (0.0, 0.3), (5.0, 0.3), wrt=(1,))
case("eval_sh_chebyu", lifted(mp.chebyu), (0.0, 0.3), (5.0, 0.3), wrt=(1,))
case("eval_sh_jacobi", None, (0.0, 2.5, 1.5, 0.3), (5.0, 2.5, 1.5, 0.3), wrt=(3,))
case("lpmv", lambda x, y, z: mp.legenp(y, x, z), (1.0, 3.0, 0.3), (0.0, 2.0, -0.3), (2.0, 2.5, 0.3), wrt=(2,))

# ---- waves -----------------------------------------------------------------------------------------------------------
parts("pbdv", [mp.pcfd, None], (1.5, 0.7), (-1.5, 2.0), wrt=(1,))
parts("pbvv", [lambda x, y: mp.pcfv(-x - mp.mpf(1) / 2, y), None], (1.5, 0.7), wrt=(1,), tol=1e-10)
parts("pbwa", [None, None], (1.5, 0.7), (-1.5, 0.7), wrt=(1,))
# (In single precision SciPy's Mathieu functions are NaN, and its spheroidal functions never return.)
parts("mathieu_cem mathieu_sem", [None, None], (2.0, 1.5, 30.0), (1.0, 0.5, 100.0), wrt=(2,), single=False)
parts(
    "mathieu_modcem1 mathieu_modcem2", [None, None], (2.0, 1.5, 0.3), (1.0, 0.5, 1.3), wrt=(2,), single=False
)
parts(
    "mathieu_modsem1 mathieu_modsem2", [None, None], (2.0, 1.5, 0.3), (1.0, 0.5, 1.3), wrt=(2,), single=False
)
parts("pro_ang1 obl_ang1", [None, None], (1.0, 2.0, 1.5, 0.3), (0.0, 1.0, 3.0, -0.7), wrt=(3,), single=False)
parts("pro_rad1 obl_rad1", [None, None], (1.0, 2.0, 1.5, 1.3), (0.0, 1.0, 3.0, 3.0), wrt=(3,), single=False)
PROLATE, OBLATE = float(special.pro_cv(1, 2, 1.5)), float(special.obl_cv(1, 2, 1.5))
parts("pro_ang1_cv", [None, None], (1.0, 2.0, 1.5, PROLATE, 0.3), wrt=(4,), single=False)
parts("pro_rad1_cv", [None, None], (1.0, 2.0, 1.5, PROLATE, 1.3), wrt=(4,), single=False)
parts("obl_ang1_cv", [None, None], (1.0, 2.0, 1.5, OBLATE, 0.3), wrt=(4,), single=False)
parts("obl_rad1_cv", [None, None], (1.0, 2.0, 1.5, OBLATE, 1.3), wrt=(4,), single=False)
# ---- shape parameters ------------------------------------------------------------------------------------------------
SHAPES: dict[str, Any] = {"tol": 3e-12}
case("gammainc", incomplete_gamma, (2.5, 0.3), (2.5, 10.0), (0.5, 1e-8), (200.0, 200.0), wrt=(0,), **SHAPES)
case("gammainc", incomplete_gamma, (60.0, 60.0), (150.0, 130.0), (1000.0, 1150.0), wrt=(0,), **SHAPES)
case(
    "gammaincc",
    lambda x, y: 1 - incomplete_gamma(x, y),
    (2.5, 0.3),
    (2.5, 30.0),
    (200.0, 230.0),
    wrt=(0,),
    **SHAPES,
)
case("gammaincinv gammainccinv", None, (2.5, 0.3), (30.0, 0.9), wrt=(0,))
case(
    "betainc btdtr",
    incomplete_beta,
    (2.5, 1.5, 0.3),
    (0.5, 0.5, 0.9),
    (30.0, 20.0, 0.5),
    wrt=(0, 1),
    **SHAPES,
)
case("betaincc", lambda x, y, z: 1 - incomplete_beta(x, y, z), (2.5, 1.5, 0.3), wrt=(0, 1), **SHAPES)
case("betaincinv betainccinv btdtri", None, (2.5, 1.5, 0.3), (20.0, 30.0, 0.9), wrt=(0, 1))
case("chdtr", lambda x, y: incomplete_gamma(x / 2, y / 2), (3.0, 1.3), (100.0, 90.0), wrt=(0,), **SHAPES)
case("chdtrc", lambda x, y: 1 - incomplete_gamma(x / 2, y / 2), (3.0, 1.3), wrt=(0,), **SHAPES)
case("chdtri", None, (3.0, 0.3), wrt=(0,))
case(
    "fdtr",
    lambda x, y, z: incomplete_beta(x / 2, y / 2, x * z / (x * z + y)),
    (3.0, 4.0, 0.7),
    wrt=(0, 1),
    **SHAPES,
)
case(
    "fdtrc",
    lambda x, y, z: incomplete_beta(y / 2, x / 2, y / (x * z + y)),
    (3.0, 4.0, 0.7),
    wrt=(0, 1),
    **SHAPES,
)
case("fdtri", None, (3.0, 4.0, 0.3), wrt=(0, 1))
case("stdtr", student, (3.0, 0.7), (30.0, -2.0), wrt=(0,), **SHAPES)
case("stdtrit", None, (3.0, 0.7), wrt=(0,))
case("gdtr", lambda x, y, z: incomplete_gamma(y, x * z), (1.2, 2.0, 0.7), wrt=(1,), **SHAPES)
case("gdtrc", lambda x, y, z: 1 - incomplete_gamma(y, x * z), (1.2, 2.0, 0.7), wrt=(1,), **SHAPES)
case(
    "hyp0f1",
    mp.hyp0f1,
    (1.5, 0.3),
    (2.0, -5.0),
    (0.3, -200.0),
    (12.0, -1e4),
    (20.0, -60.0),
    wrt=(0,),
    **SHAPES,
)
case("hyp1f1", mp.hyp1f1, (0.5, 1.5, -0.7), (2.0, 3.0, 4.0), (0.7, 1.6, -20.0), wrt=(0, 1), **SHAPES)
case(
    "hyp2f1",
    mp.hyp2f1,
    (0.5, 1.5, 2.5, 0.3),
    (0.5, 1.5, 2.5, -0.8),
    (3.2, 0.3, 2.5, 0.999),
    wrt=(0, 1, 2),
    **SHAPES,
)
case("hyp2f1", mp.hyp2f1, (0.5, 1.5, 2.5, -1e4), (-0.7, 1.5, 0.6, -4.0), wrt=(0, 1, 2), **SHAPES)
case("eval_genlaguerre", mp.laguerre, (0.0, 0.5, 0.3), (5.0, 0.5, 0.3), wrt=(1,))
