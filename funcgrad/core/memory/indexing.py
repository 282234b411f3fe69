"""x[index], and its transpose: the two primitives that the engine itself needs."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad.core.arrays.arguments import array_of, as_operand, holds_tracer
from funcgrad.core.arrays.spec import Spec, spec
from funcgrad.core.engine.batch import BatchTrace, BatchTracer, one_by_one
from funcgrad.core.engine.catalogue import register
from funcgrad.core.engine.forward import ForwardTrace, ForwardTracer
from funcgrad.core.engine.named import Linear
from funcgrad.core.engine.primitive import Call, Primitive
from funcgrad.core.engine.reverse import ReverseTracer
from funcgrad.core.engine.roots import note_step
from funcgrad.core.engine.sweep import Node, make_node
from funcgrad.core.engine.trace import Tracer, bind, snapshot
from funcgrad.core.memory.batch_index import BatchIndex, batch_index, index_array
from funcgrad.core.memory.contents import as_index
from funcgrad.core.memory.layout import as_alone, one_example
from funcgrad.core.memory.masked_read import selected
from funcgrad.core.memory.plain import BASIC, INTS, repeats
from funcgrad.core.memory.reads import Read, add_at, copy_for, make_read
from funcgrad.core.memory.views import (
    FILLED,
    OF_EXAMPLES,
    Alias,
    IndexStep,
    Stale,
    ViewStep,
    index_in_root,
    join,
    note_view,
)
from funcgrad.errors import BatchedControlFlowError, NonDifferentiableError, user_line
from funcgrad.typed import override


class GetItem(Primitive):
    """x[index]. Tracers among the indices (integers under vmap) are operands; the rest is in the template."""

    def __call__(self, x: Any, index: Any) -> Any:
        index = as_index(index)
        if isinstance(x, Stale):
            in_root = index_in_root(x, index)
            if in_root is not None:
                return read_item(x._alias.root, in_root)
        if type(x) is ReverseTracer and x._node is not None and not holds_tracer_index(index):
            out = _recorded(x, x._value[index], kept(index))
            if not _may_look(out._value):
                return out
            call = Call([x], _LAYOUT, {"index": index})
        else:
            call = self.split((x, index), {})
            try:
                out = bind(self, call)
            except BatchedControlFlowError as error:
                return selected(x, index, error)
        if isinstance(out, Tracer):
            if not out.shape and not _has_ellipsis(index):
                _make_scalar(out)
            elif _is_basic(index):
                note_view(x, out, ViewStep(self, call))
                if not out.shape and out._alias is None:
                    out._alias = FILLED  # of a number, x[...] makes an array without axes
            elif isinstance(x, Tracer) and _is_row_of_each(index):
                if x._trace is out._trace:
                    join(x, out, (IndexStep(self, kept(index)),), OF_EXAMPLES)
                else:
                    out._alias = Alias(None, (), OF_EXAMPLES)
        return out

    @override
    def split(self, args: Any, kwargs: dict[str, Any]) -> Call:
        x, index = as_operand(args[0]), args[1]
        indices: list[Any] = []
        template = tuple(_placed(i, indices) for i in (index if isinstance(index, tuple) else (index,)))
        if not indices:
            return Call([x], _LAYOUT, {"index": kept(index)})
        return Call([x, *indices], (("x", None), ("indices", len(indices))), {"index": template})

    @override
    def run(self, call: Call) -> Any:
        x, *indices = call.operands
        return x[filled(call.params["index"], indices)]


_LAYOUT = (("x", None),)


def _is_basic(index: Any) -> bool:
    """Is this an index of integers and slices alone, which gives a view?"""
    items = index if type(index) is tuple else (index,)
    return not any(isinstance(i, (list, tuple, np.ndarray, Tracer)) for i in items)


def _is_row_of_each(index: Any) -> bool:
    """Is this an index of slices and of integers, some of which differ between the examples of a vmap?"""
    items = index if type(index) is tuple else (index,)
    return _is_basic(tuple(i for i in items if not isinstance(i, Tracer))) and all(
        not i.shape and i.dtype.kind in "iu" for i in items if isinstance(i, Tracer)
    )


def _has_ellipsis(index: Any) -> bool:
    return index is Ellipsis or type(index) is tuple and any(i is Ellipsis for i in index)


def _make_scalar(out: Any) -> None:
    """One element is a number, not a view; a batch of them is a copy."""
    if out._is_batch and type(out._value) is np.ndarray and out._value.base is not None:
        out._value = out._value.copy()


def _may_look(value: Any) -> bool:
    """May this be a look into another array? A tracer of an outer trace may."""
    return value.base is not None if type(value) is np.ndarray else isinstance(value, Tracer)


class IndexOperand(int):
    """Stands for an index that is an operand, in a template."""


def _placed(i: Any, indices: list[Any]) -> Any:
    i = as_operand(i)
    if not isinstance(i, Tracer):
        return i
    if i.dtype.kind not in "iub":
        raise NonDifferentiableError(
            f"an index at {user_line()} is a traced array of {i.dtype}: write x[i.astype(int)]"
        )
    indices.append(i)
    return IndexOperand(len(indices) - 1)


def filled(template: Any, indices: Any) -> Any:
    """The index that a template and its operands make."""
    if not indices:
        return template
    return tuple(indices[i] if type(i) is IndexOperand else i for i in template)


def holds_tracer_index(index: Any) -> bool:
    """Is there a tracer in this index?"""
    kind = type(index)
    if kind is int or kind is slice or kind is np.ndarray:
        return False
    if kind is tuple or kind is list:
        return any(map(holds_tracer_index, index))
    return isinstance(index, Tracer)


def _recorded(x: ReverseTracer, value: Any, index: Any) -> Any:
    """The fast lane of x[index]: the node has the index, which nobody can change."""
    trace, node = x._trace, x._node
    assert node is not None
    return trace.wrap(
        value, make_node(next(trace.numbers), READ_PLAN, index, (node,), value.shape, value.dtype)
    )


float64, ndarray = np.float64, np.ndarray  # globals are found faster than attributes of a module
DOUBLE = Spec((), np.dtype(float64))  # of most elements that are read


def read_item(x: Any, index: Any) -> Any:
    """x[index] on tracers: fast lanes for one element and for a row, written out; else GETITEM."""
    kind = type(index)
    if type(x) is not ReverseTracer or x._node is None:
        is_basic = kind in INTS or kind is slice or kind is tuple and BASIC.issuperset(map(type, index))
        fast = _READERS.get(type(x)) if is_basic else None
        out = None if fast is None else fast(x, index)
        return GETITEM(x, index) if out is None else out
    if kind is int or kind in INTS or kind is tuple and INTS.issuperset(map(type, index)):
        value = x._value[index]
        is_double = type(value) is float64
        if is_double or type(value) is not ndarray and (not isinstance(value, Tracer) or value.shape == ()):
            trace = x._trace
            node = Node()
            node.number = next(trace.numbers)
            node.plan = READ_PLAN
            node.saved = index
            node.origin = x._node
            node.spec = DOUBLE if is_double else Spec(value.shape, value.dtype)
            tracer = ReverseTracer()
            tracer._trace = trace
            tracer._value = value
            tracer._node = node
            tracer._alias = None
            return tracer
    elif not (kind is slice or kind is tuple and BASIC.issuperset(map(type, index))):
        return GETITEM(x, index)
    alias = x._alias
    if type(x._value) is np.ndarray and (alias is None or alias.root is None and not alias.read_only):
        index = kept(index)
        view = _recorded(x, x._value[index], index)
        join(x, view, (IndexStep(GETITEM, index),))
        return view
    return GETITEM(x, index)


def _read_of_each(x: BatchTracer, index: Any) -> Any:
    """The fast lane of a basic index under vmap; None, if anything is unusual."""
    value, alias, trace = x._value, x._alias, x._trace
    if type(trace) is not BatchTrace or not trace.is_open or type(value) is not np.ndarray:
        return None
    if (
        type(index) is tuple
        and not value.flags.c_contiguous
        or alias is not None
        and (alias.root is not None or alias.read_only)
    ):
        return None
    items = index if type(index) is tuple else (index,)
    part = value[(slice(None), *items)]
    if part.ndim == 1:  # a number of each example
        return trace.wrap(part.copy(), None)
    view = trace.wrap(part, None)
    join(x, view, (IndexStep(GETITEM, kept(index)),))
    return view


def _read_with_tangent(x: ForwardTracer, index: Any) -> Any:
    """The fast lane of a basic index in forward mode; None, if anything is unusual."""
    value, t, alias, trace = x._value, x._node, x._alias, x._trace
    if (
        type(trace) is not ForwardTrace
        or not trace.is_open
        or trace.has_roots
        and getattr(x, "_root", None) is not None
        or type(value) is not ndarray
        or type(t) is not ndarray
    ):
        return None
    if alias is not None and (alias.root is not None or alias.read_only):
        return None
    out = trace.wrap(value[index], t[index])
    if type(out._value) is ndarray:
        join(x, out, (IndexStep(GETITEM, kept(index)),))
    return out


_READERS: dict[type, Callable[[Any, Any], Any]] = {
    BatchTracer: _read_of_each,
    ForwardTracer: _read_with_tangent,
}
_BOUNDS = INTS | {type(None)}


def kept(index: Any) -> Any:
    """An index that the user can't change later: arrays among it are copied."""
    kind = type(index)
    if (
        kind in INTS
        or kind is slice
        and _BOUNDS.issuperset([type(index.start), type(index.stop), type(index.step)])
    ):
        return index
    if kind is slice:
        return slice(
            *(None if i is None else operator.index(i) for i in (index.start, index.stop, index.step))
        )
    if kind is tuple:
        return tuple(map(kept, index))
    if kind is np.ndarray:
        return index.copy()
    if kind in (list, range):
        return array_of(index) if holds_tracer(index) else index_array(index)
    return snapshot(index) if isinstance(index, Tracer) else index


