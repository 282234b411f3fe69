"""The sweep over the graph of tensors: the core's, with a visitor where something is to be watched.

Without hooks, saved values that were overwritten, create_graph or chosen inputs, the core sweeps alone.
Otherwise a `GraphVisitor` looks in at each node. It also sees to PyTorch's order: newest first, but a leaf
accumulates as soon as its last gradient has come.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from funcgrad.core.engine.cotangent import dense, ended, fit
from funcgrad.core.engine.reverse import PICK
from funcgrad.core.engine.sweep import Node, make_node, merged, sweep
from funcgrad.core.engine.trace import Tracer
from funcgrad.core.memory.reads import Read
from funcgrad.nn.kernels.embedding import SparseRows
from funcgrad.torch.graph import modes
from funcgrad.torch.graph.exchange import CAPTURING, CURRENT, FREED, SECOND_TIME, from_user, to_user
from funcgrad.torch.graph.hooks import EXTRAS
from funcgrad.torch.graph.nodes import edge_slots, operand_count
from funcgrad.torch.graph.tape import next_number, saved_values
from funcgrad.torch.tensors.storage import TAINTED, tainted
from funcgrad.torch.tensors.tensor import EAGER, Tensor, make_tensor


class GraphVisitor:
    """Looks in at each node of one sweep."""

    def __init__(
        self,
        *,
        create_graph: bool,
        keep: bool,
        captures: dict[Node, Any] | None,
        wanted: set[Node] | None,
        finish: Any,
    ) -> None:
        self.create_graph, self.keep, self.captures = create_graph, keep, captures or {}
        self.wanted, self.finish = wanted, finish
        self.cts: dict[Node, Any] = {}
        self.reached: set[Node] = set()
        self.pending: dict[Node, int] = {}
        self.ct: Any = None
        self.anomaly, self.once = modes.mode().anomaly, modes.mode().once

    def prepare(self, roots: Iterable[Node]) -> None:
        """Count the edges that lead to each leaf."""
        pending, seen, stack = self.pending, set(roots), list(roots)
        while stack:
            for parent in stack.pop().parents:
                if parent.plan is None:
                    pending[parent] = pending.get(parent, 0) + 1
                elif parent not in seen:
                    seen.add(parent)
                    stack.append(parent)
        self.reached = seen | set(pending)

    def count_reached(self, tensors: Sequence[Tensor]) -> int:
        """How many of these tensors get a gradient in this sweep."""
        return len([t for t in tensors if t.node in self.reached])

    def enter(self, node: Node, ct: Any) -> tuple[Any, Any]:
        """Hooks on the gradient; what was captured; saved values, raised if this is to be differentiated."""
        if EXTRAS or self.captures:
            ct = self.seen(node, ct)
        if self.wanted is not None and node not in self.wanted:
            self._settle_leaves(node, [None] * len(node.parents))
            return None, None
        if node.saved is FREED:
            raise RuntimeError(SECOND_TIME)
        if TAINTED:
            check_versions(node)
        plan = node.plan
        raised = getattr(plan, "raised", None) if self.create_graph else None
        if EXTRAS:
            ct = self._before(node, ct)
        return ct, node.saved if raised is None else raised(node, EAGER.wrap)

    def seen(self, node: Node, ct: Any) -> Any:
        """What hooks on a tensor make of its gradient, and who keeps it."""
        extras = EXTRAS.get(id(node))
        if extras is not None:
            for hook in tuple(extras.tensor_hooks.values()):
                ct = self._hooked(node, hook, ct)
            tensor = extras.retain() if extras.retain is not None else None
            if tensor is not None:
                retain(tensor, ct, self.create_graph)
        if node in self.captures:
            self.captures[node] = ct
        return ct

    def _hooked(self, node: Node, hook: Any, ct: Any) -> Any:
        with modes.set_grad_enabled(self.create_graph):
            result = hook(to_user(ct))
        if result is None:
            return ct
        name = getattr(hook, "__name__", type(hook).__name__)
        if not (isinstance(result, Tensor) or getattr(result, "is_sparse", False)):
            raise TypeError(f"expected Variable, but hook returned '{type(result).__name__}'")
        if tuple(result.shape) != tuple(node.shape):
            raise RuntimeError(f"hook '{name}' has changed the size of value")
        found = from_user(result, self.create_graph)
        return found if found.dtype == node.dtype else found.astype(node.dtype)

    def _before(self, node: Node, ct: Any) -> Any:
        extras = EXTRAS.get(id(node))
        self.ct = None
        if extras is None:
            return ct
        for hook in tuple(extras.before.values()):
            many = type(ct) is list
            with modes.set_grad_enabled(self.create_graph):
                result = hook(tuple(c if c is None else to_user(c) for c in (ct if many else [ct])))
            if result is not None:
                result = result if isinstance(result, (tuple, list)) else (result,)
                found = [None if g is None else from_user(g, self.create_graph) for g in result]
                ct = found if many else found[0]
        if extras.after:
            self.ct = ct
        return ct

    def leave(self, node: Node, parts: Sequence[Any]) -> Sequence[Any]:
        """Hooks on the node; saved values are freed; leaves with all of their gradient accumulate it."""
        extras = EXTRAS.get(id(node)) if EXTRAS else None
        if extras is not None and extras.after:
            parts = self._after(
                extras, node, [self._fitted(*pair) for pair in zip(node.parents, parts, strict=True)]
            )
        if self.anomaly is not None and self.anomaly.check_nan:
            self.anomaly.check(node, parts)
        if not self.keep and node.plan is not None and (node.plan.keeps or self.once):
            node.saved = FREED
        return self._settle_leaves(node, list(parts))

    def _fitted(self, parent: Node, part: Any) -> Any:
        if part is None or parent.dtype is None:
            return part
        if type(part) is Read:
            part.spec = parent.spec
        part = ended(part)
        if not hasattr(part, "shape") or part.shape != parent.shape or part.dtype != parent.dtype:
            part = fit(part, parent)
        return part

    def _after(self, extras: Any, node: Node, parts: list[Any]) -> list[Any]:
        given = [None if c is None else to_user(c) for c in (self.ct if type(self.ct) is list else [self.ct])]
        for hook in tuple(extras.after.values()):
            with modes.set_grad_enabled(self.create_graph):
                result = hook(
                    self._edges(node, [None if p is None else to_user(p) for p in parts]), tuple(given)
                )
            if result is not None:
                result = result if isinstance(result, (tuple, list)) else (result,)
                result = [result[i] for i in edge_slots(node.plan)] if len(result) != len(parts) else result
                parts = [None if r is None else from_user(r, self.create_graph) for r in result]
        self.ct = None
        return parts

    def _edges(self, node: Node, gradients: list[Any]) -> tuple[Any, ...]:
        """The gradients for the edges that PyTorch shows: None for constants."""
        count, slots = operand_count(node), edge_slots(node.plan)
        if node.plan is None or count <= len(gradients) or len(slots) != len(gradients):
            return tuple(gradients)
        full = [None] * count
        for slot, gradient in zip(slots, gradients, strict=True):
            full[slot] = gradient
        return tuple(full)

    def _settle_leaves(self, node: Node, parts: list[Any]) -> list[Any]:
        for i, parent in enumerate(node.parents):
            if parent.plan is not None:
                continue
            part, parts[i] = self._fitted(parent, parts[i]), None
            if part is not None:
                held = self.cts.get(parent)
                self.cts[parent] = part if held is None else merged(held, part)
            self.pending[parent] -= 1
            if not self.pending[parent] and parent in self.cts:
                self.end(parent, self.cts.pop(parent))
        return parts

    def end(self, leaf: Node, ct: Any) -> None:
        """All of a leaf's gradient has come."""
        if EXTRAS or self.captures:
            ct = self.seen(leaf, ct)
        self.finish(leaf, self._before(leaf, ct) if EXTRAS and leaf not in self.captures else ct)


