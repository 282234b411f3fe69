"""Jacobians, Hessians, products with them. All rows (or columns) come from one batched sweep (or push)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, overload

import numpy as np

from funcgrad import tree
from funcgrad.core.arrays.spec import spec
from funcgrad.core.arrays.zeros import float0, of_kind, ones, zeros
from funcgrad.core.engine.batch import BatchTrace, BatchTracer
from funcgrad.core.engine.cotangent import Masked, dense
from funcgrad.core.engine.forward import ForwardTrace, ForwardTracer
from funcgrad.core.engine.sweep import sweep
from funcgrad.core.engine.trace import concrete
from funcgrad.core.memory.chunks import runner
from funcgrad.errors import NonDifferentiableError, OutputError
from funcgrad.transforms.derivatives import Grad, matched, pushed
from funcgrad.transforms.hidden import revealed
from funcgrad.transforms.leaves import argument_leaves, aux_split, lower_leaf, lowered, own
from funcgrad.transforms.progress import Collected, checked_chunk_size, chunks, identity_rows, shown
from funcgrad.transforms.recording import Pullback, output_value, record
from funcgrad.transforms.solvers import for_caller
from funcgrad.transforms.wrapping import Differentiated, check_function, decorating, name_of, of_chosen
from funcgrad.typed import override

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from funcgrad.transforms.signatures import Chunks, Decorator, Number, P, S, X, Y


class Jacobian(Differentiated):
    """What jacrev and jacfwd share: the options, the chosen arguments, and the nesting of the result."""

    transform = "jacobian"

    def __init__(
        self,
        fun: Callable[..., Any],
        argnums: Any = 0,
        *,
        argnames: Any = None,
        has_aux: bool = False,
        holomorphic: bool = False,
        allow_int: bool = False,
        chunk_size: int | None = None,
        progress: bool = False,
    ) -> None:
        super().__init__(fun, argnums, argnames)
        self.has_aux, self.holomorphic, self.allow_int = has_aux, holomorphic, allow_int
        self.chunk_size, self.progress = checked_chunk_size(chunk_size, self.transform), progress

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        fun, args, kwargs, where = self.placed(args, kwargs)
        chosen = [args[i] for i in where]
        for i, x in zip(where, chosen, strict=True):
            for value in argument_leaves(x, self.transform, i, allow_int=self.allow_int)[0]:
                self._check_input(value)
        blocks, out_structure, aux = self._blocks(of_chosen(fun, args, where, kwargs), chosen)
        # blocks[k] holds, for output leaf k, one pytree for each chosen argument
        pick = tuple if self.in_several else (lambda parts: parts[0])
        result = tree.unflatten(out_structure, [pick(parts) for parts in blocks])
        return (result, aux) if self.has_aux else for_caller(result)

    def _blocks(
        self, fun: Callable[..., Any], chosen: Sequence[Any]
    ) -> tuple[list[Any], tree.Structure, Any]:
        raise NotImplementedError

    def _check_input(self, value: Any) -> None:
        if self.holomorphic and value.dtype.kind != "c":
            raise NonDifferentiableError(
                f"{self.transform} with holomorphic=True needs complex inputs, not {value.dtype}; pass x + 0j"
            )

    def _check_output(self, value: Any) -> None:
        if value.dtype.kind == "c" and not self.holomorphic:
            raise OutputError(
                f"{self.transform}: {name_of(self.fun)} returned complex numbers. Pass holomorphic=True (complex inputs), or "
                "return the real and imaginary parts, for example np.stack([out.real, out.imag])."
            )


def is_finite(*results: Any) -> bool:
    """Are all numbers beneath these results finite? (Lazy arrays are not asked: they would be computed.)"""
    values = [concrete(r) for r in tree.leaves(results)]
    return all(np.isfinite(v).all() for v in values if spec(v).dtype.kind in "fc" and runner(v) is None)


def seed(trace: BatchTrace, rows: Any, shape: tuple[int, ...], dtype: Any, *, masked: bool) -> Any:
    """Rows of the identity as a batch of cotangents or tangents; `masked`: its zeros are zeros by structure."""
    value = trace.wrap(rows.reshape(len(rows), *shape).astype(dtype), None)
    return Masked(value, trace.wrap(rows.reshape(len(rows), *shape) != 0, None)) if masked else value


class JacRev(Jacobian):
    """See `jacrev`."""

    transform = "jacrev"

    @override
    def _blocks(
        self, fun: Callable[..., Any], chosen: Sequence[Any]
    ) -> tuple[list[Any], tree.Structure, Any]:
        out, pullback, aux = record(fun, chosen, {}, has_aux=self.has_aux, transform=self.transform)
        for value in tree.leaves(out):
            self._check_output(value)
        return [self._rows(pullback, node, value) for node, value in pullback.ends], pullback.structure, aux

    def _rows(self, pullback: Pullback, node: Any, value: Any) -> list[Any]:
        """All rows for one output leaf. If a number in them is not finite, once more with masks: a zero of
        the identity times an infinite derivative must not spoil the other rows.
        """
        rows = self._swept(pullback, node, value, masked=False)
        if node is not None and value.shape != () and not is_finite(rows):
            rows = self._swept(pullback, node, value, masked=True)
        return rows

    def _swept(self, pullback: Pullback, node: Any, value: Any, *, masked: bool) -> list[Any]:
        collected: list[Collected] = []
        structure = tree.LEAF
        for rows in shown(chunks(value.size, self.chunk_size), self.transform, progress=self.progress):
            leaves, structure = tree.flatten(self._chunk(pullback, node, value, rows, masked=masked))
            collected = collected or [Collected(value.size) for _ in leaves]
            for whole, part in zip(collected, leaves, strict=True):
                whole.add(part)
        wholes = [whole.result() for whole in collected]
        return tree.unflatten(structure, [shaped(whole, value.shape + whole.shape[1:]) for whole in wholes])

    def _chunk(self, pullback: Pullback, node: Any, value: Any, rows: slice, *, masked: bool) -> list[Any]:
        n = rows.stop - rows.start
        if value.shape == () and node is not None:
            cts = sweep([(node, ones(value)[()])])
            return self._gathered(pullback, lambda ct: ct.reshape(1, *ct.shape), cts, n)
        with BatchTrace(n) as trace:
            identity = identity_rows(value, rows)
            cts = (
                sweep([(node, seed(trace, identity, value.shape, value.dtype, masked=masked))])
                if node is not None
                else {}
            )
            return self._gathered(pullback, lambda ct: unbatched(trace, ct), cts, n)

    def _gathered(
        self, pullback: Pullback, take: Callable[[Any], Any], cts: dict[Any, Any], n: int
    ) -> list[Any]:
        results = []
        for values, nodes, structure in pullback.arguments:
            rows = []
            for v, node in zip(values, nodes, strict=True):
                ct = cts.get(node) if node is not None else None
                if ct is None:
                    rows.append(np.zeros((n, *v.shape), float0) if node is None else zeros(v, n))
                else:
                    rows.append(of_kind(own(take(dense(ct))), v))
            results.append(tree.unflatten(structure, rows))
        return results


def shaped(x: Any, shape: tuple[int, ...]) -> Any:
    """`x` with that shape; one number is NumPy's scalar, as NumPy's functions give it, and as `grad` does."""
    return x.reshape(shape)[()] if type(x) is np.ndarray and shape == () else x.reshape(shape)


def unbatched(trace: BatchTrace, x: Any) -> Any:
    """The value of a batch tracer; what does not depend on the batch is repeated."""
    if isinstance(x, BatchTracer) and x._trace is trace:
        return x._value
    return np.broadcast_to(x, (trace.size, *np.shape(x)))


class JacFwd(Jacobian):
    """See `jacfwd`."""

    transform = "jacfwd"

    @override
    def _check_input(self, value: Any) -> None:
        super()._check_input(value)
        if value.dtype.kind == "c" and not self.holomorphic:
            raise NonDifferentiableError(
                "jacfwd of a complex input needs holomorphic=True; or write the function of two real arrays"
            )

    @override
    def _blocks(
        self, fun: Callable[..., Any], chosen: Sequence[Any]
    ) -> tuple[list[Any], tree.Structure, Any]:
        columns, structure, aux = self._columns(fun, chosen, masked=False)
        if not is_finite([c for c in columns if c is not None]):
            columns, structure, aux = self._columns(fun, chosen, masked=True)
        return columns, structure, aux

    def _columns(
        self, fun: Callable[..., Any], chosen: Sequence[Any], *, masked: bool
    ) -> tuple[list[Any], tree.Structure, Any]:
        flat = [argument_leaves(x, self.transform, i, allow_int=self.allow_int) for i, x in enumerate(chosen)]
        sizes = [v.size if v.dtype.kind in "fc" else 0 for values, _ in flat for v in values]
        total = sum(sizes)
        collected: list[Collected] = []
        structure, aux, outs = tree.LEAF, None, []
        for rows in shown(chunks(total, self.chunk_size), self.transform, progress=self.progress):
            tangents, outs, structure, aux = self._pushed(fun, flat, rows, masked=masked)
            collected = collected or [Collected(total, last=True) for _ in tangents]
            for whole, part in zip(collected, tangents, strict=True):
                whole.add(part)
            del tangents, part  # before the next chunk is made
        blocks = [self._split(collected.pop(0), out, flat, sizes) for out in outs]
        return blocks, structure, aux

    def _pushed(
        self, fun: Any, flat: Any, rows: slice, *, masked: bool
    ) -> tuple[list[Any], list[Any], Any, Any]:
        """The tangents of all output leaves, batched along axis 0, for some rows of the inputs' identity."""
        with BatchTrace(rows.stop - rows.start) as batch, ForwardTrace() as trace:
            args, start = [], 0
            for values, structure in flat:
                leaves = []
                for v in values:
                    if v.dtype.kind not in "fc":
                        leaves.append(v)
                        continue
                    identity = identity_rows(v, rows, start=start)
                    t = seed(batch, identity, v.shape, v.dtype, masked=masked)
                    leaves.append(trace.wrap(v, t))
                    start += v.size
                args.append(tree.unflatten(structure, leaves))
            out, aux = fun(*args), None
            if self.has_aux:
                out, aux = aux_split(out, self.transform, name_of(self.fun))
                aux = lowered(trace, aux, self.transform)
            leaves, structure = tree.flatten(out)
            leaves = [revealed(trace, o, self.transform) for o in leaves]
            outs = [output_value(lower_leaf(trace, o), self.fun, self.transform) for o in leaves]
            for value in outs:
                self._check_output(value)
            tangents = [self._tangent(trace, batch, o, value) for o, value in zip(leaves, outs, strict=True)]
        return tangents, outs, structure, aux

    def _tangent(self, trace: ForwardTrace, batch: BatchTrace, o: Any, value: Any) -> Any:
        t = dense(o._node) if isinstance(o, ForwardTracer) and o._trace is trace else None
        if t is not None:
            return unbatched(batch, t)
        if value.dtype.kind in "fc":
            return zeros(value, batch.size)
        return np.zeros((batch.size, *value.shape))

    def _split(self, collected: Collected, out: Any, flat: Any, sizes: list[int]) -> list[Any]:
        """Cut the columns of one output leaf into blocks, one for each input leaf."""
        at, blocks, k, whole = 0, [], 0, collected.result()
        for values, structure in flat:
            parts = []
            for v in values:
                if v.dtype.kind in "fc":
                    # and nobody else has it
                    is_all = type(whole) is np.ndarray and sizes[k] == whole.shape[-1]
                    block = shaped(whole if is_all else whole[..., at : at + sizes[k]], out.shape + v.shape)
                    block = block if block.dtype == v.dtype else block.astype(v.dtype)
                    parts.append(of_kind(block if is_all else own(block), v))
                else:
                    parts.append(np.zeros(out.shape + v.shape, float0))
                at += sizes[k]
                k += 1
            blocks.append(tree.unflatten(structure, parts))
        return blocks