def _batch_index(call: Call, batched: Sequence[bool], size: int, *, x_batched: bool) -> BatchIndex | None:
    """The index of `call` for a whole batch of its first operand."""
    template, lead = call.params["index"], len(call.operands) - len(call.slots("indices"))
    items, flags = [], []
    for i in template if isinstance(template, tuple) else (template,):
        items.append(call.operands[lead + i] if type(i) is IndexOperand else i)
        flags.append(type(i) is IndexOperand and batched[lead + i])
    shape = spec(call.operands[0]).shape[batched[0] :]
    return batch_index(items, flags, shape, size, x_batched=x_batched)


def batched_getitem(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    """x[index]: one read for all examples."""
    x = call.operands[0]
    if len(batched) == 1 and isinstance(call.params["index"], (int, slice)):
        return x[:, call.params["index"]]
    in_batch = _batch_index(call, batched, size, x_batched=batched[0])
    if in_batch is None:
        return one_by_one(primitive, call, batched, size)
    out = in_batch.arranged(primitive(x, in_batch.index))
    return (
        out
        if _is_basic(call.params["index"]) or out.ndim < 3 or not out.size
        else as_alone(out, _alone(call, batched))
    )


def _alone(call: Call, batched: Sequence[bool]) -> Any:
    """What NumPy makes of this call for the first example."""
    x, *indices = (
        one_example(o)[0] if is_batched else one_example(o) for o, is_batched in zip(call.operands, batched)
    )
    return x[filled(call.params["index"], indices)]


def batched_add_at(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    """One addition into all buffers."""
    buffer, part = call.operands[:2]
    in_batch = _batch_index(call, batched, size, x_batched=True)
    if in_batch is None:
        return one_by_one(primitive, call, batched, size)
    if not batched[0]:
        buffer = np.broadcast_to(buffer, (size, *buffer.shape))
    return primitive(buffer, in_batch.disarranged(part, is_batched=batched[1]), in_batch.index)


GETITEM = GetItem(
    operator.getitem,
    Linear({"x": lambda ct, x, index, indices=(): make_read(filled(index, indices), ct, x)}, moves=True),
    operands="x indices*",
    signature="x, index, indices=()",
    name="getitem",
    batch=batched_getitem,
)
register(operator.getitem, GETITEM)


class _ReadPlan:
    """The plan of the fast lane: `saved` is the node of x, whose shape and dtype stand for x, and the index."""

    primitive, name = GETITEM, "x[index]"
    slots, keeps, masks = (0,), ("index",), True

    @staticmethod
    def pull(ct: Any, saved: Any) -> tuple[Read]:
        read = Read()
        read.index, read.part, read.spec = saved, ct, None  # the sweep gives it that of x
        return (read,)

    pull_masked = pull


READ_PLAN = _ReadPlan()
note_step(READ_PLAN)


class AddAt(Primitive):
    """`buffer` with `part` added at `index`, functionally: the transpose of x[index], itself linear."""

    def __call__(self, buffer: Any, part: Any, index: Any) -> Any:
        return bind(self, self.split((buffer, part, as_index(index)), {}))

    @override
    def split(self, args: Any, kwargs: dict[str, Any]) -> Call:
        buffer, part, index = args
        indices: list[Any] = []
        template = tuple(_placed(i, indices) for i in (index if isinstance(index, tuple) else (index,)))
        if not indices:
            return Call([buffer, part], (("buffer", None), ("part", None)), {"index": kept(index)})
        layout = (("buffer", None), ("part", None), ("indices", len(indices)))
        return Call([buffer, part, *indices], layout, {"index": template})

    @override
    def run(self, call: Call) -> Any:
        buffer, part, index = self.spread(call)
        return add_at(copy_for(part, buffer, np.result_type(buffer, part)), index, part)

    def spread(self, call: Call) -> tuple[Any, Any, Any]:
        """The buffer, the part in the shape of buffer[index], and the index. (ufunc.at of NumPy 2.4 misreads
        a part that has to be broadcast: it goes on behind its end.)
        """
        buffer, part, *indices = call.operands
        index = filled(call.params["index"], indices)
        if repeats(index):
            part = np.broadcast_to(part, np.broadcast_to(False, np.shape(buffer))[index].shape)
        return buffer, part, index


ADD_AT = AddAt(
    add_at,
    Linear(
        {
            "buffer": lambda ct, buffer: ct,
            "part": lambda ct, part, index, indices=(): read_item(ct, filled(index, indices)),
        },
        moves=True,
    ),
    operands="buffer part indices*",
    signature="buffer, part, index, indices=()",
    name="add_at",
    batch=batched_add_at,
)
register(add_at, ADD_AT)
