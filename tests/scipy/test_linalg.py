"""What the sweep over samples does not ask of linear algebra: shapes that SciPy broadcasts, or does not take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from funcgrad import grad, vjp

pytest.importorskip("scipy")
sl = pytest.importorskip("scipy.linalg")
linalg = pytest.importorskip("funcgrad.scipy").linalg


@pytest.mark.parametrize("name", ["sqrtm", "expm", "inv", "cholesky", "pinv", "cosm"])
def test_a_number_is_no_matrix(name: str) -> None:
    with pytest.raises(ValueError, match=r"a number where a matrix is needed\. Write"):
        grad(lambda x: np.sum(getattr(linalg, name)(x)))(4.0)


@pytest.mark.parametrize(
    ("c", "b", "options"),
    [
        ((2, 5), (5,), {}),
        ((5, 5), (5, 5), {}),
        ((2, 1, 5), (5, 3), {"outaxis": -1}),
        ((2, 3, 5), (3, 5), {"baxis": -1, "outaxis": -1}),
        ((5, 2), (5, 2), {"caxis": 0}),
        ((5, 5), (5, 5), {"tol": 0.5, "singular": "lstsq"}),
    ],
)
def test_circulant_systems_broadcast(c: Any, b: Any, options: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    c, b = rng.normal(size=c), rng.normal(size=b)
    out, _ = vjp(lambda c: linalg.solve_circulant(c, b, **options), c)
    np.testing.assert_array_equal(out, sl.solve_circulant(c, b, **options))


def test_circulant_systems_of_other_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match=r"Shapes of c \(3,\) and b \(1,\) are incompatible"):
        grad(lambda c: np.sum(linalg.solve_circulant(c, np.ones(1))))(np.ones(3))
