"""Bessel functions and kin: derivatives combine neighbouring orders (DLMF 10.6, 10.29, 11.4).

Near 0 the neighbours differ by many orders of magnitude, and cancel or underflow: there the power series is
differentiated term by term. The scaled functions lose the exponential in which they would grow, and what is
left changes slowly: there the combination cancels, and Cauchy's formula takes its place.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from funcgrad.core.engine.kinds import Unknown
from funcgrad.errors import NonDifferentiableError, user_line
from funcgrad.rules.slopes import _complex, own, repaired, some
from funcgrad.scipy.special.contour import by_contour
from funcgrad.scipy.special.rules import elementwise, title, vector_valued

ORDER = Unknown("the order")


# ---- near 0 ----------------------------------------------------------------------------------------------------------
def _power(x: Any, p: Any, n: int, coefficient: Any) -> Any:
    """The n-th derivative of coefficient * (x/2)**p: 0 where the exponent is a whole number below n."""
    factor = coefficient * math.prod([p - k for k in range(n)]) / 2.0**n + 0 * x
    return np.where(factor == 0, 0.0, factor * (0.5 * x) ** np.where(factor == 0, 0.0, p - float(n)))


def _near_zero(x: Any, p: Any, a: Any, b: Any, sign: int, n: int) -> Any:
    """The n-th derivative of the sum of sign**k (x/2)**(2k+p) / (gamma(a+k) gamma(b+k)). DLMF 10.25.2."""
    out: Any = 0.0
    with np.errstate(all="ignore"):
        for k in range(20 + 2 * n, -1, -1):
            out = out + _power(x, 2 * k + p, n, sign**k * special.rgamma(a + k) * special.rgamma(b + k))
    return out


# ---- of the first, second and third kind -----------------------------------------------------------------------------
def neighbours(function: np.ufunc) -> Callable[..., Any]:
    """(C[v-1] - C[v+1]) / 2, the derivative of Y and the Hankel functions."""
    return lambda x, y: 0.5 * (function(x - 1, y) - function(x + 1, y))


def _jv_derivative(x: Any, y: Any, n: int) -> Any:
    """The n-th derivative of jv(x, y). From 1e-304 down SciPy's jv may be 0, but the series is not."""
    out = sum((-1) ** k * math.comb(n, k) * special.jv(x + (2 * k - n), y) for k in range(n + 1)) / 2**n
    tiny = (abs(y) < 1e-290) & (y != 0)
    return repaired(out, tiny, lambda x, y: _near_zero(y, x, 1, x + 1, -1, n), x, y)


def _iv_derivative(x: Any, y: Any, n: int) -> Any:
    """The n-th derivative of iv(x, y): 2**-n times the central sum of n-th order in the order."""
    out = _mean(_far_i, x, y, n)
    return repaired(out, abs(y) < 1, lambda x, y: _near_zero(y, x, 1, x + 1, 1, n), x, y)


def _kv_derivative(x: Any, y: Any, n: int) -> Any:
    """The n-th derivative of kv(x, y)."""
    return (-1) ** n * _mean(_far_k, x, y, n)


def _mean(function: Any, x: Any, y: Any, n: int) -> Any:
    return sum(math.comb(n, k) * function(x + (2 * k - n), y) for k in range(n + 1)) / 2**n


def _far_i(x: Any, y: Any) -> Any:
    """iv. Far out, where SciPy's is infinite too early, from the scaled function."""
    return repaired(
        special.iv(x, y),
        abs(np.real(y)) > 500,
        lambda x, y: _unscaled(_ive(x, y), abs(np.real(y))),
        x,
        y,
    )


def _ive(x: Any, y: Any) -> Any:
    """ive. For huge real numbers, of which SciPy's is NaN, by the expansion."""
    if np.iscomplexobj(y):
        return special.ive(x, y)
    sign = np.where(y < 0, np.where(x % 2 == 1, -1.0, 1.0), 1.0)
    return repaired(
        special.ive(x, y),
        abs(y) > 1e6,
        lambda x, y, s: s * _expansion(x, abs(y), -1, 0) / _ROOT_2PI,
        x,
        y,
        sign,
    )


def _far_k(x: Any, y: Any) -> Any:
    """kv. Far out, where SciPy's is 0 too early, from the scaled function."""
    return repaired(special.kv(x, y), np.real(y) > 500, lambda x, y: _unscaled(special.kve(x, y), -y), x, y)


def _unscaled(x: Any, y: Any) -> Any:
    """x exp(y), if y alone over- or underflows, too."""
    half = np.exp(0.5 * y)
    return x * half * half


