"""Functions and methods that write into their first argument: on a tracer, item assignments (core/mutation.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.batch import is_batched
from funcgrad.core.catalogue import CATALOGUE
from funcgrad.core.declare import composite
from funcgrad.core.methods import ArrayMethods
from funcgrad.core.primitive import as_operand
from funcgrad.core.trace import Tracer, concrete
from funcgrad.core.views import check_writeable, is_scalar
from funcgrad.errors import BEGIN, BatchedControlFlowError, TracerWriteError, UnsupportedFunctionError, user_line
from funcgrad.rules.indexing import along_axis


def _writes(function: Callable[..., Any], body: Callable[..., None], instead: str) -> None:
    """Declare a function that writes into its first argument, which has to be a tracer."""

    def checked(*args: Any, **kwargs: Any) -> None:
        target = args[0] if args else next(iter(kwargs.values()))
        if not isinstance(target, Tracer):
            raise TracerWriteError(
                f"np.{function.__name__} at {user_line()} would write a tracer into a plain array of shape "
                f"{np.shape(target)} and lose its derivative. To write into an array, {BEGIN}; or write {instead}."
            )
        body(*args, **kwargs)

    composite(function, checked, note="into tracers")


def _copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    if src is dst:
        return  # as NumPy has it, also if `dst` is read-only
    check_writeable(dst)
    src = as_operand(src)
    dtype = getattr(src, "dtype", None)
    if dtype is not None and not np.can_cast(dtype, dst.dtype, casting):
        raise TypeError(f"Cannot cast array data from {dtype!r} to {dst.dtype!r} according to the rule {casting!r}")
    dst[...] = src if where is True else np.where(where, src, dst)


def _repeated(values: Any, size: int) -> Any:
    """The first `size` of `values`, repeated as often as needed."""
    values = as_operand(values)
    return np.resize(values if isinstance(values, Tracer) else np.asarray(values), size)


def _check_cast(values: Any, to: Any, casting: Any) -> None:
    """Arrays have to cast to the dtype of `to` by this rule; numbers and lists need only be of the same kind."""
    is_array = isinstance(values, np.ndarray) or isinstance(values, Tracer) and not (values.shape == () and is_scalar(values))
    values, casting = concrete(as_operand(values)), casting if is_array else "same_kind"
    dtype = values.dtype if hasattr(values, "dtype") else np.asarray(values).dtype
    if not np.can_cast(dtype, to.dtype, casting):
        raise TypeError(f"Cannot cast array data from {dtype!r} to {to.dtype!r} according to the rule {casting!r}")


def _putmask(a: Any, mask: Any, values: Any) -> None:
    _check_cast(values, a, "safe")
    values, mask = as_operand(values), np.reshape(as_operand(mask), a.shape)
    if np.ndim(values) == 0 or np.shape(values) == a.shape:
        a[...] = np.where(mask, values, a)
    else:
        a[...] = np.where(mask, _repeated(values, a.size).reshape(a.shape), a)


def _place(arr: Any, mask: Any, vals: Any) -> None:
    _check_cast(vals, arr, "safe")
    if is_batched(mask):
        if np.size(vals) != 1:
            raise BatchedControlFlowError(
                f"np.place at {user_line()}: under vmap, the mask and so the places differ between examples. "
                "Write np.where(mask, values, a) with values like a."
            )
        _putmask(arr, mask, vals)
        return
    mask = np.asarray(as_operand(mask) != 0).reshape(arr.shape)
    arr[mask] = _repeated(vals, int(np.count_nonzero(mask)))


def _put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    check_writeable(a)
    _check_cast(v, a, "unsafe")
    positions = CATALOGUE[np.take](np.arange(a.size), ind, mode=mode)
    a[np.unravel_index(positions, a.shape)] = _repeated(v, positions.size).reshape(positions.shape)


def _put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None) -> None:
    arr[along_axis(arr, indices, axis)] = values


def _fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    marks = np.zeros(a.shape, bool)
    np.fill_diagonal(marks, True, wrap=wrap)
    index = np.nonzero(marks)
    a[index] = val if np.ndim(val) == 0 else _repeated(val, len(index[0]))


_writes(np.copyto, _copyto, "np.where(mask, values, a)")
_writes(np.putmask, _putmask, "np.where(mask, values, a)")
_writes(np.place, _place, "funcgrad.at(a)[mask].set(values)")
_writes(np.put, _put, "funcgrad.at(a.ravel())[indices].set(values).reshape(a.shape)")
_writes(np.put_along_axis, _put_along_axis, "funcgrad.at(a)[index].set(values)")
_writes(np.fill_diagonal, _fill_diagonal, "funcgrad.at(a)[np.diag_indices_from(a)].set(values)")


# ---- methods of ndarray that write -----------------------------------------------------------------------------------


def _fill(self: Any, value: Any) -> None:
    """Set every element to `value`."""
    self[...] = value


def _sort(self: Any, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> None:
    """Sort in place."""
    self[...] = np.sort(self, axis=axis, kind=kind, stable=stable)


def _partition(self: Any, kth: Any, axis: int = -1, kind: Any = "introselect", order: Any = None) -> None:
    """Partition in place."""
    self[...] = np.partition(self, kth, axis=axis, kind=kind)


def _resize(self: Any, *new_shape: Any, refcheck: bool = True) -> None:
    """Refused: it changes the shape under everybody who holds the array."""
    raise UnsupportedFunctionError(
        f"x.resize(...) at {user_line()} changes an array's shape in place, which a tracer can't do. "
        "Write x = np.resize(x, new_shape)."
    )


for _name, _method in {"fill": _fill, "sort": _sort, "partition": _partition, "resize": _resize, "put": _put}.items():
    setattr(ArrayMethods, _name, _method)
