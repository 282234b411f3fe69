"""In-place operations: `add_`, `y[0] = v`, `out=`. The cell gets a new content and a new node; views see it
(storage.py).

A write to a view is a write to its base: the base's history gets a CopySlices node, and the views look theirs
up anew.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.engine.reverse import ReverseTracer
from funcgrad.core.engine.sweep import Node
from funcgrad.core.engine.trace import Tracer
from funcgrad.core.memory.families import are_same_elements, clash, stepped
from funcgrad.core.memory.mutation import WRITE, Place, write_node
from funcgrad.errors import FuncgradError
from funcgrad.torch.graph import captured, duals
from funcgrad.torch.graph.hooks import EXTRAS, move_retain
from funcgrad.torch.graph.modes import mode
from funcgrad.torch.graph.tape import EagerTracer, NamedPlan, next_number
from funcgrad.torch.tensors import dtypes, storage
from funcgrad.torch.tensors.storage import del_slot
from funcgrad.torch.tensors.tensor import Tensor, held_node, make_tensor, recording
from funcgrad.typed import override


class _CopySlices(NamedPlan):
    """The plan of a write: it keeps where it wrote, which is no value to be differentiated in."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(WRITE, "torch::autograd::CopySlices")
        self.keeps = ("place",)

    @override
    def raised(self, node: Node, wrap: Any) -> Any:
        return node.saved


COPY_SLICES = _CopySlices()
VIEW_OF_LEAF = "a view of a leaf Variable that requires grad is being used in an in-place operation."
OVERLAP = (
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
    "location. Please clone() the tensor before performing the operation."
)
_KINDS = {
    "f2": "Half",
    "f4": "Float",
    "f8": "Double",
    "i8": "Long",
    "i4": "Int",
    "i2": "Short",
    "i1": "Char",
    "u1": "Byte",
    "b1": "Bool",
    "c8": "ComplexFloat",
    "c16": "ComplexDouble",
}
_RANK = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}


def kind_name(dtype: Any) -> str:
    """PyTorch's name of a dtype in messages: 'Float'."""
    return _KINDS.get(dtype.str[1:], str(dtype))


def check_writable(t: Tensor) -> None:
    """Refuse what PyTorch refuses to write to."""
    value = t.value
    if isinstance(value, np.ndarray) and not value.flags.forc and _overlaps_itself(value):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please "
            "clone() the tensor before performing the operation."
        )
    if t.__dict__.get("is_inference_tensor") and not mode().inference:
        raise RuntimeError(
            "Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a "
            "normal tensor before doing inplace update."
        )
    if not recording():
        return
    if (t.node is not None and t.node.plan is None) or (isinstance(value, Tracer) and _is_argument(value)):
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    if t.link is not None and t.link.base is not None:
        _check_view(t)
    primal = t.__dict__[duals.PARTS][0] if duals.PARTS in t.__dict__ else None
    if primal is not None and primal.node is not None and primal.is_leaf:
        raise RuntimeError(VIEW_OF_LEAF)


def check_overlap(t: Tensor, operands: tuple[Any, ...]) -> None:
    """Refuse to write to `t` from tensors that have some of its memory, but not the same elements in the same order."""
    storage = t.link.storage
    for x in operands:
        if (
            isinstance(x, Tensor)
            and x.link is not None
            and x.link.storage is storage
            and clash(t.value, x.value)
        ):
            raise RuntimeError(OVERLAP)


def _overlaps_itself(x: np.ndarray) -> bool:
    """May two of its elements share a place? (Is some stride shorter than what lies within?)"""
    within = x.itemsize
    for stride, n in sorted((abs(s), n) for s, n in zip(x.strides, x.shape, strict=True) if n > 1):
        if stride < within:
            return True
        within += stride * (n - 1)
    return False


def _is_argument(x: Any) -> bool:
    """Is it, at some level, the argument in which a reverse-mode transform differentiates? There it is a leaf."""
    while isinstance(x, Tracer):
        node = x._node if isinstance(x, ReverseTracer) and not isinstance(x, EagerTracer) else None
        if node is not None and node.plan is None:
            return True
        x = x._value
    return False


def _check_view(t: Tensor) -> None:
    base, origin = t.link.base, t.link.origin
    if base.node is not None and base.node.plan is None or _is_argument(base.value):
        raise RuntimeError(VIEW_OF_LEAF)
    if origin == "multiple" and (base.node is not None or t.requires_grad):
        name = "" if t.grad_fn is None else t.grad_fn.name()
        raise RuntimeError(
            f"Output {t.output_nr} of {name.partition('Backward')[0] or 'a function'} is a view and is being modified "
            "inplace. This view is the output of a function that returns multiple views. Such functions do not allow "
            "the output views to be modified inplace. You should replace the inplace operation by an out-of-place one."
        )
    if origin == "no_grad" and (base.node is not None or t.requires_grad):
        raise RuntimeError(
            "A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that this "
            "use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the "
            "view and the inplace either both inside the no_grad block (if you don't want the inplace to be tracked) "
            "or both outside (if you want the inplace to be tracked)."
        )


