"""torch.autograd.forward_ad: dual numbers, on a forward trace that is open while the level is.

A dual number made by `make_dual` shares the memory of the two tensors it was made of: a write to it reaches
them.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np

from funcgrad.core.engine.cotangent import dense
from funcgrad.core.engine.forward import ForwardTrace, ForwardTracer
from funcgrad.core.engine.reverse import make_node
from funcgrad.core.engine.trace import Tracer
from funcgrad.torch.graph import duals
from funcgrad.torch.graph.tape import next_number
from funcgrad.torch.tensors.tensor import Tensor, from_operand, make_tensor

_LEVEL: ContextVar[duals.DualTrace | None] = ContextVar("dual_level", default=None)


class UnpackedDualTensor(NamedTuple):
    """A dual number's parts; the tangent is None if there is none."""

    primal: Tensor
    tangent: Tensor | None


class dual_level:
    """While this is open, `make_dual` makes dual numbers; after it they have no tangents."""

    def __enter__(self) -> ForwardTrace:
        if _LEVEL.get() is not None:
            raise RuntimeError("Nested forward mode AD is not supported at the moment")
        self.trace = duals.DualTrace()
        _LEVEL.set(self.trace)
        return self.trace

    def __exit__(self, *exception: object) -> None:
        _LEVEL.set(None)
        self.trace.left = True


def enter_dual_level() -> Any:
    """Open a level."""
    return dual_level().__enter__()


def exit_dual_level(*, level: Any = None) -> None:
    """Close the level."""
    trace = _LEVEL.get()
    if trace is None:
        raise RuntimeError("Trying to exit a forward AD level but no level is open")
    _LEVEL.set(None)
    trace.left = True


def make_dual(tensor: Tensor, tangent: Tensor, *, level: Any = None) -> Tensor:
    """A tensor with a tangent. Writing to it writes to `tensor` and `tangent`, whose memory it shares."""
    trace = _LEVEL.get()
    if trace is None:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    if tensor.value.dtype.kind not in "fc" or tangent.value.dtype.kind not in "fc":
        raise ValueError(
            f"Expected primal and tangent to be floating point or complex, but got: {tensor.dtype} and {tangent.dtype}"
        )
    if tensor.shape != tangent.shape:
        raise RuntimeError(
            f"Expected primal and tangent of one size, but got {list(tensor.shape)} and {list(tangent.shape)}"
        )
    primal = np.asarray(tensor.__operand__()) if tensor.node is None else tensor.__operand__()
    made = from_operand(trace.wrap(primal, _given(tangent).__operand__()))
    made.__dict__[duals.PARTS] = (tensor, tangent)
    return made


def _given(tangent: Tensor) -> Tensor:
    """The tangent behind a node: a gradient that is itself dual is taken with the tangent held fixed."""
    node = tangent.node
    if node is None:
        return tangent
    return make_tensor(
        tangent.value, make_node(next_number(), duals.GIVEN, None, (node,), node.shape, node.dtype)
    )


def is_dual(tensor: Tensor) -> bool:
    """Is it a dual number of the level that is open, or a plain tensor?"""
    value = tensor.value
    return not isinstance(value, Tracer) or isinstance(value, ForwardTracer) and value._trace is _LEVEL.get()


def unpack_dual(tensor: Tensor, *, level: Any = None) -> UnpackedDualTensor:
    """(primal, tangent)."""
    value = duals.living(tensor.value)
    if not isinstance(value, ForwardTracer):
        return UnpackedDualTensor(tensor if value is tensor.value else from_operand(value), None)
    primal = from_operand(value._value)
    if value._trace is not _LEVEL.get() or value._node is None:
        return UnpackedDualTensor(primal, None)
    parts = tensor.__dict__.get(duals.PARTS)
    if parts is None:
        parts = tensor.__dict__[duals.PARTS] = (None, from_operand(dense(value._node)))
    return UnpackedDualTensor(primal, parts[1])
