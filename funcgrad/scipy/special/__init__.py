"""Derivatives of the functions of scipy.special, which reach tracers as they are: importing this declares them.

Nobody has to: when a tracer meets a function of scipy.special for the first time, it is imported by itself.

    rules           how they are declared
    elementary      logistic functions, entropies, losses, powers that keep their digits
    gamma, zeta     and what belongs to them
    errors          the error function, the normal distribution
    densities, distributions, kolmogorov
    bessel, elliptic (Carlson's integrals), integrals, hypergeometric (orthogonal polynomials), waves
    contour         derivatives from values on a circle, where recurrences cancel
"""

from funcgrad.scipy.special import (  # noqa: F401
    bessel,
    distributions,
    elementary,
    elliptic,
    errors,
    gamma,
    hypergeometric,
    integrals,
    kolmogorov,
    waves,
    zeta,
)
