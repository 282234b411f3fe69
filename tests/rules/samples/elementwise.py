"""Samples of the elementwise functions: elementwise.py, powers.py, choices.py, emath.py, constructors.py."""

from __future__ import annotations

import numpy as np
from numpy._core import umath

from funcgrad.core.arrays.methods import astype as CAST
from tests.rules.samples import A, C, S

# Functions of one operand, and where they are smooth; those of `HOLOMORPHIC` also take complex numbers.
REAL = [
    (np.negative, -2, 2), (np.positive, -2, 2), (np.square, -2, 2), (np.reciprocal, 0.5, 2), (np.sqrt, 0.2, 3),
    (np.cbrt, -3, -0.2), (np.exp, -2, 2), (np.exp2, -2, 2), (np.expm1, -2, 2), (np.log, 0.2, 3), (np.log2, 0.2, 3),
    (np.log10, 0.2, 3), (np.log1p, -0.7, 2), (np.sin, -3, 3), (np.cos, -3, 3), (np.tan, -1, 1),
    (np.arcsin, -0.9, 0.9), (np.arccos, -0.9, 0.9), (np.arctan, -3, 3), (np.sinh, -2, 2), (np.cosh, -2, 2),
    (np.tanh, -2, 2), (np.arcsinh, -3, 3), (np.arccosh, 1.2, 3), (np.arctanh, -0.8, 0.8), (np.degrees, -3, 3),
    (np.rad2deg, -3, 3), (np.radians, -90, 90), (np.deg2rad, -90, 90), (np.absolute, 0.2, 2), (np.fabs, -2, -0.2),
    (np.sinc, -2, 2), (np.i0, -2, 2), (np.conjugate, -2, 2), (np.real, -2, 2), (np.copy, -2, 2),
    (np.nan_to_num, -2, 2), (np.real_if_close, -2, 2),
]  # fmt: skip

HOLOMORPHIC = [
    np.negative, np.positive, np.square, np.reciprocal, np.sqrt, np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10,
    np.log1p, np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan, np.sinh, np.cosh, np.tanh, np.arcsinh,
    np.arccosh, np.arctanh, np.sinc,
]  # fmt: skip

# Linear over the real numbers only, or with a real result.
COMPLEX = [np.absolute, np.sign, np.conjugate, np.real, np.imag, np.angle, np.nan_to_num, np.copy]

BINARY = [
    (np.add, -2, 2), (np.subtract, -2, 2), (np.multiply, -2, 2), (np.divide, 0.5, 2), (np.power, 0.5, 2),
    (np.float_power, 0.5, 2), (np.hypot, 0.5, 2), (np.arctan2, 0.5, 2), (np.logaddexp, -2, 2), (np.logaddexp2, -2, 2),
    (np.copysign, 0.5, 2), (np.maximum, -2, 2), (np.minimum, -2, 2), (np.fmax, -2, 2), (np.fmin, -2, 2),
]  # fmt: skip

EMATH = [
    (np.emath.sqrt, -3, -0.2), (np.emath.log, -3, -0.2), (np.emath.log2, -3, -0.2), (np.emath.log10, 0.2, 3),
    (np.emath.arccos, 1.2, 3), (np.emath.arcsin, -0.9, 0.9), (np.emath.arctanh, 1.2, 3),
]  # fmt: skip

MASK = np.array([True, False, True])
SIGNS = np.array([-1.0, 1.0, -1.0])


def remainders(low: float) -> list[object]:
    """Divisions of numbers that leave no quotient near a whole number."""
    x, y = np.array([5.3, -7.2, low]), np.array([[2.0], [-3.1]])
    return [
        S(np.remainder, x, y),
        S(np.fmod, x, y),
        S(lambda x, y: np.divmod(x, y)[1], x, y).but(covers=np.divmod, label="rest"),
    ]


