"""Norms: np.linalg.norm, vector_norm, matrix_norm.

A norm has a kink at 0. The first derivative there is 0 (a subgradient), so that other rows, and uses that
don't care, survive; the second one is NaN: any number would be silently wrong for some use. (norm(x)**2 is a
function of its own, see core/engine/roots.py.) The norms of matrices that are made of singular values treat a
singular value of 0 in the same way. Ties for a maximum or minimum (ord=inf, -inf; equal singular values for
ord=2, -2) share evenly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from funcgrad.core.arrays.ufunc import as_array
from funcgrad.core.engine.declare import composite, custom
from funcgrad.core.engine.roots import declare_product, declare_square
from funcgrad.core.engine.trace import Tracer
from funcgrad.errors import NonDifferentiableError
from funcgrad.rules.axes import Axis, axes_of, expanded
from funcgrad.rules.directions import norm_of, norm_slope
from funcgrad.rules.gauges import largest
from funcgrad.rules.matrices import conj
from funcgrad.rules.reductions import sum_pull

# ---- the norm of vectors, as a primitive -----------------------------------------------------------------------------


def _slope(x: Any, out: Any, ord: Any, axis: Axis, keepdims: bool) -> Any:
    """The derivative of the norm in each element of x."""
    return norm_slope(x, expanded(out, x.shape, axes_of(axis, x.ndim), keepdims), ord, axis)


def _root_pull(ct, x, out, ord=2, axis=None, keepdims=False):
    return expanded(ct, x.shape, axis, keepdims) * _slope(x, out, ord, axis, keepdims)


def _root_push(t, x, out, ord=2, axis=None, keepdims=False):
    return (t * _slope(x, out, ord, axis, keepdims)).real.sum(axis=axis, keepdims=keepdims)


def _euclidean(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return norm_of(x, 2, axis, keepdims)


def _square_of_euclidean(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return _euclidean(x, axis, keepdims) ** 2


def _square_pull(ct, x, axis=None, keepdims=False):
    return expanded(ct, x.shape, axis, keepdims) * (2 * conj(x))


def _square_push(t, x, axis=None, keepdims=False):
    return (t * (2 * conj(x))).real.sum(axis=axis, keepdims=keepdims)


def _reach(ct, x, axis=None, keepdims=False):
    return sum_pull(ct, x, axis, keepdims)


_of_order = custom(norm_of, _root_pull, push=_root_push, reach=_reach, batch="axis", name="linalg.norm")
_of_order_two = custom(
    _euclidean,
    lambda ct, x, out, axis=None, keepdims=False: _root_pull(ct, x, out, 2, axis, keepdims),
    push=lambda t, x, out, axis=None, keepdims=False: _root_push(t, x, out, 2, axis, keepdims),
    reach=_reach,
    batch="axis",
    name="linalg.norm",
)
_squared = custom(
    _square_of_euclidean,
    _square_pull,
    push=_square_push,
    reach=_reach,
    batch="axis",
    name="linalg.norm(x) ** 2",
)
declare_square(_of_order_two, _squared)
declare_product(_squared, lambda square, axis=None, keepdims=False: square.sum(axis=axis, keepdims=keepdims))


def root(x: Any, ord: Any = 2, axis: Any = None, keepdims: bool = False) -> Any:
    """sum(|x|**ord)**(1/ord) along any number of axes."""
    if ord == 2:
        return _of_order_two(x, axis=axis, keepdims=keepdims)
    return _of_order(x, ord=ord, axis=axis, keepdims=keepdims)


# ---- NumPy's functions -----------------------------------------------------------------------------------------------


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    x = _inexact(x)
    if isinstance(ord, Tracer):
        raise NonDifferentiableError(
            "np.linalg.norm has no derivative with respect to ord, and ord depends on a tracer. "
            "Write (abs(x) ** p).sum() ** (1 / p) instead."
        )
    if axis is None and ord is None:
        return root(x, keepdims=keepdims)
    axes = normalize_axis_tuple(range(x.ndim) if axis is None else axis, x.ndim)
    if len(axes) == 1:
        return _of_vectors(x, 2 if ord is None else ord, axes[0], keepdims)
    if len(axes) == 2:
        return _of_matrices(x, "fro" if ord is None else ord, axes, keepdims)
    raise ValueError("Improper number of dimensions to norm.")


def _inexact(x: Any) -> Any:
    x = as_array(x)
    return x if x.dtype.kind in "fc" else x.astype(float)


def _of_vectors(x: Any, ord: Any, axis: Axis, keepdims: bool) -> Any:
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    if ord == 0:
        return (x != 0).astype(x.real.dtype).sum(axis=axis, keepdims=keepdims)
    if ord == 1:
        return abs(x).sum(axis=axis, keepdims=keepdims)
    if ord == np.inf:
        return _largest(abs(x), axis, keepdims)
    if ord == -np.inf:
        return abs(x).min(axis=axis, keepdims=keepdims)
    return root(x, ord=ord, axis=axis, keepdims=keepdims)


def _largest(x: Any, axis: Axis, keepdims: bool) -> Any:
    """The maximum, and 0 of nothing."""
    initial: dict[str, Any] = {} if all(x.shape[i] for i in axes_of(axis, x.ndim)) else {"initial": 0}
    return np.max(x, axis=axis, keepdims=keepdims, **initial)


def _of_matrices(x: Any, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    rows, columns = axes
    if ord in ("fro", "f"):
        return root(x, axis=axes, keepdims=keepdims)
    if ord in (2, -2, "nuc"):
        return expanded_to(_of_singular_values(np.moveaxis(x, axes, (-2, -1)), ord), x.shape, axes, keepdims)
    if ord in (1, -1):
        out = abs(x).sum(axis=rows, keepdims=True)
        out = _largest(out, columns, True) if ord == 1 else out.min(axis=columns, keepdims=True)
    elif ord in (np.inf, -np.inf):
        out = abs(x).sum(axis=columns, keepdims=True)
        out = _largest(out, rows, True) if ord == np.inf else out.min(axis=rows, keepdims=True)
    else:
        raise ValueError("Invalid norm order for matrices.")
    return out if keepdims else np.squeeze(out, axis=axes)


def expanded_to(out: Any, shape: tuple[int, ...], axes: tuple[int, ...], keepdims: bool) -> Any:
    """`out`, with the reduced axes put back if they are to be kept."""
    return expanded(out, shape, axes, False) if keepdims else out


def _of_singular_values(x: Any, ord: Any) -> Any:
    s = np.linalg.svdvals(x)
    if not s.shape[-1] and ord != -2:
        return s.sum(axis=-1)
    # A singular value within rounding of 0 has a kink there, as abs has: no derivative flows into it.
    cutoff = max(x.shape[-2:]) * np.finfo(s.dtype).eps * largest(s, -1, keepdims=True)
    s = s * (s > cutoff)
    return s.sum(axis=-1) if ord == "nuc" else s.max(axis=-1) if ord == 2 else s.min(axis=-1)


def _vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    x = _inexact(x)
    return _of_vectors(
        x, 2 if ord is None else ord, None if axis is None else normalize_axis_tuple(axis, x.ndim), keepdims
    )


def _matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    return np.linalg.norm(x, axis=(-2, -1), keepdims=keepdims, ord=ord)


composite(np.linalg.norm, _norm)
composite(np.linalg.vector_norm, _vector_norm)
composite(np.linalg.matrix_norm, _matrix_norm)
