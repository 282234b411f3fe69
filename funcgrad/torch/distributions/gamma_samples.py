"""Numbers of the gamma distribution, and how they change with its parameter.

A sample is z with P(a, z) = u, where P is the distribution function: for a fixed u, dz/da = -(dP/da) /
(dP/dz), as in Figurnov, Mohamed and Mnih, "Implicit Reparameterization Gradients" (arXiv:1805.08498). P and
its derivative come from the series P = z^a e^-z / gamma(a + 1) * (1 + z/(a+1) + z^2/((a+1)(a+2)) + ...) (DLMF
8.7.1).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core.engine.declare import elementwise
from funcgrad.errors import NonDifferentiableError
from funcgrad.nn.kernels.special import digamma
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.random import default_generator
from funcgrad.torch.random.generator import Generator
from funcgrad.torch.tensors.tensor import make_tensor, plain


def drawn(a: np.ndarray, generator: Generator) -> np.ndarray:
    """Gamma numbers with parameters `a`, by rejection (Marsaglia and Tsang, ACM TOMS 26, 2000)."""
    flat = np.asarray(a, np.float64).ravel()
    larger = np.where(flat < 1, flat + 1, flat)  # below 1: multiply a number for a + 1 by u**(1/a)
    d = larger - 1 / 3
    c = 1 / np.sqrt(9 * d)
    out = np.full(flat.shape, np.nan)
    missing = np.flatnonzero(flat > 0)
    while missing.size:
        x = generator.normal(missing.size, np.dtype(np.float64))
        u = 1 - generator.doubles(missing.size)
        v = (1 + c[missing] * x) ** 3
        with np.errstate(invalid="ignore", divide="ignore"):
            good = (v > 0) & (np.log(u) < 0.5 * x * x + d[missing] * (1 - v + np.log(v)))
        out[missing[good]] = (d[missing] * v)[good]
        missing = missing[~good]
    small = flat < 1
    if small.any():
        out[small] *= (1 - generator.doubles(int(small.sum()))) ** (1 / flat[small])
    return out.reshape(np.shape(a))


def slope(a: Any, z: Any) -> Any:
    """dz/da of the samples z."""
    dtype = np.result_type(a, z)
    a, z = np.asarray(a, np.float64), np.asarray(z, np.float64)
    with np.errstate(all="ignore"):
        series, term = np.ones(np.broadcast(a, z).shape), np.ones(np.broadcast(a, z).shape)
        harmonic, derivative, k = np.zeros_like(series), np.zeros_like(series), 0
        while (term > 1e-17 * series).any():
            k += 1
            term = term * (z / (a + k))
            harmonic = harmonic + 1 / (a + k)
            series = series + term
            derivative = derivative - term * harmonic
        out = -z / a * (series * (np.log(z) - digamma(a + 1)) + derivative)
    return np.asarray(out, dtype)[()]


def _no_second(a: Any, z: Any) -> Any:
    raise NonDifferentiableError(
        "rsample of Gamma, Beta, Dirichlet or StudentT: its gradient is not differentiated again. Detach the samples, or use "
        "log_prob (a score-function estimator) for second derivatives."
    )


SLOPE = elementwise(slope, _no_second, _no_second, operands="a z", name="gamma_slope")
_SAMPLE = elementwise(
    lambda a, z: z * np.ones(np.shape(a), z.dtype),
    lambda a, z: SLOPE(a, z),
    None,
    operands="a z",
    name="gamma",
)
_OP = Op("_standard_gamma", lambda a, z: _SAMPLE(a, z), "StandardGammaBackward0")


def standard_gamma(a: Any, generator: Generator | None = None) -> Any:
    """Differentiable samples of the gamma distributions whose parameters the tensor `a` holds."""
    x = np.asarray(plain(a))
    z = np.maximum(drawn(x, generator or default_generator).astype(x.dtype), np.finfo(x.dtype).tiny)
    return _OP(a, make_tensor(z))
