"""Integrals of what is given by samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core.engine.trace import Tracer
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.rerun import NUMPY


class _Cast(type):
    def __call__(cls, x: Any = 0.0) -> Any:
        return x.astype(np.float64) if isinstance(x, Tracer) else np.float64(x)


class _Float64(metaclass=_Cast):
    """np.float64 as a function, which SciPy calls on arrays, and as a dtype."""

    dtype = np.dtype(np.float64)


class _NumPyOfTracers:
    """NumPy, whose float64 takes tracers."""

    float64 = _Float64

    def __getattr__(self, name: str) -> Any:
        return getattr(NUMPY, name)


integrate = Chapter("integrate")
integrate.rerun("trapezoid cumulative_trapezoid romb")
integrate.rerun("simpson cumulative_simpson", np=_NumPyOfTracers())
