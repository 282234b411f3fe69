"""SciPy, differentiable: funcgrad.scipy, with autograd's own signature of `signal.convolve`."""

from __future__ import annotations

from typing import Any

import funcgrad.scipy as _scipy
from funcgrad.compat.autograd.scipy import integrate, linalg, signal, special, stats

__all__ = ["integrate", "linalg", "signal", "special", "stats"]


def __getattr__(name: str) -> Any:
    return getattr(_scipy, name)
