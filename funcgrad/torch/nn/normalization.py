"""Normalization as modules."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar

from funcgrad.torch.functions import creation
from funcgrad.torch.nn import functional, init
from funcgrad.torch.nn.from_functions import module
from funcgrad.torch.nn.module import Module
from funcgrad.torch.nn.parameter import Parameter
from funcgrad.torch.tensors.tensor import Tensor


class _Affine(Module):
    """A module with a weight and a bias (or without them), that begin as ones and zeros."""

    weight: Parameter | None
    bias: Parameter | None

    def _register(self, shape: tuple[int, ...], weight: bool, bias: bool, device: Any, dtype: Any) -> None:
        for name, wanted in (("weight", weight), ("bias", bias)):
            made = Parameter(creation.empty(shape, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, made)

    def reset_parameters(self) -> None:
        """Ones for the weight, zeros for the bias."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)


# ---- with running statistics -----------------------------------------------------------------------------------------
class _WithStatistics(_Affine):
    """Normalization that keeps running statistics (running_mean, running_var, num_batches_tracked)."""

    _version = 2
    ranks: ClassVar[tuple[int, ...]] = ()
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self._register((num_features,), affine, affine and bias, device, dtype)
        tracked = track_running_stats
        self.register_buffer(
            "running_mean", creation.zeros(num_features, dtype=dtype, device=device) if tracked else None
        )
        self.register_buffer(
            "running_var", creation.ones(num_features, dtype=dtype, device=device) if tracked else None
        )
        self.register_buffer("num_batches_tracked", creation.tensor(0) if tracked else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Mean 0, variance 1, no batch seen."""
        for statistic, first in (
            (self.running_mean, 0),
            (self.running_var, 1),
            (self.num_batches_tracked, 0),
        ):
            if statistic is not None:
                statistic.fill_(first)

    def reset_parameters(self) -> None:
        """The first values of statistics, weight and bias."""
        self.reset_running_stats()
        super().reset_parameters()

    def _check_rank(self, input: Tensor) -> None:
        if input.dim() not in self.ranks:
            wanted = " or ".join(f"{rank}D" for rank in self.ranks)
            raise ValueError(f"expected {wanted} input (got {input.dim()}D input)")

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: Any, *rest: Any) -> None:
        if (local_metadata.get("version") or 1) < 2 and self.num_batches_tracked is not None:
            state_dict.setdefault(prefix + "num_batches_tracked", self.num_batches_tracked)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class _BatchNorm(_WithStatistics):
    def _momentum(self) -> float:
        """By how much the running statistics move: without a momentum they are the mean of all batches."""
        if not (self.training and self.num_batches_tracked is not None):
            return self.momentum or 0.0
        self.num_batches_tracked.add_(1)
        return 1.0 / self.num_batches_tracked.item() if self.momentum is None else self.momentum

    def forward(self, input: Tensor) -> Tensor:
        self._check_rank(input)
        by_batch = self.training or (self.running_mean is None and self.running_var is None)
        momentum = self._momentum()
        uses = not self.training or self.track_running_stats
        return functional.batch_norm(
            input,
            self.running_mean if uses else None,
            self.running_var if uses else None,
            self.weight,
            self.bias,
            by_batch,
            momentum,
            self.eps,
        )


class BatchNorm1d(_BatchNorm):
    """Each channel of (N, C) or (N, C, L) with mean 0 and variance 1 over the batch, then scaled and shifted.

    >>> import funcgrad.torch as torch
    >>> layer = torch.nn.BatchNorm1d(1)
    >>> _ = layer(torch.tensor([[1.0], [3.0]]))
    >>> layer.running_mean, layer.running_var
    (tensor([0.2000]), tensor([1.1000]))
    """

    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Each channel of (N, C, H, W) with mean 0 and variance 1 over the batch, then scaled and shifted."""

    ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """Each channel of (N, C, D, H, W) with mean 0 and variance 1 over the batch, then scaled and shifted."""

    ranks = (5,)


class _InstanceNorm(_WithStatistics):
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def forward(self, input: Tensor) -> Tensor:
        self._check_rank(input)
        batched = self.ranks[1]
        axis = 1 - (input.dim() < batched)
        if input.size(axis) != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={axis} to match num_features ({self.num_features}), but got: "
                    f"{input.size(axis)}."
                )
            warnings.warn(
                f"input's size at dim={axis} does not match num_features. You can silence this warning by not passing in "
                "num_features, which is not used because affine=False",
                stacklevel=2,
            )
        return (
            self._normalized(input)
            if input.dim() == batched
            else self._normalized(input.unsqueeze(0)).squeeze(0)
        )

    def _normalized(self, input: Tensor) -> Tensor:
        return functional.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            self.momentum or 0.0,
            self.eps,
        )


class InstanceNorm1d(_InstanceNorm):
    """Each channel of each example, (N, C, L) or (C, L), with mean 0 and variance 1."""

    ranks = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Each channel of each example, (N, C, H, W) or (C, H, W), with mean 0 and variance 1."""

    ranks = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Each channel of each example, (N, C, D, H, W) or (C, D, H, W), with mean 0 and variance 1."""

    ranks = (4, 5)


# ---- without ---------------------------------------------------------------------------------------------------------
def _shape(normalized_shape: int | Sequence[int]) -> tuple[int, ...]:
    return (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)


class LayerNorm(_Affine):
    """The last axes, of sizes normalized_shape, with mean 0 and variance 1, then scaled and shifted."""

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape, self.eps = _shape(normalized_shape), eps
        self.elementwise_affine = elementwise_affine
        self._register(self.normalized_shape, elementwise_affine, elementwise_affine and bias, device, dtype)
        self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        settings = f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        return f"{self.normalized_shape}, eps={self.eps}, {settings}"


class RMSNorm(_Affine):
    """The last axes, of sizes normalized_shape, divided by the root of their mean square, then scaled."""

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape, self.eps = _shape(normalized_shape), eps
        self.elementwise_affine = elementwise_affine
        made = (
            Parameter(creation.empty(self.normalized_shape, device=device, dtype=dtype))
            if elementwise_affine
            else None
        )
        self.register_parameter("weight", made)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Ones."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        return functional.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(_Affine):
    """Groups of channels of each example (N, C, ...) with mean 0 and variance 1, then scaled and shifted."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self._register((num_channels,), affine, affine and bias, device, dtype)
        self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, bias={self.bias is not None}"


LocalResponseNorm = module(
    "LocalResponseNorm",
    functional.local_response_norm,
    "input",
    shows="{size}, alpha={alpha}, beta={beta}, k={k}",
)