@overload
def jacrev(fun: np.ufunc, **options: Unpack[Chunks]) -> Callable[[X], X]: ...
@overload
def jacrev(
    fun: Callable[Concatenate[NDArray[S], P], NDArray[Any]], **options: Unpack[Chunks]
) -> Callable[Concatenate[NDArray[S], P], NDArray[S]]: ...
@overload
def jacrev(
    fun: Callable[Concatenate[X, P], Number], **options: Unpack[Chunks]
) -> Callable[Concatenate[X, P], X]: ...
@overload
def jacrev(
    fun: Callable[P, Any], argnums: int | Sequence[int] = 0, *, argnames: str | Sequence[str] | None = None,
    has_aux: bool = False, allow_int: bool = False, **options: Unpack[Chunks],
) -> Callable[P, Any]: ...  # fmt: skip
@overload
def jacrev(
    fun: None = None, argnums: int | Sequence[int] = 0, *, argnames: str | Sequence[str] | None = None,
    has_aux: bool = False, allow_int: bool = False, **options: Unpack[Chunks],
) -> Decorator: ...  # fmt: skip
def jacrev(
    fun: Any = None, argnums: int | Sequence[int] = 0, *, argnames: str | Sequence[str] | None = None,
    has_aux: bool = False, holomorphic: bool = False,
    allow_int: bool = False, chunk_size: int | None = None, progress: bool = False,
) -> Any:  # fmt: skip
    """The Jacobian by reverse mode: one batched sweep for all outputs. Best for few outputs and many inputs.

    Args:
        fun: the function; inputs and output are pytrees of arrays.
        argnums, argnames: the argument(s) to differentiate in, as in `grad`.
        has_aux: `fun` returns (output, aux); the result is then (jacobian, aux).
        holomorphic: complex in, complex out, and holomorphic.
        allow_int: integer leaves are allowed, and get float0.
        chunk_size: how many rows to compute at a time, to bound memory; all of them by default.
        progress: show a bar that counts the chunks (it needs tqdm).

    Returns:
        A function that returns the Jacobian: the structure of the output, in each leaf the structure of the
        argument (a tuple of them for several argnums), in each of those an array of shape out.shape +
        in.shape and the input's dtype.

    Raises:
        as `grad`; OutputError for complex outputs without `holomorphic`.

    Rows are independent: an infinite derivative in one does not reach another.

    >>> import numpy as np, funcgrad as fg
    >>> fg.jacrev(lambda x: x ** 2)(np.array([1.0, 3.0]))
    array([[2., 0.],
           [0., 6.]])
    """
    options = {
        "argnums": argnums,
        "argnames": argnames,
        "has_aux": has_aux,
        "holomorphic": holomorphic,
        "allow_int": allow_int,
        "chunk_size": chunk_size,
        "progress": progress,
    }
    return decorating(JacRev, fun, options)