# Nodes that save their result where PyTorch's save operands: the result may be overwritten, as the node has
# the old one.
_WITH_FREE_RESULTS = (
    "DivBackward0 MaximumBackward0 MinimumBackward0 VarBackward0 VarMeanBackward0 SignBackward0 "
    "PowBackward0 PowBackward1"
)
_RESULT_IS_FREE = frozenset(_WITH_FREE_RESULTS.split())
# Nodes that save their operand where PyTorch's save the result alone, so that the operand may be overwritten.
_OPERAND_IS_FREE = frozenset(("TanhBackward0", "SigmoidBackward0", "LogsumexpBackward0"))


def check_versions(node: Node) -> None:
    """PyTorch's error where a saved value was overwritten in its tensor."""
    if modes.mode().mutation is not None:
        return
    for value in saved_values(node):
        found = tainted(getattr(value, "content", value))
        version = None if found is None else found.version()
        made_by = None if found is None else found.node
        if made_by is not None and made_by.plan is PICK:
            made_by = made_by.parents[0]
        if (
            found is not None
            and made_by is node
            and node.plan is not None
            and node.plan.name in _RESULT_IS_FREE
        ):
            continue
        if (
            found is not None
            and found.node is not node
            and node.plan is not None
            and node.plan.name in _OPERAND_IS_FREE
        ):
            continue
        if found is not None and version is not None and version.count > found.saved_version:
            raise version_error(getattr(value, "content", value), found, version.count)


