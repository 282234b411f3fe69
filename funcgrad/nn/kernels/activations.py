"""Activations, declared to the engine: elementwise functions of x and of settings, one node each.

Where an activation lets nothing through (the flat parts of hardtanh) its slope is a zero by structure. The
slopes at kinks are PyTorch's.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from funcgrad.core.engine.declare import elementwise, selection
from funcgrad.nn.kernels.basic import SIGMOID
from funcgrad.nn.kernels.blocks import BLOCK, by_blocks
from funcgrad.nn.kernels.erf import is_single, single_gelu
from funcgrad.nn.kernels.special import NORMAL_CDF

_TANH_SCALE, _TANH_CUBIC = math.sqrt(2 / math.pi), 0.044715
SELU_ALPHA, SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


def _one(x: Any) -> Any:
    return x.dtype.type(1)


# ---- with flat parts -------------------------------------------------------------------------------------------------
def _hardtanh(x: Any, low: Any, high: Any) -> Any:
    return np.clip(x, low, high)


def _hardsigmoid(x: Any) -> Any:
    return np.clip(x + 3, 0, 6) / 6


def _hardshrink(x: Any, bound: Any) -> Any:
    return np.where((x >= -bound) & (x <= bound), x.dtype.type(0), x)


def _softshrink(x: Any, bound: Any) -> Any:
    return np.where(x > bound, x - bound, np.where(x < -bound, x + bound, x * 0))


def _threshold(x: Any, bound: Any, value: Any) -> Any:
    return np.where(x <= bound, x.dtype.type(value), x)


def _outside(x: Any, bound: Any) -> Any:
    return ~((x >= -bound) & (x <= bound))


def _within(x: Any, low: Any, high: Any) -> Any:
    return ~((x <= low) | (x >= high))


HARDTANH = selection(_hardtanh, _within, None, None, operands="x low high", name="hardtanh")
HARDSIGMOID = selection(
    _hardsigmoid, lambda x: _within(x, -3, 3) / x.dtype.type(6), operands="x", name="hardsigmoid"
)
HARDSHRINK = selection(_hardshrink, _outside, None, operands="x bound", name="hardshrink")
SOFTSHRINK = selection(_softshrink, _outside, None, operands="x bound", name="softshrink")
THRESHOLD = selection(
    _threshold, lambda x, bound: ~(x <= bound), None, None, operands="x bound value", name="threshold"
)


def _hardswish(x: Any) -> Any:
    return x * np.clip(x + 3, 0, 6) / 6


def _hardswish_slope(x: Any) -> Any:
    return np.where(x <= -3, x.dtype.type(0), np.where(x >= 3, _one(x), x / 3 + x.dtype.type(0.5)))


HARDSWISH = elementwise(_hardswish, _hardswish_slope, operands="x", name="hardswish")


# ---- of two pieces ---------------------------------------------------------------------------------------------------
def _leaky_relu(x: Any, slope: Any) -> Any:
    if type(slope) is float and 0 <= slope <= 1:
        return np.maximum(x, x * slope)  # takes a third of the time
    return np.where(x > 0, x, x * slope)


def _prelu(x: Any, slope: Any) -> Any:
    return _leaky_relu(x, slope)


def _elu(x: Any, alpha: Any, scale: Any, inner: Any) -> Any:
    if _is_large(x) and _positive(alpha, scale, inner):
        return _of_pieces(x, _elu_block, (alpha * scale, scale, inner))
    return np.where(x > 0, x * scale, np.expm1(x * inner) * (alpha * scale))


def _elu_slope(x: Any, alpha: Any, scale: Any, inner: Any) -> Any:
    if _is_large(x) and _positive(alpha, scale, inner):
        return _of_pieces(x, _elu_slope_block, (alpha * scale * inner, scale, inner))
    return np.where(x > 0, x.dtype.type(scale), np.exp(x * inner) * (alpha * scale * inner))


# np.where mispredicts branches, which takes longer than both pieces: in blocks, a sum of pieces of which one is 0.
def _is_large(x: Any) -> bool:
    return type(x) is np.ndarray and x.size >= BLOCK and x.dtype in (np.float32, np.float64)


def _positive(*settings: Any) -> bool:
    return all(type(c) in (float, int) and 0 < c < math.inf for c in settings)


def _of_pieces(x: np.ndarray, block: Any, settings: tuple[float, ...]) -> np.ndarray:
    """block(x, out, buffer, zeros, *settings) for a block of x after the other.

    NumPy's minimum and maximum take a third of the time between arrays: hence the zeros.
    """
    zeros = np.zeros(BLOCK, x.dtype)
    return by_blocks(lambda v, out, u: block(v, out, u, zeros[: v.size], *settings), x, buffers=1)


def _elu_block(v: Any, out: Any, u: Any, zero: Any, below: float, scale: float, inner: float) -> None:
    np.minimum(v, zero, out=u)
    if inner != 1:
        u *= inner
    np.expm1(u, u)
    if below != 1:
        u *= below
    np.maximum(v, zero, out=out)
    if scale != 1:
        out *= scale
    out += u
    kind = np.dtype(f"u{out.itemsize}")  # the sign is that of v, for -0, too
    np.bitwise_and(v.view(kind), kind.type(1 << (8 * out.itemsize - 1)), u.view(kind))
    np.bitwise_or(out.view(kind), u.view(kind), out.view(kind))


def _elu_slope_block(v: Any, out: Any, u: Any, zero: Any, below: float, scale: float, inner: float) -> None:
    np.minimum(v, zero, out=u)
    if inner != 1:
        u *= inner
    np.exp(u, out)
    if below != 1:
        out *= below
    if below != scale:  # exp(0) is 1: else both pieces are there
        out *= v <= 0
        np.multiply(v > 0, scale, u, dtype=u.dtype)
        out += u


def _leaky_relu_slope(x: Any, slope: Any) -> Any:
    if type(slope) is float and 0 <= slope <= 1 and type(x) is np.ndarray:
        ones = (x > 0).astype(x.dtype)  # without branches, which are mispredicted
        return np.maximum(ones, x.dtype.type(slope), out=ones)
    return np.where(x > 0, _one(x), x.dtype.type(slope))


LEAKY_RELU = elementwise(
    _leaky_relu,
    _leaky_relu_slope,
    None,
    operands="x slope",
    name="leaky_relu",
)
ELU = elementwise(_elu, _elu_slope, None, None, None, operands="x alpha scale inner", name="elu")
PRELU = elementwise(
    _prelu,
    lambda x, slope: np.where(x > 0, _one(x), slope),
    lambda x: np.where(x > 0, x.dtype.type(0), x),
    operands="x slope",
    name="prelu",
)


def _softplus(x: Any, beta: Any, threshold: Any) -> Any:
    scaled = x * beta
    with np.errstate(over="ignore"):
        return np.where(scaled > threshold, x, np.log1p(np.exp(scaled)) / beta)


def _softplus_slope(x: Any, beta: Any, threshold: Any) -> Any:
    return np.where(x * beta > threshold, _one(x), SIGMOID(x * beta))


SOFTPLUS = elementwise(_softplus, _softplus_slope, None, None, operands="x beta threshold", name="softplus")


# ---- smooth ----------------------------------------------------------------------------------------------------------
def _log_sigmoid(x: Any) -> Any:
    return np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))


def _gelu(x: Any) -> Any:
    return single_gelu(x) if is_single(x) else x * NORMAL_CDF(x)


def _gelu_slope(x: Any) -> Any:
    return NORMAL_CDF(x) + x * (np.exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi)))


def _tanh_inside(x: Any) -> Any:
    return np.tanh(_TANH_SCALE * x * (1 + _TANH_CUBIC * x * x))


def _gelu_tanh(x: Any) -> Any:
    return 0.5 * x * (1 + _tanh_inside(x))


def _gelu_tanh_slope(x: Any) -> Any:
    tanh = _tanh_inside(x)
    return 0.5 * (1 + tanh) + 0.5 * _TANH_SCALE * x * (1 - tanh * tanh) * (1 + 3 * _TANH_CUBIC * x * x)


def _silu(x: Any) -> Any:
    return x * SIGMOID.function(x)


def _silu_slope(x: Any) -> Any:
    s = SIGMOID(x)
    return s * (1 + x * (1 - s))


def _mish(x: Any) -> Any:
    return x * np.tanh(_softplus(x, 1, 20))


def _mish_slope(x: Any) -> Any:
    tanh = np.tanh(SOFTPLUS(x, 1.0, 20.0))
    return tanh + x * SIGMOID(x) * (1 - tanh * tanh)


LOG_SIGMOID = elementwise(_log_sigmoid, lambda x: SIGMOID(-x), operands="x", name="log_sigmoid")
GELU = elementwise(_gelu, _gelu_slope, operands="x", name="gelu")
GELU_TANH = elementwise(_gelu_tanh, _gelu_tanh_slope, operands="x", name="gelu")
SILU = elementwise(_silu, _silu_slope, operands="x", name="silu")
MISH = elementwise(_mish, _mish_slope, operands="x", name="mish")
