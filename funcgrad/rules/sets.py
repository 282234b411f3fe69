"""Set functions. Which elements they keep is piecewise constant; each element kept is the first of its value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.arrays.ufunc import as_array
from funcgrad.core.engine.declare import composite, piecewise_constant
from funcgrad.core.engine.trace import Tracer, memory_of
from funcgrad.core.memory.chunks import runner
from funcgrad.core.memory.orders import lying_as
from funcgrad.errors import UnsupportedFunctionError, user_line


def _plain(name: str, x: Any) -> Any:
    """The values of `x`, for a question whose answer no derivative depends on (but which vmap can't answer)."""
    if runner(memory_of(x)) is not None:
        raise UnsupportedFunctionError(
            f"np.{name} at {user_line()}: how many values there are is not known of a lazy array. Write a.compute()."
        )
    return x._question(f"np.{name}(x)") if isinstance(x, Tracer) else x


def _first(source: Any, values: Any) -> Any:
    """Where each of the numbers `found` first stands in the plain vector `source`."""
    permutation = np.argsort(source, stable=True)
    return permutation[np.searchsorted(source, values, sorter=permutation)]


def _declare_unique(function: Callable[..., Any]) -> None:
    """One of the Array API's functions: values follow `x`, positions and counts beside them are plain."""

    def body(x: Any) -> Any:
        x = as_array(x)
        plain = _plain(function.__name__, x)
        x, unique = x.reshape(-1), function(plain)
        if isinstance(unique, tuple):
            values = x[_first(plain.reshape(-1), unique.values)]  # pyright: ignore[reportAttributeAccessIssue]
            return unique._replace(values=values)  # pyright: ignore[reportAttributeAccessIssue]
        return x[_first(plain.reshape(-1), unique)]

    composite(function, body)


def _unique(
    ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, axis: Any = None,
    **options: Any,
) -> Any:  # fmt: skip
    ar = as_array(ar)
    unique, index, *rest = np.unique(
        _plain("unique", ar), True, return_inverse, return_counts, axis, **options
    )
    outs = [lying_as(np.take(ar, index, axis), unique), *([index] if return_index else []), *rest]
    return outs[0] if len(outs) == 1 else tuple(outs)


def _declare_chosen(function: Callable[..., Any], both: bool) -> None:
    """A function of two sets that chooses elements of the first one, or of both."""

    def body(ar1: Any, ar2: Any, *args: Any, **kwargs: Any) -> Any:
        ar1, ar2 = as_array(ar1).reshape(-1), as_array(ar2).reshape(-1)
        x = np.concatenate([ar1, ar2]) if both else ar1
        name = function.__name__
        chosen = function(_plain(name, ar1), _plain(name, ar2), *args, **kwargs)
        if isinstance(chosen, tuple):
            return x[_first(_plain(name, x), chosen[0])], *chosen[1:]
        return x[_first(_plain(name, x), chosen)]

    composite(function, body)


composite(np.unique, _unique)
for _function in (np.unique_all, np.unique_counts, np.unique_inverse, np.unique_values):
    _declare_unique(_function)
_declare_chosen(np.union1d, both=True)
_declare_chosen(np.setxor1d, both=True)
_declare_chosen(np.intersect1d, both=False)
_declare_chosen(np.setdiff1d, both=False)
piecewise_constant(np.isin, operands="element test_elements")
# of keys that are numbers, too
piecewise_constant(np.lexsort, operands="keys*", signature="keys, axis=-1", axis="as is")
_in1d = getattr(np, "in1d", None)  # until NumPy 2.3
if _in1d is not None:
    piecewise_constant(_in1d, operands="ar1 ar2")
