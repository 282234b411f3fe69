"""Item assignment: tracers are mutable, as arrays are.

A tracer is a cell: a write puts a new value and a new node into it, so that every name of the array sees the
write. What is on the tape already keeps the old content, because a buffer is written in place only if the
cell alone holds it (the interpreter's reference count tells), and copied before otherwise. So filling an
array of n elements costs O(n), and nothing saved is spoiled.

A write to any member of a family of views (views.py) is a write to its root. The rest of what changes arrays
in place, such as operators, is in inplace.py; a faster lane for what loops write, in loops.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.arrays.casts import cast_by_assignment
from funcgrad.core.engine.batch import REPEATED, BatchTrace
from funcgrad.core.engine.cotangent import Masked, select
from funcgrad.core.engine.forward import ForwardTrace, ForwardTracer
from funcgrad.core.engine.reverse import ReverseTrace, ReverseTracer
from funcgrad.core.engine.sweep import Node, make_node
from funcgrad.core.engine.trace import Trace, Tracer, innermost, lower, memory_of, snapshot
from funcgrad.core.memory.batch_index import to_batch_index
from funcgrad.core.memory.contents import as_content, as_index
from funcgrad.core.memory.families import unshared
from funcgrad.core.memory.masked_read import MaskedRead
from funcgrad.core.memory.owned import taken
from funcgrad.core.memory.places import Place
from funcgrad.core.memory.plain import is_element
from funcgrad.core.memory.reads import buffer_for
from funcgrad.core.memory.views import (
    Alias,
    ViewStep,
    check_writeable,
    index_in_root,
    is_scalar,
    note_write,
)
from funcgrad.core.messages.conversions import escaped

# ---- assignment ------------------------------------------------------------------------------------------------------


def assign(x: Tracer, index: Any, v: Any) -> None:
    """x[index] = v."""
    alias = x._alias
    if not x.shape and is_scalar(x):
        raise TypeError(f"'numpy.{x.dtype}' object does not support item assignment")
    check_writeable(x)
    root, steps = (x, ()) if alias is None or alias.root is None else (alias.root, alias.steps)
    if isinstance(v, Tracer) and is_same_view(v._alias, root, steps, index):
        return  # the second half of `x[1:] += y`: Python writes back the view that was just updated in place
    if type(v) is MaskedRead:
        v, index = v.placed_in(x, index), ...
    index = as_index(index)
    v = cast_by_assignment(v, x.dtype) if type(v) in (list, tuple) else as_content(v)
    if isinstance(v, Tracer):
        if index is Ellipsis and root is x and _is_like(v, x):
            take_over(x, v)
            return
        v = snapshot(v)  # what is written is the content that v has now
    if steps:
        in_root = index_in_root(x, index)
        if in_root is not None:
            steps, index = (), in_root
    write(root, Place(steps, index), v)


def is_same_view(alias: Alias | None, root: Tracer, steps: tuple[ViewStep, ...], index: Any) -> bool:
    """Is this the alias of `root`, after `steps`, at `index`?"""
    if alias is None or alias.root is not root or not alias.steps:
        return False
    return alias.steps[:-1] == steps and alias.steps[-1].is_read_at(index)


def _is_like(v: Tracer, x: Tracer) -> bool:
    """Has `v` the shape and the dtype of `x`, and does it lie in memory in the same way?"""
    if v.shape != x.shape:  # of a batch, one example may have what all of them together have
        return False
    old, new = memory_of(x), memory_of(v)
    if type(old) is not np.ndarray or type(new) is not np.ndarray:
        return False
    return old.dtype == new.dtype and old.shape == new.shape and old.strides == new.strides


def take_over(x: Tracer, v: Tracer) -> None:
    """x[...] = v, without a copy."""
    value, node = v._value, v._node  # asked first: a stale view looks anew
    x._trace, x._value, x._node = v._trace, value, node
    x.__class__ = v._trace.tracer_type
    note_write(x)


def write(root: Tracer, place: Place, v: Any) -> None:
    """Put `v` at `place` of `root`, in the trace that it takes to hold both."""
    trace = innermost((root, v, *place.tracers()))
    assert trace is not None
    if not trace.is_open:
        raise escaped("item assignment", trace.transform)
    if trace is not root._trace:
        raise_to(trace, root)
    note_write(root)
    trace.write(root, place, v)


def raise_to(trace: Trace, x: Tracer) -> None:
    """Make `x` a tracer of an inner trace: something of that trace is being written into it."""
    x._value = for_each(trace, snapshot(x))
    x._trace, x._node = trace, None
    x.__class__ = trace.tracer_type


def for_each(trace: Trace, x: Any) -> Any:
    """The value of a tracer of `trace` that stands for `x`, a constant there."""
    return REPEATED(x, trace.size) if isinstance(trace, BatchTrace) else x


# ---- buffers ---------------------------------------------------------------------------------------------------------


def free_buffer(x: Any, field: str) -> Any:
    """The content of `x._value` (or `x._node`), taken out of the cell, as something that may be written into."""
    return unshared(*taken(x, field))


def put(buffer: Any, place: Place, v: Any) -> Any:
    """`v` at `place` of what `free_buffer` gave: a plain array, or a tracer of an outer trace."""
    if isinstance(buffer, Tracer):
        write(buffer, place, v)
        return buffer
    outer = innermost((v, *place.tracers()))
    if outer is None:
        place.write(buffer, v)
        return buffer
    inner = outer.wrap(for_each(outer, buffer), None)  # a plain value becomes one of the outer trace
    write(inner, place, v)
    return inner


def overwrite(x: Any, field: str, place: Place, v: Any) -> None:
    """Put `v` at `place` of `x._value` (or `x._node`); if that fails, the content stays."""
    buffer = free_buffer(x, field)
    try:
        buffer = put(buffer, place, v)
    finally:
        setattr(x, field, buffer)


# ---- traces ----------------------------------------------------------------------------------------------------------


def write_reverse(trace: ReverseTrace, x: Any, place: Place, v: Any) -> None:
    """On a reverse trace, a write is a node whose parents are the array before and the value written."""
    before, written = x._node, None
    if isinstance(v, Tracer):
        if isinstance(v, ReverseTracer) and v._trace is trace:
            written = v._node
        v = lower(trace, v)
    overwrite(x, "_value", place, v)
    if before is None and written is None:
        return
    x._node = write_node(next(trace.numbers), WRITE, before, written, place, x.shape, x._value.dtype)


def write_blank(trace: Trace, x: Any, place: Place, v: Any) -> None:
    """Put what is not traced into a blank array."""
    overwrite(x, "_value", place, lower(trace, v))


def write_forward(trace: ForwardTrace, x: Any, place: Place, v: Any) -> None:
    """On a forward trace, the tangent is written into the tangent."""
    t_v = v._node if isinstance(v, ForwardTracer) and v._trace is trace else None
    overwrite(x, "_value", place, lower(trace, v))
    if x._node is None and t_v is None:
        return
    if x._node is None:
        x._node = buffer_for(x._value, x._value.shape, x._value.dtype)
    elif type(x._node) is Masked:
        x._node = x._node.value
    overwrite(x, "_node", place, 0 if t_v is None else t_v.value if type(t_v) is Masked else t_v)


def write_batch(trace: BatchTrace, x: Any, place: Place, v: Any) -> None:
    """On a batch trace, all examples are written at once."""
    mask = place.index
    if isinstance(mask, Tracer) and mask.dtype == bool:
        target = place.view(x)
        if np.ndim(v) <= target.ndim - mask.ndim:  # the same at all positions: a choice, whatever the mask
            mask = mask.reshape(mask.shape + (1,) * (target.ndim - mask.ndim))
            place, v = Place(place.steps, ...), np.where(mask, v, target)
    steps = tuple(each_step(step, trace.size) for step in place.steps)
    view = Place(steps, ...).view(x._value)
    if np.ndim(v) and is_element(place.index) and view.ndim - 1 == np.size(place.index):
        # an array for a number: what NumPy says of it depends on its version
        np.zeros(1)[0] = np.zeros(np.shape(v))
    index, v = to_batch_index(trace, place.index, v, view.shape[1:])
    del view  # it would look like a second holder of the buffer
    overwrite(x, "_value", Place(steps, index), v)


class EachStep(ViewStep):
    """A step, taken by each example of a batch."""

    __slots__ = ("size", "step")

    def __init__(self, step: ViewStep, size: int) -> None:
        super().__init__(step.primitive, step.call)
        self.step, self.size = step, size

    def __call__(self, x: Any) -> Any:
        # On a trace of its own: the sweep comes back to this step when that of the batch is closed.
        return self.step(BatchTrace(self.size).wrap(x, None))._value


def each_step(step: Callable[[Any], Any], size: int) -> Any:
    """A step (the core's own, or any function that gives a view), taken by each example of a batch."""
    if isinstance(step, ViewStep):
        return EachStep(step, size)
    return lambda x: step(BatchTrace(size).wrap(x, None))._value


# ---- pulling back ----------------------------------------------------------------------------------------------------


class _WritePlan:
    """The plan of a write: read the cotangent there for the value; zero it there for the array before."""

    primitive, name = None, "x[index] = v"
    slots, keeps, masks = (0, 1), (), True

    @staticmethod
    def pull(ct: Any, saved: Any) -> list[Any]:
        return _WritePlan.pull_masked(Masked(ct, None), saved)

    @staticmethod
    def pull_masked(ct: Masked, saved: Any) -> list[Any]:
        place, has_before, written, winners = saved
        parts: list[Any] = []
        if written is not None:
            parts.append(_read_masked(ct, place, winners))
        if has_before:
            parts.insert(0, _zeroed(ct, place))
        return parts


WRITE = _WritePlan()


def write_node(
    number: int,
    plan: Any,
    before: Node | None,
    written: Node | None,
    place: Place,
    shape: tuple[int, ...],
    dtype: Any,
) -> Node:
    """The node of a write at `place`, whose parents are the array before and what was written (None: without
    a derivative).
    """
    parents = tuple(node for node in (before, written) if node is not None)
    winners = place.winners(shape) if written is not None else None
    return make_node(number, plan, (place, before is not None, written, winners), parents, shape, dtype)


def _read_masked(ct: Masked, place: Place, winners: Any) -> Any:
    """The cotangent of what was written: `ct` at the place, where that element stayed."""
    part, live = place.read(ct.value), None if ct.live is None else place.whole.read(ct.live)
    if place.half == "imag" and ct.value.dtype.kind == "c":
        part = -part  # a cotangent of x + iy is df/dx - i df/dy
    if winners is not None:
        live = winners if live is None else np.logical_and(live, winners)
    if type(live) is np.bool_:  # one element, the case of loops
        return part if live else None
    if type(part) is np.ndarray:
        part = part.copy()  # the buffer is about to be written into
    if live is None or type(live) is np.ndarray and live.all():
        return part
    return select(live if isinstance(live, Tracer) else live.copy(), part)


def _zeroed(ct: Masked, place: Place) -> Masked:
    """`ct` with a zero by structure at `place`: in its own buffers, if it owns them."""
    is_half = ct.value.dtype.kind == "c" and place.half != ""  # of an element: the other half stays live
    if ct.owned and type(ct.value) is np.ndarray and type(ct.live) is np.ndarray:
        place.write(ct.value, 0)
        if not is_half:
            place.write(ct.live, False)
        return ct
    value, live = _Cell(ct.value), _Cell(np.ones(ct.value.shape, bool) if ct.live is None else ct.live)
    if ct.owned:
        ct.value = ct.live = None
    overwrite(value, "_value", place, 0)
    if is_half:
        live._value = free_buffer(live, "_value")
    else:
        overwrite(live, "_value", place, False)
    return Masked(value._value, live._value, owned=True)


class _Cell:
    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = value
