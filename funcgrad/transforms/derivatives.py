"""grad, value_and_grad, vjp, jvp: the derivatives of a function of pytrees.

Complex numbers follow JAX: for a real output, the gradient at z = x + iy is df/dx - i df/dy (no conjugation).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Concatenate, Literal, overload

import numpy as np

from funcgrad import tree
from funcgrad.core.arrays.zeros import ones, zeros
from funcgrad.core.engine.forward import ForwardTrace, OpenForwardTrace
from funcgrad.core.engine.reverse import ReverseTrace, ReverseTracer
from funcgrad.core.engine.sweep import Node, sweep
from funcgrad.core.engine.trace import Tracer, is_foreign, memory_of
from funcgrad.core.lanes.source import SCALARS
from funcgrad.errors import ArgumentError, CotangentError, OutputError
from funcgrad.transforms.directions import check_tangent, direction_leaves
from funcgrad.transforms.hidden import revealed
from funcgrad.transforms.leaves import (
    argument_gradients,
    argument_leaves,
    aux_split,
    fitted_direction,
    hides_tracer,
    lower_leaf,
    lowered,
    one_for_each,
    own,
    returned,
    trace_arguments,
)
from funcgrad.transforms.recording import output_value, record
from funcgrad.transforms.solvers import for_caller
from funcgrad.transforms.wrapping import Differentiated, check_function, decorating, name_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from funcgrad.transforms.signatures import Aux, Decorator, Options, Out, P, X, Y


class ValueAndGrad(Differentiated):
    """See `value_and_grad`."""

    transform = "value_and_grad"

    def __init__(
        self,
        fun: Callable[..., Any],
        argnums: Any = 0,
        *,
        argnames: Any = None,
        has_aux: bool = False,
        holomorphic: bool = False,
        allow_int: bool = False,
    ) -> None:
        super().__init__(fun, argnums, argnames)
        self.has_aux, self.holomorphic, self.allow_int = has_aux, holomorphic, allow_int

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._value_and_gradient(args, kwargs)

    def _value_and_gradient(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        fun, args, kwargs, where = self.placed(args, kwargs)
        aux: Any = None
        with ReverseTrace() as trace:
            traced_args, arguments = trace_arguments(
                trace, args, where, self.transform, allow_int=self.allow_int, holomorphic=self.holomorphic
            )
            out = fun(*traced_args, **kwargs)
            if self.has_aux:
                out, aux = aux_split(out, self.transform, name_of(self.fun))
                aux = lowered(trace, aux, self.transform)
            if (
                type(out) is ReverseTracer
                and out._trace is trace
                and type(out._value) in SCALARS
                and not self.holomorphic
            ):
                node, out = out._node, out._value  # the common case
            else:
                node, out = self._end(trace, out)
        foreign = is_foreign(memory_of(out))
        # The sweep gets the only reference to the tape, whose nodes then go as it passes.
        seeds = iter([] if node is None else [(node, ones(out) if foreign else out.dtype.type(1))])
        del node
        try:
            cts = sweep(seeds)
        except Exception as error:  # noqa: BLE001 (what it says depends on what it is)
            import_module("funcgrad.core.messages.failures").raise_explained(error)
        gradients = argument_gradients(cts, arguments)
        result = tuple(gradients) if self.in_several else gradients[0]
        if foreign and not self.has_aux:
            out, result = for_caller((out, result))
        out = returned(out) if isinstance(out, Tracer) else out
        return ((out, aux), result) if self.has_aux else (out, result)

    def _end(self, trace: ReverseTrace, returned: Any) -> tuple[Node | None, Any]:
        """The node and the value of the output, which must be one number."""
        name, out, node = name_of(self.fun), returned, None
        if hasattr(out, "__operand__"):
            holder: Any = out
            out = holder.__operand__()
        elif type(out) not in (tuple, list, dict):
            out = revealed(trace, out, self.transform)
        if isinstance(out, Tracer):
            node, out = out._node if out._trace is trace else None, lower_leaf(trace, out)
        if type(out) in (int, float, complex):
            out = np.complex128(out) if type(out) is complex else np.float64(out)
        if not hasattr(out, "dtype") or not hasattr(out, "shape"):
            what = "None (is a `return` missing?)" if out is None else f"a {type(out).__name__}"
            raise OutputError(
                f"{self.transform}: {name} must return a scalar, but it returned {what}. "
                "For several outputs use jacrev, vjp or has_aux=True."
            )
        if out.dtype == object and hides_tracer(out):
            lower_leaf(trace, out)
        if out.shape != ():
            raise OutputError(
                f"{self.transform}: {name} must return a scalar, but its output has shape {out.shape}. "
                "Return np.sum(out) or out[i], or use jacrev (all derivatives), elementwise_grad or vjp."
            )
        self._check_output_dtype(out, name)
        return node, out

    def _check_output_dtype(self, out: Any, name: str) -> None:
        if out.dtype.kind == "c" and not self.holomorphic:
            raise OutputError(
                f"{self.transform}: {name} returned a complex number ({out.dtype}). Return out.real (or abs(out)), or pass "
                "holomorphic=True if the function is holomorphic."
            )
        if out.dtype.kind != "c" and self.holomorphic:
            raise OutputError(
                f"{self.transform} with holomorphic=True: {name} must return a complex number, not {out.dtype}"
            )
        if out.dtype.kind not in "fc":
            raise OutputError(
                f"{self.transform}: {name} must return a floating-point scalar, but its output has dtype {out.dtype}, "
                "which has no derivative"
            )


class Grad(ValueAndGrad):
    """See `grad`."""

    transform = "grad"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        value, result = self._value_and_gradient(args, kwargs)
        return (result, value[1]) if self.has_aux else result


@overload
def grad(fun: np.ufunc) -> Callable[[X], X]: ...
@overload
def grad(
    fun: Callable[Concatenate[X, P], Any],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[False] = False,
    **options: Unpack[Options],
) -> Callable[Concatenate[X, P], X]: ...
@overload
def grad(
    fun: Callable[Concatenate[X, P], tuple[Any, Aux]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    **options: Unpack[Options],
) -> Callable[Concatenate[X, P], tuple[X, Aux]]: ...
@overload
def grad(
    fun: Callable[Concatenate[X, Y, P], Any],
    argnums: Literal[1],
    *,
    has_aux: Literal[False] = False,
    **options: Unpack[Options],
) -> Callable[Concatenate[X, Y, P], Y]: ...
@overload
def grad(
    fun: Callable[Concatenate[X, Y, P], Any],
    argnums: tuple[Literal[0], Literal[1]],
    *,
    has_aux: Literal[False] = False,
    **options: Unpack[Options],
) -> Callable[Concatenate[X, Y, P], tuple[X, Y]]: ...
@overload
def grad(
    fun: Callable[P, Any],
    argnums: tuple[int, ...],
    *,
    has_aux: Literal[False] = False,
    **options: Unpack[Options],
) -> Callable[P, tuple[Any, ...]]: ...
@overload
def grad(
    fun: Callable[P, Any], argnums: int | Sequence[int], *, has_aux: bool = False, **options: Unpack[Options]
) -> Callable[P, Any]: ...
@overload
def grad(
    fun: Callable[P, Any], *, argnames: str | Sequence[str], has_aux: bool = False, **options: Unpack[Options]
) -> Callable[P, Any]: ...
@overload
def grad(
    fun: None = None,
    argnums: int | Sequence[int] = 0,
    *,
    argnames: str | Sequence[str] | None = None,
    has_aux: bool = False,
    **options: Unpack[Options],
) -> Decorator: ...
def grad(
    fun: Any = None,
    argnums: int | Sequence[int] = 0,
    *,
    argnames: str | Sequence[str] | None = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Any:
    """The gradient of a function that returns one number.

    Args:
        fun: the function; its output has shape () and a floating dtype.
        argnums: the positional argument(s) to differentiate in: an int (negative counts from the end), or a
            tuple of ints for a tuple of gradients. Each is a number, an array or a pytree of them, of
            floating (or complex) dtype.
        argnames: their names, in place of argnums: a name, or a tuple of names. Arguments may be passed by
            keyword.
        has_aux: `fun` returns (output, aux); the result is then (gradient, aux).
        holomorphic: inputs and output are complex, and `fun` is holomorphic.
        allow_int: integer leaves are allowed; their gradient is an empty placeholder of dtype float0.

    Returns:
        A function with the arguments of `fun`, that returns the gradient: structure, shape and dtype of the
        argument.

    Raises:
        ArgumentError: `argnums` or `argnames` is not usable. NonDifferentiableError: an integer (or other)
            input. OutputError: the output is not one floating-point number.

    Also a decorator: `@grad`, `@grad(argnums=1)`. It may be nested to any order.

    >>> import numpy as np, funcgrad as fg
    >>> fg.grad(lambda x: np.sum(np.sin(x) ** 2))(np.array([0.0, 0.5]))
    array([0.        , 0.84147098])
    >>> float(fg.grad(fg.grad(lambda x: x ** 3))(2.0))
    12.0
    >>> fg.grad(lambda x, scale: scale * x ** 2, argnames=("scale", "x"))(3.0, scale=2.0)
    (np.float64(9.0), np.float64(12.0))
    """
    places = {"argnums": argnums, "argnames": argnames}
    return decorating(
        Grad, fun, {**places, "has_aux": has_aux, "holomorphic": holomorphic, "allow_int": allow_int}
    )


@overload
def value_and_grad(
    fun: Callable[Concatenate[X, P], Any],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[False] = False,
    **options: Unpack[Options],
) -> Callable[Concatenate[X, P], tuple[Any, X]]: ...
@overload
def value_and_grad(
    fun: Callable[Concatenate[X, P], tuple[Any, Aux]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    **options: Unpack[Options],
) -> Callable[Concatenate[X, P], tuple[tuple[Any, Aux], X]]: ...
@overload
def value_and_grad(
    fun: Callable[Concatenate[X, Y, P], Any],
    argnums: Literal[1],
    *,
    has_aux: Literal[False] = False,
    **options: Unpack[Options],
) -> Callable[Concatenate[X, Y, P], tuple[Any, Y]]: ...
@overload
def value_and_grad(
    fun: Callable[Concatenate[X, Y, P], Any],
    argnums: tuple[Literal[0], Literal[1]],
    *,
    has_aux: Literal[False] = False,
    **options: Unpack[Options],
) -> Callable[Concatenate[X, Y, P], tuple[Any, tuple[X, Y]]]: ...
@overload
def value_and_grad(
    fun: Callable[P, Any],
    argnums: tuple[int, ...],
    *,
    has_aux: Literal[False] = False,
    **options: Unpack[Options],
) -> Callable[P, tuple[Any, tuple[Any, ...]]]: ...
@overload
def value_and_grad(
    fun: Callable[P, Any], argnums: int | Sequence[int], *, has_aux: bool = False, **options: Unpack[Options]
) -> Callable[P, tuple[Any, Any]]: ...
@overload
def value_and_grad(
    fun: Callable[P, Any], *, argnames: str | Sequence[str], has_aux: bool = False, **options: Unpack[Options]
) -> Callable[P, tuple[Any, Any]]: ...
@overload
def value_and_grad(
    fun: None = None,
    argnums: int | Sequence[int] = 0,
    *,
    argnames: str | Sequence[str] | None = None,
    has_aux: bool = False,
    **options: Unpack[Options],
) -> Decorator: ...
def value_and_grad(
    fun: Any = None,
    argnums: int | Sequence[int] = 0,
    *,
    argnames: str | Sequence[str] | None = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Any:
    """The value and the gradient of a function, from one run. Arguments and errors are those of `grad`.

    Returns:
        A function that returns (value, gradient); with `has_aux`, ((value, aux), gradient).

    >>> import numpy as np, funcgrad as fg
    >>> value, gradient = fg.value_and_grad(lambda w: np.sum(w * w))(np.array([1.0, 2.0]))
    >>> float(value), gradient
    (5.0, array([2., 4.]))
    """
    places = {"argnums": argnums, "argnames": argnames}
    return decorating(
        ValueAndGrad, fun, {**places, "has_aux": has_aux, "holomorphic": holomorphic, "allow_int": allow_int}
    )


@overload
def vjp(
    fun: Callable[[X], Out], primal: X, /, *, has_aux: Literal[False] = False, keep_tracers: bool = False
) -> tuple[Out, Callable[[Any], tuple[X]]]: ...
@overload
def vjp(
    fun: Callable[[X, Y], Out], x: X, y: Y, /, *, has_aux: Literal[False] = False, keep_tracers: bool = False
) -> tuple[Out, Callable[[Any], tuple[X, Y]]]: ...
@overload
def vjp(
    fun: Callable[..., Out], *primals: Any, has_aux: Literal[False] = False, keep_tracers: bool = False
) -> tuple[Out, Callable[[Any], tuple[Any, ...]]]: ...
@overload
def vjp(
    fun: Callable[..., tuple[Out, Aux]], *primals: Any, has_aux: Literal[True], keep_tracers: bool = False
) -> tuple[Out, Callable[[Any], tuple[Any, ...]], Aux]: ...
@overload
def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool, keep_tracers: bool = False) -> Any: ...
def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False, keep_tracers: bool = False) -> Any:
    """The output of a function, and the map that pulls cotangents back.

    Args:
        fun: the function; inputs and output are pytrees of arrays.
        primals: its arguments. Integers are allowed; they get float0.
        has_aux: `fun` returns (output, aux).
        keep_tracers: tracers that `fun` leaves behind (in a list, say) stay usable after it has returned,
            instead of being an error. No derivative goes through what is computed with them then.

    Returns:
        (output, vjp_fn) or (output, vjp_fn, aux). `vjp_fn(ct)` takes one cotangent with the structure of the
        output (None for zeros, in any place) and returns a tuple, one entry for each primal. It may be called
        many times.

    Raises:
        CotangentError (from `vjp_fn`): structure, shape or dtype of the cotangent is not the output's.

    >>> import numpy as np, funcgrad as fg
    >>> out, vjp_fn = fg.vjp(lambda x, y: x * y, np.array([1.0, 2.0]), 3.0)
    >>> vjp_fn(np.array([1.0, 10.0]))
    (array([ 3., 30.]), np.float64(21.0))
    """
    out, pullback, aux = record(fun, primals, {}, has_aux=has_aux, keep_tracers=keep_tracers)
    return (out, pullback, aux) if has_aux else (out, pullback)


@overload
def jvp(
    fun: Callable[..., Out],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    has_aux: Literal[False] = False,
    keep_tracers: bool = False,
) -> tuple[Out, Out]: ...
@overload
def jvp(
    fun: Callable[..., tuple[Out, Aux]],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    has_aux: Literal[True],
    keep_tracers: bool = False,
) -> tuple[Out, Out, Aux]: ...
@overload
def jvp(
    fun: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    has_aux: bool,
    keep_tracers: bool = False,
) -> Any: ...
def jvp(
    fun: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    has_aux: bool = False,
    keep_tracers: bool = False,
) -> Any:
    """The output of a function, and its derivative along a direction, by forward mode.

    Args:
        fun: the function; inputs and output are pytrees of arrays.
        primals: a tuple of its arguments.
        tangents: a tuple of directions with the structure and shapes of the primals (None for zeros, in any
            place).
        has_aux: `fun` returns (output, aux).
        keep_tracers: as in `vjp`.

    Returns:
        (output, tangent) or (output, tangent, aux); the tangent has the structure, shapes and dtypes of the
        output.

    Raises:
        ArgumentError: primals or tangents is no tuple or list, or their lengths differ. CotangentError: a
            tangent does not match.
        NonDifferentiableError: an integer has a tangent that is not zero.

    >>> import numpy as np, funcgrad as fg
    >>> out, t = fg.jvp(np.sin, (0.0,), (2.0,))
    >>> float(out), float(t)
    (0.0, 2.0)
    """
    value, tangent, aux = pushed(fun, primals, tangents, has_aux=has_aux, keep_tracers=keep_tracers)
    return (value, tangent, aux) if has_aux else (value, tangent)


def pushed(
    fun: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    has_aux: bool = False,
    transform: str = "jvp",
    keep_tracers: bool = False,
) -> tuple[Any, Any, Any]:
    """The output of `fun`, its tangent, and aux: what jvp and its kin return."""
    check_function(fun, transform)
    matched(transform, primals, "tangents", tangents)
    with (OpenForwardTrace if keep_tracers else ForwardTrace)() as trace:
        pairs = enumerate(zip(primals, tangents, strict=True))
        traced_args = [_paired(trace, transform, i, p, t) for i, (p, t) in pairs]
        out, aux = fun(*traced_args), None
        if has_aux:
            out, aux = aux_split(out, transform, name_of(fun))
            aux = lowered(trace, aux, transform)
        outs, structure = tree.flatten(out)
        pairs = [_unpaired(trace, revealed(trace, o, transform), fun, transform) for o in outs]
    value = tree.unflatten(structure, [returned(v) for v, _ in pairs])
    return value, tree.unflatten(structure, [t for _, t in pairs]), aux


def matched(transform: str, primals: Sequence[Any], name: str, vectors: Sequence[Any]) -> None:
    """Refuse what is not one vector for each primal."""
    one_for_each(f"{transform}: primals", primals)
    one_for_each(f"{transform}: {name}", vectors)
    if len(primals) != len(vectors):
        raise ArgumentError(
            f"{transform}: {len(primals)} primals but {len(vectors)} {name}; give one {name.removesuffix('s')} for each primal"
        )


def _paired(trace: ForwardTrace, transform: str, number: int, primal: Any, tangent: Any) -> Any:
    what = f"{transform}: tangent {number}"
    values, structure = argument_leaves(primal, transform, number, allow_int=True)
    try:
        directions = direction_leaves(structure, tangent, what)
    except ValueError as error:
        raise CotangentError(
            f"{error}. A tangent has the structure of its primal (None for zeros)."
        ) from None
    leaves = []
    for v, t in zip(values, directions, strict=True):
        check_tangent(t, v, what)
        t = fitted_direction(t, v, what)
        leaves.append(v if t is None else trace.wrap(v, t))
    return tree.unflatten(structure, leaves)


def _unpaired(trace: ForwardTrace, x: Any, fun: Callable[..., Any], transform: str) -> tuple[Any, Any]:
    t = x._node if isinstance(x, Tracer) and x._trace is trace else None
    value = output_value(lower_leaf(trace, x), fun, transform)
    if t is None:
        return value, zeros(value)
    return value, own(t)
