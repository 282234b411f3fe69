"""Rules for tangents of NumPy's functions: each has one here, or has that of the other direction transposed."""

from funcgrad.compat.autograd.numpy.numpy_vjps import (
    balanced_eq,
    dot_adjoint_0,
    dot_adjoint_1,
    match_complex,
    replace_zero,
    tensordot_adjoint_0,
    tensordot_adjoint_1,
    untake,
)

__all__ = [
    "balanced_eq",
    "dot_adjoint_0",
    "dot_adjoint_1",
    "match_complex",
    "replace_zero",
    "tensordot_adjoint_0",
    "tensordot_adjoint_1",
    "untake",
]
