"""Products with second derivatives that are never formed: vhp, gnvp. And a Hessian's diagonal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, overload

import numpy as np

from funcgrad import tree
from funcgrad.errors import NonDifferentiableError
from funcgrad.transforms.derivatives import jvp, matched, pushed, vjp
from funcgrad.transforms.matrices import slope_of
from funcgrad.transforms.progress import Collected, checked_chunk_size, chunks, identity_rows, shown
from funcgrad.transforms.recording import record
from funcgrad.transforms.vectorize import vmap
from funcgrad.transforms.wrapping import Differentiated, check_function, decorating, name_of, of_chosen

if TYPE_CHECKING:
    from funcgrad.transforms.signatures import Decorator, P, X


def vhp(fun: Callable[..., Any], primals: Sequence[Any], cotangents: Sequence[Any]) -> Any:
    """A vector times the Hessian of a scalar function, reverse over reverse.

    It equals `hvp`, which is faster, where the Hessian is symmetric; it needs no forward mode.

    Args:
        fun: the function, with one number as output.
        primals: a tuple of its arguments, where the Hessian is taken.
        cotangents: a tuple of vectors with the structure of the primals.

    Returns:
        With one primal, the product with the structure of that argument; with several, a tuple of products
        with respect to all.

    >>> import numpy as np, funcgrad as fg
    >>> fg.vhp(lambda x: np.sum(x ** 3), (np.array([1.0, 2.0]),), (np.array([1.0, -1.0]),))
    array([  6., -12.])
    """
    matched("vhp", primals, "cotangents", cotangents)
    _, pullback, _ = record(slope_of(fun, primals, "vhp"), primals, {}, transform="vhp")
    return pullback(cotangents[0])[0] if len(primals) == 1 else pullback(tuple(cotangents))


def gnvp(
    model: Callable[..., Any], loss: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]
) -> Any:
    """The Gauss-Newton matrix of loss(model(x)) times a vector: J^T H J v.

    J is the Jacobian of the model, H the Hessian of the loss at the model's output.

    It leaves out the model's own second derivatives, so it has no negative eigenvalues where the loss is
    convex.

    Args:
        model: a function of the primals; its output is a pytree.
        loss: a function of that output, with one number as output.
        primals: a tuple of the model's arguments.
        tangents: a tuple of directions with the structure of the primals.

    Returns:
        With one primal, the product with the structure of that argument; with several, a tuple of products
        with respect to all.

    >>> import numpy as np, funcgrad as fg
    >>> a = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> fg.gnvp(lambda x: a @ x, lambda out: np.sum(out ** 2), (np.ones(2),), (np.array([1.0, 0.0]),))
    array([20., 28.])
    """
    check_function(model, "gnvp")
    check_function(loss, "gnvp")
    matched("gnvp", primals, "tangents", tangents)
    out, t, _ = pushed(model, primals, tangents, transform="gnvp")
    bend = pushed(slope_of(loss, (out,), "gnvp"), (out,), (t,), transform="gnvp")[1]
    products = vjp(model, *primals)[1](bend)
    return products[0] if len(primals) == 1 else products


class HessianDiagonal(Differentiated):
    """See `hessian_diagonal`."""

    transform = "hessian_diagonal"

    def __init__(
        self,
        fun: Callable[..., Any],
        argnums: Any = 0,
        *,
        argnames: Any = None,
        chunk_size: int | None = None,
        progress: bool = False,
    ) -> None:
        super().__init__(fun, argnums, argnames)
        self.chunk_size, self.progress = checked_chunk_size(chunk_size, self.transform), progress

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        fun, args, kwargs, where = self.placed(args, kwargs)
        x, unravel = tree.ravel(tuple(args[i] for i in where))
        if x.dtype.kind != "f":
            raise NonDifferentiableError(
                f"hessian_diagonal: the arguments must be real floating numbers, not {x.dtype}; use hessian for complex ones"
            )

        fun = of_chosen(fun, args, where, kwargs)

        def flat(x: Any) -> Any:
            return fun(*unravel(x))

        flat.__name__ = name_of(self.fun)
        slope = slope_of(flat, (x,), self.transform)
        diagonal = Collected(x.size)
        for rows in shown(chunks(x.size, self.chunk_size), self.transform, progress=self.progress):
            directions = identity_rows(x, rows, x.dtype)
            # The gradient may be a plain array without an index per example: so a choice, not an index.
            entry = vmap(lambda t: np.sum(np.where(t != 0, jvp(slope, (x,), (t,))[1], 0)))
            diagonal.add(entry(directions))
        diagonals = unravel(diagonal.result())
        return diagonals if self.in_several else diagonals[0]


@overload
def hessian_diagonal(
    fun: Callable[Concatenate[X, P], Any], *, chunk_size: int | None = None, progress: bool = False
) -> Callable[Concatenate[X, P], X]: ...
@overload
def hessian_diagonal(
    fun: Callable[P, Any], argnums: int | Sequence[int] = 0, *, argnames: str | Sequence[str] | None = None,
    chunk_size: int | None = None, progress: bool = False,
) -> Callable[P, Any]: ...  # fmt: skip
@overload
def hessian_diagonal(
    fun: None = None, argnums: int | Sequence[int] = 0, *, argnames: str | Sequence[str] | None = None,
    chunk_size: int | None = None, progress: bool = False,
) -> Decorator: ...  # fmt: skip
def hessian_diagonal(
    fun: Any = None, argnums: int | Sequence[int] = 0, *, argnames: str | Sequence[str] | None = None,
    chunk_size: int | None = None, progress: bool = False,
) -> Any:  # fmt: skip
    """The diagonal of the Hessian of a scalar function: its second derivative in each element.

    One batched push through the gradient for all elements; only the diagonal is kept of each product.

    Args:
        fun: the function, with one number as output.
        argnums, argnames: the argument(s) to differentiate in, as in `grad`: real numbers and arrays, or
            pytrees of them.
        chunk_size: how many elements to compute at a time, to bound memory; all of them by default.
        progress: show a bar that counts the chunks (it needs tqdm).

    Returns:
        A function that returns the diagonal, with the structure, shapes and dtypes of the argument.

    Raises:
        as `grad`; NonDifferentiableError for complex arguments.

    >>> import numpy as np, funcgrad as fg
    >>> fg.hessian_diagonal(lambda x: np.sum(x) ** 2 + np.sum(x ** 3))(np.array([1.0, 2.0]))
    array([ 8., 14.])
    """
    options = {"argnums": argnums, "argnames": argnames, "chunk_size": chunk_size, "progress": progress}
    return decorating(HessianDiagonal, fun, options)
