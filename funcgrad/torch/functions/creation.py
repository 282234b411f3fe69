"""Tensors from data: tensor, as_tensor, from_numpy, zeros, arange, ... and their _like forms."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any

import numpy as np

from funcgrad.torch.functions.generated import generated, passed_on
from funcgrad.torch.functions.ops import wrapped
from funcgrad.torch.functions.registry import FUNCTIONS
from funcgrad.torch.graph.modes import mode
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.data import array_from, converted, new_shape, number
from funcgrad.torch.tensors.size import device as device_of
from funcgrad.torch.tensors.storage import Shared
from funcgrad.torch.tensors.tensor import Tensor, make_tensor


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


def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Tensor:
    """A new tensor with a copy of `data`: numbers, nested lists, NumPy arrays.

    Python floats get the default dtype (float32), ints int64; NumPy's keep theirs. Tensors in a list are
    stacked, and stay in the graph. Raises ValueError for a ragged list, RuntimeError for what is no number or
    what `dtype` does not hold.

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
    from funcgrad.torch.functions.join import stack

    if isinstance(data, Tensor):
        return data
    parts = [_stacked(item, None, False) if isinstance(item, (list, tuple)) else item for item in data]
    made = stack([p if isinstance(p, Tensor) else tensor(p) for p in parts])
    made = made if dtype is None else made.to(dtype)
    return made.requires_grad_() if requires_grad and not made.requires_grad else made


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """`data` as a tensor, without a copy where that is possible."""
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    if isinstance(data, np.ndarray) and (dtype is None or dtypes.to_numpy(dtype) == data.dtype):
        return from_numpy(data)
    return tensor(data, dtype=dtype, device=device)


def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False
) -> Tensor:
    """as_tensor, with a say in whether the data is copied (None: only if it must be)."""
    if copy is not False and (copy or not isinstance(obj, (Tensor, np.ndarray))):
        made = obj.clone() if isinstance(obj, Tensor) else tensor(obj, device=device)
        made = made if dtype is None else made.to(dtype)
    else:
        made = as_tensor(obj, dtype, device)
        shares = made is obj or type(made.value) is Shared
        if copy is False and not shares:
            raise ValueError(
                "can't alias arbitrary data: asarray(..., copy=False) needs an array or a tensor of that dtype"
            )
    return made.requires_grad_() if requires_grad else made


