"""Lower triangles of products, of which the upper half is not computed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from funcgrad.core.engine.trace import Tracer
from funcgrad.rules.matrices import mT
from funcgrad.scipy.declare import step

_ROWS = 64  # in a block


def _blocks(n: int) -> Iterator[tuple[int, int]]:
    return ((k, min(k + _ROWS, n)) for k in range(0, n, _ROWS))


def is_lower(x: Any) -> bool:
    """Is everything above the diagonal zero? Of tracers this isn't known."""
    return not isinstance(x, Tracer) and not any(
        x[i:j, j:].any() or np.triu(x[i:j, i:j], 1).any() for i, j in _blocks(len(x))
    )


def _products_joint(ct, a, b, c, d):
    ct = np.tril(ct)
    return ct @ b, mT(ct) @ a, ct @ d, mT(ct) @ c


def _products_push(t, a, b, c, d):
    ta, tb, tc, td = (np.zeros_like(x) if t[k] is None else t[k] for k, x in zip("abcd", (a, b, c, d)))
    return triangle_of_products(ta, b, tc, d) + triangle_of_products(a, tb, c, td)


@step("a b c d", {}, joint=_products_joint, push=_products_push)
def triangle_of_products(a, b, c, d):
    """The lower triangle of a b.T + c d.T, by blocks of rows; a, b, c, d: (n, k)."""
    n = len(a)
    out = np.zeros((n, n), np.result_type(a, b, c, d))
    for i, j in _blocks(n):
        np.matmul(a[i:j], b[:j].T, out=out[i:j, :j])
        out[i:j, :j] += c[i:j] @ d[:j].T
        out[i:j, i:j] = np.tril(out[i:j, i:j])
    return out
