"""Item assignment as loops have it: a basic index of an array, and a number or an array to be put there.

What mutation.py does in general, without its detours: no new Place, and no search for the trace. Where
anything is unusual (a view, another trace, an index array), the general way is taken.
"""

from __future__ import annotations

from sys import getrefcount
from typing import Any

import numpy as np

from funcgrad.core.arrays.spec import Spec
from funcgrad.core.engine.batch import BatchTrace, BatchTracer
from funcgrad.core.engine.cotangent import Masked, select
from funcgrad.core.engine.forward import ForwardTrace, ForwardTracer
from funcgrad.core.engine.reverse import ReverseTracer
from funcgrad.core.engine.sweep import Node
from funcgrad.core.engine.trace import Tracer
from funcgrad.core.memory.indexing import kept
from funcgrad.core.memory.layout import copied, is_private
from funcgrad.core.memory.mutation import WRITE, is_same_view
from funcgrad.core.memory.mutation import assign as assign_in_general
from funcgrad.core.memory.places import Place
from funcgrad.core.memory.plain import BASIC, is_element, ndarray
from funcgrad.core.memory.views import FILLED, Stale, note_write

_CONTENTS = frozenset([float, int, np.float64, np.float32, ndarray])
bool_ = np.bool_


def assign(x: Tracer, index: Any, v: Any) -> None:
    """x[index] = v."""
    kind = type(index)
    is_basic = kind in BASIC or kind is tuple and BASIC.issuperset(map(type, index))
    if is_basic:
        if type(x) is ReverseTracer and _assigned(x, index, v):
            return
        if type(x) is BatchTracer and _assigned_to_each(x, index, v):
            return
        if type(x) is ForwardTracer and _assigned_with_tangent(x, index, v):
            return
    # else the second half of `y[i] += v`: it is there
    if not isinstance(v, Stale) or not is_same_view(v._alias, x, (), index):
        assign_in_general(x, index, v)


def _free_count_in_cell(x: Tracer) -> int:
    value = x._value
    return getrefcount(value)


# The reference count, seen in `_assigned`, of a value that nobody but the cell holds.
_CELL: Any = ReverseTracer()
_CELL._value = np.ones(3)
_FREE_IN_CELL = _free_count_in_cell(_CELL)


def assign_kept(x: Tracer, index: Any, v: Any) -> None:
    """x[index] = v, for an index that nobody can change."""
    if type(x) is not ReverseTracer or not _assigned(x, index, v, is_kept=True):
        assign(x, index, v)


def _assigned(x: ReverseTracer, index: Any, v: Any, *, is_kept: bool = False) -> bool:
    """Put `v` at a basic index of a plain buffer `x` (no view, already on the tape). Was it done?"""
    value, before, alias, trace = x._value, x._node, x._alias, x._trace
    if before is None or type(value) is not ndarray:
        return False
    if alias is not FILLED and alias is not None and (alias.root is not None or alias.read_only):
        return False
    plan, parents, written = _WRITE_CONSTANT, before, None
    if type(v) is ReverseTracer:
        if v._trace is not trace:
            return False
        written = v._node
        if written is not None:
            plan, parents = _WRITE_TRACER, (before, written)
        v = v._value
    if type(v) not in _CONTENTS:
        return False
    number = next(trace.numbers)
    if alias is not FILLED:
        note_write(x)
    is_free = getrefcount(value) <= _FREE_IN_CELL and value.flags.writeable
    if not is_free or value.base is not None and not is_private(value):
        value = x._value = copied(value)
    value[index] = v
    node = Node()
    node.number, node.plan, node.origin, node.spec = number, plan, parents, before.spec
    # the part of `v` need not be like `x`: let the sweep look
    if written is not None and written.spec is before.spec:
        node.spec = Spec(before.spec.shape, before.spec.dtype)
    node.saved = index if is_kept or is_element(index) else kept(index)
    x._node = node
    return True


def _assigned_to_each(x: BatchTracer, index: Any, v: Any) -> bool:
    """The same under vmap: put `v`, batched or not, at a basic index of each example. Was it done?"""
    alias, trace = x._alias, x._trace
    # a trace that is watched has ways of its own
    if type(trace) is not BatchTrace or type(x._value) is not ndarray:
        return False
    if alias is not None and (alias.root is not None or alias.read_only):
        return False
    items = index if type(index) is tuple else (index,)
    # axes of x[index], less those of v
    missing = x._value.ndim - 1 - len(items) + [*map(type, items)].count(slice)
    if type(v) is BatchTracer and v._trace is trace:
        v = v._value
        missing -= v.ndim - 1
        if missing > 0 and type(v) is ndarray:
            v = v.reshape(v.shape[:1] + (1,) * missing + v.shape[1:])
    elif type(v) is ndarray:
        missing -= v.ndim
    if missing < 0 or type(v) not in _CONTENTS:
        return False
    next(trace.numbers)  # is it open?
    note_write(x)
    _own(x, "_value")[(slice(None), *items)] = v
    return True


def _assigned_with_tangent(x: ForwardTracer, index: Any, v: Any) -> bool:
    """The same in forward mode: put `v` at a basic index of the value, and its tangent there in the tangent."""
    alias, trace, t = x._alias, x._trace, 0
    if type(trace) is not ForwardTrace or type(x._value) is not ndarray or type(x._node) is not ndarray:
        return False
    if alias is not None and (alias.root is not None or alias.read_only):
        return False
    if type(v) is ForwardTracer:
        if v._trace is not trace:
            return False
        v, t = v._value, 0 if v._node is None else v._node
    if type(v) not in _CONTENTS or type(t) not in _CONTENTS:
        return False
    next(trace.numbers)  # is it open?
    note_write(x)
    _own(x, "_value")[index] = v
    _own(x, "_node")[index] = t
    return True


def _own(x: Tracer, slot: str) -> Any:
    """The buffer in a slot of `x`; a copy, if somebody else holds it."""
    value = getattr(x, slot)
    is_free = getrefcount(value) <= _FREE_IN_CELL and value.flags.writeable
    if not is_free or value.base is not None and not is_private(value):
        value = copied(value)
        setattr(x, slot, value)
    return value


class _LoopPlan:
    """The plan of such a write; `saved` is its index, and there is an array before."""

    primitive, name = None, "x[index] = v"
    keeps, masks = (), True

    def __init__(self, *slots: int) -> None:
        self.slots, self.has_written = slots, len(slots) == 2

    def pull(self, ct: Any, index: Any) -> Any:
        return self.pull_masked(Masked(ct, None), index)

    def pull_masked(self, ct: Masked, index: Any) -> Any:
        value, live = ct.value, ct.live
        if type(value) is not ndarray or live is not None and type(live) is not ndarray:
            return WRITE.pull_masked(ct, (Place((), index), True, self.has_written or None, None))
        if not ct.owned or live is None:
            value, live = copied(value), np.ones(value.shape, bool) if live is None else copied(live)
            ct = Masked(value, live, owned=True)
        if not self.has_written:
            value[index], live[index] = 0, False
            return (ct,)
        part, lives = value[index], live[index]
        if type(lives) is bool_:  # one element
            part = part if lives else None
        else:  # out of buffers that are about to be written into
            # The first False, if there is one: ten times as fast as lives.all().
            part = (
                part.copy() if lives.size == 0 or lives.item(lives.argmin()) else select(lives.copy(), part)
            )
        value[index], live[index] = 0, False
        return (ct, part)


_WRITE_CONSTANT, _WRITE_TRACER = _LoopPlan(0), _LoopPlan(0, 1)
