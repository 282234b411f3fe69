"""The slopes of norms and standard deviations, and weighted means: their derivatives keep their digits where
one element outweighs all others together.

There the textbook formulas for the second derivative cancel. The element in question is called big. It is
taken out of the sums, which are then over what is small.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.core.engine.batch import along_axis
from funcgrad.core.engine.declare import custom
from funcgrad.core.engine.primitive import Call, Primitive
from funcgrad.core.engine.trace import Tracer, is_foreign
from funcgrad.rules.axes import Axis, axes_of, count_along, expanded
from funcgrad.rules.matrices import conj
from funcgrad.rules.slopes import ratio, some

MOST = 0.6  # the part of the total from which on an element is big: above a half, so that there is but one


def norm_of(x: Any, ord: Any = 2, axis: Any = None, keepdims: bool = False) -> Any:
    """sum(|x|**ord)**(1/ord) along any number of axes, by NumPy."""
    if ord == 2 and (axis is None or len(axes_of(axis, x.ndim)) in (1, 2)):
        return np.linalg.norm(x, axis=axis, keepdims=keepdims)
    if is_foreign(x):  # not all libraries have it
        size = abs(x)
        if math.isinf(ord):
            return (np.max if ord > 0 else np.min)(size, axis=axis, keepdims=keepdims)
        return (size**ord).sum(axis=axis, keepdims=keepdims) ** (1 / ord)
    return np.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)


# ---- the slope of a norm ---------------------------------------------------------------------------------------------


def norm_slope(x: Any, size: Any, ord: Any = 2, axis: Axis = None) -> Any:
    """The derivative of size = norm(x), with the reduced axes kept, in each element of x.

    x* / size for ord=2, else (|x| / size)**(ord - 1) x* / |x|.
    """
    if has_rule(x) and (ord == 2 or x.dtype.kind == "f"):
        return _traced(x, size, ord=ord, axis=axis)
    return _slope(x, size, ord, axis)


def has_rule(x: Any) -> bool:
    """Is `x` differentiated? (jit writes the formula down as it stands.)"""
    return isinstance(x, Tracer) and not x._is_recorded


def _slope(x: Any, size: Any, ord: Any = 2, axis: Axis = None) -> Any:
    x, size, _ = _in_range(x, size, ord, axis)
    if ord == 2:
        return ratio(conj(x), size)
    lengths = abs(x)
    return ratio(lengths, size) ** (ord - 1) * (
        ratio(conj(x), lengths) if x.dtype.kind == "c" else np.sign(x)
    )


def _in_range(x: Any, size: Any, ord: Any, axis: Axis) -> tuple[Any, Any, Any]:
    """`x` and its norm, both scaled if a power over- or underflowed: the slope needs only the direction."""
    if isinstance(x, Tracer) or isinstance(size, Tracer) or is_foreign(x):
        return x, size, 1
    lost = np.logical_or(size == np.inf, size < np.finfo(size.dtype).tiny ** 0.25)
    if not some(lost):
        return x, size, 1
    largest = np.max(abs(x), axis=axis, keepdims=True, initial=0)
    scale = np.where(np.logical_and(largest > 0, largest < np.inf), largest, 1)
    # complex division fails for subnormals
    x = x / scale if x.dtype.kind == "f" else x.real / scale + x.imag / scale * 1j
    return x, norm_of(x, ord, axis, True), scale


def _bent(t: Any, x: Any, size: Any, ord: Any, axis: Axis) -> Any:
    """The derivative of the slope along the conjugate of t: (ord - 1) w (t - y sum(g* t)) / size, where
    y = x* / size, w = |y|**(ord - 2) and g = w y is the slope.

    As sum(|y|**ord) = 1, the two terms in the parentheses cancel where y is big. There they are
    t sum'(|y|**ord) - y sum'(g* t), with the sums over all other elements.
    """
    x, size, scale = _in_range(x, size, ord, axis)
    with np.errstate(divide="ignore", invalid="ignore"):
        bent = _bent_in_range(t, x, size, ord, axis)
        return bent / np.where(size == 0, np.nan, size) / scale  # 0 is a kink


def _bent_in_range(t: Any, x: Any, size: Any, ord: Any, axis: Axis) -> Any:
    y = ratio(conj(x), size)
    length = abs(y)
    weight = length**ord
    big = weight > MOST
    w = 1.0 if ord == 2 else length ** (ord - 2)
    along = (conj(w * y) * t).real
    others = np.where(big, 0, along).sum(axis=axis, keepdims=True)
    rest = np.where(big, 0, weight).sum(axis=axis, keepdims=True)
    alone = t * rest - y * others
    if x.dtype.kind == "c":
        alone = alone + y * (1j * (conj(y) * t).imag)
    bent = np.where(big, alone, t - y * along.sum(axis=axis, keepdims=True))
    return (ord - 1) * w * bent


def _reached(ct, x, axis=None):
    return np.broadcast_to(ct.sum(axis=axis, keepdims=True), x.shape)


_traced = custom(
    _slope,
    {
        "x": lambda ct, x, size, ord=2, axis=None: _bent(conj(ct), x, size, ord, axis),
        "size": lambda ct: None,  # it is only there to save work: the derivative in x is the total one
    },
    push=lambda t, x, size, ord=2, axis=None: _bent(conj(t["x"]), x, size, ord, axis),
    reach=_reached,
    operands="x size",
    batch="axis",
    name="slope of linalg.norm",
)

# ---- the slope of a standard deviation -------------------------------------------------------------------------------


def spread_slope(x: Any, out: Any, degrees: float, axis: Axis) -> Any:
    """The derivative of out = sqrt(sum(|x - mean(x)|**2) / degrees), with the reduced axes kept.

    The sum of squares about the mean is that of the others about theirs, and (n - 1)/n times the square of the
    distance of the big element from the mean of the others: a norm whose big element is a difference.
    """
    n = count_along(x.shape, axis)
    squares = abs(x - x.mean(axis=axis, keepdims=True)) ** 2
    big = squares > MOST * squares.sum(axis=axis, keepdims=True)
    counted = np.maximum(n - big.sum(axis=axis, keepdims=True), 1)
    factor = np.where(big, np.asarray(((n - 1) / n) ** 0.5, out.dtype), 1)
    mean = lambda y: np.where(big, 0, y).sum(axis=axis, keepdims=True) / counted
    turned = factor * (x - mean(x))
    pulled = factor * norm_slope(turned, out * degrees**0.5, 2, axis) / degrees**0.5
    return pulled - np.where(big, 0, pulled.sum(axis=axis, keepdims=True) / counted)


# ---- weighted means --------------------------------------------------------------------------------------------------


def _weighted_mean(a: Any, weights: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    total = np.sum(weights, axis=axis, keepdims=keepdims, dtype=np.result_type(a, weights))
    return np.sum(a * weights, axis=axis, keepdims=keepdims) / total


def _shares(weights: Any, axis: Axis) -> tuple[Any, Any, Any]:
    """The total of the weights, where a weight is big, and the share of the total that the others have."""
    total = weights.sum(axis=axis, keepdims=True)
    size = abs(weights)
    big = size > MOST * size.sum(axis=axis, keepdims=True)
    return total, big, np.where(big, 0, weights / total)


def _pull_mean(ct, a, weights, axis=None, keepdims=False):
    _, big, others = _shares(weights, axis)
    rest = others.sum(axis=axis, keepdims=True)
    return expanded(ct, a.shape, axis, keepdims) * np.where(big, 1 - rest, others)


def _gaps(a: Any, weights: Any, axis: Axis) -> Any:
    """(a - mean) / total: the derivative in the weights. All is measured from the element whose weight is big,
    to which the mean may be very close.
    """
    total, big, others = _shares(weights, axis)
    gaps = np.where(big, 0, a - np.where(big, a, 0).sum(axis=axis, keepdims=True))
    return (gaps - (others * gaps).sum(axis=axis, keepdims=True)) / total


def _pull_weights(ct, a, weights, axis=None, keepdims=False):
    return expanded(ct, a.shape, axis, keepdims) * _gaps(a, weights, axis)


def _push_mean(t, a, weights, axis=None, keepdims=False):
    moved: Any = 0
    if t["a"] is not None:
        moved = _pull_mean(1, a, weights, axis, True) * t["a"]
    if t["weights"] is not None:
        moved = moved + _gaps(a, weights, axis) * t["weights"]
    return moved.sum(axis=axis, keepdims=keepdims)


def _batched_mean(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    """Every example has weights of its own, so that the axes of both operands move."""
    operands = [
        o if b else np.broadcast_to(o, (size, *o.shape)) for o, b in zip(call.operands, batched, strict=True)
    ]
    return along_axis(primitive, call.with_operands(operands), [True, True], size)


weighted_mean = custom(
    _weighted_mean,
    {"a": _pull_mean, "weights": _pull_weights},
    push=_push_mean,
    reach=lambda ct, a, axis=None, keepdims=False: expanded(ct, a.shape, axis, keepdims),
    operands="a weights",
    batch=_batched_mean,
    name="average",
)
