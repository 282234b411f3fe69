"""The two directions, of functions of one argument: make_vjp and make_jvp."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.compat.autograd.spaces import VSpace, vspace
from funcgrad.compat.autograd.tracer import Box, Node, getval, isbox, trace
from funcgrad.compat.autograd.util import func, subval, subvals, toposort
from funcgrad.core.engine.trace import Tracer
from funcgrad.transforms.derivatives import jvp as _jvp
from funcgrad.transforms.recording import record

__all__ = [
    "Box", "JVPNode", "Node", "SparseBox", "SparseObject", "VJPNode", "VSpace", "add_outgrads", "backward_pass", "func",
    "getval", "isbox", "make_jvp", "make_vjp", "sparse_add", "sparse_object_types", "subval", "subvals", "sum_outgrads",
    "toposort", "trace", "vspace",
]  # fmt: skip
_OF_PRIMITIVES = frozenset(
    [
        "def_linear",
        "defjvp",
        "defjvp_argnum",
        "defjvp_argnums",
        "defvjp",
        "defvjp_argnum",
        "defvjp_argnums",
        "deprecated_defgrad",
        "deprecated_defvjp",
        "deprecated_defvjp_is_zero",
        "identity_jvp",
        "identity_vjp",
        "notrace_primitive",
        "primitive",
        "primitive_jvps",
        "primitive_vjps",
        "primitive_with_deprecation_warnings",
        "register_notrace",
        "translate_jvp",
        "translate_vjp",
    ]
)  # fmt: skip  (which take longer to load)


class _ValueGuard:
    """In the place of a trace: what makes a box refuses its value, or does not."""

    def wrap(self, value: Any, node: Any) -> Any:
        return value


def _inexact(x: Any) -> Any:
    """A leaf to differentiate in: integers count as numbers."""
    if isinstance(x, Tracer):
        return x
    mapped = Box.type_mappings.get(type(x))
    if mapped is not None and not isinstance(mapped, type):
        x = mapped(x, _ValueGuard(), None)
    if mapped is not None and isinstance(x, np.ndarray):
        x = x.view(np.ndarray)
    if isinstance(x, (bool, int, np.bool_, np.integer)):
        return float(x)
    if isinstance(x, np.ndarray) and x.dtype.kind in "iub":
        return x.astype(float)
    if not isinstance(x, (float, complex)) and not hasattr(x, "dtype"):
        raise TypeError(
            f"Can't differentiate in a {type(x).__name__}: use numbers, arrays, and lists, tuples or dicts of them"
        )
    return x


def _watchable(x: Any) -> Any:
    """An argument to differentiate in."""
    return x if type(x) is np.ndarray and x.dtype.kind in "fc" else tree.map(_inexact, x)


def _warn() -> None:
    warnings.warn("Output seems independent of input.", stacklevel=4)


def make_vjp(fun: Callable[[Any], Any], x: Any) -> tuple[Callable[[Any], Any], Any]:
    """The function that pulls cotangents back, and the value, of a function of one argument.

    >>> import numpy as np
    >>> pull, value = make_vjp(np.square, 3.0)
    >>> float(pull(1.0)), float(value)
    (6.0, 9.0)
    """
    return _recorded(fun, x, lasting=True)


def _recorded(fun: Callable[[Any], Any], x: Any, *, lasting: bool) -> tuple[Callable[[Any], Any], Any]:
    x = _watchable(x)
    value, pullback, _ = record(fun, (x,), {}, transform="make_vjp", keep_tracers=True, lasting=lasting)
    if not any(node is not None for node, _ in pullback.ends):
        _warn()
        return lambda g: vspace(x).zeros(), value

    def vjp(g: Any) -> Any:
        if pullback.structure is tree.LEAF:
            return pullback(_like(g, value))[0]
        return pullback(tree.map(_like, g, value))[0]

    return vjp, value


def gradient(fun: Callable[[Any], Any], x: Any, seed: Callable[[Any], Any]) -> tuple[Any, Any]:
    """The value, and what is pulled back from the cotangent that `seed` makes of it."""
    pull, value = _recorded(fun, x, lasting=False)
    return value, pull(seed(value))


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
    x = _watchable(x)

    def jvp(g: Any) -> tuple[Any, Any]:
        depends: list[bool] = []

        def noticed(x: Any) -> Any:
            traces = {leaf._trace for leaf in tree.leaves(x) if isinstance(leaf, Tracer)}
            out = fun(x)
            tracers = [o for o in tree.leaves(out) if isinstance(o, Tracer) and o._trace in traces]
            depends.append(any(o._node is not None for o in tracers))
            return out

        value, t = _jvp(noticed, (x,), (tree.map(_like, g, x),), keep_tracers=True)
        if not depends[-1]:
            _warn()
            return value, vspace(value).zeros()
        return value, t

    return jvp


class SparseObject:
    """A contribution to a cotangent, added in its place: `mut_add(x)` adds it to `x` and returns that."""

    __slots__ = ("mut_add", "vs")

    def __init__(self, vs: VSpace, mut_add: Callable[[Any], Any]) -> None:
        self.vs, self.mut_add = vs, mut_add


class SparseBox(Box):
    """The class of watched sparse contributions."""


sparse_object_types = {SparseObject}


def sparse_add(vs: VSpace, x: Any, sparse: SparseObject) -> Any:
    """`x` (None is zero) with a sparse contribution added."""
    return sparse.mut_add(vs.zeros() if x is None else x)


def add_outgrads(sum_and_flag: Any, g: Any) -> tuple[Any, bool]:
    """A sum of cotangents, so far (with whether it may be written into; None is zero), and one more."""
    x, may_write = sum_and_flag or (None, False)
    if type(g) is SparseObject:
        return sparse_add(g.vs, x if may_write or x is None else g.vs.add(g.vs.zeros(), x), g), True
    if x is None:
        return g, False
    space = vspace(g)
    return (space.mut_add if may_write else space.add)(x, g), True


def sum_outgrads(gs: Iterable[Any]) -> Any:
    """The sum of cotangents."""
    total: Any = None
    for g in gs:
        total = add_outgrads(total, g)
    return None if total is None else total[0]


class VJPNode(Node):
    """A node of reverse mode, for `tracer.trace`: `vjp(g)` gives the cotangents of its parents."""

    __slots__ = ("parents", "vjp")
    direction = "reverse"

    def __init__(
        self, value: Any, fun: Any, args: Any, kwargs: Any, parent_argnums: Any, parents: Any
    ) -> None:
        self.parents = parents
        self.vjp = make_vjp(*_in_parents(fun, args, kwargs, parent_argnums))[0]

    def initialize_root(self) -> None:
        self.parents, self.vjp = (), lambda g: ()


class JVPNode(Node):
    """A node of forward mode, for `tracer.trace`: `g` is its tangent."""

    __slots__ = ("g",)
    direction = "forward"

    def __init__(
        self, value: Any, fun: Any, args: Any, kwargs: Any, parent_argnums: Any, parents: Any
    ) -> None:
        self.g = make_jvp(*_in_parents(fun, args, kwargs, parent_argnums))(tuple(p.g for p in parents))[1]

    def initialize_root(self, g: Any) -> None:
        self.g = g


def _in_parents(fun: Any, args: Any, kwargs: Any, argnums: Any) -> tuple[Callable[[Any], Any], Any]:
    """A recorded call as a function of those arguments that have nodes, and these."""
    return lambda xs: fun(*subvals(args, zip(argnums, xs, strict=True)), **kwargs), tuple(
        args[n] for n in argnums
    )


def backward_pass(g: Any, end_node: Any) -> Any:
    """The cotangent of the root of a graph of VJPNodes, for the cotangent `g` of its end."""
    totals: dict[Any, Any] = {end_node: (g, False)}
    cotangent: Any = None
    for node in toposort(end_node):
        cotangent = totals.pop(node)
        for parent, part in zip(node.parents, node.vjp(cotangent[0]), strict=True):
            totals[parent] = add_outgrads(totals.get(parent), part)
    return cotangent[0]


def __getattr__(name: str) -> Any:
    if name in _OF_PRIMITIVES:
        return getattr(import_module("funcgrad.compat.autograd.primitives"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
