"""The old constructors: Tensor(2, 3), FloatTensor([1, 2]), LongTensor, ..., which are types as well."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.data import array_from, new_shape
from funcgrad.torch.tensors.size import Size
from funcgrad.torch.tensors.tensor import Tensor, make_tensor


def legacy_content(args: tuple[Any, ...], wanted: np.dtype[Any]) -> Any:
    """What `Tensor(...)` holds: zeros of a shape (numbers or a Size), or a sequence's or tensor's data."""
    if len(args) == 1:
        (given,) = args
        if isinstance(given, Tensor):
            return given.value
        if isinstance(given, (list, tuple, np.ndarray, range)) and not isinstance(given, Size):
            return array_from(given, wanted)
        if not isinstance(given, (int, np.integer, Size)):
            raise TypeError(
                f"new(): data must be a sequence (got {type(given).__name__}). Write torch.tensor({given!r})"
            )
    return np.zeros(new_shape("Tensor", args or (0,)), wanted)


def _made(cls: type[Tensor], *args: Any, **kwargs: Any) -> Tensor:
    made = object.__new__(cls)
    made.value, made.node = legacy_content(args, dtypes.default()), None
    return made


Tensor.__new__ = _made


class LegacyType(type):
    """The type of FloatTensor and the like: calling one makes a tensor, and isinstance asks for the dtype."""

    dtype: dtypes.dtype

    def __call__(cls, *args: Any) -> Tensor:
        return make_tensor(legacy_content(args, cls.dtype.numpy))

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and instance.dtype is cls.dtype

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"


_NAMES = "Half float16, Float float32, Double float64, Char int8, Byte uint8, Short int16, Int int32, Long int64, Bool bool"
TYPES: dict[str, Any] = {
    f"{kind}Tensor": LegacyType(f"{kind}Tensor", (), {"dtype": dtypes.DTYPES[np.dtype(name)]})
    for kind, name in (pair.split() for pair in _NAMES.split(", "))
}


def _new(self: Tensor, *args: Any) -> Tensor:
    """A new tensor of the same dtype, as the old constructors make it."""
    return make_tensor(legacy_content(args, self.value.dtype))


Tensor.new = _new
