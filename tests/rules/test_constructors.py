"""New arrays take part: tracers can be assigned into them, and numbers they are made from are differentiated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from funcgrad import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap
from funcgrad.core.engine.trace import Tracer
from funcgrad.core.memory.layout import copied

X = np.array([1.0, 2.0, 3.0])


def filled(make: Any) -> Any:
    """The square of each element of x, written into the array that `make` makes."""

    def f(x: Any) -> Any:
        out = make(x)
        assert isinstance(out, Tracer)
        out[...] = 0.0
        out[1:] = x[1:] ** 2
        out[0] = np.sqrt(x[0])
        out[0] = x[0] ** 2
        return out

    return f


MAKERS = {
    "zeros_like": lambda x: np.zeros_like(x),
    "ones_like": lambda x: np.ones_like(x),
    "empty_like": lambda x: np.empty_like(x),
    "full_like": lambda x: np.full_like(x, 7.0),
    "zeros_like of another shape": lambda x: np.zeros_like(x[0], shape=3),
    "zeros": lambda x: np.zeros(3, like=x),
    "ones": lambda x: np.ones((3,), like=x),
    "empty": lambda x: np.empty(3, like=x),
    "full": lambda x: np.full(3, 7.0, like=x),
    "full of a tracer": lambda x: np.full(3, x[1], like=x),
    "arange": lambda x: np.arange(3.0, like=x),
    "array of numbers": lambda x: np.array([1.0, 2.0, 3.0], like=x),
    "array of tracers": lambda x: np.array([x[0], 5.0, x[2]], like=x),
    "array": lambda x: np.array(x, like=x),
    "eye": lambda x: np.eye(3, like=x)[0].copy(),
    "identity": lambda x: np.identity(3, like=x)[0].copy(),
    "tri": lambda x: np.tri(3, like=x)[0].copy(),
    "fromiter": lambda x: np.fromiter([1.0, 2.0, 3.0], float, like=x),
    "fromfunction": lambda x: np.fromfunction(lambda i: i * 2.0, (3,), like=x),
}


@pytest.mark.parametrize("name", MAKERS)
def test_tracers_can_be_assigned_into_new_arrays(name: str) -> None:
    f = filled(MAKERS[name])
    np.testing.assert_array_equal(jacrev(f)(X), np.diag(2 * X))
    np.testing.assert_array_equal(jacfwd(f)(X), np.diag(2 * X))
    np.testing.assert_array_equal(hessian(lambda x: np.sum(f(x)))(X), 2 * np.eye(3))
    batch = np.stack([X, 2 * X])
    np.testing.assert_array_equal(vmap(f)(batch), batch**2)
    np.testing.assert_array_equal(vmap(grad(lambda x: np.sum(f(x))))(batch), 2 * batch)


def test_batches_without_examples() -> None:
    for make in MAKERS.values():
        assert vmap(filled(make))(np.ones((0, 3))).shape == (0, 3)


def test_an_overwritten_value_contributes_nothing() -> None:
    def f(t: Any) -> Any:
        y = np.zeros(1, like=t)
        with np.errstate(divide="ignore"):
            y[0] = np.sqrt(t)
        y[0] = t - 1
        return y[0]

    assert grad(f)(0.0) == 1
    assert jvp(f, (0.0,), (1.0,))[1] == 1


def test_dtypes_and_shapes_are_numpys() -> None:
    def f(x: Any) -> Any:
        for like, numpys in [
            (np.zeros_like(x, dtype=np.float32), np.zeros_like(X, dtype=np.float32)),
            (np.zeros_like(x, dtype=complex), np.zeros_like(X, dtype=complex)),
            (np.ones_like(x, dtype=int), np.ones_like(X, dtype=int)),
            (np.zeros_like(x, dtype=bool), np.zeros_like(X, dtype=bool)),
            (np.full_like(x, 2, shape=(2, 1)), np.full_like(X, 2, shape=(2, 1))),
            (np.array([1, 2], like=x), np.array([1, 2])),
            (np.array([1, 2], dtype=np.float32, like=x), np.array([1, 2], np.float32)),
            (np.array(x, ndmin=3, like=x), np.array(X, ndmin=3)),
            (np.array([x, x], dtype=np.float32, like=x), np.array([X, X], np.float32)),
            (np.array([[x[0], 2.0], [3.0, x[1]]], like=x), np.array([[1.0, 2.0], [3.0, 2.0]])),
            (np.asarray([x, x], like=x), np.asarray([X, X])),
            (np.ascontiguousarray(x[0], like=x), np.ascontiguousarray(X[0])),
            (np.require(x, np.float32, like=x), np.require(X, np.float32)),
            (np.zeros((2, 3), order="F", like=x), np.zeros((2, 3))),
            (np.full((2, 3), x, like=x), np.full((2, 3), X)),
            (np.full((2,), x[0], dtype=np.float32, like=x), np.full((2,), 1, np.float32)),
            (np.arange(2, 8, 3, like=x), np.arange(2, 8, 3)),
            (np.eye(2, 3, k=1, like=x), np.eye(2, 3, k=1)),
        ]:
            assert (like.shape, like.dtype) == (numpys.shape, numpys.dtype)
            # What has no derivative stays plain.
            assert isinstance(like, Tracer) == (like.dtype.kind in "fc")
            np.testing.assert_array_equal(like._value if isinstance(like, Tracer) else like, numpys)
        return np.sum(x)

    grad(f)(X)


def test_asarray_of_a_tracer_is_that_tracer_and_array_a_copy() -> None:
    def f(x: Any) -> Any:
        assert np.asarray(x, like=x) is x
        assert np.asanyarray(x, like=x) is x
        copied = np.array(x, like=x)
        copied[0] = 100.0
        return np.sum(x) + np.sum(copied)

    np.testing.assert_array_equal(grad(f)(X), [1, 2, 2])


def test_numbers_that_arrays_are_made_from() -> None:
    assert grad(lambda t: np.sum(np.full((2, 3), t, like=t)))(2.0) == 6
    assert grad(lambda t: np.sum(np.full_like(X * t, t * t)))(2.0) == 12
    np.testing.assert_array_equal(grad(lambda v: np.sum(np.full_like(v, v[0]) * X))(X), [6, 0, 0])
    assert grad(lambda t: np.sum(np.array([t, t**2, 1.0], like=t) * X))(2.0) == 9
    assert grad(lambda t: np.sum(np.arange(0.0, 4 * t, t, like=t)))(2.0) == 6
    assert grad(lambda t: np.sum(np.arange(t, 10.0, 2.5, like=t)))(2.0) == 4
    assert grad(lambda t: np.sum(np.fromfunction(lambda i, j: i * t + j, (2, 2), like=t)))(2.0) == 2


def test_a_constant_has_no_derivative() -> None:
    out, pull = vjp(lambda x: np.zeros_like(x) + 0.0, X)
    np.testing.assert_array_equal(out, np.zeros(3))
    np.testing.assert_array_equal(pull(np.ones(3))[0], np.zeros(3))


def test_arrays_made_in_an_inner_transform_hold_tracers_of_both() -> None:
    def outer(x: Any) -> Any:
        def inner(y: Any) -> Any:
            out = np.zeros(2, like=y)
            out[0], out[1] = x * y, y * y
            return out[0] * out[1]

        return grad(inner)(x)

    assert outer(2.0) == 3 * 2.0**3
    assert grad(outer)(2.0) == pytest.approx(9 * 2.0**2)


# ---- evenly spaced numbers -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [{}, {"endpoint": False}, {"num": 1}, {"num": 0}, {"axis": -1}, {"axis": 1}, {"dtype": np.float32}],
)
def test_linspace_between_traced_ends(options: Any) -> None:
    start, stop = np.array([0.0, 1.0]), np.array([[3.0], [5.0]])
    f = lambda x, y: np.linspace(x, y, **{"num": 4, **options})
    out, pull = vjp(f, start, stop)
    np.testing.assert_array_equal(out, f(start, stop))
    ct = np.cos(np.arange(out.size)).reshape(out.shape).astype(out.dtype)
    in_start, in_stop = pull(ct)
    t = (np.array([1.0, -2.0]), np.array([[0.5], [3.0]]))
    pushed = jvp(f, (start, stop), t)[1]
    np.testing.assert_allclose(pushed, f(*t), rtol=1e-6)
    assert np.sum(ct * pushed) == pytest.approx(np.sum(in_start * t[0]) + np.sum(in_stop * t[1]), rel=1e-6)


def test_linspace_gives_its_step_too() -> None:
    assert jacrev(lambda t: np.linspace(t, 3.0, 4, retstep=True)[1])(1.0) == pytest.approx(-1 / 3)
    assert np.isnan(jvp(lambda t: np.linspace(t, 3.0, 1, retstep=True)[0][0] * np.nan, (1.0,), (1.0,))[1])
    assert grad(lambda t: np.sum(np.linspace(0, t, 4, dtype=int)) + t)(9.5) == 1


def test_geometric_and_logarithmic_spaces() -> None:
    weights = np.linspace(0, 1, 4)
    np.testing.assert_allclose(jacrev(lambda t: np.geomspace(t, 3.0, 4))(1.0), 3**weights * (1 - weights))
    np.testing.assert_allclose(jacfwd(lambda t: np.geomspace(1.0, t, 4))(3.0), 3**weights * weights / 3)
    np.testing.assert_allclose(
        jacrev(lambda t: np.logspace(0.0, t, 4, base=2))(1.0), 2**weights * weights * np.log(2)
    )
    np.testing.assert_allclose(
        jacrev(lambda b: np.logspace(0.0, 1.0, 4, base=b, dtype=np.float64))(2.0),
        weights * 2 ** (weights - 1),
    )
    np.testing.assert_allclose(vmap(lambda t: np.geomspace(t, 9 * t, 3))(X), X[:, None] * [1, 3, 9])
    bases = np.array([2.0, 10.0])
    out, pull = vjp(lambda b: np.logspace(0.0, 2.0, 3, base=b), bases)
    np.testing.assert_array_equal(out, np.logspace(0.0, 2.0, 3, base=bases))
    np.testing.assert_allclose(pull(np.ones(out.shape))[0], 1 + 2 * bases)


TABLE = np.arange(6.0).reshape(2, 3)
LAYOUTS = {"C": TABLE, "F": np.asfortranarray(TABLE), "reversed": TABLE[:, ::-1]}
SHARING: dict[str, Any] = {
    "asarray": lambda x: np.asarray(x, like=x), "asarray F": lambda x: np.asarray(x, order="F", like=x),
    "asarray C": lambda x: np.asarray(x, order="C", like=x), "asanyarray F": lambda x: np.asanyarray(x, order="F", like=x),
    "ascontiguousarray": lambda x: np.ascontiguousarray(x, like=x), "asfortranarray": lambda x: np.asfortranarray(x, like=x),
    "array": lambda x: np.array(x, like=x), "array K": lambda x: np.array(x, copy=None, order="K", like=x),
    "array F": lambda x: np.array(x, copy=None, order="F", like=x), "require F": lambda x: np.require(x, None, "F", like=x),
    "require C": lambda x: np.require(x, None, ["C_CONTIGUOUS"], like=x),
    "require O": lambda x: np.require(x.T.T, None, "O", like=x),
}  # fmt: skip


@pytest.mark.parametrize("start", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("convert", SHARING.values(), ids=SHARING)
def test_conversions_share_memory_where_numpys_do(start: Any, convert: Any) -> None:
    def written(x: Any) -> Any:
        y = convert(x)
        y[0, 0] = 100.0
        return np.stack([x, y])

    expected = written(copied(start))
    np.testing.assert_array_equal(vjp(written, start)[0], expected)
    np.testing.assert_array_equal(jvp(written, (start,), (start,))[0], expected)


def test_a_copy_that_is_forbidden_and_needed() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.array(x, copy=False, order="F", like=x))

    with pytest.raises(ValueError, match="avoid copy"):
        grad(f)(LAYOUTS["C"])
