"""np.linalg, where the gradient of `eigh` lies in the triangle that is read, as autograd has it."""

from __future__ import annotations

from typing import Any

import funcgrad.numpy as _numpy
from funcgrad.compat.autograd.numpy.namespaces import filled_from
from funcgrad.extend import from_triangle


def eigh(a: Any, UPLO: str = "L") -> Any:
    """Eigenvalues and vectors of a symmetric (or Hermitian) matrix, of which one triangle is read.

    >>> import numpy as np
    >>> from funcgrad.compat.autograd import grad
    >>> grad(lambda a: eigh(a)[0][0])(np.array([[2.0, 1.0], [1.0, 3.0]])).round(3)
    array([[ 0.724,  0.   ],
           [-0.894,  0.276]])
    """
    linalg: Any = _numpy.linalg
    return linalg.eigh(from_triangle(a, UPLO), UPLO)


__getattr__ = filled_from(globals(), lambda: _numpy.linalg)
