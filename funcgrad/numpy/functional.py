"""Functions of the user's functions, which may close over tracers whatever they are called with."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad.core.arrays.arguments import array_of, holds_tracer
from funcgrad.core.arrays.ufunc import as_array
from funcgrad.core.engine.catalogue import entry
from funcgrad.core.engine.trace import RUNNING, Tracer
from funcgrad.core.memory.blank import BLANK, fresh
from funcgrad.numpy.constructors import array
from funcgrad.numpy.dispatch import HOME, during_transforms


# ---- those in the catalogue ------------------------------------------------------------------------------------------
def _applying(function: Callable[..., Any], position: int) -> Any:
    """`function`, whose results go into an array like the argument at `position`: blank, if it is plain."""

    def call(args: Any, kwargs: Any) -> Any:
        if len(args) <= position:
            return function(*args, **kwargs)
        x = as_array(args[position])
        x = x if isinstance(x, Tracer) or x.dtype.kind not in "fc" else BLANK.constant(x)
        return fresh(entry(function)(*args[:position], x, *args[position + 1 :], **kwargs))

    return during_transforms(function, call, HOME)


piecewise = _applying(np.piecewise, 0)
apply_along_axis = _applying(np.apply_along_axis, 2)
apply_over_axes = _applying(np.apply_over_axes, 1)


def fromfunction(
    function: Callable[..., Any], shape: Sequence[int], *, dtype: Any = float, like: Any = None, **kwargs: Any
) -> Any:
    """`function` of the coordinates of an array of this shape.

    >>> import funcgrad.numpy as np
    >>> np.fromfunction(lambda i, j: 10 * i + j, (2, 3))
    array([[ 0.,  1.,  2.],
           [10., 11., 12.]])
    """
    extra = {} if like is None else {"like": like}
    return fresh(np.fromfunction(function, shape, dtype=dtype, **extra, **kwargs))


def fromiter(iter: Any, dtype: Any, count: int = -1, *, like: Any = None) -> Any:
    """A one-dimensional array of the first `count` items (-1: all) of an iterable of numbers or tracers.

    >>> import funcgrad.numpy as np
    >>> np.fromiter((k * k for k in range(4)), float)
    array([0., 1., 4., 9.])
    """
    if RUNNING.get() is None:
        return np.fromiter(iter, dtype, count, **({} if like is None else {"like": like}))
    items = list(iter) if count < 0 else [x for _, x in zip(range(count), iter)]
    if len(items) < count:
        raise ValueError(f"iterator too short: Expected {count} but iterator had only {len(items)} items.")
    return array(items, dtype=dtype) if holds_tracer(items) else fresh(np.fromiter(items, dtype))


def kaiser(M: int, beta: Any) -> Any:
    """The Kaiser window of `M` points, shape (M,), float64; differentiable in `beta`.

    >>> import funcgrad.numpy as np
    >>> np.kaiser(3, 2.0).round(3)
    array([0.439, 1.   , 0.439])
    """
    if not isinstance(beta, Tracer):
        return fresh(np.kaiser(M, beta))
    if M == 1:
        return np.ones_like(beta, shape=1)
    half = (M - 1) / 2
    return np.i0(beta * np.sqrt(1 - ((np.arange(M) - half) / half) ** 2)) / np.i0(beta)


# ---- element by element ----------------------------------------------------------------------------------------------
class PartCalls:
    """Calls of a function of parts of arrays: for each index in `shape`, with what the arguments have there."""

    def __init__(self, function: Callable[..., Any], args: Sequence[Any], ranks: Sequence[int]) -> None:
        self.function = function
        leads = [x.shape[: x.ndim - rank] for x, rank in zip(args, ranks, strict=True)]
        self.shape = np.broadcast_shapes(*leads)
        cores = [x.shape[x.ndim - rank :] for x, rank in zip(args, ranks, strict=True)]
        self.args = [np.broadcast_to(x, self.shape + core) for x, core in zip(args, cores, strict=True)]
        self.outs = [self.function(*(x[index] for x in self.args)) for index in np.ndindex(self.shape)]
        self.is_tuple = bool(self.outs) and isinstance(self.outs[0], tuple)

    def results(self) -> list[list[Any]]:
        """For each result of the function, the list of its values."""
        return [list(values) for values in zip(*self.outs, strict=True)] if self.is_tuple else [self.outs]

    def stacked(self, dtypes: Any) -> list[Any]:
        """The results as arrays; `dtypes` gives that of each, None means that of its first value."""
        results = self.results()
        kinds = dtypes if dtypes is not None else [as_array(values[0]).dtype for values in results]
        return [self._array(values, np.dtype(kind)) for values, kind in zip(results, kinds, strict=True)]

    def _array(self, values: list[Any], dtype: np.dtype[Any]) -> Any:
        if dtype.kind == "O":
            return _filled(values, self.shape)
        out = array_of(values)
        return fresh(out.astype(dtype).reshape(self.shape + out.shape[1:]))


def _filled(values: list[Any], shape: tuple[int, ...]) -> Any:
    """An array of objects; if there are tracers among them, of numbers."""
    if holds_tracer(values):
        return array_of(values).reshape(shape)
    out = np.empty(len(values), object)
    out[:] = values
    return out.reshape(shape)


def _core_axes(signature: str) -> tuple[list[list[str]], list[list[str]]]:
    """The names of the axes of operands and results in a signature such as '(n),(m)->(n,m)'."""
    sides = [re.findall(r"\(([^()]*)\)", side) for side in signature.replace(" ", "").split("->")]
    operands, results = ([[n for n in names.split(",") if n] for names in side] for side in sides)
    return operands, results


class vectorize(np.vectorize):
    """A function of numbers, applied to each element of arrays (or, with a signature, to each part of them).

    As numpy.vectorize, and the function may use tracers and give them:

    >>> import funcgrad.numpy as np
    >>> from funcgrad import jacrev
    >>> relu = np.vectorize(lambda x: x if x > 0 else 0.0, otypes=[float])
    >>> jacrev(relu)(np.array([2.0, -1.0]))
    array([[1., 0.],
           [0., 0.]])

    Raises:
        ValueError: an operand has too few axes for the signature, or sizes that don't agree; there is nothing
            to apply the function to, and `otypes` does not say what would come.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if RUNNING.get() is None or self.pyfunc is np._NoValue:
            return super().__call__(*args, **kwargs)
        excluded: set[Any] = self.excluded
        names = [name for name in kwargs if name not in excluded]
        places = [i for i in range(len(args)) if i not in excluded]

        def function(*parts: Any) -> Any:
            arguments = list(args)
            for i, part in zip(places, parts):
                arguments[i] = part
            return self.pyfunc(*arguments, **{**kwargs, **dict(zip(names, parts[len(places) :]))})

        operands = [as_array(x) for x in ([args[i] for i in places] + [kwargs[name] for name in names])]
        return self._looped(function, operands)

    def _looped(self, function: Callable[..., Any], operands: list[Any]) -> Any:
        signature: Any = self.signature
        cores, results = ([[]] * len(operands), None) if signature is None else _core_axes(signature)
        sizes = _sizes(cores, operands)
        loop = PartCalls(function, operands, [len(core) for core in cores])
        otypes: Any = self.otypes or None
        if not loop.outs:
            return _of_nothing(loop.shape, otypes, results, sizes)
        outs = loop.stacked(otypes)
        for out, core in zip(outs, results or ()):
            if out.ndim != len(loop.shape) + len(core):
                raise ValueError(
                    f"a result has {out.ndim - len(loop.shape)} axes, but the signature gives it {core}"
                )
        return tuple(outs) if loop.is_tuple else outs[0]


