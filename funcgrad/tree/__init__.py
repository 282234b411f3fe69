"""Pytrees: nested containers of arrays, taken apart into leaves and put together again.

A container is a list, tuple, named tuple, dict (its leaves in the order of the sorted keys), OrderedDict
(in its own order), defaultdict (factory kept), SimpleNamespace, None (a container of nothing), a dataclass
or an attrs class whose constructor takes its fields, or an instance of a registered class. Everything else
is a leaf. A subclass of a builtin container keeps its type if it is a named tuple; any other is a leaf
until it is registered, because only its author knows how to build it. A dict that is put together again has
its keys in the order that they had.

In reading order: `keys` (the steps of a path), `containers` (the classes that are taken apart), `records`
(dataclasses and attrs classes), `registration` (classes of one's own), `structures` (a tree without its
leaves), `operations` (flatten, unflatten, map, ...), `vector` (a tree as one vector).

>>> from funcgrad import tree
>>> leaves, structure = tree.flatten({"b": [1.0, None], "a": (2.0, 3.0)})
>>> leaves, structure
([2.0, 3.0, 1.0], {'a': (*, *), 'b': [*, None]})
>>> tree.unflatten(structure, [10.0, 20.0, 30.0])
{'b': [30.0, None], 'a': (10.0, 20.0)}
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from funcgrad.tree.keys import Attr, Child, Entry, Index, Key, Path, keystr
from funcgrad.tree.operations import (
    all,
    broadcast_prefix,
    flatten,
    flatten_like,
    flatten_with_path,
    leaves,
    map,
    map_with_path,
    reduce,
    structure,
    transpose,
    unflatten,
)
from funcgrad.tree.structures import LEAF, Structure

if TYPE_CHECKING:
    from funcgrad.tree.registration import register_dataclass, register_node, register_static
    from funcgrad.tree.vector import Unravel, ravel

__all__ = [
    "LEAF",
    "Attr",
    "Child",
    "Entry",
    "Index",
    "Key",
    "Path",
    "Structure",
    "Unravel",
    "all",
    "broadcast_prefix",
    "flatten",
    "flatten_like",
    "flatten_with_path",
    "keystr",
    "leaves",
    "map",
    "map_with_path",
    "ravel",
    "reduce",
    "register_dataclass",
    "register_node",
    "register_static",
    "structure",
    "transpose",
    "unflatten",
]

# Loaded when they are used.
_LATE = {
    "Unravel": "vector",
    "ravel": "vector",
    "register_dataclass": "registration",
    "register_node": "registration",
    "register_static": "registration",
}


def __getattr__(name: str) -> Any:
    if name in _LATE:
        return getattr(import_module(f"funcgrad.tree.{_LATE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
