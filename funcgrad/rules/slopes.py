"""Derivatives as functions of their own: textbook formulas lose digits, overflow or are 0/0 somewhere.

Each is declared like any function, with a derivative in terms of itself: so it stays accurate at every order.
A formula that is right almost everywhere runs on the whole array; `repaired` computes the few other places
again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.engine.declare import elementwise
from funcgrad.core.engine.kinds import Partial
from funcgrad.core.engine.trace import Tracer, is_foreign, memory_of
from funcgrad.core.lanes.batch import at_once
from funcgrad.core.lanes.source import PLAIN
from funcgrad.core.memory.plain import ndarray


def own(function: Callable[..., Any], *partials: Partial) -> Callable[..., Any]:
    """Declare an elementwise function of our own. On plain arrays, `function` itself runs at once."""
    primitive = elementwise(function, *partials, name=function.__name__.strip("_"))
    batched = at_once(primitive)

    def general(*args: Any) -> Any:
        if PLAIN.issuperset(map(type, args)):
            return function(*args)
        out = batched(*args)
        return primitive(*args) if out is None else out

    def of_two(x: Any, y: Any) -> Any:  # two arrays are what hot loops have
        return function(x, y) if type(x) is ndarray and type(y) is ndarray else general(x, y)

    call = of_two if len(partials) == 2 else general
    call.__name__, call.__doc__ = primitive.name, function.__doc__
    vars(call)["body"] = function
    return call


def by_orders(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of x, y and the orders n, m of its derivative in both: its own derivatives are of higher orders."""
    derivative = own(
        function,
        lambda x, y, n, m: derivative(x, y, n + 1, m),
        lambda x, y, n, m: derivative(x, y, n, m + 1),
        None,
        None,
    )
    return derivative


def some(mask: Any) -> bool:
    """May any element of `mask` be True? What can't be asked (a tracer of vmap, a lazy array) may.

    np.count_nonzero is four times faster than mask.any() on small arrays.
    """
    if isinstance(mask, np.ndarray):
        return bool(np.count_nonzero(mask))
    return bool(mask) if isinstance(mask, np.generic) else True


def found(mask: Any) -> bool:
    """The same, where the answer decides what is computed: a value that jit records is asked, and notes it."""
    return bool(np.any(mask)) if isinstance(mask, Tracer) and mask._is_recorded else some(mask)


def _full(x: Any, shape: tuple[int, ...]) -> Any:
    return x if type(x) is np.ndarray and x.shape == shape else np.broadcast_to(x, shape)


def repaired(out: Any, bad: Any, formula: Callable[..., Any], *operands: Any) -> Any:
    """`out`, with formula(*operands) in the places `bad`, computed only there."""
    if not isinstance(out, (np.ndarray, np.generic)):
        with np.errstate(all="ignore"):
            return np.where(bad, formula(*operands), out)
    if not some(bad):
        return out
    bad = _full(bad, out.shape)
    there = [_full(x, out.shape)[bad] for x in operands]
    out = np.array(out)
    with np.errstate(all="ignore"):
        out[bad] = formula(*there)
    return out[()]


# ---- sech(x)**2, the slope of tanh -----------------------------------------------------------------------------------
def tanh_slope(x: Any, out: Any) -> Any:
    """The slope of out = tanh(x): 1 - out*out, where few digits cancel; else 1 / cosh(x)**2.

    (A partial as it is, since its operands have the names that rules give them.)
    """
    numbers = _NUMBERS.get(out.dtype) if type(x) is ndarray and type(out) is ndarray else None
    if numbers is None:
        return _own_tanh_slope(x, out)
    one, limit, far = numbers  # of hot loops
    slope = out * out
    subtract(one, slope, slope)
    (places,) = (slope < limit).ravel().nonzero()
    if len(places) > _FEW:
        sech = reciprocal(cosh(minimum(abs(x.take(places)), far)))
        slope.put(places, sech * sech)
    elif len(places):
        for i in places.tolist():
            e = math.exp(-2 * abs(x.item(i)))
            slope.put(i, 4 * e / ((1 + e) * (1 + e)))
    return slope


