"""From a user's arguments to leaves of a trace, and back from cotangents to gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sys import getrefcount
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.core.arrays.foreign import operand, what_instead
from funcgrad.core.arrays.zeros import float0, zeros
from funcgrad.core.engine.cotangent import Masked, dense
from funcgrad.core.engine.reverse import ReverseTrace
from funcgrad.core.engine.sweep import Node
from funcgrad.core.engine.trace import Trace, Tracer, snapshot
from funcgrad.core.memory.blank import plain
from funcgrad.core.memory.looks import looked_through
from funcgrad.core.memory.plain import ndarray
from funcgrad.errors import ArgumentError, CotangentError, NonDifferentiableError, OutputError
from funcgrad.transforms.hidden import revealed

_PROMOTED: dict[type, Callable[[Any], Any]] = {float: np.float64, int: np.float64, complex: np.complex128}


def as_value(x: Any, where: Callable[[], str], *, allow_int: bool = False) -> Any:
    """An input leaf as a NumPy scalar, array or tracer of a floating dtype; integers stay where allowed."""
    kind = type(x)
    if kind is np.ndarray:
        if x.dtype.kind in "fc" or allow_int and x.dtype.kind in "iub":
            return x
    elif kind in _PROMOTED:
        return _PROMOTED[kind](x)
    elif isinstance(x, Tracer):
        if x.dtype.kind in "fc" or allow_int:
            return x._trace.as_input(x)
    elif not what_instead(x) and (hasattr(x, "__array__") or hasattr(x, "__array_function__")):
        x = operand(x)
        if x.dtype.kind in "fc" or allow_int and x.dtype.kind in "iub":
            return x
    raise _not_differentiable(x, where())


def _not_differentiable(x: Any, where: str) -> NonDifferentiableError:
    instead = what_instead(x)
    if instead:
        return NonDifferentiableError(f"{where} is {instead}.")
    dtype = getattr(x, "dtype", None)
    if isinstance(x, (bool, np.bool_)) or dtype is not None and dtype.kind in "iub":
        kind = (
            f"of integer dtype {dtype}"
            if dtype is not None and dtype.kind in "iu"
            else "boolean (an integer type)"
        )
        return NonDifferentiableError(
            f"{where} is {kind}, and has no derivative. Write 1.0 for 1, or x.astype(float), or pass allow_int=True to grad "
            "(the derivative is then an empty placeholder of dtype float0)."
        )
    what = f"an array of dtype {dtype}" if dtype is not None else f"a {type(x).__name__}"
    return NonDifferentiableError(
        f"{where} is {what}, which can't be differentiated. Use numbers or floating arrays in lists, tuples, dicts and "
        "dataclasses (make your own classes dataclasses, or register them with funcgrad.tree.register_node or "
        "register_dataclass), or leave this argument out of argnums."
    )


def argument_leaves(
    arg: Any, transform: str, number: int, *, allow_int: bool = False
) -> tuple[list[Any], tree.Structure]:
    """The leaves of one argument, ready to be traced, and its structure."""
    if type(arg) is np.ndarray or type(arg) is float:  # the common case, without a walk
        return [as_value(arg, lambda: f"{transform}: argument {number}", allow_int=allow_int)], tree.LEAF
    values, structure = tree.flatten(arg)
    for position, leaf in enumerate(values):
        if type(leaf) is not np.ndarray or leaf.dtype.kind != "f":
            values[position] = as_value(
                leaf, lambda p=position: _place(arg, transform, number, p), allow_int=allow_int
            )
    return values, structure


def _place(arg: Any, transform: str, number: int, position: int) -> str:
    path = tree.keystr(tree.flatten_with_path(arg)[0][position][0])
    return f"{transform}: argument {number}" + (f" at {path}" if path else "")


def traced(trace: ReverseTrace, values: Sequence[Any]) -> tuple[list[Any], list[Node | None]]:
    """A trace's leaves and their nodes (the function may assign into its arguments); integers as they are."""
    leaves: list[Any] = []
    nodes: list[Node | None] = []
    for value in values:
        leaf = trace.leaf(value) if value.dtype.kind in "fc" else value
        leaves.append(leaf)
        nodes.append(None if leaf is value else leaf._node)
    return leaves, nodes


# An argument that is differentiated in and is no plain array: its leaves, their nodes, and its structure.
Argument = tuple[Sequence[Any], Sequence[Node | None], tree.Structure]


def trace_arguments(
    trace: ReverseTrace,
    args: Sequence[Any],
    where: Sequence[int],
    transform: str,
    *,
    allow_int: bool,
    holomorphic: bool,
) -> tuple[list[Any], list[Node | Argument]]:
    """The arguments with tracers for the leaves of those in `where`, and what finds their gradients."""
    traced_args, arguments = list(args), []
    for i in where:
        arg = args[i]
        # the common case, without a walk
        if type(arg) is ndarray and arg.dtype.kind == "f" and not holomorphic:
            traced_args[i] = leaf = trace.leaf(arg)
            arguments.append(leaf._node)
            continue
        values, structure = argument_leaves(arg, transform, i, allow_int=allow_int)
        if holomorphic:
            _check_complex(values, transform)
        leaves, nodes = traced(trace, values)
        traced_args[i] = tree.unflatten(structure, leaves)
        arguments.append((values, nodes, structure))
    return traced_args, arguments


def _check_complex(values: Sequence[Any], transform: str) -> None:
    for value in values:
        if value.dtype.kind != "c":
            raise NonDifferentiableError(
                f"{transform} with holomorphic=True needs complex inputs, but one has dtype {value.dtype}. "
                "Pass x + 0j, or leave holomorphic out and return a real number such as out.real."
            )


