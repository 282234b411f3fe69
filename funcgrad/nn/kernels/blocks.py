"""Long elementwise formulas on many elements, block by block: intermediate results stay in the cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

BLOCK = 1 << 13  # elements


def by_blocks(
    block: Callable[..., Any], *operands: Any, buffers: int = 0, dtype: Any = None, size: int = BLOCK
) -> np.ndarray:
    """An array like the first operand, filled by block(*parts, out, *buffers), with NumPy's warnings off.

    The operands are arrays of one shape; one without axes belongs to each element. The buffers are of the
    first operand's dtype, or of `dtype`.
    """
    flat = [np.ascontiguousarray(x).reshape(-1) if x.ndim else x for x in operands]
    out = np.empty_like(flat[0])
    space = np.empty((buffers, min(size, out.size)), dtype or out.dtype)
    with np.errstate(all="ignore"):
        for start in range(0, out.size, size):
            to = out[start : start + size]
            parts = [x[start : start + size] if x.ndim else x for x in flat]
            block(*parts, to, *space[:, : to.size])
    return out.reshape(operands[0].shape)
