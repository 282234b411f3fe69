"""at(x)[index].set(v) and its siblings: x with some elements changed, as a new array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.arrays.arguments import as_operand
from funcgrad.core.arrays.ufunc import Ufunc, as_array
from funcgrad.core.engine.cotangent import select
from funcgrad.core.engine.declare import composite
from funcgrad.core.engine.named import Custom
from funcgrad.core.engine.primitive import Call
from funcgrad.core.engine.trace import Tracer, innermost
from funcgrad.core.memory.indexing import ADD_AT, GETITEM, AddAt, batched_add_at, filled, holds_tracer_index
from funcgrad.core.memory.mutation import for_each
from funcgrad.core.memory.plain import LARGE, repeats
from funcgrad.core.memory.reads import copy_for
from funcgrad.errors import BEGIN, TracerWriteError, user_line


class at:
    """The elements of an array, to be changed in a copy: `at(x)[index].set(v)` gives x with v at index.

    x: an array or tracer of any shape. `index` is anything that NumPy takes as x[index]; v broadcasts to the
    shape of x[index]. The result has the shape and dtype of x. Where an index names a position twice, `set`
    keeps the last value (also for the gradient), and the others (`add`, `subtract`, `multiply`, `divide`,
    `power`, `min`, `max`, `apply`) take all of them, one after the other, as np.add.at and the like do. `get`
    reads.

    Raises IndexError where NumPy does, and TypeError if v can't be cast to the dtype of x (or would make it
    another one, as dividing integers does).

    >>> import numpy as np
    >>> from funcgrad import at, grad
    >>> x = np.array([1.0, 2.0, 3.0])
    >>> at(x)[1].set(5.0)
    array([1., 5., 3.])
    >>> grad(lambda v: np.sum(at(x)[[0, 0]].multiply(v)))(np.array([5.0, 7.0]))
    array([7., 5.])
    >>> at(x)[1:].apply(np.square)
    array([1., 4., 9.])
    """

    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = as_operand(x)

    def __getitem__(self, index: Any) -> Elements:
        return Elements(self.x, index)


class Elements:
    """The elements of x at an index."""

    __slots__ = ("index", "x")

    def __init__(self, x: Any, index: Any) -> None:
        self.x, self.index = x if isinstance(x, Tracer) else np.asarray(x), index

    def get(self) -> Any:
        """x[index], also where x is a plain array and the index differs between the examples of a vmap."""
        return GETITEM(self.x, self.index)

    def set(self, v: Any) -> Any:
        """x with v at index."""
        v = as_operand(v)
        out = self._copied(v)
        out[self.index] = v
        return out

    def add(self, v: Any) -> Any:
        """x with v added at index."""
        return ADD_AT(self.x, self._cast(v), self.index)

    def subtract(self, v: Any) -> Any:
        """x with v subtracted at index."""
        return ADD_AT(self.x, -self._cast(v), self.index)

    def multiply(self, v: Any) -> Any:
        """x multiplied by v at index."""
        return self._one_by_one(np.multiply, self._cast(v))

    def divide(self, v: Any) -> Any:
        """x divided by v at index."""
        return self._one_by_one(np.divide, self._cast(v))

    def power(self, v: Any) -> Any:
        """x to the power v at index."""
        return self._one_by_one(np.power, self._cast(v))

    def apply(self, function: Callable[[Any], Any]) -> Any:
        """x with function(x[index]) at index; `function` acts on each element by itself."""
        return self._one_by_one(function)

    def _one_by_one(self, function: Callable[..., Any], *values: Any) -> Any:
        """x with function(x, *values) at index, as often at each position as it is named."""
        positions = GETITEM(np.arange(self.x.size).reshape(self.x.shape), self.index)
        values = tuple(np.broadcast_to(v, positions.shape).reshape(-1) for v in values)
        positions = positions.reshape(-1)
        out = self.x.reshape(-1)
        for chosen in _rounds(positions):
            elements = Elements(out, positions[chosen])
            new = function(elements.get(), *(v[chosen] for v in values))
            out = elements.set(Elements(out, ...)._cast(new))
        return out.reshape(self.x.shape)

    def min(self, v: Any) -> Any:
        """The smaller of x and v at index; a tie splits the gradient evenly."""
        return MIN_AT(self.x, self._cast(v), self.index)

    def max(self, v: Any) -> Any:
        """The larger of x and v at index; a tie splits the gradient evenly."""
        return MAX_AT(self.x, self._cast(v), self.index)

    def _cast(self, v: Any) -> Any:
        """`v` in the dtype of x."""
        v = as_operand(v)
        dtype = self.x.dtype
        if not hasattr(v, "dtype"):
            v = np.asarray(v)
            if np.result_type(dtype, v.item()) == dtype:
                return v.astype(dtype)
        if not np.can_cast(v.dtype, dtype, "same_kind"):
            raise TypeError(
                f"at(x)[index]: {v.dtype} can't be cast to {dtype}, the dtype of x. Write at(x.astype({v.dtype}))."
            )
        return v if v.dtype == dtype else v.astype(dtype)

    def _copied(self, v: Any) -> Any:
        """A copy of x that v can be written into."""
        if isinstance(self.x, Tracer):
            return np.copy(self.x)
        x = np.array(self.x)
        trace = innermost((v, *(self.index if isinstance(self.index, tuple) else (self.index,))))
        return x if trace is None else trace.wrap(for_each(trace, x), None)


def _rounds(positions: Any) -> list[Any]:
    """Groups of entries within which no position comes twice, in order: each position's first, second, ..."""
    if isinstance(positions, Tracer):  # they differ between the examples of a vmap: one entry after the other
        return [slice(k, k + 1) for k in range(positions.size)]
    permutation = np.argsort(positions, stable=True)
    ordered = positions[permutation]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    repetition = np.arange(permutation.size) - np.repeat(starts, np.diff(starts, append=permutation.size))
    return [permutation[repetition == k] for k in range(repetition.max(initial=-1) + 1)]


