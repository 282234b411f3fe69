"""np.random."""

from __future__ import annotations

from typing import Any

import funcgrad.numpy as _numpy


def __getattr__(name: str) -> Any:
    return getattr(_numpy.random, name)


def __dir__() -> list[str]:
    return dir(_numpy.random)
