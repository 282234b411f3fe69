"""The chapters that a program may well do without. They are imported when a function is first met that has no
rule yet.
"""

from funcgrad.rules import (  # noqa: F401
    decompositions,
    determinants,
    differences,
    einsum,
    emath,
    functional,
    linalg,
    nan_reductions,
    norms,
    padding,
    polynomials,
    sets,
    signals,
    statistics,
    vector_products,
)
