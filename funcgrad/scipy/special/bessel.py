"""Bessel functions and their kin: each derivative is a combination of neighbouring orders (DLMF 10.6, 10.29, 11.4).

The scaled functions lose the exponential in which they would grow, and what is left changes slowly: there the combination
cancels, and Cauchy's formula takes its place.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from funcgrad.core.engine.kinds import Unknown
from funcgrad.errors import NonDifferentiableError, user_line
from funcgrad.rules.slopes import own, repaired
from funcgrad.scipy.special.contour import by_contour
from funcgrad.scipy.special.rules import elementwise, title, vector_valued

ORDER = Unknown("the order")


# ---- of the first, second and third kind -----------------------------------------------------------------------------
def neighbours(function: np.ufunc) -> Callable[..., Any]:
    """(C[v-1] - C[v+1]) / 2, the derivative of J, Y and the Hankel functions."""
    return lambda x, y: 0.5 * (function(x - 1, y) - function(x + 1, y))


def _kn_slope(x: Any, y: Any) -> Any:
    return -0.5 * (special.kv(x - 1, y) + special.kv(x + 1, y))


elementwise("j0", lambda x: -special.j1(x))
elementwise("y0", lambda x: -special.y1(x))
elementwise("i0", lambda x: special.i1(x))
elementwise("k0", lambda x: -special.k1(x))
elementwise("j1", lambda x: 0.5 * (special.j0(x) - special.jv(2, x)))
elementwise("y1", lambda x: 0.5 * (special.y0(x) - special.yv(2, x)))
elementwise("i1", lambda x: 0.5 * (special.i0(x) + special.iv(2, x)))
elementwise("k1", lambda x: -0.5 * (special.k0(x) + special.kv(2, x)))
for _name in ("jv", "yv", "yn", "hankel1", "hankel2"):
    elementwise(_name, ORDER, neighbours(getattr(special, _name)))
elementwise("iv", ORDER, lambda x, y: 0.5 * (special.iv(x - 1, y) + special.iv(x + 1, y)))
elementwise("kv kn", ORDER, _kn_slope)
elementwise("hankel1e", ORDER, lambda x, y, out: neighbours(special.hankel1e)(x, y) - 1j * out)
elementwise("hankel2e", ORDER, lambda x, y, out: neighbours(special.hankel2e)(x, y) + 1j * out)


# ---- scaled ----------------------------------------------------------------------------------------------------------
def _ive_derivative(x: Any, y: Any, n: int) -> Any:
    """The n-th derivative of exp(-y) iv(x, y) for y >= 0: 2**-n times the central difference of 2n-th order in the order."""
    out = _difference(special.ive, x, y, n)
    return repaired(out, y > 3, lambda x, y: _real(by_contour(lambda z: _rotated_ive(x, z), y, y / 3, n)), x, y)


def _rotated_ive(x: Any, z: Any) -> Any:
    return special.ive(x, z) * np.exp(-1j * z.imag)  # SciPy's factor is exp(-|Re z|), ours exp(-z)


def _kve_derivative(x: Any, y: Any, n: int) -> Any:
    """The n-th derivative of exp(y) kv(x, y)."""
    out = (-1) ** n * _difference(special.kve, x, y, n)
    return repaired(out, y > 3, lambda x, y: _real(by_contour(lambda z: special.kve(x, z), y, y / 3, n)), x, y)


def _difference(function: Any, x: Any, y: Any, n: int) -> Any:
    terms = [(-1) ** k * math.comb(2 * n, k) * function(x + (k - n), y) for k in range(2 * n + 1)]
    return sum(terms) / 2**n


def _real(z: Any) -> Any:
    return z.real


ive_derivative = own(_ive_derivative, ORDER, lambda x, y, n: ive_derivative(x, y, n + 1), None)
kve_derivative = own(_kve_derivative, ORDER, lambda x, y, n: kve_derivative(x, y, n + 1), None)


def _refuse_complex(name: str, x: Any) -> None:
    if np.iscomplexobj(x):
        raise NonDifferentiableError(
            f"{title(name)} is scaled by a real factor, so it has no complex derivative, and its operand at {user_line()} is "
            "complex. Write the function without the scaling, or scale it by an exponential yourself."
        )


def _ive_slope(x: Any, y: Any) -> Any:
    """For negative y, iv(x, y) has the sign of (-1)**x (whole orders only, else it is NaN)."""
    _refuse_complex("ive", y)
    parity = np.where(y < 0, np.where(x % 2 == 1, 1.0, -1.0), 1.0)
    return parity * ive_derivative(x, abs(y), 1)


def _kve_slope(x: Any, y: Any) -> Any:
    """Holomorphic: the factor is exp(y). On complex numbers the plain recurrence."""
    if np.iscomplexobj(y):
        return special.kve(x, y) - 0.5 * (special.kve(x - 1, y) + special.kve(x + 1, y))
    return kve_derivative(x, y, 1)


def _scaled_neighbours(name: str) -> Callable[..., Any]:
    """On real numbers jve and yve are jv and yv."""
    slope = neighbours(getattr(special, name))

    def checked(x: Any, y: Any) -> Any:
        _refuse_complex(name, y)
        return slope(x, y)

    return checked


elementwise("ive", ORDER, _ive_slope)
elementwise("kve", ORDER, _kve_slope)
elementwise("i0e", lambda x: np.where(x < 0, -1.0, 1.0) * ive_derivative(0, abs(x), 1))
elementwise("i1e", lambda x: ive_derivative(1, abs(x), 1))
elementwise("k0e", lambda x: kve_derivative(0, x, 1))
elementwise("k1e", lambda x: kve_derivative(1, x, 1))
for _name in ("jve", "yve"):
    elementwise(_name, ORDER, _scaled_neighbours(_name))


# ---- Kelvin's: J0 and K0 on a diagonal of the complex plane -----------------------------------------------------------
J_TURN, K_TURN = np.exp(0.75j * math.pi), np.exp(0.25j * math.pi)


def _ber_bei(x: Any, n: int) -> Any:
    """The n-th derivative of ber(x) + i bei(x) = J0(x exp(3 pi i/4))."""
    terms = [(-1) ** k * math.comb(n, k) * special.jv(2 * k - n, J_TURN * x) for k in range(n + 1)]
    return J_TURN**n * sum(terms) / 2**n


def _ker_kei(x: Any, n: int) -> Any:
    """The n-th derivative of ker(x) + i kei(x) = K0(x exp(pi i/4)) for x > 0."""
    terms = [math.comb(n, k) * special.kv(2 * k - n, K_TURN * x) for k in range(n + 1)]
    return np.where(x < 0, np.nan, (-K_TURN) ** n * sum(terms) / 2**n)


ber_bei = own(_ber_bei, lambda x, n: ber_bei(x, n + 1), None)
ker_kei = own(_ker_kei, lambda x, n: ker_kei(x, n + 1), None)

elementwise("ber", lambda x: np.real(ber_bei(x, 1)))
elementwise("bei", lambda x: np.imag(ber_bei(x, 1)))
elementwise("ker", lambda x: np.real(ker_kei(x, 1)))
elementwise("kei", lambda x: np.imag(ker_kei(x, 1)))
elementwise("berp", lambda x: np.real(ber_bei(x, 2)))
elementwise("beip", lambda x: np.imag(ber_bei(x, 2)))
elementwise("kerp", lambda x: np.real(ker_kei(x, 2)))
elementwise("keip", lambda x: np.imag(ker_kei(x, 2)))


def _kelvin_slopes(x: Any, out: Any) -> tuple[Any, ...]:
    """Of Be, Ke, Be', Ke'."""
    return out[2], out[3], ber_bei(x, 2), ker_kei(x, 2)


# ---- Struve's --------------------------------------------------------------------------------------------------------
def _struve_term(x: Any, y: Any) -> Any:
    """(y/2)**x / (sqrt(pi) gamma(x + 3/2))."""
    return (0.5 * y) ** x * special.rgamma(x + 1.5) / math.sqrt(math.pi)


elementwise("struve", ORDER, lambda x, y: 0.5 * (special.struve(x - 1, y) - special.struve(x + 1, y) + _struve_term(x, y)))
elementwise(
    "modstruve", ORDER, lambda x, y: 0.5 * (special.modstruve(x - 1, y) + special.modstruve(x + 1, y) + _struve_term(x, y))
)


# ---- Airy's: y'' = x y -----------------------------------------------------------------------------------------------
def _airy_slopes(x: Any, out: Any) -> tuple[Any, ...]:
    ai, aip, bi, bip = out
    return aip, x * ai, bip, x * bi


def _airye_slopes(x: Any, out: Any) -> tuple[Any, ...]:
    """Ai and Ai' are scaled by exp(2/3 x**1.5) (NaN for x < 0), Bi and Bi' by exp(-2/3 x**1.5) where that is real."""
    _refuse_complex("airye", x)
    ai, aip, bi, bip = out
    root = np.sqrt(np.maximum(x, 0))
    return aip + root * ai, x * ai + root * aip, bip - root * bi, x * bi - root * bip


vector_valued("airy", _airy_slopes)
vector_valued("airye", _airye_slopes)
vector_valued("kelvin", _kelvin_slopes)
