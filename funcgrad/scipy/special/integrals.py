"""Integrals of other functions: exponential, sine, Fresnel, Spence; Lambert's W."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from funcgrad.core.engine.kinds import Unknown
from funcgrad.rules.slopes import own, repaired, sine_ratio_derivative
from funcgrad.scipy.special.elementary import log1prel_derivative
from funcgrad.scipy.special.rules import elementwise, vector_valued


# ---- the exponential integral: E[n]' = -E[n-1] -----------------------------------------------------------------------
def _expn(n: Any, x: Any) -> Any:
    """The exponential integral of whole order; n <= 0: k! exp(-x) (1 + ... + x**k/k!) / x**(k+1), k = -n."""
    out = special.expn(np.maximum(n, 0), x)
    if np.all(n >= 0):
        return out
    k = np.maximum(-n, 0)
    term, total = np.ones_like(out), np.ones_like(out)
    for i in range(1, int(np.max(k)) + 1):
        term = term * x / i
        total = total + np.where(i <= k, term, 0.0)
    return np.where(n < 0, special.gamma(k + 1) * np.exp(-x) * total / x ** (k + 1.0), out)


expn = own(_expn, None, lambda n, x: -expn(n - 1, x))


def _exp_over_x(x: Any, n: int) -> Any:
    """The n-th derivative of exp(x) / x: that times p[n] = 1 - n/x p[n-1]. (For x < 0 all has one sign.)"""
    with np.errstate(all="ignore"):
        p: Any = 1.0
        for k in range(1, n + 1):
            p = 1 - k / x * p
        half = np.exp(0.5 * x)  # which does not overflow before the result
        return half / x * p * half


exp_over_x = own(_exp_over_x, lambda x, n: exp_over_x(x, n + 1), None)

elementwise("exp1", lambda x: exp_over_x(-x, 0))
elementwise("expi", lambda x: exp_over_x(x, 0))
elementwise("expn", Unknown("the order"), lambda x, y: -expn(x - 1, y))


# ---- sine, cosine and Fresnel integrals ------------------------------------------------------------------------------
def _sinh_ratio_derivative(x: Any, n: int) -> Any:
    """The n-th derivative of sinh(x) / x = sin(ix) / (ix)."""
    out = 1j**n * sine_ratio_derivative(1j * x, n)
    return out if np.iscomplexobj(x) else np.real(out)


sinh_ratio_derivative = own(_sinh_ratio_derivative, lambda x, n: sinh_ratio_derivative(x, n + 1), None)


def _fresnel_slopes(x: Any) -> tuple[Any, ...]:
    halves = 0.5 * x * x
    angle = math.pi * (halves - 2 * np.rint(0.5 * np.real(halves)))  # without the rounding of a large angle
    return np.sin(angle), np.cos(angle)


def _modified_fresnel(turn: complex) -> Any:
    """The slopes of F(x), an integral of exp(s t*t) from x on, and exp(-s (x*x + pi/4)) F(x) / sqrt(pi).

    `turn` is s, i or -i.
    """
    phase = np.exp(-0.25 * turn * math.pi) / math.sqrt(math.pi)
    return lambda x, out: (-np.exp(turn * x * x), -2 * turn * x * out[1] - phase)


vector_valued("sici", lambda x: (sine_ratio_derivative(x, 0), np.cos(x) / x))
vector_valued("shichi", lambda x: (sinh_ratio_derivative(x, 0), np.cosh(x) / x))
vector_valued("fresnel", _fresnel_slopes)
vector_valued("modfresnelp", _modified_fresnel(1j))
vector_valued("modfresnelm", _modified_fresnel(-1j))


# ---- integrals of Bessel, Struve and Airy functions ------------------------------------------------------------------
def _bessel_gap(x: Any, n: int, sign: int) -> Any:
    """The n-th derivative of (1 - J0(x)) / x (sign -1) or (I0(x) - 1) / x (1): near 0 by power series.

    By parts, x f[n] = s C[n] - n f[n-1], with the derivatives C of the Bessel function and the sign s.
    """
    function = special.iv if sign > 0 else special.jv
    with np.errstate(all="ignore"):
        out = sign * (function(0, x) - 1) / x
        for m in range(1, n + 1):
            slope = sum(sign**k * math.comb(m, k) * function(2 * k - m, x) for k in range(m + 1)) / 2**m
            out = (sign * slope - m * out) / x
    return repaired(out, abs(x) < 3 + n, lambda x: _bessel_gap_series(x, n, sign), x)


def _bessel_gap_series(x: Any, n: int, sign: int) -> Any:
    """The sum over k > 0 of s**(k-1) x**(2k-1) / (4**k k!**2), differentiated n times."""
    out = np.zeros_like(x)
    for k in range(1, 30 + 2 * n):
        if 2 * k - 1 >= n:
            out = out + sign ** (k - 1) * math.perm(2 * k - 1, n) / math.factorial(k) ** 2 / 4.0**k * x ** (
                2 * k - 1 - n
            )
    return out


bessel_gap = own(_bessel_gap, lambda x, n, sign: bessel_gap(x, n + 1, sign), None, None)


def _airy_integral_slopes(x: Any) -> tuple[Any, ...]:
    ai, _, bi, _ = special.airy(x)
    ai_left, _, bi_left, _ = special.airy(-x)
    return ai, bi, ai_left, bi_left


vector_valued("itj0y0", lambda x: (special.j0(x), special.y0(x)))
vector_valued("iti0k0", lambda x: (special.i0(x), special.k0(x)))
vector_valued("it2j0y0", lambda x: (bessel_gap(x, 0, -1), -special.y0(x) / x))
vector_valued("it2i0k0", lambda x: (bessel_gap(x, 0, 1), -special.k0(x) / x))
vector_valued("itairy", _airy_integral_slopes)
elementwise("itstruve0", lambda x: special.struve(0, x))
elementwise("itmodstruve0", lambda x: special.modstruve(0, x))
elementwise("it2struve0", lambda x: -special.struve(0, x) / x)
elementwise(
    "besselpoly",
    lambda x, y, z: special.besselpoly(x, y + 1, z - 1) - special.besselpoly(x, y + 1, z + 1),
    Unknown("the exponent"),
    Unknown("the order"),
)


# ---- Spence, Lambert, Wright -----------------------------------------------------------------------------------------
def _spence_derivative(x: Any, n: int) -> Any:
    """The n-th derivative of log(x) / (1 - x), Spence's slope: by parts, or about 1 with u = x - 1.

    (1 - x) f[n] = log[n](x) + n f[n-1]
    """
    with np.errstate(all="ignore"):
        out = np.log(x) / (1 - x)
        for k in range(1, n + 1):
            out = (-((-1) ** k) * math.factorial(k - 1) / x**k + k * out) / (1 - x)
    return repaired(out, abs(x - 1) < 0.5, lambda x: -log1prel_derivative(x - 1, n), x)


spence_derivative = own(_spence_derivative, lambda x, n: spence_derivative(x, n + 1), None)


def _share_of_one(x: Any) -> Any:
    """x / (1 + x), whose derivative by the rule for quotients would cancel for large x."""
    return x / (1 + x)


share_of_one = own(_share_of_one, lambda x: (1 / (1 + x)) ** 2)

elementwise("spence", lambda x: spence_derivative(x, 0))
elementwise("_lambertw", lambda out: np.exp(-out) / (1 + out), None, None)
elementwise("wrightomega", lambda out: share_of_one(out))
