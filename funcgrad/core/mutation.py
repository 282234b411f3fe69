"""Item assignment and views: tracers are mutable, as arrays are. (The in-place operators are in inplace.py.)

A tracer is a cell: a write puts a new value and a new node into it, so that every name of the array sees the write. What is on
the tape already keeps the old content, because a buffer is written in place only if the cell alone holds it (the interpreter's
reference count tells), and copied before otherwise. So filling an array of n elements costs O(n), and nothing saved is spoiled.

A view (`x[1:]`, `x.T`, ...) remembers its root and the steps that lead from there to it. A write to any member of such a family
is a write to the root, through the steps. It makes the other members stale: their class is switched to one whose `value` and
`node` are looked up anew from the root when they are next asked for. Until something is written, views cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import getrefcount
from typing import Any
from weakref import ref

import numpy as np

from funcgrad.core.batch import BatchTrace, BatchTracer
from funcgrad.core.batch_index import to_batch_index
from funcgrad.core.cotangent import Masked, repeats, select
from funcgrad.core.forward import ForwardTrace, ForwardTracer
from funcgrad.core.indexing import read_item
from funcgrad.core.lanes import PLAIN
from funcgrad.core.methods import ArrayMethods
from funcgrad.core.primitive import as_operand
from funcgrad.core.reverse import ReverseTrace, ReverseTracer, make_node
from funcgrad.core.trace import Trace, Tracer, escaped, innermost, lower, snapshot
from funcgrad.core.views import Alias, Step, part_among, with_part

# ---- places ----------------------------------------------------------------------------------------------------------


class Place:
    """Where in an array a write goes: `index` in the view at the end of `steps`."""

    __slots__ = ("index", "steps")

    def __init__(self, steps: tuple[Step, ...], index: Any) -> None:
        self.steps, self.index = steps, index

    def read(self, x: Any) -> Any:
        """The elements of `x` at this place."""
        if not self.steps and type(self.index) in _SIMPLE:
            return x[self.index]
        for step in self.steps:
            x = step(x)
        return read_item(x, self.index)

    def write(self, buffer: Any, v: Any) -> None:
        """Put `v` there; `buffer` is a plain array that may be overwritten."""
        if not self.steps:
            buffer[self.index] = v
            return
        view = buffer
        for step in self.steps:
            view = step(view)
        if view is not buffer and not np.may_share_memory(view, buffer):
            # The layout of this buffer does not allow the view: find the positions instead.
            buffer.reshape(-1)[self.positions(buffer.shape)] = np.broadcast_to(v, self.read(buffer).shape)
        else:
            view[self.index] = v

    def positions(self, shape: tuple[int, ...]) -> Any:
        """The flat position of each element, in the array's own order."""
        return self.read(np.arange(int(np.prod(shape))).reshape(shape))

    def winners(self, shape: tuple[int, ...]) -> Any:
        """Which of the elements written stay: all (None), or a mask where an index names a position twice (the last one wins)."""
        if type(self.index) in _SIMPLE:
            return None
        indices = self.index if isinstance(self.index, tuple) else (self.index,)
        if not repeats(self.index) and not any(isinstance(i, Tracer) for i in indices):
            return None
        positions = self.positions(shape)
        order = np.arange(positions.size, dtype=float).reshape(positions.shape)
        last: Any = np.zeros(int(np.prod(shape)))
        if isinstance(positions, Tracer):  # the indices differ between the examples of a batch
            last = put(last, Place((), positions), order)
        else:
            last[positions] = order
        winners = last[positions] == order
        return None if not isinstance(winners, Tracer) and winners.all() else winners


# ---- stale views -----------------------------------------------------------------------------------------------------


class _Stale:
    """A view whose root was written since: `value` and `node` are looked up anew. Mixed into the tracer classes."""

    __slots__ = ()

    @property
    def value(self) -> Any:
        return refreshed(self).value

    @property
    def node(self) -> Any:
        return refreshed(self).node


class StaleReverse(_Stale, ReverseTracer):
    """A stale view in a reverse trace."""

    __slots__ = ()


class StaleForward(_Stale, ForwardTracer):
    """A stale view in a forward trace."""

    __slots__ = ()


class StaleBatch(_Stale, BatchTracer):
    """A stale view in a batch trace."""

    __slots__ = ()


_STALE: dict[type, type] = {ReverseTracer: StaleReverse, ForwardTracer: StaleForward, BatchTracer: StaleBatch}


