"""What a Function's `forward` and `backward` share, its node's plan, and what the user left undefined."""

from __future__ import annotations

from functools import cache
from typing import Any
from weakref import ref

import numpy as np

from funcgrad.core.engine.cotangent import dense, fit
from funcgrad.core.engine.reverse import PICK
from funcgrad.core.engine.sweep import Node as EngineNode
from funcgrad.core.engine.sweep import make_node
from funcgrad.torch.graph import exchange, modes
from funcgrad.torch.graph.dead_ends import dead_end, once_differentiable  # noqa: F401 (a name of this module in PyTorch too)
from funcgrad.torch.graph.locations import here, line_of
from funcgrad.torch.graph.nodes import Node
from funcgrad.torch.graph.saved import Packed
from funcgrad.torch.graph.tape import next_number
from funcgrad.torch.tensors.tensor import EAGER, Tensor, make_tensor


class FunctionCtx(EngineNode, Node):
    """What `forward` and `backward` share. It is the node itself, so nothing refers to it in a circle."""

    def __init__(self) -> None:
        self._to_save: tuple[Any, ...] = ()
        self._dirty: tuple[Any, ...] = ()
        self._not_differentiable: tuple[Any, ...] = ()
        self._is_tensor: tuple[bool, ...] = ()
        self._materialize, self._raised = True, False
        self.needs_input_grad: tuple[bool, ...] = ()
        self.saved: Any = None

    @property
    def engine_node(self) -> EngineNode:
        """The engine's node: itself."""
        return self

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep inputs and outputs for `backward` (`saved_tensors`). A second call replaces the first."""
        for t in tensors:
            if t is not None and not isinstance(t, Tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument is of type {type(t).__name__}"
                )
        self._to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for `jvp`."""
        self._to_save = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Say which inputs were changed in place; they must be returned."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say which outputs have no derivative."""
        self._not_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether absent gradients come as zeros (True, the default) or as None."""
        self._materialize = value

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What was saved, in the same order."""
        if self.saved is None:
            return self._to_save
        if self.saved is exchange.FREED:
            raise RuntimeError(exchange.SECOND_TIME)
        return tuple(None if kept is None else kept.tensor(self) for kept in self.saved)

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.{type(self).__name__} object at {id(self):#x}>"

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


class Kept:
    """One saved tensor: its content, and where it belongs: the input or output of this number."""

    __slots__ = ("content", "input", "output")

    def __init__(self, content: Any, input: int | None, output: int | None) -> None:
        self.content, self.input, self.output = content, input, output

    def tensor(self, ctx: FunctionCtx) -> Tensor:
        """It again, attached to the graph where that is possible."""
        plan, content = ctx.plan, self.content.value() if type(self.content) is Packed else self.content
        if self.output is not None:
            return make_tensor(content, _output_node(ctx, self.output, content) if ctx._raised else None)
        if self.input is not None:
            return make_tensor(
                content, ctx.parents[plan.slots.index(self.input)] if self.input in plan.slots else None
            )
        return dead_end(content, ctx, "save_for_backward") if ctx._raised else make_tensor(content)

    def traced(self, ctx: FunctionCtx) -> Any:
        """Its content, as a tracer at its place in the graph."""
        node = None
        if self.output is not None:
            node = _output_node(ctx, self.output, self.content)
        elif self.input in ctx.plan.slots:
            node = ctx.parents[ctx.plan.slots.index(self.input)]
        return self.content if node is None else EAGER.wrap(self.content, node)


def _output_node(node: EngineNode, number: int, content: Any) -> EngineNode:
    if type(node.shape) is not int:
        return node
    return make_node(next_number(), PICK, number, (node,), content.shape, content.dtype)


class FunctionPlan:
    """The plan of one call of a Function."""

    lane_save, constants, primitive, masks = "", (), None, False

    def __init__(
        self, cls: type[Defaults], ctx: FunctionCtx, slots: tuple[int, ...], count: int, outs: list[Any]
    ) -> None:
        self.cls, self.slots, self.count = cls, slots, count
        self.name = f"{cls.__name__}Backward"
        tensors = [i for i, is_tensor in enumerate(ctx._is_tensor) if is_tensor]
        self.layout, self.edges = (("inputs", len(tensors)),), tuple(map(tensors.index, slots))
        self.keeps = ("saved_tensors",) if ctx._to_save else ()
        self.outs = [(o.value.shape, o.value.dtype) if isinstance(o, Tensor) else None for o in outs]
        self.ctx, self.where = ref(ctx), here()

    def raised(self, node: Any, wrap: Any) -> Any:
        """The next pull is to be recorded."""
        node._raised = True
        return node.saved

    def pull(self, ct: Any, saved: Any) -> list[Any]:
        """Run the user's backward."""
        ctx: Any = self.ctx()
        raised = ctx._raised
        if saved is exchange.FREED:
            raise RuntimeError(exchange.SECOND_TIME)
        cts = ct if type(ct) is list else [ct]
        given = [self._given(ctx, c, out) for c, out in zip(cts, self.outs, strict=True)]
        kept = {k: v for k, v in ctx.__dict__.items() if raised and self._is_foreign(k, v)}
        with modes.set_grad_enabled(raised):
            for k, v in kept.items():
                ctx.__dict__[k] = dead_end(v.value, ctx, f"ctx.{k}")
            try:
                result = backward_of(self.cls)(ctx, *given)
                return self._checked(ctx, result, raised)
            except Exception as error:
                error.add_note(f"{self.cls.__name__} was applied at {line_of(self.where)}.")
                raise
            finally:
                ctx.__dict__.update(kept)
                ctx._raised = False

    def pull_masked(self, ct: Any, saved: Any) -> list[Any]:
        """The same: a user's backward sees plain zeros."""
        return self.pull(dense(ct), saved)

    @staticmethod
    def _is_foreign(name: str, value: Any) -> bool:
        return not name.startswith("_") and isinstance(value, Tensor) and value.value.dtype.kind in "fc"

    def _given(self, ctx: FunctionCtx, ct: Any, out: Any) -> Any:
        if ct is not None:
            return exchange.to_user(ct)
        return make_tensor(np.zeros(*out)) if out is not None and ctx._materialize else None

    def _checked(self, ctx: Any, result: Any, raised: bool) -> list[Any]:
        found = result if isinstance(result, tuple) else (result,)
        if len(found) < self.count or any(g is not None for g in found[self.count :]):
            raise RuntimeError(
                f"function {self.name} returned an incorrect number of gradients (expected {self.count}, got {len(found)})"
            )
        node = ctx
        parts = []
        for i, gradient in enumerate(found[: self.count]):
            if i in self.slots:
                parts.append(self._part(i, gradient, node.parents[self.slots.index(i)], raised))
            elif gradient is not None and not ctx._is_tensor[i]:
                raise RuntimeError(
                    f"function {self.name} returned a gradient different than None at position {i + 1}, but the "
                    "corresponding forward input was not a Variable"
                )
        return parts

    def _part(self, i: int, gradient: Any, parent: EngineNode, raised: bool) -> Any:
        if gradient is None:
            return None
        if not isinstance(gradient, Tensor):
            raise RuntimeError(f"expected Variable or None (got {type(gradient).__name__})")
        ct = exchange.from_user(gradient, raised)
        if ct.shape != parent.shape and not _sums_to(ct.shape, parent.shape):
            raise RuntimeError(
                f"Function {self.name} returned an invalid gradient at index {i} - got {list(ct.shape)} but expected "
                f"shape compatible with {list(parent.shape)}"
            )
        return fit(ct, parent)


def _sums_to(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    if len(shape) < len(wanted):
        return False
    tail = shape[len(shape) - len(wanted) :]
    return all(n == m or m == 1 for n, m in zip(tail, wanted, strict=True))


def backward_of(cls: type[Defaults]) -> Any:
    """The backward or vjp that the user wrote."""
    written = [name for name in ("backward", "vjp") if getattr(cls, name) is not getattr(Defaults, name)]
    if len(written) > 1:
        raise RuntimeError(
            f"Implementing both 'backward' and 'vjp' for a custom Function is not allowed: {cls.__name__} has both. You should "
            "only implement one of them."
        )
    if written:
        return getattr(cls, written[0])
    raise NotImplementedError(
        "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD."
    )


@cache
def ctx_type(cls: type[Defaults]) -> type[FunctionCtx]:
    """The class of the node: CubeBackward of Cube."""
    return type(f"{cls.__name__}Backward", (FunctionCtx,), {"__module__": "torch.autograd.function"})


class Defaults:
    """What a Function has that the user did not define: identity tells whose a method is."""

    generate_vmap_rule = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        return

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd "
            "function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """The value: forward(ctx, *args), or forward(*args) beside a setup_context."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """What to keep, where forward takes no ctx."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """The gradients of the inputs, given those of the outputs."""
        raise NotImplementedError("backward is not implemented.")

    @staticmethod
    def vjp(ctx: Any, *grad_outputs: Any) -> Any:
        """Another name for backward."""
        raise NotImplementedError("vjp is not implemented.")

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """The tangents of the outputs, given those of the inputs."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """The batched value and its out_dims."""
        raise NotImplementedError("vmap is not implemented.")


def run_forward(cls: type[Defaults], ctx: FunctionCtx, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The value, with the context set up."""
    if cls.setup_context is Defaults.setup_context:
        return cls.forward(ctx, *args, **kwargs)
    output = cls.forward(*args, **kwargs)
    cls.setup_context(ctx, args, output)
    outputs = output if isinstance(output, tuple) else (output,)
    for t in ctx._to_save:
        if _is_among(t, args) and _is_among(t, outputs) and not _is_among(t, ctx._dirty):
            raise RuntimeError(
                "An input that has been returned as-is as output is being saved for backward. This is not supported if "
                "you override setup_context. You should return and save a view of the input instead, e.g. with "
                "x.view_as(x) or setup ctx inside the forward function itself."
            )
    return output


def _is_among(t: Any, tensors: tuple[Any, ...]) -> bool:
    return isinstance(t, Tensor) and any(t is x for x in tensors)
