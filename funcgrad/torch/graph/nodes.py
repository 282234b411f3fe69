"""Nodes as objects for the user: next_functions, edges, hooks on several tensors, saved tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from funcgrad.core.engine.cotangent import fit
from funcgrad.core.engine.reverse import PICK
from funcgrad.core.engine.sweep import Node as EngineNode
from funcgrad.torch.graph.exchange import FREED, SECOND_TIME, current_sweep, from_user, to_user
from funcgrad.torch.graph.hooks import RemovableHandle, edge_of, extras_of
from funcgrad.torch.graph.saved import pack_node, packer
from funcgrad.torch.graph.tape import NumberFirstPlan, Tape
from funcgrad.torch.tensors import storage
from funcgrad.torch.tensors.tensor import EAGER, Leaf, Tensor, tensor_at


class Node:
    """One operation in a graph, as `grad_fn` gives it: stands for a node of the engine, equal if that is."""

    __slots__ = ()
    engine_node: Any

    def name(self) -> str:
        """Its name, such as 'MulBackward0'."""
        return (
            title(self.engine_node)
            if self.engine_node.plan is not None
            else "torch::autograd::AccumulateGrad"
        )

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """Its operands' nodes, each with the number of the output meant; (None, 0) for a constant."""
        node = self.engine_node
        plan = node.plan
        edges = [(node_object(found), number) for found, number in map(edge_of, node.parents)]
        slots = edge_slots(plan)
        count = operand_count(node)
        if count <= len(edges) or len(slots) != len(edges) or title(node) in _NUMBERS_ONLY:
            return tuple(edges)
        full: list[tuple[Any, int]] = [(None, 0)] * count
        for slot, edge in zip(slots, edges, strict=True):
            full[slot] = edge
        if isinstance(plan, NumberFirstPlan):
            full.reverse()
        return tuple(full[1:] if title(node) == "WhereBackward0" else full)  # the condition has no edge

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dict for the user's notes."""
        return extras_of(self.engine_node).metadata

    @property
    def requires_grad(self) -> bool:
        """Always: constants have no node."""
        return True

    @property
    def variable(self) -> Tensor:
        """The leaf (of an AccumulateGrad)."""
        if self.engine_node.plan is not None:
            raise AttributeError(f"{self.name()} has no variable: it is not a leaf's AccumulateGrad")
        leaf: Leaf = self.engine_node.saved
        return leaf.tensor(self.engine_node)

    def _sequence_nr(self) -> int:
        return -self.engine_node.number if self.engine_node.plan is not None else 2**64 - 1

    def register_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call hook(grad_inputs, grad_outputs) after the node has run; it may return other grad_inputs."""
        return RemovableHandle(extras_of(self.engine_node).after, hook)

    def register_prehook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call hook(grad_outputs) before the node runs; it may return others."""
        return RemovableHandle(extras_of(self.engine_node).before, hook)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_saved_"):
            return saved_value(self.engine_node, name.removeprefix("_saved_"))
        if name.startswith("_raw_saved_"):
            return SavedTensor(self.engine_node, name.removeprefix("_raw_saved_"))
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __call__(self, *gradients: Tensor) -> Any:
        cts = [from_user(g, False) for g in gradients]
        plan = self.engine_node.plan
        assert plan is not None
        parts = plan.pull(cts if type(self.engine_node.shape) is int else cts[0], self.engine_node.saved)
        found = tuple(
            None if p is None else to_user(fit(p, n))
            for n, p in zip(self.engine_node.parents, parts, strict=True)
        )
        return found if len(found) != 1 else found[0]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and other.engine_node is self.engine_node

    def __hash__(self) -> int:
        return hash(self.engine_node)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"


class NodeObject(Node):
    """A Node that stands for one of the engine's."""

    __slots__ = ("__weakref__", "engine_node")

    def __init__(self, engine_node: EngineNode) -> None:
        self.engine_node = engine_node


# Nodes whose constants are numbers or masks, which have no edges.
_WITH_NUMBERS = (
    "PowBackward0 PowBackward2 RemainderBackward0 FmodBackward0 RsubBackward1 MaskedFillBackward0 ClampBackward1 "
    "ClampMinBackward0 ClampMaxBackward0 TrilBackward0 TriuBackward0 FloorBackward0 CeilBackward0 TruncBackward0 "
    "RoundBackward0 RoundBackward1 ZeroBackward0 FillBackward2"
)
_NUMBERS_ONLY = frozenset(_WITH_NUMBERS.split())


def operand_count(node: EngineNode) -> int:
    """How many edges PyTorch shows: constants among the tensor operands have one too."""
    layout = getattr(node.plan, "layout", ())
    return sum(1 if length is None else length for _, length in layout)


def edge_slots(plan: Any) -> tuple[int, ...]:
    """Which of the edges that PyTorch shows lead to the parents of a node of this plan."""
    return getattr(plan, "edges", None) or getattr(plan, "slots", ())


def title(node: EngineNode) -> str:
    """The name of a node."""
    return "AccumulateGrad" if node.plan is None else node.plan.name


@cache
def _class_of(name: str) -> type[NodeObject]:
    plain = name.rpartition("::")[2]
    return type(plain, (NodeObject,), {"__slots__": (), "__module__": "builtins"})


_objects: WeakValueDictionary[int, Node] = WeakValueDictionary()


