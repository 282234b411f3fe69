"""backward and grad: from tensors to seeds of a sweep, and from cotangents to gradients."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.core.engine.sweep import Node, merged
from funcgrad.torch.graph import duals, engine, exchange, modes
from funcgrad.torch.graph.nodes import GradientEdge
from funcgrad.torch.tensors.tensor import Tensor, make_tensor
from funcgrad.torch.tensors.values import branches_refused


def as_tuple(x: Any) -> tuple[Any, ...]:
    """A tensor (or edge) as a tuple of one; a sequence as a tuple."""
    return (x,) if isinstance(x, (Tensor, GradientEdge)) or x is None else tuple(x)


def node_of(x: Any) -> Node | None:
    """The engine's node of a tensor or of a GradientEdge."""
    return x.engine_node if isinstance(x, GradientEdge) else x.node


def seeds_of(outputs: Sequence[Any], gradients: Sequence[Any], create_graph: bool) -> list[tuple[Node, Any]]:
    """The nodes to begin at and their cotangents."""
    seeds: dict[Node, Any] = {}
    for i, (out, gradient) in enumerate(zip(outputs, gradients, strict=True)):
        if not isinstance(out, (Tensor, GradientEdge)):
            raise TypeError(
                f"element {i} of tensors must be a Tensor or a GradientEdge, not {type(out).__name__}"
            )
        node = node_of(out)
        if node is None:
            raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
        ct = _seed(out, node, gradient, i, create_graph)
        seeds[node] = merged(seeds[node], ct) if node in seeds else ct
    return list(seeds.items())


def _seed(out: Any, node: Node, gradient: Any, i: int, create_graph: bool) -> Any:
    if gradient is None:
        if node.dtype is None or (node.shape != () and np.prod(node.shape) != 1):
            raise RuntimeError(
                "grad can be implicitly created only for scalar outputs: this one has shape "
                f"{tuple(node.shape)}. Pass gradient=torch.ones_like(y), or sum y first."
            )
        if node.dtype.kind == "c":
            raise RuntimeError(
                f"grad can be implicitly created only for real scalar outputs but got torch.{node.dtype.name}"
            )
        return np.ones(node.shape, node.dtype) if node.shape else node.dtype.type(1)
    if not isinstance(gradient, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(gradient).__name__}")
    if tuple(gradient.value.shape) != tuple(node.shape):
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{i}] has a shape of {gradient.shape} and output[{i}] has a shape of "
            f"{type(gradient.shape)(node.shape)}."
        )
    if gradient.value.dtype.kind == "c" and node.dtype.kind != "c":
        raise RuntimeError(
            f"For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
            f"grad_output[{i}] has a dtype of {gradient.dtype} and output[{i}] has a dtype of torch.{node.dtype.name}."
        )
    ct = exchange.from_user(gradient, create_graph)
    return ct if ct.dtype == node.dtype else ct.astype(node.dtype)


def given_gradients(gradients: Any, outputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """One gradient (or None) for each output."""
    found = (None,) * len(outputs) if gradients is None else as_tuple(gradients)
    if len(found) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(found)} gradients")
    return found


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Accumulate the gradients of `tensors` in the .grad of leaves (or of `inputs` only).

    Raises RuntimeError where an output is not a scalar and no gradient is given, or the graph was freed
    before.

    >>> import funcgrad.torch as torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> torch.autograd.backward([(2 * x).sum(), (3 * x).sum()])
    >>> x.grad
    tensor([5., 5.])
    """
    outputs = as_tuple(tensors)
    if inputs is not None:
        inputs = as_tuple(inputs)
        if not inputs:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    seeds = seeds_of(
        outputs,
        given_gradients(grad_tensors if grad_tensors is not None else grad_variables, outputs),
        create_graph,
    )
    keep = create_graph if retain_graph is None else retain_graph
    if inputs is None:
        engine.run(
            seeds,
            keep=keep,
            create_graph=create_graph,
            captures=None,
            wanted=None,
            finish=lambda leaf, ct: _accumulate(leaf, ct, create_graph),
        )
        return
    for x in inputs:
        if isinstance(x, Tensor) and x.node is not None:
            x.retain_grad()  # of an intermediate result: as PyTorch, for good
    found = _captured(seeds, [_needs_grad(x) for x in inputs], keep, create_graph)
    for x in dict.fromkeys(inputs):
        node: Any = node_of(x)
        tensor = _tensor_of(x, node)
        if found[node] is not None and tensor is not None and node.plan is None:
            engine.accumulate(tensor, found[node], create_graph)
            _after_accumulation(node, tensor)


def _tensor_of(x: Any, node: Node) -> Tensor | None:
    """The tensor whose .grad is meant: of an edge, the leaf at its end."""
    if isinstance(x, Tensor):
        return x
    if node.plan is not None:
        raise RuntimeError(
            "backward(inputs=...) was given the GradientEdge of an intermediate result, which has no .grad to add to. Give the "
            "tensor itself, or write torch.autograd.grad(y, edge)."
        )
    return node.saved()


def _backward(
    self: Tensor,
    gradient: Any = None,
    retain_graph: Any = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Accumulate the gradient of this tensor (times `gradient`) in the .grad of its leaves."""
    node = self.node
    if (
        gradient is None
        and inputs is None
        and not create_graph
        and node is not None
        and node.spec.shape == ()
    ):
        dtype = node.spec.dtype
        if dtype.kind == "f":  # a loss: what nearly every backward begins with
            engine.run(
                [(node, dtype.type(1))],
                keep=bool(retain_graph),
                create_graph=False,
                captures=None,
                wanted=None,
                finish=_accumulate,
            )
            return
    backward((self,), (gradient,), retain_graph, create_graph, inputs=inputs)


