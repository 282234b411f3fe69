"""vmap: a function of one example, run on a whole batch at once."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from funcgrad import tree
from funcgrad.core.arrays.arguments import array_of
from funcgrad.core.arrays.foreign import operand, what_instead
from funcgrad.core.engine.batch import BatchTrace, BatchTracer
from funcgrad.core.engine.trace import Tracer, concrete, snapshot
from funcgrad.core.memory.blank import plain
from funcgrad.core.memory.layout import together
from funcgrad.errors import ArgumentError, EscapedTracerError, LoopWarning, OutputError, TracerError
from funcgrad.transforms.hidden import revealed
from funcgrad.transforms.leaves import lower_leaf, returned
from funcgrad.transforms.wrapping import Transformed, decorating, name_of

OnBranch = Literal["raise", "loop"]

if TYPE_CHECKING:
    from funcgrad.transforms.signatures import Decorator, Out, P


class Vmap(Transformed):
    """See `vmap`."""

    transform = "vmap"

    def __init__(
        self,
        fun: Callable[..., Any],
        in_axes: Any = 0,
        out_axes: Any = 0,
        axis_size: int | None = None,
        on_branch: str = "raise",
    ) -> None:
        super().__init__(fun)
        if on_branch not in ("raise", "loop"):
            raise ArgumentError(f'vmap: on_branch must be "raise" or "loop", not {on_branch!r}')
        self.on_branch = on_branch
        if isinstance(in_axes, list):
            in_axes = tuple(in_axes)
        self.in_axes, self.out_axes, self.axis_size = (
            Axes("in_axes", in_axes),
            Axes("out_axes", out_axes),
            axis_size,
        )
        self.arity = len(in_axes) if isinstance(in_axes, tuple) else None
        if axis_size is not None and (not isinstance(axis_size, (int, np.integer)) or axis_size < 0):
            raise ArgumentError(f"vmap: axis_size must be an int, the number of examples, not {axis_size!r}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves, structure, axes = self._placed(args, kwargs)
        size = self._size(leaves, structure, axes)
        if self.on_branch == "raise" or not size:
            return self._at_once(leaves, structure, axes, size, kwargs)
        try:
            return self._at_once(leaves, structure, axes, size, kwargs)
        except EscapedTracerError:
            raise
        except TracerError as error:
            warnings.warn(_why_looped(str(error), name_of(self.fun), size), LoopWarning, stacklevel=2)
            return self._one_by_one(leaves, structure, axes, size)
        except Exception as error:  # noqa: BLE001 (a library may have made another error of ours)
            out = self._one_by_one(
                leaves, structure, axes, size
            )  # which raises it again, if it is the program's
            warnings.warn(_why_looped(repr(error), name_of(self.fun), size), LoopWarning, stacklevel=2)
            return out

    def _at_once(
        self,
        leaves: Sequence[Any],
        structure: tree.Structure,
        axes: Sequence[int | None],
        size: int,
        kwargs: dict[str, Any],
    ) -> Any:
        with BatchTrace(size) as trace:
            batched = [
                x if axis is None else trace.wrap(to_front(x, axis), None) for x, axis in zip(leaves, axes)
            ]
            traced_args, *traced_kwargs = tree.unflatten(structure, batched)
            del batched
            out = self.fun(*traced_args, **traced_kwargs[0]) if kwargs else self.fun(*traced_args)
            outs, out_structure = tree.flatten(out)
            out_axes = self.out_axes.of_leaves(out, out_structure)
            return tree.unflatten(
                out_structure, [self._returned(trace, x, axis) for x, axis in zip(outs, out_axes)]
            )

    def _one_by_one(
        self, leaves: Sequence[Any], structure: tree.Structure, axes: Sequence[int | None], size: int
    ) -> Any:
        """The outputs of the examples, each by a call of its own, stacked."""
        outs, structures = [], []
        for k in range(size):
            example = [x if axis is None else _example(x, axis, k) for x, axis in zip(leaves, axes)]
            args, *kwargs = tree.unflatten(structure, example)
            parts, out_structure = tree.flatten(out := self.fun(*args, **(kwargs[0] if kwargs else {})))
            outs.append(parts)
            structures.append(out_structure)
        if any(s != structures[0] for s in structures):
            raise OutputError(
                f"vmap: {name_of(self.fun)} returned outputs of different structures for different examples, which can't be "
                f"stacked: {structures[0]} and {next(s for s in structures if s != structures[0])}"
            )
        out_axes = self.out_axes.of_leaves(out, structures[0])
        return tree.unflatten(
            structures[0], [self._stacked(xs, axis) for xs, axis in zip(zip(*outs), out_axes)]
        )

    def _stacked(self, examples: Sequence[Any], axis: int | None) -> Any:
        if axis is None:
            if all(np.array_equal(concrete(x), concrete(examples[0])) for x in examples):
                return plain(examples[0])
            raise _unstacked(name_of(self.fun), np.shape(examples[0]))
        return moved_back(array_of([plain(x) for x in examples]), axis, "vmap")

    def _placed(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[list[Any], tree.Structure, list[int | None]]:
        """The leaves of (args, kwargs), or of (args,) without keywords, their structure, and their axes."""
        if self.arity is not None and self.arity != len(args):
            raise ArgumentError(
                f"vmap: in_axes has {self.arity} entries, but {name_of(self.fun)} was called with {len(args)} positional "
                "arguments; give one entry for each, or one int for all"
            )
        leaves, structure = tree.flatten((args, kwargs) if kwargs else (args,))
        axes = self.in_axes.of_leaves(args, structure.children[0])
        return leaves, structure, [*axes, *[0] * (len(leaves) - len(axes))] if kwargs else axes

    def _size(self, leaves: Sequence[Any], structure: tree.Structure, axes: Sequence[int | None]) -> int:
        """The size of the batch, on which the arguments agree."""
        sizes = set() if self.axis_size is None else {operator.index(self.axis_size)}
        for x, axis in zip(leaves, axes):
            if axis is not None:
                shape = x.shape if type(x) is np.ndarray else np.shape(x)
                if not -len(shape) <= axis < len(shape):
                    place = next(
                        place for place, leaf, _ in _batched_leaves(leaves, structure, axes) if leaf is x
                    )
                    raise ArgumentError(
                        f"vmap: in_axes asks for axis {axis} of {place}, which has {len(shape)} axes (shape {shape}). "
                        "Use in_axes=None for an argument that all examples share."
                    )
                sizes.add(shape[axis])
        if len(sizes) == 1:
            return sizes.pop()
        if not sizes:
            raise ArgumentError(
                "vmap: no argument has a batched axis (in_axes is None for all of them); give at least one, or axis_size=n"
            )
        lines = [
            f"  {place}: size {np.shape(x)[axis]} along axis {axis} (shape {np.shape(x)})"
            for place, x, axis in _batched_leaves(leaves, structure, axes)
        ]
        if self.axis_size is not None:
            lines.append(f"  axis_size={self.axis_size}")
        raise ArgumentError(
            "vmap: the batched axes must all have one size, but they differ:\n" + "\n".join(lines)
        )

    def _returned(self, trace: BatchTrace, x: Any, axis: int | None) -> Any:
        x = revealed(trace, x, "vmap")
        if isinstance(x, BatchTracer) and x._trace is trace:
            if axis is None:
                raise _unstacked(name_of(self.fun), x.shape)
            return moved_back(x._value, axis, "vmap")
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


def _unstacked(name: str, shape: tuple[int, ...]) -> ArgumentError:
    return ArgumentError(
        f"vmap: out_axes is None for an output of {name} that differs between the examples (shape {shape} each); give the axis "
        "along which to stack it, such as 0"
    )


def _example(x: Any, axis: int, k: int) -> Any:
    """Example `k` of a batch, as an array of its own."""
    x = x if hasattr(x, "dtype") else np.asarray(x)
    return x[(slice(None),) * (axis % x.ndim) + (k,)].copy()


def _why_looped(error: str, name: str, size: int) -> str:
    where = error.partition(" needs ")[0].partition(" would ")[0]
    return (
        f"vmap: {where} depends on the example, so {name} is called {size} times, once for each example, which takes about "
        f"{size} times as long as one call for all. Write np.where in the place of the branch to run them at once."
    )


def to_front(array: Any, axis: int) -> Any:
    """`given` with its batch axis first, also in memory: examples that lie scattered are copied together."""
    x: Any = array
    if not hasattr(x, "dtype"):
        x = np.asarray(x)
    elif type(x) is not np.ndarray and not isinstance(x, Tracer):
        instead = what_instead(x)
        if instead:
            raise ArgumentError(f"vmap: an argument is {instead}.")
        x = operand(x)
    if axis and axis != -x.ndim:
        return together(np.moveaxis(x, axis, 0))  # pyright: ignore[reportArgumentType]
    return together(snapshot(x) if isinstance(x, Tracer) else x)


def moved_back(value: Any, axis: int, transform: str) -> Any:
    """A stacked result with the batch axis where `out_axes` wants it."""
    if axis == 0:
        return returned(value)
    if not -value.ndim <= axis < value.ndim:
        raise ArgumentError(
            f"{transform}: out_axes={axis} for an output with {value.ndim} axes (the batch included)"
        )
    return returned(np.moveaxis(value, 0, axis))


class Axes:
    """in_axes or out_axes: ints and None (the entries) in a tree (the upper structure) that is a prefix."""

    def __init__(self, name: str, axes: Any) -> None:
        self.name = name
        self.entries, self.upper = tree.flatten(axes, is_leaf=lambda node: node is None)
        for entry in self.entries:
            if entry is not None and (
                isinstance(entry, (bool, np.bool_)) or not isinstance(entry, (int, np.integer))
            ):
                raise ArgumentError(
                    f"vmap: {name} must hold ints and None, not {entry!r} ({type(entry).__name__})"
                )

    def of_leaves(self, full: Any, structure: tree.Structure) -> list[int | None]:
        """The axis of each leaf of `full`, which has this structure."""
        if self.upper is tree.LEAF:
            return self.entries * structure.num_leaves
        if self.upper == structure:
            return self.entries
        try:
            parts = tree.flatten_like(self.upper, full, prefix=True, what=self.name)
        except ValueError as error:
            raise ArgumentError(
                f"vmap: {self.name} does not fit: {error}. {self.name} is an int, None, or a pytree that the arguments refine."
            ) from None
        return [axis for axis, part in zip(self.entries, parts) for _ in tree.leaves(part)]


def broadcast_axes(name: str, axes: Any, full: Any) -> list[int | None]:
    """One axis for each leaf of `full`; `axes` may be a prefix of its structure, None: not batched."""
    return Axes(name, axes).of_leaves(full, tree.structure(full))


def _batched_leaves(
    leaves: Sequence[Any], structure: tree.Structure, axes: Sequence[int | None]
) -> Iterator[tuple[str, Any, int]]:
    """What each batched leaf of (args, kwargs) is called ("argument 0['w']"), the leaf, and its axis."""
    for (where, argument, *path), x, axis in zip(structure.paths(), leaves, axes, strict=True):
        if axis is not None:
            keyword = "" if where == tree.Index(0) else "keyword "
            text = str(getattr(argument, "index", getattr(argument, "key", argument)))
            yield f"{keyword}argument {text}{tree.keystr(path)}", x, axis


@overload
def vmap(
    fun: Callable[P, float],
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_size: int | None = None,
    *,
    on_branch: OnBranch = "raise",
) -> Callable[..., NDArray[Any]]: ...
@overload
def vmap(
    fun: Callable[P, Out],
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_size: int | None = None,
    *,
    on_branch: OnBranch = "raise",
) -> Callable[P, Out]: ...
@overload
def vmap(
    fun: None = None,
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_size: int | None = None,
    *,
    on_branch: OnBranch = "raise",
) -> Decorator: ...
def vmap(
    fun: Any = None,
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_size: int | None = None,
    *,
    on_branch: OnBranch = "raise",
) -> Any:
    """Vectorise a function of one example over a batch axis of its arguments.

    Args:
        fun: a function of one example; arguments and output are pytrees of arrays.
        in_axes: the batch axis of each argument: an int for all (negative counts from the end), a tuple with
            one entry for each positional argument, or a pytree that is a prefix of the arguments; None means
            shared by all examples. Keyword arguments are batched along axis 0.
        out_axes: where the batch axis goes in the output; a prefix of its structure. Outputs that don't
            depend on the batch are repeated (or given as they are, with None).
        axis_size: the size of the batch, needed only where no argument is batched.
        on_branch: what to do where `fun` asks for one value of a batched array (`if x > 0`, `int(x)`, a
            mask): "raise", or "loop": call it for each example, with a warning (LoopWarning). What it had
            done until then, it does again.

    Returns:
        A function of whole batches. Every NumPy call inside `fun` runs once for all examples.

    Raises:
        ArgumentError: axes that don't fit, or batches of different sizes (each argument's size is listed).
        BatchedControlFlowError: `fun` asks for one value of a batched array, and `on_branch` is "raise".
        OutputError: the examples were run one by one, and their outputs differ in structure.

    >>> import numpy as np, funcgrad as fg
    >>> fg.vmap(lambda row: np.sum(row * row))(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([ 5., 25.])
    >>> fg.vmap(fg.grad(np.sin))(np.zeros(3))  # per-example gradients
    array([1., 1., 1.])
    """
    options = {"in_axes": in_axes, "out_axes": out_axes, "axis_size": axis_size, "on_branch": on_branch}
    return decorating(Vmap, fun, options)
