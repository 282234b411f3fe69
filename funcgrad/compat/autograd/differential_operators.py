"""What is done to functions: gradients, Jacobians, Hessians, and products with them."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections import OrderedDict
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.compat.autograd.core import gradient as _gradient
from funcgrad.compat.autograd.core import make_jvp as _make_jvp
from funcgrad.compat.autograd.core import make_vjp as _make_vjp
from funcgrad.compat.autograd.spaces import vspace
from funcgrad.compat.autograd.wrap_util import unary_to_nary
from funcgrad.errors import FuncgradError

__all__ = [
    "checkpoint",
    "deriv",
    "elementwise_grad",
    "grad",
    "grad_and_aux",
    "grad_named",
    "hessian",
    "hessian_tensor_product",
    "hessian_vector_product",
    "holomorphic_grad",
    "jacobian",
    "make_ggnvp",
    "make_hvp",
    "make_jvp",
    "make_jvp_reversemode",
    "make_vjp",
    "multigrad_dict",
    "tensor_jacobian_product",
    "value_and_grad",
    "vector_jacobian_product",
]


def checkpoint(fun: Callable[..., Any]) -> Callable[..., Any]:
    """`fun`, of which nothing is saved for its derivative: it is run again."""
    return import_module("funcgrad.transforms.checkpointing").checkpoint(fun)


make_vjp = unary_to_nary(_make_vjp)
make_jvp = unary_to_nary(_make_jvp)


def _scalar(value: Any, who: str) -> Any:
    """The cotangent 1 of an output that is one real number, whatever its shape."""
    if vspace(value).size != 1:
        raise TypeError(
            f"{who} only applies to real scalar-output functions, but the output is {_described(value)}. Use jacobian, "
            "elementwise_grad or holomorphic_grad."
        )
    return vspace(value).ones()


def _described(value: Any) -> str:
    if hasattr(value, "dtype"):
        return f"an array of shape {np.shape(value)} and dtype {value.dtype}"
    return f"a {type(value).__name__}"


@unary_to_nary
def grad(fun: Callable[[Any], Any], x: Any) -> Any:
    """`grad(fun, argnum=0)`: the gradient of a function with one real number (shape (), (1,), ...) as output.

    >>> float(grad(lambda x: x ** 2)(3))
    6.0
    """
    return _gradient(fun, x, lambda value: _scalar(value, "grad"))[1]


@unary_to_nary
def value_and_grad(fun: Callable[[Any], Any], x: Any) -> tuple[Any, Any]:
    """`value_and_grad(fun, argnum=0)`: value and gradient, as `scipy.optimize.minimize(jac=True)` wants."""
    return _gradient(fun, x, lambda value: _scalar(value, "value_and_grad"))


@unary_to_nary
def grad_and_aux(fun: Callable[[Any], Any], x: Any) -> tuple[Any, Any]:
    """`grad_and_aux(fun, argnum=0)`: the gradient of the value, and aux; `fun` returns (value, aux)."""

    def seed(gradient: Any) -> Any:
        return _scalar(gradient[0], "grad_and_aux"), vspace(gradient[1]).zeros()

    (_, aux), gradient = _gradient(lambda x: tuple(fun(x)), x, seed)
    return gradient, aux


@unary_to_nary
def elementwise_grad(fun: Callable[[Any], Any], x: Any) -> Any:
    """`elementwise_grad(fun, argnum=0)`: the sum of the Jacobian's rows (its diagonal, if elementwise)."""

    def seed(value: Any) -> Any:
        if vspace(value).iscomplex:
            raise TypeError(
                "elementwise_grad only applies to real-output functions; take the real part, or use make_vjp"
            )
        return vspace(value).ones()

    return _gradient(fun, x, seed)[1]


@unary_to_nary
def deriv(fun: Callable[[Any], Any], x: Any) -> Any:
    """`deriv(fun, argnum=0)`: the derivative along the vector of ones, by forward mode."""
    return _make_jvp(fun, x)(vspace(x).ones())[1]


@unary_to_nary
def jacobian(fun: Callable[[Any], Any], x: Any) -> Any:
    """`jacobian(fun, argnum=0)`: all derivatives, of shape out.shape + x.shape; of an array, or a number.

    >>> import numpy as np
    >>> jacobian(np.square)(np.array([1.0, 3.0]))
    array([[2., 0.],
           [0., 6.]])
    """
    pull, value = _make_vjp(fun, x)
    space = vspace(value)
    basis = list(space.standard_basis())
    shape = np.shape(value) + np.shape(x)
    if not basis:
        return np.zeros(shape)
    return np.reshape(_rows(pull, basis), shape)


_FEW = 6  # from here on a Hessian of some ten steps is faster at once


