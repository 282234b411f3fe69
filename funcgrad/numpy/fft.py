"""numpy.fft, where it is to know tracers in lists and keywords too: np.fft.fft([x, y, 0.0])."""

from __future__ import annotations

from typing import Any

import numpy as _numpy

import funcgrad.rules.fft  # noqa: F401  (before anybody asks which functions have rules)
from funcgrad.numpy.dispatch import dispatched


def __getattr__(name: str) -> Any:
    value = globals()[name] = dispatched(_numpy.fft, name, __name__)
    return value


def __dir__() -> list[str]:
    return dir(_numpy.fft)
