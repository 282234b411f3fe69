"""funcgrad differentiates the NumPy code that you already have.

>>> import numpy as np
>>> from funcgrad import grad
>>> grad(lambda x: np.sum(np.sin(x) ** 2))(np.array([0.0, 0.5]))
array([0.        , 0.84147098])
"""

import importlib
from typing import Any

import funcgrad.rules  # noqa: F401  (declares them)
from funcgrad import tree
from funcgrad.core.catalogue import LATE
from funcgrad.rules.at import at
from funcgrad.transforms.checkpointing import checkpoint, checkpoint_name
from funcgrad.transforms.custom import custom_gradient, custom_jvp, custom_vjp
from funcgrad.transforms.derivatives import grad, jvp, value_and_grad, vjp
from funcgrad.transforms.elementwise import elementwise_grad, stop_gradient
from funcgrad.transforms.implicit import fixed_point, root
from funcgrad.transforms.linear import linear_transpose, linearize
from funcgrad.transforms.matrices import hessian, hvp, jacfwd, jacobian, jacrev
from funcgrad.transforms.products import gnvp, hessian_diagonal, vhp
from funcgrad.transforms.vectorize import vmap

__version__ = "0.1.0.dev0"

__all__ = [
    # derivatives
    "grad",
    "value_and_grad",
    "elementwise_grad",
    "vjp",
    "jvp",
    "linearize",
    "linear_transpose",
    # matrices of derivatives, and products with them
    "jacrev",
    "jacfwd",
    "jacobian",
    "hessian",
    "hvp",
    "vhp",
    "gnvp",
    "hessian_diagonal",
    # vectorisation
    "vmap",
    # derivatives of one's own, memory
    "custom_vjp",
    "custom_jvp",
    "custom_gradient",
    "stop_gradient",
    "checkpoint",
    "checkpoint_name",
    # solutions of equations
    "fixed_point",
    "root",
    # arrays and trees
    "at",
    "tree",
]

# The rules for SciPy are loaded when a tracer first meets one of its functions.
LATE["scipy.special"] = "funcgrad.scipy.special"

# Loaded when they are first used.
_LAZY = ("debug", "extend", "testing")


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return importlib.import_module(f"funcgrad.{name}")
    raise AttributeError(f"module 'funcgrad' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_LAZY])
