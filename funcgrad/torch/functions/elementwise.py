"""Elementwise functions and operators: arithmetic, comparisons, exponentials, angles, rounding, choices."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.nn.kernels.basic import relu as relu_kernel
from funcgrad.nn.kernels.basic import sigmoid as sigmoid_kernel
from funcgrad.torch.functions import blocks
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.functions.reduce import named_result
from funcgrad.torch.functions.registry import declare, enter, function
from funcgrad.torch.graph.lanes import binary_lane, unary_lane
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.dtypes import aligned
from funcgrad.torch.tensors.tensor import Tensor
from funcgrad.torch.tensors.values import constant

# ---- arithmetic ------------------------------------------------------------------------------------------------------


def _add(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """input + alpha * other, with broadcasting."""
    x, y = aligned((input, other))
    return x + y if alpha == 1 else x + y * dtypes.cast(alpha, y.dtype)


def _sub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """input - alpha * other, with broadcasting."""
    x, y = aligned((input, other))
    if any(getattr(z, "dtype", None) == bool or isinstance(z, bool) for z in (input, other)):  # noqa: E721 (a dtype)
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. Use `^` or logical_xor() instead."
        )
    return x - y if alpha == 1 else x - y * dtypes.cast(alpha, y.dtype)


def _mul(input: Any, other: Any) -> Any:
    """input * other, with broadcasting."""
    x, y = aligned((input, other))
    return x * y


def _div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """input / other; rounding_mode "trunc" or "floor" rounds the quotient."""
    if rounding_mode is None:
        x, y = aligned((input, other), floating=True)
        return x / y
    x, y = aligned((input, other))
    if rounding_mode == "floor":
        return blocks.floor_divide(x, y)
    if rounding_mode != "trunc":
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    return np.trunc(x / y).astype(x.dtype)


def _pow(input: Any, exponent: Any) -> Any:
    """input ** exponent."""
    x, y = aligned((input, exponent))
    if x.dtype.kind in "iu" and not hasattr(exponent, "dtype") and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    if type(x) is np.ndarray and x.dtype in (np.float32, np.float64) and type(exponent) in (int, float):
        return blocks.power(x, exponent)
    return np.power(x, y)


def _rsub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """other - alpha * input."""
    return _sub(other, input, alpha=alpha)


def _pow_node(input: Any = None, exponent: Any = None) -> str:
    if not isinstance(input, Tensor) and input is not None:
        return "PowBackward2"
    return "PowBackward0" if exponent is not None and not isinstance(exponent, Tensor) else "PowBackward1"


add = enter("add", binary_lane(np.add, Op("add", _add, "AddBackward0")), "fmi")
sub = enter("sub", binary_lane(np.subtract, Op("sub", _sub, "SubBackward0")), "fmi", "subtract")
mul = enter("mul", binary_lane(np.multiply, Op("mul", _mul, "MulBackward0")), "fmi", "multiply")
div = enter("div", binary_lane(np.divide, Op("div", _div, "DivBackward0")), "fmi", "divide true_divide")
_pow_op = Op("pow", _pow, _pow_node)
pow = enter("pow", binary_lane(np.power, _pow_op, "PowBackward0", "exponent", blocks.power), "fmi")
rsub = declare("rsub", _rsub, "RsubBackward1")
neg = enter("neg", unary_lane(np.negative, Op("neg", np.negative, "NegBackward0")), "fmi", "negative")
abs = enter("abs", unary_lane(np.absolute, Op("abs", np.absolute, "AbsBackward0")), "fmi", "absolute")
matmul_node = {(1, 1): "DotBackward0", (2, 1): "MvBackward0", (2, 2): "MmBackward0"}


def _binary(ufunc: Callable[..., Any], *, floating: bool = False) -> Callable[..., Any]:
    def body(input: Any, other: Any) -> Any:
        return ufunc(*aligned((input, other), floating=floating))

    body.__doc__ = f"np.{ufunc.__name__}, elementwise."
    return body


def _tensor_or_number(name: str, tensor: int, number: int) -> Callable[..., str]:
    return lambda input, other: f"{name}Backward{tensor if isinstance(other, Tensor) else number}"


for _name, _ufunc, _in_floats, _node in (
    ("remainder", blocks.remainder, False, _tensor_or_number("Remainder", 1, 0)),
    ("fmod", blocks.fmod, False, _tensor_or_number("Fmod", 1, 0)),
    ("floor_divide", blocks.floor_divide, False, None),
    ("atan2", np.arctan2, True, "Atan2Backward0"),
    ("hypot", np.hypot, True, None),
    ("copysign", np.copysign, True, "CopysignBackward0"),
    ("bitwise_and", np.bitwise_and, False, None),
    ("bitwise_or", np.bitwise_or, False, None),
    ("bitwise_xor", np.bitwise_xor, False, None),
    ("bitwise_left_shift", np.left_shift, False, None),
    ("bitwise_right_shift", np.right_shift, False, None),
    ("gcd", np.gcd, False, None),
    ("lcm", np.lcm, False, None),
    ("nextafter", np.nextafter, True, None),
):
    declare(_name, _binary(_ufunc, floating=_in_floats), _node, where="fmi")
for _name, _ufunc in (
    ("maximum", np.maximum),
    ("minimum", np.minimum),
    ("fmax", np.fmax),
    ("fmin", np.fmin),
    ("logaddexp", blocks.logaddexp),
    ("logaddexp2", np.logaddexp2),
):
    declare(_name, _binary(_ufunc))


def _ldexp(input: Any, other: Any) -> Any:
    """input * 2**other; `other` may be of integers."""
    x, y = aligned((input, other), floating=True)
    return x * np.exp2(y)


declare("ldexp", _ldexp, "MulBackward0", where="fmi")
declare("arctan2", _binary(np.arctan2, floating=True), "Atan2Backward0", where="fmi")

# ---- comparisons and logic -------------------------------------------------------------------------------------------


def _comparison(ufunc: Callable[..., Any]) -> Callable[..., Any]:
    def body(input: Any, other: Any) -> Any:
        return ufunc(*aligned((input, other)))

    body.__doc__ = f"np.{ufunc.__name__}, elementwise."
    return body


for _name, _ufunc, _alias in (
    ("eq", np.equal, ""),
    ("ne", np.not_equal, "not_equal"),
    ("lt", np.less, "less"),
    ("le", np.less_equal, "less_equal"),
    ("gt", np.greater, "greater"),
    ("ge", np.greater_equal, "greater_equal"),
    ("logical_and", np.logical_and, ""),
    ("logical_or", np.logical_or, ""),
    ("logical_xor", np.logical_xor, ""),
):
    declare(_name, _comparison(_ufunc), where="fmi", aliases=_alias)
declare("logical_not", np.logical_not, where="fmi")
declare("bitwise_not", np.invert, where="fmi")
for _name in ("isnan", "isinf", "isfinite", "signbit"):
    declare(_name, getattr(np, _name))
declare("isposinf", lambda input: np.logical_and(np.isinf(input), input > 0))
declare("isneginf", lambda input: np.logical_and(np.isinf(input), input < 0))
declare(
    "isclose",
    lambda input, other, rtol=1e-05, atol=1e-08, equal_nan=False: np.isclose(
        input, other, rtol, atol, equal_nan
    ),
)


@function("fm")
def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Are all elements close?"""
    return bool(np.allclose(input.value, other.value, rtol, atol, equal_nan))