def adopt(t: Tensor, out: Tensor, whole: bool = True) -> Tensor:
    """`t` with the content of `out`, as an in-place operation leaves it."""
    value = out.value
    target = t.value
    if tuple(value.shape) != tuple(target.shape):
        raise RuntimeError(
            f"output with shape {list(target.shape)} doesn't match the broadcast shape {list(value.shape)}"
        )
    if value.dtype != target.dtype:
        if _RANK[value.dtype.kind] > _RANK[target.dtype.kind]:
            raise RuntimeError(
                f"result type {kind_name(value.dtype)} can't be cast to the desired output type {kind_name(target.dtype)}"
            )
        out = out.to(target.dtype)
        value = out.value
    overwrite(t, ..., value, out.node, out.node if t._base is None else None)
    return t


def overwrite(t: Tensor, index: Any, v: Any, written: Node | None, whole: Node | None = None) -> None:
    """Put the content `v`, of node `written`, at `index` of `t`; `whole`: all of t's node, if known."""
    if isinstance(v, Tracer):
        captured.note(t if t._base is None else t._base, v)
    if not recording():
        storage.write(t, index, v)
        root = t if t._base is None else t._base
        if duals.PARTS in root.__dict__:
            _write_parts(root)
        return
    link = storage.link_of(t)
    root = t if link.base is None else link.base
    before, old = root.node, t.node
    shape, dtype = root.value.shape, root.value.dtype
    storage.write(t, index, v)
    if whole is None and (before is not None or written is not None):
        whole = write_node(
            next_number(), COPY_SLICES, before, written, Place(link.base_steps, index), shape, dtype
        )
    root.node = whole
    if not isinstance(v, Tracer) or whole is not None:
        forget_nodes(root)
    elif root is not t:
        del_slot(t, "node")
    if root is not t:
        move_retain(before, root)
    move_retain(old, t)
    if duals.PARTS in root.__dict__:
        _write_parts(root)


def _write_parts(dual: Tensor) -> None:
    """After a write to a dual tensor: the tensors whose memory it shares have its parts."""
    for held, part in zip(dual.__dict__[duals.PARTS], duals.parts_of(dual), strict=True):
        if held is not None and part is not None:
            overwrite(held, ..., part.value, part.node, part.node if held._base is None else None)


def rewrite_base(view: Tensor, written: Node) -> None:
    """`view` was written as a whole, by this node's operation: its base's history tells of that."""
    link = view.link
    root = link.base
    before, place, value = root.node, Place(link.base_steps, ...), root.value
    root.node = write_node(next_number(), COPY_SLICES, before, written, place, value.shape, value.dtype)
    move_retain(before, root)
    forget_nodes(root)


def forget_nodes(root: Tensor) -> None:
    """The views of `root` look up their nodes anew."""
    for view in root.link.storage:
        if view.link.base is root:
            old = held_node(view) if EXTRAS else None
            del_slot(view, "node")
            move_retain(old, view)


def own_copy(t: Tensor) -> Tensor:
    """The target of an in-place operation, for that operation to save: only others can be spoiled by it."""
    value = t.value
    return make_tensor(value.copy() if isinstance(value, np.ndarray) else value, t.node)


def inplace(functional: Callable[..., Any], name: str) -> Callable[..., Tensor]:
    """The in-place variant of a torch function: its result takes the place of its first argument."""

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        check_writable(self)
        if self.link is not None:
            check_overlap(self, args)
        if not recording():
            return adopt(self, functional(self, *args, **kwargs))
        return adopt(self, functional(own_copy(self), *args, **kwargs))

    method.__name__ = method.__qualname__ = name
    method.functional = functional
    method.__doc__ = f"{name.rstrip('_')}, in place: this tensor gets the result."
    return method


# ---- items -----------------------------------------------------------------------------------------------------------


def content_index(index: Any) -> Any:
    """An index as NumPy takes it: tensors become arrays."""
    if isinstance(index, Tensor):
        value = index.value
        if not isinstance(value, Tracer) and value.dtype.kind not in "iub":
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        return (
            value
            if isinstance(value, Tracer)
            else np.asarray(value)
            if value.dtype != np.uint8
            else np.asarray(value).astype(bool)
        )
    if type(index) is tuple:
        return tuple(map(content_index, index))
    if type(index) is list and _stands_for_tuple(index):
        return tuple(map(content_index, index))
    if type(index) is list:
        return np.asarray([content_index(i) for i in index], None if index else int)
    if isinstance(index, slice):
        if index.step is not None and int(index.step) <= 0:
            raise ValueError("step must be greater than zero")
        return slice(
            *[x.item() if isinstance(x, Tensor) else x for x in (index.start, index.stop, index.step)]
        )
    return index


