"""Tensors as they lie in memory: detached, refilled, resized, with strides, handed to other libraries."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core.engine.trace import Tracer
from funcgrad.torch.functions.creation import empty, from_numpy
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.functions.registry import FUNCTIONS, function
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.inplace import check_writable
from funcgrad.torch.tensors.storage import expose, link_of
from funcgrad.torch.tensors.tensor import Tensor, make_tensor


@function()
def detach(input: Tensor) -> Tensor:
    """See Tensor.detach."""
    return input.detach()


@function()
def detach_(input: Tensor) -> Tensor:
    """See Tensor.detach_."""
    return input.detach_()


_FILL = Op(
    "fill",
    lambda input, value: np.where(True, dtypes.cast(value, input.dtype), input),
    lambda input, value: f"FillBackward{int(isinstance(value, Tensor))}",
)


@function()
def fill(input: Tensor, value: Any) -> Tensor:
    """A tensor like `input` with `value` everywhere."""
    return _FILL(input, value)


FUNCTIONS["fill_"] = lambda input, value: input.fill_(value)
FUNCTIONS["zero_"] = lambda input: input.zero_()


@function("m")
def resize_(self: Tensor, *sizes: Any, memory_format: Any = None) -> Tensor:
    """Another shape for the same memory; new memory is zeros. Not for views or with requires_grad."""
    if self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    check_writable(self)
    shape = tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes
    if isinstance(self.value, Tracer):
        raise RuntimeError("cannot resize tensors inside a functional transform")
    flat = np.zeros(int(np.prod(shape)), self.value.dtype)
    old = np.asarray(self.value).reshape(-1)[: flat.size]
    flat[: old.size] = old
    version = link_of(self).version
    self.data = make_tensor(flat.reshape(shape))
    self.link.version = version
    version.count += 1
    return self


@function("fm")
def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
    """resize_ to the shape of another tensor."""
    return input.resize_(the_template.shape)


@function()
def empty_strided(size: Any, stride: Any, **options: Any) -> Tensor:
    """A tensor with these strides, its elements not set."""
    length = 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True)) if np.prod(size) else 0
    grad = options.pop("requires_grad", False)
    made = empty(length, **options).as_strided(size, stride).detach()
    return made.requires_grad_(grad)


@function()
def empty_permuted(size: Any, physical_layout: Any, **options: Any) -> Tensor:
    """A tensor whose dims lie in memory in the order `physical_layout`, its elements not set."""
    inverse = np.argsort(physical_layout)
    return empty(*[size[d] for d in physical_layout], **options).permute(*map(int, inverse))


@function("m")
def new_empty_strided(self: Tensor, size: Any, stride: Any, **options: Any) -> Tensor:
    """empty_strided, in the dtype of this tensor."""
    return empty_strided(size, stride, **{"dtype": self.dtype, **options})


# ---- exchange with other libraries -------------------------------------------------------------------------------------
@function()
def from_dlpack(ext_tensor: Any) -> Tensor:
    """A tensor that shares the memory of another library's array (on the CPU)."""
    return from_numpy(np.from_dlpack(ext_tensor))


def _exported(self: Tensor, **options: Any) -> Any:
    if self.requires_grad:
        raise RuntimeError("Can't export tensors that require gradient, use tensor.detach()")
    return expose(self).__dlpack__(**options)


FUNCTIONS["to_dlpack"] = lambda tensor: _exported(tensor)
Tensor.__dlpack__ = _exported  # type: ignore[attr-defined]
Tensor.__dlpack_device__ = lambda self: (1, 0)  # type: ignore[attr-defined]
