"""The two directions, of functions of one argument: make_vjp and make_jvp."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.compat.autograd.primitives import (
    JVPNode,
    Node,
    VJPNode,
    def_linear,
    defjvp,
    defjvp_argnum,
    defjvp_argnums,
    defvjp,
    defvjp_argnum,
    defvjp_argnums,
    getval,
    isbox,
    notrace_primitive,
    primitive,
    primitive_jvps,
    primitive_vjps,
    register_notrace,
)
from funcgrad.compat.autograd.spaces import VSpace, vspace
from funcgrad.core.engine.trace import Tracer
from funcgrad.transforms.derivatives import jvp as _jvp
from funcgrad.transforms.derivatives import vjp as _vjp

__all__ = [
    "JVPNode",
    "Node",
    "SparseObject",
    "VJPNode",
    "VSpace",
    "def_linear",
    "defjvp",
    "defjvp_argnum",
    "defjvp_argnums",
    "defvjp",
    "defvjp_argnum",
    "defvjp_argnums",
    "getval",
    "isbox",
    "make_jvp",
    "make_vjp",
    "notrace_primitive",
    "primitive",
    "primitive_jvps",
    "primitive_vjps",
    "register_notrace",
    "sparse_add",
    "vspace",
]


def _inexact(x: Any) -> Any:
    """A leaf to differentiate in: integers count as numbers."""
    if isinstance(x, Tracer):
        return x
    if isinstance(x, (bool, int, np.bool_, np.integer)):
        return float(x)
    if isinstance(x, np.ndarray) and x.dtype.kind in "iub":
        return x.astype(float)
    if not isinstance(x, (float, complex)) and not hasattr(x, "dtype"):
        raise TypeError(
            f"Can't differentiate in a {type(x).__name__}: use numbers, arrays, and lists, tuples or dicts of them"
        )
    return x


def _noticing(fun: Callable[..., Any], depends: list[bool]) -> Callable[..., Any]:
    """`fun`, which notes whether its output depends on its argument."""

    def noticed(x: Any) -> Any:
        traces = {leaf._trace for leaf in tree.leaves(x) if isinstance(leaf, Tracer)}
        out = fun(x)
        depends.append(
            any(
                isinstance(o, Tracer) and o._trace in traces and o._node is not None for o in tree.leaves(out)
            )
        )
        return out

    return noticed


def _warn_if_independent(depends: list[bool]) -> None:
    if not depends[-1]:
        warnings.warn("Output seems independent of input.", stacklevel=4)


def make_vjp(fun: Callable[[Any], Any], x: Any) -> tuple[Callable[[Any], Any], Any]:
    """The function that pulls cotangents back, and the value, of a function of one argument.

    >>> import numpy as np
    >>> pull, value = make_vjp(np.square, 3.0)
    >>> float(pull(1.0)), float(value)
    (6.0, 9.0)
    """
    depends: list[bool] = []
    x = tree.map(_inexact, x)
    value, pullback = _vjp(_noticing(fun, depends), x)
    if not depends[-1]:
        _warn_if_independent(depends)
        return lambda g: vspace(x).zeros(), value

    def vjp(g: Any) -> Any:
        return pullback(tree.map(_like, g, value))[0]

    return vjp, value


def _like(g: Any, value: Any) -> Any:
    """A cotangent as the sweep takes it: of the value's shape and dtype, cast where NumPy allows."""
    shape, dtype = np.shape(value), getattr(value, "dtype", np.dtype(type(value)))
    if isinstance(g, (bool, int, float, complex)) or np.shape(g) != shape:
        g = np.broadcast_to(g, shape) if not isinstance(g, Tracer) and np.size(g) == 1 else g
    if getattr(g, "dtype", dtype) != dtype and dtype.kind in "fc":
        return np.real(g).astype(dtype) if dtype.kind == "f" and g.dtype.kind == "c" else g.astype(dtype)
    return g


def make_jvp(fun: Callable[[Any], Any], x: Any) -> Callable[[Any], tuple[Any, Any]]:
    """The function that pushes tangents of `x`: it returns the value and the tangent of the output.

    >>> import numpy as np
    >>> value, t = make_jvp(np.square, 3.0)(1.0)
    >>> float(value), float(t)
    (9.0, 6.0)
    """
    x = tree.map(_inexact, x)

    def jvp(g: Any) -> tuple[Any, Any]:
        depends: list[bool] = []
        value, t = _jvp(_noticing(fun, depends), (x,), (tree.map(_like, g, x),))
        if not depends[-1]:
            _warn_if_independent(depends)
            return value, vspace(value).zeros()
        return value, t

    return jvp


class SparseObject:
    """A contribution to a cotangent, added in its place: `mut_add(x)` adds it to `x` and returns that."""

    __slots__ = ("mut_add", "vs")

    def __init__(self, vs: VSpace, mut_add: Callable[[Any], Any]) -> None:
        self.vs, self.mut_add = vs, mut_add


def sparse_add(vs: VSpace, x: Any, sparse: SparseObject) -> Any:
    """`x` (None is zero) with a sparse contribution added."""
    return sparse.mut_add(vs.zeros() if x is None else x)
