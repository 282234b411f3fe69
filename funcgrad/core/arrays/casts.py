"""What NumPy says to writing one dtype into an array of another: it is asked on one element.

Each function that writes has rules of its own (`putmask` casts safely, but numbers as it likes; `put` casts
anything; `fill` takes no array), with errors and warnings in NumPy's words. They are described nowhere twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.arrays.arguments import as_operand, holds_tracer
from funcgrad.core.engine.trace import Tracer, is_foreign
from funcgrad.core.memory.contents import as_content
from funcgrad.core.memory.views import is_scalar


def cast(v: Any, dtype: np.dtype[Any], write: Callable[[Any, Any], Any]) -> Any:
    """`v` as an array or tracer of this dtype. Where NumPy's `write(array, v)` raises or warns, so does this."""
    if not isinstance(v, (list, tuple)) or holds_tracer(v):
        v = as_content(v)
    write(np.ones(1, dtype), _stand_in(v))
    v = as_content(v)
    if not isinstance(v, Tracer) and not is_foreign(v):
        v = np.asarray(v)
    if v.dtype.kind == "c" and dtype.kind != "c":
        v = v.real
    return v if v.dtype == dtype else v.astype(dtype)


def _stand_in(v: Any) -> Any:
    """Plain data of the kind of `v`: a number for a number, one element for an array."""
    if isinstance(v, Tracer):
        one = v.dtype.type(1)
        return one if v.shape == () and is_scalar(v) else np.full(() if v.shape == () else 1, one)
    return np.ones(1, v.dtype) if isinstance(v, np.ndarray) and v.ndim or is_foreign(v) else v


def cast_by_assignment(v: Any, dtype: np.dtype[Any]) -> Any:
    """A list as x[index] = list takes it: each number is cast by itself."""
    return as_operand(v) if holds_tracer(v) else np.array(v, dtype)
