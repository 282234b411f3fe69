"""The covariance of a normal distribution of several variables, by Cholesky factors where it has full rank.

SciPy takes it apart by eigenvectors, whose derivative is infinite where two eigenvalues are equal: as those of
a covariance often are (`K + noise * np.eye(n)`), though the density is smooth there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import _covariance, _multivariate

from funcgrad.core.arrays.arguments import as_operand
from funcgrad.rules.matrices import symmetrised
from funcgrad.scipy.classes import instead
from funcgrad.scipy.declare import constant, step
from funcgrad.scipy.rerun import rerun, substitute, values


def _init_psd(
    self: Any, M: Any, cond: Any = None, rcond: Any = None, lower: bool = True, **options: Any
) -> None:
    plain: Any = _multivariate._PSD(values(M), cond, rcond, lower, **options)
    if plain.rank < len(plain._M):
        rerun(_multivariate._PSD.__init__)(self, M, cond, rcond, lower, **options)
        return
    factor = np.linalg.cholesky(M if lower else np.swapaxes(M, 0, 1))
    self._M, self._pinv = M, None
    self.eps, self.V, self.rank = plain.eps, plain.V, plain.rank
    self.U = np.linalg.inv(factor).T
    self.log_pdet = 2 * np.sum(np.log(np.diagonal(factor)))


instead(substitute("", _multivariate._PSD), __init__=_init_psd)
for _kind in (_covariance.CovViaPSD, *_covariance.Covariance.__subclasses__()):
    substitute("", _kind)  # so that what is made of plain arrays is one of ours, too, and whitens tracers


# ---- the density of a normal distribution, as one step -------------------------------------------------------------------

_LOG_2PI = np.log(2 * np.pi)
_FULL_RANK = 1 / (
    1e6 * np.finfo(float).eps
)  # SciPy takes a matrix for singular beyond this ratio of eigenvalues


@constant("cov")
def _root(cov: Any) -> Any:
    """The inverse of the lower Cholesky factor; SciPy's error where it finds the matrix singular or indefinite."""
    try:
        lower = np.linalg.cholesky(cov)
    except np.linalg.LinAlgError:
        _multivariate._PSD(cov, allow_singular=False)
        raise
    root = np.linalg.inv(lower)
    # The product of Frobenius norms bounds the ratio from above: eigenvalues are rarely needed to decide.
    if not np.sum(lower**2) * np.sum(root**2) < _FULL_RANK:
        _multivariate._PSD(cov, allow_singular=False)
    return root


@step(
    "root cov",
    lambda ct, out: -out @ symmetrised(ct) @ out,
    push=lambda t, out: -out @ symmetrised(t["cov"]) @ out,
)
def _precision(root: Any, cov: Any) -> Any:
    """The inverse of the covariance, by the root that `_root` has made of it."""
    return root.T @ root


def _pulled_to_gap(ct: Any, root: Any, gap: Any, cov: Any) -> Any:
    return (gap @ _precision(root, cov)) * -ct[..., None]


def _pulled_to_cov(ct: Any, root: Any, gap: Any, cov: Any) -> Any:
    precision = _precision(root, cov)
    solved = (gap @ precision).reshape(-1, gap.shape[-1])
    return 0.5 * ((solved * ct.reshape(-1, 1)).T @ solved - ct.sum() * precision)


def _density_push(t: Any, root: Any, gap: Any, cov: Any) -> Any:
    precision, out = _precision(root, cov), 0.0
    solved = gap @ precision
    if t["gap"] is not None:
        out = out - (solved * t["gap"]).sum(-1)
    if t["cov"] is not None:
        out = out + 0.5 * (((solved @ t["cov"]) * solved).sum(-1) - (precision * t["cov"]).sum())
    return out


@step("root gap cov", {"gap": _pulled_to_gap, "cov": _pulled_to_cov}, push=_density_push)
def _log_density(root: Any, gap: Any, cov: Any) -> Any:
    """The logarithm of the density at a distance `gap` from the mean."""
    white = gap @ root.T
    constants = np.log(np.diagonal(root)).sum() - 0.5 * _LOG_2PI * gap.shape[-1]
    return constants - 0.5 * (white * white).sum(-1)


_THEIR_LOGPDF: Callable[..., Any] = rerun(_multivariate.multivariate_normal_gen.logpdf)


def _logpdf(self: Any, x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False) -> Any:
    if not isinstance(cov, _covariance.Covariance) and not allow_singular:
        points, center, matrix = (as_operand(v) for v in (x, 0.0 if mean is None else mean, cov))
        shape = np.shape(matrix)
        usual = len(shape) == 2 and shape[0] == shape[1] > 1 and np.shape(points)[-1:] == shape[:1]
        if usual and (mean is None or np.shape(center) == shape[:1]):
            gap, matrix = (points - center).astype(float, copy=False), matrix.astype(float, copy=False)
            return _log_density(_root(matrix), gap, matrix).squeeze()[()]
    return _THEIR_LOGPDF(self, x, mean, cov, allow_singular)


def _pdf(self: Any, x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False) -> Any:
    return np.exp(_logpdf(self, x, mean, cov, allow_singular))


instead(substitute("", _multivariate.multivariate_normal_gen), logpdf=_logpdf, pdf=_pdf)
