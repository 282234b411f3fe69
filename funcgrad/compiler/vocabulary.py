"""What a program calls that NumPy has no name for, in NumPy alone: its source carries these along."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.compiler.steps import HERE


def add_at(buffer: Any, part: Any, index: Any) -> Any:
    """A copy of `buffer` with `part` added at `index`; where an index occurs twice, both parts count."""
    out = np.array(buffer, np.result_type(buffer, part))
    return add_into(out, part, index)


def add_into(out: Any, part: Any, index: Any) -> Any:
    """`part` added at `index` of `out` itself."""
    items = index if isinstance(index, tuple) else (index,)
    if any(isinstance(i, np.ndarray) and i.dtype != bool for i in items):
        np.add.at(out, index, np.broadcast_to(part, out[index].shape))
    else:
        out[index] += part
    return out


def extreme_at(ufunc: Any, buffer: Any, part: Any, index: Any) -> Any:
    """A copy of `buffer` with the larger (or smaller) of `part` and what was there at `index`."""
    out = np.array(buffer)
    ufunc.at(out, index, np.broadcast_to(part, out[index].shape))
    return out


def written(before: Any, v: Any, index: Any, views: Any = ()) -> Any:
    """A copy of `before` with `v` at `index` (of what the views make of it)."""
    out = looked = np.array(before, order="K")
    for function, args, kwargs in views:
        looked = function(*[looked if a is HERE else a for a in args], **kwargs)
    looked[index] = v
    return out


def written_flat(before: Any, v: Any, positions: Any, index: Any, shape: Any) -> Any:
    """A copy of `before` with `v` at the positions[index], counted row by row."""
    out = np.array(before, order="K")
    out[np.unravel_index(positions[index], shape)] = v
    return out
