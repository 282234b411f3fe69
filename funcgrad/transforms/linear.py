"""linearize and linear_transpose: a derivative, or a linear function, that is run once and used often."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

from funcgrad import tree
from funcgrad.core.arrays.spec import Spec
from funcgrad.core.arrays.zeros import lasting_spec, ones, zeros
from funcgrad.core.engine.sweep import sweep
from funcgrad.errors import ArgumentError, CotangentError
from funcgrad.transforms.directions import direction_leaves
from funcgrad.transforms.hidden import revealed
from funcgrad.transforms.leaves import argument_leaves, fitted_direction, lower_leaf, own
from funcgrad.transforms.recording import Pullback, output_value, record
from funcgrad.transforms.transposition import LinearTape, LinearTrace, input_like
from funcgrad.transforms.wrapping import check_function, name_of

if TYPE_CHECKING:
    from funcgrad.transforms.signatures import Aux, Out


class Template(NamedTuple):
    """What a tangent or cotangent must look like: a tree's structure, the shape and dtype of each leaf."""

    structure: tree.Structure
    specs: Sequence[Spec]

    def leaves(self, direction: Any, what: str) -> list[Any]:
        """The leaves of `given`, checked."""
        try:
            values = direction_leaves(self.structure, direction, what)
        except ValueError as error:
            raise CotangentError(
                f"{error}. It needs the structure of what it belongs to (None for zeros)."
            ) from None
        return [fitted_direction(x, to, what) for x, to in zip(values, self.specs, strict=True)]

    def filled(self, values: Iterable[Any]) -> Any:
        """The tree, with zeros where nothing came."""
        leaves = [zeros(to) if x is None else own(x) for to, x in zip(self.specs, values, strict=True)]
        return tree.unflatten(self.structure, leaves)


class Pushforward:
    """What `linearize` returns: call it with one tangent for each primal, as often as you like."""

    def __init__(self, tape: LinearTape, primals: Sequence[Template], out: Template) -> None:
        self.tape, self.primals, self.out = tape, primals, out

    def __call__(self, *tangents: Any) -> Any:
        """The tangent of the output."""
        if len(tangents) != len(self.primals):
            raise ArgumentError(
                f"linearize: the function was linearized in {len(self.primals)} arguments, but {len(tangents)} "
                "tangents were given; give one for each"
            )
        flat: list[Any] = []
        for number, (primal, t) in enumerate(zip(self.primals, tangents, strict=True)):
            flat += primal.leaves(t, f"linearize: tangent {number}")
        return self.out.filled(self.tape.pull(flat))


@overload
def linearize(
    fun: Callable[..., Out], *primals: Any, has_aux: Literal[False] = False
) -> tuple[Out, Callable[..., Out]]: ...
@overload
def linearize(
    fun: Callable[..., tuple[Out, Aux]], *primals: Any, has_aux: Literal[True]
) -> tuple[Out, Callable[..., Out], Aux]: ...
@overload
def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool) -> Any: ...
def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """A function's output, and its derivative there: linear in tangents, without running `fun` again.

    One run of `fun`, and one sweep, are recorded; each tangent then costs about one sweep. For a single
    tangent, `jvp` is cheaper.

    Args:
        fun: the function; inputs and output are pytrees of arrays.
        primals: its arguments. Integers are allowed, and have no tangent.
        has_aux: `fun` returns (output, aux).

    Returns:
        (output, f_jvp) or (output, f_jvp, aux). `f_jvp(*tangents)` takes a tangent for each primal, with its
        structure and shapes, and returns the tangent of the output, with the structure, shapes and dtypes of
        that.

    Raises:
        ArgumentError, CotangentError (from `f_jvp`): wrong number of tangents; wrong structure, shape or
        dtype.

    >>> import numpy as np, funcgrad as fg
    >>> out, f_jvp = fg.linearize(np.sin, np.array([0.0, np.pi]))
    >>> f_jvp(np.array([1.0, 1.0])), f_jvp(np.array([0.0, 2.0]))
    (array([ 1., -1.]), array([ 0., -2.]))
    """
    out, pullback, aux = record(fun, primals, {}, has_aux=has_aux, transform="linearize")
    templates = [Template(structure, specs) for specs, _, structure in pullback.arguments]
    returned = Template(pullback.structure, [to for _, to in pullback.ends])
    pushforward = Pushforward(transposed(pullback), templates, returned)
    return (out, pushforward, aux) if has_aux else (out, pushforward)


