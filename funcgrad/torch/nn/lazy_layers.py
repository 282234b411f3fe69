"""Convolutions and normalizations that find their number of channels at the first call."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.graph.modes import no_grad
from funcgrad.torch.nn import convolution, normalization
from funcgrad.torch.nn.lazy import LazyModule
from funcgrad.torch.nn.parameter import UninitializedParameter
from funcgrad.torch.random import get_rng_state, set_rng_state
from funcgrad.torch.tensors.tensor import Tensor


class _LazyLayer(LazyModule):
    """A lazy layer keeps the arguments of the layer that it becomes, beside the number of channels."""

    channels = "in_channels"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        state = get_rng_state()  # the first values are drawn at the first call
        least = kwargs.get("groups", 1) if self.channels == "in_channels" else 0
        super().__init__(least, *args, **kwargs)
        set_rng_state(state)
        setattr(self, self.channels, 0)
        self.__dict__["_given"] = args, kwargs
        for name, p in self._parameters.items():
            if p is not None and name in ("weight", "bias"):
                self._parameters[name] = UninitializedParameter(dtype=p.dtype)

    def _count(self, input: Tensor) -> int:
        """The channels of `input`: of (N, C, ...), or of a convolution's (C, ...)."""
        rank = getattr(self, "rank", None)
        return input.shape[0 if rank is not None and input.ndim == rank + 1 else 1]

    def initialize_parameters(self, input: Tensor) -> None:
        """Give parameters and buffers the shapes that `input` asks for, and their first values."""
        args, kwargs = self.__dict__.pop("_given")
        count = self._count(input)
        setattr(self, self.channels, count)
        if not self.has_uninitialized_params() and not any(b.numel() == 0 for b in self.buffers()):
            return
        made = self.becomes(count, *args, **kwargs)
        with no_grad():
            for name, p in self._parameters.items():
                if isinstance(p, UninitializedParameter):
                    p.materialize(made._parameters[name].shape)  # type: ignore[union-attr]
                    p.copy_(made._parameters[name])
        self._buffers.update(made._buffers)


def _lazy(kind: Any, what: str, channels: str) -> Any:
    """The lazy class that becomes `kind`."""
    name = f"Lazy{kind.__name__}"
    doc = f"""A {kind.__name__} that finds {what} at its first call, and is a {kind.__name__} from then on.

    The other arguments are those of {kind.__name__}.
    """
    fields = {"becomes": kind, "channels": channels, "__doc__": doc, "__module__": __name__}
    return type(name, (_LazyLayer, kind), fields)


_CONVOLUTIONS = [
    _lazy(getattr(convolution, f"{kind}{rank}d"), "in_channels", "in_channels")
    for kind in ("Conv", "ConvTranspose")
    for rank in (1, 2, 3)
]
_NORMALIZATIONS = [
    _lazy(getattr(normalization, f"{kind}{rank}d"), "num_features", "num_features")
    for kind in ("BatchNorm", "InstanceNorm")
    for rank in (1, 2, 3)
]
LazyConv1d, LazyConv2d, LazyConv3d = _CONVOLUTIONS[:3]
LazyConvTranspose1d, LazyConvTranspose2d, LazyConvTranspose3d = _CONVOLUTIONS[3:]
LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d = _NORMALIZATIONS[:3]
LazyInstanceNorm1d, LazyInstanceNorm2d, LazyInstanceNorm3d = _NORMALIZATIONS[3:]
