"""Python's math, with derivatives: `import funcgrad.math as math`.

On plain numbers every function is Python's own, with its results and its errors. On tracers it has the same
value, to the last bit, and the derivative of NumPy's function of the same meaning; it also works under
`vmap`, one example after the other.

>>> import funcgrad.math as math
>>> from funcgrad import grad
>>> def swing(length):
...     return 2 * math.pi * math.sqrt(length / 9.81)
>>> swing(1.0), grad(swing)(1.0)
(2.0060666807106475, np.float64(1.0030333403553235))

What gives integers and booleans (`floor`, `isclose`, ...) is piecewise constant: plain, without a derivative.
"""

from __future__ import annotations

import builtins
import functools
import math as _math
import operator
from collections.abc import Callable
from typing import Any

import numpy as _np

from funcgrad.core.engine.declare import linear as _linear
from funcgrad.rules.numbers import is_traced as _is_traced
from funcgrad.rules.numbers import knowing as _knowing
from funcgrad.rules.numbers import number as _number
from funcgrad.rules.numbers import of_numbers as _of_numbers
from funcgrad.rules.polygamma import log_gamma_derivative as _log_gamma_derivative

# ---- functions of numbers, each a primitive --------------------------------------------------------------------------
_SAME = (
    "sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "exp2", "expm1", "log1p", "log2", "log10", "sqrt", "cbrt",
    "degrees", "radians", "fabs", "copysign", "fmod",
)  # fmt: skip
_ROOT_PI = _math.sqrt(_math.pi)
_RULES: dict[str, Any] = {
    **{name: name for name in _SAME},
    "acos": "arccos", "asin": "arcsin", "atan": "arctan", "acosh": "arccosh", "asinh": "arcsinh", "atanh": "arctanh",
    "atan2": "arctan2", "pow": "power",
    "erf": (lambda x: 2 / _ROOT_PI * _np.exp(-x * x),),
    "erfc": (lambda x: -2 / _ROOT_PI * _np.exp(-x * x),),
    "gamma": (lambda x, out: out * _log_gamma_derivative(x, 0),),
    "lgamma": (lambda x: _log_gamma_derivative(x, 0),),
    "remainder": (1, lambda x, y, out: _np.rint((out - x) / y)),
    "fma": (lambda y: y, lambda x: x, 1),
}  # fmt: skip
_TRACED = {
    name: _of_numbers(getattr(_math, name), rule, f"math.{name}")
    for name, rule in _RULES.items()
    if hasattr(_math, name)
}
_hypot_of_two = _of_numbers(_math.hypot, "hypot", "math.hypot")
_log = _of_numbers(_math.log, "log", "math.log")


# ---- functions of several, or of lists -------------------------------------------------------------------------------
def _log_to_base(x: Any, base: Any = _math.e) -> Any:
    return _log(x) if base is _math.e else _log(x) / _log(base)


def _hypot(*coordinates: Any) -> Any:
    if len(coordinates) == 2:
        return _hypot_of_two(*coordinates)
    return _np.linalg.norm(_stacked(coordinates))


def _dist(p: Any, q: Any, /) -> Any:
    p, q = [*p], [*q]
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    return _hypot(*[_number(x) - _number(y) for x, y in zip(p, q)])


def _stacked(items: Any) -> Any:
    return _np.stack([_number(x) for x in items])


def _exact_sum(x: Any) -> Any:
    """math.fsum along the last axis."""
    if x.ndim == 1:
        return _np.float64(_math.fsum(x))
    return _np.array([_math.fsum(row) for row in x.reshape(-1, x.shape[-1])]).reshape(x.shape[:-1])


_exact = _linear(
    _exact_sum,
    lambda ct, x: _np.broadcast_to(ct[..., None], x.shape),
    operands="x",
    batch="leading",
    name="math.fsum",
)


def _fsum(items: Any, /) -> Any:
    return _exact(_stacked(items))


def _prod(items: Any, /, *, start: Any = 1) -> Any:
    return functools.reduce(operator.mul, items, start)


def _sumprod(p: Any, q: Any, /) -> Any:
    p, q = [*p], [*q]
    if len(p) != len(q):
        raise ValueError("Inputs are not the same length")
    return _fsum([x * y for x, y in zip(p, q)])


# ---- functions with integers in or out -------------------------------------------------------------------------------
@functools.cache
def _times_power_of_2(n: int) -> Callable[..., Any]:
    try:
        slope = _math.ldexp(1.0, n)
    except OverflowError:  # of the slope: x may be so small that x * 2**n is not too large
        slope = _math.inf
    return _of_numbers(lambda x: _math.ldexp(x, n), (slope,), "math.ldexp")


def _ldexp(x: Any, i: Any, /) -> Any:
    if type(i) is float:
        raise TypeError("Expected an int as second argument to ldexp.")
    return _times_power_of_2(operator.index(i))(x)


def _frexp(x: Any, /) -> Any:
    exponent = _math.frexp(_value(x))[1]
    return _times_power_of_2(-exponent)(x), exponent


_fraction = _of_numbers(lambda x: _math.modf(x)[0], (1,), "math.modf")


def _modf(x: Any, /) -> Any:
    return _fraction(x), _math.modf(_value(x))[1]


def _nextafter(x: Any, y: Any, /, **steps: Any) -> Any:
    return _of_numbers(lambda x, y: _math.nextafter(x, y, **steps), (1, None), "math.nextafter")(x, y)


def _value(x: Any) -> Any:
    """The plain number, for a question whose answer is piecewise constant."""
    return builtins.float(x._question("a function of the math module")) if _is_traced(x) else x


def _of_values(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: function(*map(_value, args), **{k: _value(v) for k, v in kwargs.items()})


_TRACED |= {
    "log": _log_to_base, "hypot": _hypot, "dist": _dist, "fsum": _fsum, "prod": _prod, "sumprod": _sumprod,
    "ldexp": _ldexp, "frexp": _frexp, "modf": _modf, "nextafter": _nextafter,
    **{name: _of_values(getattr(_math, name)) for name in ("isclose", "isfinite", "isinf", "isnan", "ulp")},
    # Python asks a tracer itself; there it is the integer that NumPy's function gives.
    **{name: getattr(_math, name) for name in ("floor", "ceil", "trunc")},
}  # fmt: skip


# ---- the names of the module -----------------------------------------------------------------------------------------
def _of_items(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of iterables, which may be generators."""

    @functools.wraps(function)
    def gathered(*args: Any, **kwargs: Any) -> Any:
        return function(*[[*x] if hasattr(x, "__next__") or _is_traced(x) else x for x in args], **kwargs)

    return gathered


for _name in dir(_math):
    if not _name.startswith("__"):
        _value_of = getattr(_math, _name)
        if _name in _TRACED:
            _value_of = _knowing(__name__, _value_of, _TRACED[_name])
            _value_of = _of_items(_value_of) if _name in ("fsum", "prod", "sumprod", "dist") else _value_of
        globals()[_name] = _value_of
del _name, _value_of

__all__ = [name for name in dir(_math) if not name.startswith("__")]