def from_numpy(ndarray: np.ndarray) -> Tensor:
    """A tensor that shares the memory of an array: a write to either is seen in both. Graphs keep copies.

    Raises TypeError for what is no array or not numeric, ValueError for negative strides or foreign byte
    order.
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    if not ndarray.dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. Conversion between byte orders is "
            "currently not supported: write array.astype(array.dtype.newbyteorder('='))."
        )
    dtypes.of(ndarray.dtype)
    if any(s < 0 for s in ndarray.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
            "currently supported. (You can probably work around this by making a copy of your array with array.copy().)"
        )
    return make_tensor(ndarray.view(Shared))


def frombuffer(
    buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """A tensor of one axis over the bytes of `buffer`, which it shares."""
    made = from_numpy(np.frombuffer(buffer, dtypes.to_numpy(dtype), count, offset))
    return made.requires_grad_() if requires_grad else made


# ---- shapes and one number -------------------------------------------------------------------------------------------
def _wanted(dtype: Any) -> np.dtype[Any]:
    return dtypes.default() if dtype is None else dtypes.to_numpy(dtype)


def makes(body: Callable[..., Any]) -> Callable[..., Tensor]:
    """A function that makes tensors, from one that gives their content.

    `body` knows its own arguments and dtype; the options that all of them have are seen to here. (layout, pin_memory
    and memory_format change nothing.)
    """
    parameters = list(signature(body).parameters.values())
    line = f"return delivered(body({passed_on(parameters)}), device, requires_grad, out)"
    options = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=x, annotation="bool" if x is False else "Any")
        for name, x in _OPTIONS.items()
    ]
    at = len(parameters) - (parameters[-1].kind is Parameter.VAR_KEYWORD)
    return generated(
        body.__name__,
        [*parameters[:at], *options, *parameters[at:]],
        [line],
        {"body": body, "delivered": _delivered},
        like=body,
        returns="Tensor",
    )


_OPTIONS = {
    "device": None, "requires_grad": False, "out": None, "layout": None, "pin_memory": False, "memory_format": None
}  # fmt: skip


def _delivered(content: Any, device: Any, requires_grad: bool, out: Tensor | None) -> Tensor:
    """A new tensor; or `out`, with this content."""
    made = finished(content, None, requires_grad, device)
    if out is None:
        return made
    from funcgrad.torch.tensors.inplace import write_out

    return write_out(out, made)


def shape_of(name: str, size: tuple[Any, ...], named: dict[str, Any]) -> tuple[int, ...]:
    """The shape that was given as numbers, as one sequence, or as size=."""
    if not size and set(named) != {"size"}:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
    return new_shape(name, size or (named["size"],))


@makes
def zeros(*size: Any, dtype: Any = None, **named: Any) -> Any:
    """A tensor of zeros, of a shape given as numbers or one sequence; float32 without dtype=."""
    return np.zeros(shape_of("zeros", size, named), _wanted(dtype))


@makes
def ones(*size: Any, dtype: Any = None, **named: Any) -> Any:
    """A tensor of ones, of a shape given as numbers or one sequence; float32 without dtype=."""
    return np.ones(shape_of("ones", size, named), _wanted(dtype))


@makes
def empty(*size: Any, dtype: Any = None, **named: Any) -> Any:
    """A tensor whose content does not matter (it is zeros), of a shape given as numbers or one sequence."""
    return np.zeros(shape_of("empty", size, named), _wanted(dtype))


@makes
def full(size: Any, fill_value: Any, *, dtype: Any = None) -> Any:
    """A tensor filled with one number, whose type decides the dtype."""
    content, shape = array_from(number(fill_value), dtype), new_shape("full", size, sequence=True)
    return np.full(shape, content)


@makes
def scalar_tensor(s: Any, *, dtype: Any = None) -> Any:
    """A tensor of no axes; float32 without dtype=."""
    return array_from(number(s), dtypes.default() if dtype is None else dtype)


@makes
def eye(n: int, m: int | None = None, *, dtype: Any = None) -> Any:
    """Ones on the diagonal of an (n, m) matrix (m is n if not given), zeros elsewhere."""
    for name, k in (("n", n), ("m", n if m is None else m)):
        if k < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {k}")
    return np.eye(n, m, dtype=_wanted(dtype))


# ---- ranges ----------------------------------------------------------------------------------------------------------
@makes
def arange(*bounds: Any, start: Any = 0, end: Any = None, step: Any = 1, dtype: Any = None) -> Any:
    """start, start + step, ... before end; arange(end), arange(start, end) or arange(start, end, step). int64
    if all are ints.

    Raises RuntimeError for a step of zero or away from the end.
    """
    if len(bounds) == 1 and end is None:
        end = bounds[0]
    else:
        start, end, step = (*bounds, *(start, end, step)[len(bounds) :])
    if end is None:
        raise TypeError('arange() missing 1 required positional arguments: "end"')
    start, end, step = number(start), number(end), number(step)
    whole = all(isinstance(x, int) for x in (start, end, step))
    wanted = (np.dtype(np.int64) if whole else dtypes.default()) if dtype is None else dtypes.to_numpy(dtype)
    if wanted.kind in "iu" and not whole and all(map(math.isfinite, (start, end, step))):
        start, end, step = int(start), int(end), int(step)
    return _stepped(start, end, step).astype(wanted)


def _stepped(start: Any, end: Any, step: Any) -> np.ndarray:
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (end - start) * step < 0:
        raise RuntimeError(
            f"upper bound and lower bound inconsistent with step sign: arange({start}, {end}, {step})"
        )
    return start + step * np.arange(math.ceil((end - start) / step))


@makes
def linspace(start: Any, end: Any, steps: int, *, dtype: Any = None) -> Any:
    """`steps` numbers from start to end, both included, evenly spaced."""
    return _spaced(number(start), number(end), steps, dtype)


@makes
def logspace(start: Any, end: Any, steps: int, base: float = 10.0, *, dtype: Any = None) -> Any:
    """Powers of `base`, evenly spaced in the exponent."""
    powers = np.power(float(base), _spaced(number(start), number(end), steps, np.float64))
    return powers.astype(_wanted(dtype))


def _spaced(start: Any, end: Any, steps: int, dtype: Any) -> np.ndarray:
    """The points of linspace: from both ends to the middle, in the dtype's arithmetic, as PyTorch's."""
    if steps < 0:
        raise RuntimeError(f"number of steps must be non-negative, got {steps}")
    of_python = dtypes.default_complex() if complex in (type(start), type(end)) else dtypes.default()
    wanted = of_python if dtype is None else dtypes.to_numpy(dtype)
    work: Any = wanted if wanted.kind in "fc" else np.dtype(np.float32)
    first: Any = work.type(start)
    last: Any = work.type(end)
    step: Any = (last - first) / work.type(steps - 1) if steps > 1 else work.type(0)
    if wanted.kind in "iu":
        step, first, last = float(step), int(start), int(end)
    k = np.arange(steps)
    points = np.where(k < steps // 2 + (steps == 1), first + step * k, last - step * (steps - 1 - k))
    return points.astype(wanted)


# ---- like another tensor ---------------------------------------------------------------------------------------------
def _like(make: Callable[..., Tensor]) -> Callable[..., Tensor]:
    name = f"{make.__name__}_like"

    def like(
        input: Tensor,
        *args: Any,
        dtype: Any = None,
        requires_grad: bool = False,
        device: Any = None,
        **named: Any,
    ) -> Tensor:
        if not isinstance(input, Tensor):
            raise TypeError(
                f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}"
            )
        wanted = input.dtype if dtype is None else dtype
        return make(
            tuple(input.shape), *args, dtype=wanted, requires_grad=requires_grad, device=device, **named
        )

    like.__name__ = like.__qualname__ = name
    like.__doc__ = f"{make.__name__} with the shape and dtype of `input`."
    return like


def _filled_like(size: Any, fill_value: Any, *, dtype: Any, **options: Any) -> Tensor:
    wanted = dtypes.to_numpy(dtype)
    return full(size, converted(np.array(number(fill_value)), wanted)[()], dtype=dtype, **options)


_filled_like.__name__ = "full"
zeros_like, ones_like, empty_like, full_like = _like(zeros), _like(ones), _like(empty), _like(_filled_like)


def _new(make: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def new(self: Tensor, *args: Any, dtype: Any = None, **options: Any) -> Tensor:
        return make(*args, dtype=self.dtype if dtype is None else dtype, **options)

    new.__name__ = new.__qualname__ = f"new_{make.__name__}"
    new.__doc__ = f"{make.__name__} in the dtype of this tensor."
    return new


Tensor.new_zeros, Tensor.new_ones, Tensor.new_empty = _new(zeros), _new(ones), _new(empty)
Tensor.new_full, Tensor.new_tensor = _new(_filled_like), _new(tensor)


# ---- with its end -----------------------------------------------------------------------------------------------------
@makes
def closed_range(start: Any, end: Any, step: Any = 1, *, dtype: Any = None) -> Any:
    """The numbers start, start + step, ... up to and with `end` (arange leaves the end out)."""
    return (start + step * np.arange(int((end - start) / step) + 1)).astype(_wanted(dtype))


FUNCTIONS["range"] = closed_range
