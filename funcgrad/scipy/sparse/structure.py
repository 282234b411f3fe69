"""Where a sparse matrix has entries, and products with it: SciPy's work, nothing is made dense.

product(data, x, s)      the matrix with these entries times x; linear in both
sampled(u, v, s)         the entries of u v.T at these places: what the cotangent of a product gives to the data
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as ss

from funcgrad.core.engine.declare import multilinear


class Pattern:
    """The places of entries, in the order of the data. Several entries in one place are added up."""

    def __init__(self, rows: Any, cols: Any, shape: tuple[int, int]) -> None:
        self.rows, self.cols = np.asarray(rows).astype(np.intp), np.asarray(cols).astype(np.intp)
        self.shape = (int(shape[0]), int(shape[1]))

    @cached_property
    def T(self) -> Pattern:
        """The places of the transposed matrix."""
        made = Pattern(self.cols, self.rows, self.shape[::-1])
        made.__dict__["T"] = self
        return made

    @cached_property
    def _by_rows(self) -> tuple[Any, Any, Any]:
        order = np.argsort(self.rows, kind="stable")
        ends = np.cumsum(np.bincount(self.rows, minlength=self.shape[0]))
        return order, self.cols[order], np.concatenate([[0], ends])

    def matrix(self, data: Any) -> Any:
        """SciPy's matrix of these entries, by rows."""
        order, cols, pointers = self._by_rows
        # the integers that SciPy's compiled functions take, in older versions these only
        kind = ss.get_index_dtype(maxval=max(*self.shape, len(cols)))
        return ss.csr_array((data[order], cols.astype(kind), pointers.astype(kind)), shape=self.shape)

    def unique(self) -> tuple[Pattern, Any]:
        """The places without repetition, by rows, and which of them each entry belongs to."""
        keys = self.rows.astype(np.int64) * self.shape[1] + self.cols
        places, member = np.unique(keys, return_inverse=True)
        return Pattern(places // self.shape[1], places % self.shape[1], self.shape), member.reshape(-1)


def _product(data: Any, x: Any, s: Pattern) -> Any:
    return s.matrix(data) @ x


def _sampled(u: Any, v: Any, s: Pattern) -> Any:
    if u.ndim == 1:
        return u[s.rows] * v[s.cols]
    return np.einsum("kc,kc->k", u[s.rows], v[s.cols])


product: Any = multilinear(
    _product,
    lambda ct, x, s: sampled(ct, x, s),
    lambda ct, data, s: product(data, ct, s.T),
    operands="data x",
    name="sparse @ x",
)
sampled: Any = multilinear(
    _sampled,
    lambda ct, v, s: product(ct, v, s),
    lambda ct, u, s: product(ct, u, s.T),
    operands="u v",
    name="sparse sampled",
)


def gathered(data: Any, member: Any, count: int) -> Any:
    """The sums of the data that belong together."""
    n = len(member)
    return product(np.ones(n, data.dtype), data, Pattern(member, np.arange(n), (count, n)))
