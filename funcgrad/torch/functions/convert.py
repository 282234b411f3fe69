"""Conversions: to, float, item, tolist, clone, contiguous, copy_; Python's questions; copying and pickling."""

from __future__ import annotations

import copy
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.engine.trace import Tracer, concrete
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.functions.registry import declare, function
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.inplace import adopt, check_overlap, check_writable
from funcgrad.torch.tensors.size import device
from funcgrad.torch.tensors.storage import link_of
from funcgrad.torch.tensors.tensor import Tensor, make_tensor

_CAST = Op("to", lambda input, wanted: dtypes.cast(input, wanted), "ToCopyBackward0")


def cast_to(t: Tensor, wanted: Any, copy: bool = False) -> Tensor:
    """`t` in a dtype (NumPy's): itself if it has it."""
    if t.value.dtype == wanted:
        return clone(t) if copy else t
    return _CAST(t, np.dtype(wanted))


def _to(
    self: Tensor,
    *args: Any,
    dtype: Any = None,
    device: Any = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """In another dtype: to(dtype), to(device), to(other)."""
    wanted: Any = dtype
    for given in args:
        if isinstance(given, Tensor):
            wanted = given.dtype
        elif isinstance(given, (str, _device)):
            _device(given)
        elif not isinstance(given, bool):
            wanted = given
    if device is not None:
        _device(device)
    return cast_to(self, self.value.dtype if wanted is None else dtypes.to_numpy(wanted), copy)


_device = device
Tensor.to = _to
_CASTS = (
    "float float32, double float64, half float16, int int32, long int64, short int16, char int8, byte uint8, bool bool, "
    "cfloat complex64, cdouble complex128"
)
for _name, _wanted in map(str.split, _CASTS.split(", ")):
    setattr(Tensor, _name, lambda self, _dtype=_wanted, **_: cast_to(self, np.dtype(_dtype)))
Tensor.type_as = lambda self, other: cast_to(self, other.value.dtype)  # type: ignore[attr-defined]
Tensor.cpu = lambda self, *_, **__: self
Tensor.contiguous = lambda self, *_, **__: self if self.is_contiguous() else _in_order(self)
Tensor.resolve_conj = Tensor.resolve_neg = lambda self: self
clone = declare("clone", lambda input, *, memory_format=None: np.copy(input))


def _in_order(self: Tensor) -> Tensor:
    made = clone(self)
    if isinstance(made.value, np.ndarray):
        made.value = np.ascontiguousarray(made.value)
    return made


def _type(self: Tensor, dtype: Any = None) -> Any:
    from funcgrad.torch.tensors.inplace import kind_name

    return (
        f"torch.{kind_name(self.value.dtype)}Tensor"
        if dtype is None
        else cast_to(self, dtypes.to_numpy(dtype))
    )


Tensor.type = _type


def _is_contiguous(self: Tensor, *_: Any, **__: Any) -> bool:
    value = concrete(self.value)
    return not isinstance(value, np.ndarray) or value.flags.c_contiguous


def _stride(self: Tensor, dim: int | None = None) -> Any:
    value = np.asarray(concrete(self.value))
    strides = tuple(s // value.itemsize for s in value.strides)
    return strides if dim is None else strides[dim]


def _data_ptr(self: Tensor) -> int:
    from funcgrad.torch.tensors.storage import link_of

    value = concrete(link_of(self).value())
    return value.__array_interface__["data"][0] if isinstance(value, np.ndarray) else id(value)


Tensor.is_contiguous, Tensor.stride, Tensor.data_ptr = _is_contiguous, _stride, _data_ptr
Tensor.element_size = lambda self: self.itemsize


# ---- in place ----------------------------------------------------------------------------------------------------------
def _filled(input: Any, value: Any) -> Any:
    """`value` everywhere. Nothing of `input` is kept, so that it may be overwritten."""
    return np.where(True, dtypes.cast(value, input.dtype), input)


def _copied(input: Any, src: Any) -> Any:
    src = dtypes.cast(src, input.dtype)
    if src.shape == input.shape:
        return np.copy(src)
    shape = np.broadcast_shapes(input.shape, src.shape)
    if shape != tuple(input.shape):
        raise RuntimeError(
            f"output with shape {list(input.shape)} doesn't match the broadcast shape {list(shape)}"
        )
    return np.broadcast_to(src, shape) + np.zeros((), input.dtype)


_FILL = Op("fill_", _filled, lambda input, value: f"FillBackward{3 if isinstance(value, Tensor) else 2}")
_ZERO = Op("zero_", lambda input: _filled(input, 0), "ZeroBackward0")
_COPY = Op("copy_", _copied, "torch::autograd::CopyBackwards")


def _method(op: Op) -> Any:
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        check_writable(self)
        if self.link is not None:
            check_overlap(self, args)
        return adopt(self, op(self, *[a for a in args if not isinstance(a, bool) or op is not _COPY]))

    method.__name__, method.__doc__ = op.name, f"{op.name.rstrip('_').title()} this tensor, in place."
    return method


Tensor.fill_, Tensor.zero_, Tensor.copy_ = _method(_FILL), _method(_ZERO), _method(_COPY)


def _set_data(self: Tensor, source: Tensor) -> Tensor:
    self.data = source
    return self


Tensor.set_ = _set_data


def _resize_view(name: str) -> Any:
    def method(self: Tensor, *args: Any) -> Tensor:
        check_writable(self)
        version, out = link_of(self).version, getattr(Tensor, name)(self, *args)
        self.data, self.node = make_tensor(out.value), out.node
        self.link.version = version
        version.count += 1
        return self

    return method


for _name in ("squeeze", "unsqueeze", "t", "transpose", "swapaxes", "swapdims"):
    setattr(Tensor, f"{_name}_", _resize_view(_name))


# ---- Python's questions ------------------------------------------------------------------------------------------------
def _item(self: Tensor, asked: str = "x.item()") -> Any:
    """The only element, as a Python number."""
    value = self.value
    if self.numel() != 1:
        raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
    if isinstance(value, Tracer):
        value = value._question(asked)
    return np.asarray(value).item()


def _truth(self: Tensor) -> bool:
    n = self.numel()
    if n != 1:
        raise RuntimeError(
            f"Boolean value of Tensor with {'more than one' if n else 'no'} value{'s' if n == 0 else ''} is ambiguous"
        )
    return bool(_item(self, "bool(x)"))


@function("fm")
def is_nonzero(input: Tensor) -> bool:
    """Is the only element other than zero?"""
    return _truth(input)


def _float(self: Tensor) -> float:
    if self.requires_grad:
        warnings.warn(
            "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
            "Consider using tensor.detach() first.",
            UserWarning,
            stacklevel=2,
        )
    return float(_item(self))


def _format(self: Tensor, spec: str) -> str:
    if self.ndim == 0 and not isinstance(self.value, Tracer):
        return _item(self).__format__(spec)
    return object.__format__(self, spec) if spec else str(self)


def _contains(self: Tensor, element: Any) -> bool:
    if not isinstance(element, (Tensor, int, float, complex, bool)):
        raise RuntimeError(
            f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
        )
    return bool((self == element).any().item())


def _index(self: Tensor) -> int:
    if self.value.dtype.kind not in "iub" or self.numel() != 1:
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return operator.index(int(_item(self)))


Tensor.item, Tensor.__bool__, Tensor.__float__, Tensor.__format__ = _item, _truth, _float, _format
Tensor.__int__ = lambda self: int(_item(self))
Tensor.__complex__ = lambda self: complex(_item(self))
Tensor.__index__, Tensor.__contains__ = _index, _contains  # type: ignore
Tensor.is_signed = lambda self: self.dtype.is_signed
Tensor.get_device = lambda self: -1
Tensor.tolist = lambda self: np.asarray(concrete(self.value)).tolist()


def _repr(self: Tensor) -> str:
    from funcgrad.torch.tensors.printing import tensor_text

    return tensor_text(self)


Tensor.__repr__ = _repr


# ---- copies ------------------------------------------------------------------------------------------------------------
def _deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  "
            "If you were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage"
        )
    if id(self) in memo:
        return memo[id(self)]
    made = _rebuilt(
        type(self),
        np.array(concrete(self.value)),
        self.requires_grad,
        copy.deepcopy(dict(self.__dict__), memo),
    )
    if self.grad_ is not None:
        made.grad_ = copy.deepcopy(self.grad_, memo)
    memo[id(self)] = made
    return made


def _rebuilt(cls: type, value: Any, requires_grad: bool, attributes: dict[str, Any]) -> Any:
    made = object.__new__(cls)
    made.value, made.node = value, None
    made.__dict__.update(attributes)
    return made.requires_grad_() if requires_grad else made


def _reduce(self: Tensor, protocol: Any = None) -> Any:
    return _rebuilt, (type(self), np.array(concrete(self.value)), self.requires_grad, dict(self.__dict__))


Tensor.__deepcopy__, Tensor.__reduce_ex__ = _deepcopy, _reduce  # type: ignore


# ---- Python functions of each element ----------------------------------------------------------------------------------
@function("m")
def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Each element replaced by `callable` of it: slow, and without derivatives."""
    return self.map_(self, lambda a, _: callable(a))


@function("m")
def map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Each element replaced by `callable` of it and of the one in `tensor`: slow, and without derivatives."""
    if self.requires_grad or tensor.requires_grad:
        raise RuntimeError(
            "Can't call map_() on Variable that requires grad. Use var.detach().map_() instead."
        )
    check_writable(self)
    x, y = np.broadcast_arrays(np.asarray(concrete(self.value)), np.asarray(concrete(tensor.value)))
    made = [callable(a.item(), b.item()) for a, b in zip(x.reshape(-1), y.reshape(-1), strict=True)]
    return self.copy_(make_tensor(np.array(made, x.dtype).reshape(x.shape)))
