"""What rules of one's own import from autograd's: broadcasting undone, reductions repeated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.transforms.derivatives import vjp as _vjp


def unbroadcast(x: Any, target_meta: Any, broadcast_idx: int = 0) -> Any:
    """`x` summed to the shape of the operand that was broadcast; `target_meta` is as `metadata` gives it."""
    shape, ndim, _, is_complex = target_meta
    if not ndim and isinstance(x, float):
        return x
    while np.ndim(x) > ndim:
        x = np.sum(x, axis=broadcast_idx)
    repeated = tuple(i for i, n in enumerate(shape) if n == 1 and np.shape(x)[i] != 1)
    if repeated:
        x = np.sum(x, axis=repeated, keepdims=True)
    return np.real(x) if np.iscomplexobj(x) and not is_complex else x


def metadata(x: Any) -> tuple[Any, ...]:
    """Shape, number of axes, dtype, and whether it is complex."""
    if type(x) is np.ndarray or type(x) is np.float64:
        return x.shape, x.ndim, x.dtype, x.dtype.kind == "c"
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


def match_complex(target: Any, x: Any) -> Any:
    """`x` as a cotangent of `target`: its real part of a real one, complex of a complex one."""
    if np.iscomplexobj(target):
        return x if np.iscomplexobj(x) else x + 0j
    return np.real(x) if np.iscomplexobj(x) else x


def reverse_axis(x: Any, axis: int) -> Any:
    """`x`, backwards along an axis."""
    return np.flip(x, axis)


def unpermuter(g: Any, permutation: Any) -> Any:
    """`g`, whose first axis was permuted, as it was."""
    return g[np.argsort(permutation)]


def untake(x: Any, idx: Any, vs: Any) -> Any:
    """A vector of the space `vs` that has `x` added at `idx`, and zeros elsewhere."""
    return _transposed(lambda z: z[idx], vs.shape, vs.dtype, x)


def grad_chooser(ans: Any, x: Any, axis: Any = None, keepdims: Any = None) -> Callable[[Any], Any]:
    """The rule of a function that chooses an element (max, min): those that tie share the cotangent."""
    shape, dtype = np.shape(x), np.result_type(x)

    def pull(g: Any) -> Any:
        g_repeated, _ = repeat_to_match_shape(g, shape, dtype, axis, bool(keepdims))
        chosen = x == repeat_to_match_shape(ans, shape, dtype, axis, bool(keepdims))[0]
        return g_repeated * chosen / np.sum(chosen, axis=axis, keepdims=True)

    return pull


def dot_adjoint_0(B: Any, G: Any, A_meta: Any, B_meta: Any) -> Any:
    """The cotangent of A in np.dot(A, B), from that of the product."""
    return _transposed(lambda A: np.dot(A, B), A_meta[0], A_meta[2], G)


def dot_adjoint_1(A: Any, G: Any, A_meta: Any, B_meta: Any) -> Any:
    """The cotangent of B in np.dot(A, B), from that of the product."""
    return _transposed(lambda B: np.dot(A, B), B_meta[0], B_meta[2], G)


def matmul_adjoint_0(B: Any, G: Any, A_meta: Any, B_ndim: int) -> Any:
    """The cotangent of A in A @ B, from that of the product."""
    return _transposed(lambda A: np.matmul(A, B), A_meta[0], A_meta[2], G)


def matmul_adjoint_1(A: Any, G: Any, A_ndim: int, B_meta: Any) -> Any:
    """The cotangent of B in A @ B, from that of the product."""
    return _transposed(lambda B: np.matmul(A, B), B_meta[0], B_meta[2], G)


def tensordot_adjoint_0(B: Any, G: Any, axes: Any, A_ndim: int, B_ndim: int) -> Any:
    """The cotangent of A in np.tensordot(A, B, axes), from that of the product."""
    own, other = _summed_axes(axes, A_ndim)
    shape = _filled_shape(A_ndim, own, np.shape(G), np.shape(B), other)
    return _transposed(lambda A: np.tensordot(A, B, axes), shape, np.result_type(G), G)


def tensordot_adjoint_1(A: Any, G: Any, axes: Any, A_ndim: int, B_ndim: int) -> Any:
    """The cotangent of B in np.tensordot(A, B, axes), from that of the product."""
    other, own = _summed_axes(axes, A_ndim)
    shape = _filled_shape(B_ndim, own, np.shape(G)[A_ndim - len(other) :], np.shape(A), other)
    return _transposed(lambda B: np.tensordot(A, B, axes), shape, np.result_type(G), G)


def _summed_axes(axes: Any, ndim: int) -> tuple[list[int], list[int]]:
    if isinstance(axes, int):
        return [*range(ndim - axes, ndim)], [*range(axes)]
    first, second = ([a] if isinstance(a, int) else list(a) for a in axes)
    return first, second


def _filled_shape(ndim: int, own: list[int], free: Any, shape: Any, other: list[int]) -> tuple[int, ...]:
    """The shape of an operand whose axes `own` are summed with `other` of `shape`; the rest is `free`."""
    summed = {a % ndim: shape[b] for a, b in zip(own, other, strict=True)}
    rest = iter(free)
    return tuple(summed[n] if n in summed else next(rest) for n in range(ndim))


def _transposed(function: Callable[[Any], Any], shape: Any, dtype: Any, g: Any) -> Any:
    """The cotangent of the operand of a linear function, from that of its output."""
    out, pull = _vjp(function, np.zeros(shape, dtype))
    return pull(g if g.dtype == out.dtype else g.astype(out.dtype))[0]
