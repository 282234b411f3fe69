"""np.emath: the functions that turn complex where their real namesake is not defined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.arrays.ufunc import as_array
from funcgrad.core.engine.declare import composite
from funcgrad.core.engine.trace import concrete, memory_of
from funcgrad.core.memory.chunks import runner
from funcgrad.errors import UnsupportedFunctionError, user_line
from funcgrad.rules.slopes import found


def _widened(x: Any, is_outside: Callable[[Any], Any]) -> Any:
    """`x`, as complex numbers if any element lies outside the real domain."""
    x = as_array(x)
    if runner(memory_of(x)) is not None:
        raise UnsupportedFunctionError(
            f"a function of np.emath at {user_line()}: whether its result is complex depends on the values, which are not "
            "known of a lazy array. Write np.sqrt(x) or np.sqrt(x + 0j), and the like."
        )
    if x.dtype.kind == "c" or not found(is_outside(concrete(x))):
        return x
    return x.astype(np.result_type(x.dtype, np.complex64))


def _negative(x: Any) -> Any:
    return x < 0


def _beyond_one(x: Any) -> Any:
    return abs(x) > 1


def _log(x):
    return np.log(_widened(x, _negative))


composite(np.emath.sqrt, lambda x: np.sqrt(_widened(x, _negative)))
composite(np.emath.log, _log)
composite(np.emath.log2, lambda x: np.log2(_widened(x, _negative)))
composite(np.emath.log10, lambda x: np.log10(_widened(x, _negative)))
composite(np.emath.logn, lambda n, x: _log(x) / _log(n))
composite(np.emath.power, lambda x, p: np.power(_widened(x, _negative), as_array(p)))
composite(np.emath.arccos, lambda x: np.arccos(_widened(x, _beyond_one)))
composite(np.emath.arcsin, lambda x: np.arcsin(_widened(x, _beyond_one)))
composite(np.emath.arctanh, lambda x: np.arctanh(_widened(x, _beyond_one)))