def version_error(value: Any, found: Any, now: int) -> RuntimeError:
    """The error for a saved value that was overwritten."""
    kind = {"f4": "Float", "f8": "Double", "f2": "Half", "i8": "Long", "i4": "Int", "b1": "Bool"}.get(
        value.dtype.str[1:], ""
    )
    source = ""
    if found.node is not None and found.node.plan is not None:
        name = found.node.plan.name if found.node.plan is not PICK else found.node.parents[0].plan.name
        source = f", which is output 0 of {name.removesuffix('0').removesuffix('Backward')},"
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[torch.{kind}Tensor {list(value.shape)}]{source} is at version {now}; expected version {found.saved_version} "
        f"instead. Hint: the operation that modified it was at {found.line}. Write x = x + y instead of x += y there, "
        "or use it under torch.autograd.graph.allow_mutation_on_saved_tensors(), which computes the gradient of the "
        "values at the time."
    )


def retain(tensor: Tensor, ct: Any, create_graph: bool) -> None:
    """Add a cotangent to an intermediate result's .grad: to a new tensor, as the old may be in a graph."""
    gradient = to_user(own(dense(ct)))
    with modes.set_grad_enabled(create_graph):
        tensor.grad_ = gradient if tensor.grad_ is None else tensor.grad_ + gradient


def accumulate(tensor: Tensor, ct: Any, create_graph: bool) -> None:
    """Add a cotangent to a tensor's .grad: in place, or (`create_graph`) to a new tensor with a graph."""
    held = tensor.grad_
    if held is None and type(ct) is np.ndarray and ct.dtype.kind == "f":
        tensor.grad_ = make_tensor(ct.copy())
        return
    if type(ct) is SparseRows or held is not None and held.is_sparse:
        with modes.set_grad_enabled(create_graph):
            tensor.grad_ = to_user(ct) if held is None else held + to_user(ct)
        return
    ct = dense(ct)
    if held is None:
        tensor.grad_ = copied(to_user(own(ct))) if create_graph else to_user(own(ct))
    elif create_graph:
        tensor.grad_ = held + to_user(ct)
    elif held.link is None and held.node is None:
        held.value = held.value + (ct.conj() if ct.dtype.kind == "c" else ct)
    else:
        with modes.no_grad():
            held.add_(to_user(ct))


def copied(gradient: Tensor) -> Tensor:
    """The first gradient of a leaf, in a graph of its own: PyTorch copies it."""
    node = gradient.node
    if node is None or isinstance(gradient.value, Tracer):
        return gradient
    return make_tensor(gradient.value, make_node(next_number(), COPY, None, (node,), node.shape, node.dtype))


class _Copy:
    name, keeps, slots, layout, masks = "torch::autograd::CopyBackwards", (), (0,), (), True

    @staticmethod
    def pull(ct: Any, saved: Any) -> tuple[Any]:
        return (ct,)

    pull_masked = pull


COPY: Any = _Copy()


def own(ct: Any) -> Any:
    """A cotangent that nobody else holds."""
    return ct.copy() if type(ct) is np.ndarray else ct


def is_unwatched() -> bool:
    """Is nothing to be seen to in a sweep: no hooks, no saved value that was overwritten, no mode?"""
    return not (EXTRAS or TAINTED or modes.MODE.get())


def swept(seeds: list[tuple[Node, Any]], keep: bool, capturing: bool = False) -> dict[Node, Any]:
    """The cotangents of all leaves, by the core's sweep alone."""
    token = CAPTURING.set(capturing)
    try:
        with np.errstate(all="ignore"):  # 0/0 in a slope is the gradient's own affair, as in PyTorch
            return sweep(seeds, release=not keep, freed=FREED)
    finally:
        CAPTURING.reset(token)


def run(
    seeds: list[tuple[Node, Any]],
    *,
    keep: bool,
    create_graph: bool,
    captures: dict[Node, Any] | None,
    wanted: set[Node] | None,
    finish: Any,
) -> None:
    """Sweep from `seeds`. `finish(leaf, ct)` is called per leaf; the cotangents of `captures` go there."""
    if not (create_graph or captures) and is_unwatched():
        for leaf, ct in swept(seeds, keep).items():
            finish(leaf, ct)
        return
    visitor = GraphVisitor(
        create_graph=create_graph, keep=keep, captures=captures, wanted=wanted, finish=finish
    )
    visitor.prepare([node for node, _ in seeds])
    for leaf, ct in [seed for seed in seeds if seed[0].plan is None]:
        if leaf in visitor.pending:
            visitor.cts[leaf] = ct
        else:
            visitor.end(leaf, ct)
    token, capturing = CURRENT.set(visitor), CAPTURING.set(bool(captures))
    try:
        with modes.set_grad_enabled(create_graph), np.errstate(all="ignore"):
            sweep([seed for seed in seeds if seed[0].plan is not None], visitor=visitor)
            # some node on the way to it got no cotangent, and was never passed
            for leaf in tuple(visitor.cts):
                visitor.end(leaf, visitor.cts.pop(leaf))
    finally:
        CAPTURING.reset(capturing)
        CURRENT.reset(token)
