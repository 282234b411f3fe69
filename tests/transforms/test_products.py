"""vhp, gnvp, hessian_diagonal: against the matrices that they don't form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from funcgrad import gnvp, grad, hessian, hessian_diagonal, hvp, jacrev, vhp, vmap
from funcgrad.errors import ArgumentError, CotangentError, NonDifferentiableError, OutputError

X, Y = np.array([0.3, -0.7, 1.5]), np.array([1.0, 2.0])
V, W = np.array([1.0, -1.0, 0.5]), np.array([0.2, 3.0])


def f(x: Any, y: Any = Y) -> Any:
    return np.sum(np.sin(x) * np.prod(x)) * np.sum(y**3) + y[0] * x[1] ** 2


def model(x: Any) -> Any:
    return {"a": np.tanh(np.outer(Y, x).sum(axis=1)), "b": x[0] * x[1]}


def loss(out: Any) -> Any:
    return np.sum(np.exp(out["a"])) * out["b"] ** 2 + np.sum(out["a"]) ** 2


def test_vhp_is_the_product_with_the_hessian() -> None:
    np.testing.assert_allclose(vhp(f, (X,), (V,)), V @ hessian(f)(X))
    np.testing.assert_allclose(vhp(f, (X,), (V,)), hvp(f, (X,), (V,)))
    for found, expected in zip(vhp(f, (X, Y), (V, W)), hvp(f, (X, Y), (V, W)), strict=True):
        np.testing.assert_allclose(found, expected)
    found = vhp(lambda d: f(d["x"]), ({"x": X},), ({"x": V},))
    np.testing.assert_allclose(found["x"], V @ hessian(f)(X))


def test_gnvp_is_the_product_with_the_gauss_newton_matrix() -> None:
    flat_model = lambda x: np.concatenate([model(x)["a"], model(x)["b"].reshape(1)])
    flat_loss = lambda out: loss({"a": out[:2], "b": out[2]})
    jacobian, curvature = jacrev(flat_model)(X), hessian(flat_loss)(flat_model(X))
    np.testing.assert_allclose(gnvp(model, loss, (X,), (V,)), jacobian.T @ curvature @ jacobian @ V)
    two = gnvp(lambda x, y: x * np.sum(y), lambda out: np.sum(out**2), (X, Y), (V, W))
    assert [np.shape(part) for part in two] == [(3,), (2,)]
    np.testing.assert_allclose(two[1], 2 * np.sum(X * (V * 3 + X * 3.2)) * np.ones(2))


def test_of_a_linear_model_it_is_the_hessian() -> None:
    a = np.array([[1.0, 2.0, 0.0], [0.5, -1.0, 1.0]])
    whole = lambda x: np.sum(np.cosh(a @ x))
    found = gnvp(lambda x: a @ x, lambda out: np.sum(np.cosh(out)), (X,), (V,))
    np.testing.assert_allclose(found, hvp(whole, (X,), (V,)))


@pytest.mark.parametrize("chunk_size", [None, 1, 2, 7])
def test_the_diagonal_of_the_hessian(chunk_size: int | None) -> None:
    np.testing.assert_allclose(hessian_diagonal(f, chunk_size=chunk_size)(X), np.diag(hessian(f)(X)))
    d_x, d_y = hessian_diagonal(f, argnums=(0, 1), chunk_size=chunk_size)(X, Y)
    np.testing.assert_allclose(d_x, np.diag(hessian(f)(X, Y)))
    np.testing.assert_allclose(d_y, np.diag(hessian(f, argnums=1)(X, Y)))


def test_the_diagonal_has_the_structure_and_dtypes_of_the_argument() -> None:
    found = hessian_diagonal(lambda d: np.sum(d["w"] ** 3) * d["b"] ** 2)(
        {"w": np.ones((2, 2), np.float32), "b": 2.0}
    )
    assert found["w"].dtype == np.float32
    np.testing.assert_allclose(found["w"], 24 * np.ones((2, 2)))
    assert found["b"] == 8
    assert hessian_diagonal(lambda x: x**3)(2.0) == 12

    @hessian_diagonal(argnums=-1)
    def scaled(k: Any, x: Any) -> Any:
        return k * np.sum(x**2)

    np.testing.assert_array_equal(scaled(3.0, X), [6, 6, 6])


def test_the_diagonal_nests() -> None:
    total = lambda x: np.sum(hessian_diagonal(lambda x: np.sum(x**4) + np.prod(x))(x))
    np.testing.assert_allclose(grad(total)(X), 24 * X)
    rows = np.stack([X, 2 * X])
    np.testing.assert_allclose(vmap(hessian_diagonal(f))(rows), [np.diag(hessian(f)(r)) for r in rows])


def test_an_infinite_entry_does_not_reach_the_others() -> None:
    with np.errstate(all="ignore"):
        found = hessian_diagonal(lambda x: np.sum(x**1.5))(np.array([0.0, 4.0]))
    np.testing.assert_array_equal(found, [np.inf, 0.375])


def test_misuse() -> None:
    with pytest.raises(ArgumentError, match="vhp: 1 primals but 2 cotangents"):
        vhp(f, (X,), (V, W))
    with pytest.raises(ArgumentError, match="gnvp: tangents must be a tuple or list"):
        gnvp(model, loss, (X,), V)
    with pytest.raises(ArgumentError, match="hessian_diagonal: chunk_size must be at least 1"):
        hessian_diagonal(f, chunk_size=0)
    with pytest.raises(NonDifferentiableError, match="hessian_diagonal: the arguments must be real"):
        hessian_diagonal(lambda z: np.sum(z.real))(X + 1j)


def test_the_messages_name_what_was_called() -> None:
    x = np.ones(2)
    with pytest.raises(OutputError, match="vhp: <lambda> must return a scalar"):
        vhp(lambda x: x, (x,), (x,))
    with pytest.raises(CotangentError, match=r"vhp: a cotangent has shape \(1,\)"):
        vhp(np.sum, (x,), (x[:1],))
    with pytest.raises(OutputError, match="gnvp: <lambda> must return a scalar"):
        gnvp(lambda x: x, lambda out: out, (x,), (x,))
    with pytest.raises(OutputError, match="hessian_diagonal: <lambda> must return a scalar"):
        hessian_diagonal(lambda x: x)(x)