def _sizes(cores: list[list[str]], operands: list[Any]) -> dict[str, int]:
    """The size of each axis that the signature names."""
    if len(cores) != len(operands):
        raise TypeError(f"wrong number of positional arguments: expected {len(cores)}, got {len(operands)}")
    sizes: dict[str, int] = {}
    for x, core in zip(operands, cores):
        if x.ndim < len(core):
            raise ValueError(
                f"{x.ndim}-dimensional argument does not have enough dimensions for all core dimensions {core}"
            )
        for name, size in zip(core, x.shape[x.ndim - len(core) :]):
            if sizes.setdefault(name, size) != size:
                raise ValueError(f"inconsistent size for core dimension {name!r}: {size} and {sizes[name]}")
    return sizes


def _of_nothing(shape: tuple[int, ...], otypes: Any, results: Any, sizes: dict[str, int]) -> Any:
    if otypes is None:
        raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
    cores = results or [[]] * len(otypes)
    outs = [fresh(np.empty(shape + tuple(sizes[n] for n in core), kind)) for core, kind in zip(cores, otypes)]
    return tuple(outs) if len(outs) > 1 else outs[0]


class PyFunction:
    """What `frompyfunc` makes: NumPy's ufunc of objects; tracers come out as arrays of numbers."""

    def __init__(self, ufunc: np.ufunc, function: Callable[..., Any]) -> None:
        self.ufunc, self.function = ufunc, function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if RUNNING.get() is None or kwargs or len(args) != self.ufunc.nin:
            return self.ufunc(*args, **kwargs)
        loop = PartCalls(self.function, [as_array(x) for x in args], [0] * len(args))
        if not loop.outs:
            return self.ufunc(*(np.empty(x.shape) for x in loop.args))
        loop.is_tuple = self.ufunc.nout > 1
        outs = [_filled(values, loop.shape) for values in loop.results()]
        outs = [out if out.shape or isinstance(out, Tracer) else out[()] for out in outs]
        return tuple(outs) if loop.is_tuple else outs[0]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.ufunc, name)


def frompyfunc(func: Callable[..., Any], /, nin: int, nout: int, **kwargs: Any) -> Any:
    """A ufunc that calls `func` per element. Its results are object arrays; of numbers, if tracers are in.

    >>> import funcgrad.numpy as np
    >>> from funcgrad import grad
    >>> step = np.frompyfunc(lambda x, y: x if x > y else y * y, 2, 1)
    >>> grad(lambda x: np.sum(step(x, 1.0)))(np.array([0.5, 2.0]))
    array([0., 1.])
    """
    return PyFunction(np.frompyfunc(func, nin, nout, **kwargs), func)
