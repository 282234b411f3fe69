"""The names of funcgrad.numpy: NumPy's own, except for those with which NumPy would not see a tracer."""

from __future__ import annotations

import importlib
import inspect
import pickle
from typing import Any

import numpy as np
import pytest

import funcgrad
import funcgrad.numpy as fnp
from funcgrad import grad, jacfwd, jacrev, vjp, vmap
from funcgrad.errors import TracerWriteError

X = np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize("name", ["", "linalg", "fft"])
def test_every_name_of_numpys_is_there(name: str) -> None:
    ours, numpys = (getattr(module, name) if name else module for module in (fnp, np))
    assert importlib.import_module(f"funcgrad.numpy.{name}".rstrip(".")) is ours
    names = [
        n for n in dir(numpys) if not n.startswith("_") or n in ("__array_namespace_info__", "__version__")
    ]
    assert set(names) <= set(dir(ours))
    for n in names:
        value, numpys_value = getattr(ours, n), getattr(numpys, n)
        if value is not numpys_value and inspect.isfunction(value):
            assert value.__name__ == numpys_value.__name__
            assert getattr(value, "__wrapped__", numpys_value) is numpys_value
        assert callable(value) == callable(numpys_value)
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = ours.no_such_name


def test_what_needs_nothing_is_numpys_own() -> None:
    for name in ("sin", "add", "pi", "newaxis", "s_", "dtype", "errstate", "finfo", "ma", "save"):
        assert getattr(fnp, name) is getattr(np, name)
    assert funcgrad.numpy is fnp


def test_functions_keep_name_signature_and_identity() -> None:
    assert fnp.sum is fnp.sum
    assert str(inspect.signature(fnp.linalg.norm)) == str(inspect.signature(np.linalg.norm))
    for function in (fnp.sum, fnp.zeros, fnp.linalg.det, fnp.fft.fft, fnp.matmul):
        assert pickle.loads(pickle.dumps(function)) is function
    assert (fnp.mean.__name__, fnp.mean.__module__, fnp.linalg.det.__module__) == (
        "mean",
        "funcgrad.numpy",
        "funcgrad.numpy.linalg",
    )
    assert "Parameters" in (fnp.mean.__doc__ or "")


def test_outside_of_transforms_all_is_numpy() -> None:
    for ours, numpys in [
        (fnp.sum([1.0, 2.0]), np.sum([1.0, 2.0])),
        (fnp.r_[1:3, 5.0], np.r_[1:3, 5.0]),
        (fnp.c_[X, X], np.c_[X, X]),
        (fnp.mgrid[0:2, 0:3], np.mgrid[0:2, 0:3]),
        (fnp.vectorize(lambda x: x + 1)(X), X + 1),
        (fnp.frompyfunc(lambda x: x + 1, 1, 1)(X), np.frompyfunc(lambda x: x + 1, 1, 1)(X)),
        (fnp.piecewise(X, [X > 1], [2.0]), np.piecewise(X, [X > 1], [2.0])),
        (fnp.matmul(X, X), np.matmul(X, X)),
        (fnp.asarray_chkfinite([1, 2]), np.asarray([1, 2])),
        (fnp.kaiser(5, 2.0), np.kaiser(5, 2.0)),
    ]:
        assert type(ours) is type(numpys)
        np.testing.assert_array_equal(ours, numpys)
    assert fnp.ndenumerate(X).__class__ is np.ndenumerate
    assert fnp.broadcast(X, 1).__class__ is np.broadcast
    with pytest.raises(ValueError, match="infs or NaNs"):
        fnp.asarray_chkfinite([np.nan])