def _tanh_slope(x: Any, y: Any) -> Any:
    """The same for what holds no array of real numbers, as under another transform."""
    if type(x) is ndarray and type(y) is ndarray and y.dtype in _NUMBERS:
        return tanh_slope(x, y)
    out = 1 - y * y
    return repaired(out, (abs(out) if out.dtype.kind == "c" else out) < 1e-3, _sech2, x)


# Globals, which are found faster than attributes of a module.
subtract, minimum, cosh, reciprocal = np.subtract, np.minimum, np.cosh, np.reciprocal
_FEW = 3  # places, which take less time one by one than NumPy's calls for all of them
# 1; the limit, at which the rounding of out*out is 2e-12 of the slope in double precision, 1e-4 in single;
# and where cosh does not overflow yet, but the slope is 0. As arrays: Python's numbers take twice the time.
_NUMBERS = {
    np.dtype(kind): (np.array(1, kind), np.array(limit, kind), np.array(far, kind))
    for kind, limit, far in (("e", 1e-3, 11), ("f", 1e-3, 88), ("d", 1e-4, 700))
}


def _sech2(x: Any) -> Any:
    e = np.exp(np.where(x.real < 0, 2, -2) * x)
    return 4 * e / ((1 + e) * (1 + e))


# y = tanh(x) is only there to save work: the derivative in x is the total one.
_own_tanh_slope = own(_tanh_slope, lambda y, out: -2 * y * out, None)


# ---- 1 / (1 + exp(-x)), the slope of logaddexp -----------------------------------------------------------------------
def _logistic(x: Any) -> Any:
    with np.errstate(over="ignore"):  # far left exp(-x) is inf, and the result 0 as it should be
        return 1 / (1 + np.exp(-x))


def _logistic_slope(x: Any) -> Any:
    e = np.exp(-abs(x))
    return e / ((1 + e) * (1 + e))


logistic = own(_logistic, lambda x: logistic_slope(x))
logistic_slope = own(_logistic_slope, lambda x, out: -out * np.tanh(0.5 * x))


def _gap(x: Any, y: Any) -> Any:
    with np.errstate(invalid="ignore"):
        out = np.subtract(x, y)
    return repaired(out, np.isnan(out), lambda x, y: np.where(x == y, 0, x - y), x, y)


# x - y, and 0 between equal infinities.
gap = own(_gap, 1, -1)


# ---- roots of 1 - x*x, 1 + x*x and x*x - 1 ---------------------------------------------------------------------------
# They are split into two factors each, which neither overflow nor cancel. A zero in a complex number keeps its sign: it
# tells the sides of a branch cut apart, and 1 + z would lose it (Kahan, Branch cuts for complex elementary functions).
def _complex(real: Any, imag: Any) -> Any:
    if is_foreign(real):
        upper = real + 1j * abs(imag)  # in which a zero has lost its sign
        return np.where(np.signbit(imag), np.conjugate(upper), upper)
    out = np.empty(real.shape, np.result_type(real, np.complex64))
    out.real, out.imag = real, imag
    return out[()]


def _arcsin_slope(x: Any) -> Any:
    if x.dtype.kind == "c":
        return 1 / (np.sqrt(_complex(1 - x.real, -x.imag)) * np.sqrt(_complex(1 + x.real, x.imag)))
    return 1 / np.sqrt((1 - x) * (1 + x))


def _arcsinh_slope(x: Any) -> Any:
    if x.dtype.kind == "c":
        return 1 / (np.sqrt(_complex(1 - x.imag, x.real)) * np.sqrt(_complex(1 + x.imag, -x.real)))
    return 1 / np.hypot(1.0, x)


def _arccosh_slope(x: Any) -> Any:
    if x.dtype.kind == "c":
        return 1 / (np.sqrt(_complex(x.real - 1, x.imag)) * np.sqrt(_complex(x.real + 1, x.imag)))
    return 1 / (np.sqrt(x - 1) * np.sqrt(x + 1))


def _arctan_slope(x: Any) -> Any:
    if x.dtype.kind == "c":
        return 1 / (1 - 1j * x) / (1 + 1j * x)
    with np.errstate(over="ignore"):
        return 1 / (1 + x * x)


