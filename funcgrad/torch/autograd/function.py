"""torch.autograd.Function: an operation with a backward of the user's own.

The context that `forward` gets is the node itself: `grad_fn` of the results. What save_for_backward keeps
comes back, in a backward that is itself differentiated, attached to the graph: an input at the input's node,
an output at the Function's own. Other tensors kept there have no place in the graph; differentiating through
one is an error, not a zero.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from funcgrad.core.arrays.spec import Spec
from funcgrad.core.engine.reverse import PICK
from funcgrad.core.engine.sweep import make_node
from funcgrad.core.engine.trace import Tracer
from funcgrad.torch.autograd.context import Defaults, FunctionCtx, FunctionPlan, Kept, ctx_type, run_forward
from funcgrad.torch.autograd.function_transforms import apply_traced
from funcgrad.torch.graph import modes
from funcgrad.torch.graph.dead_ends import once_differentiable  # noqa: F401 (a name of this module in PyTorch too)
from funcgrad.torch.graph.saved import hooks_of, packer
from funcgrad.torch.graph.tape import next_number
from funcgrad.torch.tensors import inplace, storage
from funcgrad.torch.tensors.tensor import Tensor, make_tensor, recording


class Function(Defaults):
    """Base of operations with a backward of their own: define static methods `forward` and `backward`, call
    `apply`.

    >>> import funcgrad.torch as torch
    >>> class Cube(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x ** 3
    ...     @staticmethod
    ...     def backward(ctx, grad_output):
    ...         (x,) = ctx.saved_tensors
    ...         return grad_output * 3 * x ** 2
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> Cube.apply(x).backward()
    >>> x.grad
    tensor(12.)
    """

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward` and record the operation."""
        if kwargs or cls.setup_context is not Function.setup_context:
            args, kwargs = _with_defaults(cls, args, kwargs), {}
        if any(isinstance(x, Tensor) and isinstance(x.value, Tracer) for x in args):
            return apply_traced(cls, args)
        ctx = ctx_type(cls)()
        ctx._is_tensor = tuple(isinstance(x, Tensor) for x in args)
        nodes = [x.node if isinstance(x, Tensor) and recording() else None for x in args]
        ctx.needs_input_grad = tuple(node is not None for node in nodes)
        with modes.no_grad():
            output = run_forward(cls, ctx, args, kwargs)
        return _recorded(cls, ctx, args, nodes, output)


def _with_defaults(cls: type[Function], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """All arguments of `forward`, by position: backward gives a gradient for each of them."""
    first = () if cls.setup_context is not Function.setup_context else (None,)
    bound = inspect.signature(cls.forward).bind(*first, *args, **kwargs)
    bound.apply_defaults()
    return bound.args[len(first) :]


def _recorded(cls: type[Function], ctx: Any, args: tuple[Any, ...], nodes: list[Any], output: Any) -> Any:
    """The outputs, attached to the Function's node."""
    many = isinstance(output, tuple)
    outs = list(output) if many else [output]
    for t in ctx._dirty:
        if not any(t is o for o in outs):
            raise RuntimeError(
                "Some elements marked as dirty during the forward method were not returned as output. The inputs that "
                "are modified inplace must all be outputs of the Function."
            )
    slots = tuple(i for i, node in enumerate(nodes) if node is not None)
    if not slots:
        return output
    fresh = [_own_object(o, args, ctx) for o in outs]
    ctx.plan = FunctionPlan(cls, ctx, slots, len(args), outs)
    ctx.number, ctx.parents = next_number(), tuple(nodes[i] for i in slots)
    ctx.spec = Spec(len(outs), None) if many else _spec(outs[0])  # type: ignore[arg-type]
    ctx.saved = tuple(_kept(t, args, outs) for t in ctx._to_save)
    mode = modes.mode()
    if mode.saved_hooks and any(kept is not None for kept in ctx.saved):
        change = packer(*hooks_of(mode))
        for kept in ctx.saved:
            if kept is not None:
                kept.content = change(kept.traced(ctx))
    ctx._to_save = ()
    for k, o in enumerate(fresh):
        if (
            isinstance(o, Tensor)
            and o.value.dtype.kind in "fc"
            and not any(outs[k] is t for t in ctx._not_differentiable)
        ):
            o.node = make_node(next_number(), PICK, k, (ctx,), o.value.shape, o.value.dtype) if many else ctx
            if o.link is not None:
                _note_write(o, ctx, many)
    return tuple(fresh) if many else fresh[0]


def _note_write(out: Tensor, ctx: Any, many: bool) -> None:
    """An output that shares memory has a new history: so have its views, or its base."""
    if out.link.base is None:
        inplace.forget_nodes(out)
    elif any(out is t for t in ctx._dirty):
        if many:
            raise RuntimeError(
                "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return more "
                "than one Tensor: return the view alone, or clone it before the Function gets it."
            )
        inplace.rewrite_base(out, ctx)


def _spec(out: Any) -> Spec:
    return Spec(out.value.shape, out.value.dtype) if isinstance(out, Tensor) else Spec((), np.dtype(float))


def _own_object(out: Any, args: tuple[Any, ...], ctx: FunctionCtx) -> Any:
    """An input that is returned unchanged becomes a new tensor that shares its memory."""
    if not isinstance(out, Tensor) or any(out is t for t in ctx._dirty):
        return out
    return storage.share(out, make_tensor(out.value)) if any(out is x for x in args) else out


def _kept(t: Any, args: tuple[Any, ...], outs: list[Any]) -> Kept | None:
    if t is None:
        return None
    found_in = next((i for i, x in enumerate(args) if x is t), None)
    found_out = next((k for k, o in enumerate(outs) if o is t), None)
    return Kept(t.value, found_in if found_out is None else None, found_out)


class InplaceFunction(Function):
    """An older base class: the same."""
