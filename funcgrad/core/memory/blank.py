"""New arrays inside a transform: nothing in them is traced yet, but a tracer may be written into them.

A plain array can't hold a tracer, and NumPy asks nobody when one is assigned to its elements. So
`funcgrad.numpy` makes new arrays *blank* while a transform runs: tracers of a trace beneath all others (level
-1), which never closes. What is computed from blank arrays alone is plain NumPy, and blank again. Beside
tracers of another trace a blank array is the plain array that it holds; and when such a tracer is written
into it, it becomes a tracer of that trace (`raise_to` in mutation.py). Since no derivative is lost by looking
at a blank array, it may be converted, printed and pickled like a plain one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.engine.catalogue import Unsupported, known
from funcgrad.core.engine.primitive import Call, Opaque, Primitive
from funcgrad.core.engine.trace import RUNNING, Trace, Tracer, bind, lower, rebuilt, snapshot
from funcgrad.core.memory.looks import Look, look, looked_through
from funcgrad.typed import override

# Functions that write into their first argument.
FILLING = frozenset([np.copyto, np.place, np.putmask, np.put, np.put_along_axis, np.fill_diagonal])


def _fills_plain(outs: Any) -> bool:
    """Does a call write into a plain array? (No derivative is lost unless something traced is written.)"""
    return any(isinstance(x, np.ndarray) for x in outs) and not any(isinstance(x, Tracer) for x in outs)


def only_fills_plain(function: Any, args: Any, kwargs: Any) -> bool:
    """Does this call write into a plain array what is not traced?"""
    filled = args[:1] if function in FILLING else (kwargs.get("out"),)
    return _fills_plain(filled) and not _is_traced((*args, *kwargs.values()))


def filling_plain(function: Any, args: Any, kwargs: Any) -> Any:
    """That call: it is NumPy's."""
    out = function(*map(plain, args), **{k: plain(v) for k, v in kwargs.items()})
    return kwargs.get("out", out)


def _is_traced(items: Any) -> bool:
    """Is there a tracer that is not blank among these, or in lists among them?"""
    return any(
        isinstance(x, Tracer)
        and not isinstance(x, BlankTracer)
        or isinstance(x, (list, tuple))
        and _is_traced(x)
        for x in items
    )


class BlankTracer(Tracer):
    """An array in which nothing is traced yet."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        outs = args[:1] if method == "at" else kwargs.get("out") or ()
        if not _fills_plain(outs) or _is_traced((*args, *kwargs.values())):
            return super().__array_ufunc__(ufunc, method, *args, **kwargs)
        getattr(ufunc, method)(*map(plain, args), **{k: plain(v) for k, v in kwargs.items()})
        return None if method == "at" else outs[0] if len(outs) == 1 else outs

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        entry = known(function)
        if only_fills_plain(function, args, kwargs):
            return filling_plain(function, args, kwargs)
        if entry is None or isinstance(entry, Unsupported):
            # Such as np.save: what has no derivative has none to lose.
            return BLANK.constant(function(*map(plain, args), **{k: plain(v) for k, v in kwargs.items()}))
        return super().__array_function__(function, types, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        """An attribute of memory (strides, flags, ...) is that of the plain array."""
        value = self._value
        if isinstance(self, BlankTracer) and not name.startswith("__"):
            return getattr(value, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)


def _of_plain(name: str) -> Callable[..., Any]:
    """A method that is that of the plain array."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        value = self._value  # asked first: a stale view looks anew, and may turn out to be traced
        if isinstance(self, BlankTracer):
            return getattr(value, name)(*args, **kwargs)
        return getattr(self, name)(*args, **kwargs)

    method.__name__ = name
    return method


def _array(self: Any, dtype: Any = None, copy: bool | None = None) -> Any:
    value = self._value
    return np.array(value, dtype, copy=copy) if isinstance(self, BlankTracer) else self.__array__(dtype, copy)


BlankTracer.__array__ = _array
for _name in (
    "__complex__",
    "__repr__",
    "__str__",
    "__format__",
    "__reduce_ex__",
    "__reduce__",
    "item",
    "tolist",
    "tobytes",
):
    setattr(BlankTracer, _name, _of_plain(_name))


def _of_plain_operands(name: str) -> Callable[..., Any]:
    """An operator; on plain operands, which are many in loops, without the engine."""

    def operator(x: Any, y: Any) -> Any:
        if type(x) is BlankTracer:
            y = y._value if type(y) is BlankTracer else y
            if type(y) is np.ndarray or type(y) in (float, int, np.float64):
                return BLANK.constant(getattr(x._value, name)(y))
        return getattr(super(BlankTracer, x), name)(y)

    operator.__name__ = name
    return operator


for _name in ("add", "sub", "mul", "truediv", "pow"):
    setattr(BlankTracer, f"__{_name}__", _of_plain_operands(f"__{_name}__"))
    setattr(BlankTracer, f"__r{_name}__", _of_plain_operands(f"__r{_name}__"))


class BlankTrace(Trace):
    """The trace of blank arrays. It lies beneath all others, and never closes."""

    __slots__ = ()
    transform = "no transform"
    tracer_type = BlankTracer

    def __init__(self) -> None:
        super().__init__()
        self.level = -1

    @override
    def apply(self, primitive: Primitive | Opaque, call: Call) -> Any:
        return self.constant(bind(primitive, call.with_operands([lower(self, x) for x in call.operands])))

    @override
    def wrap(self, value: Any, node: Any) -> Any:
        """Other traces keep a blank array's plain value; with two holders it is copied before a write."""
        return value

    @override
    def constant(self, value: Any) -> Any:
        if isinstance(value, (tuple, list)):
            return rebuilt(value, [self.constant(v) for v in value])
        if type(value) is not np.ndarray:
            return value  # numbers
        if value.dtype.kind in "fc":
            return super().wrap(value, None)
        return look(value) if value.dtype.kind in "iub" and RUNNING.get() is not None else value


BLANK = BlankTrace()


def fresh(x: Any) -> Any:
    """`x`, an array just made (or several): blank, if a transform is running."""
    return x if RUNNING.get() is None else BLANK.constant(x)


Look.fresh, Look.blank = staticmethod(fresh), BlankTracer


def plain(x: Any) -> Any:
    """`x`, or what it holds if it is blank; also in lists."""
    if isinstance(x, (tuple, list)):
        return rebuilt(x, [plain(v) for v in x])
    return snapshot(x) if isinstance(x, BlankTracer) else looked_through(x)