Tensor.backward = _backward


def _accumulate(leaf: Node, ct: Any, create_graph: bool = False) -> None:
    """Add a leaf's cotangent to its tensor's .grad."""
    tensor = leaf.saved()
    if tensor is None:
        return
    engine.accumulate(tensor, ct, create_graph)
    if engine.EXTRAS:
        _after_accumulation(leaf, tensor)


def _after_accumulation(leaf: Node, tensor: Tensor) -> None:
    extras = engine.EXTRAS.get(id(leaf))
    if extras is None or leaf.plan is not None:
        return
    for hook in tuple(extras.post_accumulate.values()):
        result = hook(tensor)
        if result is not None:
            raise TypeError(
                f"expected Variable, but hook returned '{type(result).__name__}': a hook after accumulation returns None"
            )
    given = to_tuple(tensor.grad_)
    for hook in tuple(extras.after.values()):
        hook((), given)


def to_tuple(x: Any) -> tuple[Any, ...]:
    """A tuple of one."""
    return (x,)


def _needs_grad(x: Any) -> Node:
    node = node_of(x)
    if node is None:
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    return node


def _captured(
    seeds: list[tuple[Node, Any]], nodes: list[Node], keep: bool, create_graph: bool, fixed: Any = None
) -> dict[Node, Any]:
    """The cotangents that reach `nodes`, not through nodes of the plan `fixed`; None where nothing does."""
    captures: dict[Node, Any] = dict.fromkeys(nodes)
    roots = [node for node, _ in seeds]
    if (
        fixed is None
        and not create_graph
        and engine.is_unwatched()
        and _leads_to_these_leaves(captures, roots)
    ):
        leaves = engine.swept(seeds, keep, capturing=True)
        return {node: leaves.get(node) for node in captures}
    wanted = _leading_to(set(nodes), roots, fixed)
    engine.run(
        seeds,
        keep=keep,
        create_graph=create_graph,
        captures=captures,
        wanted=wanted,
        finish=lambda leaf, ct: None,
    )
    return captures


def _leads_to_these_leaves(captures: dict[Node, Any], roots: list[Node]) -> bool:
    """Are all of them leaves, and are there no others beneath `roots`? Then nothing can be left out."""
    if any(node.plan is not None for node in captures):
        return False
    seen, stack = set(roots), list(roots)
    note = seen.add
    while stack:
        node = stack.pop()
        while node.plan is not None:
            origin = node.origin
            if type(origin) is tuple:
                fresh = [parent for parent in origin if parent not in seen]
                seen.update(fresh)
                stack += fresh
                break
            if origin in seen:
                break
            note(origin)
            node = origin  # a chain: without a detour through the stack
        else:
            if node not in captures:
                return False
    return True


