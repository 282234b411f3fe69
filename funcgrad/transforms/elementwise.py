"""elementwise_grad, and stop_gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, Literal, overload

from funcgrad import tree
from funcgrad.core.arrays.zeros import ones
from funcgrad.core.engine.trace import Tracer
from funcgrad.errors import OutputError
from funcgrad.transforms.leaves import argument_leaves
from funcgrad.transforms.recording import record
from funcgrad.transforms.wrapping import Differentiated, decorating, name_of, of_chosen

if TYPE_CHECKING:
    from funcgrad.transforms.signatures import Decorator, P, X


class ElementwiseGrad(Differentiated):
    """See `elementwise_grad`."""

    transform = "elementwise_grad"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        fun, args, kwargs, where = self.placed(args, kwargs)
        for i in where:
            argument_leaves(args[i], self.transform, i)  # refuses integers
        fun = of_chosen(fun, args, where, kwargs)
        out, pullback, _ = record(fun, [args[i] for i in where], {}, transform=self.transform)
        for leaf in tree.leaves(out):
            if leaf.dtype.kind == "c":
                raise OutputError(
                    f"elementwise_grad: {name_of(self.fun)} returned complex numbers; use vjp or jacrev"
                )
        cts = pullback(tree.map(lambda o: ones(o)[()], out))
        return cts if self.in_several else cts[0]


@overload
def elementwise_grad(
    fun: Callable[Concatenate[X, P], Any], argnums: Literal[0] = 0
) -> Callable[Concatenate[X, P], X]: ...
@overload
def elementwise_grad(fun: Callable[P, Any], argnums: int | Sequence[int]) -> Callable[P, Any]: ...
@overload
def elementwise_grad(fun: Callable[P, Any], *, argnames: str | Sequence[str]) -> Callable[P, Any]: ...
@overload
def elementwise_grad(
    fun: None = None, argnums: int | Sequence[int] = 0, *, argnames: str | Sequence[str] | None = None
) -> Decorator: ...
def elementwise_grad(
    fun: Any = None, argnums: int | Sequence[int] = 0, *, argnames: str | Sequence[str] | None = None
) -> Any:
    """The derivative of a function that acts on each element by itself, at every element.

    For any other function it is the sum of the Jacobian's rows, the gradient of `np.sum(fun(x))`.

    >>> import numpy as np, funcgrad as fg
    >>> fg.elementwise_grad(np.tanh)(np.array([0.0, 1.0]))
    array([1.        , 0.41997434])
    """
    return decorating(ElementwiseGrad, fun, {"argnums": argnums, "argnames": argnames})


def stop_gradient(x: X) -> X:
    """`x` (a pytree) with its derivative taken off, at every level: a constant from here on.

    >>> import numpy as np, funcgrad as fg
    >>> float(fg.grad(lambda x: x * fg.stop_gradient(x))(3.0))
    3.0
    """
    return tree.map(_stopped, x)


def _stopped(x: Any) -> Any:
    if not isinstance(x, Tracer):
        return x
    return x._trace.wrap(_stopped(x._value), None)
