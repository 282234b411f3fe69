"""Differences and integrals of samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.torch.functions.registry import declare


def _diff(input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Differences of neighbours along a dim, n times; `prepend` and `append` are joined to the ends first."""
    parts = [x for x in (prepend, input, append) if x is not None]
    return np.diff(input if len(parts) == 1 else np.concatenate(parts, dim), n, dim)


declare("diff", _diff, "SubBackward0")
declare(
    "trapezoid",
    lambda y, x=None, *, dx=1, dim=-1: np.trapezoid(y, x, dx, dim),
    "MulBackward0",
    where="f",
    aliases="trapz",
)


def _running_trapezoid(y: Any, x: Any = None, *, dx: Any = 1, dim: int = -1) -> Any:
    """The running integral of samples."""
    moved = np.moveaxis(y, dim, -1)
    widths = dx if x is None else np.diff(x)
    return np.moveaxis(np.cumsum((moved[..., 1:] + moved[..., :-1]) * widths / 2, -1), -1, dim)


declare("cumulative_trapezoid", _running_trapezoid, "CumsumBackward0", where="f")


def _gradient(input: Any, *, spacing: Any = 1, dim: Any = None, edge_order: Any = 1) -> Any:
    """Differences in the middle, along each dim."""
    axes = range(input.ndim) if dim is None else dim if isinstance(dim, (tuple, list)) else (dim,)
    return tuple(np.gradient(input, spacing, axis=a, edge_order=edge_order) for a in axes)


declare("gradient", _gradient, where="f")
