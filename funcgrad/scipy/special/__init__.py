"""scipy.special with derivatives: importing this declares them. Its ufuncs take tracers as they are.

Nobody has to: when a tracer meets a function of scipy.special for the first time, it is imported by itself.

    rules           how they are declared
    elementary      logistic functions, entropies, losses, powers that keep their digits
    gammas, zetas   and what belongs to them
    errors          the error function, the normal distribution
    densities, distributions, suprema
    bessel, elliptic (Carlson's integrals), integrals, hypergeometric (orthogonal polynomials), waves
    ordinary        what is no ufunc
    contour         derivatives from values on a circle, where recurrences cancel
"""

from funcgrad.scipy.mirror import mirror
from funcgrad.scipy.special import (  # noqa: F401
    bessel,
    distributions,
    elementary,
    elliptic,
    errors,
    gammas,
    hypergeometric,
    integrals,
    ordinary,
    suprema,
    waves,
    zetas,
)

__getattr__, __dir__ = mirror(__name__)
