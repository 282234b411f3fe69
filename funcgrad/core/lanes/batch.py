"""The lane of vmap: a call of operands alone, on plain arrays inside one batch, runs at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.engine.batch import BatchTrace, BatchTracer
from funcgrad.core.engine.primitive import Call, Layout, Primitive


def at_once(primitive: Primitive, count: int | None = None) -> Callable[..., Any]:
    """What runs a call of plain arrays inside one vmap: it does what `bind` would do in the end.

    It gives None, if it is another case. `count` says how many operands there are, if not all are given.
    """
    function, names = primitive.function, primitive.operand_names[:count]
    by_strategy = _by_strategy(primitive, tuple((name, None) for name in names))
    cores = (0,) * len(names) if primitive.batch == "aligned" else getattr(primitive.batch, "cores", None)
    if cores is None or getattr(function, "nout", 1) > 1:
        return by_strategy
    if len(names) == 2:
        return _of_pairs(function, by_strategy, *cores)
    return _of_each(function) if cores == (0,) else by_strategy


def _by_strategy(primitive: Primitive, layout: Layout) -> Callable[..., Any]:
    def run(*operands: Any) -> Any:
        values, batched, trace = [], [], None
        for x in operands:
            is_batched = type(x) is BatchTracer
            if is_batched:
                if trace is not None and x._trace is not trace:
                    return None
                trace, x = x._trace, x._value
            if type(x) is not np.ndarray and (is_batched or type(x) not in _SCALARS):
                return None
            values.append(x)
            batched.append(is_batched)
        if type(trace) is not BatchTrace or not trace.is_open:  # one that is watched has its own `apply`
            return None
        return trace.by_strategy(primitive, Call(values, layout, {}), batched)

    return run


def _of_each(function: Callable[..., Any]) -> Callable[..., Any]:
    """An elementwise function of one operand."""

    def run(x: Any) -> Any:
        if (
            type(x) is BatchTracer
            and type(x._value) is np.ndarray
            and type(x._trace) is BatchTrace
            and x._trace.is_open
        ):
            return x._trace.wrap(function(x._value), None)
        return None

    return run


def _of_pairs(
    function: Callable[..., Any], by_strategy: Callable[..., Any], core: int, core_y: int
) -> Callable[..., Any]:
    """A function of the last `core` axes of x and `core_y` of y (0: elementwise); the others line up."""
    gap = core - core_y
    scalars = frozenset() if core or core_y else _SCALARS

    def run(x: Any, y: Any) -> Any:
        if type(x) is BatchTracer:
            trace, v, w = x._trace, x._value, y
            if type(v) is not np.ndarray:
                return None
            if type(y) is BatchTracer:
                w = y._value
                lined_up = y._trace is trace and type(w) is np.ndarray and core < v.ndim == w.ndim + gap
            else:
                lined_up = type(y) is np.ndarray and y.ndim + gap < v.ndim or type(y) in scalars
        elif type(y) is BatchTracer:
            trace, v, w = y._trace, x, y._value
            lined_up = type(w) is np.ndarray and (
                type(x) is np.ndarray and x.ndim < w.ndim + gap or type(x) in scalars
            )
        else:
            return None
        if lined_up and type(trace) is BatchTrace and trace.is_open:
            return trace.wrap(function(v, w), None)
        return by_strategy(x, y)

    return run


_SCALARS = frozenset([float, int, np.float64, np.float32, np.int64])