def refreshed(view: Any) -> Any:
    """`view`, with its content read anew from its root."""
    root = view.alias.root
    current = root
    for step in view.alias.steps:
        current = step(current)
    view.__class__ = type(current)
    view.trace, view.value, view.node = current.trace, current.value, current.node
    root.alias.views.append(ref(view))
    return view


def make_stale(root: Tracer) -> None:
    """After a write to `root`: its views must look again, and let go of the buffer."""
    alias = root.alias
    if alias is None or alias is FILLED:
        root.alias = FILLED
        return
    alias.written = True
    views, alias.views = alias.views, []
    for reference in views:
        view = reference()
        if view is not None and not isinstance(view, _Stale):
            view.value = view.node = None
            view.trace = root.trace
            view.__class__ = next(_STALE[cls] for cls in root.trace.tracer_type.__mro__ if cls in _STALE)


# ---- writing ---------------------------------------------------------------------------------------------------------


def assign(x: Tracer, index: Any, v: Any) -> None:
    """x[index] = v."""
    alias = x.alias
    is_loop = type(x) is ReverseTracer and (alias is FILLED or alias is None) and type(index) in _SIMPLE
    if is_loop and (type(v) is ReverseTracer and v.trace is x.trace or type(v) in PLAIN):
        x.alias = FILLED
        trace: Any = x.trace
        write_reverse(trace, x, Place((), index), v)
        return
    root, steps = (x, ()) if alias is None or alias.root is None else (alias.root, alias.steps)
    if alias is not None and alias.read_only:
        raise ValueError("assignment destination is read-only")
    if isinstance(v, Tracer) and is_same_view(v.alias, root, steps, index):
        return  # the second half of `x[1:] += y`: Python writes back the view that was just updated in place
    v = as_operand(v)
    if isinstance(v, Tracer):
        v = snapshot(v)  # what is written is the content that v has now
    part, steps = part_among(steps)
    place = Place(steps, index)
    write(root, place, v if part is None or root.dtype.kind != "c" else with_part(place.read(root), part, v))


def is_same_view(alias: Alias | None, root: Tracer, steps: tuple[Step, ...], index: Any) -> bool:
    """Is this the alias of `root`, after `steps`, at `index`?"""
    return alias is not None and alias.root is root and alias.steps[:-1] == steps and alias.steps[-1].is_read_at(index)


# The alias of an array that was written, but has no views: what is being filled in a loop.
FILLED = Alias(None, ())
FILLED.written = FILLED.shared = True
_SIMPLE = frozenset([int, slice])


def write(root: Tracer, place: Place, v: Any) -> None:
    """Put `v` at `place` of `root`, in the trace that it takes to hold both."""
    indices = place.index if isinstance(place.index, tuple) else (place.index,)
    trace = innermost((root, v, *indices))
    assert trace is not None
    if not trace.is_open:
        raise escaped("item assignment", trace.transform)
    make_stale(root)
    if trace is not root.trace:
        raise_to(trace, root)
    writer = next(WRITERS[cls] for cls in type(trace).__mro__ if cls in WRITERS)
    writer(trace, root, place, v)


def raise_to(trace: Trace, x: Tracer) -> None:
    """Make `x` a tracer of an inner trace: something of that trace is being written into it."""
    outer = snapshot(x)
    if isinstance(trace, BatchTrace):
        outer = np.copy(np.broadcast_to(outer, (trace.size, *outer.shape)))
    x.trace, x.value, x.node = trace, outer, None
    x.__class__ = trace.tracer_type


def _free_count(x: Tracer) -> int:
    value = x.value
    x.value = None
    return getrefcount(value)


def taken(x: Any, field: str) -> Any:
    """The content of `x.value` (or `x.node`), taken out of the cell, as something that may be written into."""
    value = getattr(x, field)
    setattr(x, field, None)
    is_free = getrefcount(value) <= FREE and getattr(value, "base", None) is None
    if is_free and (type(value) is not np.ndarray or value.flags.writeable):
        return value if isinstance(value, (Tracer, np.ndarray)) else np.array(value)
    if isinstance(value, Tracer):
        return snapshot(value)
    return np.array(value, order="K")


def _measure_free() -> int:
    x = object.__new__(ReverseTracer)
    x.value = np.ones(3)
    return _free_count(x)


# The reference count, seen in `taken`, of a value that nobody but the cell held. The interpreter is asked, since it differs.
FREE = _measure_free()