@overload
def jacfwd(fun: np.ufunc, **options: Unpack[Chunks]) -> Callable[[X], X]: ...
@overload
def jacfwd(
    fun: Callable[Concatenate[NDArray[S], P], NDArray[Any]], **options: Unpack[Chunks]
) -> Callable[Concatenate[NDArray[S], P], NDArray[S]]: ...
@overload
def jacfwd(
    fun: Callable[Concatenate[X, P], Number], **options: Unpack[Chunks]
) -> Callable[Concatenate[X, P], X]: ...
@overload
def jacfwd(
    fun: Callable[P, Any], argnums: int | Sequence[int] = 0, *, argnames: str | Sequence[str] | None = None,
    has_aux: bool = False, **options: Unpack[Chunks],
) -> Callable[P, Any]: ...  # fmt: skip
@overload
def jacfwd(
    fun: None = None, argnums: int | Sequence[int] = 0, *, argnames: str | Sequence[str] | None = None,
    has_aux: bool = False, **options: Unpack[Chunks],
) -> Decorator: ...  # fmt: skip
def jacfwd(
    fun: Any = None, argnums: int | Sequence[int] = 0, *, argnames: str | Sequence[str] | None = None,
    has_aux: bool = False, holomorphic: bool = False,
    chunk_size: int | None = None, progress: bool = False,
) -> Any:  # fmt: skip
    """The Jacobian by forward mode: one batched push for all inputs. Best for few inputs and many outputs.

    Arguments (but for `allow_int`), result and errors are those of `jacrev`; `chunk_size` counts columns.

    >>> import numpy as np, funcgrad as fg
    >>> fg.jacfwd(lambda t: np.stack([t, t * t, t ** 3]))(2.0)
    array([ 1.,  4., 12.])
    """
    options = {
        "argnums": argnums,
        "argnames": argnames,
        "has_aux": has_aux,
        "holomorphic": holomorphic,
        "chunk_size": chunk_size,
        "progress": progress,
    }
    return decorating(JacFwd, fun, options)


