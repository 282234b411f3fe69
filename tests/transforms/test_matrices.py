"""jacrev, jacfwd, hessian, hvp: whole matrices of derivatives, in one batched sweep or push."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from funcgrad import grad, hessian, hvp, jacfwd, jacobian, jacrev, tree, vmap
from funcgrad.errors import ArgumentError, CotangentError, NonDifferentiableError, OutputError
from funcgrad.transforms.leaves import float0

X = np.array([0.5, 1.0, 2.0])
M = np.arange(6.0).reshape(2, 3)
BOTH = pytest.mark.parametrize("jac", [jacrev, jacfwd], ids=["rev", "fwd"])

FUNCTIONS = {
    "vector": (lambda x: np.stack([x[0] * x[1], np.sin(x[2])]), X),
    "elementwise": (np.tanh, X),
    "matrix to matrix": (lambda m: m.T @ m, M),
    "matrix to scalar": (lambda m: np.sum(m**2), M),
    "scalar to matrix": (lambda t: t * M, 2.0),
    "scalar to scalar": (lambda t: t**3, 2.0),
    "sums": (lambda m: m.sum(axis=0) * m.mean(axis=1, keepdims=True), M),
    "products": (lambda x: np.cumprod(x), X),
    "reads": (lambda x: np.stack([x[i] * x[-i] for i in range(3)]), X),
    "choices": (lambda x: np.where(x > 0.7, x**2, np.sqrt(x)), X),
    "constant": (lambda x: np.ones(2), X),
    "partly constant": (lambda x: np.concatenate([x[:1], np.ones(2)]), X),
    "empty output": (lambda x: x[:0], X),
    "empty input": (lambda x: np.ones(2) * np.sum(x), np.ones(0)),
    "0-d": (lambda x: x * 2, np.array(3.0)),
}


def numeric(f: Any, x: Any) -> Any:
    """The Jacobian by central differences, column by column."""
    x = np.asarray(x, float)
    h = 1e-6
    columns = []
    for i in range(x.size):
        e = np.zeros(x.size)
        e[i] = h
        e = e.reshape(x.shape)
        columns.append((np.asarray(f(x + e)) - np.asarray(f(x - e))) / (2 * h))
    shape = np.shape(f(x))
    return np.stack(columns, axis=-1).reshape(shape + x.shape) if columns else np.zeros(shape + x.shape)


@pytest.mark.parametrize("name", FUNCTIONS)
@BOTH
def test_against_finite_differences(name: str, jac: Any) -> None:
    f, x = FUNCTIONS[name]
    came = jac(f)(x)
    expected = numeric(f, x)
    assert (came.shape, came.dtype) == (expected.shape, np.float64)
    np.testing.assert_allclose(came, expected, atol=1e-7)
    assert came.flags.writeable or came.shape == ()


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("size", [1, 2, 4, 100])
@BOTH
def test_chunks_change_nothing(name: str, size: int, jac: Any) -> None:
    f, x = FUNCTIONS[name]
    whole, chunked = jac(f)(x), jac(f, chunk_size=size)(x)
    assert chunked.shape == whole.shape
    np.testing.assert_allclose(chunked, whole, rtol=1e-14)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_derivatives_in_every_mix(name: str) -> None:
    f, x = FUNCTIONS[name]
    expected = numeric(jacrev(f), x)
    for outer in (jacrev, jacfwd):
        for inner in (jacrev, jacfwd):
            came = outer(inner(f))(x)
            assert came.shape == expected.shape
            np.testing.assert_allclose(came, expected, atol=1e-6)


def test_jacobian_is_reverse_mode() -> None:
    assert jacobian is jacrev


# ---- trees -----------------------------------------------------------------------------------------------------------


@BOTH
def test_the_output_tree_is_outside_and_the_input_tree_inside(jac: Any) -> None:
    f = lambda p, x: {"s": p["w"] * x, "t": (np.sum(p["b"]), p["b"][0] * p["w"])}
    p = {"w": 3.0, "b": np.array([1.0, 2.0])}
    came = jac(f)(p, X)
    np.testing.assert_array_equal(came["s"]["w"], X)
    np.testing.assert_array_equal(came["s"]["b"], np.zeros((3, 2)))
    np.testing.assert_array_equal(came["t"][0]["b"], [1, 1])
    np.testing.assert_array_equal(came["t"][1]["b"], [3, 0])
    assert came["t"][1]["w"] == 1.0
    w, x = jac(f, (0, 1))(p, X)["s"]
    np.testing.assert_array_equal(w["w"], X)
    np.testing.assert_array_equal(x, 3 * np.eye(3))
    assert tree.structure(came) == tree.structure({"s": p, "t": (p, p)})


@BOTH
def test_several_arguments(jac: Any) -> None:
    a, b = jac(lambda x, y: np.stack([x * y, x + y]), argnums=(0, 1))(2.0, 3.0)
    np.testing.assert_array_equal(a, [3, 1])
    np.testing.assert_array_equal(b, [2, 1])
    b, a = jac(lambda x, y: x * y, argnums=(-1, 0))(X, X)
    np.testing.assert_array_equal(a, np.diag(X))


@BOTH
def test_aux(jac: Any) -> None:
    came, aux = jac(lambda x: (x**2, {"twice": 2 * x, "note": "text"}), has_aux=True)(X)
    np.testing.assert_array_equal(came, np.diag(2 * X))
    np.testing.assert_array_equal(aux["twice"], 2 * X)
    assert type(aux["twice"]) is np.ndarray
    assert aux["note"] == "text"


@BOTH
def test_dtypes_are_those_of_the_input(jac: Any) -> None:
    x = X.astype(np.float32)
    assert jac(lambda x: np.float64(2) * x * np.ones(3))(x).dtype == np.float32
    came = jac(lambda p: p["x"] * p["y"])({"x": x, "y": X})
    assert (came["x"].dtype, came["y"].dtype) == (np.float32, np.float64)


def test_integers_on_request() -> None:
    came = jacrev(lambda p: p["x"] * p["n"], allow_int=True)({"x": X, "n": np.arange(3)})
    np.testing.assert_array_equal(came["x"], np.diag([0, 1, 2]))
    assert (came["n"].dtype, came["n"].shape) == (float0, (3, 3))


# ---- complex numbers -------------------------------------------------------------------------------------------------


@BOTH
def test_holomorphic_functions(jac: Any) -> None:
    z = np.array([1 + 2j, 0.5 - 1j])
    came = jac(lambda z: np.stack([z[0] * z[1], np.exp(z[0])]), holomorphic=True)(z)
    np.testing.assert_allclose(came, [[z[1], z[0]], [np.exp(z[0]), 0]])


def test_complex_numbers_without_holomorphic() -> None:
    with pytest.raises(OutputError, match=r"jacrev: .*returned complex numbers.*holomorphic=True.*np\.stack"):
        jacrev(lambda x: x * 1j)(X)
    with pytest.raises(OutputError, match=r"jacfwd: .*returned complex numbers"):
        jacfwd(lambda x: x * 1j)(X)
    with pytest.raises(NonDifferentiableError, match=r"jacfwd of a complex input needs holomorphic=True"):
        jacfwd(lambda z: abs(z))(np.array([1j]))
    for jac in (jacrev, jacfwd):
        with pytest.raises(NonDifferentiableError, match=r"holomorphic=True needs complex inputs"):
            jac(lambda x: x * 1j, holomorphic=True)(X)
    np.testing.assert_allclose(jacrev(lambda z: abs(z))(np.array([3 + 4j])), [[0.6 - 0.8j]])


# ---- rows are independent --------------------------------------------------------------------------------------------

SPOILT = {
    "sqrt": (lambda x: np.sqrt(x), np.array([0.0, 4.0]), [[np.inf, 0], [0, 0.25]]),
    "log": (lambda x: np.log(x), np.array([0.0, 4.0]), [[np.inf, 0], [0, 0.25]]),
    "power": (lambda x: x**0.5, np.array([0.0, 4.0]), [[np.inf, 0], [0, 0.25]]),
    "stack": (lambda x: np.stack([np.sqrt(x[0]), x[0] * 3]), np.array([0.0, 1.0]), [[np.inf, 0], [3, 0]]),
    "concatenate": (lambda x: np.concatenate([np.sqrt(x), x * 2]), np.array([0.0]), [[np.inf], [2]]),
    "through a sum": (
        lambda x: np.sqrt(x).reshape(2, 1).sum(axis=1),
        np.array([0.0, 4.0]),
        [[np.inf, 0], [0, 0.25]],
    ),
    "through indexing": (lambda x: np.sqrt(x)[::-1], np.array([0.0, 4.0]), [[0, 0.25], [np.inf, 0]]),
    "NaN": (lambda x: np.stack([np.nan * x[0], x[1] ** 2]), np.array([1.0, 2.0]), [[np.nan, 0], [0, 4]]),
}


@pytest.mark.parametrize("name", SPOILT)
@BOTH
def test_one_bad_row_does_not_spoil_another(name: str, jac: Any) -> None:
    f, x, expected = SPOILT[name]
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(jac(f)(x), expected)
        np.testing.assert_array_equal(jac(f, chunk_size=1)(x), expected)


def test_both_jacobians_agree_at_a_kink() -> None:
    f = lambda v: np.where(v > 1, np.sqrt(v), v**2)
    x = np.array([0.0, 0.5, 4.0])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(jacfwd(f)(x), jacrev(f)(x))
        np.testing.assert_array_equal(jacrev(f)(x), np.diag([0, 1, 0.25]))


# ---- hessian and hvp -------------------------------------------------------------------------------------------------


def rosenbrock(x: Any) -> Any:
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def test_hessian() -> None:
    came = hessian(rosenbrock)(X)
    np.testing.assert_allclose(came, numeric(grad(rosenbrock), X), rtol=1e-6)
    np.testing.assert_allclose(came, came.T)
    np.testing.assert_allclose(hessian(rosenbrock, chunk_size=2)(X), came)
    assert hessian(lambda x: x**3)(2.0) == 12.0
    assert hessian(lambda x, y: x * y**2, (0, 1))(2.0, 3.0) == ((0.0, 6.0), (6.0, 4.0))


def test_hessian_of_trees_and_of_vectors() -> None:
    came = hessian(lambda p: p["a"] ** 2 * np.sum(p["b"]))({"a": 2.0, "b": np.array([1.0, 3.0])})
    assert came["a"]["a"] == 8.0
    np.testing.assert_array_equal(came["a"]["b"], [4, 4])
    np.testing.assert_array_equal(came["b"]["a"], [4, 4])
    np.testing.assert_array_equal(came["b"]["b"], np.zeros((2, 2)))
    stacked = hessian(lambda x: np.stack([np.sum(x**2), np.prod(x)]))(X)
    np.testing.assert_allclose(stacked[0], 2 * np.eye(3))
    np.testing.assert_allclose(stacked[1], np.prod(X) / np.outer(X, X) * (1 - np.eye(3)))


def test_hessian_with_aux_and_keywords() -> None:
    came, aux = hessian(lambda x, *, c: (c * np.sum(x**2), x[0]), has_aux=True)(X, c=3.0)
    np.testing.assert_array_equal(came, 6 * np.eye(3))
    assert aux == 0.5


def test_hvp() -> None:
    v = np.array([1.0, -1.0, 0.5])
    np.testing.assert_allclose(hvp(rosenbrock, (X,), (v,)), hessian(rosenbrock)(X) @ v)
    f = lambda x, y: np.sum(x**2 * y)
    came = hvp(f, (X, X), (v, 2 * v))
    np.testing.assert_allclose(came[0], 2 * X * v + 2 * X * 2 * v)
    np.testing.assert_allclose(came[1], 2 * X * v)
    came = hvp(lambda p: p["a"] ** 2 * p["b"], ({"a": 2.0, "b": 3.0},), ({"a": 1.0, "b": 0.0},))
    assert came == {"a": 6.0, "b": 4.0}


def test_hvp_of_a_function_of_a_vector_needs_no_matrix() -> None:
    n = 20_000
    x = np.linspace(0, 1, n)
    np.testing.assert_allclose(hvp(lambda x: np.sum(x**3), (x,), (np.ones(n),)), 6 * x)


# ---- with the other transforms ---------------------------------------------------------------------------------------


@BOTH
def test_under_the_other_transforms(jac: Any) -> None:
    f = lambda x: np.stack([x[0] * x[1], np.sin(x[2])])
    batch = np.stack([X, 2 * X])
    np.testing.assert_allclose(vmap(jac(f))(batch), [jac(f)(x) for x in batch])
    size = lambda x: np.sum(jac(f)(x) ** 2)
    np.testing.assert_allclose(grad(size)(X), numeric(size, X), rtol=1e-6)
    outer = lambda c: jac(lambda x: c * x**2)(X).sum()
    assert grad(outer)(3.0) == pytest.approx(2 * X.sum())


@pytest.mark.parametrize("wrong", [0, -1])
def test_chunks_have_a_size(wrong: int) -> None:
    for transform in (jacrev, jacfwd, hessian):
        with pytest.raises(ArgumentError, match="chunk_size must be at least 1"):
            transform(np.sin, chunk_size=wrong)


def test_the_messages_name_what_was_called() -> None:
    x = np.ones(2)
    with pytest.raises(OutputError, match="hessian: <lambda> returned complex numbers"):
        hessian(lambda x: np.sum(x) * 1j)(x)
    with pytest.raises(OutputError, match="hvp: <lambda> must return a scalar"):
        hvp(lambda x: x, (x,), (x,))
    with pytest.raises(ArgumentError, match="hvp: 1 primals but 2 tangents; give one tangent for each"):
        hvp(np.sum, (x,), (x, x))
    with pytest.raises(CotangentError, match=r"hvp: tangent 0 has shape \(1,\)"):
        hvp(np.sum, (x,), (x[:1],))
    with pytest.raises(ArgumentError, match="hvp takes a function, not int"):
        hvp(3, (x,), (x,))  # type: ignore[arg-type]
