"""Polynomials: identities that hold for their values hold for their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from funcgrad import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

coefficients = st.lists(st.integers(-3, 3), min_size=1, max_size=5).map(lambda v: np.array(v, float))


def test_the_slope_of_a_polynomial_is_polyder() -> None:
    p = [1.0, 2.0, 3.0, -1.0]
    assert grad(lambda t: np.polyval(p, t))(2.0) == np.polyval(np.polyder(p), 2.0)
    assert grad(grad(lambda t: np.polyval(p, t)))(2.0) == np.polyval(np.polyder(p, 2), 2.0)
    assert grad(lambda t: np.poly1d(p)(t))(2.0) == np.polyval(np.polyder(p), 2.0)
    np.testing.assert_array_equal(grad(lambda p: np.polyval(p, 2.0))(np.array(p)), [8.0, 4.0, 2.0, 1.0])
    np.testing.assert_array_equal(grad(lambda t: np.polyval(np.stack([t, 1, t]), 2.0))(3.0), 5.0)
    x = np.array([0.0, np.inf])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(vjp(lambda x: np.polyval(p, x), x)[0], np.polyval(p, x))


def test_vandermonde_at_zero() -> None:
    x = np.array([0.0, 2.0])
    np.testing.assert_array_equal(vjp(lambda x: np.vander(x, 4), x)[0], np.vander(x, 4))
    jacobian = jacrev(lambda x: np.vander(x, 4, increasing=True))(x)
    np.testing.assert_array_equal(jacobian[0, :, 0], [0, 1, 0, 0])
    np.testing.assert_array_equal(jacobian[1, :, 1], [0, 1, 4, 12])
    np.testing.assert_array_equal(hessian(lambda x: np.vander(x, 3)[0, 0])(x), [[2, 0], [0, 0]])
    for n in (0, 1):
        assert vjp(lambda x, n=n: np.vander(x, n), x)[0].shape == (2, n)
    with pytest.raises(ValueError, match="one dimension"):
        grad(lambda x: np.vander(x).sum())(np.ones((2, 2)))


@given(coefficients, coefficients, st.sampled_from([np.polyadd, np.polysub, np.polymul]))
def test_arithmetic(p: Any, q: Any, function: Any) -> None:
    out, pull = vjp(function, p, q)
    np.testing.assert_array_equal(out, function(p, q))
    ct = np.arange(1.0, len(out) + 1)
    t = np.ones(len(p))
    assert pull(ct)[0] @ t == pytest.approx(ct @ jvp(lambda p: function(p, q), (p,), (t,))[1])


@given(coefficients, coefficients.filter(lambda v: v[0] != 0))
def test_division(u: Any, v: Any) -> None:
    (quotient, rest), pull = vjp(np.polydiv, u, v)
    expected = np.polydiv(u, v)
    np.testing.assert_allclose(quotient, expected[0])
    np.testing.assert_allclose(rest, expected[1])
    pulled = pull((np.ones(len(quotient)), np.zeros(len(rest))))
    back = np.polymul(quotient, v)
    assert len(back) <= max(len(u), len(v) + len(quotient) - 1)
    assert pulled[0] @ u == pytest.approx(np.sum(quotient), abs=1e-9)  # a quotient is linear in the dividend
    assert pulled[1] @ v == pytest.approx(-np.sum(quotient), abs=1e-9)  # and of degree -1 in the divisor


def test_calculus() -> None:
    np.testing.assert_array_equal(
        jacrev(lambda p: np.polyder(p, 2))(np.ones(4)), [[6, 0, 0, 0], [0, 2, 0, 0]]
    )
    np.testing.assert_allclose(jacfwd(lambda p: np.polyint(p))(np.ones(2)), [[0.5, 0], [0, 1], [0, 0]])
    value = vjp(lambda p, k: np.polyint(p, 2, k=k), np.ones(2), np.array([3.0, 4.0]))[0]
    np.testing.assert_allclose(value, np.polyint(np.ones(2), 2, k=[3.0, 4.0]))
    np.testing.assert_allclose(
        vjp(lambda p: np.polyint(p, 2, k=3.0), np.ones(2))[0], np.polyint(np.ones(2), 2, k=3.0)
    )
    for call in (
        lambda p: np.polyder(p, -1),
        lambda p: np.polyint(p, -1),
        lambda p: np.polyint(p, 3, k=[1.0, 2.0]),
    ):
        with pytest.raises(ValueError, match=r"np\.poly"):
            grad(lambda p, call=call: np.sum(call(p)))(np.ones(3))


# ---- roots -----------------------------------------------------------------------------------------------------------


def test_roots_and_poly_are_inverse() -> None:
    r = np.array([-2.0, 1.5, 3.0])
    back = lambda r: np.sort(np.roots(np.poly(r)))
    np.testing.assert_allclose(jacrev(back)(r), np.eye(3), atol=1e-12)
    z = np.array([0.5 - 1j, 1 + 2j])
    np.testing.assert_allclose(jacrev(back, holomorphic=True)(z), np.eye(2), atol=1e-12)
    np.testing.assert_allclose(hessian(lambda r: back(r)[0])(r), np.zeros((3, 3)), atol=1e-10)
    assert vjp(np.poly, np.array([1 + 1j, 1 - 1j]))[0].dtype == np.float64


@pytest.mark.filterwarnings("ignore")
def test_roots_that_do_not_move_smoothly() -> None:
    double = np.array([1.0, -2.0, 1.0])
    assert not np.isfinite(jacrev(np.roots)(double)).any()
    with_zero = grad(lambda p: np.roots(p)[-1])(np.array([1.0, -3.0, 2.0, 0.0]))
    np.testing.assert_allclose(with_zero, [0, 0, 0, -0.5])
    shifted = vjp(np.roots, np.array([0.0, 1.0, -3.0]))
    assert shifted[0].tolist() == [3.0]
    np.testing.assert_allclose(shifted[1](np.ones(1))[0], [-9.0, -3.0, -1.0])
    assert vjp(np.roots, np.zeros(2))[1](np.zeros(0))[0].tolist() == [0.0, 0.0]


# ---- fits ------------------------------------------------------------------------------------------------------------


def test_a_fit_is_linear_in_the_data() -> None:
    x = np.array([0.0, 1.0, 2.0])
    np.testing.assert_allclose(
        grad(lambda y: np.polyfit(x, y, 1)[0])(np.array([1.0, 3.0, 4.0])), [-0.5, 0, 0.5], atol=1e-14
    )
    np.testing.assert_allclose(
        vmap(lambda y: np.polyfit(x, y, 1))(np.eye(3)), [np.polyfit(x, y, 1) for y in np.eye(3)]
    )


def test_a_fit_through_all_points_moves_with_them() -> None:
    """Where the polynomial passes through its data, moving a point along the curve changes nothing."""
    x = np.array([0.0, 1.0, 2.5])
    p = np.array([2.0, -1.0, 0.5])
    parts = vjp(lambda x, y: np.polyfit(x, y, 2), x, np.polyval(p, x))[1](np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(parts[0] + parts[1] * np.polyval(np.polyder(p), x), np.zeros(3), atol=1e-11)


@pytest.mark.parametrize(
    "options", [{"full": True}, {"cov": True}, {"cov": "unscaled"}, {"w": [1.0, 2.0, 1.0, 2.0]}], ids=str
)
@pytest.mark.parametrize("columns", [(), (2,)], ids=str)
def test_what_else_a_fit_returns(options: dict[str, Any], columns: tuple[int, ...]) -> None:
    x = np.array([0.0, 1.0, 2.0, 4.0])
    y = np.sin(np.arange(4.0 * (2 if columns else 1))).reshape(4, *columns)
    came, expected = vjp(lambda y: np.polyfit(x, y, 1, **options), y)[0], np.polyfit(x, y, 1, **options)
    for c, e in zip(came, expected, strict=True):
        np.testing.assert_allclose(c, e, rtol=1e-10)


def test_what_a_fit_refuses() -> None:
    with pytest.raises(TypeError, match=r"np\.polyfit"):
        grad(lambda y: np.polyfit(np.ones(2), y, 1)[0])(np.ones(3))
    with pytest.raises(ValueError, match="number of data points"):
        grad(lambda y: np.polyfit(np.arange(2.0), y, 1, cov=True)[1].sum())(np.ones(2))
    with pytest.warns(np.exceptions.RankWarning):
        grad(lambda y: np.polyfit(np.ones(3), y, 1)[0])(np.ones(3))