@function("fm")
def equal(input: Tensor, other: Tensor) -> bool:
    """Do both have the same shape and elements?"""
    return input.value.shape == other.value.shape and bool(np.all(input.value == other.value))


# ---- functions of one operand ----------------------------------------------------------------------------------------


def _floating(ufunc: Callable[..., Any]) -> Callable[..., Any]:
    run = ufunc if isinstance(ufunc, np.ufunc) else CATALOGUE[ufunc]

    def body(input: Any) -> Any:
        return run(aligned((input,), floating=True)[0])

    body.__doc__ = f"{ufunc.__name__}, elementwise; integers become floats."
    return body


UNARY = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asin arcsin": np.arcsin,
    "acos arccos": np.arccos,
    "atan arctan": np.arctan,
    "asinh arcsinh": np.arcsinh,
    "acosh arccosh": np.arccosh,
    "atanh arctanh": np.arctanh,
    "reciprocal": np.reciprocal,
    "sigmoid": sigmoid_kernel,
}
for _names, _ufunc in UNARY.items():
    _name, _, _alias = _names.partition(" ")
    enter(_name, unary_lane(_ufunc, Op(_name, _floating(_ufunc))), "fmi", _alias)
enter("relu", unary_lane(relu_kernel, Op("relu", CATALOGUE[relu_kernel].__call__)), "fmi")


