"""Switches of PyTorch that a library on NumPy has to know."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.functions.registry import function
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.size import device

_STATE: dict[str, Any] = {"deterministic": False, "precision": "highest", "warn_always": False, "threads": 1}

# ---- switches ----------------------------------------------------------------------------------------------------------


@function()
def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """NumPy is deterministic anyway; the wish is remembered."""
    _STATE["deterministic"] = mode


@function()
def are_deterministic_algorithms_enabled() -> bool:
    """What use_deterministic_algorithms was last told."""
    return _STATE["deterministic"]


@function()
def set_float32_matmul_precision(precision: str) -> None:
    """NumPy multiplies in full precision; the wish is remembered."""
    if precision not in ("highest", "high", "medium"):
        raise RuntimeError(f"{precision} is not one of 'highest', 'high', 'medium'")
    _STATE["precision"] = precision


@function()
def get_float32_matmul_precision() -> str:
    """What set_float32_matmul_precision was last told."""
    return _STATE["precision"]


@function()
def set_num_threads(threads: int) -> None:
    """Threads are a matter of NumPy's linear algebra (OMP_NUM_THREADS); the wish is remembered."""
    if threads <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")
    _STATE["threads"] = int(threads)


@function()
def get_num_threads() -> int:
    """What set_num_threads was last told."""
    return _STATE["threads"]


@function()
def set_warn_always(b: bool) -> None:
    """Warnings follow Python's filters; the wish is remembered."""
    _STATE["warn_always"] = b


@function()
def is_warn_always_enabled() -> bool:
    """What set_warn_always was last told."""
    return _STATE["warn_always"]


@function()
def set_flush_denormal(mode: bool) -> bool:
    """Not supported: False."""
    return False


@function()
def set_default_device(device: Any) -> None:
    """There is one device: the CPU. Any other is a RuntimeError."""
    _device("cpu" if device is None else device)


@function()
def get_default_device() -> device:
    """The CPU."""
    return _device("cpu")


_device = device


@function()
def set_default_tensor_type(t: Any) -> None:
    """Make the dtype of a legacy tensor type, such as torch.DoubleTensor, the default."""
    dtypes.set_default_dtype(t)


@function()
def compile(model: Any = None, **options: Any) -> Any:
    """The function or module itself: there is nothing to compile to."""
    return (lambda function: function) if model is None else model