jacobian = jacrev


class Hessian(Jacobian):
    """See `hessian`."""

    transform = "hessian"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        options = {"argnames": self.argnames, "has_aux": self.has_aux, "holomorphic": self.holomorphic}
        inner = JacRev(self.fun, self.argnums, **options)
        outer = JacFwd(inner, self.argnums, chunk_size=self.chunk_size, progress=self.progress, **options)
        inner.transform = outer.transform = self.transform  # in messages, and on the bar
        return outer(*args, **kwargs)


@overload
def hessian(fun: np.ufunc, **options: Unpack[Chunks]) -> Callable[[X], X]: ...
@overload
def hessian(
    fun: Callable[Concatenate[NDArray[S], P], Any], **options: Unpack[Chunks]
) -> Callable[Concatenate[NDArray[S], P], NDArray[S]]: ...
@overload
def hessian(
    fun: Callable[Concatenate[float, P], Any], **options: Unpack[Chunks]
) -> Callable[Concatenate[float, P], float]: ...
@overload
def hessian(
    fun: Callable[P, Any], argnums: int | Sequence[int] = 0, *, argnames: str | Sequence[str] | None = None,
    has_aux: bool = False, **options: Unpack[Chunks],
) -> Callable[P, Any]: ...  # fmt: skip
@overload
def hessian(
    fun: None = None, argnums: int | Sequence[int] = 0, *, argnames: str | Sequence[str] | None = None,
    has_aux: bool = False, **options: Unpack[Chunks],
) -> Decorator: ...  # fmt: skip
def hessian(
    fun: Any = None, argnums: int | Sequence[int] = 0, *, argnames: str | Sequence[str] | None = None,
    has_aux: bool = False, holomorphic: bool = False,
    chunk_size: int | None = None, progress: bool = False,
) -> Any:  # fmt: skip
    """The matrix of second derivatives, forward over reverse: `jacfwd(jacrev(fun))`, batched.

    Arguments (but for `allow_int`) and errors are those of `jacrev`.

    Returns:
        A function that returns the Hessian: for a scalar output and an array of shape s, an array of shape s
        + s; for pytrees the structure of the argument, in each leaf the structure of the argument again.

    >>> import numpy as np, funcgrad as fg
    >>> fg.hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 2.0]))
    array([[4., 2.],
           [2., 0.]])
    """
    options = {
        "argnums": argnums,
        "argnames": argnames,
        "has_aux": has_aux,
        "holomorphic": holomorphic,
        "chunk_size": chunk_size,
        "progress": progress,
    }
    return decorating(Hessian, fun, options)


