"""Interpolants in barycentric form: sum(w y / (x - nodes)) / sum(w / (x - nodes)).

At a node SciPy's code puts in the value there, which is a constant to a derivative in x, and beside a node the
derivative cancels. There both sums are multiplied by all x - nodes: then nothing is divided by 0
(Berrut and Trefethen, "Barycentric Lagrange Interpolation", 2004).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core.arrays.ufunc import as_array
from funcgrad.scipy.classes import instead
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.interpolate import piecewise  # noqa: F401  (declares the classes)
from funcgrad.scipy.rerun import values

interpolate = Chapter("interpolate")


def _quotient(x: Any, nodes: Any, weights: Any, y: Any) -> Any:
    """The interpolant at x, with one more axis, that of y."""
    x, nodes, weights, y = (as_array(v) for v in (x, nodes, weights, y))
    gaps = x[..., None] - nodes
    apart, n = np.diff(np.sort(values(nodes).real)), nodes.shape[0]
    close = abs(values(gaps)) < 0.01 * np.min(apart[apart > 0], initial=1.0)
    beside = close.any(axis=-1)[..., None]
    share = weights / np.where(beside, 1, gaps)
    if beside.any():
        scale = np.ptp(values(nodes).real) / 4 if n > 1 else 1.0  # which keeps the products in range
        others = np.where(np.eye(n, dtype=bool), 1, gaps[..., None, :] / scale)
        share = np.where(beside, weights * np.prod(others, axis=-1), share)
    return share @ y / share.sum(axis=-1)[..., None]


def _evaluate(self: Any, x: Any) -> Any:
    if not x.size:
        return np.zeros((0, self.r), dtype=self.dtype)
    return _quotient(x, self.xi, self.wi, self.yi)


def _call_rational(self: Any, z: Any) -> Any:
    z, y = as_array(z), self._support_values
    y = y.reshape(y.shape[0], -1)
    flat = z.reshape(-1)
    far = np.isinf(values(flat))[:, None]
    out = _quotient(np.where(far[:, 0], 0, flat), self._support_points, self.weights, y)
    if far.any():
        out = np.where(far, (self.weights[:, None] * y).sum(axis=0) / self.weights.sum(), out)
    out = out.reshape(z.shape + self._shape)
    axis = getattr(self, "_axis", 0)  # before SciPy 1.17 it was always the first
    return np.moveaxis(out, 0, axis) if z.ndim else out


instead(interpolate.replaced("BarycentricInterpolator"), _evaluate=_evaluate)
for _name in ("AAA", "FloaterHormannInterpolator"):
    if hasattr(interpolate.module, _name):
        instead(interpolate.replaced(_name), __call__=_call_rational)
