"""Reductions that ignore NaN: as with `where=~isnan(a)`, ignored elements are zeros by structure."""

from __future__ import annotations

from functools import wraps
from typing import Any

import numpy as np

from funcgrad.core.arrays.ufunc import as_array
from funcgrad.core.engine.catalogue import ANY_CAST
from funcgrad.core.engine.declare import composite
from funcgrad.core.engine.roots import declare_square
from funcgrad.rules.reductions import declare_extreme, declare_spread, std_slope, var_slope


def _filled(a: Any, value: float) -> Any:
    """`a` with `value` for NaN."""
    a = as_array(a)
    return np.where(np.isnan(a), value, a)


def _nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, **options: Any
) -> Any:
    a = as_array(a)
    total = np.sum(_filled(a, 0), axis=axis, dtype=dtype, out=out, keepdims=keepdims, **options)
    count = np.sum(~np.isnan(a), axis=axis, keepdims=keepdims, **options)
    return (total / count).astype(total.dtype)


composite(np.nansum, lambda a, *args, **kwargs: np.sum(_filled(a, 0), *args, **kwargs), out=ANY_CAST)
composite(np.nanprod, lambda a, *args, **kwargs: np.prod(_filled(a, 1), *args, **kwargs), out=ANY_CAST)
composite(np.nancumsum, lambda a, *args, **kwargs: np.cumsum(_filled(a, 0), *args, **kwargs), out=ANY_CAST)
composite(np.nancumprod, lambda a, *args, **kwargs: np.cumprod(_filled(a, 1), *args, **kwargs), out=ANY_CAST)
composite(np.nanmean, _nanmean, out=ANY_CAST)


def _ignoring_nan(formula: Any) -> Any:
    """A formula with a mask `where`, for the function that leaves out NaN as well."""

    @wraps(formula)
    def masked(ct, a, where=None, **rest):
        numbers = ~np.isnan(a)
        return formula(ct, a=a, where=numbers if where is None else np.logical_and(where, numbers), **rest)

    return masked


declare_extreme(np.nanmax, _ignoring_nan)
declare_extreme(np.nanmin, _ignoring_nan)
declare_square(
    declare_spread(np.nanstd, std_slope, _ignoring_nan), declare_spread(np.nanvar, var_slope, _ignoring_nan)
)
