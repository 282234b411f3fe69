"""Modules of the standard library that look into their arguments: functools (caches) and statistics."""

from __future__ import annotations

import functools
import statistics
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from funcgrad.core.engine.trace import Tracer
from funcgrad.rules.numbers import is_traced, number


# ---- functools -------------------------------------------------------------------------------------------------------
def cached_by(cache: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """`cache` (a function with a cache) for plain arguments; `function` for tracers, which have no hash."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if any(isinstance(x, Tracer) for x in (*args, *kwargs.values())):
            return function(*args, **kwargs)
        return cache(*args, **kwargs)

    for name in ("cache_info", "cache_clear", "cache_parameters"):
        setattr(call, name, getattr(cache, name))
    return call


def _lru_cache(maxsize: Any = 128, typed: bool = False) -> Any:
    if callable(maxsize):
        return cached_by(functools.lru_cache(maxsize), maxsize)
    return lambda function: cached_by(functools.lru_cache(maxsize, typed)(function), function)


def _cache(function: Callable[..., Any], /) -> Callable[..., Any]:
    return _lru_cache(None)(function)


# ---- statistics ------------------------------------------------------------------------------------------------------
def _of_samples(function: Callable[..., Any], traced: Callable[..., Any]) -> Callable[..., Any]:
    """A function of samples, which may be tracers."""

    @functools.wraps(function)
    def call(data: Any, *args: Any, **kwargs: Any) -> Any:
        data = data if hasattr(data, "__len__") else list(data)
        if is_traced(data) or any(map(is_traced, data)):
            return traced(np.stack([number(x) for x in data]))
        return function(data, *args, **kwargs)

    return call


_STATISTICS: dict[str, Callable[..., Any]] = {
    "mean": np.mean, "fmean": np.mean, "median": np.median,
    "pvariance": np.var, "pstdev": np.std,
    "variance": lambda x: np.var(x, ddof=1), "stdev": lambda x: np.std(x, ddof=1),
    "geometric_mean": lambda x: np.exp(np.mean(np.log(x))), "harmonic_mean": lambda x: 1 / np.mean(1 / x),
}  # fmt: skip


class _Overlay(ModuleType):
    """A module of which some functions are replaced."""

    def __init__(self, original: ModuleType, changed: dict[str, Any]) -> None:
        super().__init__(original.__name__, original.__doc__)
        self.__dict__.update(changed, _original=original)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)


MODULES = {
    "functools": _Overlay(functools, {"lru_cache": _lru_cache, "cache": _cache}),
    "statistics": _Overlay(
        statistics, {k: _of_samples(getattr(statistics, k), v) for k, v in _STATISTICS.items()}
    ),
}
