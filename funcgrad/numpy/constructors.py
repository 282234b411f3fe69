"""New arrays. While a transform runs they are blank (core/memory/blank.py): tracers can be written into them,
and they may hold some from the start. Otherwise they are what NumPy makes.

Integers and booleans have no derivative and stay plain. So does an array that is not new, as `np.asarray(a)`
gives it for an array `a`: what is written into it has to be seen in `a`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.arrays.methods import call_function
from funcgrad.core.engine.catalogue import Constructor, entry
from funcgrad.core.engine.trace import Tracer, concrete
from funcgrad.core.memory.blank import fresh
from funcgrad.core.memory.looks import look
from funcgrad.numpy.dispatch import HOME, during_transforms, tracer_in
from funcgrad.numpy.records import Records


def made_by(function: Callable[..., Any]) -> Any:
    """`function` with results into which tracers can be written."""

    def make(args: Any, kwargs: Any) -> Any:
        tracer = tracer_in((*args, *kwargs.values()))
        if tracer is None:
            out = function(*args, **kwargs)
            return Records.of(out) if getattr(getattr(out, "dtype", None), "names", None) else fresh(out)
        return of_tracers(function, tracer, args, kwargs)

    return during_transforms(function, make, HOME)


def converted_by(function: Callable[..., Any]) -> Any:
    """The same, for a function that may give its argument, or what looks into it."""

    def convert(args: Any, kwargs: Any) -> Any:
        tracer = tracer_in((*args, *kwargs.values()))
        if tracer is not None:
            return of_tracers(function, tracer, args, kwargs)
        out = function(*args, **kwargs)
        a = next(iter((*args, *kwargs.values())))
        if isinstance(a, np.ndarray) and np.may_share_memory(a, out):
            return look(out)
        return Records.of(out) if out.dtype.names else fresh(out)

    return during_transforms(function, convert, HOME)


def of_tracers(
    function: Callable[..., Any], tracer: Tracer, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """function(*args, **kwargs), where `tracer` is among the arguments."""
    constructor = entry(function)
    if not isinstance(constructor, Constructor):
        return call_function(function, args, kwargs)
    like = kwargs.pop("like", None)
    return constructor(tracer if like is None else like, *args, **kwargs)


array = converted_by(np.array)
asarray = converted_by(np.asarray)
asanyarray = converted_by(np.asanyarray)
ascontiguousarray = converted_by(np.ascontiguousarray)
asfortranarray = converted_by(np.asfortranarray)
require = converted_by(np.require)
diag = converted_by(np.diag)

zeros, ones, empty, full = (made_by(f) for f in (np.zeros, np.ones, np.empty, np.full))
zeros_like, ones_like, empty_like = (made_by(f) for f in (np.zeros_like, np.ones_like, np.empty_like))
full_like, copy, diagflat = made_by(np.full_like), made_by(np.copy), made_by(np.diagflat)
arange, linspace, logspace, geomspace = (
    made_by(f) for f in (np.arange, np.linspace, np.logspace, np.geomspace)
)
eye, identity, tri, tril, triu, vander = (
    made_by(f) for f in (np.eye, np.identity, np.tri, np.tril, np.triu, np.vander)
)
indices, meshgrid = made_by(np.indices), made_by(np.meshgrid)
fromstring, fromfile = made_by(np.fromstring), made_by(np.fromfile)
loadtxt, genfromtxt = made_by(np.loadtxt), made_by(np.genfromtxt)
hamming, hanning, bartlett, blackman = (
    made_by(f) for f in (np.hamming, np.hanning, np.bartlett, np.blackman)
)


def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Any:
    """`a` as an array; a ValueError if there is a NaN or inf in it (shape and dtype as by np.asarray)."""
    out = asarray(a, dtype=dtype, order=order)
    if out.dtype.kind in "fc" and not np.isfinite(concrete(out)).all():
        raise ValueError("array must not contain infs or NaNs")
    return out
