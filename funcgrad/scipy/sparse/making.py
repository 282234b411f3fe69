"""Makers of sparse matrices: diagonals, blocks, Kronecker products. Plain ones may meet tracers later."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import scipy.sparse as ss

from funcgrad.core.engine.primitive import as_operand
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.mirror import carries_tracer
from funcgrad.scipy.sparse.containers import ours
from funcgrad.scipy.sparse.structure import Pattern, gathered
from funcgrad.scipy.sparse.traced import TracedSparse, is_sparse, traced

sparse = Chapter("sparse")


def _made(names: str, body: Any = None) -> None:
    """SciPy's own function, whose result may meet tracers; `body` for arguments that are tracers."""
    for name in names.split():
        theirs = getattr(ss, name, None)
        if theirs is not None:
            sparse.replaces(name, entering(theirs, body, f"scipy.sparse.{name}"))


def entering(theirs: Any, body: Any, name: str) -> Any:
    """A function of SciPy's that may be called on sparse matrices of tracers."""

    @functools.wraps(theirs)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not carries_tracer((args, kwargs)):
            return ours(theirs(*args, **kwargs))
        if body is None:
            raise NotImplementedError(f"{name} of tracers has no derivative rule: make it of plain entries")
        return body(*args, **kwargs)

    return call


_made("eye eye_array identity random random_array rand load_npz spdiags")


def _diagonals(
    diagonals: Any, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = None
) -> Any:
    offsets = np.atleast_1d(np.asarray(offsets))
    first = as_operand(diagonals[0]) if isinstance(diagonals, (list, tuple)) else as_operand(diagonals)
    parts = (
        [as_operand(d) for d in diagonals]
        if isinstance(diagonals, (list, tuple)) and first.ndim
        else [as_operand(diagonals)]
    )
    if len(offsets) == 1 and not parts[0].ndim:
        parts = [as_operand(diagonals)]
    if shape is None:
        m = parts[0].shape[0] + abs(int(offsets[0]))
        shape = (m, m)
    rows, cols, data = [], [], []
    for d, k in zip(parts, offsets):
        length = min(shape[0] + min(k, 0), shape[1] - max(k, 0))
        d = np.broadcast_to(d, (length,)) if d.shape != (length,) and d.size == 1 else d
        rows.append(np.arange(length) - min(k, 0))
        cols.append(np.arange(length) + max(k, 0))
        data.append(d)
    made = TracedSparse(
        np.concatenate(data), Pattern(np.concatenate(rows), np.concatenate(cols), shape), "dia", True
    )
    return made if format is None else made.asformat(format)


_made("diags_array", _diagonals)
_made("diags", _diagonals)


def _kron(A: Any, B: Any, format: Any = None) -> Any:
    a, b = _any(A), _any(B)
    data = (a.data[:, None] * b.data).reshape(-1)
    rows = (a.structure.rows[:, None] * b.shape[0] + b.structure.rows).reshape(-1)
    cols = (a.structure.cols[:, None] * b.shape[1] + b.structure.cols).reshape(-1)
    made = a._like(data, Pattern(rows, cols, (a.shape[0] * b.shape[0], a.shape[1] * b.shape[1])), "coo")
    return made if format is None else made.asformat(format)


def _any(x: Any) -> TracedSparse:
    return traced(x) if is_sparse(x) else traced(as_operand(x))


def _kronsum(A: Any, B: Any, format: Any = None) -> Any:
    a, b = _any(A), _any(B)
    left = _kron(ss.eye_array(b.shape[0], dtype=a.dtype), a)
    made = left + _kron(b, ss.eye_array(a.shape[0], dtype=b.dtype))
    return made if format is None else made.asformat(format)


_made("kron", _kron)
_made("kronsum", _kronsum)


def _blocks(blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    grid = [[None if b is None else _any(b) for b in row] for row in blocks]
    heights = [next(b.shape[0] for b in row if b is not None) for row in grid]
    widths = [next(row[j].shape[1] for row in grid if row[j] is not None) for j in range(len(grid[0]))]
    tops, lefts = np.concatenate([[0], np.cumsum(heights)]), np.concatenate([[0], np.cumsum(widths)])
    found = [(b, tops[i], lefts[j]) for i, row in enumerate(grid) for j, b in enumerate(row) if b is not None]
    rows = np.concatenate([b.structure.rows + top for b, top, _ in found])
    cols = np.concatenate([b.structure.cols + left for b, _, left in found])
    kind = np.result_type(*[b.dtype for b, _, _ in found])
    data = np.concatenate([b.data.astype(kind) for b, _, _ in found])
    made = TracedSparse(data, Pattern(rows, cols, (int(tops[-1]), int(lefts[-1]))), "coo", True)
    return made if format is None else made.asformat(format)


_made("block_array", _blocks)
_made("bmat", _blocks)
_made("hstack", lambda blocks, format=None, dtype=None: _blocks([list(blocks)], format, dtype))
_made("vstack", lambda blocks, format=None, dtype=None: _blocks([[b] for b in blocks], format, dtype))


def _block_diag(mats: Any, format: Any = None, dtype: Any = None) -> Any:
    n = len(mats)
    return _blocks([[mats[i] if i == j else None for j in range(n)] for i in range(n)], format, dtype)


_made("block_diag", _block_diag)


def _triangle(keep: Any) -> Any:
    def part(A: Any, k: int = 0, format: Any = None) -> Any:
        a = _any(A)
        at = np.flatnonzero(keep(a.structure.cols - a.structure.rows, k))
        made = a._like(a.data[at], Pattern(a.structure.rows[at], a.structure.cols[at], a.shape), "coo")
        return made if format is None else made.asformat(format)

    return part


_made("tril", _triangle(lambda gap, k: gap <= k))
_made("triu", _triangle(lambda gap, k: gap >= k))


def _find(A: Any) -> Any:
    a = _any(A)
    s, member = a.structure.T.unique()
    return s.cols, s.rows, gathered(a.data, member, len(s.rows))


_made("find", _find)
_made("issparse", lambda x: True)
_made("isspmatrix", lambda x: not getattr(x, "is_array", True))