# Functions of x whose tracers NumPy would not find: in lists, in keywords.
HIDDEN = {
    "sum": lambda x: fnp.sum([x[0], 2.0, x[1] ** 2]),
    "max": lambda x: fnp.max([x[0], x[1] * x[2]]),
    "mean of rows": lambda x: fnp.mean([x, x**2], axis=0),
    "linalg.norm": lambda x: fnp.linalg.norm([x[0], x[1]]),
    "linalg.det": lambda x: fnp.linalg.det([[x[0], 1.0], [2.0, x[1]]]),
    "linalg.solve": lambda x: fnp.linalg.solve([[2.0, x[0]], [0.0, x[1]]], [1.0, x[2]]),
    "fft.fft": lambda x: fnp.fft.fft([x[0], 1.0, x[1]]).real,
    "dot": lambda x: fnp.dot([x[0], 1.0], [x[1], x[2]]),
    "interp": lambda x: fnp.interp(1.5, [x[0], x[1]], [3.0, x[2]]),
    "left=": lambda x: fnp.interp([0.0, 1.5], X, X, left=x[0] ** 2),
    "initial=": lambda x: fnp.sum(np.ones(2), initial=x[1] ** 2),
    "constant_values=": lambda x: fnp.pad(np.ones(2), 1, constant_values=x[0] ** 2),
    "nan=": lambda x: fnp.nan_to_num(np.array([1.0, np.nan]), nan=x[1]),
    "dx=": lambda x: fnp.trapezoid([1.0, 2.0], dx=x[2]),
    "fill_value": lambda x: fnp.full_like(X, x[0] * x[1]),
    "sort": lambda x: fnp.sort([x[2], x[0] * x[1]]),
    "where": lambda x: fnp.where([True, False], [x[0], 1.0], x[1]),
    "r_": lambda x: fnp.r_[x, 0.0, 1:3, x[0]],
    "r_ of two axes": lambda x: fnp.r_["0,2", x, x**2],
    "r_ of columns": lambda x: fnp.r_["1,2,0", x, x**2],
    "r_ along the last axis": lambda x: fnp.r_["-1", fnp.stack([x, x]), np.ones((2, 1))],
    "r_ of a traced slice": lambda x: fnp.r_[0 : x[0] : 3j, x[1] : 9 : 2],
    "c_": lambda x: fnp.c_[x, 2 * x, X],
    "mgrid": lambda x: fnp.mgrid[0 : x[0] : 3j, 0:2],
    "ogrid": lambda x: fnp.ogrid[0 : x[0] : 3j, 0:2][0],
    "kaiser": lambda x: fnp.kaiser(4, x[0]),
}


