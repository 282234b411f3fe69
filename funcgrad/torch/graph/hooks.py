"""Hooks: what a sweep is to do beside pulling, kept for the few nodes that have any.

Nodes are the core's and know nothing of hooks. A node keeps its extras, so that hooks that refer to tensors are
collected with them; `EXTRAS` finds them by the node's identity. While it is empty, a backward looks nowhere.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from itertools import count
from typing import Any
from weakref import WeakValueDictionary, ref

from funcgrad.core.engine.reverse import PICK
from funcgrad.core.engine.sweep import Node
from funcgrad.torch.graph.modes import check_outside
from funcgrad.torch.tensors.tensor import Tensor

_ids = count()


class Extras:
    """What one node has: hooks on its gradient, before, after, after accumulation; retainers; metadata."""

    __slots__ = ("__weakref__", "after", "before", "metadata", "post_accumulate", "retain", "tensor_hooks")

    def __init__(self) -> None:
        self.tensor_hooks: OrderedDict[int, Any] = OrderedDict()
        self.before: OrderedDict[int, Any] = OrderedDict()
        self.after: OrderedDict[int, Any] = OrderedDict()
        self.post_accumulate: OrderedDict[int, Any] = OrderedDict()
        self.retain: Any = None
        self.metadata: dict[Any, Any] = {}


EXTRAS: WeakValueDictionary[int, Extras] = WeakValueDictionary()


def extras_of(node: Node) -> Extras:
    """The extras of a node, made when they are first needed."""
    found = EXTRAS.get(id(node))
    if found is None:
        found = node.notes = EXTRAS[id(node)] = Extras()
    return found


class RemovableHandle:
    """Takes a hook away again, by `remove()` or at the end of a `with` block."""

    def __init__(self, hooks: Any, hook: Any) -> None:
        self.id = next(_ids)
        self._hooks = hooks if isinstance(hooks, (list, tuple)) else [hooks]
        for place in self._hooks:
            place[self.id] = hook

    def remove(self) -> None:
        """The hook is called no more."""
        for place in self._hooks:
            place.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


def register_hook(tensor: Tensor, hook: Callable[[Tensor], Any]) -> RemovableHandle:
    """Call `hook` with each gradient of this tensor; what it returns, if not None, replaces that."""
    node = tensor.node
    if node is None:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    return RemovableHandle(extras_of(node).tensor_hooks, hook)


def register_post_accumulate_grad_hook(tensor: Tensor, hook: Callable[[Tensor], None]) -> RemovableHandle:
    """Call `hook` with this leaf whenever a backward has accumulated into its .grad."""
    if tensor.node is None:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if tensor.node.plan is not None:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    return RemovableHandle(extras_of(tensor.node).post_accumulate, hook)


def retain_grad(tensor: Tensor) -> None:
    """Keep the gradient of this intermediate result in its .grad."""
    check_outside("Tensor.retain_grad()")
    if tensor.node is None:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if tensor.node.plan is not None:
        extras_of(tensor.node).retain = ref(tensor)


def retains_grad(tensor: Tensor) -> bool:
    """Was retain_grad called on this intermediate result?"""
    found = EXTRAS.get(id(tensor.node)) if tensor.node is not None else None
    return found is not None and found.retain is not None and found.retain() is tensor


def move_retain(old: Node | None, tensor: Tensor) -> None:
    """After an in-place operation, retain_grad is about the tensor's new node."""
    found = EXTRAS.get(id(old)) if old is not None else None
    if found is not None and found.retain is not None and found.retain() is tensor:
        found.retain = None
        if tensor.node is not None:
            extras_of(tensor.node).retain = ref(tensor)


def edge_of(node: Node) -> tuple[Node, int]:
    """The node that PyTorch shows, and which of its outputs is meant."""
    return (node.parents[0], node.saved) if node.plan is PICK else (node, 0)


Tensor.register_hook = register_hook  # type: ignore[attr-defined]
Tensor.register_post_accumulate_grad_hook = register_post_accumulate_grad_hook  # type: ignore[attr-defined]
Tensor.retain_grad, Tensor.retains_grad = retain_grad, property(retains_grad)  # type: ignore[attr-defined]
