"""New arrays whose axes lie in memory in the order in which NumPy has them.

Rules are written in terms of other functions, whose results may lie otherwise. Programs can tell: by it NumPy
decides what is a view of the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.core.engine.trace import Tracer, is_foreign
from funcgrad.core.memory.layout import axes_of
from funcgrad.core.memory.views import plain_view


def example(x: Any) -> Any:
    """The plain value beneath `x`, with its layout in memory; under vmap, one example of it."""
    x = plain_view(x) if isinstance(x, Tracer) else x
    return np.empty(x.shape, x.dtype) if is_foreign(x) else np.asarray(x)


def corner(x: Any) -> Any:
    """The first two elements of `x` along each axis: enough to ask NumPy for the memory order of a result."""
    return example(x)[(slice(2),) * x.ndim]


def lying_as(out: Any, plain: Any) -> Any:
    """`out`, of which NumPy's own result lies in memory as `plain` does."""
    return in_order(out, axes_of(example(plain)))


def lying_as_copy_of(out: Any, x: Any) -> Any:
    """`out`, which NumPy makes in an array that lies in memory as a copy of `x` does."""
    return lying_as(out, np.empty_like(corner(x), bool)) if out.ndim > 1 else out


def contiguous_as(out: Any, x: Any) -> Any:
    """`out`, which NumPy makes in Fortran order if `x` is in that, else in C order."""
    axes = tuple(range(out.ndim))
    return in_order(out, axes[::-1] if out.ndim > 1 and example(x).flags.fnc else axes)


def in_order(out: Any, axes: Sequence[int]) -> Any:
    """`out` with its axes in this memory order, longest stride first; copied if they lie otherwise."""
    if not isinstance(out, (Tracer, np.ndarray)) or out.ndim < 2:
        return out
    plain = plain_view(out) if isinstance(out, Tracer) else out
    if type(plain) is not np.ndarray or plain.transpose(axes).flags.c_contiguous:
        return out
    return np.copy(out.transpose(*axes), order="C").transpose(*np.argsort(axes).tolist())
