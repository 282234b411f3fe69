"""numpy.testing, whose assertions compare the values of tracers: no derivative depends on whether one holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import testing as _theirs

from funcgrad.core.engine.trace import Tracer, concrete, rebuilt
from funcgrad.core.memory.looks import looked_through
from funcgrad.numpy.dispatch import FUNCTIONS, named_like


def _values(x: Any) -> Any:
    if isinstance(x, Tracer):
        return np.asarray(concrete(x))[()]
    if type(x) in (list, tuple):
        return rebuilt(x, [_values(item) for item in x])
    return {k: _values(v) for k, v in x.items()} if type(x) is dict else looked_through(x)


def _of_values(function: Callable[..., Any]) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*_values(args), **_values(kwargs))

    return named_like(call, function, __name__)


def __getattr__(name: str) -> Any:
    value = getattr(_theirs, name)
    if name.startswith("assert_") and isinstance(value, FUNCTIONS):
        value = _of_values(value)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return dir(_theirs)