def put(buffer: Any, place: Place, v: Any) -> Any:
    """`v` at `place` of a buffer that `taken` has given free: a plain array, or a tracer of an outer trace."""
    if isinstance(buffer, Tracer):
        write(buffer, place, v)
        return buffer
    if type(place.index) in _SIMPLE and not isinstance(v, Tracer):
        place.write(buffer, v)
        return buffer
    outer = innermost((v, *(place.index if isinstance(place.index, tuple) else (place.index,))))
    if outer is None:
        place.write(buffer, v)
        return buffer
    # A plain value becomes one of the outer trace.
    made = _as_batch(outer, buffer) if isinstance(outer, BatchTrace) else outer.wrap(buffer, None)
    write(made, place, v)
    return made


def _as_batch(trace: Any, buffer: Any) -> Any:
    return trace.wrap(np.copy(np.broadcast_to(buffer, (trace.size, *buffer.shape))), None)


def write_reverse(trace: ReverseTrace, x: Any, place: Place, v: Any) -> None:
    """On a reverse trace, a write is a node whose parents are the array before and the value written."""
    before, written = x.node, None
    if isinstance(v, Tracer):
        if isinstance(v, ReverseTracer) and v.trace is trace:
            written = v.node
        v = lower(trace, v)
    buffer = taken(x, "value")
    shape, dtype = buffer.shape, buffer.dtype
    x.value = put(buffer, place, v)
    if before is None and written is None:
        return
    parents = tuple(node for node in (before, written) if node is not None)
    winners = place.winners(shape) if written is not None else None
    x.node = make_node(next(trace.order), WRITE, (place, before is not None, written, winners), parents, shape, dtype)


def write_forward(trace: ForwardTrace, x: Any, place: Place, v: Any) -> None:
    """On a forward trace, the tangent is written into the tangent."""
    t_v = v.node if isinstance(v, ForwardTracer) and v.trace is trace else None
    v = lower(trace, v)
    if x.node is not None or t_v is not None:
        if x.node is None:
            x.node = np.zeros(x.value.shape, x.value.dtype)
        elif type(x.node) is Masked:
            x.node = x.node.value
        t = taken(x, "node")
        t = put(t, place, 0 if t_v is None else t_v.value if type(t_v) is Masked else t_v)
    else:
        t = None
    buffer = taken(x, "value")
    x.value = put(buffer, place, v)
    x.node = t


def write_batch(trace: BatchTrace, x: Any, place: Place, v: Any) -> None:
    """On a batch trace, all examples are written at once."""
    view = x
    for step in place.steps:
        view = step(view)
    if place.steps:  # write into the view, and let the steps carry it back: through the positions of one example
        place = Place((), _unravelled(place, x.shape))
    index, v = to_batch_index(trace, place.index, v, x.shape)
    buffer = taken(x, "value")
    x.value = put(buffer, Place((), index), v)


def _unravelled(place: Place, shape: tuple[int, ...]) -> Any:
    return np.unravel_index(place.positions(shape), shape)


WRITERS: dict[type, Callable[[Any, Any, Place, Any], None]] = {
    ReverseTrace: write_reverse,
    ForwardTrace: write_forward,
    BatchTrace: write_batch,
}


def register_trace(trace: type[Trace], writer: Callable[[Any, Any, Place, Any], None]) -> None:
    """Let tracers of one more kind be written into; `writer` is as those above."""
    WRITERS[trace] = writer
    tracer = trace.tracer_type
    _STALE[tracer] = type(f"Stale{tracer.__name__}", (_Stale, tracer), {"__slots__": ()})


class _WritePlan:
    """The plan of a write: the cotangent is read at the place for the value, and becomes zero there for the array before."""

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


def _read_masked(ct: Masked, place: Place, winners: Any) -> Any:
    """The cotangent of what was written: `ct` at the place, where that element stayed."""
    part, live = place.read(ct.value), None if ct.live is None else place.read(ct.live)
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
    if ct.owned and type(ct.value) is np.ndarray and type(ct.live) is np.ndarray:
        place.write(ct.value, 0)
        place.write(ct.live, False)
        return ct
    value, live = _Cell(ct.value), _Cell(np.ones(ct.value.shape, bool) if ct.live is None else ct.live)
    if ct.owned:
        ct.value = ct.live = None
    return Masked(put(taken(value, "value"), place, 0), put(taken(live, "value"), place, False), owned=True)


class _Cell:
    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def install_mutation() -> None:
    """Give tracers items and item assignment (the rules must be declared)."""
    ArrayMethods.__getitem__ = read_item  # pyright: ignore[reportAttributeAccessIssue]
    ArrayMethods.__setitem__ = assign  # pyright: ignore[reportAttributeAccessIssue]
