"""The rules: one chapter of NumPy's manual in each file. Importing them fills the catalogue."""

from funcgrad.core import indexing as _x_at_index  # noqa: F401  (x[index] is declared in the core)
from funcgrad.core.catalogue import LATE
from funcgrad.core.inplace import install_mutation
from funcgrad.core.methods import install_operators
from funcgrad.core.owned import measure_owned
from funcgrad.rules import (  # noqa: F401
    assignment,
    at,
    choices,
    constructors,
    contractions,
    decompositions,
    determinants,
    differences,
    einsum,
    elementwise,
    emath,
    functional,
    indexing,
    joining,
    linalg,
    nan_reductions,
    norms,
    padding,
    plain,
    polynomials,
    powers,
    products,
    reductions,
    sets,
    shapes,
    signals,
    sorting,
    statistics,
    vector_products,
)

LATE["numpy.fft"] = "funcgrad.rules.fft"  # which NumPy, too, imports when it is asked for
install_operators()
install_mutation()
measure_owned()