def _stands_for_tuple(index: list[Any]) -> bool:
    """Does PyTorch take this list for a tuple of indices? (If something in it is no plain integer.)"""
    kinds = (list, tuple, slice, Tensor, np.ndarray)
    found = len(index) < 32 and any(i is None or i is ... or isinstance(i, kinds) for i in index)
    if found:
        warnings.warn(
            "Using a non-tuple sequence for multidimensional indexing is deprecated: write x[tuple(index)] for an "
            "index along each dim, or x[torch.tensor(index)] for a tensor of indices along the first.",
            UserWarning,
            stacklevel=4,
        )
    return found


def set_item(t: Tensor, index: Any, v: Any) -> None:
    """t[index] = v."""
    check_writable(t)
    place = content_index(index)
    given = (
        v
        if isinstance(v, Tensor)
        else make_tensor(np.asarray(v, None if isinstance(v, np.ndarray) else t.value.dtype))
    )
    if (
        given.link is not None
        and t.link is not None
        and given.link.storage is t.link.storage
        and _same_place(t, place, given)
    ):
        t.link.version.count += 1
        return
    if given.value.dtype != t.value.dtype:
        given = given.to(t.value.dtype)
    given = _without_leading_ones(given, t, place)
    try:
        overwrite(t, place, given.value, given.node if recording() else None)
    except (ValueError, TypeError) as error:
        if not isinstance(error, FuncgradError):
            raise RuntimeError(_mismatch(given, t, place) or str(error)) from None
        raise


def _without_leading_ones(given: Tensor, t: Tensor, index: Any) -> Tensor:
    """What is written, without leading axes of length 1, unless it has the region's shape anyway."""
    shape = tuple(given.value.shape)
    count = next((k for k, n in enumerate(shape) if n != 1), len(shape))
    return given.reshape(shape[count:]) if count and shape != _region_shape(t, index) else given


def _stand_in(t: Tensor) -> np.ndarray:
    """An array of the shape of `t` that takes no memory."""
    return np.broadcast_to(np.zeros((), bool), tuple(t.value.shape))


def _region_shape(t: Tensor, index: Any) -> tuple[int, ...]:
    return tuple(np.shape(_stand_in(t)[index]))


def _mismatch(given: Tensor, t: Tensor, index: Any) -> str | None:
    """PyTorch's words for a value that does not broadcast to the region."""
    sizes, region = list(given.shape), list(_region_shape(t, index))
    if any(isinstance(i, (np.ndarray, Tracer)) for i in (index if type(index) is tuple else (index,))):
        return f"shape mismatch: value tensor of shape {sizes} cannot be broadcast to indexing result of shape {region}"
    if len(sizes) > len(region):
        return (
            f"expand(torch.{kind_name(t.value.dtype)}Tensor{{{sizes}}}, size={region}): the number of sizes provided "
            f"({len(region)}) must be greater or equal to the number of dimensions in the tensor ({len(sizes)})"
        )
    gap = len(region) - len(sizes)
    worst = next((k for k, n in reversed(list(enumerate(sizes))) if n not in (1, region[gap + k])), None)
    return (
        worst
        if worst is None
        else (
            f"The expanded size of the tensor ({region[gap + worst]}) must match the existing size ({sizes[worst]}) at "
            f"non-singleton dimension {gap + worst}.  Target sizes: {region}.  Tensor sizes: {sizes}"
        )
    )


class _Places(np.ndarray):
    """An array whose elements are views of it."""

    @override
    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        if isinstance(found, np.ndarray):
            return found
        return super().__getitem__((*(index if isinstance(index, tuple) else (index,)), ...))


def _same_place(t: Tensor, index: Any, v: Tensor) -> bool:
    """Is `v` the very memory to be written (half of `y[1:] += z`)? Partial overlap is refused."""
    if isinstance(t.value, Tracer) or isinstance(v.value, Tracer):
        return False
    region, source = t.value[index], v.value
    if not isinstance(region, np.ndarray) or not isinstance(source, np.ndarray):
        memory = v.link.storage.array.view(_Places)  # a number tells nothing of where it came from
        region, source = stepped(memory, t.link.steps)[index], stepped(memory, v.link.steps)
        return (
            isinstance(region, _Places) and isinstance(source, _Places) and are_same_elements(region, source)
        )
    if are_same_elements(region, source):
        return True
    if clash(region, source):
        raise RuntimeError(OVERLAP)
    return False


def write_out(out: Any, result: Any, name: str = "") -> Any:
    """The result of a function, written into what was given as out=."""
    if isinstance(out, tuple):
        written = [write_out(o, r, name) for o, r in zip(out, result, strict=True)]
        return type(result)._make(written) if hasattr(result, "_make") else tuple(written)
    if result.requires_grad or (out.requires_grad and recording()):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments "
            "requires grad."
        )
    if tuple(out.value.shape) != tuple(result.value.shape):
        out.data = make_tensor(dtypes.cast(result.value, out.value.dtype))
    else:
        adopt(out, result)
    return out