def argument_gradients(cts: dict[Node, Any], arguments: Sequence[Node | Argument]) -> list[Any]:
    """The gradient for each argument, a pytree like it."""
    gradients = []
    for argument in arguments:
        if type(argument) is not Node:
            values, nodes, structure = argument  # pyright: ignore[reportGeneralTypeIssues]
            gradients.append(
                tree.unflatten(structure, [gradient(cts, node, value) for node, value in zip(nodes, values)])
            )
            continue
        ct = cts.pop(argument, None)
        if type(ct) is ndarray and ct.base is None and getrefcount(ct) <= _ALONE:
            gradients.append(ct)  # what `own` would say, for less
        else:
            gradients.append(np.zeros(argument.shape, argument.dtype) if ct is None else own(ct))
    return gradients


def lowered(trace: Trace, out: Any, transform: str) -> Any:
    """An output (a pytree) with the tracers of this trace replaced by their values."""
    if type(out) is trace.tracer_type and out._trace is trace:
        return out._value
    return tree.map(lambda x: lower_leaf(trace, revealed(trace, x, transform)), out)


_OBJECT = np.dtype(object)


def lower_leaf(trace: Trace, x: Any) -> Any:
    """One output leaf without the wrapping of `trace`; a tracer hidden in a foreign object is an error."""
    if isinstance(x, Tracer):
        if x._trace is trace:
            return snapshot(x._value) if isinstance(x._value, Tracer) else x._value
        return plain(x)
    if getattr(x, "dtype", None) is _OBJECT and hides_tracer(x):
        raise OutputError(
            "the output is an object array that holds tracers, through which no derivative can be followed. "
            "Build it with np.stack([...]) or np.array([...], like=x) instead of np.array([...], dtype=object)."
        )
    return looked_through(x)


def handed_out(trace: Trace, x: Any) -> Any:
    """One output leaf of a tape that outlives its trace, as the caller's own: the tape may hold the value."""
    value = lower_leaf(trace, x)
    return value.copy("K") if value is not x and type(value) is np.ndarray else value


def returned(value: Any) -> Any:
    """A value as its caller gets it: a tracer of a trace that never closes as its client shows it (a tensor)."""
    return value._trace.handed_out(value) if isinstance(value, Tracer) else value


def hides_tracer(x: Any) -> bool:
    """Does this object array hold a tracer?"""
    return any(isinstance(item, Tracer) for item in np.ravel(x))


def aux_split(result: Any, transform: str, fun_name: str) -> tuple[Any, Any]:
    """(out, aux) of a function that was said to return both."""
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise OutputError(
            f"{transform} with has_aux=True: {fun_name} must return a pair (output, aux), but it returned "
            f"{_described(result)}. Return both, or leave has_aux out."
        )
    return result[0], result[1]


def _described(x: Any) -> str:
    if isinstance(x, (tuple, list)):
        return f"a {type(x).__name__} of {len(x)}"
    if hasattr(x, "shape"):
        return f"an array of shape {x.shape}"
    return f"a {type(x).__name__}"


def gradient(cts: dict[Node, Any], node: Node | None, value: Any) -> Any:
    """The gradient for one input leaf: zeros where nothing came, else an array that only the caller holds."""
    if node is None:
        return np.zeros(value.shape, float0)
    ct = cts.pop(node, None)
    return zeros(value) if ct is None else own(ct)


def _exclusive_count() -> int:
    ct = np.ones(3)
    return getrefcount(ct)


_ALONE = _exclusive_count()  # of an array that has one name
_EXCLUSIVE = _ALONE + 1  # the name in `own`, and the one in its caller


def own(ct: Any) -> Any:
    """`ct` as an array that nobody else holds or looks into, so that the caller may write to it."""
    if isinstance(ct, Tracer):
        return ct._trace.handed_out(ct)
    if type(ct) is not np.ndarray:
        return dense(ct) if type(ct) is Masked else ct
    if ct.base is None and getrefcount(ct) <= _EXCLUSIVE:
        return ct
    return ct.copy()


def fitted_direction(direction: Any, value: Any, what: str) -> Any:
    """A tangent or cotangent given by a user, checked against the value it belongs to."""
    if value.dtype.kind not in "fc":
        return None
    if direction is None:
        return None
    if not isinstance(direction, Tracer) and not hasattr(direction, "dtype"):
        direction = np.asarray(direction)
    if direction.dtype == float0 or direction.dtype.kind not in "fciub":
        raise CotangentError(
            f"{what} has dtype {direction.dtype}, but its value has dtype {value.dtype}; give numbers of that dtype"
        )
    if direction.shape != value.shape:
        raise CotangentError(
            f"{what} has shape {direction.shape}, but its value has shape {value.shape}; give an array of exactly that shape"
        )
    if direction.dtype.kind == "c" and value.dtype.kind != "c":
        raise CotangentError(
            f"{what} has dtype {direction.dtype}, but its value is real ({value.dtype}); give its real part"
        )
    return direction if direction.dtype == value.dtype else direction.astype(value.dtype)


def one_for_each(name: str, items: Sequence[Any]) -> None:
    """Refuse what is not a tuple or list."""
    if not isinstance(items, (tuple, list)):
        raise ArgumentError(
            f"{name} must be a tuple or list with one entry for each argument, not {type(items).__name__}; "
            f"write ({name.split()[-1][:-1]},)"
        )
