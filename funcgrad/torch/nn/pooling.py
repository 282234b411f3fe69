"""Pooling as modules."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.nn import functional
from funcgrad.torch.nn.functional.sizes import repeated
from funcgrad.torch.nn.module import Module
from funcgrad.torch.tensors.tensor import Tensor


def _ranks(base: type[Module], name: str, text: str) -> list[Any]:
    """The modules for one, two and three axes."""
    made = []
    for rank in (1, 2, 3):
        axes = ("axis", "two axes", "three axes")[rank - 1]
        space = {"rank": rank, "__doc__": f"{text} of the last {axes}.", "__module__": __name__}
        made.append(type(f"{name}{rank}d", (base,), space))
    return made


class _MaxPool(Module):
    rank = 0

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.dilation, self.return_indices, self.ceil_mode = (
            padding,
            dilation,
            return_indices,
            ceil_mode,
        )

    def forward(self, input: Tensor) -> Any:
        """The largest of each window; with `return_indices` also where it was."""
        pool = getattr(functional, f"max_pool{self.rank}d")
        settings = (
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            self.ceil_mode,
            self.return_indices,
        )
        return pool(input, *settings)

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, dilation={self.dilation}, "
            f"ceil_mode={self.ceil_mode}"
        )


class _MaxUnpool(Module):
    rank = 0

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = repeated(kernel_size, self.rank)
        self.stride = self.kernel_size if stride is None else repeated(stride, self.rank)
        self.padding = repeated(padding, self.rank)

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """Zeros, with `input` at `indices`."""
        unpool = getattr(functional, f"max_unpool{self.rank}d")
        return unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class _AvgPool(Module):
    rank = 0

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        first = [kernel_size, kernel_size if stride is None else stride, padding]
        self.kernel_size, self.stride, self.padding = (
            [repeated(x, 1) for x in first] if self.rank == 1 else first
        )
        self.ceil_mode, self.count_include_pad, self.divisor_override = (
            ceil_mode,
            count_include_pad,
            divisor_override,
        )

    def forward(self, input: Tensor) -> Tensor:
        """The mean of each window."""
        pool = getattr(functional, f"avg_pool{self.rank}d")
        settings = (self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)
        return pool(input, *settings, self.divisor_override)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class _AdaptiveAvgPool(Module):
    rank = 0

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        """The mean of each window."""
        return getattr(functional, f"adaptive_avg_pool{self.rank}d")(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class _AdaptiveMaxPool(_AdaptiveAvgPool):
    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Any:
        """The largest of each window; with `return_indices` also where it was."""
        return getattr(functional, f"adaptive_max_pool{self.rank}d")(
            input, self.output_size, self.return_indices
        )


class _LPPool(Module):
    rank = 0

    def __init__(
        self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = (
            norm_type,
            kernel_size,
            stride,
            ceil_mode,
        )

    def forward(self, input: Tensor) -> Tensor:
        """The norm of each window."""
        pool = getattr(functional, f"lp_pool{self.rank}d")
        return pool(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self) -> str:
        return f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, ceil_mode={self.ceil_mode}"


MaxPool1d, MaxPool2d, MaxPool3d = _ranks(_MaxPool, "MaxPool", "The largest of each window")
MaxUnpool1d, MaxUnpool2d, MaxUnpool3d = _ranks(
    _MaxUnpool, "MaxUnpool", "The partial inverse of the pooling with indices"
)
AvgPool1d, AvgPool2d, AvgPool3d = _ranks(_AvgPool, "AvgPool", "The mean of each window")
LPPool1d, LPPool2d, LPPool3d = _ranks(_LPPool, "LPPool", "The norm of each window")
AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d = _ranks(
    _AdaptiveAvgPool, "AdaptiveAvgPool", "The means of a given number of windows"
)
AdaptiveMaxPool1d, AdaptiveMaxPool2d, AdaptiveMaxPool3d = _ranks(
    _AdaptiveMaxPool, "AdaptiveMaxPool", "The largest of each of a given number of windows"
)