def transposed(pullback: Pullback) -> LinearTape:
    """The sweep of a pullback as a tape: to pull tangents through it is to push them through the function."""
    with LinearTrace(None) as trace:
        cts = [None if node is None else input_like(trace, value) for node, value in pullback.ends]
        ends = zip(pullback.ends, cts, strict=True)
        leaves = sweep(
            [(node, ct) for (node, _), ct in ends if ct is not None and node is not None], release=True
        )
        parts = [
            None if node is None else leaves.get(node) for _, nodes, _ in pullback.arguments for node in nodes
        ]
    return LinearTape(trace, cts, parts)


class Transpose:
    """What `linear_transpose` returns: call it with a cotangent of the output, as often as you like."""

    def __init__(self, tape: LinearTape, primals: Sequence[Template], out: Template) -> None:
        self.tape, self.primals, self.out = tape, primals, out

    def __call__(self, ct: Any) -> tuple[Any, ...]:
        """The cotangent of each argument, as a tuple."""
        cts = iter(self.tape.pull(self.out.leaves(ct, "linear_transpose: the cotangent")))
        return tuple(primal.filled([next(cts) for _ in primal.specs]) for primal in self.primals)


def linear_transpose(fun: Callable[..., Any], *primals: Any) -> Transpose:
    """The transpose of a linear function: x -> A x becomes ct -> A^T ct (no conjugation if complex).

    Args:
        fun: the function, linear in all its arguments together; inputs and output are pytrees of arrays. Of
            an affine function the linear part is transposed.
        primals: arrays like its arguments, or anything with a shape and a dtype; the values don't matter.

    Returns:
        A function that takes one cotangent, with the structure of the output, and returns a tuple, one entry
        for each primal.

    Raises:
        ArgumentError: `fun` is not linear (the operation is named), or a primal is no floating array.
        CotangentError (from the transpose): wrong structure, shape or dtype.

    >>> import numpy as np, funcgrad as fg
    >>> a = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> fg.linear_transpose(lambda x: a @ x, np.zeros(2))(np.array([1.0, 10.0]))
    (array([31., 42.]),)
    """
    check_function(fun, "linear_transpose")
    templates, args, inputs = [], [], []
    with LinearTrace(f"linear_transpose: {name_of(fun)}", ArgumentError) as trace:
        for number, primal in enumerate(primals):
            leaves, structure = tree.flatten(primal, has_shape)
            values, _ = argument_leaves([ones_like(x) for x in leaves], "linear_transpose", number)
            templates.append(Template(structure, [lasting_spec(v) for v in values]))
            traced = [input_like(trace, v) for v in values]
            inputs += traced
            args.append(tree.unflatten(structure, traced))
        outs, structure = tree.flatten(fun(*args))
        outs = [revealed(trace, o, "linear_transpose") for o in outs]
        values = [output_value(lower_leaf(trace, o), fun, "linear_transpose") for o in outs]
    return Transpose(
        LinearTape(trace, inputs, outs), templates, Template(structure, [lasting_spec(v) for v in values])
    )


def has_shape(x: Any) -> bool:
    """Is `x` an array, or does it say what an array would look like?"""
    return hasattr(x, "shape") and hasattr(x, "dtype")


def ones_like(x: Any) -> Any:
    """An array of the shape, dtype and kind of `x`, if it has them."""
    return ones(x) if has_shape(x) else x
