"""Derivatives in shape parameters: incomplete gamma and beta functions, confluent functions.

Each is the derivative of a representation that is smooth in the parameter: an integral over (0, 1) of a
positive function, by the double exponential rule (Takahasi and Mori, 1974), or a series of which each term
has a derivative. They are functions like any other, so all orders follow.

    P(a, x) = x**a / gamma(a) * integral of s**(a - 1) exp(-x s)               (x below a + 1)
            = x**a / gamma(a + 1) * (1 + a * integral of s**(a - 1) (exp(-x s) - 1)),   for a small a
    Q(a, x) = x**a exp(-x) / gamma(a) * integral of exp(-x s) (1 + s)**(a - 1), s from 0 to inf
    I_x(a, b) = x**a / B(a, b) * integral of s**(a - 1) (1 - x s)**(b - 1)     (x below the mean, else by symmetry)

and the like for a small a. 1/gamma(a) and 1/B(a, b) are taken as functions that are smooth at 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from funcgrad.core.engine.trace import concrete
from funcgrad.scipy.special import uniform
from funcgrad.scipy.special.densities import LARGE, _deviance, _stirling_rest
from funcgrad.transforms.derivatives import jvp

_T = np.pi / 2 * np.sinh(np.arange(-4.0, 4.0 + 1e-9, 1 / 48))
NODES, WEIGHTS = (
    1 / (1 + np.exp(-2 * _T)),
    np.pi / 4 * np.cosh(np.arange(-4.0, 4.0 + 1e-9, 1 / 48)) / np.cosh(_T) ** 2 / 48,
)
LOG_NODES = -np.log1p(np.exp(-2 * _T))
FROM_ONE = 1 / (1 + np.exp(2 * _T))


def _wide(x: Any) -> Any:
    """With an axis for the nodes."""
    return np.expand_dims(x, -1)


def in_parameter(f: Callable[..., Any], which: int, *args: Any) -> Any:
    """The derivative of f in one of its arguments, elementwise."""
    arrays = np.broadcast_arrays(
        *[np.asarray(x, dtype=float) if isinstance(x, (int, float)) else x for x in args]
    )
    given = tuple(x + 0.0 for x in arrays)
    ts = tuple(np.ones_like(x) if k == which else np.zeros_like(x) for k, x in enumerate(given))
    return jvp(f, given, ts)[1]


# ---- gamma ---------------------------------------------------------------------------------------------------------------


def _log_of_density(a: Any, x: Any) -> Any:
    """log(x**a exp(-x) / gamma(a)), for large a in Loader's form, in which log(x) - psi(a) does not cancel."""
    large = a > LARGE
    b = np.where(large, a, LARGE)
    saddle = 0.5 * np.log(b / (2 * np.pi)) - _stirling_rest(b) - _deviance(b, x)
    return np.where(large, saddle, a * np.log(x) - x - special.gammaln(a))


def _lower_gamma(a: Any, x: Any) -> Any:
    small = a < 2
    b, c = np.where(small, a, 1.0), np.where(small, 2.0, a)
    below = np.sum(WEIGHTS * np.exp((_wide(b) - 1) * LOG_NODES) * np.expm1(-_wide(x) * NODES), axis=-1)
    of_small = x**b * special.rgamma(b + 1) * (1 + b * below)
    # (with exp(-x) taken out: near s = 1, where the integrand is, the other terms are small)
    outside = _wide(_log_of_density(c, x))
    exponent = (_wide(c) - 1) * LOG_NODES + _wide(x) * FROM_ONE + outside
    return np.where(small, of_small, np.sum(WEIGHTS * np.exp(exponent), axis=-1))


def _upper_gamma(a: Any, x: Any) -> Any:
    """With s = v / (1 - v) / x, so that exp(-x s) does not depend on x."""
    s = NODES / FROM_ONE
    inner = np.sum(WEIGHTS / FROM_ONE**2 * np.exp((_wide(a) - 1) * np.log1p(s / _wide(x)) - s), axis=-1)
    # 1 / gamma(a) = a / gamma(a + 1)
    return a * np.exp((a - 1) * np.log(x) - x - special.gammaln(a + 1)) * inner


