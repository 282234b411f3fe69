"""Tensors from data: tensor, as_tensor, from_numpy, zeros, arange, ... and their _like forms."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.trace import Tracer
from funcgrad.torch import dtypes
from funcgrad.torch.modes import mode
from funcgrad.torch.ops import wrapped
from funcgrad.torch.size import device as device_of
from funcgrad.torch.storage import Shared
from funcgrad.torch.tensor import Tensor, make_tensor


def finished(value: Any, dtype: Any, requires_grad: bool, device: Any = None) -> Tensor:
    """A new leaf."""
    if device is not None:
        device_of(device)
    if dtype is not None:
        value = dtypes.cast(value, dtypes.to_numpy(dtype))
    made = make_tensor(value)
    if mode().inference:
        made = wrapped(value, mode())
    if requires_grad:
        if value.dtype.kind not in "fc":
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        made.requires_grad_()
    return made


def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    """A new tensor with a copy of `data`: numbers, nested lists, NumPy arrays.

    Python floats get the default dtype (float32), ints int64; NumPy's keep theirs. Tensors in a list are stacked, and stay in the
    graph.
    Raises ValueError for a ragged list.

    >>> import funcgrad.torch as torch
    >>> torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    tensor([[1., 2.],
            [3., 4.]])
    """
    if isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
        return finished(data.detach().clone().value, dtype, requires_grad, device)
    if holds_tensor(data):
        return _stacked(data, dtype, requires_grad)
    return finished(array_from(data, dtype), dtype, requires_grad, device)


def holds_tensor(data: Any) -> bool:
    """Is there a tensor in this nested list?"""
    return isinstance(data, Tensor) or (isinstance(data, (list, tuple)) and any(map(holds_tensor, data)))


def _stacked(data: Any, dtype: Any, requires_grad: bool) -> Any:
    from funcgrad.torch.functions_join import stack

    if isinstance(data, Tensor):
        return data
    parts = [_stacked(item, None, False) if isinstance(item, (list, tuple)) else item for item in data]
    made = stack([p if isinstance(p, Tensor) else tensor(p) for p in parts])
    made = made if dtype is None else made.to(dtype)
    return made.requires_grad_() if requires_grad and not made.requires_grad else made


def array_from(data: Any, dtype: Any = None) -> Any:
    """A new array in `dtype`, or with the dtype that PyTorch gives to such data."""
    if isinstance(data, (np.ndarray, np.generic)):
        dtypes.of(data.dtype)
        return np.array(data)
    if isinstance(data, Tracer):
        return data
    try:
        made = np.array(data)
    except ValueError as error:
        raise ValueError(f"expected sequence of equal length at each dim: {error}") from None
    if made.dtype == object or made.dtype.kind in "SUV":
        raise TypeError(f"new(): data must be numbers, not {type(data).__name__} of {made.dtype}")
    if dtype is not None:
        return made.astype(dtypes.to_numpy(dtype))
    if made.size == 0 and not isinstance(data, np.ndarray):
        return made.astype(dtypes.default())
    if isinstance(data, (list, tuple)) and _has_numpy(data):
        return made
    if made.dtype.kind == "f":
        return made.astype(dtypes.default())
    return made.astype(dtypes.default_complex()) if made.dtype.kind == "c" else made


def _has_numpy(data: Any) -> bool:
    return isinstance(data, (np.ndarray, np.generic)) or (isinstance(data, (list, tuple)) and bool(data) and _has_numpy(data[0]))


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """`data` as a tensor, without a copy where that is possible."""
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    if isinstance(data, np.ndarray) and (dtype is None or dtypes.to_numpy(dtype) == data.dtype):
        return from_numpy(data)
    return tensor(data, dtype=dtype, device=device)


def from_numpy(ndarray: np.ndarray) -> Tensor:
    """A tensor that shares the memory of an array: a write to either is seen in both. Graphs keep copies."""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    dtypes.of(ndarray.dtype)
    if any(s < 0 for s in ndarray.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
            "currently supported. (You can probably work around this by making a copy of your array with array.copy().)"
        )
    return make_tensor(ndarray.view(Shared))


def legacy_tensor(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The content of `Tensor(...)`: a shape, or data in the default dtype."""
    if not args:
        return np.zeros(0, dtypes.default())
    if len(args) == 1 and isinstance(args[0], Tensor):
        return args[0].value
    if all(isinstance(n, int) for n in args):
        return np.zeros(args, dtypes.default())
    return array_from(args[0], dtypes.default())


