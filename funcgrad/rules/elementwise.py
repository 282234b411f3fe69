"""Elementwise functions: one partial derivative for each operand.

A partial is written so that it keeps its digits everywhere and can itself be differentiated, again and again. Where the textbook
formula can't (it cancels in a tail, overflows, is 0/0), the partial is a function of its own, from slopes.py.
"""

from __future__ import annotations

import math

import numpy as np

from funcgrad.core.declare import custom, elementwise, linear

LN2, LN10 = math.log(2), math.log(10)

# ---- arithmetic ------------------------------------------------------------------------------------------------------
elementwise(np.add, 1, 1)
elementwise(np.subtract, 1, -1)
elementwise(np.multiply, lambda y: y, lambda x: x)
elementwise(np.divide, lambda y: 1 / y, lambda y, out: -out / y)
elementwise(np.negative, -1)
elementwise(np.positive, 1)
elementwise(np.reciprocal, lambda out: -out * out)
elementwise(np.square, lambda x: 2 * x)
elementwise(np.sqrt, lambda out: 0.5 / out)
elementwise(np.cbrt, lambda out: 1 / (3 * out * out))
elementwise(np.power, lambda x, y: y * x ** (y - 1), lambda x, y, out: out * np.log(x))
elementwise(np.float_power, lambda x, y: y * x ** (y - 1), lambda x, out: out * np.log(x))
elementwise(np.remainder, 1, lambda x, y: -np.floor_divide(x, y))
elementwise(np.fmod, 1, lambda x, y, out: np.rint((out - x) / y))

# ---- exponentials and logarithms -------------------------------------------------------------------------------------
elementwise(np.exp, lambda out: out)
elementwise(np.exp2, lambda out: LN2 * out)
elementwise(np.expm1, lambda x: np.exp(x))
elementwise(np.log, lambda x: 1 / x)
elementwise(np.log2, lambda x: 1 / (LN2 * x))
elementwise(np.log10, lambda x: 1 / (LN10 * x))
elementwise(np.log1p, lambda x: 1 / (1 + x))

# ---- angles ----------------------------------------------------------------------------------------------------------
elementwise(np.sin, lambda x: np.cos(x))
elementwise(np.cos, lambda x: -np.sin(x))
elementwise(np.tan, lambda out: 1 + out * out)
elementwise(np.arcsin, lambda x: 1 / np.sqrt((1 - x) * (1 + x)))
elementwise(np.arccos, lambda x: -1 / np.sqrt((1 - x) * (1 + x)))
elementwise(np.arctan, lambda x: 1 / (1 + x * x))
elementwise(np.hypot, lambda x, out: x / out, lambda y, out: y / out)
elementwise(np.arctan2, lambda x, y: y / (x * x + y * y), lambda x, y: -x / (x * x + y * y))
for _function in (np.degrees, np.rad2deg):
    elementwise(_function, 180 / math.pi)
for _function in (np.radians, np.deg2rad):
    elementwise(_function, math.pi / 180)

# ---- hyperbolic functions --------------------------------------------------------------------------------------------
elementwise(np.sinh, lambda x: np.cosh(x))
elementwise(np.cosh, lambda x: np.sinh(x))
elementwise(np.tanh, lambda out: 1 - out * out)
elementwise(np.arcsinh, lambda x: 1 / np.hypot(1, x))
elementwise(np.arccosh, lambda x: 1 / (np.sqrt(x - 1) * np.sqrt(x + 1)))
elementwise(np.arctanh, lambda x: 1 / ((1 - x) * (1 + x)))

# ---- complex numbers: real-linear functions --------------------------------------------------------------------------
linear(np.conjugate, lambda ct: np.conjugate(ct), moves=True, batch="aligned")
linear(np.real, lambda ct: ct, moves=True, batch="aligned")
linear(np.imag, lambda ct, val: ct * -1j if val.dtype.kind == "c" else None, batch="aligned")

# ---- copies and casts ------------------------------------------------------------------------------------------------
linear(np.astype, lambda ct: ct, moves=True, batch="aligned")
