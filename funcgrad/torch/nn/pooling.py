"""Pooling as modules: for one, two and three axes."""

from __future__ import annotations

from functools import partial
from typing import Any

from funcgrad.torch.nn import functional
from funcgrad.torch.nn.from_functions import module
from funcgrad.torch.nn.functional.sizes import repeated
from funcgrad.torch.nn.module import Module
from funcgrad.torch.tensors.tensor import Tensor


def _steps(self: Any) -> None:
    """Windows that touch, where there is no stride."""
    if self.stride is None:
        self.stride = self.kernel_size


def _tuples(self: Any) -> None:
    """The same; the settings of AvgPool1d are tuples."""
    _steps(self)
    for name in ("kernel_size", "stride", "padding"):
        setattr(self, name, repeated(getattr(self, name), 1))


_WINDOWS = "kernel_size={kernel_size}, stride={stride}, padding={padding}"
_max = partial(
    module,
    operands="input",
    arguments="kernel_size stride padding dilation return_indices ceil_mode",
    shows=_WINDOWS + ", dilation={dilation}, ceil_mode={ceil_mode}",
    then=_steps,
)
_average = partial(module, operands="input", shows=_WINDOWS)
_adaptive = partial(module, operands="input", shows="output_size={output_size}")

MaxPool1d = _max("MaxPool1d", functional.max_pool1d)
MaxPool2d = _max("MaxPool2d", functional.max_pool2d)
MaxPool3d = _max("MaxPool3d", functional.max_pool3d)
AvgPool1d = _average("AvgPool1d", functional.avg_pool1d, then=_tuples)
AvgPool2d = _average("AvgPool2d", functional.avg_pool2d, then=_steps)
AvgPool3d = _average("AvgPool3d", functional.avg_pool3d, then=_steps)
AdaptiveAvgPool1d = _adaptive("AdaptiveAvgPool1d", functional.adaptive_avg_pool1d)
AdaptiveAvgPool2d = _adaptive("AdaptiveAvgPool2d", functional.adaptive_avg_pool2d)
AdaptiveAvgPool3d = _adaptive("AdaptiveAvgPool3d", functional.adaptive_avg_pool3d)
AdaptiveMaxPool1d = _adaptive("AdaptiveMaxPool1d", functional.adaptive_max_pool1d)
AdaptiveMaxPool2d = _adaptive("AdaptiveMaxPool2d", functional.adaptive_max_pool2d)
AdaptiveMaxPool3d = _adaptive("AdaptiveMaxPool3d", functional.adaptive_max_pool3d)


class _LPPool(Module):
    """The norm of each window of the last axes."""

    rank = 0
    settings = ("norm_type", "kernel_size", "stride", "ceil_mode")

    def __init__(
        self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        self.norm_type, self.kernel_size, self.stride = norm_type, kernel_size, stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        """The norm of each window."""
        pool = getattr(functional, f"lp_pool{self.rank}d")
        return pool(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool1d(_LPPool):
    """The norm of each window of the last axis."""

    rank = 1


class LPPool2d(_LPPool):
    """The norm of each window of the last two axes."""

    rank = 2


class LPPool3d(_LPPool):
    """The norm of each window of the last three axes."""

    rank = 3


class _MaxUnpool(Module):
    """The partial inverse of the pooling with indices."""

    rank = 0
    settings = ("kernel_size", "stride", "padding")

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = repeated(kernel_size, self.rank)
        self.stride = self.kernel_size if stride is None else repeated(stride, self.rank)
        self.padding = repeated(padding, self.rank)

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """Zeros, with `input` at `indices`."""
        unpool = getattr(functional, f"max_unpool{self.rank}d")
        return unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool1d(_MaxUnpool):
    """The partial inverse of max_pool1d with indices."""

    rank = 1


class MaxUnpool2d(_MaxUnpool):
    """The partial inverse of max_pool2d with indices."""

    rank = 2


class MaxUnpool3d(_MaxUnpool):
    """The partial inverse of max_pool3d with indices."""

    rank = 3