# ---- the largest, or the smallest, of what falls on one position -----------------------------------------------------


class ExtremeAt(AddAt):
    """`buffer` with the larger (or smaller) of `part` and what was there at `index`, functionally."""

    def run(self, call: Call) -> Any:
        buffer, part, index = self.spread(call)
        out = copy_for(part, buffer)
        self.function.at(out, index, part)
        return out


def _ties(buffer: Any, part: Any, index: Any, out: Any) -> tuple[Any, Any, Any]:
    """Which of the buffer and of the part come through to `out`, and how many there are at each position."""
    kept, new = buffer == out, part == GETITEM(out, index)
    return kept, new, np.maximum(ADD_AT(kept.astype(out.dtype), new.astype(out.dtype), index), 1)


def _pull_buffer(ct: Any, buffer: Any, part: Any, index: Any, out: Any, indices: Any = ()) -> Any:
    kept, _, count = _ties(buffer, part, filled(index, indices), out)
    return select(kept, ct / count)


def _pull_part(ct: Any, buffer: Any, part: Any, index: Any, out: Any, indices: Any = ()) -> Any:
    index = filled(index, indices)
    _, new, count = _ties(buffer, part, index, out)
    return select(new, GETITEM(ct / count, index))


def _extreme_at(ufunc: np.ufunc) -> ExtremeAt:
    return ExtremeAt(
        ufunc,
        Custom({"buffer": _pull_buffer, "part": _pull_part}),
        operands="buffer part indices*",
        signature="buffer, part, index, indices=()",
        name=f"{ufunc.__name__}.at",
        batch=batched_add_at,
    )


MAX_AT = _extreme_at(np.maximum)
MIN_AT = _extreme_at(np.minimum)


# ---- ufunc.at --------------------------------------------------------------------------------------------------------


def _ufunc_at(ufunc: Ufunc, target: Any, index: Any, *values: Any) -> None:
    """ufunc.at(target, index, values): the tracer `target` is updated in place, once for each repetition."""
    if not isinstance(target, Tracer):
        raise TracerWriteError(
            f"np.{ufunc.name}.at at {user_line()} would write a tracer into a plain array and lose its derivative. To write into "
            f"an array, {BEGIN}; or use funcgrad.at(a)[index].add(v), which gives a new array."
        )
    function: Any = ufunc.function
    values = tuple(map(as_array, values))
    if any(v.ndim for v in values) and not holds_tracer_index(index):
        rank = np.broadcast_to(False, target.shape)[index].ndim
        if any(v.ndim > rank for v in values):
            raise ValueError("array is not broadcastable to correct shape")
    if target.size > LARGE and not isinstance(index, Tracer) and not _comes_twice(index, target.shape):
        target[index] = function(target[index], *values)  # in a loop: without a copy of the whole
    elif (
        function in _ALL_AT_ONCE
        and values[0].dtype.kind in "biufc"
        and np.result_type(target, values[0]) == target.dtype
    ):
        target[...] = _ALL_AT_ONCE[function](at(target)[index], values[0].astype(target.dtype))
    else:
        _update(function, target, index, values)


def _comes_twice(index: Any, shape: tuple[int, ...]) -> bool:
    """May a position come twice? (Looked into for a few integers along the first axis.)"""
    if not repeats(index):
        return False
    plain = np.asarray(index) if isinstance(index, (list, np.ndarray)) else None
    return (
        plain is None
        or plain.size > 64
        or len({i % shape[0] for i in plain.reshape(-1).tolist()}) < plain.size
    )


_ALL_AT_ONCE = {
    np.add: Elements.add,
    np.subtract: Elements.subtract,
    np.maximum: Elements.max,
    np.minimum: Elements.min,
}


def _update(function: Any, target: Any, index: Any, values: tuple[Any, ...]) -> None:
    positions = GETITEM(np.arange(target.size).reshape(target.shape), index)
    values = tuple(np.broadcast_to(v, positions.shape).reshape(-1) for v in values)
    positions = positions.reshape(-1)
    for chosen in _rounds(positions):
        where = np.unravel_index(positions[chosen], target.shape)
        target[where] = function(target[where], *(v[chosen] for v in values))


composite(np.ufunc.at, _ufunc_at)