def node_object(node: EngineNode) -> Node:
    """The object that stands for a node of the engine: the same one as long as somebody holds it."""
    if isinstance(node, Node):
        return node
    found = _objects.get(id(node))
    if found is None or found.engine_node is not node:
        found = _objects[id(node)] = _class_of(title(node))(node)
    return found


# PyTorch's names for what the engine saves under NumPy's.
_SAVED = {
    "self": ("x", "a"),
    "self_sym_sizes": ("a",),
    "result": ("out",),
    "dim": ("axis",),
    "keepdim": ("keepdims",),
    **dict.fromkeys(("other", "exponent", "mat2", "vec", "tensor"), ("y",)),
}


def _saved_entries(node: EngineNode, raised: bool) -> dict[str, Any]:
    """What a node has saved, under the engine's names; with `raised`, as part of the graph."""
    saved = node.saved
    if saved is FREED:
        raise RuntimeError(SECOND_TIME)
    plan: Any = node.plan
    keeps = getattr(plan, "keeps", ())
    if raised and hasattr(plan, "raised"):
        saved = plan.raised(node, EAGER.wrap)
    if isinstance(saved, tuple) and len(saved) == len(keeps):
        return dict(zip(keeps, saved, strict=True))
    if type(saved) is Tape:
        return dict(zip(("x", "y", "z"), saved.operands, strict=False))
    return saved if isinstance(saved, dict) else {}


def _saved_key(node: EngineNode, name: str, entries: dict[str, Any]) -> str:
    for key in (name, *_SAVED.get(name, ())):
        if key in entries:
            return key
    raise AttributeError(f"{title(node)} has saved no {name!r}; it has {', '.join(entries) or 'nothing'}")


def saved_value(node: EngineNode, name: str) -> Any:
    """What a node has saved under PyTorch's name for it: a tensor, a number, dims, or a shape."""
    if title(node) in ("PowBackward0", "PowBackward2") and name == (
        "exponent" if title(node)[-1] == "0" else "self"
    ):
        return _power_number(node, name)
    entries = _saved_entries(node, raised=True)
    value = entries[_saved_key(node, name, entries)]
    if name == "self_sym_sizes":
        return tuple(value.shape)
    if name == "dim" and title(node).startswith(("Sum", "Mean", "Amax", "Amin", "Logsumexp", "Std", "Var")):
        return value if isinstance(value, tuple) else (value,)
    return tensor_at(value) if hasattr(value, "dtype") and hasattr(value, "ndim") else value


def _power_number(node: EngineNode, name: str) -> Any:
    """The number in a power of which one part is a tensor."""
    entries = _saved_entries(node, raised=False)
    return np.asarray(entries[_saved_key(node, name, entries)]).item()


class SavedTensor:
    """One tensor that a node has saved, which hooks may pack."""

    __slots__ = ("_name", "_node")

    def __init__(self, node: EngineNode, name: str) -> None:
        self._node, self._name = node, name

    def register_hooks(
        self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]
    ) -> None:
        """Keep what pack_hook makes of the tensor, and give backward what unpack_hook makes of that."""
        entries = _saved_entries(self._node, raised=False)
        pack_node(self._node, packer(pack_hook, unpack_hook), _saved_key(self._node, self._name, entries))


class GradientEdge(NamedTuple):
    """An edge of the graph, which can stand for a tensor in autograd.grad and backward."""

    node: Node
    output_nr: int
    ownership_token: Any = None

    @property
    def engine_node(self) -> EngineNode:
        """The engine's node: for one of several outputs, the node that picks it."""
        return self.ownership_token if self.ownership_token is not None else self.node.engine_node


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge at which a tensor's gradient arrives."""
    if tensor.node is None:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require gradients."
        )
    node, number = edge_of(tensor.node)
    return GradientEdge(node_object(node), number, tensor.node if tensor.node.plan is PICK else None)


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[..., None], *, mode: str = "all"
) -> RemovableHandle:
    """Call `fn` once per backward: with all gradients of `tensors` (or None), or ("any") the first."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    state: dict[str, Any] = {"sweep": None}

    def hook_for(i: int) -> Callable[[Tensor], None]:
        def hook(gradient: Tensor) -> None:
            sweep = current_sweep()
            if state["sweep"] is not sweep:
                state.update(sweep=sweep, got=[None] * len(tensors), left=sweep.count_reached(tensors))
            state["got"][i] = gradient
            state["left"] -= 1
            if mode == "any" and state["left"] == sweep.count_reached(tensors) - 1:
                fn(gradient)
            elif mode == "all" and not state["left"]:
                fn(state["got"])

        return hook

    handle = RemovableHandle([], None)
    handle._hooks = []
    for i, tensor in enumerate(tensors):
        if tensor.node is None:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        place = extras_of(tensor.node).tensor_hooks
        place[handle.id] = hook_for(i)
        handle._hooks.append(place)
    return handle


def increment_version(tensor: Any) -> None:
    """Count a write that PyTorch could not see."""
    for t in [tensor] if isinstance(tensor, Tensor) else tensor:
        link = storage.link_of(t)
        storage.taint(link.storage.array, link.version, t.node)
        link.version.count += 1


def _grad_fn(tensor: Tensor) -> Any:
    """The node that made it; None for a leaf."""
    node = tensor.node
    if node is None or node.plan is None:
        return None
    return node_object(node.parents[0] if node.plan is PICK else node)


Tensor.grad_fn = property(_grad_fn)  # type: ignore[attr-defined]