@overload
def hvp(fun: Callable[..., Any], primals: tuple[X], tangents: Sequence[Any]) -> X: ...
@overload
def hvp(fun: Callable[..., Any], primals: tuple[X, Y], tangents: Sequence[Any]) -> tuple[X, Y]: ...
@overload
def hvp(fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Any: ...
def hvp(fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """The Hessian of a scalar function times a vector, forward over reverse: a few gradients, no matrix.

    Args:
        fun: the function, with one number as output.
        primals: a tuple of its arguments, where the Hessian is taken.
        tangents: a tuple of directions with the structure of the primals.

    Returns:
        With one primal, the product with the structure of that argument; with several, a tuple of products
        with respect to all.

    >>> import numpy as np, funcgrad as fg
    >>> fg.hvp(lambda x: np.sum(x ** 3), (np.array([1.0, 2.0]),), (np.array([1.0, -1.0]),))
    array([  6., -12.])
    """
    matched("hvp", primals, "tangents", tangents)
    return pushed(slope_of(fun, primals, "hvp"), primals, tangents, transform="hvp")[1]


def slope_of(fun: Callable[..., Any], primals: Sequence[Any], transform: str) -> Grad:
    """The gradient of `fun` in all arguments (a lone one bare), for a transform of that name."""
    check_function(fun, transform)
    slope = Grad(fun, 0 if len(primals) == 1 else tuple(range(len(primals))))
    slope.transform = transform  # in messages
    return slope
