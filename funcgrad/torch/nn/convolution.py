"""Convolutions as modules."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from funcgrad.torch.functions import creation
from funcgrad.torch.graph.modes import no_grad
from funcgrad.torch.nn import functional
from funcgrad.torch.nn.from_functions import module
from funcgrad.torch.nn.functional.sizes import repeated
from funcgrad.torch.nn.module import Module
from funcgrad.torch.nn.parameter import Parameter
from funcgrad.torch.random import sampling
from funcgrad.torch.tensors.tensor import Tensor

_MODES = {"zeros": "constant", "circular": "circular", "replicate": "replicate", "reflect": "reflect"}


class _Convolution(Module):
    """What convolutions have in common."""

    rank = 0
    transposed = False
    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check_settings(in_channels, out_channels, stride, padding, groups, padding_mode)
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.padding_mode = padding_mode
        self.kernel_size, self.stride, self.dilation = (
            repeated(x, self.rank) for x in (kernel_size, stride, dilation)
        )
        self.padding = padding if isinstance(padding, str) else repeated(padding, self.rank)
        self.output_padding: tuple[int, ...] = (0,) * self.rank
        outer, inner = (in_channels, out_channels) if self.transposed else (out_channels, in_channels)
        self.weight = Parameter(
            creation.empty(outer, inner // groups, *self.kernel_size, device=device, dtype=dtype)
        )
        if bias:
            self.bias = Parameter(creation.empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform in ±1/sqrt(the number of inputs that each output depends on)."""
        fan_in = self.weight.shape[1] * math.prod(self.kernel_size)
        bound = 1 / math.sqrt(fan_in) if fan_in else 0.0
        with no_grad():
            for p in (self.weight, self.bias):
                if p is not None:
                    sampling.uniform_(p, -bound, bound)

    def _margins(self) -> list[int]:
        """The padding as functional.pad takes it: of the last axis first."""
        total = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=True)]
        if self.padding == "valid":
            return [0, 0] * self.rank
        before = [t // 2 for t in total] if self.padding == "same" else list(self.padding)
        after = [t - t // 2 for t in total] if self.padding == "same" else before
        return [p for pair in reversed(list(zip(before, after, strict=True))) for p in pair]  # type: ignore[misc]

    def forward(self, input: Tensor) -> Tensor:
        """The correlation of (N, in_channels, *S), or of (in_channels, *S), with the weight, plus the bias."""
        conv = getattr(functional, f"conv{self.rank}d")
        padding = self.padding
        if self.padding_mode != "zeros":
            input, padding = functional.pad(input, self._margins(), mode=_MODES[self.padding_mode]), 0
        return conv(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)

    def extra_repr(self) -> str:
        shown = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        )
        if self.padding != (0,) * self.rank:
            shown += f", padding={self.padding}"
        if self.dilation != (1,) * self.rank:
            shown += f", dilation={self.dilation}"
        if any(self.output_padding):
            shown += f", output_padding={self.output_padding}"
        if self.groups != 1:
            shown += f", groups={self.groups}"
        if self.bias is None:
            shown += ", bias=False"
        return shown + ("" if self.padding_mode == "zeros" else f", padding_mode={self.padding_mode}")


def _check_settings(
    inside: int, outside: int, stride: Any, padding: Any, groups: int, padding_mode: str
) -> None:
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    if inside % groups:
        raise ValueError("in_channels must be divisible by groups")
    if outside % groups:
        raise ValueError("out_channels must be divisible by groups")
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(f"Invalid padding string '{padding}', should be one of {{'valid', 'same'}}")
        if padding == "same" and any(s != 1 for s in repeated(stride, 1)):
            raise ValueError("padding='same' is not supported for strided convolutions")
    if padding_mode not in _MODES:
        raise ValueError(f"padding_mode must be one of {set(_MODES)}, but got padding_mode='{padding_mode}'")


class Conv1d(_Convolution):
    """A convolution of (N, in_channels, L) with weight (out_channels, in_channels/groups, kL)."""

    rank = 1


class Conv2d(_Convolution):
    """A convolution of (N, in_channels, H, W) with weight (out_channels, in_channels/groups, kH, kW).

    >>> import funcgrad.torch as torch
    >>> torch.nn.Conv2d(3, 8, 3, padding=1)(torch.zeros(2, 3, 5, 5)).shape
    torch.Size([2, 8, 5, 5])
    """

    rank = 2


class Conv3d(_Convolution):
    """A convolution of (N, in_channels, D, H, W) with weight (out_channels, in_channels/groups, kD, kH, kW)."""

    rank = 3


class _Transposed(_Convolution):
    """What transposed convolutions have in common."""

    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            bias,
            device=device,
            dtype=dtype,
        )
        self.output_padding = repeated(output_padding, self.rank)

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """The transposed convolution; `output_size` chooses among the sizes that the stride leaves open."""
        more = self.output_padding if output_size is None else self._missing(input, output_size)
        conv = getattr(functional, f"conv_transpose{self.rank}d")
        return conv(
            input, self.weight, self.bias, self.stride, self.padding, more, self.groups, self.dilation
        )

    def _missing(self, input: Tensor, output_size: Sequence[int]) -> tuple[int, ...]:
        """The output_padding that leads to `output_size`."""
        wanted, shape = tuple(output_size)[-self.rank :], tuple(input.shape)[-self.rank :]
        each = zip(shape, self.stride, self.padding, self.dilation, self.kernel_size, strict=True)
        least = tuple((n - 1) * s - 2 * int(p) + d * (k - 1) + 1 for n, s, p, d, k in each)
        most = tuple(n + s - 1 for n, s in zip(least, self.stride, strict=True))
        if len(wanted) != self.rank or any(
            not m <= n <= h for n, m, h in zip(wanted, least, most, strict=True)
        ):
            raise ValueError(
                f"requested an output size of {tuple(output_size)}, but valid sizes range from {list(least)} to {list(most)} "
                f"(for an input of {shape})"
            )
        return tuple(n - m for n, m in zip(wanted, least, strict=True))


class ConvTranspose1d(_Transposed):
    """The transpose of a convolution, of (N, in_channels, L); weight (in_channels, out_channels/groups, kL)."""

    rank = 1


class ConvTranspose2d(_Transposed):
    """Transposed convolution of (N, in_channels, H, W); weight (in_channels, out/groups, kH, kW)."""

    rank = 2


class ConvTranspose3d(_Transposed):
    """Transposed convolution, of (N, in_channels, D, H, W); weight (in_channels, out/groups, kD, kH, kW)."""

    rank = 3


Unfold = module("Unfold", functional.unfold, "input")
Fold = module("Fold", functional.fold, "input")
