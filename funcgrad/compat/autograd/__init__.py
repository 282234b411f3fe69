"""The interface of HIPS autograd, on funcgrad: programs written for it run as they are.

    import funcgrad.compat.autograd as autograd
    import funcgrad.compat.autograd.numpy as np

Names, arguments and conventions are autograd's, also where they differ from funcgrad's own;
docs/coming_from_autograd.md lists what is better. Read it in this order:

    spaces.py                   vspace: what a value can be added to
    primitives.py               functions with rules of one's own
    core.py                     make_vjp, make_jvp
    differential_operators.py   grad, jacobian, hessian, ...
    tracer.py                   nodes of one's own; misc/, flat parameters, optimizers, fixed points
    numpy/, scipy/              the namespaces
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from funcgrad.compat.autograd.differential_operators import (
    checkpoint,
    deriv,
    elementwise_grad,
    grad,
    grad_and_aux,
    grad_named,
    hessian,
    hessian_tensor_product,
    hessian_vector_product,
    holomorphic_grad,
    jacobian,
    make_ggnvp,
    make_hvp,
    make_jvp,
    make_jvp_reversemode,
    make_vjp,
    multigrad_dict,
    tensor_jacobian_product,
    value_and_grad,
    vector_jacobian_product,
)

if TYPE_CHECKING:
    from funcgrad.compat.autograd.builtins import dict, isinstance, list, tuple, type
    from funcgrad.compat.autograd.primitives import primitive as primitive

egrad = elementwise_grad
__version__ = "1.9.1"  # whose interface this is: packages ask for it

__all__ = [
    "checkpoint",
    "deriv",
    "dict",
    "egrad",
    "elementwise_grad",
    "grad",
    "grad_and_aux",
    "grad_named",
    "hessian",
    "hessian_tensor_product",
    "hessian_vector_product",
    "holomorphic_grad",
    "isinstance",
    "jacobian",
    "list",
    "make_ggnvp",
    "make_hvp",
    "make_jvp",
    "make_jvp_reversemode",
    "make_vjp",
    "multigrad_dict",
    "primitive",
    "tensor_jacobian_product",
    "tuple",
    "type",
    "value_and_grad",
    "vector_jacobian_product",
]


# Loaded when they are asked for: most programs only differentiate.
_LATE = {"primitive": "primitives"} | dict.fromkeys(
    ("dict", "isinstance", "list", "tuple", "type"), "builtins"
)
_MODULES = ("builtins", "extend", "misc", "numpy", "scipy", "test_util", "tracer", "util", "wrap_util")


def __getattr__(name: str) -> Any:
    if name in _LATE:
        return getattr(import_module(f"{__name__}.{_LATE[name]}"), name)
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
