"""Functions of single numbers, as those of math and cmath are, made primitives: the value is theirs to the
last bit, the rule is that of NumPy's function of the same meaning.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from functools import update_wrapper
from typing import Any

import numpy as np

from funcgrad.core.arrays.methods import LANES
from funcgrad.core.arrays.resting import Resting
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.engine.kinds import Elementwise, Partial
from funcgrad.core.engine.primitive import Primitive
from funcgrad.core.engine.roots import POWERS
from funcgrad.core.engine.trace import Tracer
from funcgrad.core.memory.blank import BlankTracer
from funcgrad.core.memory.views import is_scalar

REAL, COMPLEX = np.dtype(np.float64), np.dtype(np.complex128)
OPERANDS = ("x", "y", "z")


def is_traced(x: Any) -> bool:
    """Is this a tracer with something to lose?"""
    return isinstance(x, Tracer) and not isinstance(x, BlankTracer)


def number(x: Any, dtype: np.dtype[Any] = REAL) -> Any:
    """`x` as float(x), or complex(x), would make it, of shape (): a tracer keeps its derivative.

    Raises:
        TypeError: `x` has more than one element, or is complex where a real number is wanted.
    """
    if not is_traced(x):
        return dtype.type(builtins.float(x) if dtype is REAL else builtins.complex(x))
    shape = x.shape
    if not shape and x.dtype is dtype and is_scalar(x):
        return x
    if x.dtype.kind == "c" and dtype is REAL:
        raise TypeError("must be real number, not complex")
    if shape:
        builtins.float(np.zeros(shape))  # what NumPy has to say of an array with axes
        x = x.reshape(())
    return x.astype(dtype, copy=False)[()]


def of_numbers(
    function: Callable[..., Any], rule: str | tuple[Partial, ...], name: str, dtype: np.dtype[Any] = REAL
) -> Any:
    """`function` of numbers, with the rule of NumPy's `rule` or with these partial derivatives."""
    resolved: Any = CATALOGUE[getattr(np, rule)].rule if isinstance(rule, str) else Elementwise(rule)  # type: ignore[attr-defined]
    operands = OPERANDS[: len(resolved.partials)]
    primitive = Primitive(
        _of_arrays(function, dtype),
        resolved,
        operands=" ".join(operands),
        signature=", ".join(operands),
        batch="aligned",
        name=name,
    )

    if rule == "power":
        POWERS.add(primitive.function)
    lane: Any = None

    def of_one(x: Any) -> Any:
        nonlocal lane
        lane = lane or LANES.make(primitive)  # at the first call, as it takes a while
        return lane(number(x, dtype))

    def of_several(*args: Any) -> Any:
        return primitive(*[number(x, dtype) for x in args])

    return of_one if len(operands) == 1 else of_several


def _of_arrays(function: Callable[..., Any], dtype: np.dtype[Any]) -> Callable[..., Any]:
    """`function`, which takes Python's numbers, of NumPy's numbers and of arrays (the examples of a vmap)."""

    def run(*args: Any) -> Any:
        for x in args:
            if type(x) is np.ndarray and x.shape:
                break
        else:
            return _numpys(function(*args))
        arrays = np.broadcast_arrays(*args)
        outs = [function(*items) for items in zip(*(x.ravel().tolist() for x in arrays), strict=True)]
        return np.array(outs, dtype).reshape(arrays[0].shape)

    return run


def _numpys(x: Any) -> Any:
    return np.complex128(x) if isinstance(x, builtins.complex) else np.float64(x)


# ---- in the place of Python's functions ------------------------------------------------------------------------------
_PLAIN = frozenset([float, int, np.float64])


def traced_in(args: Any) -> bool:
    """Is there a tracer with something to lose among the arguments, or in a list among them?"""
    return any(is_traced(x) or isinstance(x, (list, tuple)) and any(map(is_traced, x)) for x in args)


def knowing(home: str, function: Callable[..., Any], traced: Callable[..., Any]) -> Callable[..., Any]:
    """`function` of a Python module, with `traced` in its place for tracers; `home` is where that lives."""

    def looking(in_vain: Callable[[], None]) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            for x in args:
                if type(x) not in _PLAIN:
                    return traced(*args, **kwargs) if traced_in(args) else function(*args, **kwargs)
            in_vain()
            return function(*args, **kwargs)

        return call

    call = Resting(function, looking).call
    update_wrapper(call, function, updated=())
    call.__module__ = home
    return call
