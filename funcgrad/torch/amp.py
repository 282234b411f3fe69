"""torch.amp: mixed precision, on a machine that has one precision to offer. Programs run; they compute in the
dtypes they have.

`autocast` changes no dtype: NumPy has no fast half precision, so what PyTorch computes in bfloat16 is
computed in float32 here. `GradScaler` scales, unscales, and skips steps with infinite gradients, as PyTorch's
does.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import numpy as np

from funcgrad.torch.tensors.size import device as device_of
from funcgrad.torch.tensors.tensor import Tensor, plain

_ENABLED: ContextVar[bool] = ContextVar("autocast", default=False)


class autocast:
    """A block (or a function) in mixed precision: here in the dtypes that its operands have.

    >>> import funcgrad.torch as torch
    >>> with torch.amp.autocast("cpu"):
    ...     y = torch.ones(2) * 2
    >>> y.dtype
    torch.float32
    """

    def __init__(
        self,
        device_type: str = "cpu",
        dtype: Any = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device, self.fast_dtype, self._enabled = device_type, dtype, enabled

    def __enter__(self) -> autocast:
        self._token = _ENABLED.set(self._enabled)
        return self

    def __exit__(self, *exception: object) -> None:
        _ENABLED.reset(self._token)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with autocast(self.device, self.fast_dtype, self._enabled):
                return function(*args, **kwargs)

        return wrapped


def is_autocast_enabled(device_type: str = "cpu") -> bool:
    """Is this inside an autocast block?"""
    return _ENABLED.get()


def is_autocast_available(device_type: str) -> bool:
    """Can autocast be opened for this kind of device?"""
    return device_of(device_type).type == "cpu"


def custom_fwd(fwd: Any = None, *, device_type: str = "cpu", cast_inputs: Any = None) -> Any:
    """Mark the forward of a torch.autograd.Function: it stays as it is."""
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)
    return fwd


def custom_bwd(bwd: Any = None, *, device_type: str = "cpu") -> Any:
    """Mark the backward of a torch.autograd.Function: it stays as it is."""
    return functools.partial(custom_bwd, device_type=device_type) if bwd is None else bwd


class GradScaler:
    """Scales a loss so that small gradients do not vanish; the optimizer's gradients are unscaled before its
    step.

    A step with infinite or NaN gradients is left out, and the scale is multiplied by `backoff_factor`; after
    `growth_interval` good steps it is multiplied by `growth_factor`. For a device that is not there (the
    default "cuda") it is disabled, as in PyTorch: everything passes through.

    >>> import funcgrad.torch as torch
    >>> torch.amp.GradScaler("cpu", init_scale=8.0).scale(torch.tensor(2.0))
    tensor(16.)
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._enabled = enabled and str(device).partition(":")[0] == "cpu"
        self._scale, self._growth, self._backoff = float(init_scale), growth_factor, backoff_factor
        self._interval = growth_interval
        self._good = 0
        self._found: dict[int, bool] = {}  # by optimizer, since the last update: were any gradients infinite?

    def is_enabled(self) -> bool:
        """Does it scale?"""
        return self._enabled

    def get_scale(self) -> float:
        """The factor."""
        return self._scale if self._enabled else 1.0

    def scale(self, outputs: Any) -> Any:
        """A tensor, or several, times the factor."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            return outputs * self._scale
        return type(outputs)(map(self.scale, outputs))

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients by the factor. Raises RuntimeError where that was done already."""
        if not self._enabled:
            return
        if id(optimizer) in self._found:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        infinite = False
        for parameter in (p for group in optimizer.param_groups for p in group["params"]):
            if parameter.grad is not None:
                parameter.grad.mul_(1 / self._scale)
                infinite |= not bool(np.isfinite(np.asarray(plain(parameter.grad))).all())
        self._found[id(optimizer)] = infinite

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Unscale the gradients, if not done yet; then the optimizer's step, unless one is infinite."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        if id(optimizer) not in self._found:
            self.unscale_(optimizer)
        return None if self._found[id(optimizer)] else optimizer.step(*args, **kwargs)

    def update(self, new_scale: Any = None) -> None:
        """Change the factor, by what the last steps have shown."""
        if not self._enabled:
            return
        if new_scale is not None:
            self._scale = float(new_scale)
        elif any(self._found.values()):
            self._scale, self._good = self._scale * self._backoff, 0
        else:
            self._good += 1
            if self._good == self._interval:
                self._scale, self._good = self._scale * self._growth, 0
        self._found.clear()

    def state_dict(self) -> dict[str, Any]:
        """What `load_state_dict` takes."""
        if not self._enabled:
            return {}
        return {
            "scale": self._scale,
            "growth_factor": self._growth,
            "backoff_factor": self._backoff,
            "growth_interval": self._interval,
            "_growth_tracker": self._good,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from a state."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of "
                "GradScaler."
            )
        self._scale, self._growth = state_dict["scale"], state_dict["growth_factor"]
        self._backoff, self._interval = state_dict["backoff_factor"], state_dict["growth_interval"]
        self._good = state_dict["_growth_tracker"]


__all__ = [
    "GradScaler",
    "autocast",
    "custom_bwd",
    "custom_fwd",
    "is_autocast_available",
    "is_autocast_enabled",
]
