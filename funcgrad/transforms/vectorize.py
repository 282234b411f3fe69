"""vmap: a function of one example, run on a whole batch at once."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.core.batch import BatchTrace, BatchTracer
from funcgrad.core.blank import plain
from funcgrad.core.layout import together
from funcgrad.core.trace import Tracer, snapshot
from funcgrad.errors import ArgumentError
from funcgrad.transforms.leaves import lower_leaf, returned
from funcgrad.transforms.wrapping import Transformed, name_of


class Vmap(Transformed):
    """See `vmap`."""

    transform = "vmap"

    def __init__(self, fun: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0, axis_size: int | None = None) -> None:
        super().__init__(fun)
        if isinstance(in_axes, list):
            in_axes = tuple(in_axes)
        self.in_axes, self.out_axes, self.axis_size = in_axes, out_axes, axis_size
        if axis_size is not None and (not isinstance(axis_size, (int, np.integer)) or axis_size < 0):
            raise ArgumentError(f"vmap: axis_size must be an int, the number of examples, not {axis_size!r}")
        check_axes("in_axes", in_axes)
        check_axes("out_axes", out_axes)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves, structure, axes = self._placed(args, kwargs)
        size = self._size(leaves, axes, structure)
        with BatchTrace(size) as trace:
            batched = [x if axis is None else trace.wrap(to_front(x, axis), None) for x, axis in zip(leaves, axes, strict=True)]
            traced_args, traced_kwargs = tree.unflatten(structure, batched)
            del batched
            out = self.fun(*traced_args, **traced_kwargs)
            outs, out_structure = tree.flatten(out)
            out_axes = self._out_axes(out)
            return tree.unflatten(out_structure, [self._returned(trace, o, a) for o, a in zip(outs, out_axes, strict=True)])

    def _placed(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], tree.Structure, list[int | None]]:
        """The leaves of all arguments, and the axis of each (None: not batched)."""
        in_axes = self.in_axes
        if isinstance(in_axes, tuple) and len(in_axes) != len(args):
            raise ArgumentError(
                f"vmap: in_axes has {len(in_axes)} entries, but {name_of(self.fun)} was called with {len(args)} positional "
                "arguments; give one entry for each, or one int for all"
            )
        axes = broadcast_axes("in_axes", in_axes, args) + [0] * len(tree.leaves(kwargs))
        leaves, structure = tree.flatten((args, kwargs))
        checked = []
        for x, axis in zip(leaves, axes, strict=True):
            ndim = np.ndim(x) if not isinstance(x, Tracer) else x.ndim
            if axis is not None and not -ndim <= axis < ndim:
                path = self._path(structure, leaves, x)
                raise ArgumentError(
                    f"vmap: in_axes asks for axis {axis} of {path}, which has {ndim} axes (shape {np.shape(x)}). "
                    "Use in_axes=None for an argument that all examples share."
                )
            checked.append(axis % ndim if axis is not None else None)
        return leaves, structure, checked

    def _path(self, structure: tree.Structure, leaves: Sequence[Any], x: Any) -> str:
        position = next(k for k, leaf in enumerate(leaves) if leaf is x)
        return describe(structure.paths()[position])

    def _size(self, leaves: Sequence[Any], axes: Sequence[int | None], structure: tree.Structure) -> int:
        sizes = [None if axis is None else np.shape(x)[axis] for x, axis in zip(leaves, axes, strict=True)]
        found = {n for n in sizes if n is not None}
        if self.axis_size is not None:
            found.add(operator.index(self.axis_size))
        if len(found) == 1:
            return found.pop()
        if not found:
            raise ArgumentError(
                "vmap: no argument has a batched axis (in_axes is None for all of them); give at least one, or axis_size=n"
            )
        lines = [
            f"  {describe(path)}: size {n} along axis {axis} (shape {np.shape(x)})"
            for path, n, axis, x in zip(structure.paths(), sizes, axes, leaves, strict=True)
            if n is not None
        ]
        if self.axis_size is not None:
            lines.append(f"  axis_size={self.axis_size}")
        raise ArgumentError("vmap: the batched axes must all have one size, but they differ:\n" + "\n".join(lines))

    def _out_axes(self, out: Any) -> list[int | None]:
        return broadcast_axes("out_axes", self.out_axes, out)

    def _returned(self, trace: BatchTrace, x: Any, axis: int | None) -> Any:
        if isinstance(x, BatchTracer) and x.owner is trace:
            if axis is None:
                raise ArgumentError(
                    f"vmap: out_axes is None for an output of {name_of(self.fun)} that differs between the examples "
                    f"(shape {x.shape} each); give the axis along which to stack it, such as 0"
                )
            return moved_back(x.value, axis, "vmap")
        x = plain(x)
        if axis is None:
            return x
        if not hasattr(x, "dtype") and not isinstance(x, (bool, int, float, complex)):
            raise ArgumentError(
                f"vmap: {name_of(self.fun)} returned a {type(x).__name__} among its outputs, which can't be stacked; "
                "return numbers, arrays or pytrees of them, or give out_axes=None for it"
            )
        x = lower_leaf(trace, x if hasattr(x, "dtype") else np.asarray(x))
        repeated = np.broadcast_to(x, (trace.size, *x.shape))
        return moved_back(repeated if isinstance(repeated, Tracer) else repeated.copy(), axis, "vmap")


def to_front(x: Any, axis: int) -> Any:
    """`x` with its batch axis first, also in memory: examples that are scattered there are copied together."""
    if not hasattr(x, "dtype"):
        x = np.asarray(x)
    return together(np.moveaxis(x, axis, 0) if axis else snapshot(x) if isinstance(x, Tracer) else x)


def moved_back(value: Any, axis: int, transform: str) -> Any:
    """A stacked result with the batch axis where `out_axes` wants it."""
    if axis == 0:
        return returned(value)
    if not -value.ndim <= axis < value.ndim:
        raise ArgumentError(f"{transform}: out_axes={axis} for an output with {value.ndim} axes (the batch included)")
    return returned(np.moveaxis(value, 0, axis))


def check_axes(name: str, axes: Any) -> None:
    """Axes are ints, None, or pytrees of these."""
    for leaf in tree.leaves(axes):
        if isinstance(leaf, (bool, np.bool_)) or not isinstance(leaf, (int, np.integer)):
            raise ArgumentError(f"vmap: {name} must hold ints and None, not {leaf!r} ({type(leaf).__name__})")


def broadcast_axes(name: str, axes: Any, full: Any) -> list[int | None]:
    """One axis for each leaf of `full`; `axes` may be a prefix of its structure, and None means that nothing is batched."""
    try:
        return tree.broadcast_prefix(axes, full, none_is_leaf=True, what=name)
    except ValueError as error:
        raise ArgumentError(f"vmap: {error}. {name} is an int, None, or a pytree that the arguments refine.") from None


def describe(path: Sequence[Any]) -> str:
    """'argument 0['w']' for the path of a leaf in (args, kwargs)."""
    where, *rest = path[:2]
    name = "argument" if where == tree.Index(0) else "keyword argument"
    key = rest[0]
    text = str(getattr(key, "index", getattr(key, "key", key)))
    return f"{name} {text}{tree.keystr(path[2:])}"


def vmap(fun: Any = None, in_axes: Any = 0, out_axes: Any = 0, axis_size: int | None = None) -> Any:
    """Vectorise a function of one example over a batch axis of its arguments.

    Args:
        fun: a function of one example; arguments and output are pytrees of arrays.
        in_axes: the batch axis of each argument: an int for all (negative counts from the end), a tuple with one entry for each
            positional argument, or a pytree that is a prefix of the arguments; None means shared by all examples. Keyword
            arguments are batched along axis 0.
        out_axes: where the batch axis goes in the output; a prefix of its structure. Outputs that don't depend on the batch are
            repeated (or given as they are, with None).
        axis_size: the size of the batch, needed only where no argument is batched.

    Returns:
        A function of whole batches. Every NumPy call inside `fun` runs once for all examples.

    Raises:
        ArgumentError: axes that don't fit, or batches of different sizes (each argument's size is listed).
        BatchedControlFlowError: `fun` asks for one value of a batched array (`if x > 0`).

    >>> import numpy as np, funcgrad as fg
    >>> fg.vmap(lambda row: np.sum(row * row))(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([ 5., 25.])
    >>> fg.vmap(fg.grad(np.sin))(np.zeros(3))  # per-example gradients
    array([1., 1., 1.])
    """
    options = {"in_axes": in_axes, "out_axes": out_axes, "axis_size": axis_size}
    return (lambda f: Vmap(f, **options)) if fun is None else Vmap(fun, **options)
