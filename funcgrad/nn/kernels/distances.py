"""Distances of all pairs of rows, by one product of matrices.

|x - y|² = |x|² + |y|² - 2 x·y loses digits where x and y are near each other; those pairs are computed from their difference.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core.engine.declare import custom

# Squared distances that are a smaller part of |x|² + |y|² have lost too many digits.
_NEAR = {np.dtype(np.float32): 1e-2, np.dtype(np.float64): 1e-4}


def _squares(x: Any) -> Any:
    return np.einsum("...i,...i->...", x, x)


def _pairs(near: Any, x: Any, y: Any) -> Any:
    """The differences of the pairs in the mask `near` (..., P, R), a row for each, and where they are."""
    *lead, i, j = near.nonzero()
    x, y = (np.broadcast_to(a, near.shape[:-2] + a.shape[-2:]) for a in (x, y))
    return x[(*lead, i)] - y[(*lead, j)], lead, i, j


def _is_near(squares: Any, x: Any, y: Any) -> Any:
    size = _squares(x)[..., :, None] + _squares(y)[..., None, :]
    return squares <= size * size.dtype.type(_NEAR[size.dtype])


def _direct(x: Any, y: Any) -> Any:
    return x[..., :, None, :] - y[..., None, :, :]


def cdist(x: Any, y: Any) -> Any:
    """The distance of each row of x (..., P, M) from each row of y (..., R, M): (..., P, R)."""
    if x.dtype not in _NEAR or x.dtype != y.dtype or not x.size or not y.size:
        return np.sqrt(_squares(_direct(x, y)))
    middle = y.mean(axis=-2, keepdims=True)
    x, y = x - middle, y - middle
    out = x @ np.swapaxes(y, -1, -2)
    out *= -2
    size = _squares(x)[..., :, None] + _squares(y)[..., None, :]
    out += size
    near = out <= size * size.dtype.type(_NEAR[size.dtype])
    if near.any():
        out[near] = _squares(_pairs(near, x, y)[0])
    return np.sqrt(out, out)


def _cdist_pulls(ct: Any, x: Any, y: Any, out: Any, wanted: tuple[str, ...]) -> tuple[Any, ...]:
    """ct / distance, times the differences; where rows are equal, 0."""
    live = out != 0
    weight = np.where(live, ct / np.where(live, out, 1), 0).astype(out.dtype)
    plain = (
        all(type(a) is np.ndarray for a in (ct, x, y, out))
        and x.dtype in _NEAR
        and y.dtype == x.dtype
        and x.size
        and y.size
    )
    if not plain:
        parts = weight[..., None] * _direct(x, y)
        return np.sum(parts, -2) if "x" in wanted else None, -np.sum(parts, -3) if "y" in wanted else None
    middle = y.mean(axis=-2, keepdims=True)
    x, y = x - middle, y - middle
    near = _is_near(out * out, x, y) & live
    steps, lead, i, j = _pairs(near, x, y)
    steps *= weight[near][:, None]
    weight[near] = 0
    cotangents = []
    for name, a, b, w, at, sign in (
        ("x", x, y, weight, i, 1),
        ("y", y, x, np.swapaxes(weight, -1, -2), j, -1),
    ):
        if name not in wanted:
            cotangents.append(None)
            continue
        part = a * w.sum(-1)[..., None] - w @ b
        np.add.at(part, (*lead, at), sign * steps)
        cotangents.append(part)
    return tuple(cotangents)


CDIST = custom(cdist, joint=_cdist_pulls, operands="x y", batch="leading", name="cdist")