def _leading_to(targets: set[Node], roots: list[Node], fixed: Any = None) -> set[Node]:
    """The nodes from which some target is reached."""
    nodes: list[Node] = []
    seen = set(roots)
    stack = list(roots)
    while stack:
        node = stack.pop()
        if fixed is not None and node.plan is fixed:
            continue
        nodes.append(node)
        for parent in node.parents:
            if parent not in seen:
                seen.add(parent)
                stack.append(parent)
    nodes.sort(key=lambda node: -node.number)  # oldest first
    wanted: set[Node] = set()
    for node in nodes:
        if any(parent in targets or parent in wanted for parent in node.parents):
            wanted.add(node)
    return wanted


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """The gradients of the sum of `outputs` with respect to `inputs`; .grad is not touched.

    Returns a tuple, one tensor for each input (a dict, if `inputs` is one). With `allow_unused` an input that
    does not matter gives None, with `materialize_grads` zeros. `is_grads_batched` maps over the leading axis
    of `grad_outputs`.

    >>> import funcgrad.torch as torch
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> torch.autograd.grad(x ** 3, x)
    (tensor(12.),)
    """
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True)",
            FutureWarning,
            stacklevel=2,
        )
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    if isinstance(inputs, dict):
        options = (retain_graph, create_graph, only_inputs, allow_unused, is_grads_batched, materialize_grads)
        found = grad(outputs, tuple(inputs.values()), grad_outputs, *options)
        return dict(zip(inputs, found, strict=True))
    outs, ins = as_tuple(outputs), as_tuple(inputs)
    if not ins:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    given = given_gradients(grad_outputs, outs)
    if any(map(duals.is_pair, outs)):
        return _of_duals(outs, ins, given, create_graph, allow_unused, materialize_grads)
    keep = create_graph if retain_graph is None else retain_graph
    nodes = [_needs_grad(x) for x in ins]
    if is_grads_batched:
        found = _batched(outs, given, nodes, keep, create_graph)
    else:
        found = _captured(seeds_of(outs, given, create_graph), nodes, keep, create_graph)
    unused_allowed = allow_unused or materialize_grads
    return tuple(
        _result(i, x, found[node], unused_allowed, materialize_grads, create_graph)
        for i, (x, node) in enumerate(zip(ins, nodes, strict=True))
    )


def _of_duals(
    outs: Any, ins: Any, given: Any, create_graph: bool, allow_unused: Any, materialize: bool
) -> tuple[Any, ...]:
    """The gradients of dual outputs: dual themselves."""
    like = next(x for x in outs if duals.is_pair(x))
    sources = [duals.source_of(x) for x in ins]
    primals, tangents = zip(*map(duals.parts_of, outs), strict=True)
    cts, changes = zip(*map(duals.parts_of, given), strict=True)
    gradients = grad(primals, sources, cts, True, create_graph, True, allow_unused, False, materialize)
    pairs = [(t, ct) for t, ct in zip(tangents, cts, strict=True) if t is not None and t.node is not None]
    pairs += [(x, ct) for x, ct in zip(primals, changes, strict=True) if ct is not None]
    if not pairs:
        return gradients
    seeds = seeds_of([x for x, _ in pairs], [ct for _, ct in pairs], create_graph)
    found = _captured(seeds, [_needs_grad(x) for x in sources], True, create_graph, fixed=duals.GIVEN)
    slopes = [found[node_of(x)] for x in sources]  # type: ignore[index]
    changed = [None if ct is None else exchange.to_user(engine.own(engine.dense(ct))) for ct in slopes]
    return tuple(duals.joined(like, g, t) for g, t in zip(gradients, changed, strict=True))


def _batched(
    outs: tuple[Any, ...], given: tuple[Any, ...], nodes: list[Node], keep: bool, create_graph: bool
) -> dict[Node, Any]:
    from funcgrad.transforms.vectorize import vmap

    def one(*gradients: Any) -> Any:
        fresh = [make_tensor(g) for g in gradients]
        with modes.set_grad_enabled(create_graph):
            found = _captured(
                seeds_of(outs, fresh, create_graph), nodes, keep=True, create_graph=create_graph
            )
        return [engine.dense(found[n]) if found[n] is not None else np.zeros(n.shape, n.dtype) for n in nodes]

    with branches_refused():
        found = vmap(one)(*[g.__operand__() for g in given])
    return dict(zip(nodes, [x.__operand__() if isinstance(x, Tensor) else x for x in found], strict=True))


def _result(i: int, x: Any, ct: Any, unused_allowed: bool, materialize: bool, create_graph: bool) -> Any:
    if ct is not None:
        return exchange.to_user(engine.own(engine.ended(ct)))
    if materialize:
        zeros = make_tensor(np.zeros(node_of(x).shape, node_of(x).dtype))  # type: ignore[union-attr]
        return zeros.requires_grad_(create_graph)
    if not unused_allowed:
        raise RuntimeError(
            f"The differentiated Tensor at index {i} appears to not have been used in the graph. Set allow_unused=True "
            "if this is the desired behavior."
        )
    return None


def warn_once(text: str) -> None:
    """A UserWarning at the caller's caller."""
    warnings.warn(text, UserWarning, stacklevel=3)
