"""numpy.polynomial, whose coefficients and arguments may be tracers: NumPy's own code, adapted.

>>> import funcgrad.numpy as np
>>> from funcgrad import grad
>>> grad(lambda c: np.polynomial.Polynomial([1.0, c, c * c]).deriv()(2.0))(3.0)
np.float64(25.0)
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from numpy import polynomial as _theirs


@cache
def _adapted(name: str) -> Any:
    # Asked for when it is needed: `adapt` itself is made with funcgrad.numpy.
    return import_module("funcgrad.adaptation.libraries").adapted_library(import_module(name))


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        return getattr(_theirs, name)
    is_old = name == "poly1d"  # which lies elsewhere
    value = getattr(_adapted("numpy.lib._polynomial_impl" if is_old else "numpy.polynomial"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return dir(_theirs)
