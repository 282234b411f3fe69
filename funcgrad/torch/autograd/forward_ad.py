"""torch.autograd.forward_ad: dual numbers, on a forward trace that is open while the level is."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np

from funcgrad.core.engine.cotangent import dense
from funcgrad.core.engine.forward import ForwardTrace, ForwardTracer
from funcgrad.core.engine.trace import Tracer
from funcgrad.torch.tensors.tensor import Tensor, from_operand

_LEVEL: ContextVar[ForwardTrace | None] = ContextVar("dual_level", default=None)


class UnpackedDualTensor(NamedTuple):
    """A dual number's parts; the tangent is None if there is none."""

    primal: Tensor
    tangent: Tensor | None


class dual_level:
    """While this is open, `make_dual` makes dual numbers; after it they have no tangents."""

    def __enter__(self) -> ForwardTrace:
        if _LEVEL.get() is not None:
            raise RuntimeError("Nested forward mode AD is not supported at the moment")
        self.trace = ForwardTrace()
        _LEVEL.set(self.trace)
        return self.trace

    def __exit__(self, *exception: object) -> None:
        _LEVEL.set(None)
        self.trace.close()


def enter_dual_level() -> Any:
    """Open a level."""
    return dual_level().__enter__()


def exit_dual_level(*, level: Any = None) -> None:
    """Close the level."""
    trace = _LEVEL.get()
    if trace is None:
        raise RuntimeError("Trying to exit a forward AD level but no level is open")
    _LEVEL.set(None)
    trace.close()


def make_dual(tensor: Tensor, tangent: Tensor, *, level: Any = None) -> Tensor:
    """A tensor that carries a tangent."""
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
        raise RuntimeError(f"Expected primal and tangent of one size, but got {list(tensor.shape)} and {list(tangent.shape)}")
    return from_operand(
        trace.wrap(np.asarray(tensor.__operand__()) if tensor.node is None else tensor.__operand__(), tangent.__operand__())
    )


def is_dual(tensor: Tensor) -> bool:
    """Is it a dual number of the level that is open, or a plain tensor?"""
    value = tensor.value
    return not isinstance(value, Tracer) or isinstance(value, ForwardTracer) and value._trace is _LEVEL.get()


def unpack_dual(tensor: Tensor, *, level: Any = None) -> UnpackedDualTensor:
    """(primal, tangent)."""
    value = tensor.value
    if isinstance(value, ForwardTracer):
        trace = _LEVEL.get()
        primal = from_operand(value._value)
        return UnpackedDualTensor(
            primal, from_operand(dense(value._node)) if value._trace is trace and value._node is not None else None
        )
    return UnpackedDualTensor(tensor, None)
