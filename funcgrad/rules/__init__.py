"""The rules: one chapter of NumPy's manual in each file. Importing them fills the catalogue."""

from funcgrad.core import indexing as _x_at_index  # noqa: F401  (x[index] is declared in the core)
from funcgrad.core.catalogue import CATALOGUE
from funcgrad.core.lanes import make_lane
from funcgrad.core.methods import install_lanes
from funcgrad.core.mutation import install_mutation
from funcgrad.core.ufunc import Ufunc
from funcgrad.rules import (  # noqa: F401
    assignment,
    choices,
    constructors,
    contractions,
    decompositions,
    determinants,
    differences,
    einsum,
    elementwise,
    emath,
    fft,
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
    shapes,
    signals,
    sorting,
    statistics,
)

install_lanes({f: make_lane(p) for f, p in CATALOGUE.items() if isinstance(p, Ufunc)})
install_mutation()
