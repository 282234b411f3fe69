"""scipy.signal, with autograd's own `convolve`."""

from __future__ import annotations

from typing import Any

import funcgrad.scipy as _scipy
from funcgrad.compat.autograd.scipy.convolution import convolve

__all__ = ["convolve"]


def __getattr__(name: str) -> Any:
    return getattr(_scipy.signal, name)
