"""How tensors are printed."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core.trace import concrete
from funcgrad.torch import dtypes


def tensor_text(t: Any) -> str:
    """The repr of a tensor."""
    value = np.asarray(concrete(t.value))
    text = np.array2string(value, separator=", ", prefix="tensor(", formatter={"float_kind": _float_format(value)})
    parts = [text]
    if value.dtype not in (dtypes.default(), np.int64, bool):
        parts.append(f"dtype={dtypes.of(value.dtype)}")
    fn = t.grad_fn
    if fn is not None:
        parts.append(f"grad_fn=<{type(fn).__name__}>")
    elif t.requires_grad:
        parts.append("requires_grad=True")
    return f"tensor({', '.join(parts)})"


def _float_format(value: Any) -> Any:
    if value.dtype.kind != "f":
        return str
    if np.all(value == np.trunc(value)):
        return lambda x: f"{x:.0f}."
    return lambda x: f"{x:.4f}"