def _arctanh_slope(x: Any) -> Any:
    return 1 / (1 - x) / (1 + x)


# In the derivatives the factors are grouped so that none overflows or underflows before the product does.
arcsin_slope = own(_arcsin_slope, lambda x, out: (x * out) * out * out)
arcsinh_slope = own(_arcsinh_slope, lambda x, out: -(x * out) * out * out)
arccosh_slope = own(_arccosh_slope, lambda x, out: -(x * out) * out * out)
arctan_slope = own(_arctan_slope, lambda x, out: -2 * (x * out) * out)
arctanh_slope = own(_arctanh_slope, lambda x, out: 2 * (x * out) * out)


# ---- the derivatives of the cube root --------------------------------------------------------------------------------
def _cbrt_derivative(x: Any, n: int) -> Any:
    """The n-th derivative (n > 0) of cbrt(x), a multiple of cbrt(x) / x**n: divided step by step, so that a tiny
    x makes it infinite.
    """
    root = np.cbrt(x)
    with np.errstate(divide="ignore"):
        out = 1 / (3 * root * root)
        for k in range(1, n):
            out = out * (1 / 3 - k) / x
    return out


_own_cbrt_derivative = own(_cbrt_derivative, lambda x, n: _own_cbrt_derivative(x, n + 1), None)


def cbrt_slope(x: Any, out: Any) -> Any:
    """The derivative of out = cbrt(x)."""
    return _own_cbrt_derivative(x, 1) if isinstance(x, Tracer) else 1 / (3 * out * out)


# ---- x / hypot(x, y), the slope of hypot and the heart of arctan2 ----------------------------------------------------
def _unit(x: Any, y: Any, z: Any) -> Any:
    """x / z for z = hypot(x, y): the cosine of the angle of (x, y). 0 at the origin."""
    with np.errstate(invalid="ignore", divide="ignore"):
        out = np.divide(x, z)
    return repaired(out, np.logical_or(z == 0, np.isinf(z)), _scaled_unit, x, y)


def _scaled_unit(x: Any, y: Any) -> Any:
    """The same for a hypot that is 0 or overflows: infinities count as 1 beside what is finite."""
    far = np.logical_or(np.isinf(x), np.isinf(y))
    x, y = (np.where(far, np.where(np.isinf(v), np.copysign(1.0, v), 0.0 * v), v) for v in (x, y))
    largest = np.maximum(abs(x), abs(y))
    scale = np.where(largest == 0, 1, largest)
    x, y = x / scale, y / scale
    return np.where(largest == 0, 0, x / np.hypot(x, y))


# No derivative at the origin: there the quotients by z are 0/0. z is only there to save work.
unit = own(_unit, lambda y, z: (y / z) * (y / z) / z, lambda x, y, z: -(x / z) * (y / z) / z, None)


def _ratio(x: Any, y: Any) -> Any:
    """x / y for y = norm(x), or the like; 0 where y is 0."""
    return np.where(y == 0, 0, x / np.where(y == 0, 1, y))


# No derivative where y is 0: a norm, or a spread, has a kink there.
ratio = own(_ratio, lambda y: 1 / _nonzero(y), lambda y, out: -out / _nonzero(y))


def _nonzero(y: Any) -> Any:
    return np.where(y == 0, np.nan, y)


def _angle_derivative(x: Any, y: Any, n: int, k: int) -> Any:
    """The derivative of y / (x*x + y*y), n - k times in x and k times in y.

    The function is -Im(1/v) with v = x + iy, so this is the same of (-1)**n n! i**k v**-(n+1): a power of the
    direction of v, in which nothing cancels, divided by |v| step by step.
    """
    z = np.hypot(x, y)
    s = _unit(y, x, z)
    if n == 0:
        return s / z
    c = _unit(x, y, z)
    real, imag = c, -s
    for _ in range(n):
        real, imag = real * c + imag * s, imag * c - real * s
    turned = (-imag, -real, imag, real)[k % 4] * ((-1) ** n * math.factorial(n))
    for _ in range(n + 1):
        turned = turned / z
    return turned


