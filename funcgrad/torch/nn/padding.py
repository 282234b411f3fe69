"""Padding as modules."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.nn import functional
from funcgrad.torch.nn.module import Module
from funcgrad.torch.tensors.tensor import Tensor


class _Pad(Module):
    """Elements added around the last axes; one number for all, or (before, behind), last axis first."""

    rank = 0
    mode = "constant"

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = tuple(padding) if isinstance(padding, (tuple, list)) else (padding,) * (2 * self.rank)

    def forward(self, input: Tensor) -> Tensor:
        """The padded input."""
        return functional.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return str(self.padding)


class _ConstantPad(_Pad):
    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """The padded input."""
        return functional.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


def _modules(base: type[_Pad], name: str, mode: str, text: str) -> list[Any]:
    made = []
    for rank in (1, 2, 3):
        axes = "axis" if rank == 1 else f"{rank} axes"
        space = {
            "rank": rank,
            "mode": mode,
            "__doc__": f"{text} around the last {axes}.",
            "__module__": __name__,
        }
        made.append(type(f"{name}{rank}d", (base,), space))
    return made


ConstantPad1d, ConstantPad2d, ConstantPad3d = _modules(_ConstantPad, "ConstantPad", "constant", "A number")
ZeroPad1d, ZeroPad2d, ZeroPad3d = _modules(_Pad, "ZeroPad", "constant", "Zeros")
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = _modules(
    _Pad, "ReflectionPad", "reflect", "The reflected input"
)
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = _modules(
    _Pad, "ReplicationPad", "replicate", "The edge, repeated,"
)
CircularPad1d, CircularPad2d, CircularPad3d = _modules(
    _Pad, "CircularPad", "circular", "The other end of the input"
)