jv_derivative = own(_jv_derivative, ORDER, lambda x, y, n: jv_derivative(x, y, n + 1), None)
iv_derivative = own(_iv_derivative, ORDER, lambda x, y, n: iv_derivative(x, y, n + 1), None)
kv_derivative = own(_kv_derivative, ORDER, lambda x, y, n: kv_derivative(x, y, n + 1), None)

elementwise("j0", lambda x: -special.j1(x))
elementwise("y0", lambda x: -special.y1(x))
elementwise("i0", lambda x: special.i1(x))
elementwise("k0", lambda x: -special.k1(x))
elementwise("j1", lambda x: jv_derivative(1, x, 1))
elementwise("y1", lambda x: 0.5 * (special.y0(x) - special.yv(2, x)))
elementwise("i1", lambda x: iv_derivative(1, x, 1))
elementwise("k1", lambda x: kv_derivative(1, x, 1))
elementwise("jv", ORDER, lambda x, y: jv_derivative(x, y, 1))
for _name in ("yv", "yn", "hankel1", "hankel2"):
    elementwise(_name, ORDER, neighbours(getattr(special, _name)))
elementwise("iv", ORDER, lambda x, y: iv_derivative(x, y, 1))
elementwise("kv kn", ORDER, lambda x, y: kv_derivative(x, y, 1))


# ---- scaled ----------------------------------------------------------------------------------------------------------
_ROOT_2PI = math.sqrt(2 * math.pi)


def _expansion(v: Any, z: Any, turn: complex, n: int) -> Any:
    """The n-th derivative of the sum of turn**k a_k(v) z**(-1/2-k), for large z. (DLMF 10.17.1)"""
    inverse = 1 / z  # its powers don't overflow
    power, a, out = np.sqrt(inverse) * inverse**n, 1.0, 0.0
    for k in range(14):
        out = out + a * math.prod([-0.5 - k - i for i in range(n)]) * power
        power = power * inverse
        a = a * turn * (4 * v * v - (2 * k + 1) ** 2) / (8 * (k + 1))
    return out


def _is_far(v: Any, z: Any) -> Any:
    """Does the expansion give all digits?"""
    return abs(z) > np.maximum(1e3, 10 * v * v)


def _ive_derivative(x: Any, y: Any, n: int) -> Any:
    """The n-th derivative of exp(-y) iv(x, y), y >= 0: a central difference in the order, over 2**n."""
    out = _difference(special.ive, x, y, n)
    out = repaired(
        out, y > 3, lambda x, y: _real(by_contour(lambda z: _rotated_ive(x, z), y, y / 3, n)), x, y
    )
    return repaired(out, _is_far(x, y), lambda x, y: _expansion(x, y, -1, n) / _ROOT_2PI, x, y)


def _rotated_ive(x: Any, z: Any) -> Any:
    return special.ive(x, z) * np.exp(-1j * z.imag)  # SciPy's factor is exp(-|Re z|), ours exp(-z)


def _kve_derivative(x: Any, y: Any, n: int) -> Any:
    """The n-th derivative of exp(y) kv(x, y)."""
    out = (-1) ** n * _difference(special.kve, x, y, n)
    out = _on_circles(special.kve, out, x, y, n)
    return repaired(out, _is_far(x, y), lambda x, y: _expansion(x, y, 1, n) * math.sqrt(math.pi / 2), x, y)


def _on_circles(function: Any, out: Any, x: Any, y: Any, n: int) -> Any:
    """`out`, by Cauchy's formula where the difference cancels: not near 0 nor near the cut."""
    inside = np.logical_and(abs(y) > 3, np.real(y) > -0.9 * abs(y))
    by_formula = lambda x, y: by_contour(lambda z: function(x, z), y, abs(y) / 3, n)
    return repaired(
        out, inside, by_formula if np.iscomplexobj(y) else lambda x, y: _real(by_formula(x, y)), x, y
    )


def _hankel_derivative(x: Any, y: Any, sign: int, n: int) -> Any:
    """The n-th derivative of hankel1e (sign 1) or hankel2e (sign -1), which are H(z) exp(-sign iz)."""
    function, y = special.hankel1e if sign > 0 else special.hankel2e, y + 0j
    turns = [(sign * 1j) ** (2 * n - k) * math.comb(2 * n, k) for k in range(2 * n + 1)]
    with np.errstate(all="ignore"):
        out = sum(turn * function(x + (k - n), y) for k, turn in enumerate(turns)) / (-2) ** n
        out = _on_circles(function, out, x, y, n)
    phase = np.exp(-0.25j * sign * math.pi * (2 * x + 1)) * math.sqrt(2 / math.pi)
    return repaired(out, _is_far(x, y), lambda x, y, c: c * _expansion(x, y, sign * 1j, n), x, y, phase)


