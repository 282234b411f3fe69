"""Elliptic integrals and functions by Carlson's symmetric ones (DLMF 19.16, 19.25): nothing cancels.

All derivatives belong to one family of integrals over 0 < t < inf,

    I(x, y, z, w; k, a, b, c, d) = integral of t**k (t+x)**-a (t+y)**-b (t+z)**-c (t+w)**-d,

whose own derivatives only raise an exponent. SciPy computes the members that are needed at first order.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial
from scipy import special

from funcgrad.rules.slopes import by_orders, own, repaired, some
from funcgrad.scipy.special.rules import elementwise, vector_valued


# ---- the family ------------------------------------------------------------------------------------------------------
def _carlson(x: Any, y: Any, z: Any, w: Any, k: int, a: float, b: float, c: float, d: float) -> Any:
    """With t = s exp(u), s the largest operand, by the trapezoidal rule: error about exp(-2 pi**2 / step)."""
    operands = [np.float64(1) * v for v in (x, y, z, w)]
    scale = np.maximum.reduce(np.broadcast_arrays(*[abs(v) for v in operands]))
    step, out, fall = 0.4, 0.0, a + b + c + d - k - 1
    with np.errstate(all="ignore"):
        logs = [
            (v / scale if np.iscomplexobj(v) else np.log(v) - np.log(scale), e)
            for v, e in zip(operands, (a, b, c, d))
            if e
        ]
        # The integrand falls like exp(-fall u) on the right, and at least like exp(u/2) on the left.
        for u in np.arange(_log_of_smallest(scale, *operands) - 80.0, 40.0 / fall, step):
            out = out + np.exp((k + 1) * u - sum(e * _log_of_sum(u, v) for v, e in logs))
        endless = sum(e * (v == 0) for v, e in zip(operands, (a, b, c, d))) >= k + 1
        out = np.where(endless, np.inf, out * step * scale**-fall)
        return np.where(_in_domain(*operands), out, np.nan)


def _log_of_sum(u: float, v: Any) -> Any:
    """log(exp(u) + operand), from a real operand's logarithm (no underflow), or a complex one itself."""
    return np.log(math.exp(u) + v) if np.iscomplexobj(v) else np.logaddexp(u, v)


def _log_of_smallest(scale: Any, *operands: Any) -> float:
    """The logarithm of the smallest number among the operands, divided by the scale, that is not 0."""
    least = [np.where(v == 0, 0.0, np.log(abs(v)) - np.log(scale)) for v in operands]
    return max(-1500.0, min(float(np.min(v, initial=0.0)) for v in least))


def _in_domain(*operands: Any) -> Any:
    inside: Any = True
    for x in operands:
        inside = inside & (np.iscomplexobj(x) | (np.real(x) >= 0))
    return inside


carlson = own(
    _carlson,
    lambda x, y, z, w, k, a, b, c, d: -a * carlson(x, y, z, w, k, a + 1, b, c, d),
    lambda x, y, z, w, k, a, b, c, d: -b * carlson(x, y, z, w, k, a, b + 1, c, d),
    lambda x, y, z, w, k, a, b, c, d: -c * carlson(x, y, z, w, k, a, b, c + 1, d),
    lambda x, y, z, w, k, a, b, c, d: -d * carlson(x, y, z, w, k, a, b, c, d + 1) if d else 0.0,
    *[None] * 5,
)


def _rd_slope(x: Any, y: Any, z: Any) -> Any:
    """The derivative of elliprd(x, y, z) in x; elliprd is 3/2 of the integral with exponents 1/2, 1/2, 3/2."""
    return -0.75 * carlson(x, y, z, z, 0, 1.5, 0.5, 1.5, 0)


def _rg_slope(x: Any, y: Any, z: Any) -> Any:
    """The derivative of elliprg(x, y, z) in x (DLMF 19.18.3 at 19.23.7)."""
    return 0.125 * carlson(x, y, z, z, 1, 1.5, 0.5, 0.5, 0)


def _rj_slope(x: Any, y: Any, z: Any, w: Any) -> Any:
    """The derivative of elliprj(x, y, z, w) in x; elliprj is 3/2 of the integral with exponents 1/2 and 1."""
    return -0.75 * carlson(x, y, z, w, 0, 1.5, 0.5, 0.5, 1)


def _rd(x: Any, y: Any, z: Any) -> Any:
    """elliprd(x, y, z). SciPy's is infinite, or gives up, for a z near the smallest numbers."""
    tiny = np.logical_and(abs(z) < 1e-290, z != 0)
    return repaired(
        special.elliprd(x, y, z),
        tiny,
        lambda x, y, z: 1.5 * _carlson(x, y, z, z, 0, 0.5, 0.5, 1.5, 0),
        x,
        y,
        z,
    )


