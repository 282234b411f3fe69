"""What the sweep over samples does not ask of linear algebra: shapes that SciPy broadcasts, or does not take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from funcgrad import grad, jvp, vjp

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


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("kind", [float, complex])
def test_systems_of_a_cholesky_factor_pull_what_they_push(kind: type, lower: bool) -> None:
    """More rows than one block has; the pushed tangents are compared with differences."""
    rng, n = np.random.default_rng(0), 70
    draw = lambda *shape: rng.normal(size=shape) + (1j * rng.normal(size=shape) if kind is complex else 0)
    c, b, t_c, t_b, ct = 0.1 * draw(n, n) + 3 * np.eye(n), draw(n, 2), draw(n, n), draw(n, 2), draw(n, 2)
    solve = lambda c, b: linalg.cho_solve((c, lower), b)
    t = jvp(solve, (c, b), (t_c, t_b))[1]
    h = 1e-6
    difference = solve(c + h * t_c, b + h * t_b) - solve(c - h * t_c, b - h * t_b)
    np.testing.assert_allclose(t, difference / (2 * h), atol=1e-7)
    ct_c, ct_b = vjp(solve, c, b)[1](ct)
    np.testing.assert_allclose(np.sum(ct * t).real, (np.sum(ct_c * t_c) + np.sum(ct_b * t_b)).real)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("n", [63, 64, 65, 150])
def test_cholesky_factors_of_several_blocks(n: int, lower: bool) -> None:
    rng = np.random.default_rng(n)
    a, w, t = rng.normal(size=(3, n, n))
    a, t = a @ a.T + n * np.eye(n), t + t.T
    weighted = lambda factor: lambda a: np.sum(w * factor(a, lower=lower))
    h = 1e-4
    value = weighted(sl.cholesky)
    expected = (value(a + h * t) - value(a - h * t)) / (2 * h)
    np.testing.assert_allclose(np.sum(grad(weighted(linalg.cholesky))(a) * t), expected, rtol=1e-6)
