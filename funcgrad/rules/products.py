"""Products, exact where factors are zero, to any order: never `out / x` where that could lose something."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core.engine.catalogue import ANY_CAST
from funcgrad.core.engine.cotangent import select
from funcgrad.core.engine.declare import custom
from funcgrad.core.engine.trace import Tracer
from funcgrad.rules.axes import Axis, expanded, given, merged, reversed_along, unmerged
from funcgrad.rules.reductions import cumsum_pull, declare_cumulative, sum_pull
from funcgrad.rules.rows import is_lazy


def _divides(a: Any, out: Any) -> bool:
    """May products be divided by their factors? Not if one is 0, or lost digits to overflow or underflow, nor
    to be differentiated again: the quotient's own derivative cancels.
    """
    if isinstance(a, Tracer) or isinstance(out, Tracer) or out.dtype.kind not in "fc":
        return False
    if is_lazy(out):  # what can't be asked
        return False
    size = abs(out)
    return bool(((size >= np.finfo(out.dtype).tiny) & (size < np.inf)).all())


def _others(x: Any) -> Any:
    """For each element along the last axis, the product of the others: by a tree, O(n), without a division.

    Pairs are multiplied to one, the others of each pair found in the half as long array, and multiplied by
    the partner.
    """
    n = x.shape[-1]
    if n < 2:
        return np.ones_like(x)
    even, odd = x[..., 0 : n - 1 : 2], x[..., 1::2]
    pairs = even * odd
    if n % 2:
        pairs = np.concatenate([pairs, x[..., -1:]], axis=-1)
    others = _others(pairs)
    inner = others[..., : n // 2]
    even_others = np.concatenate([inner * odd, others[..., n // 2 :]], axis=-1)
    return _interleaved(even_others, inner * even)


def _prod_partial(a: Any, out: Any, axis: Axis, keepdims: bool, where: Any, initial: Any) -> Any:
    """The derivative of a product in each factor."""
    if where is not None:
        a = np.where(where, a, 1)
    a = a.astype(out.dtype) if a.dtype != out.dtype else a
    if _divides(a, out):
        return expanded(out, a.shape, axis, keepdims) / a
    others = unmerged(_others(merged(a, axis)), a.shape, axis)
    return others if initial is None else others * initial


def _prod_pull(ct, a, out, axis=None, keepdims=False, where=None, initial=None):
    ct = expanded(ct, a.shape, axis, keepdims) * _prod_partial(a, out, axis, keepdims, where, initial)
    return ct if where is None else select(where, ct)


def _prod_pull_initial(ct, a, axis=None, keepdims=False, where=None):
    return ct * _without_initial(a, axis, keepdims, where)


def _without_initial(a: Any, axis: Axis, keepdims: bool, where: Any) -> Any:
    return np.prod(a, axis=axis, keepdims=keepdims, **given(where=where))


def _prod_push(t, a, out, axis=None, keepdims=False, where=None, initial=None):
    terms = []
    if t["a"] is not None:
        term = t["a"] * _prod_partial(a, out, axis, keepdims, where, initial)
        terms.append(term.sum(axis=axis, keepdims=keepdims, **given(where=where)))
    if t.get("initial") is not None:
        terms.append(t["initial"] * _without_initial(a, axis, keepdims, where))
    return sum(terms[1:], terms[0])


_prod_pulls = {"a": _prod_pull, "initial": _prod_pull_initial}
custom(
    np.prod,
    _prod_pulls,
    push=_prod_push,
    reach=sum_pull,
    operands="a where initial",
    batch="axis",
    out=ANY_CAST,
)

# ---- running products ------------------------------------------------------------------------------------------------


def _recurrence(a: Any, b: Any) -> Any:
    """h[k] = a[k] * h[k - 1] + b[k] (h[0] = b[0]) along the last axis: O(n), by halving, no division.

    Two steps make one step with the factor a[k] * a[k - 1]; so the odd positions are a recurrence half as
    long.
    """
    n = b.shape[-1]
    if n < 2:
        return b
    a_even, a_odd = a[..., 0 : n - 1 : 2], a[..., 1::2]
    odd = _recurrence(a_odd * a_even, a_odd * b[..., 0 : n - 1 : 2] + b[..., 1::2])
    later = a[..., 2::2] * odd[..., : (n - 1) // 2] + b[..., 2::2]
    return _interleaved(np.concatenate([b[..., :1], later], axis=-1), odd)


def _interleaved(even: Any, odd: Any) -> Any:
    """even[0], odd[0], even[1], odd[1], ... along the last axis; `even` may be longer by one."""
    n = odd.shape[-1]
    pairs = np.stack([even[..., :n], odd], axis=-1).reshape((*odd.shape[:-1], 2 * n))
    return pairs if even.shape[-1] == n else np.concatenate([pairs, even[..., n:]], axis=-1)


def _cumprod_pull(ct, a, out, axis=None):
    if axis is None:
        return _cumprod_pull(ct, a.reshape(-1), out, 0).reshape(a.shape)
    a = a.astype(out.dtype) if a.dtype != out.dtype else a
    if _divides(a, out):
        return reversed_along(reversed_along(ct * out, axis).cumsum(axis=axis), axis) / a
    ct, a, out = [np.moveaxis(x, axis, -1) for x in (ct, a, out)]
    before = np.concatenate([np.ones_like(out[..., :1]), out[..., :-1]], axis=-1)
    # What follows element k grows backwards: after[k] = ct[k] + a[k + 1] * after[k + 1].
    factors = np.concatenate([np.ones_like(a[..., :1]), a[..., :0:-1]], axis=-1)
    after = _recurrence(factors, ct[..., ::-1])[..., ::-1]
    return np.moveaxis(before * after, -1, axis)


custom(np.cumprod, _cumprod_pull, reach=cumsum_pull, batch="axis", flattens=True, out=ANY_CAST)
declare_cumulative("cumulative_prod", np.cumprod, 1)
