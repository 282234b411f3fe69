"""Chapters that many programs do without, imported when a function without a rule is first met."""

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
