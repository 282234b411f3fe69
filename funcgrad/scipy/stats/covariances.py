"""The covariance of a normal distribution of several variables, by Cholesky factors where it has full rank.

SciPy takes it apart by eigenvectors, whose derivative is infinite where two eigenvalues are equal: as those of
a covariance often are (`K + noise * np.eye(n)`), though the density is smooth there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import _covariance, _multivariate

from funcgrad.scipy.classes import instead
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
