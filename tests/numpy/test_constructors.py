"""New arrays of funcgrad.numpy: plain outside of transforms; inside, tracers can be written into them."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

import numpy as np
import pytest

import funcgrad.numpy as fnp
from funcgrad import (
    at,
    checkpoint,
    custom_vjp,
    elementwise_grad,
    fixed_point,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linear_transpose,
    linearize,
    tree,
    value_and_grad,
    vjp,
    vmap,
)
from funcgrad.core.engine.trace import RUNNING, Tracer
from funcgrad.core.memory.blank import BlankTracer
from funcgrad.errors import TracerConversionError, TracerWriteError

X = np.array([1.0, 2.0, 3.0])

NEW = {
    "zeros": lambda: fnp.zeros(3),
    "ones": lambda: fnp.ones((3,), dtype=float),
    "empty": lambda: fnp.empty(shape=3),
    "full": lambda: fnp.full(3, 7.0),
    "zeros_like": lambda: fnp.zeros_like(X),
    "ones_like": lambda: fnp.ones_like(X),
    "empty_like": lambda: fnp.empty_like(X),
    "full_like": lambda: fnp.full_like(X, 7.0),
    "copy": lambda: fnp.copy(X),
    "array": lambda: fnp.array(X),
    "array of a list": lambda: fnp.array([1.0, 2.0, 3.0]),
    "asarray of a list": lambda: fnp.asarray([1, 2, 3], dtype=float),
    "asanyarray": lambda: fnp.asanyarray([1.0, 2.0, 3.0]),
    "ascontiguousarray": lambda: fnp.ascontiguousarray([1.0, 2.0, 3.0]),
    "asfortranarray": lambda: fnp.asfortranarray([1.0, 2.0, 3.0]),
    "asarray_chkfinite": lambda: fnp.asarray_chkfinite([1.0, 2.0, 3.0]),
    "require": lambda: fnp.require([1.0, 2.0, 3.0]),
    "arange": lambda: fnp.arange(3.0),
    "linspace": lambda: fnp.linspace(0, 1, 3),
    "logspace": lambda: fnp.logspace(0, 1, 3),
    "geomspace": lambda: fnp.geomspace(1, 2, 3),
    "eye": lambda: fnp.eye(3)[0],
    "identity": lambda: fnp.identity(3)[:, 1],
    "tri": lambda: fnp.tri(3)[2],
    "tril": lambda: fnp.tril(np.ones((3, 3)))[2],
    "triu": lambda: fnp.triu(np.ones((3, 3)))[0],
    "diag": lambda: fnp.diag([1.0, 2.0, 3.0])[0],
    "diagflat": lambda: fnp.diagflat([1.0, 2.0, 3.0])[0],
    "vander": lambda: fnp.vander([1.0, 2.0, 3.0])[0],
    "indices": lambda: fnp.indices((3,), dtype=float)[0],
    "meshgrid": lambda: fnp.meshgrid([1.0, 2.0, 3.0], [1.0])[0][0],
    "fromfunction": lambda: fnp.fromfunction(lambda i: i, (3,)),
    "fromiter": lambda: fnp.fromiter(iter([1.0, 2.0, 3.0]), float),
    "fromstring": lambda: fnp.fromstring("1 2 3", sep=" "),
    "r_": lambda: fnp.r_[1.0, 2.0, 3.0],
    "c_": lambda: fnp.c_[[1.0, 2.0, 3.0]][:, 0],
    "mgrid": lambda: fnp.mgrid[0:1:3j],
    "ogrid": lambda: fnp.ogrid[0:1:3j],
    "hamming": lambda: fnp.hamming(3),
    "kaiser": lambda: fnp.kaiser(3, 1.0),
    "computed from new ones": lambda: (fnp.ones(3) * 2 + fnp.zeros((2, 3)))[1].copy(),
}


@pytest.mark.parametrize("name", NEW)
def test_tracers_can_be_written_into_new_arrays(name: str) -> None:
    made = NEW[name]

    def f(x: Any) -> Any:
        out = made()
        np.testing.assert_array_equal(np.shape(out), (3,))
        out[...] = 0.0
        out[0] = x[0] ** 2
        out[1:] += x[1:] ** 2
        return out

    assert isinstance(made(), np.ndarray)
    np.testing.assert_array_equal(jacrev(f)(X), np.diag(2 * X))
    np.testing.assert_array_equal(jacfwd(f)(X), np.diag(2 * X))
    np.testing.assert_array_equal(hessian(lambda x: np.sum(f(x)))(X), 2 * np.eye(3))
    np.testing.assert_array_equal(vmap(f)(np.stack([X, 2 * X])), np.stack([X**2, 4 * X**2]))


@pytest.mark.parametrize("name", NEW)
def test_values_are_numpys(name: str) -> None:
    if "empty" not in name:
        seen: list[Any] = []
        grad(lambda t: (seen.append(NEW[name]()), t)[1])(1.0)
        plain = NEW[name]()
        assert (seen[0].shape, seen[0].dtype) == (plain.shape, plain.dtype)
        np.testing.assert_array_equal(seen[0], plain)


def test_arrays_that_hold_tracers_from_the_start() -> None:
    for f, expected in [
        (lambda x: fnp.array([x[0], 5.0, x[2]]), [[1, 0, 0], [0, 0, 0], [0, 0, 1]]),
        (lambda x: fnp.asarray([[x[0]], [x[1]]], dtype=np.float64), [[[1, 0, 0]], [[0, 1, 0]]]),
        (lambda x: fnp.ascontiguousarray(x[0]), [[1, 0, 0]]),
        (lambda x: fnp.asfortranarray([x[0]]), [[1, 0, 0]]),
        (lambda x: fnp.array(x[1], ndmin=2), [[[0, 1, 0]]]),
        (lambda x: fnp.full(2, x[1]), [[0, 1, 0], [0, 1, 0]]),
        (lambda x: fnp.full_like(np.ones(2), x[1]), [[0, 1, 0], [0, 1, 0]]),
        (lambda x: fnp.full_like(fnp.ones(2), x[1]), [[0, 1, 0], [0, 1, 0]]),
        (lambda x: fnp.linspace(0, x[0], 3), [[0, 0, 0], [0.5, 0, 0], [1, 0, 0]]),
        (lambda x: fnp.diag([x[0], x[1]])[1], [[0, 0, 0], [0, 1, 0]]),
        (lambda x: fnp.fromiter((v * v for v in x), float, 2), [[2, 0, 0], [0, 4, 0]]),
        (lambda x: fnp.fromfunction(lambda i: i * x[0], (2,)), [[0, 0, 0], [1, 0, 0]]),
        (lambda x: fnp.asarray_chkfinite([x[0], 1.0]), [[1, 0, 0], [0, 0, 0]]),
    ]:
        np.testing.assert_array_equal(jacrev(f)(X), expected)
        np.testing.assert_array_equal(jacfwd(f)(X), expected)
        np.testing.assert_array_equal(vmap(f)(np.stack([X, X]))[0], vjp(f, X)[0])
    np.testing.assert_array_equal(jacrev(lambda t: fnp.arange(0, 3 * t, t))(2.0), [0, 1, 2])


def test_integers_have_no_derivative_and_stay_plain() -> None:
    def f(t: Any) -> Any:
        for made in (fnp.zeros(2, int), fnp.arange(3), fnp.array([True]), fnp.full_like([1, 2], t * 2.5)):
            assert not isinstance(made, BlankTracer)
            assert made.dtype.kind in "ib"
        return t

    assert grad(f)(1.0) == 1
    assert vjp(lambda t: fnp.full_like([1, 2], t), 2.5)[0].tolist() == [2, 2]


def test_what_is_not_new_stays_what_it_is() -> None:
    def f(t: Any) -> Any:
        for made in (
            fnp.asarray(X),
            fnp.asanyarray(X),
            fnp.ascontiguousarray(X),
            fnp.require(X),
            fnp.array(X, copy=None),
        ):
            assert isinstance(made, np.ndarray)
            assert made.__array_interface__["data"] == X.__array_interface__["data"]
        x = t * X
        assert fnp.asarray(x) is x
        assert fnp.array(x) is not x
        blank = fnp.zeros(3)
        assert fnp.asarray(blank) is blank
        with pytest.raises(TracerWriteError):
            fnp.asarray(X)[0] = t
        return t

    grad(f)(1.0)


def test_a_blank_array_is_an_array_to_everybody() -> None:
    def f(t: Any) -> Any:
        y = fnp.array([3.0, 1.0, 2.0])
        assert type(y) is BlankTracer
        assert repr(y) == "array([3., 1., 2.])"
        assert (str(y), f"{y[0]:.1f}", y.tolist(), y[1:2].item(), y.strides) == (
            "[3. 1. 2.]",
            "3.0",
            [3.0, 1.0, 2.0],
            1.0,
            (8,),
        )
        assert complex(fnp.ones(())) == 1
        assert y.flags.writeable
        assert y.tobytes() == np.array([3.0, 1, 2]).tobytes()
        for plain in (np.asarray(y), np.array(y), pickle.loads(pickle.dumps(y)), np.asarray(y, np.float32)):
            assert type(plain) is np.ndarray
            assert plain.tolist() == [3, 1, 2]
        for copied in (copy.copy(y), copy.deepcopy(y), y.copy()):
            copied[0] = t
        np.asarray(y)[1] = 5.0
        y.sort()
        assert y.tolist() == [2, 3, 5]
        assert isinstance(np.packbits(fnp.ones(3) > 0), np.ndarray)
        assert np.busday_count("2024-01-01", "2024-01-08") == 5
        with pytest.raises(AttributeError, match="nothing"):
            _ = y.nothing
        return t

    assert grad(f)(1.0) == 1


def test_functions_without_a_derivative_take_blank_arrays(tmp_path: Any) -> None:
    def f(t: Any) -> Any:
        np.save(tmp_path / "y.npy", fnp.ones(2))
        return t

    grad(f)(1.0)
    assert np.load(tmp_path / "y.npy").tolist() == [1, 1]


def test_views_of_new_arrays_see_what_is_written() -> None:
    def f(x: Any) -> Any:
        y = fnp.zeros((2, 3))
        row, column, flat = y[0], y.T[1], y.reshape(-1)
        assert (row.tolist(), np.asarray(column).tolist()) == ([0, 0, 0], [0, 0])
        row[0] = 2.0
        assert flat[0] == 2.0
        flat[4] = x[1]
        with pytest.raises(TracerConversionError):
            np.asarray(column)
        assert isinstance(column.item(1), Tracer)
        assert "array" not in repr(row)
        return column * x[0]

    np.testing.assert_array_equal(jacrev(f)(X), [[0, 0, 0], [2, 1, 0]])


def test_the_tape_keeps_what_a_new_array_held() -> None:
    for n in (3, 20_000):  # small ones are copied, large ones locked, until they are written into

        def f(x: Any, n: int = n) -> Any:
            weights = fnp.ones(n)
            first = np.sum(weights * x)
            weights[0] = x
            weights[1:] = 0.0
            return first + np.sum(weights * x)

        assert grad(f)(3.0) == n + 6
        assert vjp(f, 3.0)[1](1.0)[0] == n + 6


def test_a_new_array_in_a_closure_belongs_to_no_transform() -> None:
    def outer(x: Any) -> Any:
        y = fnp.zeros(2)

        def inner(t: Any) -> Any:
            y[0] = x * t
            return y[0] * t

        slope = grad(inner)(x)
        z = fnp.zeros(1)
        grad(lambda t: (z.__setitem__(0, x), t)[1])(1.0)
        return slope + z[0]

    assert grad(outer)(3.0) == 13


def test_inner_and_outer_tracers_in_one_new_array() -> None:
    def outer(x: Any) -> Any:
        def inner(t: Any) -> Any:
            y = fnp.zeros(3)
            y[0], y[1] = x, t
            y[2] = fnp.sum([y[0] * y[1], t])
            return y[2] * y[1]

        return grad(inner)(x)

    assert outer(2.0) == 2 * 2 * 2 + 2 * 2
    assert grad(outer)(2.0) == pytest.approx(4 * 2 + 2)
    np.testing.assert_allclose(vmap(grad(outer))(X), 4 * X + 2)
    np.testing.assert_allclose(
        vmap(lambda a: vmap(lambda b: fnp.array([a, b, 1.0]).sum())(X))(X), X[:, None] + X + 1
    )


# ---- what comes out of a transform -----------------------------------------------------------------------------------


def blank(x: Any) -> Any:
    return fnp.zeros(3)


def half(x: Any) -> Any:
    y = fnp.zeros(3)
    y[0] = x[0]
    return y, fnp.ones(2), {"a": fnp.ones(())}


def with_aux(x: Any) -> Any:
    return np.sum(x), fnp.zeros(3)


def number(x: Any) -> Any:
    return fnp.array(3.0)


OUTCOMES = {
    "grad": lambda: grad(number)(X),
    "value_and_grad": lambda: value_and_grad(number)(X),
    "aux": lambda: value_and_grad(with_aux, has_aux=True)(X),
    "vjp": lambda: vjp(half, X)[0],
    "vjp aux": lambda: vjp(with_aux, X, has_aux=True)[2],
    "jvp": lambda: jvp(half, (X,), (X,)),
    "jvp aux": lambda: jvp(with_aux, (X,), (X,), has_aux=True),
    "linearize": lambda: (linearize(half, X)[0], linearize(half, X)[1](X)),
    "linear_transpose": lambda: linear_transpose(lambda x: half(x)[0], X)(X),
    "jacrev": lambda: (jacrev(half)(X), jacrev(blank)(X), jacrev(with_aux, has_aux=True)(X)),
    "jacfwd": lambda: (jacfwd(half)(X), jacfwd(blank)(X), jacfwd(with_aux, has_aux=True)(X)),
    "hessian": lambda: hessian(lambda x: half(x)[0].sum())(X),
    "elementwise_grad": lambda: elementwise_grad(blank)(X),
    "vmap": lambda: vmap(half)(np.ones((2, 3))),
    "vmap of a constant": lambda: (vmap(blank, out_axes=None)(np.ones((2, 3))), vmap(blank)(np.ones((2, 3)))),
    "checkpoint": lambda: checkpoint(half)(X),
    "fixed_point": lambda: fixed_point(lambda y, a: fnp.array([0.5 * y[0] + a]), np.zeros(1), 2.0),
    "at": lambda: grad(lambda x: np.sum(at(fnp.zeros(3))[0].set(x[0])))(X),
}


@pytest.mark.parametrize("name", OUTCOMES)
def test_what_comes_out_of_a_transform_is_plain(name: str) -> None:
    leaves = tree.leaves(OUTCOMES[name]())
    assert leaves
    assert not [x for x in leaves if isinstance(x, Tracer)]


def test_custom_rules_may_make_new_arrays() -> None:
    @custom_vjp
    def twice(x: Any) -> Any:
        return fnp.zeros(3) + 2 * x, fnp.ones(2)

    twice.defvjp(lambda x: (twice(x), 2 * fnp.ones(3)), lambda twos, cts: (twos * cts[0] + fnp.zeros(3),))
    f = lambda x: np.sum(twice(x)[0] ** 2) + np.sum(twice(x)[1])
    assert type(twice(X)[1]) is np.ndarray
    np.testing.assert_array_equal(grad(f)(X), 8 * X)
    np.testing.assert_array_equal(hessian(f)(X), 8 * np.eye(3))
    np.testing.assert_array_equal(vmap(grad(f))(X[None]), 8 * X[None])


def test_a_checkpoint_may_fill_new_arrays() -> None:
    np.testing.assert_array_equal(grad(lambda x: np.sum(checkpoint(half)(x)[0] ** 2))(X), [2, 0, 0])


# ---- is a transform running? -----------------------------------------------------------------------------------------


def test_a_transform_runs_until_it_returns_or_fails() -> None:
    assert RUNNING.get() is None

    def fails(x: Any) -> Any:
        assert RUNNING.get() is x._trace
        raise KeyError(1)

    for transform in (grad, jacfwd, vmap):
        with pytest.raises(KeyError):
            transform(fails)(X)
        assert RUNNING.get() is None
    assert type(fnp.zeros(3)) is np.ndarray


def test_threads_run_on_their_own() -> None:
    with ThreadPoolExecutor(1) as pool:

        def f(x: Any) -> Any:
            assert type(pool.submit(fnp.zeros, 3).result()) is np.ndarray
            y = pool.submit(copy_context().run, fnp.zeros, 3).result()
            y[0] = x
            return y[0]

        assert grad(f)(2.0) == 1
