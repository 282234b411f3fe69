"""Modules that change shapes: Flatten, Unflatten, PixelShuffle, Upsample and their relatives."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.nn import functional
from funcgrad.torch.nn.from_functions import module
from funcgrad.torch.nn.module import Module
from funcgrad.torch.tensors.tensor import Tensor


class Flatten(Module):
    """The axes from start_dim to end_dim as one; by default all but the batch.

    >>> import funcgrad.torch as torch
    >>> torch.nn.Flatten()(torch.ones(2, 3, 4)).shape
    torch.Size([2, 12])
    """

    settings = ("start_dim", "end_dim")

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)


class Unflatten(Module):
    """One axis as several, of these sizes."""

    settings = ("dim", "unflattened_size")

    def __init__(self, dim: int, unflattened_size: Any) -> None:
        super().__init__()
        if not isinstance(unflattened_size, (tuple, list)):
            raise TypeError(
                f"unflattened_size must be a tuple of ints, but found type {type(unflattened_size).__name__}"
            )
        for i, n in enumerate(unflattened_size):
            if not isinstance(n, int):
                raise TypeError(
                    f"unflattened_size must be tuple of ints, but found element of type {type(n).__name__} at pos {i}"
                )
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)


PixelShuffle = module("PixelShuffle", functional.pixel_shuffle, "input")
PixelUnshuffle = module("PixelUnshuffle", functional.pixel_unshuffle, "input")
ChannelShuffle = module("ChannelShuffle", functional.channel_shuffle, "input")


class Upsample(Module):
    """(N, C, d1, ...) with other sizes d: give size or scale_factor, and a mode of functional.interpolate."""

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        several = isinstance(scale_factor, (tuple, list))
        one = float(scale_factor) if scale_factor and not several else None
        self.scale_factor = tuple(float(s) for s in scale_factor) if several else one
        self.size, self.mode, self.align_corners = size, mode, align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        return functional.interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )

    def extra_repr(self) -> str:
        how = f"size={self.size}" if self.scale_factor is None else f"scale_factor={self.scale_factor}"
        return f"{how}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Upsample of images, with the nearest pixel."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Upsample of images, bilinear, with the corner pixels kept."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
