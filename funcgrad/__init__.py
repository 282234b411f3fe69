"""funcgrad differentiates the NumPy code that you already have.

>>> import numpy as np
>>> from funcgrad import grad
>>> grad(lambda x: np.sum(np.sin(x) ** 2))(np.array([0.0, 0.5]))
array([0.        , 0.84147098])
"""

import importlib
from typing import TYPE_CHECKING, Any

import funcgrad.core.messages.warned  # warnings name the user's line
import funcgrad.rules  # noqa: F401  (declares them)
from funcgrad import tree
from funcgrad.core.libraries import late
from funcgrad.transforms.derivatives import grad, jvp, value_and_grad, vjp

if TYPE_CHECKING:
    from funcgrad import cmath as cmath
    from funcgrad import debug as debug
    from funcgrad import drawing as drawing
    from funcgrad import errors as errors
    from funcgrad import extend as extend
    from funcgrad import math as math
    from funcgrad import nn as nn
    from funcgrad import numpy as numpy
    from funcgrad import optim as optim
    from funcgrad import scipy as scipy
    from funcgrad import testing as testing
    from funcgrad import torch as torch
    from funcgrad.adaptation import adapt
    from funcgrad.compiler import jit
    from funcgrad.drawing import draw, trace
    from funcgrad.rules.at import at
    from funcgrad.transforms.checkpointing import checkpoint, checkpoint_name
    from funcgrad.transforms.custom import custom_gradient, custom_jvp, custom_vjp
    from funcgrad.transforms.elementwise import elementwise_grad, stop_gradient
    from funcgrad.transforms.implicit import fixed_point, root
    from funcgrad.transforms.linear import linear_transpose, linearize
    from funcgrad.transforms.matrices import hessian, hvp, jacfwd, jacobian, jacrev
    from funcgrad.transforms.products import gnvp, hessian_diagonal, vhp
    from funcgrad.transforms.vectorize import vmap

__version__ = "0.1.0"

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
    # compiled functions
    "jit",
    # pictures and tables
    "draw",
    "trace",
    # programs as they are
    "adapt",
    # arrays and trees
    "at",
    "tree",
]

# The rules for SciPy are loaded when a tracer first meets one of its functions.
late("scipy.special", "funcgrad.scipy.special")
late("scipy.fft", "funcgrad.scipy.fft.backend", beforehand=True)

# Where to find what is loaded when it is first used: importing funcgrad stays as cheap as importing NumPy.
_MODULES = (
    "cmath",
    "debug",
    "drawing",
    "errors",
    "extend",
    "math",
    "nn",
    "numpy",
    "optim",
    "scipy",
    "testing",
    "torch",
)
_LAZY = {
    "adapt": "adaptation", "jit": "compiler",
    "checkpoint": "transforms.checkpointing", "checkpoint_name": "transforms.checkpointing",
    "custom_gradient": "transforms.custom", "custom_jvp": "transforms.custom", "custom_vjp": "transforms.custom",
    "draw": "drawing", "trace": "drawing",
    "fixed_point": "transforms.implicit", "root": "transforms.implicit",
    "linear_transpose": "transforms.linear", "linearize": "transforms.linear",
    "at": "rules.at", "elementwise_grad": "transforms.elementwise", "stop_gradient": "transforms.elementwise",
    "hessian": "transforms.matrices", "hvp": "transforms.matrices", "jacfwd": "transforms.matrices",
    "jacobian": "transforms.matrices", "jacrev": "transforms.matrices", "vmap": "transforms.vectorize",
    "gnvp": "transforms.products", "hessian_diagonal": "transforms.products", "vhp": "transforms.products",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"funcgrad.{name}")
    if name in _LAZY:
        value = getattr(importlib.import_module(f"funcgrad.{_LAZY[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'funcgrad' has no attribute {name!r}")


def __dir__() -> list[str]:
    """What is public, and what Python itself asks for."""
    return sorted({*__all__, *_MODULES, *(name for name in globals() if name.startswith("__"))})
