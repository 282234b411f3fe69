"""Tracers that hide in outputs: in other libraries' objects, in instances, in what is still lazy.

An output that holds a tracer inside would be taken for a constant: its derivative would be zeros. Where it is
plain which array is meant (a DataArray of xarray, a quantity of pint), that array takes its place; anything
else is refused.
"""

from __future__ import annotations

import functools
import gc
from collections import deque
from collections.abc import Iterable, Iterator
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from funcgrad.core.arrays.foreign import HOLDERS, called, library_of
from funcgrad.core.engine.trace import Trace, Tracer
from funcgrad.core.messages.conversions import escaped
from funcgrad.errors import OutputError

_PLAIN = frozenset(
    [
        np.ndarray,
        float,
        int,
        bool,
        complex,
        str,
        bytes,
        type(None),
        np.float64,
        np.float32,
        np.int64,
        np.bool_,
    ]
)
_NO_HOLDERS = (str, bytes, int, float, complex, np.generic, np.dtype, type, ModuleType, BuiltinFunctionType)
_MANY = 10_000  # objects; what is still hidden behind so many is not found


def revealed(trace: Trace, x: Any, transform: str) -> Any:
    """The output leaf `x`; where it is an object around a tracer of `trace`, that tracer."""
    if type(x) in _PLAIN and (type(x) is not np.ndarray or not x.dtype.hasobject):
        return x
    if isinstance(x, Tracer):
        return checked(x)
    if type(x) is np.ndarray and x.dtype.kind == "O":
        return x  # leaves.py says how to build it
    library = library_of(x)
    if library in HOLDERS:
        held = getattr(x, HOLDERS[library][0], None)
        if isinstance(held, Tracer):
            return checked(held if library != "pint" else _of_pint(x, held, transform))
    path = path_to_tracer(x, trace)
    if path is not None:
        raise OutputError(
            f"{transform}: an output is {called(x)} that holds a tracer (at x{path}), through which no derivative can be "
            "followed. Return arrays, or pytrees of them: register your own classes with funcgrad.tree.register_node."
        )
    return x


def checked(x: Tracer) -> Tracer:
    """A tracer that is an output: not one of a transform that has returned."""
    if not x._trace.is_open:
        raise escaped("the output", x._trace.transform)
    return x


def _of_pint(x: Any, held: Any, transform: str) -> Any:
    """The numbers of a quantity of pint. Percent and the like could be meant either way."""
    if x.dimensionless and not x.unitless:
        raise OutputError(
            f"{transform}: an output is in {x.units}. Write x.m_as('') or x.magnitude, whichever is meant."
        )
    return held


def path_to_tracer(x: Any, trace: Trace) -> str | None:
    """Where inside `x` a tracer of `trace`, or of a transform that has returned, hides; None if nowhere."""
    seen, queue = {id(x)}, deque([("", x)])
    alive = [x]  # what is made on the way must not give its id to another
    while queue and len(seen) < _MANY:
        path, holder = queue.popleft()
        for step, part in _parts(holder):
            if isinstance(part, Tracer):
                if part._trace is trace or not part._trace.is_open:
                    return path + step
            elif not isinstance(part, _NO_HOLDERS) and part is not None and id(part) not in seen:
                seen.add(id(part))
                alive.append(part)
                queue.append((path + step, part))
    return None


def _parts(x: Any) -> Iterable[tuple[str, Any]]:
    """What `x` holds, and how one gets there."""
    if isinstance(x, np.ndarray):
        return ((f".flat[{i}]", v) for i, v in enumerate(x.ravel().tolist())) if x.dtype.hasobject else ()
    if isinstance(x, dict):
        return ((f"[{k!r}]", v) for k, v in [*x.items()])
    if isinstance(x, (list, tuple, set, frozenset, deque)):
        return ((f"[{i}]", v) for i, v in enumerate([*x]))
    if isinstance(x, functools.partial):
        return (("(function)", x.func), ("(arguments)", x.args), ("(arguments)", x.keywords))
    if isinstance(x, FunctionType):
        return (("(closure)", v) for v in (*(x.__closure__ or ()), x.__defaults__, x.__kwdefaults__))
    if isinstance(x, MethodType):
        return ((".__self__", x.__self__), ("", x.__func__))
    if isinstance(x, CellType):
        return (("", v) for v in _content(x))
    if type(x).__module__.startswith("funcgrad."):
        return ()
    return _attributes(x)


def _content(cell: CellType) -> Iterator[Any]:
    try:
        yield cell.cell_contents
    except ValueError:  # empty
        return


def _attributes(x: Any) -> Iterator[tuple[str, Any]]:
    """An object's attributes, and a graph yet to be computed; of compiled objects what they refer to."""
    graph = getattr(type(x), "__dask_graph__", None)
    if graph is not None:
        yield ".__dask_graph__()", dict(graph(x) or {})
    for name, value in list(getattr(x, "__dict__", {}).items()):
        yield f".{name}", value
    slots = [
        name for cls in type(x).__mro__ for name in _slots(cls) if name not in ("__dict__", "__weakref__")
    ]
    for name in slots:
        value = getattr(x, name, None)
        if value is not None:
            yield f".{name}", value
    if not slots and not getattr(x, "__dict__", None):
        yield from ((" (inside)", part) for part in gc.get_referents(x))


def _slots(cls: type) -> Iterable[str]:
    slots = vars(cls).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else slots
