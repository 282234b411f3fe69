"""Elementwise choices: where, maximum, minimum, clip, select, piecewise, choose, abs and sign.

What is not taken contributes zeros by structure. A choice between equal operands (a tie) splits evenly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy._core import umath

from funcgrad.core.arrays.arguments import as_operand, out_refused
from funcgrad.core.arrays.casts import cast
from funcgrad.core.arrays.ufunc import as_array, as_result
from funcgrad.core.engine.batch import STRATEGIES, BatchTrace, BatchTracer, is_batched, stacked
from funcgrad.core.engine.catalogue import ANY_CAST, Out
from funcgrad.core.engine.declare import composite, custom, elementwise, selection
from funcgrad.core.engine.primitive import Call, Primitive
from funcgrad.core.engine.roots import declare_product, declare_square
from funcgrad.core.engine.trace import concrete, innermost
from funcgrad.core.memory.orders import in_order
from funcgrad.core.memory.views import FILLED
from funcgrad.errors import BatchedControlFlowError, user_line
from funcgrad.rules.indexing import as_positions
from funcgrad.rules.slopes import found, phase

BOOL = np.dtype(bool)


# ---- where, maximum, minimum, clip -----------------------------------------------------------------------------------
def _taken(condition: Any) -> Any:
    if getattr(condition, "dtype", None) is BOOL:
        return condition
    condition = as_array(condition)
    return condition.astype(bool) if isinstance(condition, np.ndarray) else np.not_equal(condition, 0)


def _where_of_each(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    """For all examples at once; but np.where(condition), which asks where it is true, one by one."""
    return STRATEGIES["aligned" if len(call.operands) > 1 else "one by one"](primitive, call, batched, size)


selection(
    np.where, None, _taken, lambda condition: np.logical_not(_taken(condition)),
    operands="condition x y", signature="condition, x=None, y=None, /", gives_array=True, batch=_where_of_each,
)  # fmt: skip


def _share(chosen: Any, ties: Any) -> Any:
    """An operand's weight: 1 where taken, 1/2 at a tie. Booleans if there is no tie, which is faster."""
    if found(ties):
        return np.where(ties, 0.5, chosen)
    return chosen


# `out != y` rather than `x > y`: an operand that is NaN, and makes the result NaN, has its share in it.
for _function in (np.maximum, np.minimum):
    selection(
        _function,
        lambda x, y, out: _share(np.not_equal(out, y), np.equal(x, y)),
        lambda x, y, out: _share(np.not_equal(out, x), np.equal(x, y)),
    )
for _function in (np.fmax, np.fmin):
    selection(
        _function,
        lambda x, y, out: _share(np.equal(out, x), np.equal(x, y)),
        lambda x, y, out: _share(np.equal(out, y), np.equal(x, y)),
    )


# The private ufunc that ndarray.clip calls, and np.clip too: min(max(x, y), z), also where the bounds cross.
UFUNC_CLIP: np.ufunc = vars(umath)["clip"]


def _inside(x, y, z):
    ties = np.logical_or(np.equal(x, y), np.equal(x, z))
    if found(ties):
        return _above(x, y) * _above(z, np.maximum(x, y))
    return np.logical_and(np.greater(x, y), np.less(x, z))


def _above(x, y):
    return _share(np.greater(x, y), np.equal(x, y))


selection(
    UFUNC_CLIP,
    _inside,
    lambda x, y, z: _above(y, x) * _above(z, np.maximum(x, y)),
    lambda x, y, z: _above(np.maximum(x, y), z),
)
_ABSENT: Any = np._NoValue


def _clip(a, a_min=_ABSENT, a_max=_ABSENT, out=None, *, min=_ABSENT, max=_ABSENT, **kwargs):
    if min is not _ABSENT or max is not _ABSENT:
        if a_min is not _ABSENT or a_max is not _ABSENT:
            raise ValueError("np.clip takes its bounds as a_min and a_max or as min and max, not as both")
        a_min, a_max = min, max
    low: Any = None if a_min is _ABSENT else a_min
    high: Any = None if a_max is _ABSENT else a_max
    if out is not None:
        kwargs["out"] = out
    if low is None and high is None:
        return np.positive(a, **kwargs)
    if low is None:
        return np.minimum(a, high, **kwargs)
    return np.maximum(a, low, **kwargs) if high is None else UFUNC_CLIP(a, low, high, **kwargs)


composite(np.clip, _clip, out=Out(repeats=True))


# ---- absolute values and signs ---------------------------------------------------------------------------------------
def _abs_slope(x):
    return np.conjugate(phase(x)) if x.dtype.kind == "c" else np.sign(x)


def _sign_push(t, x, out):
    return np.imag(np.conjugate(out) * t) * 1j * out / abs(x) if x.dtype.kind == "c" else None


def _sign_pull(ct, x, out):
    return np.imag(out * ct) * 1j * np.conjugate(out) / abs(x) if x.dtype.kind == "c" else None


def _square_of_abs(x):
    return abs(x) ** 2


SQUARE_OF_ABS = elementwise(_square_of_abs, lambda x: 2 * np.conjugate(x) if x.dtype.kind == "c" else 2 * x)
declare_product(SQUARE_OF_ABS, lambda square: square)
declare_square(elementwise(np.absolute, _abs_slope), SQUARE_OF_ABS)
declare_square(elementwise(np.fabs, lambda x: np.sign(x)), SQUARE_OF_ABS)
# of a complex number: z/|z|, which turns with z
custom(np.sign, _sign_pull, push=_sign_push, batch="aligned")
elementwise(np.copysign, lambda x, y: np.sign(x) * np.copysign(1.0, y), None)
selection(np.heaviside, None, lambda x: np.equal(x, 0))


