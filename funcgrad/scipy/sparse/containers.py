"""SciPy's sparse arrays and matrices, which may be made of tracers and meet tracers.

A container of plain entries is a subclass of SciPy's: it works as that does, and hands tracers on. One of
tracers is a TracedSparse.
"""

from __future__ import annotations

from abc import ABCMeta
from typing import Any

import numpy as np
import scipy.sparse as ss

from funcgrad.core.engine.primitive import as_operand
from funcgrad.core.engine.trace import RUNNING, Tracer
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.mirror import carries_tracer
from funcgrad.scipy.sparse.structure import Pattern
from funcgrad.scipy.sparse.traced import FORMATS, TracedSparse, answered, constant_times, traced

sparse = Chapter("sparse")
OURS: dict[type, type] = {}


def ours(x: Any) -> Any:
    """A sparse container of SciPy's, which has just been made, as one that may meet tracers."""
    if isinstance(x, (tuple, list)):
        return type(x)(ours(item) for item in x) if not hasattr(x, "_fields") else x
    kind = OURS.get(type(x))
    if kind is None:
        return x
    made = object.__new__(kind)
    made.__dict__.update(x.__dict__)
    return made


class _ContainerMeta(ABCMeta):
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if RUNNING.get() is not None and carries_tracer((args, kwargs)):
            return _of_tracers(cls, *args, **kwargs)
        return super().__call__(*args, **kwargs)

    def __instancecheck__(cls, x: Any) -> bool:
        if isinstance(x, TracedSparse):
            name = cls.__name__
            return x.format == name[:3] and x.is_array == name.endswith("array")
        return super().__instancecheck__(x)


class _Entered:
    """The operators: a tracer on the other side is taken over."""

    __slots__ = ()

    def __carries_tracer__(self) -> bool:
        return False

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return answered(self, ufunc, method, inputs, kwargs)


def _operator(name: str) -> Any:
    def call(self: Any, other: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(other, Tracer) and name in ("__matmul__", "dot") and other.ndim:
            return constant_times(self, other)
        if isinstance(other, Tracer) and name == "__rmatmul__":
            return constant_times(self.T, other) if other.ndim == 1 else constant_times(self.T, other.T).T
        if isinstance(other, (Tracer, TracedSparse)):
            return getattr(traced(self), name)(other, *args, **kwargs)
        return ours(getattr(super(type(self), self), name)(other, *args, **kwargs))

    call.__name__ = name
    return call


_NAMES = "__matmul__ __rmatmul__ __mul__ __rmul__ __add__ __radd__ __sub__ __rsub__ __truediv__ multiply dot"
_OPERATORS = _NAMES.split()


def _container(theirs: type) -> type:
    members: dict[str, Any] = {name: _operator(name) for name in _OPERATORS if hasattr(theirs, name)}
    kind = "array" if theirs.__name__.endswith("array") else "matrix"
    for other in FORMATS:
        members[f"_{other}_container"] = property(
            lambda self, name=f"{other}_{kind}": OURS[getattr(ss, name)]
        )
    names = {
        "__doc__": (theirs.__doc__ or "").replace(">>> ", ""),  # its examples are for SciPy
        "__module__": "funcgrad.scipy.sparse",
        "__qualname__": theirs.__name__,
    }
    made = _ContainerMeta(theirs.__name__, (_Entered, theirs), members | names)
    OURS[theirs] = made
    return sparse.replaces(theirs.__name__, made)


# ---- made of tracers -----------------------------------------------------------------------------------------------------


def _of_tracers(
    cls: type, arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False, **kwargs: Any
) -> TracedSparse:
    name = cls.__name__
    data, structure = _entries(name[:3], arg1, shape, kwargs)
    if dtype is not None:
        data = data.astype(dtype)
    made = TracedSparse(data, structure, name[:3], name.endswith("array"))
    if name[:3] in ("csr", "csc") and isinstance(arg1, tuple) and len(arg1) == 2:
        # entries in one place are added up
        return TracedSparse(data, structure, "coo", made.is_array).asformat(name[:3])
    return made


def _entries(kind: str, arg1: Any, shape: Any, kwargs: dict[str, Any]) -> tuple[Any, Pattern]:
    if isinstance(arg1, TracedSparse) or ss.issparse(arg1):
        made = traced(arg1).asformat(kind)
        return made.data, made.structure
    if kind == "dia" and isinstance(arg1, tuple) and len(arg1) == 2:
        return _of_diagonals(*arg1, shape)
    if kind == "bsr" and isinstance(arg1, tuple) and len(arg1) == 3:
        return _of_blocks(*arg1, shape)
    if isinstance(arg1, tuple) and len(arg1) == 3:
        data, indices, pointers = as_operand(arg1[0]), np.asarray(arg1[1]), np.asarray(arg1[2])
        major = np.repeat(np.arange(len(pointers) - 1), np.diff(pointers))
        minor_size = int(indices.max(initial=-1)) + 1
        if kind == "csr":
            return data, Pattern(major, indices, shape or (len(pointers) - 1, minor_size))
        return data, Pattern(indices, major, shape or (minor_size, len(pointers) - 1))
    if isinstance(arg1, tuple) and len(arg1) == 2 and isinstance(arg1[1], (tuple, list)):
        rows, cols = (np.asarray(x) for x in arg1[1])
        return as_operand(arg1[0]), Pattern(rows, cols, shape or (int(rows.max()) + 1, int(cols.max()) + 1))
    made = traced(as_operand(arg1))
    return made.data, made.structure


def _of_diagonals(data: Any, offsets: Any, shape: Any) -> tuple[Any, Pattern]:
    data, offsets = np.atleast_2d(as_operand(data)), np.atleast_1d(np.asarray(offsets))
    k, j = np.indices(data.shape)
    i = j - offsets[k]
    inside = (i >= 0) & (i < shape[0]) & (j < shape[1])
    return data[k[inside], j[inside]], Pattern(i[inside], j[inside], shape)


def _of_blocks(data: Any, indices: Any, pointers: Any, shape: Any) -> tuple[Any, Pattern]:
    data, indices, pointers = as_operand(data), np.asarray(indices), np.asarray(pointers)
    count, r, c = data.shape
    major = np.repeat(np.arange(len(pointers) - 1), np.diff(pointers))
    _, i, j = np.indices((count, r, c))
    rows, cols = major[:, None, None] * r + i, indices[:, None, None] * c + j
    shape = shape or ((len(pointers) - 1) * r, (int(indices.max()) + 1) * c)
    return data.reshape(-1), Pattern(rows.reshape(-1), cols.reshape(-1), shape)


for _format in FORMATS:
    for _kind in ("array", "matrix"):
        _container(getattr(ss, f"{_format}_{_kind}"))
