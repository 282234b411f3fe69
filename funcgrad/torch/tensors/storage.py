"""Memory that several tensors share: views, detach(), .data, and NumPy arrays.

A tensor's array is never changed while anybody else holds it: a write puts a new array into the tensor,
unless the interpreter's reference count tells that nobody else has the old one. So nothing that an operation
has saved is ever spoiled. Tensors that share memory have a `Link` to one `Storage`; a write to one of them
takes the `value` slot away from the others, which look it up anew when they are next asked. Until then
sharing costs nothing.

What was saved and then overwritten in the tensor it came from is remembered in `TAINTED`, for PyTorch's
version error.
"""

from __future__ import annotations

from sys import getrefcount
from typing import Any
from weakref import finalize, ref

import numpy as np

from funcgrad.core.engine.trace import Tracer, snapshot
from funcgrad.core.memory.families import Members, stepped, unshared
from funcgrad.core.memory.mutation import Place, put
from funcgrad.core.memory.owned import FREE, is_own, taken
from funcgrad.errors import user_line

ndarray = np.ndarray
_new = object.__new__


class Shared(np.ndarray):
    """An array whose memory the user's NumPy code may change. It never goes into a graph: a copy does."""


class Inference(np.ndarray):
    """The array of a tensor made in inference mode: the fast lanes leave it alone."""


class Version:
    """The counter of writes that a tensor and its views have in common."""

    __slots__ = ("__weakref__", "count")

    def __init__(self) -> None:
        self.count = 0


class Storage(Members):
    """The array that tensors share, and these."""

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        super().__init__()
        self.array = array

    def forget_values(self) -> None:
        """Take the value from all members: they will look it up anew."""
        for tensor in self:
            del_slot(tensor, "value")


class Link:
    """A tensor's place in a storage: `steps` lead from the storage's array to the tensor's.

    `base` is the tensor of which it is a differentiable view, by `base_steps`; `origin` says where a view
    must not be written to: "unbind" and the like (several views from one call), "no_grad" (made there).
    """

    __slots__ = ("base", "base_steps", "origin", "steps", "storage", "version")

    def __init__(self, storage: Storage, steps: tuple[Any, ...], version: Version) -> None:
        self.storage, self.steps, self.version = storage, steps, version
        self.base: Any = None
        self.base_steps: tuple[Any, ...] = ()
        self.origin: str | None = None

    def value(self) -> Any:
        """The content of a tensor at this place."""
        return stepped(self.storage.array, self.steps)


def del_slot(tensor: Any, name: str) -> None:
    """Empty a slot, if it is not empty."""
    try:
        delattr(tensor, name)
    except AttributeError:
        return


def link_of(tensor: Any) -> Link:
    """The link of a tensor; it gets one when it needs one."""
    link = tensor.link
    if link is None:
        storage = Storage(tensor.value)
        link = tensor.link = Link(storage, (), Version())
        storage.add(tensor)
    return link


def share(tensor: Any, other: Any, step: Any = None, *, own_version: bool = False) -> Any:
    """Let `other`, just made, share the memory of `tensor`."""
    link = link_of(tensor)
    steps = link.steps if step is None else (*link.steps, step)
    made = other.link = Link(link.storage, steps, Version() if own_version else link.version)
    made.storage.add(other)
    return other


def share_as_view(tensor: Any, view: Any, step: Any, origin: str | None) -> Any:
    """Let `view`, just made by `step` from `tensor`, be a differentiable view of it."""
    link = tensor.link or link_of(tensor)
    storage = link.storage
    made = view.link = _new(Link)  # written out: views are made in loops
    made.storage, made.version, made.origin = storage, link.version, origin or link.origin
    if link.base is None:
        made.base, made.base_steps = tensor, (step,)
        made.steps = (*link.steps, step) if link.steps else made.base_steps
    else:
        made.base, made.base_steps, made.steps = link.base, (*link.base_steps, step), (*link.steps, step)
    storage.add(view)
    return view


# ---- writing ---------------------------------------------------------------------------------------------------------


class Taint:
    """A saved array that was overwritten in its tensor: what the version error has to say."""

    __slots__ = ("held", "line", "node", "saved_version", "version")

    def __init__(self, version: Version, node: Any) -> None:
        self.version, self.saved_version, self.node = ref(version), version.count, node
        self.line = user_line()
        self.held: Any = None