# ---- one of many -----------------------------------------------------------------------------------------------------
def _select(condlist, choicelist, default=0):
    if len(condlist) != len(choicelist):
        raise ValueError(
            f"np.select takes as many conditions as choices, not {len(condlist)} and {len(choicelist)}"
        )
    out = default
    for condition, choice in zip(condlist[::-1], choicelist[::-1]):
        if as_array(condition).dtype != bool:
            raise TypeError(f"np.select takes boolean conditions, not {as_array(condition).dtype}")
        out = np.where(condition, choice, out)
    return in_order(out, range(np.ndim(out)))


def _choose(a, choices, out=None, mode="raise"):
    if out is not None:
        raise out_refused("choose")
    a, choices = as_positions(as_array(a)), list(choices)
    n = len(choices)
    if mode == "raise" and found((concrete(a) < 0) | (concrete(a) >= n)):
        raise ValueError(f"np.choose: an index is outside 0...{n - 1}")
    a = a % n if mode == "wrap" else np.clip(a, 0, n - 1)
    chosen: Any = 0
    for k in reversed(range(n)):
        chosen = np.where(a == k, choices[k], chosen)
    return as_result(chosen)


def _piecewise(x, condlist, funclist, *args, **kw):
    x = as_array(x)
    if np.isscalar(condlist) or (
        x.ndim and not isinstance(condlist[0], (list, np.ndarray)) and not np.ndim(condlist[0])
    ):
        condlist = [condlist]  # one condition alone
    conditions = [as_array(condition) for condition in condlist]
    if len(funclist) == len(conditions) + 1:
        conditions.append(np.logical_not(np.any(np.stack(conditions), axis=0)))
    if len(funclist) != len(conditions):
        raise ValueError(
            f"np.piecewise takes {len(conditions)} or {len(conditions) + 1} functions, not {len(funclist)}"
        )
    batch = innermost([x, *conditions])
    if isinstance(batch, BatchTrace) and any(map(callable, funclist)):
        return _piecewise_of_each(batch, x, conditions, funclist, *args, **kw)
    if any(map(is_batched, conditions)) and any(map(callable, funclist)):
        return _piecewise_at_once(x, conditions, funclist, *args, **kw)
    out = np.zeros_like(x)
    for condition, function in zip(conditions, funclist):
        if callable(function):
            part = x[condition]
            if part.size:
                out[condition] = function(part, *args, **kw)
        else:
            out[condition] = function
    return out


def _piecewise_of_each(batch, x, conditions, funclist, *args, **kw):
    """Example by example: each function gets the elements its condition takes, however many."""

    def example(operand, k):
        return operand._value[k] if isinstance(operand, BatchTracer) and operand._trace is batch else operand

    if not batch.size:
        return np.zeros_like(x)
    outs = [
        _piecewise(example(x, k), [example(c, k) for c in conditions], funclist, *args, **kw)
        for k in range(batch.size)
    ]
    out = batch.wrap(stacked(outs), None)
    if not out.shape:
        out._alias = FILLED  # an array without axes, not a scalar
    return out


def _piecewise_at_once(x, conditions, funclist, *args, **kw):
    """Where examples differ beneath another trace: elements that a function is not for are replaced."""
    flat, out = x.reshape(-1), np.zeros_like(x)
    for condition, function in zip(conditions, funclist):
        value: Any = function
        if callable(function) and x.size:
            mask = np.broadcast_to(condition, x.shape).reshape(-1)
            part = np.where(mask, flat, flat[np.argmax(mask)])
            _check_elementwise(lambda t, f=function: f(t, *args, **kw), np.unique(concrete(part)))
            piece: Any = function(part, *args, **kw)
            value = np.broadcast_to(piece, part.shape).reshape(x.shape)
        out = np.where(condition, value if x.size else 0, out)
    return out.astype(x.dtype)


def _check_elementwise(function, x):
    """Refuse a function that makes of an element something else when there are others beside it."""
    x = x[x == x][::-1]
    for one in (x[:1], x[-1:]):
        alone, among = (np.broadcast_to(concrete(function(t)), t.shape) for t in (one, x))
        if not np.array_equal(among[x == one], alone, equal_nan=True):
            raise BatchedControlFlowError(
                f"np.piecewise at {user_line()}: under vmap, each example has other elements for each function, and one of the "
                "functions does not act on each of them by itself. Write np.where(condition, f(x), g(x))."
            )


def _nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    if x.dtype.kind == "c":
        real, imag = (_finite(part, nan, posinf, neginf) for part in (np.real(x), np.imag(x)))
        # 1j times infinity would be NaN in its real part.
        upward = np.where(np.isposinf(imag), complex(0, np.inf), 1j * imag)
        out = real + np.where(np.isneginf(imag), complex(0, -np.inf), upward)
    else:
        out = _finite(x, nan, posinf, neginf)
    if copy:
        return as_result(out)
    x[...] = out
    return as_result(x)


def _finite(x, nan, posinf, neginf):
    limits = np.finfo(x.dtype)
    out = np.where(np.isnan(x), _value_for(x, nan), x)
    out = np.where(np.isposinf(x), limits.max if posinf is None else _value_for(x, posinf), out)
    return np.where(np.isneginf(x), limits.min if neginf is None else _value_for(x, neginf), out).astype(
        x.dtype
    )


def _value_for(x, value):
    """What is to stand in `x`: it has to fit its dtype and its shape, as in np.copyto."""
    value = cast(as_operand(value), x.dtype, np.copyto)
    return np.broadcast_to(value, x.shape) if value.ndim else value


composite(np.select, _select)
composite(np.choose, _choose, out=ANY_CAST)
composite(np.piecewise, _piecewise)
composite(np.nan_to_num, _nan_to_num)
