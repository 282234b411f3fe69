"""erf, lgamma, digamma and their relatives, declared to the engine: NumPy lacks them.

erf is in erf.py; lgamma is the C library's (through `math`). Digamma and polygamma use the recurrence psi_n(x
+ 1) = psi_n(x) + (-1)^n n! x^(-n-1) up to x >= 12, then the asymptotic series with Bernoulli numbers (DLMF
5.11.2 and 5.15.8). Negative arguments go through the reflection formula (DLMF 5.5.4). erfinv begins with
Giles' approximation (2010) and is refined by steps of Halley's method.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from funcgrad.core.engine.declare import elementwise
from funcgrad.nn.kernels import erf as erf_values

_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)
# Giles' coefficients, for the middle and for the tails.
_GILES_NEAR = (
    2.81022636e-08,
    3.43273939e-07,
    -3.5233877e-06,
    -4.39150654e-06,
    0.00021858087,
    -0.00125372503,
    -0.00417768164,
    0.246640727,
    1.50140941,
)
_GILES_FAR = (
    -0.000200214257,
    0.000100950558,
    0.00134934322,
    -0.00367342844,
    0.00573950773,
    -0.0076224613,
    0.00943887047,
    1.00167406,
    2.83297682,
)


def _log_gamma(x: float) -> float:
    if math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return math.inf
    return math.lgamma(x)


_lgamma = np.vectorize(_log_gamma, otypes=[np.float64])


def _as(like: Any, out: Any) -> Any:
    return np.asarray(out, like.dtype)[()] if like.ndim == 0 else out.astype(like.dtype)


def erf(x: Any) -> Any:
    """2/sqrt(pi) times the integral of exp(-t*t) from 0 to x."""
    return erf_values.single_erf(x) if erf_values.is_single(x) else _as(x, erf_values.erf(x))


def erfc(x: Any) -> Any:
    """1 - erf(x), without cancellation."""
    return _as(x, erf_values.erfc(x))


def erfinv(x: Any) -> Any:
    """The inverse of erf."""
    return _as(x, erf_values.of_many(_erfinv, "erfinv", x))


def _erfinv(y: Any) -> Any:
    with np.errstate(all="ignore"):
        w = -np.log((1 - y) * (1 + y))
        near = y * np.polyval(_GILES_NEAR, w - 2.5)
        far = y * np.polyval(_GILES_FAR, np.sqrt(w) - 3)
        z = np.where(w < 5, near, far)
        for _ in range(5):
            gap = np.where(
                np.abs(y) > 0.5,
                -np.sign(y) * (erf_values.erfc(np.abs(z)) - (1 - np.abs(y))),
                erf_values.erf(z) - y,
            )
            step = gap / (2 / math.sqrt(math.pi) * np.exp(-z * z))
            z = z - np.where(np.isfinite(step), step / (1 + z * step), 0)
        return np.where(np.abs(y) == 1, np.copysign(np.inf, y), np.where(np.abs(y) > 1, np.nan, z))


def lgamma(x: Any) -> Any:
    """log |gamma(x)|."""
    return _as(x, np.where(np.isinf(x), np.inf, erf_values.of_many(_lgamma, "gammaln", x)))


def polygamma(n: Any, x: Any) -> Any:
    """The n-th derivative of digamma."""
    n = int(n)
    values = _digamma_or_more(n, np.asarray(x, np.float64)) if n else erf_values.of_many(_digamma, "psi", x)
    return _as(x, values)


def _digamma(y: Any) -> Any:
    return _digamma_or_more(0, y)


def _digamma_or_more(n: int, y: Any) -> Any:
    with np.errstate(all="ignore"):
        out = _polygamma(n, np.where(y > 0, y, 1 - y))
        if (y <= 0).any():
            out = np.where(y > 0, out, (-1) ** n * out - math.pi * _cotangent_derivative(n, y))
            # Poles: at 0 the sign of zero, or of the power, says to which side; elsewhere it cannot be said.
            out = np.where(y == 0, (-1) ** (n + 1) * np.copysign(np.inf, y) ** (n + 1), out)
    return out


def _polygamma(n: int, x: Any) -> Any:
    """For x > 0."""
    total = np.zeros(x.shape)
    sign, factorial = (-1) ** (n + 1), math.factorial(n)
    while (small := x < 12).any():
        total = total + np.where(small, sign * factorial * np.where(small, x, 1.0) ** (-n - 1.0), 0)
        x = np.where(small, x + 1, x)
    if n == 0:
        series = np.log(x) - 0.5 / x - sum(b / (2 * k * x ** (2 * k)) for k, b in enumerate(_BERNOULLI, 1))
    else:
        lead = math.factorial(n - 1) / x**n + factorial / (2 * x ** (n + 1))
        rest = sum(
            b * math.factorial(2 * k + n - 1) / (math.factorial(2 * k) * x ** (2 * k + n))
            for k, b in enumerate(_BERNOULLI, 1)
        )
        series = sign * (lead + rest)
    return series + total


def _cotangent_derivative(n: int, x: Any) -> Any:
    """The n-th derivative of cot(pi * x), as a polynomial in cot: d/dx p(c) = -pi (1 + c^2) p'(c)."""
    c = 1 / np.tan(math.pi * x)
    p = np.array([1.0, 0.0])
    for _ in range(n):
        p = -math.pi * np.polymul(np.polyder(p), [1.0, 0.0, 1.0])
    return np.where(x == np.floor(x), np.nan, np.polyval(p, c))


def digamma(x: Any) -> Any:
    """The derivative of lgamma."""
    return polygamma(0, x)


def normal_cdf(x: Any) -> Any:
    """The integral of the normal distribution's density up to x."""
    return erf_values.single_cdf(x) if erf_values.is_single(x) else _as(x, erf_values.normal_cdf(x))


NORMAL_CDF = elementwise(
    normal_cdf, lambda x: np.exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi)), name="normal_cdf"
)
ERF = elementwise(erf, lambda x: 2 / math.sqrt(math.pi) * np.exp(-x * x), name="erf")
ERFC = elementwise(erfc, lambda x: -2 / math.sqrt(math.pi) * np.exp(-x * x), name="erfc")
ERFINV = elementwise(erfinv, lambda out: math.sqrt(math.pi) / 2 * np.exp(out * out), name="erfinv")
LGAMMA = elementwise(lgamma, lambda x: POLYGAMMA(0, x), name="lgamma")
DIGAMMA = elementwise(digamma, lambda x: POLYGAMMA(1, x), name="digamma")
POLYGAMMA = elementwise(polygamma, None, lambda n, x: POLYGAMMA(n + 1, x), operands="n x", name="polygamma")


def entr(x: Any) -> Any:
    """-x * log(x); 0 at 0, -inf below."""
    with np.errstate(all="ignore"):
        return np.where(x > 0, -x * np.log(x), np.where(x == 0, 0, -np.inf)).astype(x.dtype)


ENTR = elementwise(entr, lambda x: -1 - np.log(x), name="entr")
