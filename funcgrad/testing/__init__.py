"""Checks of derivatives against finite differences, and of vmap against a loop; funcgrad's tests use them.

Directions are random and the same in every run. Each check returns None, or raises a `GradientCheckError`
(which is an AssertionError) that names the argument, the mode, the order, what was expected and what came.

In reading order: `differences` (finite differences of any function of pytrees), `comparison` (of these with
what a transform says), `checks` (the public functions).
"""

from funcgrad.errors import GradientCheckError
from funcgrad.testing.checks import check_grads, check_jvp, check_vjp, check_vmap

__all__ = ["GradientCheckError", "check_grads", "check_jvp", "check_vjp", "check_vmap"]
