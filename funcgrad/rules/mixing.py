"""Linear interpolation between two values: the common part of quantiles and np.interp."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core.engine.declare import selection


def mix(x: Any, y: Any, z: Any) -> Any:
    """x and y in the proportion 1 - z to z; what has no share in the result may be infinite or NaN."""
    with np.errstate(invalid="ignore"):
        inner = np.where(z == 1, y, x + z * (y - x))
    return np.where(z == 0, x, inner)


mix = selection(mix, lambda z: 1 - z, lambda z: z, lambda x, y: y - x)
