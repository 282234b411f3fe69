"""scipy.integrate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import funcgrad.scipy as _scipy


def odeint(func: Callable[..., Any], y0: Any, t: Any, args: Any = (), **options: Any) -> Any:
    """scipy.integrate.odeint, differentiable in y0, t and args."""
    return _scipy.integrate.odeint(func, y0, t, args if isinstance(args, tuple) else tuple(args), **options)


def __getattr__(name: str) -> Any:
    return getattr(_scipy.integrate, name)
