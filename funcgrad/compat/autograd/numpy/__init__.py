"""NumPy, with arrays that may begin as watched ones: funcgrad.numpy, with autograd's conventions in `linalg`."""

from __future__ import annotations

from typing import Any

import numpy as np

import funcgrad.numpy as _numpy
from funcgrad import tree
from funcgrad.compat.autograd.numpy import (
    fft,
    linalg,
    numpy_boxes,
    numpy_vjps,
    numpy_vspaces,
    numpy_wrapper,
    random,
)
from funcgrad.core.engine.trace import Tracer

_ARRAYS = (np.ndarray, np.generic, Tracer)

__all__ = [
    "fft",
    "linalg",
    "make_diagonal",
    "numpy_boxes",
    "numpy_vjps",
    "numpy_vspaces",
    "numpy_wrapper",
    "random",
    "where",
]


def make_diagonal(D: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Matrices (along the last two axes) with these diagonals: of shape (..., n) one of shape (..., n, n)."""
    if offset != 0 or {axis1, axis2} != {-1, -2}:
        raise NotImplementedError(
            "make_diagonal takes offset=0, axis1=-1 and axis2=-2 alone; see np.diagflat, np.eye"
        )
    return np.expand_dims(D, -1) * np.eye(np.shape(D)[-1])


def where(condition: Any = None, *args: Any, **kwargs: Any) -> Any:
    """np.where; of Python's own numbers and lists the result is Python's, too."""
    choices = (*args, *(kwargs.pop(name) for name in ("x", "y") if name in kwargs))
    condition = kwargs.pop("condition", condition)
    if len(choices) not in (0, 2):
        raise ValueError("either both or neither of x and y should be given")
    out = _numpy.where(condition, *choices)
    is_python = choices and not any(isinstance(leaf, _ARRAYS) for leaf in tree.leaves((condition, choices)))
    return out.tolist() if is_python and isinstance(out, np.ndarray) else out


def __getattr__(name: str) -> Any:
    plain = getattr(np, name, None)
    # Programs compare dtypes with these classes. Those of integers may be called on watched arrays.
    return plain if isinstance(plain, type) and issubclass(plain, np.inexact) else getattr(_numpy, name)


def __dir__() -> list[str]:
    return sorted({*__all__, *dir(_numpy)})