def _rounded(function: Callable[[Any], Any], input: Any) -> Any:
    """A function of steps: its result is in the graph, as PyTorch's, with a gradient of zero. Integers stay."""
    if input.dtype.kind != "f":
        return input
    return function(input) if type(input) is np.ndarray else np.where(True, function(input), input)


def _signs(x: Any) -> Any:
    """-1, 0 or 1, of floats. By comparisons, which keep nothing for the backward pass."""
    above, below = x > 0, x < 0
    if type(x) is np.ndarray:  # differences of bytes take less memory and time than those of floats
        return (above.view(np.int8) - below.view(np.int8)).astype(x.dtype)
    return above.astype(x.dtype) - below.astype(x.dtype)


def _sign(input: Any) -> Any:
    """-1, 0 or 1; 0 for NaN, as in PyTorch."""
    if input.dtype.kind == "b":
        return np.copy(input)
    return _rounded(_signs, input) if input.dtype.kind == "f" else np.sign(input)


def _nan_to_num(input: Any, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """The elements, with numbers in the place of NaN and of infinities."""
    if type(input) is np.ndarray and np.isfinite(input).all():  # takes a fifth of the time
        return np.copy(input)
    return np.nan_to_num(input, nan=nan, posinf=posinf, neginf=neginf)


def _scaled(factor: float, input: Any) -> Any:
    """The elements times a number; integers become floats."""
    return aligned((input,), floating=True)[0] * factor


for _name, _factor in (("deg2rad", math.pi / 180), ("rad2deg", 180 / math.pi)):
    declare(_name, partial(_scaled, _factor), where="fmi")
declare("rsqrt", lambda input: 1 / np.sqrt(*aligned((input,), floating=True)), where="fmi")
declare("square", lambda input: _pow(input, 2), "PowBackward0", where="fmi")
declare("sinc", _floating(np.sinc), where="fmi")
declare("sign", _sign, where="fmi")
declare("sgn", _sign, where="fmi")
declare("floor", lambda input: _rounded(np.floor, input), where="fmi")
declare("ceil", lambda input: _rounded(np.ceil, input), where="fmi")
declare("trunc", lambda input: _rounded(np.trunc, input), where="fmi", aliases="fix")
declare("frac", lambda input: input - np.trunc(input), where="fmi")
declare(
    "round",
    lambda input, *, decimals=0: _rounded(lambda x: np.round(x, decimals), input),
    lambda input, *, decimals=0: f"RoundBackward{int(decimals != 0)}",
    where="fmi",
)
declare("positive", lambda input: input)
declare("nan_to_num", _nan_to_num, where="fmi")
declare(
    "logit",
    lambda input, eps=None: np.log(_clipped(input, eps)) - np.log1p(-_clipped(input, eps)),
    where="fmi",
)
declare("conj", lambda input: np.conjugate(input) if input.dtype.kind == "c" else input)
declare("angle", lambda input: np.angle(input))


def _clipped(x: Any, eps: float | None) -> Any:
    return x if eps is None else np.clip(x, eps, 1 - eps)


# ---- choices ---------------------------------------------------------------------------------------------------------


def _clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    """Limit the elements to [min, max]; the slope at a bound is 1, with respect to a number."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    bounds = [x for x in (min, max) if x is not None]
    x, *rest = aligned((input, *bounds))
    if type(x) is np.ndarray and not any(hasattr(b, "dtype") or b == 0 for b in bounds):
        return np.clip(x, None if min is None else rest[0], None if max is None else rest[-1])
    out = x  # where a bound is 0, the sign of a zero that is within the bounds stays
    if min is not None:
        low = rest.pop(0)
        out = np.maximum(out, low) if hasattr(min, "dtype") else np.where(out < low, low, out)
    if max is not None:
        high = rest.pop(0)
        out = np.minimum(out, high) if hasattr(max, "dtype") else np.where(out > high, high, out)
    return out


declare(
    "clamp",
    _clamp,
    lambda input, *rest, **named: (
        f"ClampBackward{0 if any(isinstance(x, Tensor) for x in (*rest, *named.values())) else 1}"
    ),
    where="fmi",
    aliases="clip",
)
declare("clamp_min", lambda input, min: _clamp(input, min), where="fmi")
declare("clamp_max", lambda input, max: _clamp(input, None, max), where="fmi")


def _where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """The elements of `input` where `condition`, else of `other`; `condition` alone: nonzero indices."""
    x, y = aligned((input, other))
    return np.where(condition, x, y)


where_op = declare("where", _where, "WhereBackward0", where="")


@function("f", out=True)
def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    """The elements of `input` where `condition`, those of `other` elsewhere."""
    if input is None:
        return tuple(Tensor.nonzero(condition).unbind(1))
    return where_op(condition, input, other)


Tensor.where = lambda self, condition, other: where_op(condition, self, other)
declare(
    "masked_fill",
    lambda input, mask, value: np.where(mask, dtypes.cast(value, input.dtype), input),
    where="fmi",
)
declare("lerp", lambda input, end, weight: input + weight * (end - input), where="fmi")
declare("complex", lambda real, imag: real + 1j * imag, where="f")
declare("polar", lambda abs, angle: abs * np.cos(angle) + 1j * (abs * np.sin(angle)), where="f")


# ---- of several operands, and of parts ------------------------------------------------------------------------------
def _heaviside(input: Any, values: Any) -> Any:
    """0 where negative, 1 where positive, `values` at 0."""
    x, y = dtypes.aligned((input, values))
    return dtypes.cast(np.heaviside(x, y), x.dtype)


def _addcmul(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """input + value * tensor1 * tensor2."""
    x, y, z = dtypes.aligned((input, tensor1, tensor2))
    return x + dtypes.cast(value, x.dtype) * y * z


def _addcdiv(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """input + value * tensor1 / tensor2."""
    x, y, z = dtypes.aligned((input, tensor1, tensor2))
    return x + dtypes.cast(value, x.dtype) * y / z


declare("heaviside", _heaviside, where="fmi")
declare("addcmul", _addcmul, where="fmi")
declare("addcdiv", _addcdiv, where="fmi")


def _float_power(input: Any, exponent: Any) -> Any:
    """input ** exponent in double precision."""
    x, y = [dtypes.cast(z, np.dtype(complex if _kind(z) == "c" else float)) for z in (input, exponent)]
    return np.power(x, y)


def _kind(x: Any) -> str:
    return x.dtype.kind if hasattr(x, "dtype") else np.asarray(x).dtype.kind


declare("float_power", _float_power, _pow_node)


def _float_power_inplace(self: Tensor, exponent: Any) -> Tensor:
    """float_power, in place: for tensors in double precision."""
    if self.value.dtype.itemsize < 8:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {self.dtype} but the operation's result requires dtype Double"
        )
    return self.pow_(exponent)


Tensor.float_power_ = _float_power_inplace

Frexp = named_result("frexp", "mantissa exponent")


def _frexp(input: Any) -> Any:
    """mantissa * 2**exponent, with a mantissa in [0.5, 1)."""
    exponent = np.frexp(constant(input))[1]
    return Frexp(input * np.exp2(-exponent.astype(input.dtype)), exponent)


declare("frexp", _frexp)
declare("conj_physical", lambda input: np.conjugate(input) if input.dtype.kind == "c" else input, where="fmi")
declare("isreal", lambda input: np.imag(constant(input)) == 0)