def check_derivative(f: Any) -> None:
    direction, eps = np.array([0.3, -0.2, 0.5]), 1e-6
    apart = np.asarray(f(X + eps * direction), float) - np.asarray(f(X - eps * direction), float)
    jacobian = jacrev(f)(X)
    np.testing.assert_allclose(jacobian @ direction, apart / (2 * eps), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(jacfwd(f)(X), jacobian, rtol=1e-12, atol=1e-14)
    batch = np.stack([X, X + 0.25])
    np.testing.assert_allclose(vmap(f)(batch), [f(x) for x in batch], rtol=1e-12)


@pytest.mark.parametrize("name", HIDDEN)
def test_tracers_in_lists_and_keywords_are_found(name: str) -> None:
    check_derivative(HIDDEN[name])


@pytest.mark.parametrize("beside", [0.5, 2, True, 1j, np.float64(0.5), [0.5]])
def test_r_has_the_precision_that_numpy_gives_it(beside: Any) -> None:
    x = X.astype(np.float32)
    expected, out = np.r_[x, beside], vjp(lambda x: fnp.r_[x, beside], x)[0]
    assert out.dtype == expected.dtype
    np.testing.assert_array_equal(out, expected)


def test_refusals_stay_refusals() -> None:
    with pytest.raises(TracerWriteError, match=r"np\.copyto"):
        grad(lambda t: (fnp.copyto(np.zeros(2), t), t)[1])(1.0)
    with pytest.raises(TypeError, match="no_such_option"):
        grad(lambda t: fnp.sum([t], no_such_option=1))(1.0)
    with pytest.raises(NotImplementedError, match="would make a matrix"):
        grad(lambda t: fnp.sum(fnp.r_["r", t]))(1.0)


def test_out_may_be_a_new_array() -> None:
    def f(x: Any) -> Any:
        y = fnp.zeros(3)
        np.multiply(x, x, out=y)
        np.add.at(y, [0, 0], x[1])
        np.add(y, 1.0, out=y, where=[True, False, True])
        fnp.cumsum(x, out=y[...])
        return y * x

    np.testing.assert_array_equal(jacrev(f)(X), [[2, 0, 0], [2, 5, 0], [3, 3, 9]])


# ---- matmul and dot --------------------------------------------------------------------------------------------------


def test_sparse_matrices_on_either_side() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    matrix = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
    for kind in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        s = kind(matrix)
        for f, expected in [
            (lambda x, s=s: fnp.matmul(s, x), matrix),
            (lambda x, s=s: fnp.dot(s, x), matrix),
            (lambda x, s=s: fnp.dot(x, s.T), matrix),
            (lambda x, s=s: fnp.matmul(s, fnp.stack([x, x], 1))[:, 0], matrix),
            (lambda x, s=s: fnp.matmul(fnp.stack([x, x]), s.T)[1], matrix),
        ]:
            np.testing.assert_array_equal(jacrev(f)(X), expected)
            np.testing.assert_array_equal(jacfwd(f)(X), expected)
            np.testing.assert_array_equal(vmap(f)(np.stack([X, 2 * X])), [matrix @ X, 2 * matrix @ X])
        np.testing.assert_array_equal(
            jacrev(lambda x, s=s: vmap(lambda t: fnp.matmul(s, x * t))(X))(X)[1], 2 * matrix
        )
        np.testing.assert_array_equal(fnp.matmul(s, X), matrix @ X)


# ---- classes ---------------------------------------------------------------------------------------------------------


def test_tracers_are_instances_of_ndarray() -> None:
    def f(x: Any) -> Any:
        assert isinstance(x, fnp.ndarray)
        assert not isinstance(x[0], fnp.ndarray)
        assert fnp.isscalar(x[0])
        assert not fnp.isscalar(x)
        assert isinstance(fnp.zeros(2), fnp.ndarray)
        assert issubclass(type(x), fnp.ndarray)
        return np.sum(x)

    grad(f)(X)
    vmap(f)(np.ones((2, 3)))
    assert isinstance(X, fnp.ndarray)
    assert not isinstance([1.0], fnp.ndarray)
    assert type(fnp.ndarray((2,))) is np.ndarray
    assert fnp.isscalar(1.0)
    assert not fnp.isscalar(X)


def test_tracers_are_instances_of_their_kind_of_number() -> None:
    def f(x: Any) -> Any:
        assert isinstance(x[0], (int, fnp.floating))
        assert isinstance(x[0], fnp.number)
        assert not isinstance(x[0], fnp.integer)
        assert not isinstance(x, fnp.floating)
        assert np.issubdtype(x.dtype, fnp.floating)
        return x[0]

    assert f(X) == grad(f)(X).sum() == 1.0
    assert fnp.floating == np.floating
    assert issubclass(np.float32, fnp.floating)
    assert {np.floating: 1}[fnp.floating] == 1


def test_subclasses_of_ndarray_are_classes_of_their_own() -> None:
    class Mine(fnp.ndarray):
        pass

    mine = np.ones(2).view(Mine)
    assert isinstance(mine, Mine)
    assert isinstance(Mine((2,)), Mine)
    assert not isinstance(X, Mine)


def test_walks_through_arrays() -> None:
    def f(x: Any) -> Any:
        table = fnp.stack([x, x**2])
        found = sum((i + 1) * v for (i, _), v in fnp.ndenumerate(table))
        pairs = fnp.broadcast(table, x)
        assert (pairs.shape, pairs.size, pairs.ndim, pairs.nd, pairs.numiter) == ((2, 3), 6, 2, 2, 2)
        first = next(pairs)
        assert pairs.index == 1
        pairs.reset()
        assert next(pairs)[0].dtype == first[0].dtype
        pairs.reset()
        return found + sum(a * b for a, b in pairs)

    check_derivative(f)


def test_aliases_are_one_function() -> None:
    assert fnp.concat is fnp.concatenate
    assert fnp.permute_dims is fnp.transpose
