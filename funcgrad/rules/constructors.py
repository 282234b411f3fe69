"""New arrays: np.zeros_like(x), np.zeros(n, like=x), np.array([x, y], like=x), np.linspace(x, y), ...

They are tracers of the trace of x, so that tracers can be assigned into them; integers and booleans, which
have no derivative, stay plain.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from funcgrad.core.arrays.arguments import array_of, as_operand, holds_tracer
from funcgrad.core.arrays.ufunc import as_array
from funcgrad.core.engine.batch import REPEATED, align
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.engine.declare import composite, constructor, custom, linear, piecewise_constant
from funcgrad.core.engine.primitive import Call
from funcgrad.core.engine.trace import Tracer, bind, concrete, is_foreign
from funcgrad.core.memory.layout import axes_of
from funcgrad.core.memory.orders import example, in_order
from funcgrad.core.memory.views import OF_PLAIN, Alias, is_scalar, plain_view


# ---- like another array ----------------------------------------------------------------------------------------------
def _batched_like(primitive, call, batched, size):
    """np.zeros_like and its kind: one example more along axis 0."""
    shape = call.params.get("shape")
    order = call.params.get("order", "K")
    if shape is None and order == "K":
        return bind(primitive, call)
    x = call.operands[0]
    alone = np.empty_like(example(x)[0] if size else np.empty(x.shape[1:]), bool, order=order, shape=shape)
    axes = axes_of(alone)
    params = {**call.params, "order": "C", "shape": (size, *(alone.shape[k] for k in axes))}
    out = bind(primitive, Call(call.operands, call.layout, params))
    return out.transpose(0, *(1 + k for k in np.argsort(axes).tolist()))


def _full_like(a, fill_value, dtype=None, order: Any = "K", subok=True, shape=None, *, device=None):
    out = np.empty_like(a, dtype=dtype, order=order, subok=subok, shape=shape)
    if not isinstance(out, Tracer) and holds_tracer(fill_value):
        return np.broadcast_to(array_of(fill_value), out.shape).astype(out.dtype)
    copyto: Any = np.copyto  # which takes tracers, too
    copyto(out, fill_value, casting="unsafe")
    return out


piecewise_constant(np.zeros_like, np.ones_like, batch=_batched_like, gives_array=True)
piecewise_constant(
    np.empty_like, batch=_batched_like, gives_array=True,
    signature="prototype, /, dtype=None, order='K', subok=True, shape=None, *, device=None",
)  # fmt: skip
composite(np.full_like, _full_like)


# ---- like= -----------------------------------------------------------------------------------------------------------
def _built(like: Any, build: Callable[..., Any]) -> Any:
    """What `build` makes, of the kind of array that `like` is."""
    return build() if isinstance(like, (np.ndarray, np.generic)) else build(like=like)


def _batched_built(primitive, call, batched, size):
    like = call.operands[0]
    one = bind(primitive, call.with_operands([like[0] if size else np.ones(like.shape[1:], like.dtype)]))
    return REPEATED(one, size)


piecewise_constant(_built, batch=_batched_built, gives_array=True)


def built(like: Tracer, build: Callable[..., Any]) -> Any:
    """What `build` makes, as a constant of the trace of `like`."""
    return CATALOGUE[_built](like, build)


def _array(
    like, object, dtype=None, *, copy: bool | None = True, order: Any = "K", subok=False, ndmin=0, ndmax=0
):
    if not holds_tracer(object):
        build = partial(np.array, object, dtype=dtype, copy=copy, order=order, ndmin=ndmin)
        return built(like, build) if copy else _of_plain(like, object, build)
    out = array_of(object)
    if out is not object:  # a list
        out = in_order(out, range(out.ndim))
    if dtype is not None and np.dtype(dtype) != out.dtype:
        out = out.astype(dtype, order=order or "K")
    elif copy and out is object or not out.shape and is_scalar(out) or not _lies_in(out, order):
        if copy is False:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        out = np.copy(out, order or "K")
    return out.reshape((1,) * (ndmin - out.ndim) + out.shape) if out.ndim < ndmin else out


def _of_plain(like: Tracer, plain: Any, build: Callable[..., Any]) -> Any:
    """The array that `build` makes of plain data; read-only where they share memory."""
    out = built(like, build)
    if isinstance(out, Tracer) and isinstance(plain, np.ndarray) and np.may_share_memory(build(), plain):
        out._alias = Alias(None, (), read_only=OF_PLAIN)
    return out


def _lies_in(x: Any, order: str | None) -> bool:
    """Does `x` lie in memory in this order?"""
    flags = getattr(plain_view(x), "flags", None)
    if order not in ("C", "F") or flags is None:
        return True
    return flags.c_contiguous if order == "C" else flags.f_contiguous


def _asarray(like, a, dtype=None, order=None, *, device=None, copy=None):
    return _array(like, a, dtype, copy=copy, order=order)


def _contiguous(order: str) -> Callable[..., Any]:
    return lambda like, a, dtype=None: _array(like, a, dtype, copy=None, order=order, ndmin=1)


def _require(like, a, dtype=None, requirements=None):
    wanted = {name[0].upper() for name in requirements or ()}  # of C_CONTIGUOUS, FORTRAN, WRITEABLE, ...
    out = _array(like, a, dtype, copy=None, order="F" if "F" in wanted else "C" if "C" in wanted else "A")
    alias = out._alias if isinstance(out, Tracer) else None
    if alias is not None and ("W" in wanted and alias.read_only or "O" in wanted and alias.root is not None):
        return np.copy(out, "K")
    return out


def _full(like, shape, fill_value, dtype=None, order: Any = "C", *, device=None):
    if not holds_tracer(fill_value):
        return built(like, partial(np.full, shape, fill_value, dtype=dtype, order=order))
    fill_value = array_of(fill_value)
    return np.broadcast_to(fill_value, shape).astype(dtype or fill_value.dtype)


def _same_for_all(length: Any) -> int:
    """A length, which under vmap has to be that of all examples."""
    lengths = np.unique(concrete(length))
    return max(0, int(lengths[0] if lengths.size == 1 else length))


def _arange(like, start_or_stop, /, stop=None, step=1, *, dtype=None, device=None):
    start, stop = (0, start_or_stop) if stop is None else (start_or_stop, stop)
    if not holds_tracer([start, stop, step]):
        return built(like, partial(np.arange, start, stop, step, dtype=dtype))
    out = start + np.arange(_same_for_all(np.ceil((stop - start) / step))) * step
    return out if dtype is None else as_array(out).astype(dtype)


def _fromfunction(like, function, shape, *, dtype=float, **kwargs):
    out = np.fromfunction(function, shape, dtype=dtype, **kwargs)
    return out if isinstance(out, Tracer) else built(like, lambda: np.asarray(out))


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """The constructor of arrays that no tracer can be in."""
    return lambda like, *args, **kwargs: built(like, partial(function, *args, **kwargs))


for _function in (
    np.zeros, np.ones, np.empty, np.eye, np.identity, np.tri, np.frombuffer, np.fromfile, np.fromiter, np.fromstring,
    np.loadtxt, np.genfromtxt,
):  # fmt: skip
    constructor(_function, _plain(_function))
constructor(np.array, _array)
constructor(np.asarray, _asarray)
constructor(np.asanyarray, _asarray)
constructor(np.ascontiguousarray, _contiguous("C"))
constructor(np.asfortranarray, _contiguous("F"))
constructor(np.require, _require)
constructor(np.full, _full)
constructor(np.arange, _arange)
constructor(np.fromfunction, _fromfunction)


# ---- evenly spaced numbers -------------------------------------------------------------------------------------------
def _spaced(start, stop, num, endpoint, dtype, axis):
    if is_foreign(start) or is_foreign(stop):  # not all libraries take arrays for the ends
        shape = np.broadcast_shapes(np.shape(start), np.shape(stop))
        first, last = (np.expand_dims(np.broadcast_to(x, shape), axis) for x in (start, stop))
        share = _weights(first, num, endpoint, axis)
        out = first * (1 - share) + last * share
        return out if dtype is None else out.astype(dtype)
    return np.linspace(start, stop, num, endpoint, dtype=dtype, axis=axis)


def _weights(ct: Any, num: int, endpoint: bool, axis: int) -> Any:
    """How far along each number is, from 0 at the start to 1 at the stop, along `axis` of `ct`."""
    return np.linspace(0, 1, num, endpoint).reshape((int(num),) + (1,) * (ct.ndim - 1 - axis))


def _batched_spaced(primitive, call, batched, size):
    return bind(
        primitive,
        Call(align(call.operands, batched), call.layout, {**call.params, "axis": call.params["axis"] + 1}),
    )


def _at_start(ct, num, endpoint, axis):
    return (ct * (1 - _weights(ct, num, endpoint, axis))).sum(axis=axis)


def _at_stop(ct, num, endpoint, axis):
    return (ct * _weights(ct, num, endpoint, axis)).sum(axis=axis)


linear(
    _spaced, {"start": _at_start, "stop": _at_stop}, operands="start stop", axis="as is", batch=_batched_spaced,
)  # fmt: skip


def _axis_of(axis: int, *ends: Any) -> int:
    return normalize_axis_index(axis, max(as_array(x).ndim for x in ends) + 1)


def _linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    out = CATALOGUE[_spaced](start, stop, num, endpoint, dtype, _axis_of(axis, start, stop))
    if not retstep:
        return out
    gaps = num - 1 if endpoint else num
    return out, (as_operand(stop) - as_operand(start)) / gaps if gaps else np.nan


def _logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    if as_array(base).ndim:
        rank = max(as_array(x).ndim for x in (start, stop, base))
        start, stop, base = (
            x.reshape((1,) * (rank - x.ndim) + x.shape) for x in map(as_array, (start, stop, base))
        )
        base = np.expand_dims(base, axis)
    out = np.power(base, np.linspace(start, stop, num, endpoint, axis=axis))
    return out if dtype is None else out.astype(dtype)


def _geometric(start, stop, num, endpoint, dtype, axis):
    return np.geomspace(start, stop, num, endpoint, dtype=dtype, axis=axis)


custom(
    _geometric,
    {
        "start": lambda ct, out, start, num, endpoint, axis: _at_start(ct * out, num, endpoint, axis) / start,
        "stop": lambda ct, out, stop, num, endpoint, axis: _at_stop(ct * out, num, endpoint, axis) / stop,
    },
    operands="start stop",
    axis="as is",
    batch=_batched_spaced,
)


def _geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    return CATALOGUE[_geometric](start, stop, num, endpoint, dtype, _axis_of(axis, start, stop))


composite(np.linspace, _linspace)
composite(np.logspace, _logspace)
composite(np.geomspace, _geomspace)