TAINTED: dict[int, Taint] = {}


def taint(array: Any, version: Version, node: Any) -> None:
    """Remember that `array`, which somebody still holds, is no longer what its tensor holds."""
    key, pop = id(array), TAINTED.pop
    made = TAINTED[key] = Taint(version, node)
    if isinstance(array, ndarray):
        made.held = ref(array, lambda _: pop(key, None))
    else:  # a NumPy scalar, which knows no weak references: it is kept as long as its tensor
        made.held = array
        finalize(version, TAINTED.pop, key, None)


def tainted(value: Any) -> Taint | None:
    """The taint of a saved value, if it was overwritten."""
    found = TAINTED.get(id(value))
    if found is None and type(value) is ndarray and value.base is not None:
        found = TAINTED.get(id(value.base))
    return found


def write(tensor: Any, index: Any, v: Any) -> None:
    """Put the content `v` at `index` (Ellipsis: everywhere) of the memory of `tensor`."""
    link = link_of(tensor)
    node = tensor.node
    storage = link.storage
    storage.forget_values()
    array, is_free = taken(storage, "array")
    place = Place(link.steps, index)
    try:
        if type(array) is Shared:
            place.write(array.view(ndarray), v)
            storage.array = array
        else:
            storage.array = _written(array, place, v, is_free)
            if not is_free and not isinstance(storage.array, Tracer):
                taint(array, link.version, node)
    finally:
        if storage.array is None:  # the write was refused: an index out of range, shapes that do not fit
            storage.array = array
    link.version.count += 1
    tensor.value = link.value()


def borrowed(tensor: Any, *, counted: bool = True) -> ndarray:
    """The memory of `tensor` for a caller that overwrites it and then calls `returned`: nobody else holds it.

    A view gets a copy, which `returned` writes to where it belongs. Without `counted`, a tensor that shares
    its memory with none keeps its version.
    """
    if not counted and tensor.link is None:
        array, is_free = taken(tensor, "value")
        tensor.value = array
        if is_free and is_own(array):
            return array
    link = link_of(tensor)
    if link.steps:
        return np.array(tensor.value)
    storage = link.storage
    array = storage.array
    # the storage and its only tensor have it
    if is_own(array) and len(list(storage)) == 1 and getrefcount(array) <= FREE + 2:
        link.version.count += 1
        return array
    del array  # one reference less to count
    return _copied(tensor, link)


def _copied(tensor: Any, link: Link) -> ndarray:
    """The same where others may hold the memory: they keep it, and the tensors of this storage get a copy."""
    storage, node = link.storage, tensor.node
    storage.forget_values()
    array, is_free = taken(storage, "array")
    if type(array) is Shared:
        target = array.view(ndarray)
    else:
        if not is_free:
            taint(array, link.version, node)
        target = array = unshared(array, is_free)
    storage.array = array
    link.version.count += 1
    tensor.value = link.value()
    return target


def returned(tensor: Any, array: ndarray) -> None:
    """The memory that `borrowed` gave has been overwritten."""
    if tensor.link is not None and tensor.link.steps:
        write(tensor, ..., array)


def _written(array: Any, place: Place, v: Any, is_free: bool) -> Any:
    """The content after a write: in `array` itself, unless somebody else holds it."""
    whole = place.index is Ellipsis and not place.steps
    if (
        whole
        and type(v) is ndarray
        and not isinstance(array, Tracer)
        and v.shape == array.shape
        and v.dtype == array.dtype
        and (v.base is None or not is_free)
    ):
        return v.copy() if v.base is not None or not v.flags.writeable else v
    out = put(unshared(array, is_free), place, v)
    return snapshot(out) if isinstance(out, Tracer) else out


def expose(tensor: Any) -> ndarray:
    """A NumPy array that shares the memory of `tensor`; from now on that memory may change at any time."""
    link = link_of(tensor)
    storage = link.storage
    if type(storage.array) is not Shared:
        storage.forget_values()
        array, is_free = taken(storage, "array")
        storage.array = unshared(array, is_free).view(Shared)
    return stepped(storage.array, link.steps).view(ndarray)
