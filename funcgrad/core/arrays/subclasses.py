"""Arrays that are refused, since what they do is not what an ndarray does: the derivative would be silently wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.errors import NonDifferentiableError, user_line


def what_instead(x: Any) -> str:
    """What `x` is and what to write instead; nothing, if it is taken. (Other subclasses of ndarray, as np.memmap, are.)"""
    if isinstance(x, np.ndarray):
        if isinstance(x, np.matrix):
            return "an np.matrix, whose * is a product of matrices. Write np.asarray(x), and @ for its products"
        if isinstance(x, np.ma.MaskedArray):
            return "a masked array, and no derivative knows of its mask. Write x.filled(0), and where=~x.mask or np.where"
        return ""
    if type(x).__module__.startswith("scipy.sparse") and hasattr(x, "toarray"):
        return "a sparse matrix. Write x.toarray(), or np.matmul(a, x) with `import funcgrad.numpy as np`"
    if isinstance(getattr(x, "dtype", None), (np.dtype, type(None))) or not hasattr(x, "shape"):
        return ""
    return f"a {type(x).__name__} of another library ({type(x).__module__.split('.')[0]}). Write np.asarray(x)"


def check_operand(x: Any) -> None:
    """Refuse it beside a tracer."""
    instead = what_instead(x)
    if instead:
        raise NonDifferentiableError(f"an operand beside a tracer, at {user_line()}, is {instead}.")
