"""Products, exact where factors are zero, to any order: never `out / x` where that could lose something."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core.cotangent import select
from funcgrad.core.declare import custom
from funcgrad.core.trace import Tracer
from funcgrad.rules.axes import Axis, expanded, merged, unmerged


def _divides(out: Any) -> bool:
    """May products be divided by their factors? Not if one is 0, or lost digits to overflow or underflow, nor to be
    differentiated again: the quotient's own derivative cancels."""
    if isinstance(out, Tracer) or out.dtype.kind not in "fc":
        return False
    size = abs(out)
    return bool(((size >= np.finfo(out.dtype).tiny) & (size < np.inf)).all())


def _others(x: Any) -> Any:
    """For each element along the last axis, the product of the others: by a tree, O(n), without a division.

    Pairs are multiplied to one, the others of each pair found in the half as long array, and multiplied by the partner.
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
    out = np.stack([inner * odd, inner * even], axis=-1).reshape((*x.shape[:-1], n - n % 2))
    return np.concatenate([out, others[..., n // 2 :]], axis=-1) if n % 2 else out


def _prod_partial(a: Any, out: Any, axis: Axis, keepdims: bool, where: Any, initial: Any) -> Any:
    """The derivative of a product in each factor."""
    if where is not None:
        a = np.where(where, a, 1)
    if not isinstance(a, Tracer) and _divides(out):
        return expanded(out, a.shape, axis, keepdims) / a
    others = unmerged(_others(merged(a, axis)), a.shape, axis)
    return others if initial is None else others * initial


def _prod_pull(ct, a, out, axis=None, keepdims=False, where=None, initial=None):
    ct = expanded(ct, a.shape, axis, keepdims) * _prod_partial(a, out, axis, keepdims, where, initial)
    return ct if where is None else select(where, ct)


def _prod_pull_initial(ct, a, axis=None, keepdims=False, where=None):
    return ct * _without_initial(a, axis, keepdims, where)


def _without_initial(a: Any, axis: Axis, keepdims: bool, where: Any) -> Any:
    return np.prod(a, axis=axis, keepdims=keepdims, **({} if where is None else {"where": where}))


def _prod_push(t, a, out, axis=None, keepdims=False, where=None, initial=None):
    terms = []
    if t["a"] is not None:
        term = t["a"] * _prod_partial(a, out, axis, keepdims, where, initial)
        terms.append(term.sum(axis=axis, keepdims=keepdims, **({} if where is None else {"where": where})))
    if t.get("initial") is not None:
        terms.append(t["initial"] * _without_initial(a, axis, keepdims, where))
    return sum(terms[1:], terms[0])


_prod_pulls = {"a": _prod_pull, "initial": _prod_pull_initial}
custom(np.prod, _prod_pulls, push=_prod_push, operands="a where initial", batch="axis")
