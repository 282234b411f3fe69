"""B-splines on a grid: recursive filters, of which the starting values are sums over the mirrored signal."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core.arrays.ufunc import as_array
from funcgrad.core.engine.batch import one_by_one
from funcgrad.core.engine.declare import linear
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.rerun import leaves, private, values

signal = Chapter("signal")


def _first(x: Any, z1: Any, precision: float = -1.0) -> Any:
    """x[0] + the sum of z1**(k+1) x[k], as far as it counts."""
    x = as_array(x)
    single = x.dtype in (np.float32, np.complex64)
    precision = precision if 0 < precision < 1 else 1e-6 if single else 1e-11
    size = abs(complex(values(z1)))
    terms = max(int(np.ceil(np.log(precision) / np.log(size))), 1) if size else 1
    if terms > x.shape[-1]:
        raise ValueError("Sum to find symmetric boundary conditions did not converge.")
    weights = z1 ** np.arange(1, terms + 1)
    return (x[..., :1] + np.sum(x[..., :terms] * weights, axis=-1, keepdims=True)).astype(x.dtype)


def _starts(kind: Any) -> Any:
    """The two starting values of the filter of second order: weighted sums of each row."""

    def heart(x, r, omega, precision=-1.0):
        return kind(np.ascontiguousarray(x), r, omega, precision)

    def pull(ct, x, r, omega, precision=-1.0):
        unit = np.eye(x.shape[-1], dtype=x.dtype)
        return ct @ np.moveaxis(heart(unit, r, omega, precision), 0, -1)

    return linear(heart, pull, batch=one_by_one, name="scipy.signal.symiirorder2")


theirs = private("scipy.signal._spline")
leaves(
    "scipy.signal._spline",
    symiirorder1_ic=_first,
    symiirorder2_ic_fwd=_starts(theirs.symiirorder2_ic_fwd),
    symiirorder2_ic_bwd=_starts(theirs.symiirorder2_ic_bwd),
)
signal.rerun(
    "spline_filter gauss_spline cspline1d qspline1d cspline2d qspline2d cspline1d_eval qspline1d_eval"
)
signal.rerun("symiirorder1 symiirorder2")
