"""What rules of one's own import from autograd's: broadcasting undone, reductions repeated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def unbroadcast(x: Any, target_meta: Any, broadcast_idx: int = 0) -> Any:
    """`x` summed to the shape of the operand that was broadcast; `target_meta` is as `metadata` gives it."""
    shape, ndim, _, is_complex = target_meta
    while np.ndim(x) > ndim:
        x = np.sum(x, axis=broadcast_idx)
    repeated = tuple(i for i, n in enumerate(shape) if n == 1 and np.shape(x)[i] != 1)
    if repeated:
        x = np.sum(x, axis=repeated, keepdims=True)
    return np.real(x) if np.iscomplexobj(x) and not is_complex else x


def metadata(x: Any) -> tuple[Any, ...]:
    """Shape, number of axes, dtype, and whether it is complex."""
    return np.shape(x), np.ndim(x), np.result_type(x), np.iscomplexobj(x)


def unbroadcast_f(target: Any, f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`f`, whose result is summed to the shape of `target`."""
    meta = metadata(target)
    return lambda g: unbroadcast(f(g), meta)


def repeat_to_match_shape(g: Any, shape: Any, dtype: Any, axis: Any, keepdims: bool) -> tuple[Any, Any]:
    """A reduction's cotangent, repeated along the reduced axes, and how many elements went into one."""
    if shape == ():
        return g, 1
    axes = list(range(len(shape))) if axis is None else [axis] if isinstance(axis, int) else list(axis)
    kept = np.array(shape)
    kept[axes] = 1
    count = int(np.prod(np.array(shape)[axes]))
    return np.reshape(g, kept) + np.zeros(shape, dtype=dtype), count


def replace_zero(x: Any, val: Any) -> Any:
    """`x` with `val` in the place of zeros."""
    return np.where(x, x, val)


def balanced_eq(x: Any, z: Any, y: Any) -> Any:
    """The share of x where z = max(x, y): a half, where they tie."""
    return (x == z) / (1.0 + (x == y))
