"""A strict duck array: it speaks NumPy's protocols and nothing else.

It stands for the arrays of other libraries (CuPy, Dask, sparse). It refuses to become an ndarray, to be
written into one (as into a bare `np.zeros`), and `out=`; constants beside it may be ndarrays. It lies on a device,
where all that is made of it lies, too, and does not compute with what lies on another. A rule that works on it works
on them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from funcgrad import tree


class StrictnessError(TypeError):
    """What the duck array was asked for, it does not do."""


class Strict(NDArrayOperatorsMixin):
    """A duck array around a plain one."""

    def __init__(self, data: Any, device: str = "device 1") -> None:
        self._data, self.device = data, device

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("out") is not None:
            raise StrictnessError(f"{ufunc.__name__} with out=")
        if method == "at" and not isinstance(args[0], Strict):
            raise StrictnessError(f"{ufunc.__name__}.at of an ndarray")
        device = device_of((args, *kwargs.values()))
        found = getattr(ufunc, method)(*map(bare, args), **{k: bare(v) for k, v in kwargs.items()})
        return wrapped(found, device)

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        if kwargs.get("out") is not None:
            raise StrictnessError(f"{function.__name__} with out=")
        device = device_of((args, *kwargs.values()))
        return wrapped(function(*map(bare, args), **{k: bare(v) for k, v in kwargs.items()}), device)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise StrictnessError("np.asarray")

    def __getitem__(self, index: Any) -> Any:
        return wrapped(self._data[bare(index)], self.device)

    def __setitem__(self, index: Any, v: Any) -> None:
        self._data[bare(index)] = bare(v)

    def __len__(self) -> int:
        return len(self._data)

    def __bool__(self) -> bool:
        return bool(self._data)

    def __int__(self) -> int:
        return int(self._data)

    def __index__(self) -> int:
        return self._data.__index__()

    def __float__(self) -> float:
        raise StrictnessError("float(x)")

    def __iter__(self) -> Any:
        return (wrapped(v, self.device) for v in self._data)

    def __repr__(self) -> str:
        return f"Strict({self._data!r})"


def _attribute(name: str) -> property:
    return property(lambda x: wrapped(getattr(x._data, name), x.device))


def _method(name: str) -> Callable[..., Any]:
    def method(x: Strict, *args: Any, **kwargs: Any) -> Any:
        device = device_of((x, args, *kwargs.values()))
        return wrapped(
            getattr(x._data, name)(*map(bare, args), **{k: bare(v) for k, v in kwargs.items()}), device
        )

    return method


for _name in ("add", "sub", "mul", "truediv"):  # x += y makes a new array, as with arrays that can't change
    setattr(Strict, f"__i{_name}__", getattr(Strict, f"__{_name}__"))
for _name in ("shape", "dtype", "ndim", "size", "itemsize", "nbytes", "T", "mT", "real", "imag"):
    setattr(Strict, _name, _attribute(_name))
for _name in """
    sum prod mean max min any all argmax argmin argsort cumsum cumprod reshape ravel transpose swapaxes squeeze astype copy conj
    conjugate repeat take diagonal trace dot nonzero round clip searchsorted flatten
""".split():  # noqa: SIM905
    setattr(Strict, _name, _method(_name))


def device_of(operands: Any) -> str:
    """The one device where the duck arrays among the operands lie."""
    found = {x.device for x in tree.leaves(operands) if isinstance(x, Strict)}
    if len(found) != 1:
        raise StrictnessError(f"operands on {sorted(found)}")
    return found.pop()


def wrapped(x: Any, device: str) -> Any:
    """The arrays and NumPy numbers in `x`, as duck arrays on this device."""
    if isinstance(x, (tuple, list)):
        parts = [wrapped(v, device) for v in x]
        return x._make(parts) if hasattr(x, "_make") else type(x)(parts)
    return Strict(x, device) if isinstance(x, (np.ndarray, np.inexact)) and x.dtype.kind in "fcb" else x


def bare(x: Any) -> Any:
    """What the duck arrays in `x` hold."""
    if isinstance(x, (tuple, list)):
        return type(x)(map(bare, x))
    return x._data if isinstance(x, Strict) else x