def _rows(pull: Callable[[Any], Any], basis: list[Any]) -> Any:
    """The pulled vectors of a basis: all at once, unless a rule of a program's own wants them one by one.

    So do few vectors, which take less time than a batch does.
    """
    if len(basis) > _FEW:
        try:
            return import_module("funcgrad").vmap(pull)(np.stack(basis))
        except (FuncgradError, TypeError, ValueError, IndexError, NotImplementedError):
            pass  # such as `if` on a cotangent; a real mistake is raised below
    return np.stack([pull(g) for g in basis])


@unary_to_nary
def holomorphic_grad(fun: Callable[[Any], Any], x: Any) -> Any:
    """`holomorphic_grad(fun, argnum=0)`: the derivative of a holomorphic function at a complex number."""
    if not vspace(x).iscomplex:
        warnings.warn("Input to holomorphic_grad is not complex", stacklevel=3)
    return grad(lambda x: np.real(fun(x)))(x)


def grad_named(fun: Callable[..., Any], argname: str) -> Any:
    """The gradient in the argument of this name."""
    return grad(fun, list(inspect.signature(fun).parameters).index(argname))


@unary_to_nary
def hessian(fun: Callable[[Any], Any], x: Any) -> Any:
    """`hessian(fun, argnum=0)`: the second derivatives, of shape out.shape + x.shape + x.shape."""
    return jacobian(jacobian(fun))(x)


@unary_to_nary
def make_hvp(fun: Callable[[Any], Any], x: Any) -> tuple[Callable[[Any], Any], Any]:
    """`make_hvp(fun, argnum=0)(*args)`: the function that multiplies by the Hessian, and the gradient."""
    return _make_vjp(grad(fun), x)


def hessian_tensor_product(fun: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """A function of (*args, tensor), the product of the Hessian with the tensor, an array or a tree of them."""
    slope = grad(fun, argnum)

    def along(*args: Any, **kwargs: Any) -> Any:
        *args_, vector = args
        pairs = zip(tree.leaves(slope(*args_, **kwargs)), tree.leaves(vector), strict=True)
        return sum(np.tensordot(x, t, np.ndim(t)) for x, t in pairs)

    return grad(along, argnum)


def tensor_jacobian_product(fun: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """A function of (*args, tensor), the product of the tensor with the Jacobian."""

    def along(*args: Any, **kwargs: Any) -> Any:
        *args_, vector = args
        return np.tensordot(vector, fun(*args_, **kwargs), axes=np.ndim(vector))

    return jacobian(along, argnum)


hessian_vector_product = hessian_tensor_product
vector_jacobian_product = tensor_jacobian_product


@unary_to_nary
def make_jvp_reversemode(fun: Callable[[Any], Any], x: Any) -> Callable[[Any], Any]:
    """`make_jvp_reversemode(fun, argnum=0)(*args)`: pushes tangents by two sweeps (transposed twice)."""
    pull, value = _make_vjp(fun, x)
    return _make_vjp(pull, vspace(value).zeros())[0]


def _half_squares(x: Any) -> Any:
    return 0.5 * np.sum(x**2, axis=-1)


def make_ggnvp(f: Callable[..., Any], g: Callable[[Any], Any] = _half_squares, f_argnum: int = 0) -> Any:
    """Products with the Gauss-Newton matrix of g(f(x)), at a point: `make_ggnvp(f, g)(*args)(v)`."""

    @unary_to_nary
    def of_point(f: Callable[[Any], Any], x: Any) -> Callable[[Any], Any]:
        f_pull, value = _make_vjp(f, x)
        bend, slope = _make_vjp(grad(g), value)
        push, _ = _make_vjp(f_pull, vspace(slope).zeros())
        return lambda v: f_pull(bend(push(v)))

    return of_point(f, f_argnum)


def multigrad_dict(fun: Callable[..., Any]) -> Callable[..., Any]:
    """The gradients in all arguments at once, as a dict by name (for *args a tuple, for **kwargs a dict)."""
    signature = inspect.signature(fun)
    kinds = {name: p.kind for name, p in signature.parameters.items()}

    def by_name(arguments: dict[str, Any]) -> Any:
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for name, kind in kinds.items():
            if kind is inspect.Parameter.VAR_POSITIONAL:
                args += arguments[name]
            elif kind is inspect.Parameter.VAR_KEYWORD:
                kwargs |= arguments[name]
            elif kind is inspect.Parameter.KEYWORD_ONLY:
                kwargs[name] = arguments[name]
            else:
                args.append(arguments[name])
        return fun(*args, **kwargs)

    @functools.wraps(fun)
    def gradients(*args: Any, **kwargs: Any) -> OrderedDict[str, Any]:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        by_argument = grad(by_name)(dict(bound.arguments))
        return OrderedDict((name, by_argument[name]) for name in bound.arguments)

    return gradients
