"""A user's data or shape as an array or tuple: PyTorch's rules for dtypes, sizes and errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from funcgrad.core.engine.trace import Tracer
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.tensor import Tensor

_ARRAYS = (np.ndarray, np.generic)
_NUMBERS = (bool, int, float, complex)


def array_from(data: Any, dtype: Any = None) -> Any:
    """A new array in `dtype`, or as PyTorch has it: NumPy's dtypes stay, Python's numbers get the default."""
    if isinstance(data, Tracer):
        return data
    wanted = None if dtype is None else dtypes.to_numpy(dtype)
    if isinstance(data, _ARRAYS):
        dtypes.of(data.dtype)
        return np.array(data, wanted)
    made = _parsed(data)
    if isinstance(data, (list, tuple)):
        inferred = _inferred(set(_types(data)))
    else:
        inferred = dtypes.default() if made.size == 0 else _of_kind(made.dtype.kind)
    if wanted is None:
        wanted = inferred
        if made.dtype == object or made.dtype == np.uint64 and wanted == np.int64:
            raise ValueError(
                "Overflow when unpacking long long: an integer is beyond int64. Give dtype=torch.float64"
            )
    return converted(made, wanted)


def _parsed(data: Any) -> np.ndarray:
    """A nested sequence of numbers as NumPy reads it."""
    if isinstance(data, str):
        raise TypeError("new(): invalid data type 'str': data must be numbers")
    try:
        made = np.array(data)
    except ValueError as error:
        raise ValueError(f"expected sequence of equal length at each dim: {error}") from None
    if made.dtype == object:
        strange = next((x for x in made.ravel() if not isinstance(x, _NUMBERS)), None)
        if strange is not None or made.size == 1 and made.item() is None:
            raise RuntimeError(f"Could not infer dtype of {type(strange).__name__}: data must be numbers")
    elif made.dtype.kind not in "buifc":
        raise ValueError(
            f"too many dimensions '{type(made.ravel()[0]).__name__.rstrip('_')}': data must be numbers"
        )
    return made


def _types(data: Any) -> Iterator[Any]:
    """The types of the leaves of nested sequences; for NumPy's leaves their dtypes."""
    for item in data:
        if isinstance(item, (list, tuple)):
            yield from _types(item)
        else:
            yield item.dtype if isinstance(item, _ARRAYS) else type(item)


def _inferred(found: set[Any]) -> np.dtype[Any]:
    wanted = None
    for each in found:
        if not isinstance(each, np.dtype):
            each = dtypes.of_python(each)
        wanted = dtypes.promoted(wanted, each)
    return dtypes.default() if wanted is None else wanted


def _of_kind(kind: str) -> np.dtype[Any]:
    """The dtype of Python's numbers of a kind."""
    return {"b": np.dtype(bool), "f": dtypes.default(), "c": dtypes.default_complex()}.get(
        kind, np.dtype(np.int64)
    )


def converted(made: np.ndarray, wanted: np.dtype[Any]) -> np.ndarray:
    """Python's numbers in a dtype; integers that don't fit are refused (but -1 is 255 as uint8)."""
    if made.dtype.kind == "c" and wanted.kind in "fui":
        raise TypeError(f"must be real number, not complex: {dtypes.of(wanted)} holds no complex numbers")
    if wanted.kind in "iu" and made.size:
        limits = np.iinfo(wanted)
        low = -limits.max if wanted.kind == "u" else limits.min
        lowest, highest = made.min(), made.max()
        if not (low <= lowest and highest <= limits.max):
            raise RuntimeError(f"value cannot be converted to type {dtypes.of(wanted).name} without overflow")
    with np.errstate(over="ignore"):
        return made.astype(wanted)


# ---- shapes ----------------------------------------------------------------------------------------------------------
def shape_of(size: tuple[Any, ...]) -> tuple[int, ...]:
    """Sizes (or axes) given as numbers or as one sequence."""
    found = size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    return tuple(int(n) for n in found)


def new_shape(who: str, size: Any, *, sequence: bool = False) -> tuple[int, ...]:
    """The shape of a new tensor, as `who` was given it: numbers or one sequence (with `sequence`, that only)."""
    given = (size,) if sequence else size
    inner = given[0] if len(given) == 1 and isinstance(given[0], (tuple, list)) else given
    if sequence and inner is given:
        raise TypeError(f"{who}(): argument 'size' must be tuple of ints, not {type(size).__name__}")
    for n in inner:
        if isinstance(n, (bool, float)) or not hasattr(n, "__index__"):
            raise TypeError(
                f"{who}(): argument 'size' (position 1) must be tuple of ints, not {type(n).__name__}"
            )
    found = tuple(n.__index__() for n in inner)
    if any(n < 0 for n in found):
        raise RuntimeError(
            f"{who}: Trying to create tensor with negative dimension {min(found)}: {list(found)}"
        )
    return found


def number(x: Any) -> Any:
    """A Python number from a number, one of NumPy's, or a tensor of one element."""
    return x.item() if isinstance(x, (Tensor, *_ARRAYS)) else x
