"""Looks: plain arrays from which blank ones are computed.

Integers and booleans have no derivative, and an array that was there before the transform is plain; but what
is computed from them (`np.arange(n) / 2`, `1.0 + (y > 0)`, `data.copy()`) is a new array of floats, into
which tracers may come to be written. A look is NumPy's own array for everybody, C code included. It differs
in what functions, operators and methods give of it while a transform runs: blank arrays in the place of plain
ones, and looks in the place of integers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.engine.trace import RUNNING, Tracer, hand_out_counted, rebuilt
from funcgrad.errors import TracerWriteError, is_ours, user_line


class Look(np.ndarray):
    """A plain array from which blank ones are computed."""

    __slots__ = ()
    fresh: Callable[[Any], Any]  # what a new array is handed out as (blank.py)
    blank: type  # that of blank arrays

    def __operand__(self) -> Any:
        return self.view(np.ndarray)

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        if any(isinstance(x, Tracer) for x in (*args, *(out or ()))):
            if (
                out
                and type(out[0]) is Look
                and any(isinstance(x, Tracer) and not isinstance(x, Look.blank) for x in args)
            ):
                raise _written_to(
                    f"np.{ufunc.__name__}(..., out=a), or an operator such as `a += x`, at {user_line()}",
                    out[0],
                )
            return NotImplemented
        if out is not None:
            kwargs["out"] = tuple(map(looked_through, out))
        results = getattr(ufunc, method)(
            *map(looked_through, args), **{k: looked_through(v) for k, v in kwargs.items()}
        )
        if out is None:
            return Look.fresh(results)
        return (
            out[0]
            if len(out) == 1
            else tuple(target if target is not None else x for target, x in zip(out, results))
        )

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if any(issubclass(kind, Tracer) for kind in types):
            return NotImplemented
        plain_args = looked_through(args)
        plain_kwargs = {k: looked_through(v) for k, v in kwargs.items()}
        return handed_out(function(*plain_args, **plain_kwargs), (plain_args, tuple(plain_kwargs.values())))

    def __getitem__(self, index: Any) -> Any:
        out = super().__getitem__(index)
        if type(out) is Look and out.dtype.kind in "fc" and not _is_basic(index):
            return Look.fresh(out.view(np.ndarray))
        return out

    def __setitem__(self, index: Any, v: Any) -> None:
        if isinstance(v, Tracer) and not isinstance(v, Look.blank):
            if self.dtype.kind not in "iub":
                raise _written_to(f"a[index] = x at {user_line()}", self)
            v = v.astype(self.dtype)  # cut off, and so constant
        super().__setitem__(index, v)

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()


def _written_to(what: str, x: Any) -> TracerWriteError:
    return TracerWriteError(
        f"{what} would write a tracer into an array (shape {x.shape}, {x.dtype}) that is plain: it was there before the function "
        "ran, or looks into one that was, or holds integers. Make the array inside the function (build the object that has it "
        "there), or begin with a = a.copy(), in floats."
    )


def _is_basic(index: Any) -> bool:
    items = index if type(index) is tuple else (index,)
    return not any(isinstance(i, (list, np.ndarray)) for i in items)


def look(x: np.ndarray) -> Look:
    """`x`, as a look into the same memory."""
    return x.view(Look)


class _Audience:
    """For whom integers and booleans from traced values are looks, too."""

    adapted = False  # for all, while an adapted program runs
    numpy: Any = None  # else for code whose globals have funcgrad.numpy, if anybody has imported it


def _counted(value: Any) -> Any:
    if type(value) is np.ndarray and value.dtype.kind in "iub" and (_Audience.adapted or _knows_tracers()):
        return look(value)
    return value


def _knows_tracers() -> bool:
    """Has the module of the code that asks imported funcgrad.numpy?"""
    frame: Any = sys._getframe(2)
    while frame is not None and is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None or _Audience.numpy is None:
        return False
    space = frame.f_globals
    size, has_it = _HAVING.get(id(space), (0, False))
    if size != len(space):
        has_it = any(x is _Audience.numpy for x in space.copy().values())
        _HAVING[id(space)] = (len(space), has_it)
    names = frame.f_code.co_names  # of what is imported inside the function, too
    return has_it or "funcgrad.numpy" in names or "funcgrad" in names and "numpy" in names


# By the identity of a module's globals, their number, and whether funcgrad.numpy is among them.
_HAVING: dict[int, tuple[int, bool]] = {}


def hand_out_looks(*, adapted: bool | None = None, numpy: Any = None) -> None:
    """Say for whom: `adapted` programs, which run or do not; and those that have imported `numpy`."""
    _Audience.adapted = _Audience.adapted if adapted is None else adapted
    _Audience.numpy = numpy or _Audience.numpy
    hand_out_counted(_counted if _Audience.adapted or _Audience.numpy else None)


def looked_through(x: Any) -> Any:
    """The plain array of a look; also in lists."""
    if type(x) is Look:
        return x.view(np.ndarray)
    if type(x) in (list, tuple):
        return rebuilt(x, [looked_through(item) for item in x])
    return x


def handed_out(out: Any, args: Any) -> Any:
    """What a function gave of plain arguments while a transform runs: blank, where it is new; a look, where
    it is one of the arguments or looks into one.
    """
    if RUNNING.get() is None:
        return out
    if isinstance(out, (tuple, list)):
        return rebuilt(out, [handed_out(item, args) for item in out])
    if type(out) is not np.ndarray:
        return out
    if out.dtype.kind in "fc" and (out.base is not None or _is_among(out, args)) and _shares(out, args):
        return look(out)
    return Look.fresh(out)


def _is_among(x: Any, items: Any) -> bool:
    return any(item is x or type(item) in (list, tuple) and _is_among(x, item) for item in items)


def _shares(x: Any, items: Any) -> bool:
    return any(
        isinstance(item, np.ndarray)
        and np.may_share_memory(x, item)
        or type(item) in (list, tuple)
        and _shares(x, item)
        for item in items
    )


def _of_plain(name: str) -> Callable[..., Any]:
    """A method that makes a new array."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if any(isinstance(x, Tracer) for x in (*args, *kwargs.values())):
            return getattr(np, name)(self, *args, **kwargs)
        out = kwargs.get("out")
        result = getattr(self.view(np.ndarray), name)(
            *looked_through(args), **{k: looked_through(v) for k, v in kwargs.items()}
        )
        return Look.fresh(result) if out is None else out

    method.__name__ = name
    return method


def _as_plain(name: str) -> Callable[..., Any]:
    return lambda self, *args: getattr(self.view(np.ndarray), name)(*args)


_NEW = (
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "astype", "choose", "clip", "compress", "conj", "conjugate",
    "copy", "cumprod", "cumsum", "dot", "flatten", "max", "mean", "min", "nonzero", "prod", "repeat", "round", "searchsorted",
    "std", "sum", "take", "trace", "var", "__copy__",
)  # fmt: skip
for _name in _NEW:
    setattr(Look, _name, _of_plain(_name))
for _name in ("__repr__", "__str__", "__reduce__", "__reduce_ex__"):
    setattr(Look, _name, _as_plain(_name))
