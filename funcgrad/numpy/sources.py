"""Sources of random numbers: how their samples depend on parameters, and classes whose samples are blank."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.arrays.ufunc import as_array
from funcgrad.core.engine.trace import RUNNING
from funcgrad.core.memory.blank import BlankTracer, fresh, plain
from funcgrad.errors import UnsupportedFunctionError, user_line
from funcgrad.numpy.dispatch import named_like, tracer_in
from funcgrad.rules.numbers import traced_in

HOME = "funcgrad.numpy.random"


# ---- samples that are smooth in their parameters ---------------------------------------------------------------------
def _shape_of(size: Any, *parameters: Any) -> Any:
    return np.broadcast_shapes(*map(np.shape, parameters)) if size is None else size


def _normal(source: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    return loc + scale * source.normal(size=_shape_of(size, loc, scale))


def _lognormal(source: Any, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
    return np.exp(_normal(source, mean, sigma, size))


def _uniform(source: Any, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
    return low + (high - low) * source.uniform(size=_shape_of(size, low, high))


def _exponential(source: Any, scale: Any = 1.0, size: Any = None) -> Any:
    return scale * source.exponential(size=_shape_of(size, scale))


def _located(name: str) -> Callable[..., Any]:
    """A distribution with a location and a scale."""

    def sample(source: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return loc + scale * getattr(source, name)(size=_shape_of(size, loc, scale))

    return sample


def _rayleigh(source: Any, scale: Any = 1.0, size: Any = None) -> Any:
    return scale * source.rayleigh(size=_shape_of(size, scale))


def _permutation(source: Any, x: Any, axis: int = 0) -> Any:
    x = as_array(x)
    return np.take(x, _shuffled(source, x.shape[axis]), axis)


def _shuffle(source: Any, x: Any, axis: int = 0) -> None:
    x[...] = _permutation(source, x, axis)


def _shuffled(source: Any, n: int) -> Any:
    permutation = np.arange(n)
    source.shuffle(permutation)
    return permutation


def _choice(
    source: Any, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, **options: Any
) -> Any:
    if traced_in((size, p)):
        raise no_rule("choice")
    a = as_array(a)
    return np.take(a, source.choice(a.shape[axis], size, replace, p, **options), axis)


_SMOOTH: dict[str, Callable[..., Any]] = {
    "normal": _normal, "lognormal": _lognormal, "uniform": _uniform, "exponential": _exponential, "rayleigh": _rayleigh,
    **{name: _located(name) for name in ("laplace", "logistic", "gumbel")},
    "permutation": _permutation, "shuffle": _shuffle, "choice": _choice,
}  # fmt: skip


def no_rule(name: str) -> UnsupportedFunctionError:
    """The error for a distribution that has no rule."""
    return UnsupportedFunctionError(
        f"random.{name} at {user_line()} was called with a tracer among its parameters: how its samples move with them has no "
        "rule. Write the sample as a function of the parameter and of samples that do not depend on it (x + s * rng.normal()), "
        "or call it with funcgrad.stop_gradient(x)."
    )


# ---- the functions and methods ---------------------------------------------------------------------------------------
def sampled(source: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    """The method `name` of a source of random numbers, called while a transform may run."""
    method = getattr(source, name)
    if RUNNING.get() is None:
        return method(*args, **kwargs)
    tracer = tracer_in((*args, *kwargs.values()))
    if tracer is None:
        return fresh(_outside(method, args, kwargs))
    if isinstance(tracer, BlankTracer) and not traced_in((*args, *kwargs.values())) and name != "shuffle":
        return fresh(_outside(method, plain(args), {k: plain(v) for k, v in kwargs.items()}))
    if name not in _SMOOTH:
        raise no_rule(name)
    return _SMOOTH[name](source, *args, **kwargs)


def _outside(method: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """The method as outside of transforms: it may call others, whose samples it fills into its own."""
    token = RUNNING.set(None)
    try:
        return method(*args, **kwargs)
    finally:
        RUNNING.reset(token)


class Source:
    """A source of random numbers (Generator, RandomState) made elsewhere, with blank samples."""

    def __init__(self, source: Any) -> None:
        self._source = source

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._source, name)
        return (
            functools.partial(sampled, self._source, name)
            if callable(value) and not name.startswith("_")
            else value
        )


@functools.cache
def aware(base: Any) -> Any:
    """A subclass of a source of random numbers (Generator, RandomState), whose samples are blank."""
    space = {
        name: named_like(_method(base, name), getattr(base, name), HOME)
        for name in dir(base)
        if not name.startswith("_") and callable(getattr(base, name))
    }
    return type(
        base.__name__,
        (base,),
        {**space, "__doc__": (base.__doc__ or "").replace(">>> ", ""), "__module__": HOME},
    )


def _method(base: Any, name: str) -> Callable[..., Any]:
    theirs = getattr(base, name)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if RUNNING.get() is None:
            return theirs(self, *args, **kwargs)
        return sampled(_ChangedMethods(base, self), name, *args, **kwargs)

    return method


class _ChangedMethods:
    """The methods of `base`, of an object of a class that has changed them."""

    def __init__(self, base: type, source: Any) -> None:
        self.base, self.source = base, source

    def __getattr__(self, name: str) -> Any:
        return getattr(self.base, name).__get__(self.source)
