"""Dual tensors among those of a graph: gradients that are dual themselves, and writes that reach both parts.

A dual number of a tensor that requires grad is a pair whose parts lie in the graph. The gradient of a dual
output has for its tangent the gradient of the output's tangent, because derivatives in two directions
commute; it is taken with the tangents that the user gave held fixed.
"""

from __future__ import annotations

from typing import Any

from funcgrad.core.engine.cotangent import dense
from funcgrad.core.engine.forward import ForwardTrace, ForwardTracer
from funcgrad.torch.tensors.tensor import EAGER, Tensor, from_operand, make_tensor

PARTS = "dual_parts"  # where a dual tensor has the tensors whose memory it shares


class _GivenTangent:
    """The plan of a tangent that a user gave: the identity."""

    name, keeps, slots, layout, masks = "GivenTangent", (), (0,), (), True

    @staticmethod
    def pull(ct: Any, saved: Any) -> tuple[Any]:
        return (ct,)

    pull_masked = pull


GIVEN: Any = _GivenTangent()


class DualTrace(ForwardTrace):
    """The trace of a dual_level. It is left, not closed: after it, its tensors are numbers without tangents."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        super().__init__()
        self.left = False


def living(x: Any) -> Any:
    """A content without the tangents of dual levels that have been left."""
    while isinstance(x, ForwardTracer) and type(x._trace) is DualTrace and x._trace.left:
        x = x._value
    return x


def is_pair(x: Any) -> bool:
    """Is it a dual tensor, and does its primal lie in the graph?"""
    value = getattr(x, "value", None)
    return isinstance(value, ForwardTracer) and isinstance(value._value, EAGER.tracer_type)


def parts_of(x: Any) -> tuple[Any, Any]:
    """The primal and tangent of a dual tensor, each at its place in the graph; (x, None) of any other."""
    if not isinstance(x, Tensor) or not isinstance(x.value, ForwardTracer):
        return x, None
    value = x.value
    return from_operand(value._value), None if value._node is None else from_operand(dense(value._node))


def source_of(x: Any) -> Any:
    """The tensor in which a dual one is differentiated: its primal.

    Raises RuntimeError for one that was computed, because its tangent may depend on its primal.
    """
    primal, tangent = parts_of(x)
    if tangent is not None and PARTS not in x.__dict__ and tangent.node is not None:
        raise RuntimeError(
            "autograd.grad in a dual tensor that an operation made, inside a dual_level, is not supported: differentiate in "
            "the tensor that was given to make_dual, or use torch.func.jvp of torch.func.grad."
        )
    return primal


def joined(like: Any, gradient: Any, tangent: Any) -> Any:
    """A gradient with its tangent, in the level of `like`."""
    if gradient is None or tangent is None:
        return gradient
    return make_tensor(like.value._trace.wrap(gradient.__operand__(), tangent.__operand__()))
