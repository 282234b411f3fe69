"""Switches of PyTorch that a library on NumPy has to know, and small questions about tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.engine.trace import Tracer
from funcgrad.torch.functions.creation import empty
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.functions.registry import FUNCTIONS, function
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.inplace import check_writable
from funcgrad.torch.tensors.size import device
from funcgrad.torch.tensors.storage import expose, link_of
from funcgrad.torch.tensors.tensor import Tensor, make_tensor

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


# ---- questions ---------------------------------------------------------------------------------------------------------
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
Tensor.is_cpu, Tensor.name, Tensor.volatile = True, None, False  # type: ignore[attr-defined]


@function("fm")
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Have both the same shape?"""
    return input.shape == other.shape


@function()
def is_storage(obj: Any) -> bool:
    """Is it what `untyped_storage` gives?"""
    from funcgrad.torch.tensors.memory import UntypedStorage

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
    "cuda", "funcgrad.torch computes on the CPU with NumPy, so there is no CUDA device", "Leave .cuda() out, or write .to('cpu')"
)
_lacks("bfloat16", "NumPy has no bfloat16", "Use .float() (or .half() for 16 bits)")


# ---- tensors as they are -----------------------------------------------------------------------------------------------
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
    """Another shape for the same memory; memory that is new holds zeros. Not for tensors that require grad, nor for views."""
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
    from funcgrad.torch.functions.creation import from_numpy

    return from_numpy(np.from_dlpack(ext_tensor))


def _exported(self: Tensor, **options: Any) -> Any:
    if self.requires_grad:
        raise RuntimeError("Can't export tensors that require gradient, use tensor.detach()")
    return expose(self).__dlpack__(**options)


FUNCTIONS["to_dlpack"] = lambda tensor: _exported(tensor)
Tensor.__dlpack__ = _exported  # type: ignore[attr-defined]
Tensor.__dlpack_device__ = lambda self: (1, 0)  # type: ignore[attr-defined]
