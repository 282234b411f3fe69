"""Small questions about tensors, shapes and dtypes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.torch.functions.memory import UntypedStorage
from funcgrad.torch.functions.registry import function
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.size import Size
from funcgrad.torch.tensors.tensor import Tensor


def _question(name: str, answer: Callable[[Tensor], Any], where: str = "fm") -> None:
    answer.__name__, answer.__doc__ = name, f"{name}: a question about a tensor."
    function(where)(answer)


_question("is_conj", lambda input: False)
_question("is_neg", lambda input: False)
_question("is_signed", lambda input: input.dtype.is_signed)
_question("is_inference", lambda input: bool(input.__dict__.get("is_inference_tensor")))
_question("is_distributed", lambda input: False)
_question("is_pinned", lambda self: False, "m")
_question("is_shared", lambda self: False, "m")
_question("is_coalesced", lambda self: True, "m")
_question("get_device", lambda input: -1)
_question("const_data_ptr", lambda self: self.data_ptr(), "m")
_question("resolve_conj", lambda input: input)
_question("resolve_neg", lambda input: input)
_question("pin_memory", lambda self: self, "m")
_question("to_dense", lambda self: self, "m")
_question("storage_type", lambda self: type(self.untyped_storage()), "m")
for _name in ("mkldnn", "xla", "vulkan", "xpu", "ipu", "maia", "mtia", "sparse_csr"):
    setattr(Tensor, f"is_{_name}", False)
Tensor.is_cpu, Tensor.name, Tensor.volatile = True, None, False


@function("fm")
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Have both the same shape?"""
    return input.shape == other.shape


@function()
def is_storage(obj: Any) -> bool:
    """Is it what `untyped_storage` gives?"""
    return isinstance(obj, UntypedStorage)


@function()
def typename(obj: Any) -> str:
    """The name of the type of `obj`, with its module; of a tensor such as 'torch.FloatTensor'."""
    if isinstance(obj, Tensor):
        return obj.type()
    kind = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(kind, "__module__", None)
    return kind.__qualname__ if module in (None, "builtins") else f"{module}.{kind.__qualname__}"


@function("m")
def dim_order(self: Tensor) -> tuple[int, ...]:
    """The dims in the order in which they lie in memory, the slowest first."""
    strides = self.stride()
    return tuple(sorted(range(self.ndim), key=lambda d: -strides[d]))


def _lacks(name: str, reason: str, instead: str) -> None:
    def refuse(self: Tensor, *_: Any, **__: Any) -> Any:
        raise RuntimeError(f"Tensor.{name}: {reason}. {instead}")

    refuse.__name__, refuse.__doc__ = name, f"Not supported: {reason}."
    setattr(Tensor, name, refuse)


_lacks(
    "cuda",
    "funcgrad.torch computes on the CPU with NumPy, so there is no CUDA device",
    "Leave .cuda() out, or write .to('cpu')",
)
_lacks("bfloat16", "NumPy has no bfloat16", "Use .float() (or .half() for 16 bits)")


@function()
def broadcast_shapes(*shapes: Any) -> Any:
    """The shape that these shapes broadcast to."""
    return Size(np.broadcast_shapes(*[(s,) if isinstance(s, int) else tuple(s) for s in shapes]))


@function()
def result_type(tensor1: Any, tensor2: Any) -> Any:
    """The dtype in which two operands meet."""
    return dtypes.of(
        dtypes.result_dtype([x.value if isinstance(x, Tensor) else x for x in (tensor1, tensor2)])
    )


@function()
def can_cast(from_: Any, to: Any) -> bool:
    """May results of one dtype be written into another?"""
    rank = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}
    return rank[dtypes.to_numpy(from_).kind] <= rank[dtypes.to_numpy(to).kind]
