"""The builtins that autograd replaces. Lists, tuples and dicts of watched arrays are Python's own here."""

from __future__ import annotations

import builtins
from importlib import import_module
from typing import Any

from funcgrad.compat.autograd.spaces import TreeVSpace
from funcgrad.compat.autograd.tracer import SequenceBox, getval

dict, list, tuple = dict_, list_, tuple_ = builtins.dict, builtins.list, builtins.tuple
isinstance_, type_ = builtins.isinstance, builtins.type
# One class knows the spaces of all containers.
ContainerVSpace = SequenceVSpace = ListVSpace = TupleVSpace = DictVSpace = NamedTupleVSpace = TreeVSpace
DictBox = builtins.dict

__all__ = [
    "ContainerVSpace", "DictBox", "DictVSpace", "ListVSpace", "NamedTupleVSpace", "SequenceBox", "SequenceVSpace",
    "TupleVSpace", "container_take", "container_untake", "dict", "dict_", "isinstance", "isinstance_", "list", "list_",
    "make_sequence", "sequence_extend_left", "sequence_extend_right", "tuple", "tuple_", "type", "type_",
]  # fmt: skip


def isinstance(x: Any, kind: Any) -> bool:
    """Is the plain value of `x` an instance of `kind`?"""
    return builtins.isinstance(getval(x), kind)


def type(x: Any) -> Any:
    """The class of the plain value of `x`."""
    return builtins.type(getval(x))


def make_sequence(seq_type: Any, *args: Any) -> Any:
    """A sequence of that class."""
    return seq_type(args)


def container_take(container: Any, index: Any) -> Any:
    """container[index]."""
    return container[index]


def container_untake(x: Any, index: Any, vs: TreeVSpace) -> Any:
    """The vector of the space `vs` that is zero, but for `x` at `index` (a slice of a sequence has several)."""
    zeros = vs.zeros()
    kind = builtins.type(zeros)
    if kind is builtins.dict:
        return {key: x if key == index else zero for key, zero in zeros.items()}
    items = builtins.list(zeros)
    items[index] = x
    return kind._make(items) if hasattr(kind, "_make") else kind(items)


def sequence_extend_right(seq: Any, *elts: Any) -> Any:
    """A sequence with more at its end."""
    return builtins.type(seq)([*seq, *elts])


def sequence_extend_left(seq: Any, *elts: Any) -> Any:
    """A sequence with more at its beginning."""
    return builtins.type(seq)([*elts, *seq])


def __getattr__(name: str) -> Any:
    extend = import_module("funcgrad.compat.autograd.extend")  # whose names autograd's module has, too
    if name in extend.__all__:
        return getattr(extend, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
