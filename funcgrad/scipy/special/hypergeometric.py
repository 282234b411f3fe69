"""Hypergeometric functions, whose derivative raises parameters (DLMF 13.3, 15.5); orthogonal polynomials.

Derivatives in the parameters of hyp0f1, hyp1f1 and hyp2f1 are in files of their own; the parameters of the
others, and the degrees of the polynomials, have no known derivatives.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from funcgrad.core.engine.kinds import Unknown
from funcgrad.core.engine.trace import concrete
from funcgrad.scipy.special.hypergeometric_parameters import gauss_in_parameter, limit_in_parameter
from funcgrad.scipy.special.rules import elementwise, unsupported
from funcgrad.scipy.special.shapes import confluent_in_parameter

PARAMETER, DEGREE, ORDER = Unknown("a parameter"), Unknown("the degree"), Unknown("the order")

elementwise("hyp0f1", lambda x, y: limit_in_parameter(x, y), lambda x, y: special.hyp0f1(x + 1, y) / x)
elementwise(
    "hyp1f1",
    lambda x, y, z: confluent_in_parameter(0, x, y, z),
    lambda x, y, z: confluent_in_parameter(1, x, y, z),
    lambda x, y, z: x / y * special.hyp1f1(x + 1, y + 1, z),
)
elementwise(
    "hyp2f1",
    lambda x0, x1, x2, x3: gauss_in_parameter(0, x0, x1, x2, x3),
    lambda x0, x1, x2, x3: gauss_in_parameter(1, x0, x1, x2, x3),
    lambda x0, x1, x2, x3: gauss_in_parameter(2, x0, x1, x2, x3),
    lambda x0, x1, x2, x3: x0 * x1 / x2 * special.hyp2f1(x0 + 1, x1 + 1, x2 + 1, x3),
)
elementwise("hyperu", PARAMETER, PARAMETER, lambda x, y, z: -x * special.hyperu(x + 1, y + 1, z))
elementwise("wright_bessel", PARAMETER, PARAMETER, lambda x, y, z: special.wright_bessel(x, x + y, z))
elementwise(
    "log_wright_bessel",
    PARAMETER,
    PARAMETER,
    lambda x, y, z, out: np.exp(special.log_wright_bessel(x, x + y, z) - out),
)


# ---- orthogonal polynomials: the derivative has one degree less, and none at degree 0 ---------------------------------
def _below(n: Any, factor: Any, value: Any) -> Any:
    return np.where(n == 0, 0.0, factor * value)


def _whole(n: Any) -> Any:
    """Degrees as integers if they all are: SciPy's recurrences then keep parity, and digits near 0."""
    if isinstance(n, (float, np.ndarray, np.generic)) and np.all(n == np.floor(n)) and np.all(abs(n) < 1e6):
        return np.asarray(n).astype(np.dtype("long"))[()]
    return n


elementwise(
    "eval_legendre", DEGREE, lambda x, y: _below(x, 1, special.eval_gegenbauer(_whole(x - 1), 1.5, y))
)
elementwise("eval_chebyt", DEGREE, lambda x, y: _below(x, x, special.eval_chebyu(_whole(x - 1), y)))
elementwise("eval_chebyu", DEGREE, lambda x, y: _below(x, 2, special.eval_gegenbauer(_whole(x - 1), 2.0, y)))
elementwise("eval_chebyc", DEGREE, lambda x, y: _below(x, x, special.eval_chebys(_whole(x - 1), y)))
elementwise(
    "eval_chebys", DEGREE, lambda x, y: _below(x, 1, special.eval_gegenbauer(_whole(x - 1), 2.0, 0.5 * y))
)


def genlaguerre_in_parameter(x, y, z):
    """For whole degrees the sum of L_k / (n - k), k < n (Koekoek, J. Comput. Appl. Math. 30, 1990)."""
    top = int(np.max(concrete(x), initial=0))
    terms = [
        np.where(k < x, special.eval_genlaguerre(float(k), y, z) / np.where(k < x, x - k, 1), 0)
        for k in range(top)
    ]
    return np.where(x == np.floor(x), sum(terms, 0.0 * z), np.nan)


elementwise(
    "eval_hermite", DEGREE, lambda x, y: _below(x, 2 * x, special.eval_hermite(np.maximum(x - 1, 0), y))
)
elementwise(
    "eval_hermitenorm", DEGREE, lambda x, y: _below(x, x, special.eval_hermitenorm(np.maximum(x - 1, 0), y))
)
elementwise(
    "eval_laguerre", DEGREE, lambda x, y: _below(x, -1, special.eval_genlaguerre(_whole(x - 1), 1.0, y))
)
elementwise(
    "eval_genlaguerre",
    DEGREE,
    genlaguerre_in_parameter,
    lambda x, y, z: _below(x, -1, special.eval_genlaguerre(_whole(x - 1), y + 1, z)),
)
elementwise(
    "eval_gegenbauer",
    DEGREE,
    PARAMETER,
    lambda x, y, z: _below(x, 2 * y, special.eval_gegenbauer(_whole(x - 1), y + 1, z)),
)
elementwise(
    "eval_jacobi",
    DEGREE,
    PARAMETER,
    PARAMETER,
    lambda x0, x1, x2, x3: _below(
        x0, 0.5 * (x0 + x1 + x2 + 1), special.eval_jacobi(_whole(x0 - 1), x1 + 1, x2 + 1, x3)
    ),
)

# On the interval from 0 to 1, in 2 x - 1.
elementwise(
    "eval_sh_legendre",
    DEGREE,
    lambda x, y: _below(x, x + 1, special.eval_jacobi(_whole(x - 1), 1.0, 1.0, 2 * y - 1)),
)
elementwise("eval_sh_chebyt", DEGREE, lambda x, y: _below(x, 2 * x, special.eval_sh_chebyu(_whole(x - 1), y)))
elementwise(
    "eval_sh_chebyu",
    DEGREE,
    lambda x, y: _below(x, 4, special.eval_gegenbauer(_whole(x - 1), 2.0, 2 * y - 1)),
)
elementwise(
    "eval_sh_jacobi",
    DEGREE,
    PARAMETER,
    PARAMETER,
    lambda x0, x1, x2, x3: _below(x0, x0, special.eval_sh_jacobi(_whole(x0 - 1), x1 + 2, x2 + 1, x3)),
)
# DLMF 14.10.5; NaN at the ends, where some orders have no slope.
elementwise(
    "lpmv",
    ORDER,
    DEGREE,
    lambda x, y, z, out: (y * z * out - (x + y) * special.lpmv(x, y - 1, z)) / ((z - 1) * (z + 1)),
)
unsupported("sph_harm", "SciPy has replaced it", "Write it with scipy.special.lpmv.")