def _difference(function: Any, x: Any, y: Any, n: int) -> Any:
    terms = [(-1) ** k * math.comb(2 * n, k) * function(x + (k - n), y) for k in range(2 * n + 1)]
    return sum(terms) / 2**n


def _real(z: Any) -> Any:
    return z.real


ive_derivative = own(_ive_derivative, ORDER, lambda x, y, n: ive_derivative(x, y, n + 1), None)
kve_derivative = own(_kve_derivative, ORDER, lambda x, y, n: kve_derivative(x, y, n + 1), None)
hankel_derivative = own(
    _hankel_derivative, ORDER, lambda x, y, sign, n: hankel_derivative(x, y, sign, n + 1), None, None
)


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


def _scaled_neighbours(name: str) -> Callable[..., Any]:
    """On real numbers jve and yve are jv and yv."""
    slope = neighbours(getattr(special, name))

    def checked(x: Any, y: Any) -> Any:
        _refuse_complex(name, y)
        return slope(x, y)

    return checked


elementwise("ive", ORDER, _ive_slope)
elementwise("kve", ORDER, lambda x, y: kve_derivative(x, y, 1))
elementwise("hankel1e", ORDER, lambda x, y: hankel_derivative(x, y, 1, 1))
elementwise("hankel2e", ORDER, lambda x, y: hankel_derivative(x, y, -1, 1))
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
    with np.errstate(all="ignore"):
        terms = [(-1) ** k * math.comb(n, k) * special.jve(2 * k - n, J_TURN * x) for k in range(n + 1)]
        out = _unscaled(J_TURN**n * sum(terms) / 2**n, abs(np.imag(J_TURN * x)))
    return repaired(out, abs(x) < 2, lambda x: _ber_bei_series(x, n), x)


def _ker_kei(x: Any, n: int) -> Any:
    """The n-th derivative of ker(x) + i kei(x) = K0(x exp(pi i/4)) for x > 0."""
    with np.errstate(all="ignore"):
        terms = [math.comb(n, k) * special.kv(2 * k - n, K_TURN * x) for k in range(n + 1)]
        out = np.where(x < 0, np.nan, (-K_TURN) ** n * sum(terms) / 2**n)
    return repaired(out, np.logical_and(x > 0, x < 2), lambda x: _ker_kei_series(x, n), x)


