"""elementwise_grad, and stop_gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.core.engine.trace import Tracer
from funcgrad.errors import OutputError
from funcgrad.transforms.derivatives import decorating
from funcgrad.transforms.leaves import argument_leaves
from funcgrad.transforms.recording import record
from funcgrad.transforms.wrapping import Transformed, checked_argnums, name_of, of_chosen, positions


class ElementwiseGrad(Transformed):
    """See `elementwise_grad`."""

    transform = "elementwise_grad"

    def __init__(self, fun: Callable[..., Any], argnums: Any = 0) -> None:
        super().__init__(fun)
        self.argnums = checked_argnums(argnums, self.transform)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        where = positions(self.argnums, args, self.transform, self.fun)
        for i in where:
            argument_leaves(args[i], self.transform, i)  # refuses integers
        fun = of_chosen(self.fun, args, where, kwargs)
        out, pullback, _ = record(fun, [args[i] for i in where], {}, transform=self.transform)
        for leaf in tree.leaves(out):
            if leaf.dtype.kind == "c":
                raise OutputError(f"elementwise_grad: {name_of(self.fun)} returned complex numbers; use vjp or jacrev")
        cts = pullback(tree.map(lambda o: np.ones(o.shape, o.dtype)[()], out))
        return cts if isinstance(self.argnums, tuple) else cts[0]


def elementwise_grad(fun: Any = None, argnums: int | Sequence[int] = 0) -> Any:
    """The derivative of a function that acts on each element by itself, at every element.

    For any other function it is the sum of the Jacobian's rows, the gradient of `np.sum(fun(x))`.

    >>> import numpy as np, funcgrad as fg
    >>> fg.elementwise_grad(np.tanh)(np.array([0.0, 1.0]))
    array([1.        , 0.41997434])
    """
    return decorating(ElementwiseGrad, fun, {"argnums": argnums})


def stop_gradient(x: Any) -> Any:
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