SAMPLES = [
    *[S(f, A(3, low=low, high=high)) for f, low, high in REAL],
    *[S(f, A(low=low, high=high)).but(label="0d") for f, low, high in REAL],
    *[S(f, C(3) * 0.6 + 0.3) for f in HOLOMORPHIC],
    *[S(f, C(2, 2) + 0.1) for f in COMPLEX],
    S(np.real_if_close, C(2)).but(vmap=False),
    *[S(f, A(3, low=low, high=high), A(2, 1, low=low, high=high)) for f, low, high in BINARY],
    *[S(f, A(low=low, high=high), A(2, low=low, high=high)) for f, low, high in BINARY],
    *[S(f, A(3, low=low, high=high)) for f, low, high in EMATH],
    *[S(f, C(3) + 2, C(2, 1) + 2) for f in (np.add, np.subtract, np.multiply, np.divide, np.power)],
    S(np.power, A(3, low=-2, high=-1), 3), S(np.power, A(3, low=-2, high=2), 2), S(np.power, A(2, low=0.5), 0.5),
    S(np.power, 2.5, A(3)), S(np.power, A(3, low=-2, high=-1), np.array([2, 3, -1])), S(np.power, C(2) + 2, 2),
    S(np.emath.power, A(3, low=-2, high=-1), 1.5), S(np.emath.logn, 2.0, A(3, low=-2, high=-1)),
    *remainders(11.5),
    S(lambda x: np.modf(x)[0], A(3, low=0.2, high=0.8)).but(covers=np.modf, label="fraction"),
    S(lambda x: np.frexp(x)[0], A(3, low=0.6, high=0.9)).but(covers=np.frexp, label="mantissa"),
    S(np.ldexp, A(3), np.array([1, -2, 3])), S(np.nextafter, A(3), A(3)).but(order=1, tol=1e-5),
    S(np.heaviside, 0.0 * A(2), A(3, 1)).but(wrt=(1,)),
    S(np.copysign, A(3, low=0.5, high=2), SIGNS).but(wrt=(0,)),
    S(np.sin, A(0)), S(np.multiply, A(0, 3), A(3)), S(np.sin, A(3), dtype=np.float64),
    S(np.angle, C(3) + 0.1, deg=True), S(np.angle, A(3, low=0.5, high=2)), S(np.sign, A(3, low=0.5, high=2)),
    S(np.unwrap, 5 * A(6)), S(np.unwrap, 5 * A(3, 2), axis=0, period=4.0), S(np.imag, A(3)),
    S(lambda x: x.astype(np.longdouble), A(3)).but(covers=CAST, label="wide"),
    S(lambda x: x.astype(complex), A(3)).but(covers=CAST, label="complex"),
    S(lambda x: np.astype(x, np.longdouble), A(3)).but(covers=np.astype, label="wide"),
    # choices
    S(np.where, MASK, A(2, 3), A(3)), S(np.where, MASK, A(), 0.0), S(np.where, MASK, C(3), A(3)),
    S(np.clip, A(7, low=-2, high=2), -1.03, 1.02), S(np.clip, A(7, low=-2, high=2), None, A(2, 1, low=0.5)),
    S(np.clip, A(7, low=-2, high=2), A(2, 1, low=-1, high=0), A(low=0.5)), S(np.clip, A(7), min=0.01).but(wrt=(0,), since="2.1"),
    S(umath.clip, A(7, low=-2, high=2), A(2, 1, low=-1, high=0), A(low=0.5)),
    S(np.select, [MASK, ~MASK], [A(3), A(2, 3)]), S(np.select, [MASK], [A(3)], 0.5).but(wrt=(1,)),
    S(np.choose, np.array([0, 1, 2]), [A(3), A(2, 3), A()]), S(np.choose, np.array([4, -1, 2]), A(3, 3), mode="wrap"),
    S(np.piecewise, A(5), [np.array([True, False, True, False, False])], [np.sin, np.exp]).but(wrt=(0,), vmap=False),
    S(np.piecewise, A(4), [np.arange(4) < 2, np.arange(4) > 2], [np.sin, 0.5]).but(wrt=(0,)),
    # new arrays
    S(np.full_like, A(2, 3), fill_value=A(3)).but(wrt=(0, "fill_value")), S(np.full_like, A(2, 3), 2.5).but(wrt=(0,)),
    S(np.linspace, A(), A(), 4), S(np.linspace, A(2, 1), A(3), 5, endpoint=False, axis=-1),
    S(np.linspace, A(2), A(2), 1),
    S(lambda x, y: np.linspace(x, y, 4, retstep=True)[1], A(2), A(2)).but(covers=np.linspace, label="step"),
    S(np.geomspace, A(low=1, high=2), A(2, low=3, high=5), 4), S(np.geomspace, C(2) + 2, C(2) + 5, 4, axis=-1),
    S(np.logspace, A(2), A(2), 3), S(np.logspace, A(2), A(), 3, base=A(low=2, high=3)).but(wrt=(0, 1, "base")),
]  # fmt: skip