rd = own(
    _rd,
    lambda x, y, z: _rd_slope(x, y, z),
    lambda x, y, z: _rd_slope(y, x, z),
    lambda x, y, z: -2.25 * carlson(x, y, z, z, 0, 0.5, 0.5, 2.5, 0),
)
elementwise(
    "elliprf",
    lambda x, y, z: -rd(y, z, x) / 6,
    lambda x, y, z: -rd(x, z, y) / 6,
    lambda x, y, z: -rd(x, y, z) / 6,
)
elementwise("elliprc", lambda x, y: -special.elliprd(y, y, x) / 6, lambda x, y: -special.elliprd(x, y, y) / 3)
elementwise(
    "elliprd",
    lambda x, y, z: _rd_slope(x, y, z),
    lambda x, y, z: _rd_slope(y, x, z),
    lambda x, y, z: -2.25 * carlson(x, y, z, z, 0, 0.5, 0.5, 2.5, 0),
)
elementwise(
    "elliprg",
    lambda x, y, z: _rg_slope(x, y, z),
    lambda x, y, z: _rg_slope(y, x, z),
    lambda x, y, z: _rg_slope(z, x, y),
)
elementwise(
    "elliprj",
    lambda x0, x1, x2, x3: _rj_slope(x0, x1, x2, x3),
    lambda x0, x1, x2, x3: _rj_slope(x1, x0, x2, x3),
    lambda x0, x1, x2, x3: _rj_slope(x2, x0, x1, x3),
    lambda x0, x1, x2, x3: -1.5 * carlson(x0, x1, x2, x3, 0, 0.5, 0.5, 0.5, 2),
)


def _agm_far_derivative(x: Any, y: Any, n: int, m: int) -> Any:
    """The derivative of pi/2 y / log(4 y/x), n times in x and m times in y: agm(x, y) for x far below y.

    With r = 1 / log(4 y/x), x d/dx maps p(r) to r*r p'(r), and y d/dy maps y p(r) to y (p(r) - r*r p'(r)).
    """
    p, square = Polynomial([0.0, 1.0]), Polynomial([0, 0, 1])
    for k in range(m):
        p = (1 - k) * p - square * p.deriv()
    for k in range(n):
        p = square * p.deriv() - k * p
    with np.errstate(all="ignore"):
        out = 0.5 * math.pi * y * p(1 / (math.log(4) + np.log(abs(y)) - np.log(abs(x))))
        for _ in range(m):
            out = out / y
        for _ in range(n):
            out = out / x
    return out


agm_far_derivative = by_orders(_agm_far_derivative)


def _agm_slope(x: Any, y: Any, out: Any) -> Any:
    """The derivative in x of out = agm(x, y) = pi/2 / elliprf(0, x*x, y*y). Only the ratio of x and y matters."""
    small, large = abs(x) < 1e-20 * abs(y), abs(y) < 1e-20 * abs(x)
    far = np.logical_or(small, large)
    scale = abs(x) + abs(y)
    u, v, mean = (abs(z) / scale for z in (x, y, out))
    if some(far):
        u, v = (np.where(far, 0.5, z) for z in (u, v))
    slope = 2 / (3 * math.pi) * u * mean * mean * special.elliprd(0.0, v * v, u * u)
    if not some(far):
        return slope
    one = np.where(far, x, 1.0), np.where(far, y, 1.0)
    return np.where(
        small,
        agm_far_derivative(*one, 1, 0),
        np.where(large, agm_far_derivative(*one[::-1], 0, 1), slope),
    )


elementwise("agm", lambda x, y, out: _agm_slope(x, y, out), lambda x, y, out: _agm_slope(y, x, out))


# ---- Legendre's integrals --------------------------------------------------------------------------------------------
def _k_slope(m: Any) -> Any:
    return special.elliprd(0.0, 1.0, 1 - m) / 6


def _e_slope(m: Any) -> Any:
    return -special.elliprd(0.0, 1 - m, 1.0) / 6


def _turns(phi: Any) -> Any:
    """How many whole turns by pi are in an angle."""
    return np.rint(phi / math.pi)


def _f_slope(phi: Any, m: Any) -> Any:
    """The derivative of ellipkinc in m: that of elliprf in its place, and of ellipk for each half turn."""
    n = _turns(phi)
    s, c = np.sin(phi - n * math.pi), np.cos(phi)
    return 2 * n * _k_slope(m) + s**3 * special.elliprd(c * c, 1.0, 1 - m * s * s) / 6


def _e_inc_slope(phi: Any, m: Any) -> Any:
    """The derivative of ellipeinc in m."""
    n = _turns(phi)
    s, c = np.sin(phi - n * math.pi), np.cos(phi)
    return 2 * n * _e_slope(m) - s**3 * special.elliprd(c * c, 1 - m * s * s, 1.0) / 6


def _delta(phi: Any, m: Any) -> Any:
    s = np.sin(phi)
    return np.sqrt(1 - m * s * s)


elementwise("ellipk", lambda x: _k_slope(x))
elementwise("ellipkm1", lambda x: -special.elliprd(0.0, 1.0, x) / 6)
elementwise("ellipe", lambda x: _e_slope(x))
elementwise("ellipkinc", lambda x, y: 1 / _delta(x, y), lambda x, y: _f_slope(x, y))
elementwise("ellipeinc", lambda x, y: _delta(x, y), lambda x, y: _e_inc_slope(x, y))


# ---- Jacobi's functions: sn, cn, dn and the amplitude -----------------------------------------------------------------
def _jacobi_in_u(out: Any, y: Any) -> tuple[Any, ...]:
    sn, cn, dn, _ = out
    return cn * dn, -sn * dn, -y * sn * cn, dn


def _jacobi_in_m(out: Any, y: Any) -> tuple[Any, ...]:
    """At a fixed u = ellipkinc(amplitude, m) the amplitude moves by minus the quotient of its derivatives."""
    sn, cn, dn, phi = out
    slope = -dn * _f_slope(phi, y)
    return cn * slope, -sn * slope, -(sn * sn + 2 * y * sn * cn * slope) / (2 * dn), slope


vector_valued("ellipj", _jacobi_in_u, _jacobi_in_m)
