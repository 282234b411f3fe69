"""Functions and methods that write into their first argument: on a tracer, item assignments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.arrays.arguments import as_operand
from funcgrad.core.arrays.casts import cast
from funcgrad.core.engine.batch import is_batched
from funcgrad.core.engine.declare import composite, unsupported
from funcgrad.core.engine.trace import Tracer, concrete
from funcgrad.core.memory.views import check_writeable
from funcgrad.errors import BEGIN, BatchedControlFlowError, TracerWriteError, user_line
from funcgrad.rules.indexing import along_axis, as_positions


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
    src = cast(
        src, dst.dtype, lambda a, v: np.copyto(a, v if np.ndim(v) == 0 else np.asarray(v).flat[:1], casting)
    )
    dst[...] = src if where is True else np.where(where, src, dst)


def _repeated(values: Any, size: int) -> Any:
    """The first `size` of `values`, repeated as often as needed."""
    return np.resize(values, size)


def _mask_like(a: Any, mask: Any, name: str) -> Any:
    """A mask in the shape of `a`; it need only have as many elements."""
    mask = as_operand(mask)
    if np.size(mask) != a.size:
        raise ValueError(f"{name}: mask and data must be the same size")
    return np.reshape(mask, a.shape) != 0


def _putmask(a: Any, mask: Any, values: Any) -> None:
    check_writeable(a)
    mask = _mask_like(a, mask, "putmask")
    values = cast(values, a.dtype, lambda a, v: np.putmask(a, [True], v))
    if not values.size:
        return
    if values.ndim and values.shape != a.shape:
        values = _repeated(values, a.size).reshape(a.shape)
    a[...] = np.where(mask, values, a)


def _place(arr: Any, mask: Any, vals: Any) -> None:
    mask = _mask_like(arr, mask, "place")
    values = cast(vals, arr.dtype, lambda a, v: np.place(a, [False], v))
    if is_batched(mask):
        if values.size != 1:
            raise BatchedControlFlowError(
                f"np.place at {user_line()}: under vmap, the mask and so the places differ between examples. "
                "Write np.where(mask, values, a) with values like a."
            )
        _putmask(arr, mask, values)
        return
    mask = np.asarray(mask)
    if not values.size and mask.any():
        raise ValueError("Cannot insert from an empty array!")
    if values.size:
        arr[mask] = _repeated(values, int(np.count_nonzero(mask)))


def _put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    check_writeable(a)
    values = cast(v, a.dtype, lambda a, v: np.put(a, [0], v))
    positions = _positions(as_positions(ind), a.size, mode)
    if values.size:
        a[np.unravel_index(positions, a.shape)] = _repeated(values, positions.size).reshape(positions.shape)


def _positions(ind: Any, size: int, mode: str) -> Any:
    """`ind` as positions in a flat array of this size, as np.put takes them."""
    if mode == "clip":
        return np.clip(ind, 0, size - 1)
    if mode not in ("raise", "wrap"):
        raise ValueError(f"np.put at {user_line()}: mode is 'raise', 'wrap' or 'clip', not {mode!r}")
    plain = concrete(ind)
    if mode == "raise" and plain.size and not -size <= plain.min() <= plain.max() < size:
        wrong = plain.min() if plain.min() < -size else plain.max()
        raise IndexError(f"index {wrong} is out of bounds for axis 0 with size {size}")
    return ind % size if size else ind


def _put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None) -> None:
    arr[along_axis(arr, indices, axis)] = values


def _fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    marks = np.zeros(a.shape, bool)
    np.fill_diagonal(marks, True, wrap=wrap)
    a.flat[np.flatnonzero(marks)] = val


_writes(np.copyto, _copyto, "np.where(mask, values, a)")
_writes(np.putmask, _putmask, "np.where(mask, values, a)")
_writes(np.place, _place, "funcgrad.at(a)[mask].set(values)")
_writes(np.put, _put, "funcgrad.at(a.ravel())[indices].set(values).reshape(a.shape)")
_writes(np.put_along_axis, _put_along_axis, "funcgrad.at(a)[index].set(values)")
_writes(np.fill_diagonal, _fill_diagonal, "funcgrad.at(a)[np.diag_indices_from(a)].set(values)")


# ---- methods of ndarray that write -----------------------------------------------------------------------------------


def _fill(self: Any, value: Any) -> None:
    """Set every element to `value`."""
    self[...] = cast(value, self.dtype, lambda a, v: a.fill(v))


def _sort(self: Any, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> None:
    """Sort in place."""
    np.ones(1).sort(kind=kind, order=order, stable=stable)  # NumPy knows which of these there are
    self[...] = np.sort(self, axis=axis, kind=kind, stable=stable)


def _partition(self: Any, kth: Any, axis: int = -1, kind: Any = "introselect", order: Any = None) -> None:
    """Partition in place."""
    np.ones(1).partition(0, kind=kind, order=order)
    self[...] = np.partition(self, kth, axis=axis, kind=kind)


composite(np.ndarray.fill, _fill)
composite(np.ndarray.sort, _sort)
composite(np.ndarray.partition, _partition)
unsupported(
    np.ndarray.resize,
    "it changes an array's shape in place, which a tracer can't do",
    "Write x = np.resize(x, new_shape).",
)
