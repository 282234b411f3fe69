"""Functions of many elements for which NumPy's loops take an element at a time: by blocks, of vector loops.

The intermediate results of a block stay in the cache. A block with elements for which the formula here does
not hold (not finite ones, quotients that are too large) goes to NumPy's function, whose numbers all are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from funcgrad.nn.kernels.blocks import BLOCK, by_blocks

_MANY = 1 << 12  # from which on a block takes less time than NumPy's function
# Up to here a quotient x / y of float32, in float64, is never rounded up to an integer, and its integer part
# times y is exact: of 28 and 24 bits.
_EXACT_PRODUCT = float(1 << 28)
# Up to here NumPy's floor_divide, which rounds (x - x % y) / y in float32, is the quotient's floor.
_EXACT_QUOTIENT = float(1 << 22)
_SIGN, _MAGNITUDE = np.uint32(1 << 31), np.uint32((1 << 31) - 1)


def _fits(x: Any, y: Any) -> bool:
    """Are they many elements of float32, and as many or one?"""
    return (
        type(x) is np.ndarray
        and x.size >= _MANY
        and type(y) in (np.ndarray, np.float32)
        and x.dtype == np.float32 == y.dtype
        and (y.ndim == 0 or y.shape == x.shape)
    )


def _in_blocks(plain: Any, block: Callable[..., bool], count: int, dtype: Any) -> Callable[[Any, Any], Any]:
    """plain(x, y), with `block(x, y, out, *buffers)` for float32; False from a block: not for these elements."""

    def either(x: Any, y: Any, out: Any, *buffers: Any) -> None:
        if not block(x, y, out, *buffers):
            plain(x, y, out=out)

    def function(x: Any, y: Any) -> Any:
        if not _fits(x, y):
            return plain(x, y)
        return by_blocks(either, x, np.asarray(y), buffers=count, dtype=dtype)

    function.__name__ = plain.__name__
    return function


def _quotient(x: Any, y: Any, x64: Any, y64: Any, q: Any, limit: float) -> bool:
    """Writes x, y and x / y in float64 into the buffers. Are y finite and the quotients within the limit?

    Sums of squares tell it, in a third of a maximum's time; those of float32 do not overflow in float64.
    """
    np.copyto(x64, x)
    np.copyto(y64, y)
    np.divide(x64, y64, q)
    return bool(np.dot(q, q) < limit * limit and np.dot(y64, y64) < np.inf)  # False for NaN


def _with_sign(x: Any, y: Any) -> None:
    """x becomes copysign(x, y), which NumPy has no vector loop for."""
    bits, signs = x.view(np.uint32), y.view(np.uint32)
    bits &= _MAGNITUDE
    np.bitwise_or(bits, signs & _SIGN, bits)


def _rest(x64: Any, y64: Any, q: Any, out: Any) -> None:
    """x - trunc(x / y) * y: exact, as its bits are at most those of y."""
    np.trunc(q, q)
    np.multiply(q, y64, q)
    np.subtract(x64, q, x64)
    np.copyto(out, x64, casting="same_kind")


def _fmod_block(x: Any, y: Any, out: Any, x64: Any, y64: Any, q: Any, _: Any) -> bool:
    if not _quotient(x, y, x64, y64, q, _EXACT_PRODUCT):
        return False
    _rest(x64, y64, q, out)
    _with_sign(out, x)
    return True


def _remainder_block(x: Any, y: Any, out: Any, x64: Any, y64: Any, q: Any, less: Any) -> bool:
    """fmod, plus y where the signs are opposite: rounded once, in float32."""
    if not _quotient(x, y, x64, y64, q, _EXACT_PRODUCT):
        return False
    np.floor(q, less)
    _rest(x64, y64, q, out)  # leaves trunc(x / y) * y in q
    np.multiply(less, y64, less)
    np.subtract(q, less, less)  # y or 0
    shift = q.view(np.float32)[: x.size]
    np.copyto(shift, less, casting="same_kind")
    np.add(out, shift, out)
    _with_sign(out, y)
    return True


def _floor_block(x: Any, y: Any, out: Any, x64: Any, y64: Any, q: Any) -> bool:
    if not _quotient(x, y, x64, y64, q, _EXACT_QUOTIENT):
        return False
    np.floor(q, q)
    np.copyto(out, q, casting="same_kind")
    return True


def _logaddexp_block(x: Any, y: Any, out: Any, gap: Any) -> bool:
    np.subtract(x, y, gap)
    np.abs(gap, gap)
    np.negative(gap, gap)
    np.exp(gap, gap)
    np.log1p(gap, gap)
    np.maximum(x, y, out=out)
    np.add(out, gap, out)
    return not np.isnan(np.min(out))  # infinities of one sign, or NaN


remainder = _in_blocks(np.remainder, _remainder_block, 4, np.float64)
fmod = _in_blocks(np.fmod, _fmod_block, 4, np.float64)
floor_divide = _in_blocks(np.floor_divide, _floor_block, 3, np.float64)
logaddexp = _in_blocks(np.logaddexp, _logaddexp_block, 1, np.float32)

_WHOLE = range(4, 17)  # exponents: their roundings in float64 are far below one of float32


def power(x: Any, y: float) -> Any:
    """x ** y of floats and a number: x * x * x and 1 / (x * x) as PyTorch rounds them, whole powers of many
    elements of float32 in double precision.
    """
    if y == 3:
        square = x * x
        return np.multiply(square, x, square if square.ndim else None)
    if y == -2:
        return 1 / (x * x)
    if type(x) is np.ndarray and x.dtype == np.float32 and x.size >= _MANY and y in _WHOLE:
        return by_blocks(partial(_power_block, int(y)), x, buffers=2, dtype=np.float64)
    return x**y


def _power_block(n: int, x: Any, out: Any, square: Any, power: Any) -> None:
    """By repeated squaring."""
    np.copyto(square, x)
    power[...] = 1
    while n:
        if n & 1:
            np.multiply(power, square, power)
        n >>= 1
        if n:
            np.multiply(square, square, square)
    np.copyto(out, power, casting="same_kind")


_LANES = 1 << 10


def prod(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """np.prod; of all of many floats, by lanes that are multiplied at the end.

    Where a product of lanes would leave the range of normal numbers, in which an order of factors is as good
    as another, NumPy's order decides.
    """
    if (
        axis is None
        and type(x) is np.ndarray
        and x.size >= 8 * _LANES
        and x.dtype in (np.float32, np.float64)
    ):
        flat = np.ascontiguousarray(x).reshape(-1)
        whole = flat.size // _LANES * _LANES
        with np.errstate(all="ignore"):
            lanes = np.multiply.reduce(flat[:whole].reshape(-1, _LANES), axis=0)
            lanes[0] *= np.multiply.reduce(flat[whole:])
            upto = np.abs(np.multiply.accumulate(lanes, dtype=np.float64))
            smallest = min(np.min(np.abs(lanes)), np.min(upto))
            out = x.dtype.type(np.multiply.reduce(lanes, dtype=np.float64))
        limits = np.finfo(x.dtype)
        if smallest >= limits.smallest_normal and np.max(upto) < np.inf and abs(out) <= limits.max:
            return out.reshape((1,) * x.ndim) if keepdims else out
    return np.prod(x, axis=axis, keepdims=keepdims)


def accumulate(function: np.ufunc, x: np.ndarray) -> np.ndarray:
    """function.accumulate along the last axis, of np.maximum or np.minimum: blocks without a new extreme are filled."""
    if x.ndim > 1 or x.size < 2 * BLOCK:
        return function.accumulate(x, axis=-1)
    out = np.empty_like(x)
    function.accumulate(x[:BLOCK], out=out[:BLOCK])
    for start in range(BLOCK, x.size, BLOCK):
        part, to, reached = x[start : start + BLOCK], out[start : start + BLOCK], out[start - 1]
        if function(function.reduce(part), reached) == reached:  # False for NaN
            to[...] = reached
        else:
            function.accumulate(part, out=to)
            function(to, reached, out=to)
    return out
