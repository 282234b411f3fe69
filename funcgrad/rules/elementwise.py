"""Elementwise functions: one partial derivative for each operand.

A partial is written so that it keeps its digits everywhere and can itself be differentiated, again and again.
Where the textbook formula can't (it cancels in a tail, overflows, is 0/0), the partial is a function of its
own, from slopes.py.
"""

from __future__ import annotations

import math

import numpy as np

from funcgrad.core.arrays.methods import astype
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.engine.declare import composite, custom, elementwise, linear, piecewise_constant
from funcgrad.core.engine.roots import declare_product, declare_square
from funcgrad.core.engine.trace import is_foreign
from funcgrad.rules.slopes import (
    angle_slope,
    arccosh_slope,
    arcsin_slope,
    arcsinh_slope,
    arctan_slope,
    arctanh_slope,
    cbrt_slope,
    gap,
    i0_derivative,
    logistic,
    sinc_derivative,
    tanh_slope,
    unit,
)

LN2, LN10 = math.log(2), math.log(10)


# ---- arithmetic ------------------------------------------------------------------------------------------------------
def _inverse(y):
    try:
        return 1 / y
    except ZeroDivisionError:  # Python's own number 0, where NumPy divides by it
        return np.divide(1.0, y)


def _square_of_sqrt(x):
    return np.sqrt(x) ** 2


def _square_of_hypot(x, y):
    return np.hypot(x, y) ** 2


elementwise(np.add, 1, 1)
elementwise(np.subtract, 1, -1)
declare_product(elementwise(np.multiply, lambda y: y, lambda x: x), lambda square: square)
elementwise(np.divide, _inverse, lambda ct, y, out: ct * out / -y)
elementwise(np.negative, -1)
elementwise(np.positive, 1)
elementwise(np.reciprocal, lambda out: -out * out)
elementwise(np.square, lambda x: 2 * x)
declare_square(elementwise(np.sqrt, lambda out: 0.5 / out), elementwise(_square_of_sqrt, 1))
elementwise(np.cbrt, cbrt_slope)
elementwise(np.remainder, 1, lambda x, y: -np.floor_divide(x, y))
elementwise(np.fmod, 1, lambda x, y, out: np.rint((out - x) / y))

# ---- exponentials and logarithms -------------------------------------------------------------------------------------
elementwise(np.exp, lambda out: out)
elementwise(np.exp2, lambda out: LN2 * out)
elementwise(np.expm1, lambda x: np.exp(x))
elementwise(np.log, lambda ct, x: ct / x)
elementwise(np.log2, lambda ct, x: ct / (LN2 * x))
elementwise(np.log10, lambda ct, x: ct / (LN10 * x))
elementwise(np.log1p, lambda ct, x: ct / (1 + x))
elementwise(np.logaddexp, lambda x, y: logistic(gap(x, y)), lambda x, y: logistic(gap(y, x)))
elementwise(np.logaddexp2, lambda x, y: logistic(LN2 * gap(x, y)), lambda x, y: logistic(LN2 * gap(y, x)))

# ---- angles ----------------------------------------------------------------------------------------------------------


def _tan_slope(x, out):
    return tanh_slope(1j * x, 1j * out) if out.dtype.kind == "c" else 1 + out * out


elementwise(np.sin, lambda x: np.cos(x))
elementwise(np.cos, lambda x: -np.sin(x))
elementwise(np.tan, _tan_slope)
elementwise(np.arcsin, lambda x: arcsin_slope(x))
elementwise(np.arccos, lambda x: -arcsin_slope(x))
elementwise(np.arctan, lambda x: arctan_slope(x))
declare_square(
    elementwise(np.hypot, lambda x, y, out: unit(x, y, out), lambda x, y, out: unit(y, x, out)),
    elementwise(_square_of_hypot, lambda x: 2 * x, lambda y: 2 * y),
)
elementwise(np.arctan2, lambda x, y: angle_slope(x, y), lambda x, y: -angle_slope(y, x))
for _function in (np.degrees, np.rad2deg):
    elementwise(_function, 180 / math.pi)
for _function in (np.radians, np.deg2rad):
    elementwise(_function, math.pi / 180)

# ---- hyperbolic functions --------------------------------------------------------------------------------------------
elementwise(np.sinh, lambda x: np.cosh(x))
elementwise(np.cosh, lambda x: np.sinh(x))
elementwise(np.tanh, tanh_slope)
elementwise(np.arcsinh, lambda x: arcsinh_slope(x))
elementwise(np.arccosh, lambda x: arccosh_slope(x))
elementwise(np.arctanh, lambda x: arctanh_slope(x))


# ---- complex numbers: real-linear functions --------------------------------------------------------------------------
def _turned(x):
    """-1j * x for real x, with a real part that is 0 also where x is infinite."""
    if is_foreign(x):
        return -1j * x
    out = np.zeros(x.shape, np.result_type(x, np.complex64))
    out.imag = -x
    return out[()]


linear(np.conjugate, lambda ct: np.conjugate(ct), moves=True, batch="aligned")
linear(np.real, lambda ct: ct, moves=True, batch="aligned")
linear(  # (Of a real array NumPy gives a read-only one, which has to be noted: so it has no lane.)
    np.imag,
    lambda ct, val: CATALOGUE[_turned](ct) if val.dtype.kind == "c" else None,
    batch="aligned",
    may_view=True,
    lane=False,
)
linear(_turned, lambda ct: np.imag(ct), batch="aligned")


# ---- numbers taken apart, integers among the results -----------------------------------------------------------------
def _divmod_push(t, out):
    terms = [] if t["x"] is None else [t["x"]]
    if t["y"] is not None:
        terms.append(-out[0] * t["y"])
    return None, sum(terms)


elementwise(np.ldexp, lambda y: np.ldexp(1.0, y), None)
elementwise(np.nextafter, 1, None)
custom(np.modf, lambda ct: ct[0], push=lambda t: (t, None), batch="aligned")
custom(
    np.frexp,
    lambda ct, out: np.ldexp(ct[0], -out[1]),
    push=lambda t, out: (np.ldexp(t, -out[1]), None),
    batch="aligned",
)
custom(
    np.divmod,
    {"x": lambda ct: ct[1], "y": lambda ct, out: None if ct[1] is None else -out[0] * ct[1]},
    push=_divmod_push,
    batch="aligned",
)

# ---- functions that are no ufuncs ------------------------------------------------------------------------------------
elementwise(np.sinc, lambda x: sinc_derivative(x, 1), operands="x")
elementwise(np.i0, lambda x: i0_derivative(x, 1), operands="x", gives_array=True)


def _angle(z, deg=False):
    if z.dtype.kind != "c":
        return CATALOGUE[_angle_of_real](z, deg)
    return np.arctan2(np.imag(z), np.real(z)) * (180 / math.pi if deg else 1)


def _angle_of_real(z, deg):
    return np.angle(z, deg)


piecewise_constant(_angle_of_real, batch="aligned")
composite(np.angle, _angle)

# ---- copies and casts ------------------------------------------------------------------------------------------------
linear(astype, lambda ct: ct, moves=True, batch="aligned", gives_array="as x")
if astype is not np.astype:
    composite(np.astype, lambda x, dtype, /, *, copy=True: CATALOGUE[astype](x, dtype, copy=copy))
