"""What the vectors of a decomposition leave open: closed gaps, and gauges (phases, rotations).

All cotangents here are conjugated ones, which pair as Re(sum(conj(ct) t)).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.rules.matrices import mH

# ---- diagonals -------------------------------------------------------------------------------------------------------


def diagonal(x: Any) -> Any:
    """The diagonal of each matrix."""
    return np.diagonal(x, axis1=-2, axis2=-1)


def on_diagonal(w: Any) -> Any:
    """The matrices with these diagonals."""
    return w[..., None] * np.eye(w.shape[-1], dtype=w.real.dtype)


def off_diagonal(x: Any) -> Any:
    """`x` with a diagonal of 0, whatever it was."""
    return np.where(np.eye(x.shape[-1], dtype=bool), 0, x)


# ---- gaps ------------------------------------------------------------------------------------------------------------


def largest(size: Any, axis: Any, *, keepdims: bool = False) -> Any:
    """The largest of sizes, which are not negative; 0 of none. (Not every library has `initial=`.)"""
    if size.size:
        return np.max(size, axis=axis, keepdims=keepdims)
    return np.max(size, axis=axis, keepdims=keepdims, initial=0)


def rounding(w: Any, n: int) -> Any:
    """The rounding errors of eigenvalues or singular values w of n x n matrices, with an axis of length 1."""
    return n * np.finfo(w.dtype).eps * largest(abs(w), -1, keepdims=True)


def inverse(x: Any, closed: Any, live: Any = None) -> Any:
    """1 / x; NaN where `closed`, 0 in columns that are not live."""
    out = np.where(closed, np.nan, 1 / np.where(closed, 1, x))
    return out if live is None else np.where(live, out, 0)


def inverse_gaps(w: Any, n: int, live: Any = None) -> Any:
    """1 / (w[j] - w[i]) at [i, j]: 0 on the diagonal, NaN where the gap is closed and column j live."""
    gaps = w[..., None, :] - w[..., :, None]
    return off_diagonal(inverse(gaps, abs(gaps) <= rounding(w, n)[..., None], live))


def inverse_sums(s: Any, n: int, live: Any = None) -> Any:
    """1 / (s[j] + s[i]) at [i, j]: NaN where both are 0 and column j is live."""
    sums = s[..., None, :] + s[..., :, None]
    return inverse(sums, sums <= rounding(s, n)[..., None], live)


def live_columns(live: Any) -> Any:
    """Which columns of a cotangent aren't zero by structure (None if all may not), as matrices of one row."""
    return None if live is None else live.any(axis=-2, keepdims=True)


# ---- gauges ----------------------------------------------------------------------------------------------------------


def counts(along: Any, size: Any) -> Any:
    """Is a cotangent's part along a gauge more than rounding of its terms, or of terms about 1?"""
    eps = np.finfo(along.dtype).eps
    return abs(along) > eps**0.5 * size + 1e4 * eps


def nan_where_phase_counts(x: Any, along: Any, size: Any) -> Any:
    """`x`, NaN in columns whose cotangent has a part along i times the vector: it depends on the phase."""
    return np.where(counts(along, size)[..., None, :], np.nan, x)


def nan_if_rotation_counts(x: Any, vectors: Any, ct: Any) -> Any:
    """`x`, or NaN if the cotangent of the vectors depends on how they are rotated among themselves."""
    inner = mH(vectors) @ ct
    along = largest(abs(inner - mH(inner)), (-2, -1))
    size = largest(abs(ct), (-2, -1))
    return np.where(counts(along, size)[..., None, None], np.nan, x)