def shape_of(size: tuple[Any, ...]) -> tuple[int, ...]:
    """A shape given as numbers or as one sequence."""
    found = size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    return tuple(int(n) for n in found)


def _factory(name: str, make: Callable[..., Any]) -> Callable[..., Tensor]:
    def factory(
        *size: Any,
        dtype: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        layout: Any = None,
        out: Any = None,
        pin_memory: bool = False,
        **named: Any,
    ) -> Tensor:
        shape = shape_of(size or (named.pop("size"),))
        return finished(make(shape, dtypes.default() if dtype is None else dtypes.to_numpy(dtype)), None, requires_grad, device)

    factory.__name__ = name
    factory.__doc__ = f"A tensor of this shape, as np.{name} makes it."
    return factory


zeros, ones, empty = _factory("zeros", np.zeros), _factory("ones", np.ones), _factory("empty", np.zeros)


def full(
    size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, layout: Any = None
) -> Tensor:
    """A tensor filled with one number, whose type decides the dtype."""
    fill_value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    wanted = dtypes.number_dtype(fill_value) if dtype is None else dtypes.to_numpy(dtype)
    return finished(np.full(shape_of((size,)), fill_value, wanted), None, requires_grad, device)


def eye(n: int, m: int | None = None, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Ones on the diagonal."""
    return finished(
        np.eye(n, m, dtype=dtypes.default() if dtype is None else dtypes.to_numpy(dtype)), None, requires_grad, device
    )


def _number(x: Any) -> Any:
    return x.item() if isinstance(x, Tensor) else x


def arange(
    start: Any, end: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """start, start + step, ... below end: int64 if all are ints."""
    start, end, step = _number(start), _number(end), _number(step)
    if end is None:
        start, end = 0, start
    whole = all(isinstance(x, int) for x in (start, end, step))
    wanted = (np.dtype(np.int64) if whole else dtypes.default()) if dtype is None else dtypes.to_numpy(dtype)
    return finished(np.arange(start, end, step).astype(wanted), None, requires_grad, device)


def linspace(start: Any, end: Any, steps: int, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """`steps` numbers from start to end, both included."""
    wanted = dtypes.default() if dtype is None else dtypes.to_numpy(dtype)
    return finished(np.linspace(_number(start), _number(end), steps).astype(wanted), None, requires_grad, device)


def logspace(start: Any, end: Any, steps: int, base: float = 10.0, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Powers of `base`, evenly spaced in the exponent."""
    wanted = dtypes.default() if dtype is None else dtypes.to_numpy(dtype)
    return finished(np.logspace(_number(start), _number(end), steps, base=base).astype(wanted), None, requires_grad)


def _like(make: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def like(
        input: Tensor,
        *args: Any,
        dtype: Any = None,
        requires_grad: bool = False,
        device: Any = None,
        memory_format: Any = None,
        layout: Any = None,
        **named: Any,
    ) -> Tensor:
        args = (*args, *named.values())
        return make(input.shape, *args, dtype=input.dtype if dtype is None else dtype, requires_grad=requires_grad)

    like.__name__ = f"{make.__name__}_like"
    like.__doc__ = f"{make.__name__} with the shape and dtype of `input`."
    return like


zeros_like, ones_like, empty_like, full_like = _like(zeros), _like(ones), _like(empty), _like(full)


def _new(make: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def new(self: Tensor, *args: Any, dtype: Any = None, **options: Any) -> Tensor:
        return make(*args, dtype=self.dtype if dtype is None else dtype, **options)

    new.__name__ = f"new_{make.__name__}"
    new.__doc__ = f"{make.__name__} in the dtype of this tensor."
    return new


Tensor.new_zeros, Tensor.new_ones, Tensor.new_empty = _new(zeros), _new(ones), _new(empty)  # type: ignore[attr-defined]
Tensor.new_full, Tensor.new_tensor = _new(full), _new(tensor)  # type: ignore[attr-defined]