def _ber_bei_series(x: Any, n: int) -> Any:
    """J0(x exp(3 pi i/4)) is the sum of i**k (x/2)**(2k) / k!**2 (DLMF 10.65.1): real, imaginary, ..."""
    parts: list[Any] = [0.0 * x, 0.0 * x]
    for k in range((n + 1) // 2, 18 + n):
        weight = _quarter_turns(k) * math.perm(2 * k, n) / 4.0**k / math.factorial(k) ** 2
        parts[k % 2] = parts[k % 2] + weight * x ** (2.0 * k - n)
    return _complex(*parts)


def _ker_kei_series(x: Any, n: int) -> Any:
    """K0(z) is the sum of (H[k] - gamma - log(z/2)) (z/2)**(2k) / k!**2 (DLMF 10.31.2), with z*z = i x*x."""
    parts: list[Any] = [0.0 * x, 0.0 * x]
    log, harmonic = np.log(x) - math.log(2), -np.euler_gamma
    for k in range(18 + n):
        falling, slope = _falling(2 * k, n)
        power = _quarter_turns(k) / 4.0**k / math.factorial(k) ** 2 * x ** (2.0 * k - n)
        if falling:
            parts[k % 2] = parts[k % 2] + power * (falling * (harmonic - log) - slope)
            turned = 0.25 * math.pi * falling * power  # by the imaginary part of log(z/2)
            parts[1 - k % 2] = parts[1 - k % 2] + (turned if k % 2 else -turned)
        elif slope:
            parts[k % 2] = parts[k % 2] - slope * power
        harmonic += 1 / (k + 1)
    return _complex(*parts)


def _quarter_turns(k: int) -> int:
    """The sign of i**k, or of its imaginary part."""
    return -1 if k % 4 > 1 else 1


def _falling(p: int, n: int) -> tuple[int, int]:
    """p (p-1) ... (p-n+1) and its derivative in p: what derivatives of x**p and x**p log(x) are made of."""
    value, slope = 1, 0
    for k in range(n):
        value, slope = value * (p - k), slope * (p - k) + value
    return value, slope


def _kelvin(body: Any, part: Any) -> Any:
    def kelvin_derivative(x: Any, n: int) -> Any:
        return part(body(np.float64(1) * x, n))

    made = own(kelvin_derivative, lambda x, n: made(x, n + 1), None)
    return made


def of_order(function: Any, n: int) -> Callable[[Any], Any]:
    return lambda x: function(x, n)


ber, bei = _kelvin(_ber_bei, np.real), _kelvin(_ber_bei, np.imag)
ker, kei = _kelvin(_ker_kei, np.real), _kelvin(_ker_kei, np.imag)

for _n, _ending in ((1, ""), (2, "p")):
    for _name, _function in (("ber", ber), ("bei", bei), ("ker", ker), ("kei", kei)):
        elementwise(_name + _ending, of_order(_function, _n))


def _kelvin_slopes(x: Any, out: Any) -> tuple[Any, ...]:
    """Of Be, Ke, Be', Ke'."""
    return out[2], out[3], ber(x, 2) + 1j * bei(x, 2), ker(x, 2) + 1j * kei(x, 2)


# ---- Struve's --------------------------------------------------------------------------------------------------------
def _struve_derivative(x: Any, y: Any, sign: int, n: int) -> Any:
    """The n-th derivative of struve(x, y) (sign -1) or of modstruve(x, y) (sign 1)."""
    with np.errstate(all="ignore"):
        out = _struve_neighbours(x, y, sign, n)
    return repaired(out, abs(y) < 1 + n, lambda x, y: _near_zero(y, x + 1, 1.5, x + 1.5, sign, n), x, y)


def _struve_neighbours(x: Any, y: Any, sign: int, n: int) -> Any:
    if n == 0:
        return (special.struve if sign < 0 else special.modstruve)(x, y)
    below, above = _struve_neighbours(x - 1, y, sign, n - 1), _struve_neighbours(x + 1, y, sign, n - 1)
    return 0.5 * (below + sign * above + _power(y, x, n - 1, special.rgamma(x + 1.5) / math.sqrt(math.pi)))


struve_derivative = own(
    _struve_derivative, ORDER, lambda x, y, sign, n: struve_derivative(x, y, sign, n + 1), None, None
)
elementwise("struve", ORDER, lambda x, y: struve_derivative(x, y, -1, 1))
elementwise("modstruve", ORDER, lambda x, y: struve_derivative(x, y, 1, 1))


# ---- Airy's: y'' = x y -----------------------------------------------------------------------------------------------
def _airy_slopes(x: Any, out: Any) -> tuple[Any, ...]:
    ai, aip, bi, bip = out
    return aip, x * ai, bip, x * bi


def _airye_slopes(x: Any, out: Any) -> tuple[Any, ...]:
    """Ai and Ai' are scaled by exp(2/3 x**1.5) (NaN for x < 0), Bi and Bi' by exp(-2/3 |Re x**1.5|)."""
    _refuse_complex("airye", x)
    ai, aip, bi, bip = out
    root = np.sqrt(np.maximum(x, 0))
    near = aip + root * ai, x * ai + root * aip, bip - root * bi, x * bi - root * bip
    far = x > 3  # where the terms cancel
    return (
        tuple(np.where(far, airye_derivative(x, i, 1), slope) for i, slope in enumerate(near))
        if some(far)
        else near
    )


def _airye_derivative(x: Any, i: int, n: int) -> Any:
    """The n-th derivative of airye's i-th result for x > 3: on circles; far out by the asymptotic series."""
    x = np.maximum(np.float64(1) * x, 3.0)  # (the others aren't used)
    middle = np.minimum(x, 60.0)
    out = by_contour(lambda z: _rotated_airye(z, i), middle, middle / 3, n).real
    return repaired(out, x > 60, lambda x: _airy_far(x, i, n), x)


def _rotated_airye(z: Any, i: int) -> Any:
    out = special.airye(z)[i]
    # SciPy's factor is real, ours is not
    return out * np.exp(-1j * np.imag(2 / 3 * z * np.sqrt(z))) if i > 1 else out


def _airy_far(x: Any, i: int, n: int) -> Any:
    """The asymptotic series (DLMF 9.7.5-8), sums of powers of x, term by term."""
    slope, sign = i % 2, -1 if i < 2 else 1
    out, u = 0.0 * x, 1.0
    for k in range(9):
        weight = u * ((6 * k + 1) / (1 - 6 * k) if slope else 1) * (1.5 * sign) ** k
        p = (0.25 if slope else -0.25) - 1.5 * k
        out = out + weight * math.prod(p - m for m in range(n)) * x ** (p - n)
        u *= (6 * k + 1) * (6 * k + 3) * (6 * k + 5) / (216 * (k + 1) * (2 * k + 1))
    return out * (0.5 * (-1) ** slope if i < 2 else 1) / math.sqrt(math.pi)


airye_derivative = own(_airye_derivative, lambda x, i, n: airye_derivative(x, i, n + 1), None, None)
vector_valued("airy", _airy_slopes)
vector_valued("airye", _airye_slopes)
vector_valued("kelvin", _kelvin_slopes)
