"""scipy.linalg."""

from __future__ import annotations

from typing import Any

import funcgrad.scipy as _scipy


def __getattr__(name: str) -> Any:
    return getattr(_scipy.linalg, name)


def __dir__() -> list[str]:
    return dir(_scipy.linalg)