_own_angle_derivative = own(
    _angle_derivative,
    lambda x, y, n, k: _own_angle_derivative(x, y, n + 1, k),
    lambda x, y, n, k: _own_angle_derivative(x, y, n + 1, k + 1),
    None,
    None,
)


def angle_slope(x: Any, y: Any) -> Any:
    """y / (x*x + y*y), the derivative of arctan2(x, y) in x, without squares that overflow."""
    return _own_angle_derivative(x, y, 0, 0)


def phase(x: Any) -> Any:
    """x / |x| for complex x; 0 at 0, the direction at infinity."""
    size = abs(x)
    if not some((size < np.finfo(size.dtype).tiny) | (size == np.inf)) and not isinstance(x, Tracer):
        return x / size
    real, imag = np.real(x), np.imag(x)
    return unit(real, imag, size) + unit(imag, real, size) * 1j


# ---- the derivatives of sin(x) / x and of sin(pi x) / (pi x) ---------------------------------------------------------
def _sine_ratio(x: Any, angle: Any, n: int) -> Any:
    """The n-th derivative of S(x) = sin(x) / x. From x S = sin(x) follows by differentiation

        x S[n](x) + n S[n-1](x) = sin(x + n pi/2),

    a recursion that is stable for |x| > n; below, the power series is summed. `angle` is x less whole turns.
    """
    waves = (np.sin(angle), np.cos(angle), -np.sin(angle), -np.cos(angle))
    with np.errstate(all="ignore"):
        out = waves[0] / x
        for k in range(1, n + 1):
            out = (waves[k % 4] - k * out) / x
    return repaired(out, abs(x) < max(n, 1), lambda x: _sine_ratio_series(x, n), x)


def _sine_ratio_series(x: Any, n: int) -> Any:
    """The sum over even 2m >= n of (-1)**m x**(2m-n) / ((2m+1) (2m-n)!)."""
    power = np.ones_like(x) if n % 2 == 0 else x
    out = np.zeros_like(x)
    for k in range(n % 2, 30 + 2 * n, 2):
        m = (k + n) // 2
        out = out + (-1) ** m * power / (2 * m + 1)
        power = power * x * x / ((k + 1) * (k + 2))
    return out


def _sine_ratio_derivative(x: Any, n: int) -> Any:
    return _sine_ratio(x, x, n)


def _sinc_derivative(x: Any, n: int) -> Any:
    angle = math.pi * (x - 2 * np.rint(x.real / 2))  # without the rounding of a large pi x
    return math.pi**n * _sine_ratio(math.pi * x, angle, n)


sine_ratio_derivative = own(_sine_ratio_derivative, lambda x, n: sine_ratio_derivative(x, n + 1), None)
sinc_derivative = own(_sinc_derivative, lambda x, n: sinc_derivative(x, n + 1), None)


# ---- the derivatives of the Bessel function i0 -----------------------------------------------------------------------
def _i0_derivative(x: Any, n: int) -> Any:
    """The n-th derivative of i0: the mean over all angles of cos(angle)**n exp(x cos(angle)).

    Opposite angles make a cosh or sinh, so all terms have one sign and nothing cancels. The trapezoidal rule
    with N angles errs by about I_N(x)/I_0(x) < exp(-N**2 / (2 |x|)) (Trefethen and Weideman, SIAM Review 56,
    2014).
    """
    # a lazy array is not asked how large it is
    largest = 801 if is_foreign(memory_of(x)) else int(np.fmin(np.max(abs(x), initial=0), 800)) + 1
    quarter = 8 + n // 4 + math.ceil(math.sqrt(80 * largest) / 4)
    wave = np.sinh if n % 2 else np.cosh
    out = np.zeros_like(x)
    with np.errstate(over="ignore"):
        for k in range(quarter):
            c = math.cos(math.pi * k / (2 * quarter))
            out = out + (0.5 if k == 0 else 1) * c**n * wave(x * c)
    if n == 0:
        out = out + 0.5
    return out / quarter


i0_derivative = own(_i0_derivative, lambda x, n: i0_derivative(x, n + 1), None)