def gamma_in_shape(a: Any, x: Any) -> Any:
    """dP/da."""
    upper = x > a + 1
    inside = (x > 0) & (x < np.inf)
    low = in_parameter(_lower_gamma, 0, a, np.where(upper | np.logical_not(inside), 0.5, x))
    high = in_parameter(_upper_gamma, 0, a, np.where(upper & inside, x, a + 2.0))
    out = np.where(upper, -high, low)
    near = uniform.near_the_mean(a, x)
    if np.any(concrete(near)):
        b = np.where(near, a, uniform.LEAST)
        out = np.where(near, in_parameter(uniform.lower_gamma, 0, b, np.where(near, x, uniform.LEAST)), out)
    return np.where(inside, out, 0.0)


# ---- beta ----------------------------------------------------------------------------------------------------------------


def _beta(a: Any, b: Any, x: Any) -> Any:
    """1 / B(a, b) is b / (a+b) / B(a, b+1), and 1 / (a B(a, b)) is b / ((a+b) (a+b+1)) / B(a+1, b+1)."""
    small = a < 2
    c, d = np.where(small, a, 1.0), np.where(small, 2.0, a)
    logs = (_wide(b) - 1) * np.log1p(-_wide(x) * NODES)
    below = np.sum(WEIGHTS * np.exp((_wide(c) - 1) * LOG_NODES) * np.expm1(logs), axis=-1)
    weight = b / (c + b) / (c + b + 1) * np.exp(c * np.log(x) - special.betaln(c + 1, b + 1))
    exponent = (_wide(d) - 1) * LOG_NODES + logs + _wide(d * np.log(x) - special.betaln(d, b + 1))
    whole = b / (d + b) * np.sum(WEIGHTS * np.exp(exponent), axis=-1)
    return np.where(small, weight * (1 + c * below), whole)


def beta_in_shape(which: int, a: Any, b: Any, x: Any) -> Any:
    """The derivative of I_x(a, b) in a (which = 0) or b (which = 1)."""
    upper = x * (a + b) > a
    inside = (x > 0) & (x < 1)
    y = np.where(inside, np.where(upper, 1 - x, x), 0.5)
    first, second = np.where(upper, b, a), np.where(upper, a, b)
    in_first, in_second = in_parameter(_beta, 0, first, second, y), in_parameter(_beta, 1, first, second, y)
    out = np.where(upper, -in_second, in_first) if which == 0 else np.where(upper, -in_first, in_second)
    return np.where(inside, out, 0.0)


def t_in_shape(df: Any, t: Any) -> Any:
    """The derivative of Student's distribution function in the degrees of freedom."""
    whole = df + t * t
    x, rest = df / whole, t * t / whole
    density = np.exp((0.5 * df - 1) * np.log(x) - 0.5 * np.log(rest + 1e-300) - special.betaln(0.5 * df, 0.5))
    slope = 0.5 * beta_in_shape(0, 0.5 * df, 0.5, x) + density * rest / whole
    return np.where(t == 0, 0.0, -0.5 * np.sign(t) * slope)


def f_in_shape(which: int, m: Any, n: Any, x: Any) -> Any:
    """The derivative of Fisher's distribution function in its degrees of freedom."""
    whole = n + m * x
    y, rest = m * x / whole, n / whole
    a, b = 0.5 * m, 0.5 * n
    density = np.exp((a - 1) * np.log(y) + (b - 1) * np.log(rest) - special.betaln(a, b))
    moved = x * n / whole**2 if which == 0 else -m * x / whole**2
    return 0.5 * beta_in_shape(which, a, b, y) + density * moved


# ---- confluent functions -------------------------------------------------------------------------------------------------


def _terms(count: int) -> Any:
    return np.arange(count, dtype=float)


def _sum_of(ratios: Any) -> Any:
    """1 + r0 + r0 r1 + ..."""
    return 1 + np.sum(np.cumprod(ratios, axis=-1), axis=-1)


def _count(x: Any) -> int:
    size = float(np.max(abs(np.asarray(concrete(x))), initial=0))
    return int(min(3 * size + 60, 3000)) if np.isfinite(size) else 60


def _kummer(a: Any, b: Any, x: Any) -> Any:
    k = _terms(_count(x))
    return _sum_of((_wide(a) + k) / (_wide(b) + k) / (k + 1) * _wide(x))


def _confluent(a: Any, b: Any, x: Any) -> Any:
    """Kummer's series, of exp(x) M(b - a, b, -x) for negative x, which does not cancel."""
    below = x < 0
    return np.where(below, np.exp(np.where(below, x, 0)), 1) * _kummer(np.where(below, b - a, a), b, abs(x))


def confluent_in_parameter(which: int, a: Any, b: Any, x: Any) -> Any:
    """The derivative of hyp1f1 in a (which = 0) or b (which = 1)."""
    return in_parameter(_confluent, which, a, b, x)
