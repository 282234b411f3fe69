"""The graph of a model for TensorBoard: the nodes that one run records, each in the scope of the module that
made it.

Nodes are numbered in the order in which they are made (downwards, see tape.py), and so is, by hooks, each
beginning and each end of a module's forward: a node belongs to the innermost module between whose numbers its
own lies.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.core.engine.reverse import PICK
from funcgrad.core.engine.sweep import Node
from funcgrad.drawing.recording import argument_name, reachable
from funcgrad.torch.functions.ops import saved_values
from funcgrad.torch.graph.hooks import edge_of
from funcgrad.torch.graph.modes import enable_grad
from funcgrad.torch.graph.nodes import title
from funcgrad.torch.graph.tape import Tape, next_number
from funcgrad.torch.nn.module import Module
from funcgrad.torch.tensors.tensor import Tensor
from funcgrad.torch.utils.tensorboard.protos import protos
from funcgrad.transforms.wrapping import name_of

_PRODUCER = 22  # the version of the graph format that is written


class ScopeWatch:
    """While it is entered, notes when each module of a model begins and ends."""

    def __init__(self, model: Any) -> None:
        self.root = _plain(type(model).__name__ if isinstance(model, Module) else name_of(model))
        self.scopes = dict(_scopes(model, self.root)) if isinstance(model, Module) else {}
        self.open: list[int] = []
        self.done: list[tuple[int, int, str]] = []
        self.handles: list[Any] = []

    def __enter__(self) -> ScopeWatch:
        for module, scope in self.scopes.items():
            self.handles.append(
                module.register_forward_pre_hook(lambda module, args: self.open.append(next_number()))
            )
            self.handles.append(
                module.register_forward_hook(lambda module, args, out, scope=scope: self._ended(scope))
            )
        return self

    def __exit__(self, *exception: object) -> None:
        for handle in self.handles:
            handle.remove()

    def _ended(self, scope: str) -> None:
        self.done.append((self.open.pop(), next_number(), scope))

    def scope(self, node: Node) -> str:
        """Where a node was made. (Inner modules end first, and so they are found first.)"""
        return next((scope for begin, end, scope in self.done if end < node.number < begin), self.root)


def _scopes(module: Module, scope: str) -> Any:
    """All modules with their scopes, such as 'Net/Sequential[layers]/Linear[0]'; of a shared one, its first."""
    for name, child in reversed(list(module.named_children())):
        yield from _scopes(child, f"{scope}/{type(child).__name__}[{name}]")
    yield module, scope


class Input:
    """An argument as it was before the run, which may change it in place."""

    def __init__(self, name: str, tensor: Tensor) -> None:
        self.name, self.tensor, self.node = name, tensor, tensor.node
        self.value, self.shape, self.dtype = tensor.value, tensor.shape, tensor.dtype

    def is_kept_by(self, node: Node) -> bool:
        """Does a node hold this constant? (Indices, as of an embedding, have no edge of their own.)"""
        kept = [x for x in saved_values(node) if isinstance(x, np.ndarray)] if self.node is None else []
        return any(np.may_share_memory(x, self.value) for x in kept)


class GraphBuilder:
    """Names vertices and collects them."""

    def __init__(self, watch: ScopeWatch, inputs: Sequence[Input]) -> None:
        self.watch, self.inputs = watch, inputs
        self.graph = protos().GraphDef(versions=protos().VersionDef(producer=_PRODUCER))
        self.used: Counter[str] = Counter()
        self.names: dict[Node, str] = {x.node: x.name for x in inputs if x.node is not None}
        self.parameters = {
            p.node: f"{scope}/{name}"
            for module, scope in watch.scopes.items()
            for name, p in module.named_parameters(recurse=False)
            if p.node is not None
        }

    def build(self, outputs: dict[str, Tensor]) -> Any:
        """The graph behind `outputs`."""
        for x in self.inputs:
            self._add(x.name, "IO Node", (), [x.shape], x.dtype)
        reached = reachable(x.node for x in outputs.values() if x.node is not None)
        picked = {(node.parents[0], node.saved): node for node in reached if node.plan is PICK}
        for node in reached:
            if node.plan is not PICK and node not in self.names and not self._is_before_input(node):
                self._enter(node, picked)
        for name, x in outputs.items():
            source = [self._edge(x.node)] if x.node is not None else self._readers_of(x)
            self._add(name, "IO Node", source, [x.shape], x.dtype)
        return self.graph

    def _is_before_input(self, node: Node) -> bool:
        """Is it the leaf that stands before the copy that the model was given?"""
        return any(node in x.node.parents for x in self.inputs if x.node is not None)

    def _enter(self, node: Node, picked: dict[tuple[Node, int], Node]) -> None:
        if node.plan is None:
            name, op = self.parameters.get(node) or self._unique(f"{self.watch.root}/leaf"), "Parameter"
        else:
            op = re.sub(r"Backward\d*$", "", title(node).rpartition("::")[2])
            name = self._unique(f"{self.watch.scope(node)}/{op}")
        self.names[node] = name
        several = type(node.shape) is int
        outs: list[Any] = [picked.get((node, k)) for k in range(int(node.shape))] if several else [node]
        shapes = [None if out is None else out.shape for out in outs]
        dtype = next((out.dtype for out in outs if out is not None), "")
        constants = [x.name for x in self.inputs if x.is_kept_by(node)]
        self._add(
            name,
            op,
            [*(self._edge(parent) for parent in node.parents), *constants],
            shapes,
            dtype,
            calls_in(node),
        )

    def _edge(self, node: Node) -> str:
        source, number = edge_of(node)
        return self.names[source] + (f":{number}" if number else "")

    def _readers_of(self, x: Tensor) -> list[str]:
        """An output without a node may be an input that was passed through."""
        return [given.name for given in self.inputs if given.tensor is x]

    def _unique(self, name: str) -> str:
        self.used[name] += 1
        return name if self.used[name] == 1 else f"{name}_{self.used[name] - 1}"

    def _add(
        self, name: str, op: str, sources: Sequence[str], shapes: Sequence[Any], dtype: Any, calls: str = ""
    ) -> None:
        attr = protos().AttrValue
        listed = attr.ListValue(shape=[_shape(shape) for shape in shapes])
        attrs = {
            "_output_shapes": attr(list=listed),
            "dtype": attr(s=str(dtype).removeprefix("torch.").encode()),
        }
        if calls:
            attrs["calls"] = attr(s=calls.encode())
        self.graph.node.append(protos().NodeDef(name=name, op=op, input=sources, attr=attrs))


def calls_in(node: Node) -> str:
    """What a node calls: its name may be the last of several calls', or another function's."""
    inner = (
        reachable(end for end in node.saved.ends if end is not None)
        if isinstance(node.saved, Tape)
        else [node]
    )
    primitives = [getattr(each.plan, "primitive", None) for each in inner if each.plan is not PICK]
    return ", ".join(primitive.title.removeprefix("np.") for primitive in primitives if primitive is not None)


def _shape(shape: Any) -> Any:
    made = protos().TensorShapeProto
    return made(unknown_rank=True) if shape is None else made(dim=[made.Dim(size=n) for n in shape])


def model_graph(model: Any, given: Any) -> Any:
    """Run `model` once on `given` (an argument, or a tuple or list of them): its graph for TensorBoard."""
    arguments = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    function = model.forward if isinstance(model, Module) else model
    with enable_grad():
        paths, structure = tree.flatten_with_path((arguments, {}), is_leaf=_is_tensor)
        leaves = [_tracked(leaf) if _is_tensor(leaf) else leaf for _, leaf in paths]
        names = [f"input/{_plain(argument_name(function, path))}" for path, _ in paths]
        inputs = [Input(name, leaf) for name, leaf in zip(names, leaves, strict=True) if _is_tensor(leaf)]
        with ScopeWatch(model) as watch:
            outs = model(*tree.unflatten(structure, leaves)[0])
    found, _ = tree.flatten_with_path(outs, is_leaf=_is_tensor)
    outputs = {"output/" + _plain(f"output{tree.keystr(path)}"): x for path, x in found if _is_tensor(x)}
    return GraphBuilder(watch, inputs).build(outputs)


def _is_tensor(x: Any) -> bool:
    return isinstance(x, Tensor)


def _tracked(x: Tensor) -> Tensor:
    """The same values as an operation's result, so that all computed from them is recorded."""
    return x.detach().requires_grad_().clone() if x.is_floating_point() or x.is_complex() else x.detach()


def _plain(name: str) -> str:
    """A name without the signs that TensorBoard refuses."""
    return re.sub(r"[^\w.]+", "_", name).strip("_")
